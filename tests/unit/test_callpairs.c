/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairing against a slow one that looks through all open calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/analysis/callpairs.h"
#include "user/analysis/msgdedup.h"
#include "user/base/mem.h"
#include "user/base/prng.h"

static void add(struct msgtrace *t, int64_t time_ns, enum msg_op op, const char *from_to,
		const char *id)
{
	struct msg m = { .time_ns = time_ns, .op = (uint8_t)op };

	m.sender = msgtrace__node(t, from_to, 1);
	m.receiver = msgtrace__node(t, from_to + 1, 1);
	m.id = msgtrace__id(t, id, strlen(id));
	msgtrace__add_msg(t, &m, NULL);
}

/* By definition: the oldest open call of the edge with this id, else the oldest without an id. */
static void slow_pairs(const struct msgtrace *t, int64_t *end_of_msg)
{
	for (size_t i = 0; i < t->msg_cnt; i++)
		end_of_msg[i] = -1;
	for (size_t i = 0; i < t->msg_cnt; i++) {
		const struct msg *ret = msgtrace__msg(t, i);
		int found = 0;

		if (ret->op != MSG_RET)
			continue;
		for (int pass = 0; pass < 2 && !found; pass++)
			for (size_t k = 0; k < i && !found; k++) {
				const struct msg *call = msgtrace__msg(t, k);

				found = call->op == MSG_CALL && end_of_msg[k] < 0 &&
					call->sender == ret->receiver &&
					call->receiver == ret->sender &&
					call->id == (pass ? 0 : ret->id);
				if (found)
					end_of_msg[k] = ret->time_ns;
			}
	}
}

static void test_by_definition(void **state)
{
	static const char *const edges[] = { "AB", "BA", "BC", "CB", "AA" };
	static const char *const ids[] = { "-", "1", "2", "x" };

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct msgtrace *t = msgtrace__new();
		struct callpairs_stats stats;
		int64_t *ends;
		struct prng r;
		size_t at = 0, calls = 0, unreturned = 0;
		int cnt = seed % 10 ? 60 : 3000;

		prng_init(&r, seed, 0);
		for (int i = 0; i < cnt; i++)
			add(t, i, 1 + (enum msg_op)prng_below(&r, 2), edges[prng_below(&r, 5)],
			    ids[prng_below(&r, seed % 2 ? 4 : 1)]);
		ends = xcalloc(t->msg_cnt, sizeof(*ends));
		slow_pairs(t, ends);
		callpairs_find(t, CALLPAIRS_NUMBER, 0, &stats);
		for (size_t i = 0; i < t->msg_cnt; i++) {
			const struct msg *m = msgtrace__msg(t, i);

			if (m->op != MSG_CALL)
				continue;
			if (ends[i] < 0) {
				unreturned++;
				continue;
			}
			assert_true(at < t->call_cnt);
			assert_int_equal(t->call_msg[at], i);
			assert_int_equal(t->calls[at].client_start_ns, m->time_ns);
			assert_int_equal(t->calls[at].client_end_ns, ends[i]);
			at++;
			calls++;
		}
		assert_int_equal(at, t->call_cnt);
		assert_int_equal(stats.call_cnt, calls);
		assert_int_equal(stats.unreturned_cnt, unreturned);
		assert_int_equal(msgtrace__check(t, NULL), 0);
		free(ends);
		msgtrace__free(t);
	}
}

/* Orphans, one-way messages and lost returns are counted; what is left pairs. */
static void test_counts(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct callpairs_stats s;

	(void)state;
	add(t, 9, MSG_RET, "BA", "1"); /* out of order: the return of the first call */
	add(t, 1, MSG_CALL, "AB", "1");
	add(t, 2, MSG_CALL, "AB", "2");
	add(t, 3, MSG_RET, "CA", "7");
	add(t, 4, MSG_ONEWAY, "AB", "-");
	callpairs_find(t, CALLPAIRS_DROP_MSGS, 0, &s);
	assert_int_equal(s.call_cnt, 1);
	assert_int_equal(s.unreturned_cnt, 1);
	assert_int_equal(s.orphan_ret_cnt, 1);
	assert_int_equal(s.oneway_cnt, 1);
	assert_int_equal(t->calls[0].client_end_ns, 9);
	msgtrace__free(t);
}

/* A return up to the window before its call is that call's; a later one, or one without id, is an orphan. */
static void test_early_returns(void **state)
{
	(void)state;
	for (int64_t window = 0; window <= 10; window += 5) {
		struct msgtrace *t = msgtrace__new();
		struct callpairs_stats s;

		add(t, 10, MSG_RET, "BA", "1");
		add(t, 10, MSG_RET, "BA", "-");
		add(t, 10, MSG_RET, "BA", "2");
		add(t, 15, MSG_CALL, "AB", "1");
		add(t, 15, MSG_CALL, "AB", "-");
		add(t, 16, MSG_CALL, "AB", "1"); /* the return is used up */
		add(t, 16, MSG_CALL, "AB", "2"); /* too old a return for a window of 5 */
		callpairs_find(t, 0, window, &s);
		assert_int_equal(s.early_ret_cnt, window / 5);
		assert_int_equal(s.orphan_ret_cnt, 3 - window / 5);
		assert_int_equal(t->call_cnt, window / 5);
		assert_int_equal(msgtrace__check(t, NULL), 0);
		msgtrace__free(t);
	}
}

/* True parents survive pairing; a parent that was never answered is no call. */
static void test_truth(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct callpairs_stats s;
	static const struct msg_truth truth[] = { { 1, CALL_NONE }, { 1, 0 }, { 1, 1 }, { 1, 0 },
						  { 2, CALL_NONE }, { 2, 4 }, { 2, 5 } };

	(void)state;
	add(t, 1, MSG_CALL, "AB", "1");
	add(t, 2, MSG_CALL, "BC", "2");
	add(t, 3, MSG_RET, "CB", "2");
	add(t, 4, MSG_RET, "BA", "1");
	add(t, 5, MSG_CALL, "AB", "3"); /* no return */
	add(t, 6, MSG_CALL, "BC", "4");
	add(t, 7, MSG_RET, "CB", "4");
	t->msg_truth = xcalloc(7, sizeof(*t->msg_truth));
	memcpy(t->msg_truth, truth, sizeof(truth));
	callpairs_find(t, 0, 0, &s);
	assert_int_equal(t->call_cnt, 3);
	assert_int_equal(call_true_parent(&t->calls[0]), CALL_NONE);
	assert_int_equal(call_true_parent(&t->calls[1]), 0);
	assert_int_equal(call_true_parent(&t->calls[2]), CALL_NONE);
	msgtrace__free(t);
}

static void test_dedup(void **state)
{
	struct msgtrace *t = msgtrace__new();

	(void)state;
	add(t, 0, MSG_CALL, "AB", "1");
	add(t, 5, MSG_CALL, "AB", "1"); /* the copy */
	add(t, 8, MSG_CALL, "AB", "1"); /* the id again */
	add(t, 9, MSG_CALL, "AB", "2");
	add(t, 12, MSG_CALL, "AB", "1"); /* its copy */
	add(t, 30, MSG_CALL, "AB", "2"); /* too late to be one */
	assert_int_equal(msgdedup(t, 10), 2);
	assert_int_equal(t->msg_cnt, 4);
	assert_int_equal(msgtrace__msg(t, 1)->time_ns, 8);
	assert_int_equal(msgtrace__msg(t, 3)->time_ns, 30);
	assert_int_equal(t->msg_heard_ns[0], 5);
	assert_int_equal(t->msg_heard_ns[1], 12);
	assert_int_equal(t->msg_heard_ns[3], MSG_UNHEARD);
	msgtrace__free(t);
}

/* Both ends stamped everything: 2 there, 3 back. */
static void test_both_ends(void **state)
{
	struct msgtrace *t = msgtrace__new();
	struct callpairs_stats s;

	(void)state;
	add(t, 10, MSG_CALL, "AB", "1");
	add(t, 12, MSG_CALL, "AB", "1");
	add(t, 20, MSG_RET, "BA", "1");
	add(t, 23, MSG_RET, "BA", "1");
	assert_int_equal(msgdedup(t, 5), 2);
	callpairs_find(t, 0, 0, &s);
	assert_int_equal(t->call_cnt, 1);
	assert_int_equal(s.orphan_ret_cnt, 0);
	assert_int_equal(t->calls[0].client_start_ns, 10);
	assert_int_equal(t->calls[0].server_start_ns, 12);
	assert_int_equal(t->calls[0].server_end_ns, 20);
	assert_int_equal(t->calls[0].client_end_ns, 23);
	assert_true(t->has_server_stamps);
	assert_int_equal(msgtrace__check(t, NULL), 0);
	msgtrace__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_definition), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_early_returns), cmocka_unit_test(test_truth),
		cmocka_unit_test(test_dedup),	      cmocka_unit_test(test_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
