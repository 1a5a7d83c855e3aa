/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces in arrays that are too small, and arrays used again; the space is this process's own. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/gone.h"
#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/capture/spaces.h"

struct setup {
	struct spaces *spaces;
	struct symbolizer *sym;
	struct spaces_sizes sizes;
	uint64_t *rows;
	uint32_t *blocks;
	struct cp_mapping *mappings;
};

static struct setup set_up(uint32_t row_cnt, uint32_t mapping_cnt)
{
	const struct sym_opts opts = { 0 };
	struct setup u = { .sizes = { row_cnt, 1 << 20, mapping_cnt } };

	u.spaces = spaces__new();
	u.sym = symbolizer__new(&opts);
	u.rows = xcalloc(u.sizes.row_cnt, sizeof(*u.rows));
	u.blocks = xcalloc(u.sizes.block_cnt, sizeof(*u.blocks));
	u.mappings = xcalloc(u.sizes.mapping_cnt, sizeof(*u.mappings));
	spaces__use(u.spaces, &u.sizes, u.rows, u.blocks, u.mappings);
	return u;
}

static void tear_down(struct setup *u)
{
	spaces__free(u->spaces);
	symbolizer__free(u->sym);
	free(u->rows);
	free(u->blocks);
	free(u->mappings);
}

static int publish(struct setup *u, uint32_t number, struct cp_range *range)
{
	struct maps maps;
	int rc;

	assert_int_equal(maps_read(&maps, getpid(), NULL), 0);
	rc = spaces__publish(u->spaces, number, getpid(), &maps, u->sym, range, NULL);
	maps_free(&maps);
	return rc;
}

static uint32_t with_rows(const struct setup *u, const struct cp_range *range)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < range->mapping_cnt; i++)
		cnt += !!u->mappings[range->mapping + i].row_cnt;
	return cnt;
}

/* All rows that the range's mappings point to. */
static uint64_t hash_of_rows(const struct setup *u, const struct cp_range *range)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < range->mapping_cnt; i++) {
		const struct cp_mapping *m = &u->mappings[range->mapping + i];

		hash = hash_u64(hash ^ hash_bytes(u->rows + m->row, m->row_cnt * sizeof(*u->rows)));
	}
	return hash;
}

/* However few rows fit, the process has all of its mappings, and those of the files that fit have rows. */
static void test_file_without_room(void **state)
{
	uint32_t last = 0, some_cnt = 0, no_room = 1;

	(void)state;
	for (uint32_t row_cnt = 64; no_room && row_cnt <= 1 << 22; row_cnt *= 2) {
		struct setup u = set_up(row_cnt, 1024);
		struct cp_range range;
		uint32_t cnt;

		assert_int_equal(publish(&u, 1, &range), 0);
		cnt = with_rows(&u, &range);
		no_room = spaces__stats(u.spaces).no_room_cnt;
		assert_true(range.mapping_cnt >= 3);
		assert_true(cnt + no_room <= range.mapping_cnt);
		some_cnt += cnt && no_room;
		last = cnt;
		tear_down(&u);
	}
	assert_int_equal(no_room, 0);
	assert_true(last >= 3);
	assert_true(some_cnt >= 1);
}

static void test_mappings_used_again(void **state)
{
	struct setup u = set_up(1 << 20, 128);
	struct cp_range range, held;

	(void)state;
	assert_int_equal(publish(&u, 1, &held), 0);
	assert_false(spaces__hold(u.spaces, 1, &range));
	assert_false(spaces__drop(u.spaces, 1));
	for (uint32_t i = 2; i < 500; i++) {
		assert_int_equal(publish(&u, i, &range), 0);
		assert_true(range.mapping + range.mapping_cnt <= held.mapping ||
			    range.mapping >= held.mapping + held.mapping_cnt);
		assert_int_equal(with_rows(&u, &range), with_rows(&u, &held));
		assert_false(spaces__hold(u.spaces, i, &range));
		assert_false(spaces__drop(u.spaces, i));
		assert_true(spaces__drop(u.spaces, i));
		assert_false(spaces__drop(u.spaces, i)); /* it has ended */
	}
	/* what lives is not taken away */
	for (uint32_t i = 500; i < 600; i++)
		if (publish(&u, i, &range))
			break;
	assert_int_equal(publish(&u, 601, &range), -ENOSPC);
	assert_int_equal(range.mapping_cnt, 0);
	assert_true(spaces__drop(u.spaces, 601)); /* the kernel has its empty range */
	assert_int_equal(spaces__stats(u.spaces).no_room_cnt, 0);
	tear_down(&u);
}

/* A child that was forked while another thread of its parent changed the mappings: the space that it has is over by the
 * time that it is announced. */
static void test_held_after_its_end(void **state)
{
	struct setup u = set_up(1 << 20, 128);
	struct cp_range first, again = { 0 }, other;
	uint64_t hash;

	(void)state;
	assert_int_equal(publish(&u, 1, &first), 0);
	hash = hash_of_rows(&u, &first);
	assert_true(spaces__drop(u.spaces, 1));
	assert_true(spaces__hold(u.spaces, 1, &again));
	assert_int_equal(again.mapping, first.mapping);
	assert_int_equal(again.mapping_cnt, first.mapping_cnt);
	/* others come and go, and use what is free again */
	for (uint32_t i = 2; i < 500; i++) {
		assert_int_equal(publish(&u, i, &other), 0);
		assert_true(spaces__drop(u.spaces, i));
	}
	assert_true(hash_of_rows(&u, &again) == hash);
	assert_false(spaces__hold(u.spaces, 1, &again));
	assert_false(spaces__drop(u.spaces, 1));
	assert_true(spaces__drop(u.spaces, 1));
	assert_false(spaces__hold(u.spaces, 4711, &again)); /* never published */
	tear_down(&u);
}

/* Loads a copy of the library that holds the address: another file with the same rows. */
static void *load_copy(const void *address)
{
	char path[] = "/tmp/causeprof-spaces.XXXXXX", block[65536];
	int to = mkstemp(path), from;
	Dl_info info;
	ssize_t n;
	void *lib;

	assert_true(to >= 0 && dladdr(address, &info));
	from = open(info.dli_fname, O_RDONLY);
	while ((n = read(from, block, sizeof(block))) > 0)
		assert_int_equal(write(to, block, (size_t)n), n);
	close(from);
	close(to);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unlink(path);
	assert_non_null(lib);
	return lib;
}

/* Rows that no living space points to make room for others, and no other rows do. */
static void test_files_evicted(void **state)
{
	struct setup u = set_up(1 << 20, 256);
	struct cp_range range, held;
	uint32_t row_cnt = 1 << 10, cnt, number = 2;
	uint64_t hash;
	void *lib;

	(void)state;
	assert_int_equal(publish(&u, 1, &range), 0);
	cnt = with_rows(&u, &range);
	while (row_cnt < spaces__stats(u.spaces).row_cnt * 9 / 8)
		row_cnt *= 2;
	tear_down(&u);
	u = set_up(row_cnt, 256);
	lib = load_copy((void *)(uintptr_t)_cmocka_run_group_tests);
	assert_int_equal(publish(&u, 1, &held), 0);
	hash = hash_of_rows(&u, &held);
	dlclose(lib); /* but the space lives on */
	while (number < 1000 && spaces__stats(u.spaces).files.evicted_file_cnt < 3) {
		lib = load_copy((void *)(uintptr_t)_cmocka_run_group_tests);
		assert_int_equal(publish(&u, number, &range), 0);
		assert_int_equal(spaces__stats(u.spaces).no_room_cnt, 0);
		assert_int_equal(with_rows(&u, &range), cnt + 1);
		dlclose(lib);
		spaces__drop(u.spaces, number++);
	}
	assert_true(spaces__stats(u.spaces).files.evicted_file_cnt >= 3);
	assert_int_equal(hash_of_rows(&u, &held), hash);
	/* what was thrown away comes back */
	for (int i = 0; i < 2; i++, number++) {
		assert_int_equal(publish(&u, number, &range), 0);
		assert_int_equal(with_rows(&u, &range), cnt);
		spaces__drop(u.spaces, number);
	}
	tear_down(&u);
}

/* A process that is gone has the rows of the files that others mapped, and its vdso's. */
static void test_process_gone(void **state)
{
	struct setup u = set_up(1 << 20, 256);
	struct cp_range range, of_gone;
	struct maps maps;

	(void)state;
	assert_int_equal(maps_read(&maps, getpid(), NULL), 0);
	for (size_t i = 0; i < maps.cnt; i++)
		if (maps.entries[i].inode)
			maps.entries[i].path = "";
	assert_int_equal(spaces__publish(u.spaces, 1, gone(), &maps, u.sym, &of_gone, NULL), 0);
	assert_true(with_rows(&u, &of_gone) <= 1);
	assert_int_equal(publish(&u, 2, &range), 0);
	assert_true(with_rows(&u, &range) >= 3);
	assert_int_equal(spaces__publish(u.spaces, 3, gone(), &maps, u.sym, &of_gone, NULL), 0);
	assert_int_equal(with_rows(&u, &of_gone), with_rows(&u, &range));
	for (uint32_t i = 0; i < range.mapping_cnt; i++) {
		const struct cp_mapping *a = &u.mappings[range.mapping + i];

		assert_memory_equal(a, &u.mappings[of_gone.mapping + i], sizeof(*a));
		assert_int_equal(a->start >> 63, 0); /* not the vsyscall page */
	}
	maps_free(&maps);
	tear_down(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_without_room),
		cmocka_unit_test(test_mappings_used_again),
		cmocka_unit_test(test_held_after_its_end),
		cmocka_unit_test(test_files_evicted),
		cmocka_unit_test(test_process_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
