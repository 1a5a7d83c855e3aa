/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a line that answers an address. */
#ifndef CP_USER_CMD_ADDRESS_TEXT_H
#define CP_USER_CMD_ADDRESS_TEXT_H

#include <stdint.h>

#include "user/base/buf.h"

#define ADDRESS_TEXT_HEX_MAX_BYTES 18

/* A name on a line of folded text, where ";" separates frames: it becomes ":", and what harms a terminal is escaped. */
void address_text_put_name(struct buf *out, const char *name);
/* "0x1f"; the other form writes at most ADDRESS_TEXT_HEX_MAX_BYTES, no NUL, and returns the end. */
void address_text_put_hex(struct buf *out, uint64_t v);
char *address_text_hex(char *to, uint64_t v);

#endif
