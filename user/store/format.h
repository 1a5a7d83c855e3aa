/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The .cprof file, version 1; docs/FORMAT.md describes it for those who write another reader.
 *
 *	file header (64 bytes) | section | section | ... | directory (48 bytes an entry)
 *
 * Nothing lies between the parts, so every byte is covered by one of the checksums. Until the file is whole
 * its header says so: length and flags are all ones. Numbers are little-endian. Everything is append-only:
 * section numbers, facts, columns and enum values are never reused; a reader skips what it does not know. */
#ifndef CP_USER_STORE_FORMAT_H
#define CP_USER_STORE_FORMAT_H

#include <stdint.h>

#define FORMAT_MAGIC \
	"\x89"       \
	"CPROF\r\n" /* 8 bytes; a text-mode copy breaks it */

enum {
	FORMAT_VERSION = 1,
	FORMAT_HEADER_BYTES = 64,
	FORMAT_ENTRY_BYTES = 48,
	FORMAT_SECTION_MAX_BYTES = 64 << 20, /* decompressed; larger tables take several sections */
	FORMAT_SECTION_MAX_CNT = 1 << 16,
};

/* Offsets in the file header. */
enum format_header {
	FORMAT_H_MAGIC = 0,
	FORMAT_H_VERSION = 8,	     /* u32 */
	FORMAT_H_FLAGS = 12,	     /* u32: 0, or all ones while the file is incomplete */
	FORMAT_H_LENGTH = 16,	     /* u64: of the file; all ones while it is incomplete */
	FORMAT_H_DIRECTORY = 24,     /* u64: offset */
	FORMAT_H_SECTION_CNT = 32,   /* u32 */
	FORMAT_H_ZERO = 36,	     /* u32 */
	FORMAT_H_DIRECTORY_SUM = 40, /* u64: XXH64 of the directory */
	FORMAT_H_ZERO_2 = 48,	     /* u64 */
	FORMAT_H_SUM = 56,	     /* u64: XXH64 of bytes 0 to 55 */
};

/* Offsets in a directory entry. */
enum format_entry {
	FORMAT_E_SECTION = 0,	   /* u32: enum section */
	FORMAT_E_RECORD_BYTES = 4, /* u32: sum of the column widths; of the strings: 4 */
	FORMAT_E_RECORD_CNT = 8,   /* u64 */
	FORMAT_E_OFFSET = 16,	   /* u64 */
	FORMAT_E_STORED = 24,	   /* u64: bytes in the file: one zstd frame */
	FORMAT_E_RAW = 32,	   /* u64: bytes after decompression */
	FORMAT_E_SUM = 40,	   /* u64: XXH64 of the stored bytes */
};

enum section {
	SECTION_STRINGS = 1,
	SECTION_FACTS = 2,
	SECTION_MAPPINGS = 3,
	SECTION_FRAMES = 4,
	SECTION_STACKS = 5,
	SECTION_PROCESSES = 6,
	SECTION_THREADS = 7,
	SECTION_SUMS = 8,
	SECTION_INTERVALS = 9,
	SECTION_REQUESTS = 10,
	SECTION_MESSAGES = 11,
	SECTION_LOSS = 12,
	SECTION_LABELS = 13,
};

#endif
