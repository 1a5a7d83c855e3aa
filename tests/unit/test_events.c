/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the ring buffer: what is whole is kept, what is cut or makes no sense is counted, and told as a loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/capture/harvest.h"
#include "user/capture/result.h"

enum {
	TID = 10,
	PROCESS = 1,
	STACK = 5,
	FRAMES = 3,
};

static struct cp_event_process process(void)
{
	return (struct cp_event_process){
		.event = CP_EVENT_PROCESS, .process = PROCESS, .tgid = TID, .comm = "it"
	};
}

static struct cp_event_thread thread(void)
{
	return (struct cp_event_thread){ .event = CP_EVENT_THREAD,
					 .tid = TID,
					 .tgid = TID,
					 .process = PROCESS,
					 .first_ns = 100,
					 .last_ns = 200,
					 .blocked_ns = 100,
					 .comm = "it" };
}

static struct cp_event_interval interval(void)
{
	return (struct cp_event_interval){ .event = CP_EVENT_INTERVAL,
					   .kind = KIND_SLEEP,
					   .tid = TID,
					   .process = PROCESS,
					   .start_ns = 100,
					   .end_ns = 200 };
}

/* A copy of exactly its length, so that a sanitizer sees who reads behind it. */
static void take(struct events *ev, const void *record, size_t len_bytes)
{
	void *copy = malloc(len_bytes ? len_bytes : 1);

	memcpy(copy, record, len_bytes);
	assert_int_equal(events_take(ev, copy, len_bytes), 0);
	free(copy);
}

#define TAKE(ev, record) take(ev, &(record), sizeof(record))

static void take_stack(struct events *ev, uint32_t id, uint8_t user_cnt, size_t cut_bytes)
{
	struct {
		struct cp_event_stack head;
		uint64_t frames[FRAMES];
	} s = { .head = { .event = CP_EVENT_STACK, .id = id, .user_cnt = user_cnt, .stop = 1 },
		.frames = { 0x1000, 0x2000, 0x3000 } };

	take(ev, &s, sizeof(s) - cut_bytes);
}

static void take_good(struct events *ev)
{
	struct cp_event_process p = process();
	struct cp_event_thread t = thread();
	struct cp_event_interval i = interval();

	TAKE(ev, p);
	TAKE(ev, t);
	TAKE(ev, i);
	take_stack(ev, STACK, FRAMES, 0);
}

static void whole_records(void **state)
{
	struct events ev = { .keep_intervals = true };
	union stack_room room;

	(void)state;
	take_good(&ev);
	assert_int_equal(ev.bad_cnt, 0);
	assert_int_equal(ev.thread_cnt, 1);
	assert_int_equal(ev.interval_cnt, 1);
	assert_string_equal(events_process(&ev, PROCESS)->event.comm, "it");
	assert_int_equal(events_stack(&ev, STACK, &room)->frames[FRAMES - 1], 0x3000);
	assert_null(events_stack(&ev, STACK + 1, &room));
	assert_null(events_process(&ev, PROCESS + 1));
	events_free(&ev);
}

/* Returns how many it gave. */
static uint64_t take_bad(struct events *ev)
{
	struct cp_event_process p = process();
	struct cp_event_thread t = thread();
	struct cp_event_interval i = interval();
	uint8_t unknown[64] = { 99 };

	take(ev, "", 0);
	TAKE(ev, unknown);
	take(ev, &p, sizeof(p) - 1);
	take(ev, &t, sizeof(t) - 1);
	take(ev, &i, sizeof(i) - 1);
	take_stack(ev, STACK + 1, FRAMES, 1);
	take_stack(ev, STACK + 1, 255, 0);
	take_stack(ev, 0, FRAMES, 0);
	take_stack(ev, UINT32_MAX, FRAMES, 0);
	p.process = 0;
	TAKE(ev, p);
	p.process = UINT32_MAX;
	TAKE(ev, p);
	i.end_ns = i.start_ns - 1;
	TAKE(ev, i);
	i = interval();
	i.kind = KIND_MAX;
	TAKE(ev, i);
	i.kind = KIND_NONE;
	TAKE(ev, i);
	return 14;
}

static void malformed_records(void **state)
{
	const struct sym_opts opts = { .kallsyms = "/dev/null" };
	struct events ev = { .keep_intervals = true };
	const struct sum_table no_sums = { 0 };
	struct result_input in = { .events = &ev,
				   .symbolizer = symbolizer__new(&opts),
				   .sums = &no_sums };
	struct profile *p = profile__new();
	struct err err = { 0 };
	union stack_room room;
	uint64_t bad_cnt;

	(void)state;
	take_good(&ev);
	bad_cnt = take_bad(&ev);
	assert_int_equal(ev.bad_cnt, bad_cnt);
	assert_int_equal(ev.thread_cnt, 1);
	assert_int_equal(ev.interval_cnt, 1);
	assert_int_equal(ev.process_cnt, 1);
	assert_null(events_stack(&ev, STACK + 1, &room));

	p->header.window_start_ns = 100;
	p->header.window_end_ns = 200;
	if (result_build(&in, p, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(p->losses[LOSS_BAD_RECORD].events, bad_cnt);
	assert_int_equal(p->losses[LOSS_BAD_RECORD].ns, UINT64_MAX);
	profile__free(p);
	symbolizer__free(in.symbolizer);
	events_free(&ev);
}

/* Sums may come out of the kernel before the stacks that they are of. */
static void sums_wait_for_their_stacks(void **state)
{
	const struct cp_sum_key keys[2] = { { .stack = STACK, .kind = KIND_SLEEP },
					    { .stack = STACK + 1, .kind = KIND_SLEEP } };
	const struct cp_sum values[2] = { { .ns = 30, .cnt = 1 }, { .ns = 500, .cnt = 2 } };
	struct events ev = { 0 };
	struct harvest h = { 0 };
	struct cp_sum_key key;

	(void)state;
	take_stack(&ev, STACK + 1, FRAMES, 0);
	harvest_keep(&h, &ev, keys, values, 2);
	assert_int_equal(h.sums.cnt, 1);
	assert_int_equal(h.early_cnt, 1);
	harvest_keep(&h, &ev, keys, values, 0); /* it has still not come */
	assert_int_equal(h.early_cnt, 1);
	take_stack(&ev, STACK, FRAMES - 1, 0);
	harvest_keep(&h, &ev, keys, values, 0);
	assert_int_equal(h.early_cnt, 0);
	assert_int_equal(h.sums.cnt, 2);
	assert_int_equal(sum_table_get(&h.sums, 1, &key).ns, 30);
	assert_int_equal(key.stack, events_same_stack(&ev, STACK));
	harvest_free(&h);
	events_free(&ev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_records),
		cmocka_unit_test(malformed_records),
		cmocka_unit_test(sums_wait_for_their_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
