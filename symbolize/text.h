/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scanning of the kernel's and JIT compilers' text files: lines with fields between blanks. A cursor never
 * leaves its line, whatever bytes are there. */
#ifndef CP_SYMBOLIZE_TEXT_H
#define CP_SYMBOLIZE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

struct text {
	const char *at, *end;
};

/* Takes the next line (without its newline) off *rest; false at the end. */
bool text_line(struct text *rest, struct text *line);
void text_skip_blanks(struct text *t);
/* A hexadecimal or decimal number; false if there is none or it exceeds 64 bits (*t is then undefined). */
bool text_hex(struct text *t, uint64_t *ret);
bool text_dec(struct text *t, uint64_t *ret);
bool text_char(struct text *t, char c); /* takes c if it is next */
struct text text_word(struct text *t);	/* up to the next blank */
static inline size_t text_len(struct text t)
{
	return (size_t)(t.end - t.at);
}

/* Appends a whole file, e.g. of /proc, to *out. 0, -errno, or -EFBIG beyond max_bytes. */
int text_read_fd(int fd, size_t max_bytes, struct buf *out);

#endif
