/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "tests/unit/random_profile.h"
#include "user/store/columns.h"
#include "user/store/reader.h"
#include "user/store/writer.h"

#define LIMIT_BYTES (UINT64_C(64) << 20)

static void assert_same_table(const struct schema_table *t, const struct profile *a,
			      const struct profile *b)
{
	struct loss_record losses_a[LOSS_SLOTS_CNT], losses_b[LOSS_SLOTS_CNT];
	size_t cnt_a, cnt_b;
	const void *items_a = schema_records(t, a, losses_a, &cnt_a);
	const void *items_b = schema_records(t, b, losses_b, &cnt_b);

	assert_int_equal(cnt_a, cnt_b);
	if (cnt_a)
		assert_memory_equal(items_a, items_b, cnt_a * t->record_bytes);
}

static void assert_same_profile(const struct profile *a, const struct profile *b)
{
	assert_memory_equal(&a->header, &b->header, sizeof(a->header));
	assert_int_equal(a->strings.cnt, b->strings.cnt);
	for (uint32_t i = 0; i < a->strings.cnt; i++) {
		assert_int_equal(a->strings.lens_bytes[i], b->strings.lens_bytes[i]);
		assert_memory_equal(a->strings.strs[i], b->strings.strs[i],
				    a->strings.lens_bytes[i] + 1);
	}
	for (size_t i = 0; i < schema_table_cnt; i++)
		assert_same_table(&schema_tables[i], a, b);
}

static struct profile *parse(const struct buf *bytes)
{
	struct profile *p = NULL;
	struct err err = { 0 };

	if (reader__parse(bytes->data, bytes->len_bytes, LIMIT_BYTES, &p, &err))
		fail_msg("%s", err.msg);
	return p;
}

static void test_round_trip_of_random_profiles(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct profile *a = random_profile(seed, seed % 50), *b;
		struct buf first = { 0 }, second = { 0 };

		assert_int_equal(profile__check(a, NULL), 0);
		writer__encode(a, &first);
		b = parse(&first);
		assert_same_profile(a, b);
		writer__encode(b, &second);
		assert_int_equal(first.len_bytes, second.len_bytes);
		assert_memory_equal(first.data, second.data, first.len_bytes);
		buf_free(&first);
		buf_free(&second);
		profile__free(a);
		profile__free(b);
	}
}

/* Tables that need several sections. */
static void test_large_tables(void **state)
{
	struct profile *a = profile__new(), *b;
	struct buf bytes = { 0 };
	struct interval iv = { .kind = KIND_SLEEP };
	char name[32];

	(void)state;
	for (uint64_t i = 0; i < 1000000; i++) {
		iv.start_ns = iv.end_ns;
		iv.end_ns += hash_u64(i) % 1000000;
		profile__add_interval(a, &iv);
		snprintf(name, sizeof(name), "a name of some length %llu", (unsigned long long)i);
		profile__string(a, name);
	}
	writer__encode(a, &bytes);
	b = NULL;
	assert_int_equal(reader__parse(bytes.data, bytes.len_bytes, LIMIT_BYTES, &b, NULL), -22);
	assert_int_equal(reader__parse(bytes.data, bytes.len_bytes, 4 * LIMIT_BYTES, &b, NULL), 0);
	assert_same_profile(a, b);
	profile__free(a);
	profile__free(b);
	buf_free(&bytes);
}

static void expect_refused(const void *data, size_t len_bytes, const char *message)
{
	struct profile *p = NULL;
	struct err err = { 0 };

	assert_int_equal(reader__parse(data, len_bytes, LIMIT_BYTES, &p, &err), -22);
	assert_null(p);
	assert_null(strchr(err.msg, '\n'));
	if (message)
		assert_string_equal(err.msg, message);
	else
		assert_true(strlen(err.msg) > 10);
}

static void test_every_flipped_bit_is_refused(void **state)
{
	struct profile *p = random_profile(3, 6);
	struct buf bytes = { 0 };

	(void)state;
	writer__encode(p, &bytes);
	for (size_t bit = 0; bit < 8 * bytes.len_bytes; bit++) {
		bytes.data[bit / 8] ^= (char)(1 << bit % 8);
		expect_refused(bytes.data, bytes.len_bytes, NULL);
		bytes.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	profile__free(parse(&bytes));
	profile__free(p);
	buf_free(&bytes);
}

static void test_every_truncation_is_refused(void **state)
{
	struct profile *p = random_profile(4, 20);
	struct buf bytes = { 0 };

	(void)state;
	writer__encode(p, &bytes);
	for (size_t len = 0; len < bytes.len_bytes; len++) {
		char *copy =
			xmalloc(len + !len); /* so that a sanitizer sees reads behind the end */

		memcpy(copy, bytes.data, len);
		expect_refused(copy, len, len < 8 ? "not a .cprof file" : NULL);
		free(copy);
	}
	profile__free(p);
	buf_free(&bytes);
}

/* Files with right checksums and wrong contents: what an attacker would write. */
static void reseal(struct buf *bytes)
{
	unsigned char *h = (unsigned char *)bytes->data;
	uint64_t at = get_le(h + FORMAT_H_DIRECTORY, 8), cnt = get_le(h + FORMAT_H_SECTION_CNT, 4);

	put_le(h + FORMAT_H_DIRECTORY_SUM, 8, XXH64(h + at, cnt * FORMAT_ENTRY_BYTES, 0));
	put_le(h + FORMAT_H_SUM, 8, XXH64(h, FORMAT_H_SUM, 0));
}

static unsigned char *entry_of(const struct buf *bytes, enum section section)
{
	unsigned char *h = (unsigned char *)bytes->data;
	unsigned char *e = h + get_le(h + FORMAT_H_DIRECTORY, 8);

	while (get_le(e + FORMAT_E_SECTION, 4) != section)
		e += FORMAT_ENTRY_BYTES;
	return e;
}

static void test_sealed_lies_are_refused(void **state)
{
	static const struct {
		enum section section;
		size_t off_bytes, width_bytes;
		uint64_t value;
		const char *message;
	} lies[] = {
		{ SECTION_FRAMES, FORMAT_E_RAW, 8, UINT64_C(1) << 40,
		  "it is larger than the format allows" },
		{ SECTION_FRAMES, FORMAT_E_RECORD_CNT, 8, UINT64_MAX, "it has too many records" },
		{ SECTION_FRAMES, FORMAT_E_RECORD_CNT, 8, 1,
		  "its count and size contradict each other" },
		{ SECTION_FRAMES, FORMAT_E_RECORD_BYTES, 4, 0,
		  "its count and size contradict each other" },
		{ SECTION_STRINGS, FORMAT_E_RAW, 8, 64 << 20,
		  "it is not one zstd frame of the stated size" },
		{ SECTION_STRINGS, FORMAT_E_RECORD_CNT, 8, 5000,
		  "its count and size contradict each other" },
		{ SECTION_FRAMES, FORMAT_E_OFFSET, 8, 3,
		  "it does not lie where the one before it ends" },
		{ SECTION_FRAMES, FORMAT_E_STORED, 8, UINT64_MAX - 100,
		  "it does not lie where the one before it ends" },
	};
	struct profile *p = random_profile(5, 20);

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(lies); i++) {
		struct buf bytes = { 0 };
		struct err err = { 0 };
		struct profile *q = NULL;

		writer__encode(p, &bytes);
		put_le(entry_of(&bytes, lies[i].section) + lies[i].off_bytes, lies[i].width_bytes,
		       lies[i].value);
		reseal(&bytes);
		assert_int_equal(reader__parse(bytes.data, bytes.len_bytes, LIMIT_BYTES, &q, &err),
				 -22);
		if (!strstr(err.msg, lies[i].message))
			fail_msg("lie %zu: %s", i, err.msg);
		buf_free(&bytes);
	}
	profile__free(p);
}

/* A file of one section. */
static void build(struct buf *file, enum section section, uint32_t record_bytes, uint64_t cnt,
		  const void *raw, size_t raw_bytes)
{
	unsigned char header[FORMAT_HEADER_BYTES] = FORMAT_MAGIC, entry[FORMAT_ENTRY_BYTES];
	char stored[512];
	size_t stored_bytes = ZSTD_compress(stored, sizeof(stored), raw, raw_bytes, 1);

	put_le(entry + FORMAT_E_SECTION, 4, section);
	put_le(entry + FORMAT_E_RECORD_BYTES, 4, record_bytes);
	put_le(entry + FORMAT_E_RECORD_CNT, 8, cnt);
	put_le(entry + FORMAT_E_OFFSET, 8, FORMAT_HEADER_BYTES);
	put_le(entry + FORMAT_E_STORED, 8, stored_bytes);
	put_le(entry + FORMAT_E_RAW, 8, raw_bytes);
	put_le(entry + FORMAT_E_SUM, 8, XXH64(stored, stored_bytes, 0));
	put_le(header + FORMAT_H_VERSION, 4, FORMAT_VERSION);
	put_le(header + FORMAT_H_LENGTH, 8,
	       FORMAT_HEADER_BYTES + stored_bytes + FORMAT_ENTRY_BYTES);
	put_le(header + FORMAT_H_DIRECTORY, 8, FORMAT_HEADER_BYTES + stored_bytes);
	put_le(header + FORMAT_H_SECTION_CNT, 4, 1);
	buf_reset(file);
	buf_append(file, header, sizeof(header));
	buf_append(file, stored, stored_bytes);
	buf_append(file, entry, sizeof(entry));
	reseal(file);
}

static void test_contents_are_checked(void **state)
{
	/* lengths of two strings in planes, then their bytes */
	static const char good[] = "\1\2\0\0\0\0\0\0abc", twice[] = "\1\1\0\0\0\0\0\0aa",
			  longer[] = "\1\3\0\0\0\0\0\0abc", huge[] = "\1\2\0\0\0\0\0\377abc",
			  shorter[] = "\1\1\0\0\0\0\0\0abc";
	static const char stacks[] = "\1\0\0\0\1\0\0\0", losses[20] = { 64 };
	struct buf file = { 0 };
	struct profile *p;

	(void)state;
	build(&file, SECTION_STRINGS, 4, 2, good, 11);
	p = parse(&file);
	assert_string_equal(profile__str(p, 2), "bc");
	profile__free(p);
	build(&file, SECTION_STRINGS, 4, 2, twice, 10);
	expect_refused(file.data, file.len_bytes,
		       "section 'strings' at offset 64: a string occurs twice");
	build(&file, SECTION_STRINGS, 4, 2, longer, 11);
	expect_refused(file.data, file.len_bytes,
		       "section 'strings' at offset 64: a string is longer than the section");
	build(&file, SECTION_STRINGS, 4, 2, huge, 11);
	expect_refused(file.data, file.len_bytes,
		       "section 'strings' at offset 64: a string is longer than the section");
	build(&file, SECTION_STRINGS, 4, 2, shorter, 11);
	expect_refused(file.data, file.len_bytes,
		       "section 'strings' at offset 64: bytes are left over after the last string");
	build(&file, SECTION_STACKS, 8, 1, stacks, 8);
	expect_refused(file.data, file.len_bytes, "stack 1: parent 1 does not exist");
	build(&file, SECTION_STACKS, 1, 8, stacks, 8);
	expect_refused(file.data, file.len_bytes,
		       "section 'stacks' at offset 64: its records are too short");
	build(&file, SECTION_LOSS, 20, 1, losses, 20);
	expect_refused(file.data, file.len_bytes,
		       "section 'loss' at offset 64: a record has an impossible value");
	buf_free(&file);
}

static void test_appended_bytes_are_refused(void **state)
{
	struct profile *p = random_profile(4, 20);
	struct buf bytes = { 0 };
	char expect[96];

	(void)state;
	writer__encode(p, &bytes);
	snprintf(expect, sizeof(expect), "damaged: it has %zu bytes, and %zu when it was written",
		 bytes.len_bytes + 1, bytes.len_bytes);
	buf_putc(&bytes, 0);
	expect_refused(bytes.data, bytes.len_bytes, expect);
	profile__free(p);
	buf_free(&bytes);
}

/* Threads that sleep through 2,000 slices have one record for each: they compress by hundreds, and are no attack. */
static void test_bounds_of_small_files(void **state)
{
	struct profile *p = profile__new(), *q = NULL;
	struct sum sum = { .kind = KIND_SLEEP, .ns = 10000000 };
	struct buf bytes = { 0 };

	(void)state;
	for (int i = 0; i < 500; i++) {
		const struct thread t = { .tid = 1000 + (uint32_t)i };

		sum.thread = profile__add_thread(p, &t);
		for (sum.slice = 1; sum.slice <= 2000; sum.slice++)
			profile__add_sum(p, &sum);
	}
	writer__encode(p, &bytes);
	assert_true(bytes.len_bytes < 200000);
	assert_int_equal(reader__parse(bytes.data, bytes.len_bytes,
				       reader__bound_bytes(bytes.len_bytes), &q, NULL),
			 0);
	assert_int_equal(q->sums.cnt, p->sums.cnt);
	assert_true(reader__bound_bytes(bytes.len_bytes) < READER_TOTAL_MAX_BYTES / 4);
	assert_true(reader__bound_bytes(1 << 22) == READER_TOTAL_MAX_BYTES);
	assert_true(reader__bound_bytes(UINT64_MAX) == READER_TOTAL_MAX_BYTES);
	profile__free(p);
	profile__free(q);
	buf_free(&bytes);
}

static void test_facts_occur_once(void **state)
{
	struct profile *p = random_profile(8, 20);
	struct buf bytes = { 0 };
	unsigned char *e;
	char expect[96];

	(void)state;
	writer__encode(p, &bytes);
	e = entry_of(&bytes, SECTION_THREADS);
	snprintf(expect, sizeof(expect), "section 'facts' at offset %llu: the section occurs twice",
		 (unsigned long long)get_le(e + FORMAT_E_OFFSET, 8));
	put_le(e + FORMAT_E_SECTION, 4, SECTION_FACTS);
	reseal(&bytes);
	expect_refused(bytes.data, bytes.len_bytes, expect);
	profile__free(p);
	buf_free(&bytes);
}

static void test_unknown_sections_are_skipped(void **state)
{
	struct profile *p = random_profile(6, 20), *q = NULL;
	struct buf bytes = { 0 };

	(void)state;
	writer__encode(p, &bytes);
	put_le(entry_of(&bytes, SECTION_LABELS) + FORMAT_E_SECTION, 4, 4711);
	reseal(&bytes);
	assert_int_equal(reader__parse(bytes.data, bytes.len_bytes, LIMIT_BYTES, &q, NULL), 0);
	assert_int_equal(q->labels.cnt, 0);
	assert_true(p->labels.cnt > 0);
	assert_int_equal(q->sums.cnt, p->sums.cnt);
	profile__free(p);
	profile__free(q);
	buf_free(&bytes);
}

/* A newer version appends columns, an older one lacks some. */
static void test_longer_and_shorter_records(void **state)
{
	const struct schema_table *t = schema_find(SECTION_STACKS);
	const struct stack in[2] = { { 1, 2 }, { 3, 0x01020304 } };
	struct stack out[2] = { { 0 } };
	unsigned char bytes[2 * 8 + 2 * 4] = { 0 };

	(void)state;
	columns_encode(t, in, 2, bytes);
	assert_int_equal(columns_decode(t, bytes, 2, 12, out), 0);
	assert_memory_equal(in, out, sizeof(in));
	memset(out, 0, sizeof(out));
	assert_int_equal(columns_decode(t, bytes, 2, 4, out), 0);
	assert_int_equal(out[1].parent, 3);
	assert_int_equal(out[1].frame, 0);
	assert_int_equal(columns_decode(t, bytes, 2, 6, out), -22);
}

static void test_messages_name_what_is_wrong(void **state)
{
	struct profile *p = random_profile(7, 20);
	struct buf bytes = { 0 };
	unsigned char *h, *e;
	char expect[128];

	(void)state;
	expect_refused("hello, I am a text", 18, "not a .cprof file");
	writer__encode(p, &bytes);
	h = (unsigned char *)bytes.data;
	e = entry_of(&bytes, SECTION_STACKS);
	h[get_le(e + FORMAT_E_OFFSET, 8)] ^= 1;
	snprintf(expect, sizeof(expect),
		 "section 'stacks' at offset %llu: damaged: its checksum is wrong",
		 (unsigned long long)get_le(e + FORMAT_E_OFFSET, 8));
	expect_refused(bytes.data, bytes.len_bytes, expect);
	put_le(h + FORMAT_H_VERSION, 4, 2);
	reseal(&bytes);
	expect_refused(bytes.data, bytes.len_bytes,
		       "it has format version 2, this causeprof reads version 1; use a newer one");
	memset(h + FORMAT_H_FLAGS, 0xff, 12);
	expect_refused(bytes.data, bytes.len_bytes,
		       "incomplete: the capture did not get to its end");
	profile__free(p);
	buf_free(&bytes);
}

static void test_streamed_intervals_come_first(void **state)
{
	char path[] = "/tmp/test_store.XXXXXX";
	struct profile *p = random_profile(9, 20), *q = NULL;
	size_t cnt = p->intervals.cnt;
	struct writer *w = NULL;
	struct err err = { 0 };

	(void)state;
	assert_true(cnt >= 3);
	close(mkstemp(path));
	assert_int_equal(writer__open(path, OUTFILE_REPLACE, &w, &err), 0);
	assert_int_equal(writer__put_intervals(w, p->intervals.items, 3, &err), 0);
	assert_int_equal(writer__finish(w, p, &err), 0);
	writer__close(w);
	if (reader__load(path, &q, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(q->intervals.cnt, cnt + 3);
	assert_memory_equal(q->intervals.items, p->intervals.items, 3 * sizeof(struct interval));
	assert_memory_equal(q->intervals.items + 3, p->intervals.items,
			    cnt * sizeof(struct interval));
	unlink(path);
	profile__free(p);
	profile__free(q);
}

static void test_full_disk_leaves_nothing(void **state)
{
	char dir[] = "/tmp/test_store.XXXXXX", path[64];
	struct profile *p = random_profile(9, 2000);
	struct rlimit was, small = { .rlim_cur = 20000 };
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x.cprof", dir);
	getrlimit(RLIMIT_FSIZE, &was);
	small.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	assert_true(writer__save(p, path, OUTFILE_NEW, &err) < 0);
	setrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_DFL);
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(rmdir(dir), 0); /* only an empty folder can be removed */
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip_of_random_profiles),
		cmocka_unit_test(test_large_tables),
		cmocka_unit_test(test_every_flipped_bit_is_refused),
		cmocka_unit_test(test_every_truncation_is_refused),
		cmocka_unit_test(test_sealed_lies_are_refused),
		cmocka_unit_test(test_contents_are_checked),
		cmocka_unit_test(test_appended_bytes_are_refused),
		cmocka_unit_test(test_bounds_of_small_files),
		cmocka_unit_test(test_facts_occur_once),
		cmocka_unit_test(test_unknown_sections_are_skipped),
		cmocka_unit_test(test_longer_and_shorter_records),
		cmocka_unit_test(test_messages_name_what_is_wrong),
		cmocka_unit_test(test_streamed_intervals_come_first),
		cmocka_unit_test(test_full_disk_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
