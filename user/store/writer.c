/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profile -> .cprof file; see writer.h and format.h. */
#include "user/store/writer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "user/base/mem.h"
#include "user/store/columns.h"
#include "user/store/format.h"
#include "user/store/schema.h"

enum {
	ZSTD_LEVEL = 3,
	/* Records per section: bounds the memory of writer and reader. */
	SECTION_AIM_BYTES = FORMAT_SECTION_MAX_BYTES / 4,
};

struct writer {
	struct outfile *out;
	struct buf held; /* the whole file, where the output cannot be revisited */
	bool hold;
	struct buf directory;
	uint32_t section_cnt;
	uint64_t at_bytes; /* bytes of the file so far */
	ZSTD_CCtx *zstd;
	struct buf raw, stored; /* of the section at hand; kept for their memory */
};

static int put(struct writer *w, const void *data, size_t len_bytes, struct err *err)
{
	w->at_bytes += len_bytes;
	if (!w->hold)
		return outfile_write(w->out, data, len_bytes, err);
	buf_append(&w->held, data, len_bytes);
	return 0;
}

/* Room for len_bytes in the section's buffer, its content undefined. */
static unsigned char *raw_room(struct writer *w, size_t len_bytes)
{
	buf_reset(&w->raw);
	buf_reserve(&w->raw, len_bytes);
	w->raw.len_bytes = len_bytes;
	return (unsigned char *)w->raw.data;
}

/* Compresses what lies in w->raw and writes it as one section. */
static int put_section(struct writer *w, enum section section, size_t record_bytes, size_t cnt,
		       struct err *err)
{
	unsigned char entry[FORMAT_ENTRY_BYTES];
	size_t stored_bytes;

	assert(w->raw.len_bytes <= FORMAT_SECTION_MAX_BYTES);
	if (w->section_cnt == FORMAT_SECTION_MAX_CNT)
		return err_set(err, -EFBIG, "the profile is too large for a .cprof file");
	buf_reset(&w->stored);
	buf_reserve(&w->stored, ZSTD_compressBound(w->raw.len_bytes));
	stored_bytes =
		ZSTD_compressCCtx(w->zstd, w->stored.data, ZSTD_compressBound(w->raw.len_bytes),
				  buf_str(&w->raw), w->raw.len_bytes, ZSTD_LEVEL);
	assert(!ZSTD_isError(stored_bytes)); /* the room is enough, so only a bug can fail */
	put_le(entry + FORMAT_E_SECTION, 4, section);
	put_le(entry + FORMAT_E_RECORD_BYTES, 4, record_bytes);
	put_le(entry + FORMAT_E_RECORD_CNT, 8, cnt);
	put_le(entry + FORMAT_E_OFFSET, 8, w->at_bytes);
	put_le(entry + FORMAT_E_STORED, 8, stored_bytes);
	put_le(entry + FORMAT_E_RAW, 8, w->raw.len_bytes);
	put_le(entry + FORMAT_E_SUM, 8, XXH64(w->stored.data, stored_bytes, 0));
	buf_append(&w->directory, entry, sizeof(entry));
	w->section_cnt++;
	return put(w, w->stored.data, stored_bytes, err);
}

static int put_records(struct writer *w, const struct schema_table *t, const void *records,
		       size_t cnt, struct err *err)
{
	size_t disk_bytes = schema_disk_bytes(t), most = SECTION_AIM_BYTES / disk_bytes;
	const char *at = records;
	int rc = 0;

	for (size_t done = 0; done < cnt && !rc; done += most) {
		size_t now = cnt - done < most ? cnt - done : most;

		columns_encode(t, at + done * t->record_bytes, now, raw_room(w, now * disk_bytes));
		rc = put_section(w, t->section, disk_bytes, now, err);
	}
	return rc;
}

/* As many strings as fit into one section, from number `first` on. */
static size_t count_strings(const struct strtab *t, size_t first)
{
	size_t bytes = 0, cnt = 0;

	while (first + cnt < t->cnt) {
		bytes += 4 + t->lens_bytes[first + cnt];
		if (cnt && bytes > SECTION_AIM_BYTES)
			break;
		cnt++;
	}
	return cnt;
}

static int put_strings(struct writer *w, const struct strtab *t, struct err *err)
{
	size_t cnt;
	int rc = 0;

	for (size_t first = 1; first < t->cnt && !rc; first += cnt) {
		unsigned char *lens;

		cnt = count_strings(t, first);
		lens = raw_room(w, 4 * cnt);
		for (size_t i = 0; i < cnt; i++)
			for (size_t k = 0; k < 4; k++)
				lens[k * cnt + i] =
					(unsigned char)(t->lens_bytes[first + i] >> (8 * k));
		for (size_t i = first; i < first + cnt; i++)
			buf_append(&w->raw, t->strs[i], t->lens_bytes[i]);
		if (w->raw.len_bytes > FORMAT_SECTION_MAX_BYTES)
			return err_set(err, -EFBIG, "string %zu is too long for a .cprof file",
				       first);
		rc = put_section(w, SECTION_STRINGS, 4, cnt, err);
	}
	return rc;
}

/* The header of the profile as (number of the fact, value) pairs in two columns. */
static int put_facts(struct writer *w, const struct header *h, struct err *err)
{
	const size_t cnt = schema_fact_cnt;
	unsigned char *raw = raw_room(w, cnt * 12);

	for (size_t i = 0; i < cnt; i++) {
		uint64_t value = schema_get(h, &schema_facts[i]);

		for (size_t k = 0; k < 4; k++)
			raw[k * cnt + i] = (unsigned char)((uint32_t)(i + 1) >> (8 * k));
		for (size_t k = 0; k < 8; k++)
			raw[(4 + k) * cnt + i] = (unsigned char)(value >> (8 * k));
	}
	return put_section(w, SECTION_FACTS, 12, cnt, err);
}

static int put_tables(struct writer *w, const struct profile *p, struct err *err)
{
	struct loss_record losses[LOSS_SLOTS_CNT];
	int rc = put_strings(w, &p->strings, err);

	if (!rc)
		rc = put_facts(w, &p->header, err);
	for (size_t i = 0; i < schema_table_cnt && !rc; i++) {
		size_t cnt;
		const void *records = schema_records(&schema_tables[i], p, losses, &cnt);

		rc = put_records(w, &schema_tables[i], records, cnt, err);
	}
	return rc;
}

static void make_header(const struct writer *w, unsigned char *header)
{
	memset(header, 0, FORMAT_HEADER_BYTES);
	memcpy(header, FORMAT_MAGIC, 8);
	put_le(header + FORMAT_H_VERSION, 4, FORMAT_VERSION);
	put_le(header + FORMAT_H_LENGTH, 8, w->at_bytes);
	put_le(header + FORMAT_H_DIRECTORY, 8, w->at_bytes - w->directory.len_bytes);
	put_le(header + FORMAT_H_SECTION_CNT, 4, w->section_cnt);
	put_le(header + FORMAT_H_DIRECTORY_SUM, 8,
	       XXH64(w->directory.data, w->directory.len_bytes, 0));
	put_le(header + FORMAT_H_SUM, 8, XXH64(header, FORMAT_H_SUM, 0));
}

static struct writer *new_writer(void)
{
	struct writer *w = xzalloc(sizeof(*w));

	w->zstd = ZSTD_createCCtx();
	assert(w->zstd);
	return w;
}

static int put_unfinished_header(struct writer *w, struct err *err)
{
	unsigned char header[FORMAT_HEADER_BYTES];

	memset(header, 0xff, sizeof(header));
	memcpy(header, FORMAT_MAGIC, 8);
	put_le(header + FORMAT_H_VERSION, 4, FORMAT_VERSION);
	return put(w, header, sizeof(header), err);
}

int writer__open(const char *path, enum outfile_mode mode, struct writer **ret, struct err *err)
{
	struct writer *w = new_writer();
	int rc = outfile_open(path, mode, &w->out, err);

	if (!rc) {
		w->hold = outfile_is_direct(w->out);
		rc = put_unfinished_header(w, err);
	}
	if (rc) {
		writer__close(w);
		return rc;
	}
	*ret = w;
	return 0;
}

int writer__put_intervals(struct writer *w, const struct interval *intervals, size_t cnt,
			  struct err *err)
{
	return put_records(w, schema_find(SECTION_INTERVALS), intervals, cnt, err);
}

/* All but moving the file into place. */
static int complete(struct writer *w, const struct profile *p, struct err *err)
{
	unsigned char header[FORMAT_HEADER_BYTES];
	int rc = put_tables(w, p, err);

	if (!rc)
		rc = put(w, w->directory.data, w->directory.len_bytes, err);
	if (rc)
		return rc;
	make_header(w, header);
	if (!w->hold)
		return outfile_pwrite(w->out, header, sizeof(header), 0, err);
	memcpy(w->held.data, header, sizeof(header));
	return 0;
}

int writer__finish(struct writer *w, const struct profile *p, struct err *err)
{
	int rc = complete(w, p, err);

	if (!rc && w->hold)
		rc = outfile_write(w->out, w->held.data, w->held.len_bytes, err);
	return rc ? rc : outfile_commit(w->out, err);
}

void writer__close(struct writer *w)
{
	if (!w)
		return;
	outfile_close(w->out);
	buf_free(&w->held);
	buf_free(&w->directory);
	buf_free(&w->raw);
	buf_free(&w->stored);
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

int writer__save(const struct profile *p, const char *path, enum outfile_mode mode, struct err *err)
{
	struct writer *w = NULL;
	int rc = writer__open(path, mode, &w, err);

	if (!rc)
		rc = writer__finish(w, p, err);
	writer__close(w);
	return rc;
}

void writer__encode(const struct profile *p, struct buf *out)
{
	struct writer *w = new_writer();
	int rc;

	w->hold = true;
	rc = put_unfinished_header(w, NULL);
	if (!rc)
		rc = complete(w, p, NULL);
	assert(!rc); /* memory does not fail; a profile too large to encode is a bug of the caller */
	buf_append(out, w->held.data, w->held.len_bytes);
	writer__close(w);
}
