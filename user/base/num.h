/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as people write and read them. Parsers take the whole string or refuse it. */
#ifndef CP_USER_BASE_NUM_H
#define CP_USER_BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"

/* Each returns 0 or -EINVAL/-ERANGE with a message that quotes the text. */
int parse_u64(const char *text, uint64_t *ret, struct err *err); /* decimal, or 0x hexadecimal */
int parse_f64(const char *text, double *ret, struct err *err);	 /* finite */
/* "0.1", "250ms", "3 s", "2m", "1h"; a bare number is in units of bare_unit_ns. Negative is refused. */
int parse_duration_ns(const char *text, uint64_t bare_unit_ns, uint64_t *ret, struct err *err);
int parse_size_bytes(const char *text, uint64_t *ret,
		     struct err *err); /* "64", "64K", "4M", "1GiB" */

void buf_put_duration(struct buf *b,
		      uint64_t ns);		  /* "1.25 s", "830 us": three significant digits */
void buf_put_size(struct buf *b, uint64_t bytes); /* "3.4 MiB" */
void buf_put_grouped(struct buf *b, uint64_t v);  /* "1,234,567" */

#endif
