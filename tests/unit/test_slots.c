/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges handed out and taken back, against a plain map of what is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/base/mem.h"
#include "user/base/slots.h"

enum {
	SLOT_CNT = 1024,
	RANGES_MAX = 400,
	ROUNDS = 20000
};

struct taken {
	uint32_t first, cnt;
};

static void mark(uint8_t *map, const struct taken *t, uint8_t from, uint8_t to)
{
	assert_true(t->first + t->cnt <= SLOT_CNT);
	for (uint32_t i = 0; i < t->cnt; i++) {
		assert_int_equal(map[t->first + i], from);
		map[t->first + i] = to;
	}
}

static void test_random(void **state)
{
	struct rng rng = { 7 };
	struct taken ranges[RANGES_MAX];
	uint8_t map[SLOT_CNT] = { 0 };
	uint32_t free_cnt;
	size_t range_cnt = 0, refused_cnt = 0;
	struct slots s;

	(void)state;
	slots_init(&s, SLOT_CNT);
	for (int i = 0; i < ROUNDS; i++) {
		if (rng_below(&rng, 2) && range_cnt < RANGES_MAX) {
			struct taken *t = &ranges[range_cnt];

			t->cnt = rng_below(&rng, rng_below(&rng, 8) ? 12 : 200);
			if (!slots_take(&s, t->cnt, &t->first)) {
				refused_cnt++;
				continue;
			}
			mark(map, t, 0, 1);
			range_cnt++;
		} else if (range_cnt) {
			size_t at = rng_below(&rng, (uint32_t)range_cnt);

			mark(map, &ranges[at], 1, 0);
			slots_give(&s, ranges[at].first, ranges[at].cnt);
			ranges[at] = ranges[--range_cnt];
		}
		free_cnt = 0;
		for (size_t k = 0; k < SLOT_CNT; k++)
			free_cnt += !map[k];
		assert_int_equal(s.free_cnt, free_cnt);
	}
	assert_true(refused_cnt > 0);
	while (range_cnt) {
		range_cnt--;
		slots_give(&s, ranges[range_cnt].first, ranges[range_cnt].cnt);
	}
	/* all parts have found together again */
	assert_true(slots_take(&s, SLOT_CNT, &ranges[0].first));
	assert_int_equal(s.free_cnt, 0);
	slots_fini(&s);
}

static void test_exact(void **state)
{
	struct slots s;
	uint32_t first;

	(void)state;
	slots_init(&s, 16);
	/* 9 of a block of 16, and the other 7 are not lost */
	assert_true(slots_take(&s, 9, &first));
	assert_int_equal(s.free_cnt, 7);
	assert_false(slots_take(&s, 8, &first));
	assert_true(slots_take(&s, 4, &first));
	assert_true(slots_take(&s, 2, &first));
	assert_true(slots_take(&s, 1, &first));
	assert_false(slots_take(&s, 1, &first));
	assert_true(slots_take(&s, 0, &first));
	slots_fini(&s);
	slots_init(&s, 1);
	assert_true(slots_take(&s, 1, &first));
	slots_give(&s, 0, 1);
	assert_true(slots_take(&s, 1, &first));
	slots_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
