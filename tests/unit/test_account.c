/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state machine of bpf/account.h: its rules one by one, and recorded sequences of real events, whose books
 * must come out as the kernel programs had them. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/account.h"
#include "user/base/mem.h"

static const struct account_window wide = { 1000, 1000000 };

struct pieces {
	struct account_piece running, first, second;
};

static int out(struct account *a, const struct account_window *w, struct account_switch sw,
	       struct pieces *p)
{
	return account_switch_out(a, w, &sw, &p->running, &p->first, &p->second);
}

static int in(struct account *a, const struct account_window *w, struct account_switch sw,
	      struct pieces *p)
{
	return account_switch_in(a, w, &sw, &p->running, &p->first, &p->second);
}

static void assert_piece(const struct account_piece *p, uint32_t kind, uint64_t start_ns,
			 uint64_t end_ns)
{
	assert_int_equal(p->kind, kind);
	if (!kind)
		return;
	assert_int_equal(p->start_ns, start_ns);
	assert_int_equal(p->end_ns, end_ns);
}

static struct account running_since(uint64_t since_ns)
{
	return (struct account){ .since_ns = since_ns, .kind = ACCOUNT_RUNNING };
}

static void test_sleep_and_wake(void **state)
{
	struct account a = running_since(2000);
	struct pieces p;

	(void)state;
	assert_false(out(&a, &wide, (struct account_switch){ 2500, 500, 1, 0, 0, 0, 0 }, &p));
	assert_piece(&p.running, ACCOUNT_RUNNING, 2000, 2500);
	assert_int_equal(a.unsampled_ns, 500);
	account_wakeup(&a, 3000);
	account_wakeup(&a, 3100); /* only the first counts */
	assert_false(in(&a, &wide, (struct account_switch){ .now_ns = 3500 }, &p));
	assert_piece(&p.first, ACCOUNT_SLEEP, 2500, 3000);
	assert_piece(&p.second, ACCOUNT_WOKEN, 3000, 3500);
	assert_int_equal(a.kind, ACCOUNT_RUNNING);
}

static void test_early_wakeup_is_cleared(void **state)
{
	struct account a = running_since(2000);
	struct pieces p;

	(void)state;
	account_wakeup(&a, 2400); /* still on its CPU */
	out(&a, &wide, (struct account_switch){ 2500, 500, 1, 0, 0, 0, 0 }, &p);
	assert_int_equal(in(&a, &wide, (struct account_switch){ .now_ns = 3500 }, &p),
			 ACCOUNT_UNSEEN_WAKEUP);
	assert_piece(&p.first, ACCOUNT_SLEEP, 2500, 3500);
	assert_piece(&p.second, ACCOUNT_NONE, 0, 0);
}

static void test_preempted_is_never_blocked(void **state)
{
	struct account a = running_since(2000);
	struct pieces p;

	(void)state;
	/* preempted while it was on its way to sleep: the state says S, the flag says preempt */
	out(&a, &wide, (struct account_switch){ 2500, 500, 1, 1, 1, 0, 0 }, &p);
	assert_int_equal(a.kind, ACCOUNT_PREEMPTED);
	account_wakeup(&a, 2600);
	assert_false(in(&a, &wide, (struct account_switch){ .now_ns = 3000 }, &p));
	assert_piece(&p.first, ACCOUNT_PREEMPTED, 2500, 3000);
	assert_piece(&p.second, ACCOUNT_NONE, 0, 0);
}

static uint32_t kind_after(uint32_t state, uint8_t preempt, uint8_t on_rq, uint8_t delayed)
{
	struct account a = running_since(2000);
	struct pieces p;

	out(&a, &wide, (struct account_switch){ 2500, 500, state, preempt, on_rq, delayed, 0 }, &p);
	return a.kind;
}

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(kind_after(0, 0, 1, 0), ACCOUNT_PREEMPTED); /* sched_yield */
	assert_int_equal(kind_after(0, 0, 0, 0), ACCOUNT_PREEMPTED); /* no state, no sleep */
	assert_int_equal(kind_after(1, 1, 1, 1), ACCOUNT_PREEMPTED); /* the flag alone decides */
	assert_int_equal(kind_after(1, 0, 0, 0), ACCOUNT_SLEEP);
	assert_int_equal(kind_after(1, 0, 1, 0), ACCOUNT_PREEMPTED); /* signal pending, 6.1 */
	assert_int_equal(kind_after(1, 0, 1, 1), ACCOUNT_SLEEP);     /* delayed dequeue, 6.12 */
	assert_int_equal(kind_after(2, 0, 0, 0), ACCOUNT_DISK);
	assert_int_equal(kind_after(0x102, 0, 0, 0), ACCOUNT_DISK);   /* killable */
	assert_int_equal(kind_after(0x402, 0, 0, 0), ACCOUNT_IDLE);   /* not part of the load */
	assert_int_equal(kind_after(0x2001, 0, 0, 0), ACCOUNT_SLEEP); /* freezable */
	assert_int_equal(kind_after(0x8000, 0, 0, 0), ACCOUNT_DISK);  /* frozen */
	assert_int_equal(kind_after(0x1000, 0, 0, 0), ACCOUNT_DISK);  /* RT lock */
	assert_int_equal(kind_after(4, 0, 0, 0), ACCOUNT_STOPPED);
	assert_int_equal(kind_after(8, 0, 0, 0), ACCOUNT_TRACED);
	assert_int_equal(kind_after(0x40, 0, 0, 0), ACCOUNT_PARKED);
	assert_int_equal(kind_after(0x80, 0, 0, 0), ACCOUNT_DEAD);
}

static struct account_switch task_of(uint32_t state, uint8_t on_rq, uint8_t delayed)
{
	return (struct account_switch){ .prev_state = state,
					.on_rq = on_rq,
					.sched_delayed = delayed };
}

/* What the census reads of a task that goes on meanwhile. */
static void test_found(void **state)
{
	static const struct {
		uint32_t state;
		uint8_t on_rq, delayed;
		int on_cpu, passing;
		uint32_t kind;
	} cases[] = {
		{ 0, 1, 0, 1, 0, ACCOUNT_RUNNING },
		{ 1, 1, 0, 1, 0, ACCOUNT_RUNNING }, /* about to sleep: its switch will tell */
		{ 1, 0, 0, 0, 0, ACCOUNT_SLEEP },
		{ 1, 1, 1, 0, 0, ACCOUNT_SLEEP }, /* delayed dequeue */
		{ 2, 0, 0, 0, 0, ACCOUNT_DISK },
		/* off the queue and not off its CPU: its switch may be over */
		{ 1, 0, 0, 1, 1, ACCOUNT_SLEEP },
		{ 1, 1, 1, 1, 1, ACCOUNT_SLEEP },
		/* a delayed dequeue that ends just now, or a thread that was preempted before it slept */
		{ 1, 1, 0, 0, 1, ACCOUNT_PREEMPTED },
		/* it waits for a CPU, or is about to be on one: its switch may be over */
		{ 0, 1, 0, 0, 1, ACCOUNT_PREEMPTED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct account_switch sw =
			task_of(cases[i].state, cases[i].on_rq, cases[i].delayed);

		assert_int_equal(account_is_passing(&sw, cases[i].on_cpu), cases[i].passing);
		assert_int_equal(account_found_kind(&sw, cases[i].on_cpu), cases[i].kind);
	}
}

/* Of a wait that the kernel books whole, what lies after the window's opening. */
static void test_waited(void **state)
{
	const struct account_window w = { 2000, 3000 };

	(void)state;
	assert_int_equal(account_waited_ns(&w, 300, 2500), 300);
	assert_int_equal(account_waited_ns(&w, 1900, 2500),
			 500); /* longer than anybody watched it */
	assert_int_equal(account_waited_ns(&w, 300, 2000), 0);
	assert_int_equal(account_waited_ns(&w, 300, 1500), 0);
}

static void test_window(void **state)
{
	const struct account_window w = { 2000, 3000 };
	struct account a = running_since(1500);
	struct pieces p;

	(void)state;
	out(&a, &w, (struct account_switch){ 1800, 300, 1, 0, 0, 0, 0 }, &p);
	assert_piece(&p.running, ACCOUNT_NONE, 0, 0);
	assert_int_equal(a.unsampled_ns, 0);
	account_wakeup(&a, 2500);
	in(&a, &w, (struct account_switch){ .now_ns = 3500 }, &p);
	assert_piece(&p.first, ACCOUNT_SLEEP, 2000, 2500);
	assert_int_equal(p.first.flags, ACCOUNT_CUT_START);
	assert_int_equal(p.first.whole_ns, 700);
	assert_piece(&p.second, ACCOUNT_WOKEN, 2500, 3000);
	assert_int_equal(p.second.flags, ACCOUNT_CUT_END);
}

static void test_edges_of_window(void **state)
{
	const struct account_window w = { 2000, 3000 };
	struct account_piece p;

	(void)state;
	account_clip(&p, &w, 1000, 2000, ACCOUNT_SLEEP);
	assert_piece(&p, ACCOUNT_NONE, 0, 0);
	account_clip(&p, &w, 3000, 4000, ACCOUNT_SLEEP);
	assert_piece(&p, ACCOUNT_NONE, 0, 0);
	account_clip(&p, &w, 2000, 3000, ACCOUNT_SLEEP);
	assert_piece(&p, ACCOUNT_SLEEP, 2000, 3000);
	assert_int_equal(p.flags, 0);
	account_clip(&p, &w, 1999, 3001, ACCOUNT_SLEEP);
	assert_piece(&p, ACCOUNT_SLEEP, 2000, 3000);
	assert_int_equal(p.flags, ACCOUNT_CUT_START | ACCOUNT_CUT_END);
}

static void test_in_window(void **state)
{
	(void)state;
	assert_false(account_in_window(&wide, wide.start_ns - 1));
	assert_true(account_in_window(&wide, wide.start_ns));
	assert_true(account_in_window(&wide, wide.end_ns - 1));
	assert_false(account_in_window(&wide, wide.end_ns));
}

static void test_sample_carries_all(void **state)
{
	struct account a = running_since(2000);
	struct account_piece running;
	struct pieces p;

	(void)state;
	out(&a, &wide, (struct account_switch){ 2300, 300, 1, 0, 0, 0, 0 }, &p);
	in(&a, &wide, (struct account_switch){ .now_ns = 2400 }, &p);
	assert_int_equal(account_sample(&a, &wide, 2450, &running), 350);
	assert_piece(&running, ACCOUNT_RUNNING, 2400, 2450);
	assert_int_equal(a.unsampled_ns, 0);
	assert_int_equal(account_sample(&a, &wide, 2500, &running), 50);
	out(&a, &wide, (struct account_switch){ 2600, 200, 1, 0, 0, 0, 0 }, &p);
	assert_piece(&p.running, ACCOUNT_RUNNING, 2500, 2600);
	assert_int_equal(account_sample(&a, &wide, 2700, &running), 0); /* not running */
	assert_int_equal(a.unsampled_ns, 100);
}

static void test_unseen_switch_in(void **state)
{
	struct account a = running_since(2000);
	struct pieces p;

	(void)state;
	out(&a, &wide, (struct account_switch){ 2500, 500, 1, 0, 0, 0, 0 }, &p);
	account_wakeup(&a, 3000);
	/* it ran 400 of the 1500 that have passed */
	assert_true(out(&a, &wide, (struct account_switch){ 4000, 400, 1, 0, 0, 0, 0 }, &p));
	assert_piece(&p.first, ACCOUNT_SLEEP, 2500, 3000);
	assert_piece(&p.second, ACCOUNT_WOKEN, 3000, 3600);
	assert_piece(&p.running, ACCOUNT_RUNNING, 3600, 4000);
}

static void test_unseen_switch_in_clock_behind(void **state)
{
	struct account a = { .since_ns = 2500, .kind = ACCOUNT_SLEEP };
	struct pieces p;

	(void)state;
	/* a run time that cannot be: all of it counts as running rather than as negative time */
	assert_true(out(&a, &wide, (struct account_switch){ 4000, 9000, 1, 0, 0, 0, 0 }, &p));
	assert_piece(&p.first, ACCOUNT_NONE, 0, 0);
	assert_piece(&p.running, ACCOUNT_RUNNING, 2500, 4000);
}

static void test_unseen_switch_out(void **state)
{
	struct account a = running_since(2000);
	struct pieces p;

	(void)state;
	assert_int_equal(
		in(&a, &wide, (struct account_switch){ .now_ns = 3000, .ran_ns = 400 }, &p),
		ACCOUNT_UNSEEN_SWITCH);
	assert_piece(&p.running, ACCOUNT_RUNNING, 2000, 2400);
	assert_piece(&p.first, ACCOUNT_PREEMPTED, 2400, 3000);
}

static void test_born(void **state)
{
	struct account a = { 0 };
	struct pieces p;

	(void)state;
	assert_true(account_born(&a, 2000));
	assert_false(account_born(&a, 2100));
	in(&a, &wide, (struct account_switch){ .now_ns = 2500 }, &p);
	assert_piece(&p.first, ACCOUNT_WOKEN, 2000, 2500);
}

static void test_close(void **state)
{
	const struct account_window w = { 2000, 3000 };
	struct account asleep = { .since_ns = 500, .kind = ACCOUNT_SLEEP | ACCOUNT_BY_CENSUS };
	struct account ran = { .since_ns = 2500, .kind = ACCOUNT_SLEEP, .ran = 1 };
	struct account runs = { .since_ns = 2500, .kind = ACCOUNT_RUNNING };
	struct account_piece first, second;

	(void)state;
	account_close(&asleep, &w, 4000, &first, &second);
	assert_piece(&first, ACCOUNT_SLEEP, 2000, 3000);
	assert_int_equal(first.flags, ACCOUNT_CUT_START | ACCOUNT_CUT_END | ACCOUNT_THROUGHOUT);
	assert_piece(&second, ACCOUNT_NONE, 0, 0);
	account_close(&ran, &w, 4000, &first, &second);
	assert_piece(&first, ACCOUNT_SLEEP, 2500, 3000);
	assert_int_equal(first.flags, ACCOUNT_CUT_END);
	account_close(&runs, &w, 4000, &first, &second);
	assert_piece(&first, ACCOUNT_RUNNING, 2500, 3000);
	assert_int_equal(runs.unsampled_ns, 500);
	account_close(&runs, &w, 4000, &first, &second); /* once only */
	assert_piece(&first, ACCOUNT_NONE, 0, 0);
}

/* Recorded sequences */
struct replayed {
	uint32_t tid;
	struct account account;
	uint64_t running_ns, runnable_ns, blocked_ns;
	int closed;
};

struct replay {
	struct account_window window;
	struct replayed *threads;
	size_t cnt, cap;
	size_t event_cnt, books_cnt;
};

static struct replayed *thread_of(struct replay *r, uint32_t tid)
{
	for (size_t i = 0; i < r->cnt; i++)
		if (r->threads[i].tid == tid)
			return &r->threads[i];
	r->threads = xgrow(r->threads, &r->cap, r->cnt + 1, sizeof(*r->threads));
	r->threads[r->cnt] = (struct replayed){ .tid = tid };
	return &r->threads[r->cnt++];
}

static void book(struct replayed *t, const struct account_piece *p)
{
	uint64_t ns = p->end_ns - p->start_ns;

	if (!p->kind)
		return;
	if (p->kind == ACCOUNT_RUNNING)
		t->running_ns += ns;
	else if (account_is_blocked(p->kind))
		t->blocked_ns += ns;
	else
		t->runnable_ns += ns;
}

static void apply(struct replay *r, struct replayed *t, const char *what, struct account_switch sw)
{
	struct account_piece running = { 0 }, first = { 0 }, second = { 0 };

	if (!strcmp(what, "wakeup")) {
		account_wakeup(&t->account, sw.now_ns);
	} else if (!strcmp(what, "born")) {
		account_born(&t->account, sw.now_ns);
	} else if (!strcmp(what, "sample")) {
		account_sample(&t->account, &r->window, sw.now_ns, &running);
	} else if (!strcmp(what, "census")) {
		t->account.since_ns = sw.now_ns;
		t->account.kind = sw.prev_state | ACCOUNT_BY_CENSUS;
	} else if (sw.now_ns >= r->window.end_ns && t->closed++) {
		return; /* the first event after the window has closed the thread */
	} else if (!strcmp(what, "out")) {
		account_switch_out(&t->account, &r->window, &sw, &running, &first, &second);
	} else if (!strcmp(what, "in")) {
		account_switch_in(&t->account, &r->window, &sw, &running, &first, &second);
	} else if (!strcmp(what, "close")) {
		account_close(&t->account, &r->window, sw.now_ns, &first, &second);
	} else {
		fail_msg("unknown event %s", what);
	}
	book(t, &running);
	book(t, &first);
	book(t, &second);
}

static void replay_line(struct replay *r, const char *line)
{
	unsigned int tid, value, preempt, on_rq, delayed;
	unsigned long long a, b, c;
	struct replayed *t;
	char what[16];

	if (sscanf(line, "window %llu %llu", &a, &b) == 2) {
		r->window = (struct account_window){ a, b };
	} else if (sscanf(line, "event %u %15s %llu %u %u %u %u %llu", &tid, what, &a, &value,
			  &preempt, &on_rq, &delayed, &b) == 8) {
		apply(r, thread_of(r, tid), what,
		      (struct account_switch){ a, b, value, (uint8_t)preempt, (uint8_t)on_rq,
					       (uint8_t)delayed, 0 });
		r->event_cnt++;
	} else if (sscanf(line, "books %u %llu %llu %llu", &tid, &a, &b, &c) == 4) {
		t = thread_of(r, tid);
		if (t->running_ns != a || t->runnable_ns != b || t->blocked_ns != c)
			fail_msg("thread %u: replayed %llu %llu %llu, recorded %llu %llu %llu", tid,
				 (unsigned long long)t->running_ns,
				 (unsigned long long)t->runnable_ns,
				 (unsigned long long)t->blocked_ns, a, b, c);
		r->books_cnt++;
	} else {
		fail_msg("cannot read: %s", line);
	}
}

/* Returns the number of events. */
static size_t replay_file(const char *path)
{
	struct replay r = { 0 };
	char line[256];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		replay_line(&r, line);
	fclose(f);
	print_message("%s: %zu events, %zu threads\n", path, r.event_cnt, r.books_cnt);
	assert_true(r.event_cnt > 1 && r.books_cnt > 1);
	free(r.threads);
	return r.event_cnt;
}

static void test_recorded(void **state)
{
	const char *folder = *state;
	DIR *dir = opendir(folder);
	struct dirent *e;
	size_t event_cnt = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		char *path;

		if (e->d_name[0] == '.')
			continue;
		path = xasprintf("%s/%s", folder, e->d_name);
		event_cnt += replay_file(path);
		free(path);
	}
	closedir(dir);
	assert_true(event_cnt > 500);
}

/* Long stays on a CPU must not overflow. */
static void test_share(void **state)
{
	static const uint64_t wholes_ns[] = {
		5000,	     1000000,	    1000000000,	     68000000000,
		70000000000, 3600000000000, 604800000000000, 1100000000000000
	};

	(void)state;
	assert_int_equal(account_share_ns(0, 0, 0), 0);
	for (size_t i = 0; i < sizeof(wholes_ns) / sizeof(wholes_ns[0]); i++) {
		uint64_t whole_ns = wholes_ns[i], part_ns = whole_ns / 4 * 3, got_ns;
		uint64_t step_ns = whole_ns >> 36 ? 1 << 18 : 1 << 10;

		got_ns = account_share_ns(whole_ns, part_ns, whole_ns);
		assert_in_range(got_ns, part_ns > 3 * step_ns ? part_ns - 3 * step_ns : 0, part_ns);
	}
}

/* usage: test_account [FOLDER-OF-RECORDED-EVENTS] */
int main(int argc, char **argv)
{
	static char fixtures[] = "tests/fixtures/account";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleep_and_wake),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_early_wakeup_is_cleared),
		cmocka_unit_test(test_preempted_is_never_blocked),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_waited),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_edges_of_window),
		cmocka_unit_test(test_in_window),
		cmocka_unit_test(test_sample_carries_all),
		cmocka_unit_test(test_unseen_switch_in),
		cmocka_unit_test(test_unseen_switch_in_clock_behind),
		cmocka_unit_test(test_unseen_switch_out),
		cmocka_unit_test(test_born),
		cmocka_unit_test(test_close),
		cmocka_unit_test_prestate(test_recorded, argc > 1 ? argv[1] : fixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
