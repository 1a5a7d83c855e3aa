/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/random_profile.h"
#include "user/analysis/fold.h"
#include "user/base/buf.h"

static void put_row(void *ctx, const char *const *names, size_t name_cnt,
		    const struct fold_row *row)
{
	struct buf *out = ctx;

	for (size_t i = 0; i < name_cnt; i++)
		buf_printf(out, "%s;", names[i]);
	buf_printf(out, "%c%llu/%llu p%u t%u\n", model_kind_letter(row->kind),
		   (unsigned long long)row->ns, (unsigned long long)row->cnt, row->process,
		   row->thread);
}

static void expect_fold(const struct profile *p, const struct fold_opts *opts, const char *want)
{
	struct fold f;
	struct buf out = { 0 };

	fold_init(&f, p, opts);
	fold_each(&f, put_row, &out);
	assert_string_equal(buf_str(&out), want);
	fold_free(&f);
	buf_free(&out);
}

static uint32_t push(struct profile *p, uint32_t parent, const char *name, uint64_t addr, int kind)
{
	const struct frame f = { .addr = addr,
				 .name_sid = profile__string(p, name),
				 .kind = (uint8_t)kind };

	return profile__add_stack(p, parent, profile__add_frame(p, &f));
}

static void add(struct profile *p, uint32_t stack, uint32_t process, uint32_t thread, int kind,
		uint64_t ns)
{
	const struct sum s = { .stack = stack,
			       .process = process,
			       .thread = thread,
			       .kind = (uint8_t)kind,
			       .ns = ns,
			       .cnt = 1 };

	profile__add_sum(p, &s);
}

/* Two processes of one name; "b" at two addresses; a kernel frame. */
static struct profile *sample(void)
{
	struct profile *p = profile__new();
	struct process pr = { .pid = 7, .comm_sid = profile__string(p, "srv") };
	struct thread t = { .tid = 71, .comm_sid = profile__string(p, "wrk"), .process = 1 };
	uint32_t a, b, b_2;

	profile__add_process(p, &pr);
	pr.pid = 8;
	profile__add_process(p, &pr);
	profile__add_thread(p, &t);
	a = push(p, 0, "a", 1, FRAME_USER);
	b = push(p, a, "b", 2, FRAME_USER);
	b_2 = push(p, a, "b", 3, FRAME_USER);
	add(p, push(p, b, "k", 9, FRAME_KERNEL), 1, 0, KIND_SLEEP, 5);
	add(p, b_2, 2, 0, KIND_RUNNING, 7);
	add(p, b, 1, 1, KIND_RUNNING, 1);
	add(p, b_2, 1, 1, KIND_RUNNING, 2);
	add(p, a, 1, 0, KIND_RUNNING, 4);
	return p;
}

static void test_equal_names_merge(void **state)
{
	struct profile *p = sample();
	struct fold_opts o = { .kinds = FOLD_KINDS_ALL };

	(void)state;
	expect_fold(p, &o,
		    "srv;a;R4/1 p1 t0\n"
		    "srv;a;b;R7/1 p2 t0\n"
		    "srv;a;b;k;S5/1 p1 t0\n"
		    "wrk;a;b;R3/2 p1 t1\n");
	o.root = FOLD_ROOT_NONE;
	o.flags = FOLD_DELIMITER | FOLD_SUFFIXES;
	expect_fold(p, &o,
		    "a;R4/1 p1 t0\n"
		    "a;b;R10/3 p0 t0\n"
		    "a;b;-;k_[k];S5/1 p1 t0\n");
	profile__free(p);
}

static void test_containers(void **state)
{
	static const struct {
		enum fold_root root;
		const char *want;
	} cases[] = {
		{ FOLD_ROOT_CGROUP, "/lxc/web;s;a;S10/1 p1 t1\n[no cgroup];s;a;S20/1 p2 t0\n" },
		{ FOLD_ROOT_CONTAINER, "[no cgroup];s;a;S20/1 p2 t0\nweb;s;a;S10/1 p1 t1\n" },
		{ FOLD_ROOT_PROCESS, "s-40 (1 inside);a;S10/1 p1 t1\ns-50;a;S20/1 p2 t0\n" },
		{ FOLD_ROOT_THREAD, "s-40/41 (2 inside);a;S10/1 p1 t1\ns-50;a;S20/1 p2 t0\n" },
	};
	struct profile *p = profile__new();
	const struct process inside = { .pid = 40,
					.ns_pid = 1,
					.comm_sid = profile__string(p, "s"),
					.cgroup_sid = profile__string(p, "/lxc/web") };
	const struct process outside = { .pid = 50, .ns_pid = 50, .comm_sid = inside.comm_sid };
	const struct thread t = {
		.tid = 41, .ns_tid = 2, .process = 1, .comm_sid = inside.comm_sid
	};
	uint32_t a = push(p, 0, "a", 1, FRAME_USER);

	(void)state;
	profile__add_process(p, &inside);
	profile__add_process(p, &outside);
	profile__add_thread(p, &t);
	add(p, a, 1, 1, KIND_SLEEP, 10);
	add(p, a, 2, 0, KIND_SLEEP, 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fold_opts opts = { .kinds = FOLD_KINDS_ALL, .root = cases[i].root };

		expect_fold(p, &opts, cases[i].want);
	}
	profile__free(p);
}

static void test_roots_and_parts(void **state)
{
	struct profile *p = sample();
	struct fold_opts o = { .kinds = 1 << KIND_RUNNING, .root = FOLD_ROOT_THREAD };

	(void)state;
	expect_fold(p, &o,
		    "srv-7;a;R4/1 p1 t0\n"
		    "srv-8;a;b;R7/1 p2 t0\n"
		    "wrk-7/71;a;b;R3/2 p1 t1\n");
	o.kinds = 1 << KIND_SLEEP;
	o.flags = FOLD_USER_ONLY;
	o.root = FOLD_ROOT_NONE;
	expect_fold(p, &o, "a;b;S5/1 p1 t0\n");
	o.flags = FOLD_KERNEL_ONLY | FOLD_DELIMITER;
	expect_fold(p, &o, "k;S5/1 p1 t0\n");
	o.kinds = 1 << KIND_DISK;
	expect_fold(p, &o, "");
	profile__free(p);
}

/* Two pools of one process: one frame, whatever its threads are called. */
static void test_threads_that_never_ran_merge_by_process(void **state)
{
	struct profile *p = sample();
	struct thread t = { .tid = 72, .comm_sid = profile__string(p, "pool"), .process = 1 };
	struct fold_opts o = { .kinds = 1 << KIND_SLEEP };
	struct sum s = { .process = 1, .kind = KIND_SLEEP, .ns = 100, .cnt = 1 };

	(void)state;
	profile__add_thread(p, &t);
	s.flags = PART_ASLEEP_THROUGHOUT;
	s.stack = push(p, 0, "idle", 50, FRAME_USER);
	s.thread = 1;
	profile__add_sum(p, &s);
	s.thread = 2;
	profile__add_sum(p, &s);
	expect_fold(p, &o,
		    "srv;[asleep throughout] \u00d72;S200/2 p1 t0\n"
		    "srv;a;b;k;S5/1 p1 t0\n");
	o.root = FOLD_ROOT_THREAD;
	expect_fold(p, &o,
		    "srv-7;[asleep throughout] \u00d72;S200/2 p1 t0\n"
		    "srv-7;a;b;k;S5/1 p1 t0\n");
	o.flags = FOLD_UNFOLD_ASLEEP;
	expect_fold(p, &o,
		    "pool-7/72;idle;S100/1 p1 t2\n"
		    "srv-7;a;b;k;S5/1 p1 t0\n"
		    "wrk-7/71;idle;S100/1 p1 t1\n");
	profile__free(p);
}

/* Whatever the profile holds: no time gets lost, and the order does not depend on that of the sums. */
static void test_random_profiles(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 100; seed++) {
		struct profile *p = random_profile(seed, 40), *q = random_profile(seed, 40);
		const struct fold_opts o = { .kinds = FOLD_KINDS_ALL,
					     .root = (enum fold_root)(seed % 5),
					     .flags = (unsigned int)(seed % 32) };
		struct fold f;
		struct buf want = { 0 };
		uint64_t total = 0;

		for (size_t i = 0; i < p->sums.cnt; i++) {
			p->sums.items[i].ns %= 1000;
			q->sums.items[p->sums.cnt - 1 - i] = p->sums.items[i];
			q->sums.items[p->sums.cnt - 1 - i].ns = p->sums.items[i].ns;
			total += p->sums.items[i].ns;
		}
		fold_init(&f, p, &o);
		assert_int_equal(f.total_ns, total);
		fold_each(&f, put_row, &want);
		fold_free(&f);
		expect_fold(q, &o, buf_str(&want));
		buf_free(&want);
		profile__free(p);
		profile__free(q);
	}
}

static void test_words_for_kinds(void **state)
{
	uint32_t mask = 0;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(fold_parse_kinds("running,w,D", &mask, NULL), 0);
	assert_int_equal(mask, 1 << KIND_RUNNING | 1 << KIND_WOKEN | 1 << KIND_DISK);
	assert_int_equal(fold_parse_kinds("off", &mask, NULL), 0);
	assert_int_equal(mask, 0x3fc);
	assert_int_equal(fold_parse_kinds("blocked", &mask, NULL), 0);
	assert_int_equal(mask, 0x3f0);
	assert_int_equal(fold_parse_kinds("all", &mask, NULL), 0);
	assert_true(mask == FOLD_KINDS_ALL);
	assert_int_equal(fold_parse_kinds("off,on", &mask, &err), -22);
	assert_non_null(strstr(err.msg, "'on' is no kind of time"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_names_merge),
		cmocka_unit_test(test_roots_and_parts),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_threads_that_never_ran_merge_by_process),
		cmocka_unit_test(test_random_profiles),
		cmocka_unit_test(test_words_for_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
