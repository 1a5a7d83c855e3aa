/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading of files of any size in bounded memory: plain, gzip or zstd (told by their first bytes, not by
 * their name), or "-" for standard input. */
#ifndef CP_USER_BASE_INPUT_H
#define CP_USER_BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/base/err.h"

struct input;

int input_open(const char *path, struct input **ret, struct err *err);
int input_open_mem(const void *data, size_t len_bytes, struct input **ret,
		   struct err *err); /* borrowed */
/* Up to cap_bytes of decompressed bytes: > 0 read, 0 at the end, < 0 on error (truncated or corrupt). */
ssize_t input_read(struct input *in, void *data, size_t cap_bytes, struct err *err);
/* The next line without its "\n" or "\r\n": 1 with *line (borrowed until the next call, NUL-terminated;
 * may hold NUL bytes), 0 at the end, < 0 on error. A missing last newline is fine; a line longer than
 * max_bytes is -E2BIG. */
int input_line(struct input *in, size_t max_bytes, char **line, size_t *len_bytes, struct err *err);
/* Looks ahead without consuming: at least want_bytes unless the input is shorter; *data is borrowed until
 * the next call. Returns how many bytes there are (may be more than want_bytes), < 0 on error. */
ssize_t input_peek(struct input *in, size_t want_bytes, const char **data, struct err *err);
uint64_t input_line_no(const struct input *in); /* of the last line given, from 1 */
const char *input_path(const struct input *in);
uint64_t
input_raw_bytes(const struct input *in); /* compressed bytes consumed so far, for progress */
uint64_t input_total_bytes(const struct input *in); /* size of the file, 0 if it cannot be known */
void input_close(struct input *in);

#endif
