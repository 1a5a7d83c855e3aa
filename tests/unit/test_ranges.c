/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disjoint ranges and perf maps against the plain definition, address by address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "symbolize/perfmap.h"
#include "symbolize/ranges.h"

#define SPACE 200u

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Nested intervals: the innermost is the one with the latest start, then the shortest, then the deepest. */
static void flatten_nested(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 300; seed++) {
		struct ranges r = { 0 }, flat = { 0 };
		uint32_t rnd = seed, at = 0;

		for (uint32_t id = 0; at < SPACE; id++) {
			uint32_t start = at, len = 1 + next_random(&rnd) % 40, depth = 0;

			for (; len; depth++) {
				ranges_add(&r, start, start + len, id * 10 + depth, depth);
				start += next_random(&rnd) % len;
				len = next_random(&rnd) % (len - (start - at) % len + 1);
				if (depth > 4 || start + len > at + 40)
					break;
			}
			at += 40 + next_random(&rnd) % 3;
		}
		ranges_sort(&r);
		for (size_t i = 0; i < r.cnt; i++)
			ranges_add(&flat, r.items[i].start, r.items[i].end, r.items[i].id,
				   r.items[i].depth);
		ranges_flatten(&flat);
		for (uint32_t a = 0; a < SPACE + 100; a++) {
			const struct range *want = NULL, *got = ranges_find(&flat, a);

			for (size_t i = 0; i < r.cnt; i++) /* sorted: later ones are inside */
				if (r.items[i].start <= a && a < r.items[i].end)
					want = &r.items[i];
			assert_int_equal(want != NULL, got != NULL);
			if (want && want->id != got->id)
				fail_msg("seed %u address %u: %u, not %u", seed, a, got->id,
					 want->id);
		}
		for (size_t i = 1; i < flat.cnt; i++)
			assert_true(flat.items[i - 1].end <= flat.items[i].start);
		ranges_free(&r);
		ranges_free(&flat);
	}
}

/* Many at once against one by one: enough of them, and ranges, for the index and the order to be at work. */
static void many_are_found_as_one_is(void **state)
{
	enum {
		RANGE_CNT = 5000,
		ADDR_CNT = 40000
	};
	uint64_t *addrs = malloc(ADDR_CNT * sizeof(*addrs)), at = 1000;
	uint32_t *found = malloc(ADDR_CNT * sizeof(*found)), rnd = 7, hit_cnt = 0;
	struct ranges r = { 0 };

	(void)state;
	for (uint32_t i = 0; i < RANGE_CNT; i++) {
		uint64_t start = at + next_random(&rnd) % (i % 50 ? 3 : 100000);

		at = start + 1 + next_random(&rnd) % 200;
		ranges_add(&r, start, at, i, 0);
	}
	ranges_index(&r);
	for (size_t i = 0; i < ADDR_CNT; i++)
		addrs[i] = i % 1000 ? next_random(&rnd) % (at + 500) : UINT64_MAX - i;
	ranges_find_all(&r, addrs, ADDR_CNT, found);
	for (size_t i = 0; i < ADDR_CNT; i++) {
		const struct range *want = NULL;

		for (size_t j = 0; j < r.cnt && r.items[j].start <= addrs[i]; j++)
			if (addrs[i] < r.items[j].end)
				want = &r.items[j];
		assert_int_equal(found[i], want ? 1 + (want - r.items) : 0);
		assert_ptr_equal(ranges_find(&r, addrs[i]), want);
		hit_cnt += want != NULL;
	}
	assert_in_range(hit_cnt, 100, ADDR_CNT - 100);
	ranges_find_all(&r, addrs, 0, found);
	ranges_free(&r);
	free(addrs);
	free(found);
}

static void last_line_wins(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 300; seed++) {
		uint32_t rnd = seed, start[30], len[30], cnt = 1 + seed % 30;
		struct symtab t;
		struct buf text = { 0 };
		size_t skipped_cnt;

		for (uint32_t i = 0; i < cnt; i++) {
			start[i] = next_random(&rnd) % SPACE;
			len[i] = next_random(&rnd) % 60;
			buf_printf(&text, "%x %x name%u\n", start[i], len[i], i);
		}
		perfmap_parse(&t, text.data, text.len_bytes, &skipped_cnt);
		assert_true(symtab_check(&t));
		for (uint32_t a = 0; a < SPACE + 100; a++) {
			const struct range *got = symtab_find(&t, a);
			char want[32] = "";

			for (uint32_t i = 0; i < cnt; i++)
				if (start[i] <= a && a < start[i] + len[i])
					snprintf(want, sizeof(want), "name%u", i);
			assert_string_equal(got ? symtab_name(&t, got) : "", want);
		}
		symtab_free(&t);
		buf_free(&text);
	}
}

static void long_name_is_cut(void **state)
{
	struct buf text = { 0 };
	struct symtab t;
	size_t skipped_cnt;

	(void)state;
	buf_puts(&text, "1000 10 ");
	for (int i = 0; i < PERFMAP_NAME_MAX_BYTES + 1; i++)
		buf_putc(&text, 'n');
	buf_puts(&text, "\n2000 10 short\n");
	perfmap_parse(&t, text.data, text.len_bytes, &skipped_cnt);
	assert_int_equal(skipped_cnt, 0);
	assert_int_equal(strlen(symtab_name(&t, symtab_find(&t, 0x1000))), PERFMAP_NAME_MAX_BYTES);
	assert_string_equal(symtab_name(&t, symtab_find(&t, 0x2000)), "short");
	symtab_free(&t);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flatten_nested),
		cmocka_unit_test(many_are_found_as_one_is),
		cmocka_unit_test(last_line_wins),
		cmocka_unit_test(long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
