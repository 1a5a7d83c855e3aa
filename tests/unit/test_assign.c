/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assignment against all assignments of small cases, and the law of its prices. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/analysis/assign.h"
#include "user/base/mem.h"

#define ROWS_MAX 7
#define COLS_MAX 6

struct small {
	struct assign_problem p;
	size_t row_edges[ROWS_MAX + 1];
	uint32_t cols[ROWS_MAX * COLS_MAX];
	double costs[ROWS_MAX * COLS_MAX];
	double none_costs[ROWS_MAX];
};

static void draw(struct small *s, struct rng *r, double density, bool ties)
{
	size_t e = 0;

	s->p = (struct assign_problem){ .rows_cnt = rng_below(r, ROWS_MAX + 1),
					.cols_cnt = rng_below(r, COLS_MAX + 1),
					.row_edges = s->row_edges,
					.cols = s->cols,
					.costs = s->costs,
					.none_costs = s->none_costs };
	for (uint32_t i = 0; i < s->p.rows_cnt; i++) {
		s->row_edges[i] = e;
		s->none_costs[i] = ties ? rng_below(r, 4) : rng_unit(r) * 10 - 2;
		for (uint32_t c = 0; c < s->p.cols_cnt; c++) {
			if (rng_unit(r) > density)
				continue;
			s->cols[e] = c;
			s->costs[e++] = ties ? rng_below(r, 4) : rng_unit(r) * 10 - 5;
		}
	}
	s->row_edges[s->p.rows_cnt] = e;
}

static double all_ways(const struct small *s, uint32_t row, bool *taken)
{
	double best;

	if (row == s->p.rows_cnt)
		return 0;
	best = s->none_costs[row] + all_ways(s, row + 1, taken);
	for (size_t e = s->row_edges[row]; e < s->row_edges[row + 1]; e++) {
		if (taken[s->cols[e]])
			continue;
		taken[s->cols[e]] = true;
		best = fmin(best, s->costs[e] + all_ways(s, row + 1, taken));
		taken[s->cols[e]] = false;
	}
	return best;
}

static void check_valid(const struct small *s, const uint32_t *col_of_row)
{
	bool taken[COLS_MAX] = { false };

	for (uint32_t r = 0; r < s->p.rows_cnt; r++) {
		bool known = col_of_row[r] == ASSIGN_NONE;

		for (size_t e = s->row_edges[r]; e < s->row_edges[r + 1]; e++)
			known |= s->cols[e] == col_of_row[r];
		assert_true(known);
		if (col_of_row[r] == ASSIGN_NONE)
			continue;
		assert_false(taken[col_of_row[r]]);
		taken[col_of_row[r]] = true;
	}
}

static void test_brute_force(void **state)
{
	struct rng r = { 6 };

	(void)state;
	for (int round = 0; round < 4000; round++) {
		struct small s;
		uint32_t got[ROWS_MAX];
		bool taken[COLS_MAX] = { false };

		draw(&s, &r, 0.2 + 0.8 * rng_unit(&r), round % 2);
		assign_solve(&s.p, got, NULL);
		check_valid(&s, got);
		assert_true(fabs(assign_cost(&s.p, got) - all_ways(&s, 0, taken)) < 1e-9);
	}
}

/* With the prices, no row would rather have another column, and free columns cost nothing. */
static void test_prices(void **state)
{
	struct rng r = { 7 };

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct small s;
		uint32_t got[ROWS_MAX];
		double v[COLS_MAX + 1];
		bool taken[COLS_MAX] = { false };

		draw(&s, &r, 0.7, round % 2);
		assign_solve(&s.p, got, v);
		for (uint32_t i = 0; i < s.p.rows_cnt; i++) {
			double own = s.none_costs[i];

			if (got[i] != ASSIGN_NONE)
				taken[got[i]] = true;
			for (size_t e = s.row_edges[i]; e < s.row_edges[i + 1]; e++)
				if (s.cols[e] == got[i])
					own = s.costs[e] - v[got[i]];
			assert_true(own <= s.none_costs[i] + 1e-9);
			for (size_t e = s.row_edges[i]; e < s.row_edges[i + 1]; e++)
				assert_true(own <= s.costs[e] - v[s.cols[e]] + 1e-9);
		}
		for (uint32_t c = 0; c < s.p.cols_cnt; c++)
			assert_true(v[c] <= 1e-12 && (taken[c] || v[c] == 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brute_force),
		cmocka_unit_test(test_prices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
