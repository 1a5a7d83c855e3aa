/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sparse minimum-cost assignment: every row takes one of its columns, or none at a price of its own;
 * no column is taken twice; the sum of the costs is the least possible.
 *
 * Successive shortest augmenting paths with potentials (Jonker and Volgenant 1987, on a sparse graph with
 * a heap). A search never leaves the connected component of its row and ends at the nearest free column,
 * so components are solved one by one without being built. Costs may be negative.
 * Time O(rows * component edges * log), in practice near linear when the graph is local in time.
 * Deterministic: among equal optima the result depends only on the order of rows and edges.
 * Tests: tests/unit/test_assign.c (all assignments of small cases). */
#ifndef CP_USER_ANALYSIS_ASSIGN_H
#define CP_USER_ANALYSIS_ASSIGN_H

#include <stddef.h>
#include <stdint.h>

#define ASSIGN_NONE UINT32_MAX

struct assign_problem {
	uint32_t rows_cnt;
	uint32_t cols_cnt;
	const size_t
		*row_edges; /* rows_cnt + 1: edges of row r are row_edges[r] .. row_edges[r + 1] */
	const uint32_t *cols;	  /* by edge; distinct within a row */
	const double *costs;	  /* by edge; finite */
	const double *none_costs; /* by row; finite */
};

/* Fills col_of_row (rows_cnt entries; ASSIGN_NONE = took none) and, unless NULL, col_prices (cols_cnt
 * entries): the dual values v <= 0. cost - v[col] compares a row's edges with contention counted in: the
 * row's own choice has the least, and the distance to another is the least that the change would cost. */
void assign_solve(const struct assign_problem *p, uint32_t *col_of_row, double *col_prices);

/* What a result costs. */
double assign_cost(const struct assign_problem *p, const uint32_t *col_of_row);

#endif
