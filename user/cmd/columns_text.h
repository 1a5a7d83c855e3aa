/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in columns for terminals: aligned and cut by characters, names escaped. */
#ifndef CP_USER_CMD_COLUMNS_TEXT_H
#define CP_USER_CMD_COLUMNS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

size_t text_cols(const char *s, size_t len_bytes); /* characters; wide ones count as one */
/* Escaped for a terminal, at most cols characters: the end becomes "…" if it does not fit. */
void put_cut(struct buf *out, const char *s, size_t cols);
void put_left(struct buf *out, const char *s, size_t cols);  /* blanks behind; escaped, cut */
void put_right(struct buf *out, const char *s, size_t cols); /* blanks before; as it is, not cut */
void put_duration_right(struct buf *out, uint64_t ns, size_t cols);
/* "12.5 %", "0.03 %", "<0.01 %", "0 %"; right-aligned. */
void put_share(struct buf *out, uint64_t part, uint64_t whole, size_t cols);
/* A bar of at most cols characters in eighths of a character, without blanks behind. */
void put_bar(struct buf *out, uint64_t part, uint64_t whole, size_t cols);

/* A stack in one line, leaf first: "read < serve < main [vfs_read]". names go from root to leaf; behind a
 * name "-" is the kernel part, of which only the function that waited is shown, in brackets. At most cols characters: what
 * does not fit at the root becomes "…". */
void put_stack_line(struct buf *out, const char *const *names, size_t name_cnt, size_t cols);

#endif
