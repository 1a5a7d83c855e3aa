/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The .cprof reader. Checksums and compression would keep every mutation from getting far, so the input
 * is not the file but its parts: a first byte of 0 means "the rest is a file, put the checksums right";
 * otherwise the rest is sections (number, record bytes, count, length: one byte each; raw bytes), which
 * are compressed and put together. What the reader takes must survive writing and reading. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "user/base/buf.h"
#include "user/store/columns.h"
#include "user/store/format.h"
#include "user/store/reader.h"
#include "user/store/writer.h"

#define LIMIT_BYTES (UINT64_C(64) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static void seal(struct buf *file)
{
	unsigned char *h = (unsigned char *)file->data;
	uint64_t at, cnt;

	if (file->len_bytes < FORMAT_HEADER_BYTES)
		return;
	at = get_le(h + FORMAT_H_DIRECTORY, 8);
	cnt = get_le(h + FORMAT_H_SECTION_CNT, 4);
	if (at <= file->len_bytes && cnt <= (file->len_bytes - at) / FORMAT_ENTRY_BYTES) {
		for (uint64_t i = 0; i < cnt; i++) {
			unsigned char *e = h + at + i * FORMAT_ENTRY_BYTES;
			uint64_t off = get_le(e + FORMAT_E_OFFSET, 8),
				 stored = get_le(e + FORMAT_E_STORED, 8);

			if (off <= at && stored <= at - off)
				put_le(e + FORMAT_E_SUM, 8, XXH64(h + off, stored, 0));
		}
		put_le(h + FORMAT_H_DIRECTORY_SUM, 8, XXH64(h + at, cnt * FORMAT_ENTRY_BYTES, 0));
	}
	memcpy(h, FORMAT_MAGIC, 8);
	put_le(h + FORMAT_H_LENGTH, 8, file->len_bytes);
	put_le(h + FORMAT_H_SUM, 8, XXH64(h, FORMAT_H_SUM, 0));
}

static void put_section(struct buf *file, struct buf *directory, const uint8_t *head,
			const uint8_t *raw, size_t raw_bytes)
{
	unsigned char entry[FORMAT_ENTRY_BYTES];
	char stored[1024];
	size_t n = ZSTD_compress(stored, sizeof(stored), raw, raw_bytes, 1);

	assert(!ZSTD_isError(n));
	put_le(entry + FORMAT_E_SECTION, 4, head[0]);
	put_le(entry + FORMAT_E_RECORD_BYTES, 4, head[1]);
	put_le(entry + FORMAT_E_RECORD_CNT, 8, head[2]);
	put_le(entry + FORMAT_E_OFFSET, 8, file->len_bytes);
	put_le(entry + FORMAT_E_STORED, 8, n);
	put_le(entry + FORMAT_E_RAW, 8, raw_bytes);
	buf_append(directory, entry, sizeof(entry));
	buf_append(file, stored, n);
}

static void build(struct buf *file, const uint8_t *data, size_t len_bytes)
{
	struct buf directory = { 0 };
	unsigned char header[FORMAT_HEADER_BYTES] = { 0 };

	put_le(header + FORMAT_H_VERSION, 4, FORMAT_VERSION);
	buf_append(file, header, sizeof(header));
	while (len_bytes >= 4) {
		size_t raw_bytes = data[3] < len_bytes - 4 ? data[3] : len_bytes - 4;

		put_section(file, &directory, data, data + 4, raw_bytes);
		data += 4 + raw_bytes;
		len_bytes -= 4 + raw_bytes;
	}
	put_le((unsigned char *)file->data + FORMAT_H_DIRECTORY, 8, file->len_bytes);
	put_le((unsigned char *)file->data + FORMAT_H_SECTION_CNT, 4,
	       directory.len_bytes / FORMAT_ENTRY_BYTES);
	buf_append(file, buf_str(&directory), directory.len_bytes);
	buf_free(&directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct profile *p = NULL, *q = NULL;
	struct buf file = { 0 }, again = { 0 };

	if (!len_bytes)
		return 0;
	if (data[0])
		build(&file, data + 1, len_bytes - 1);
	else
		buf_append(&file, data + 1, len_bytes - 1);
	seal(&file);
	if (!reader__parse(buf_str(&file), file.len_bytes, LIMIT_BYTES, &p, NULL)) {
		assert(!profile__check(p, NULL));
		writer__encode(p, &again);
		assert(!reader__parse(again.data, again.len_bytes, 2 * LIMIT_BYTES, &q, NULL));
		assert(q->stacks.cnt == p->stacks.cnt && q->sums.cnt == p->sums.cnt);
	}
	profile__free(p);
	profile__free(q);
	buf_free(&file);
	buf_free(&again);
	return 0;
}
