/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .cprof file -> profile; see reader.h and format.h. */
#include "user/store/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "user/base/buf.h"
#include "user/base/input.h"
#include "user/base/mem.h"
#include "user/store/columns.h"
#include "user/store/format.h"
#include "user/store/schema.h"

struct reader {
	const unsigned char *data;
	size_t len_bytes;
	uint64_t left_bytes; /* of the bound on decompressed bytes */
	size_t directory_at, section_cnt;
	unsigned char *raw; /* the decompressed section at hand */
	size_t raw_cap;
	bool facts_read;
	struct profile *p;
};

struct entry {
	uint32_t section, record_bytes;
	uint64_t cnt, off_bytes, stored_bytes, raw_bytes, sum;
	const char *name;
};

static const char *section_name(uint32_t section)
{
	const struct schema_table *t = schema_find(section);

	return section == SECTION_STRINGS ? "strings" :
	       section == SECTION_FACTS	  ? "facts" :
	       t			  ? t->section_name :
					    "of a newer version";
}

static int bad(const struct entry *e, struct err *err, const char *why)
{
	return err_set(err, -EINVAL, "section '%s' at offset %" PRIu64 ": %s", e->name,
		       e->off_bytes, why);
}

static int check_header(struct reader *r, struct err *err)
{
	const unsigned char *h = r->data;
	uint64_t length, version;

	if (r->len_bytes < 8 || memcmp(h, FORMAT_MAGIC, 8))
		return err_set(err, -EINVAL, "not a .cprof file");
	if (r->len_bytes < FORMAT_HEADER_BYTES)
		return err_set(err, -EINVAL, "truncated: it ends inside the file header");
	version = get_le(h + FORMAT_H_VERSION, 4);
	length = get_le(h + FORMAT_H_LENGTH, 8);
	if (get_le(h + FORMAT_H_FLAGS, 4) == UINT32_MAX && length == UINT64_MAX)
		return err_set(err, -EINVAL, "incomplete: the capture did not get to its end");
	if (get_le(h + FORMAT_H_SUM, 8) != XXH64(h, FORMAT_H_SUM, 0))
		return err_set(err, -EINVAL, "damaged: the checksum of the file header is wrong");
	if (version != FORMAT_VERSION)
		return err_set(err, -EINVAL,
			       "it has format version %" PRIu64
			       ", this causeprof reads version %d; use a newer one",
			       version, FORMAT_VERSION);
	if (length != r->len_bytes)
		return err_set(
			err, -EINVAL, "%s: it has %zu bytes, and %" PRIu64 " when it was written",
			length > r->len_bytes ? "truncated" : "damaged", r->len_bytes, length);
	return 0;
}

/* The directory must fill the file from its offset to the end. */
static int check_directory(struct reader *r, struct err *err)
{
	const unsigned char *h = r->data;
	uint64_t at = get_le(h + FORMAT_H_DIRECTORY, 8), cnt = get_le(h + FORMAT_H_SECTION_CNT, 4);

	if (cnt > FORMAT_SECTION_MAX_CNT || at < FORMAT_HEADER_BYTES || at > r->len_bytes ||
	    r->len_bytes - at != cnt * FORMAT_ENTRY_BYTES)
		return err_set(err, -EINVAL, "damaged: the directory does not fit the file");
	if (get_le(h + FORMAT_H_DIRECTORY_SUM, 8) !=
	    XXH64(r->data + at, cnt * FORMAT_ENTRY_BYTES, 0))
		return err_set(err, -EINVAL,
			       "damaged: the checksum of the directory at offset %" PRIu64
			       " is wrong",
			       at);
	r->directory_at = at;
	r->section_cnt = cnt;
	return 0;
}

static struct entry get_entry(const struct reader *r, size_t i)
{
	const unsigned char *at = r->data + r->directory_at + i * FORMAT_ENTRY_BYTES;
	struct entry e = {
		.section = (uint32_t)get_le(at + FORMAT_E_SECTION, 4),
		.record_bytes = (uint32_t)get_le(at + FORMAT_E_RECORD_BYTES, 4),
		.cnt = get_le(at + FORMAT_E_RECORD_CNT, 8),
		.off_bytes = get_le(at + FORMAT_E_OFFSET, 8),
		.stored_bytes = get_le(at + FORMAT_E_STORED, 8),
		.raw_bytes = get_le(at + FORMAT_E_RAW, 8),
		.sum = get_le(at + FORMAT_E_SUM, 8),
	};

	e.name = section_name(e.section);
	return e;
}

/* Sizes against the file and the limits; start is where the section before it ended. */
static int check_entry(struct reader *r, const struct entry *e, uint64_t start, struct err *err)
{
	if (e->off_bytes != start || e->stored_bytes > r->directory_at - start)
		return bad(e, err, "it does not lie where the one before it ends");
	if (e->raw_bytes > FORMAT_SECTION_MAX_BYTES)
		return bad(e, err, "it is larger than the format allows");
	if (e->cnt > UINT32_MAX - 1 || e->record_bytes > FORMAT_SECTION_MAX_BYTES)
		return bad(e, err, "it has too many records");
	if (e->section == SECTION_STRINGS ? e->record_bytes != 4 || e->cnt * 4 > e->raw_bytes :
					    e->cnt * e->record_bytes != e->raw_bytes)
		return bad(e, err, "its count and size contradict each other");
	if (e->raw_bytes > r->left_bytes)
		return bad(e, err, "the profile is larger than the reader allows");
	if (XXH64(r->data + start, e->stored_bytes, 0) != e->sum)
		return bad(e, err, "damaged: its checksum is wrong");
	r->left_bytes -= e->raw_bytes;
	return 0;
}

static int decompress(struct reader *r, const struct entry *e, struct err *err)
{
	const unsigned char *stored = r->data + e->off_bytes;
	size_t n;

	if (ZSTD_getFrameContentSize(stored, e->stored_bytes) != e->raw_bytes ||
	    ZSTD_findFrameCompressedSize(stored, e->stored_bytes) != e->stored_bytes)
		return bad(e, err, "it is not one zstd frame of the stated size");
	if (e->raw_bytes >= r->raw_cap) /* never NULL, also for an empty section */
		r->raw = xgrow(r->raw, &r->raw_cap, e->raw_bytes + 1, 1);
	n = ZSTD_decompress(r->raw, e->raw_bytes, stored, e->stored_bytes);
	if (ZSTD_isError(n) || n != e->raw_bytes)
		return bad(e, err, "it cannot be decompressed");
	return 0;
}

static int read_strings(struct reader *r, const struct entry *e, struct err *err)
{
	const char *text = (const char *)r->raw + 4 * e->cnt;
	size_t left = e->raw_bytes - 4 * e->cnt;

	for (size_t i = 0; i < e->cnt; i++) {
		size_t expect = r->p->strings.cnt, len = 0;

		for (size_t k = 0; k < 4; k++)
			len |= (size_t)r->raw[k * e->cnt + i] << (8 * k);
		if (len > left)
			return bad(e, err, "a string is longer than the section");
		if (strtab_addn(&r->p->strings, text, len) != expect)
			return bad(e, err, "a string occurs twice");
		text += len;
		left -= len;
	}
	return left ? bad(e, err, "bytes are left over after the last string") : 0;
}

static int read_facts(struct reader *r, const struct entry *e, struct err *err)
{
	if (e->record_bytes < 12)
		return bad(e, err, "its records are too short");
	if (r->facts_read)
		return bad(e, err, "the section occurs twice");
	r->facts_read = true;
	for (size_t i = 0; i < e->cnt; i++) {
		uint64_t number = 0, value = 0;

		for (size_t k = 0; k < 4; k++)
			number |= (uint64_t)r->raw[k * e->cnt + i] << (8 * k);
		for (size_t k = 0; k < 8; k++)
			value |= (uint64_t)r->raw[(4 + k) * e->cnt + i] << (8 * k);
		if (number && number <= schema_fact_cnt)
			schema_set(&r->p->header, &schema_facts[number - 1], value);
	}
	return 0;
}

static int read_records(struct reader *r, const struct entry *e, const struct schema_table *t,
			struct err *err)
{
	char *records;
	size_t have = 0;
	int rc;

	if (t->items)
		t->items(r->p, &have);
	/* files of older versions lack columns; the factor bounds what a record may grow by here */
	if (e->record_bytes < schema_disk_bytes(t) / 4)
		return bad(e, err, "its records are too short");
	if (have + e->cnt > UINT32_MAX - 2)
		return bad(e, err, "it has too many records");
	records = xcalloc(e->cnt, t->record_bytes);
	rc = columns_decode(t, r->raw, e->cnt, e->record_bytes, records);
	if (rc)
		rc = bad(e, err, "its records end inside a field");
	for (size_t i = 0; i < e->cnt && !rc; i++) {
		rc = t->add(r->p, records + i * t->record_bytes);
		if (rc)
			rc = bad(e, err,
				 rc == -EEXIST ? "a record occurs twice" :
						 "a record has an impossible value");
	}
	free(records);
	return rc;
}

/* Records of no bytes have no bound by size; an unknown section is not even decompressed. */
static int read_section(struct reader *r, const struct entry *e, struct err *err)
{
	const struct schema_table *t = schema_find(e->section);
	int rc;

	if (!t && e->section != SECTION_STRINGS && e->section != SECTION_FACTS)
		return 0;
	if (!e->record_bytes)
		return bad(e, err, "its records are too short");
	rc = decompress(r, e, err);
	if (rc)
		return rc;
	return t			     ? read_records(r, e, t, err) :
	       e->section == SECTION_STRINGS ? read_strings(r, e, err) :
					       read_facts(r, e, err);
}

static int read_file(struct reader *r, struct err *err)
{
	uint64_t start = FORMAT_HEADER_BYTES;
	int rc = check_header(r, err);

	if (!rc)
		rc = check_directory(r, err);
	for (size_t i = 0; i < r->section_cnt && !rc; i++) {
		struct entry e = get_entry(r, i);

		rc = check_entry(r, &e, start, err);
		if (!rc)
			rc = read_section(r, &e, err);
		start += e.stored_bytes;
	}
	if (!rc && start != r->directory_at)
		rc = err_set(err, -EINVAL, "damaged: bytes between the sections and the directory");
	return rc ? rc : profile__check(r->p, err);
}

int reader__parse(const void *data, size_t len_bytes, uint64_t total_max_bytes,
		  struct profile **ret, struct err *err)
{
	struct reader r = {
		.data = data,
		.len_bytes = len_bytes,
		.left_bytes = total_max_bytes,
		.p = profile__new(),
	};
	int rc = read_file(&r, err);

	free(r.raw);
	if (rc)
		profile__free(r.p);
	else
		*ret = r.p;
	return rc;
}

/* Stops early at what cannot be a .cprof file, however long it is. */
static int read_all(struct input *in, struct buf *bytes, struct err *err)
{
	ssize_t n;

	do {
		buf_reserve(bytes, 1 << 20);
		n = input_read(in, bytes->data + bytes->len_bytes, 1 << 20, err);
		if (n > 0)
			bytes->len_bytes += (size_t)n;
		if (bytes->len_bytes >= 8 && memcmp(bytes->data, FORMAT_MAGIC, 8))
			break;
		if (bytes->len_bytes > READER_TOTAL_MAX_BYTES)
			return err_set(err, -EFBIG, "%s: the file is larger than the reader allows",
				       input_path(in));
	} while (n > 0);
	return n < 0 ? (int)n : 0;
}

uint64_t reader__bound_bytes(uint64_t file_bytes)
{
	const uint64_t always = UINT64_C(1) << 30, ratio = 4096;

	if (file_bytes > (READER_TOTAL_MAX_BYTES - always) / ratio)
		return READER_TOTAL_MAX_BYTES;
	return always + file_bytes * ratio;
}

int reader__load(const char *path, struct profile **ret, struct err *err)
{
	struct input *in = NULL;
	struct buf bytes = { 0 };
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	rc = read_all(in, &bytes, err);
	input_close(in);
	if (!rc) {
		rc = reader__parse(buf_str(&bytes), bytes.len_bytes,
				   reader__bound_bytes(bytes.len_bytes), ret, err);
		if (rc)
			err_prefix(err, "%s", path);
	}
	buf_free(&bytes);
	return rc;
}
