/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/unit/random_profile.h"
#include "user/base/hash.h"
#include "user/store/redact.h"
#include "user/store/text.h"
#include "user/store/writer.h"

/* The vectors in the appendix of the paper: key 00 01 .. 0f, input 00 01 .. of the given length. */
static void test_keyed_hash_against_the_paper(void **state)
{
	const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	unsigned char in[15];

	(void)state;
	for (unsigned char i = 0; i < sizeof(in); i++)
		in[i] = i;
	assert_true(hash_keyed(key, in, 15) == UINT64_C(0xa129ca6149be45e5));
	assert_true(hash_keyed(key, in, 0) == UINT64_C(0x726fdb47dd0e0e31));
	assert_true(hash_keyed(key, in, 8) == UINT64_C(0x93f5f5799a932462));
}

static struct profile *load(const char *text)
{
	struct profile *p = NULL;
	struct input *in = NULL;
	struct err err = { 0 };

	assert_int_equal(input_open_mem(text, strlen(text), &in, NULL), 0);
	if (text__load(in, &p, &err))
		fail_msg("%s", err.msg);
	input_close(in);
	return p;
}

static void test_no_secret_is_left(void **state)
{
	struct profile *p = load(
		"causeprof-text 1\n"
		"string \"SECRET unused\"\n"
		"header kernel=\"6.1\" command=\"SECRET -p 1\" filter=\"SECRET\"\n"
		"process pid=7 comm=\"SECRET\" exe=\"/SECRET\" cgroup=\"/SECRET\"\n"
		"thread tid=7 process=1 comm=\"SECRET\"\n"
		"mapping path=\"/SECRET\" start=0x5ec2e70 end=0x5ec2e71 build_id_bytes=20"
		" build_id=5ec2e7005ec2e7005ec2e7005ec2e7005ec2e700\n"
		"frame addr=0x5ec2e7 name=\"SECRET\" module=\"SECRET\" file=\"SECRET.c\" line=3\n"
		"frame addr=0x5ec2e8 name=\"SECRET\" module=\"SECRET\" file=\"SECRET.c\" line=3\n"
		"frame name=\"[walk stopped: too deep]\" kind=mark\n"
		"sum stack=\"SECRET f;SECRET g_[k]\" process=1 gate=\"SECRET\" kind=sleep ns=5\n"
		"request thread=1 gate=\"SECRET\" label=\"SECRET\"\n"
		"message thread=1 endpoint=\"SECRET\"\n"
		"label key=\"SECRET\" value=\"SECRET\"\n");
	struct profile *q = profile__redact(p, ""), *r = profile__redact(p, "key");
	struct buf text = { 0 }, bytes = { 0 }, keyed = { 0 };

	(void)state;
	assert_int_equal(profile__check(q, NULL), 0);
	text__dump(q, &text);
	text__dump(r, &keyed);
	assert_null(strstr(buf_str(&text), "SECRET"));
	assert_null(strstr(buf_str(&text), "5ec2e7"));
	assert_non_null(strstr(buf_str(&text), "[walk stopped: too deep]"));
	assert_non_null(strstr(buf_str(&text), "6.1"));
	assert_string_not_equal(buf_str(&text), buf_str(&keyed));
	assert_int_equal(q->frames.cnt, p->frames.cnt);
	assert_int_equal(q->sums.items[0].stack, p->sums.items[0].stack);
	assert_int_equal(q->frames.items[1].name_sid, q->frames.items[2].name_sid);
	profile__free(p);
	profile__free(q);
	profile__free(r);
	buf_free(&text);
	buf_free(&keyed);
	buf_free(&bytes);
}

static void test_shapes_stay(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct profile *p = random_profile(seed, 30), *q = profile__redact(p, "k");

		assert_int_equal(profile__check(q, NULL), 0);
		assert_int_equal(q->stacks.cnt, p->stacks.cnt);
		assert_memory_equal(q->stacks.items, p->stacks.items,
				    p->stacks.cnt * sizeof(*p->stacks.items));
		assert_int_equal(q->sums.cnt, p->sums.cnt);
		for (size_t i = 0; i < p->sums.cnt; i++)
			assert_true(q->sums.items[i].ns == p->sums.items[i].ns);
		profile__free(p);
		profile__free(q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keyed_hash_against_the_paper),
		cmocka_unit_test(test_no_secret_is_left),
		cmocka_unit_test(test_shapes_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
