/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a profile: what two parts have together is what the whole has, and every thread's books balance in each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/rng.h"
#include "user/analysis/selection.h"
#include "user/analysis/totals.h"

enum {
	START = 10000,
	WINDOW = 100000,
	SLICE = 3000,
	THREADS = 4
};

static uint32_t add_process(struct profile *p, uint32_t pid, uint32_t ns_pid, const char *comm,
			    const char *cgroup)
{
	const struct process pr = { .pid = pid,
				    .ns_pid = ns_pid,
				    .comm_sid = profile__string(p, comm),
				    .cgroup_sid = profile__string(p, cgroup) };

	return profile__add_process(p, &pr);
}

/* Sums as a capture with --slice makes them of the same intervals. */
static void add_slices(struct profile *p, const struct interval *iv, uint32_t process)
{
	for (uint64_t at = iv->start_ns; at < iv->end_ns;) {
		uint64_t slice = (at - START) / SLICE, end = START + (slice + 1) * SLICE;
		struct sum s = { .stack = iv->stack,
				 .process = process,
				 .thread = iv->thread,
				 .slice = (uint32_t)slice + 1,
				 .kind = iv->kind,
				 .cnt = at == iv->start_ns };

		end = end < iv->end_ns ? end : iv->end_ns;
		s.ns = end - at;
		profile__add_sum(p, &s);
		at = end;
	}
}

static struct profile *sample(uint64_t seed, bool sliced)
{
	static const uint8_t kinds[] = { KIND_RUNNING, KIND_SLEEP, KIND_WOKEN };
	struct profile *p = profile__new();
	const struct frame f = { .name_sid = profile__string(p, "f") };
	uint32_t stack = profile__add_stack(p, 0, profile__add_frame(p, &f));
	struct rng r = { seed };

	p->header.window_start_ns = START;
	p->header.window_end_ns = START + WINDOW;
	p->header.slice_ns = sliced ? SLICE : 0;
	p->header.switch_cnt = 99;
	add_process(p, 100, 1, "web", "/lxc/front");
	add_process(p, 200, 200, "db", "/");
	for (uint32_t i = 0; i < THREADS; i++) {
		struct thread t = { .tid = 100 + i, .process = 1 + i % 2, .first_ns = START };
		uint32_t thread = profile__add_thread(p, &t);
		uint64_t at = START;

		while (at < START + WINDOW) {
			uint64_t ns = 1 + rng_below(&r, 9000);
			struct interval iv = { .start_ns = at,
					       .end_ns = at + ns < START + WINDOW ? at + ns :
										    START + WINDOW,
					       .thread = thread,
					       .kind = kinds[rng_below(&r, 3)] };

			iv.stack = iv.kind != KIND_RUNNING || rng_below(&r, 2) ? stack : 0;
			at = iv.end_ns;
			if (sliced)
				add_slices(p, &iv, t.process);
			else
				profile__add_interval(p, &iv);
		}
		p->threads.items[thread].last_ns = START + WINDOW;
	}
	return p;
}

/* Selects, checks the part, and gives its totals. */
static struct totals part_of(uint64_t seed, bool sliced, const struct selection *s)
{
	struct profile *p = sample(seed, sliced);
	struct selection_report report;
	struct err err = { 0 };
	struct totals t;

	assert_int_equal(selection_apply(p, s, &report, &err), 0);
	assert_int_equal(profile__check(p, &err), 0);
	totals_init(&t, p);
	assert_int_equal(t.residue_ns, 0);
	assert_int_equal(t.all_ns, report.kept);
	assert_int_equal(t.wall_ns, t.all_ns);
	assert_int_equal(p->header.switch_cnt, 0);
	profile__free(p);
	return t;
}

static void two_parts_are_the_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 40; seed++) {
		bool sliced = seed & 1;
		uint64_t at = seed * 2311, until = sliced ? (at / SLICE + 1) * SLICE : at;
		struct totals a = part_of(
			seed, sliced, &(struct selection){ .has_until = true, .until_ns = until });
		struct totals b = part_of(
			seed, sliced, &(struct selection){ .has_since = true, .since_ns = until });

		assert_int_equal(a.all_ns, THREADS * until);
		assert_int_equal(a.all_ns + b.all_ns, THREADS * (uint64_t)WINDOW);
		assert_int_equal(a.thread_cnt, THREADS);
	}
}

static void slices_are_taken_whole(void **state)
{
	struct profile *p = sample(5, true);
	const struct selection s = { .has_since = true,
				     .since_ns = SLICE + 1,
				     .has_until = true,
				     .until_ns = SLICE * 2 + 1 };
	struct selection_report report;

	(void)state;
	assert_int_equal(selection_apply(p, &s, &report, NULL), 0);
	assert_true(report.widened);
	assert_int_equal(report.since_ns, SLICE);
	assert_int_equal(report.until_ns, SLICE * 3);
	assert_int_equal(report.kept, THREADS * SLICE * 2);
	for (size_t i = 0; i < p->sums.cnt; i++)
		assert_in_range(p->sums.items[i].slice, 1, 2);
	profile__free(p);
}

static void processes_are_chosen(void **state)
{
	static const struct selection cases[] = {
		{ .pid = 1 },	       { .pid = 100 },	       { .comm = "w*" },
		{ .cgroup = "front" }, { .cgroup = "/lxc/*" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = sample(3, true);
		struct selection_report report;

		assert_int_equal(selection_apply(p, &cases[i], &report, NULL), 0);
		assert_int_equal(profile__check(p, NULL), 0);
		assert_int_equal(report.kept, report.dropped);
		assert_int_equal(p->threads.cnt - 1, THREADS / 2);
		for (size_t j = 1; j < p->threads.cnt; j++)
			assert_int_equal(p->threads.items[j].process, 1);
		assert_int_equal(p->header.switch_cnt, 99);
		profile__free(p);
	}
}

static void refusals(void **state)
{
	struct profile *p = sample(3, true);
	struct selection late = { .has_since = true, .since_ns = WINDOW };
	struct selection_report report;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(selection_apply(p, &late, &report, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "nothing lies between"));
	p->header.slice_ns = 0;
	late.since_ns = 1;
	err = (struct err){ 0 };
	assert_int_equal(selection_apply(p, &late, &report, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "--slice"));
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_parts_are_the_whole),
		cmocka_unit_test(slices_are_taken_whole),
		cmocka_unit_test(processes_are_chosen),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
