/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that a just-in-time compiler writes for its code: /tmp/perf-PID.map, lines of "START SIZE NAME" in
 * hexadecimal. The file only grows: when code is thrown away and its memory used again, a later line covers
 * an earlier one. So the last line that covers an address names it. */
#ifndef CP_SYMBOLIZE_PERFMAP_H
#define CP_SYMBOLIZE_PERFMAP_H

#include <stddef.h>

#include "symbolize/symtab.h"

enum {
	PERFMAP_ENTRIES_MAX = 8 << 20,
	PERFMAP_NAME_MAX_BYTES = 64 << 10, /* longer ones are cut */
	PERFMAP_TEXT_MAX_BYTES = 512 << 20,
};

/* Builds a table (disjoint ranges) from the file's text; never fails. *skipped_cnt counts lines that are not
 * understood, are empty or go beyond the limit. O(n log n). */
void perfmap_parse(struct symtab *ret, const char *text, size_t len_bytes, size_t *skipped_cnt);

#endif
