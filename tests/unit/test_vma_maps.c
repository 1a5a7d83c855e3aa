/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings that the kernel told beside those of /proc: this process's own, another's, and nobody's any more. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/gone.h"
#include "user/capture/vma_maps.h"

/* What the kernel would tell of these maps. */
static size_t vmas_of(const struct maps *m, struct cp_vma *ret)
{
	size_t cnt = 0;

	for (size_t i = 0; i < m->cnt && cnt < CP_VMAS_MAX; i++) {
		const struct maps_entry *e = &m->entries[i];

		if (!(e->perms & MAPS_EXEC) || e->start >> 63)
			continue;
		ret[cnt++] = (struct cp_vma){ .start = e->start,
					      .end = e->end,
					      .off_bytes = e->off_bytes,
					      .inode = e->inode,
					      .dev_major = e->dev_major,
					      .dev_minor = e->dev_minor,
					      .vdso = !strcmp(e->path, "[vdso]") };
	}
	return cnt;
}

struct setup {
	struct vma_maps *v;
	struct maps self;
	struct cp_told told;
	size_t cnt;
};

static struct setup set_up(void)
{
	struct setup u = { .v = vma_maps__new() };

	assert_int_equal(maps_read(&u.self, getpid(), NULL), 0);
	u.cnt = vmas_of(&u.self, u.told.vmas);
	assert_true(u.cnt >= 3);
	return u;
}

static void tear_down(struct setup *u)
{
	vma_maps__free(u->v);
	maps_free(&u->self);
}

/* True: not only what was told, but all that /proc has. */
static bool is_from_proc(const struct maps *m)
{
	for (size_t i = 0; i < m->cnt; i++)
		if (m->entries[i].perms & MAPS_WRITE)
			return true;
	return false;
}

static size_t first_file(const struct setup *u)
{
	size_t at = 0;

	while (!u->told.vmas[at].inode)
		at++;
	return at;
}

/* As if other files were mapped: all but the one at place except. */
static void shift_inodes(struct setup *u, size_t except, int64_t by)
{
	for (size_t i = 0; i < u->cnt; i++)
		if (u->told.vmas[i].inode && i != except)
			u->told.vmas[i].inode += by;
}

/* Whether the process is taken to be what it was told to be. */
static bool is_unchanged(struct setup *u)
{
	struct maps m;
	bool from_proc;

	assert_int_equal(vma_maps__read(u->v, getpid(), &u->told, u->cnt, &m, NULL), 0);
	from_proc = is_from_proc(&m);
	maps_free(&m);
	return from_proc;
}

static void test_alive(void **state)
{
	struct setup u = set_up();
	struct maps m;

	(void)state;
	assert_int_equal(vma_maps__read(u.v, getpid(), &u.told, u.cnt, &m, NULL), 0);
	assert_true(is_from_proc(&m));
	maps_free(&m);
	assert_int_equal(vma_maps__read(u.v, getpid(), NULL, 0, &m, NULL), 0);
	assert_true(is_from_proc(&m));
	maps_free(&m);
	tear_down(&u);
}

/* A stacked filesystem, whose inodes cannot be compared with those of the kernel's mappings; and when the process is
 * gone, its files are known by what was seen. */
static void test_stacked(void **state)
{
	struct setup u = set_up();
	struct maps m;
	size_t at = first_file(&u);

	(void)state;
	for (size_t i = 0; i < u.cnt; i++)
		u.told.vmas[i].dev_minor += u.told.vmas[i].inode ? 7 : 0;
	/* inodes that can be compared, since the others are equal */
	u.told.vmas[at].inode += 1000000;
	assert_false(is_unchanged(&u));
	shift_inodes(&u, at, 1000000);
	assert_true(is_unchanged(&u));
	assert_int_equal(vma_maps__read(u.v, gone(), &u.told, u.cnt, &m, NULL), 0);
	for (size_t i = 0; i < m.cnt; i++) {
		const struct maps_entry *own = maps_find(&u.self, m.entries[i].start);

		assert_true(m.entries[i].past);
		assert_string_equal(m.entries[i].path, own->path);
		assert_int_equal(m.entries[i].inode, own->inode);
		assert_int_equal(m.entries[i].dev_minor, own->dev_minor);
	}
	maps_free(&m);
	tear_down(&u);
}

/* The process has gone on to other code: another file at one place, or other places. */
static void test_changed(void **state)
{
	struct setup u = set_up();
	struct maps m;
	size_t at = first_file(&u);

	(void)state;
	u.told.vmas[at].inode += 1000000;
	assert_int_equal(vma_maps__read(u.v, getpid(), &u.told, u.cnt, &m, NULL), 0);
	assert_false(is_from_proc(&m));
	assert_int_equal(m.cnt, u.cnt);
	assert_string_equal(m.entries[at].path, ""); /* nobody knows it */
	maps_free(&m);
	/* all of them others, as of a static program that another one took the place of */
	shift_inodes(&u, at, 1000000);
	assert_false(is_unchanged(&u));
	shift_inodes(&u, at, -1000000);
	u.told.vmas[at].inode -= 1000000;
	u.told.vmas[at].end -= 4096;
	assert_int_equal(vma_maps__read(u.v, getpid(), &u.told, u.cnt, &m, NULL), 0);
	assert_false(is_from_proc(&m));
	assert_string_equal(m.entries[at].path, maps_find(&u.self, u.told.vmas[at].start)->path);
	maps_free(&m);
	tear_down(&u);
}

static void test_gone(void **state)
{
	struct setup u = set_up();
	struct maps m;

	(void)state;
	assert_int_equal(vma_maps__read(u.v, gone(), NULL, 0, &m, NULL), -ESRCH);
	assert_int_equal(vma_maps__read(u.v, getpid(), NULL, 0, &m, NULL), 0); /* paths */
	maps_free(&m);
	assert_int_equal(vma_maps__read(u.v, gone(), &u.told, u.cnt, &m, NULL), 0);
	assert_int_equal(m.cnt, u.cnt);
	for (size_t i = 0; i < m.cnt; i++) {
		const struct maps_entry *own = maps_find(&u.self, m.entries[i].start);

		assert_true(m.entries[i].end == own->end &&
			    m.entries[i].off_bytes == own->off_bytes);
		assert_int_equal(m.entries[i].perms & MAPS_EXEC, MAPS_EXEC);
		assert_string_equal(m.entries[i].path, own->path);
	}
	maps_free(&m);
	tear_down(&u);
}

/* A program that is seen for the first time when it is gone: its own file is where exec found it. */
static void test_gone_at_once(void **state)
{
	struct setup u = set_up();
	struct maps m;
	size_t named = 0;

	(void)state;
	assert_true(readlink("/proc/self/exe", u.told.exe, sizeof(u.told.exe) - 1) > 0);
	assert_int_equal(vma_maps__read(u.v, gone(), &u.told, u.cnt, &m, NULL), 0);
	for (size_t i = 0; i < m.cnt; i++) {
		named += m.entries[i].path[0] == '/';
		if (m.entries[i].path[0] == '/')
			assert_string_equal(m.entries[i].path, u.told.exe);
	}
	assert_int_equal(named, 1);
	maps_free(&m);
	tear_down(&u);
	u = set_up();
	memset(u.told.exe, '/', sizeof(u.told.exe)); /* not even a string */
	assert_int_equal(vma_maps__read(u.v, gone(), &u.told, u.cnt, &m, NULL), 0);
	for (size_t i = 0; i < m.cnt; i++)
		assert_true(m.entries[i].path[0] != '/');
	maps_free(&m);
	tear_down(&u);
}

/* What cannot be is left out. */
static void test_nonsense(void **state)
{
	const struct cp_told told = { .vmas = { { .start = 0x2000, .end = 0x3000 },
						{ .start = 0x2800, .end = 0x4000 },
						{ .start = 0x5000, .end = 0x5000 },
						{ .start = 0x6000, .end = 0x1000 },
						{ .start = 0x7000, .end = 0x8000 } } };
	struct vma_maps *v = vma_maps__new();
	struct maps m;

	(void)state;
	assert_int_equal(vma_maps__read(v, gone(), &told, 5, &m, NULL), 0);
	assert_int_equal(m.cnt, 2);
	assert_int_equal(m.entries[1].start, 0x7000);
	maps_free(&m);
	vma_maps__free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alive),	     cmocka_unit_test(test_stacked),
		cmocka_unit_test(test_changed),	     cmocka_unit_test(test_gone),
		cmocka_unit_test(test_gone_at_once), cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
