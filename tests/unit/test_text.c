/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/random_profile.h"
#include "user/store/text.h"
#include "user/store/writer.h"

static int load(const char *text, size_t len_bytes, struct profile **ret, struct err *err)
{
	struct input *in = NULL;
	int rc;

	assert_int_equal(input_open_mem(text, len_bytes, &in, NULL), 0);
	rc = text__load(in, ret, err);
	input_close(in);
	return rc;
}

static struct profile *load_ok(const char *text)
{
	struct profile *p = NULL;
	struct err err = { 0 };

	if (load(text, strlen(text), &p, &err))
		fail_msg("%s", err.msg);
	return p;
}

static void test_loading_a_dump_gives_the_same_bytes(void **state)
{
	(void)state;
	for (uint64_t seed = 1000; seed < 1200; seed++) {
		struct profile *a = random_profile(seed, seed % 50), *b = NULL;
		struct buf text = { 0 }, text_2 = { 0 }, bytes = { 0 }, bytes_2 = { 0 };
		struct err err = { 0 };

		text__dump(a, &text);
		if (load(text.data, text.len_bytes, &b, &err))
			fail_msg("seed %d: %s", (int)seed, err.msg);
		text__dump(b, &text_2);
		assert_string_equal(buf_str(&text), buf_str(&text_2));
		writer__encode(a, &bytes);
		writer__encode(b, &bytes_2);
		assert_int_equal(bytes.len_bytes, bytes_2.len_bytes);
		assert_memory_equal(bytes.data, bytes_2.data, bytes.len_bytes);
		buf_free(&text);
		buf_free(&text_2);
		buf_free(&bytes);
		buf_free(&bytes_2);
		profile__free(a);
		profile__free(b);
	}
}

static void test_a_hand_written_profile(void **state)
{
	struct profile *p = load_ok(
		"causeprof-text 1\r\n"
		"# a comment\n"
		"\n"
		"header window_end_ns=100 unit=\"ns\" flags=interrupted|0x80\n"
		"process pid=10 comm=\"server\"\n"
		"  thread\ttid=0x10   process=1\n"
		"sum stack=\"main;read_[k]\" process=1 kind=disk flags=cut_start|cut_end ns=7 cnt=1\n"
		"sum stack=\"main;f_[i];g_[j];[filtered]\" process=1 kind=17 ns=1\n"
		"loss cause=\"walk stopped\" events=3 ns=unknown");
	const struct frame *f;

	(void)state;
	assert_int_equal(p->header.window_end_ns, 100);
	assert_int_equal(p->header.flags, HEADER_INTERRUPTED | 0x80);
	assert_string_equal(profile__str(p, p->header.unit_sid), "ns");
	assert_int_equal(p->threads.items[1].tid, 16);
	assert_int_equal(p->sums.items[0].kind, KIND_DISK);
	assert_int_equal(p->sums.items[0].flags, 3);
	assert_int_equal(p->sums.items[1].kind, 17);
	assert_true(p->losses[LOSS_WALK_STOPPED].ns == UINT64_MAX);
	assert_int_equal(p->stacks.cnt, 6);
	f = &p->frames.items[p->stacks.items[p->sums.items[0].stack].frame];
	assert_string_equal(profile__str(p, f->name_sid), "read");
	assert_int_equal(f->kind, FRAME_KERNEL);
	assert_int_equal(p->frames.items[3].flags, FRAME_INLINED);
	assert_int_equal(p->frames.items[4].kind, FRAME_JIT);
	assert_int_equal(p->frames.items[5].kind, FRAME_MARK);
	profile__free(p);
}

static void test_messages(void **state)
{
	static const struct {
		const char *line, *message;
	} wrong[] = {
		{ "sum stak=1", "memory:2: a sum has no field 'stak'" },
		{ "summ stack=1", "memory:2: unknown record 'summ'" },
		{ "sum stack", "memory:2: 'stack' is not a field: NAME=VALUE expected" },
		{ "sum stack=1x", "memory:2: '1x' is not a whole number" },
		{ "sum kind=sleeping", "memory:2: 'sleeping' is not a kind" },
		{ "sum kind=256", "memory:2: kind: 256 is too large" },
		{ "sum flags=cut_stat", "memory:2: 'cut_stat' is not a whole number" },
		{ "process comm=x", "memory:2: comm must be quoted" },
		{ "process comm=\"x", "memory:2: the quoted text after comm is wrong" },
		{ "process comm=\"x\"y", "memory:2: a blank is missing after the value of comm" },
		{ "mapping build_id=00", "memory:2: build_id takes 40 hexadecimal digits" },
		{ "frame 2 name=\"f\"", "memory:2: frame 2 stands where frame 1 should" },
		{ "string \"\"", "memory:2: this string exists already" },
		{ "loss cause=64 events=1", "memory:2: the cause of the loss is out of range" },
		{ "stack frame=1", "memory: stack 1: frame 1 does not exist" },
		{ "thread tid=1 tid=unknown", "memory:2: tid cannot be unknown" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(wrong); i++) {
		struct buf text = { 0 };
		struct profile *p = NULL;
		struct err err = { 0 };

		buf_printf(&text, "causeprof-text 1\n%s\n", wrong[i].line);
		assert_true(load(text.data, text.len_bytes, &p, &err) < 0);
		assert_string_equal(err.msg, wrong[i].message);
		assert_null(p);
		buf_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loading_a_dump_gives_the_same_bytes),
		cmocka_unit_test(test_a_hand_written_profile),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
