/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The radix sort against the definition: keys ascend, equal ones keep their order, and every pair is still there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "user/base/sort.h"

enum {
	CNT_MAX = 700
};

static void check(uint64_t mask, size_t cnt, uint64_t seed)
{
	struct sort_pair pairs[CNT_MAX];
	uint64_t keys[CNT_MAX];
	uint8_t seen[CNT_MAX] = { 0 };
	struct rng rng = { seed };

	for (size_t i = 0; i < cnt; i++) {
		keys[i] = rng_u64(&rng) & mask;
		pairs[i] = (struct sort_pair){ .key = keys[i], .value = (uint32_t)i };
	}
	sort_pairs(pairs, cnt);
	for (size_t i = 0; i < cnt; i++) {
		assert_in_range(pairs[i].value, 0, cnt - 1);
		assert_int_equal(pairs[i].key, keys[pairs[i].value]);
		assert_false(seen[pairs[i].value]++);
		if (!i)
			continue;
		assert_true(pairs[i - 1].key <= pairs[i].key);
		assert_true(pairs[i - 1].key < pairs[i].key || pairs[i - 1].value < pairs[i].value);
	}
}

static void pairs_are_sorted(void **state)
{
	static const uint64_t masks[] = { 0,	     1, 0xff, 0x700, 0xffffff, 0xff000000000000ff,
					  UINT64_MAX };

	(void)state;
	for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++)
		for (size_t cnt = 0; cnt <= CNT_MAX; cnt += cnt < 5 ? 1 : 139)
			check(masks[m], cnt, m * 1000 + cnt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
