/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names come from programs that we do not trust: whatever leaves for a terminal, XML or JSON goes through
 * here. All of them replace invalid UTF-8 by U+FFFD. */
#ifndef CP_USER_BASE_ESCAPE_H
#define CP_USER_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

/* Decodes one character: its code point and length in bytes (1..4); U+FFFD and 1 for an invalid byte. */
uint32_t utf8_decode(const char *s, size_t len_bytes, size_t *used_bytes);
void buf_put_utf8(struct buf *out, uint32_t code_point);

/* Control characters and those that turn the direction of text. */
bool escape_is_unsafe(uint32_t code_point);

/* Control characters and those that turn the direction of text (bidi) become visible as \xHH or \u{H}. */
void escape_terminal(struct buf *out, const char *s, size_t len_bytes);
/* For XML text and attributes: & < > " ' as entities; characters that XML forbids become U+FFFD; bidi
 * characters become visible as \u{H}. */
void escape_xml(struct buf *out, const char *s, size_t len_bytes);
/* A whole JSON string with its quotes; "</" and U+2028/9 are escaped too, so that it can stand in HTML. */
void escape_json(struct buf *out, const char *s, size_t len_bytes);

/* "..." without loss: printable UTF-8 as it is, quotes and backslashes behind a backslash, \n, \t, and all
 * other bytes (controls, invalid UTF-8, bidi characters) as \xHH each. */
void escape_quoted(struct buf *out, const char *s, size_t len_bytes);
/* The other way. s[0] is the opening quote; *used_bytes goes to behind the closing one. Returns 0, or -EINVAL
 * if there is none or an escape is wrong. */
int unescape_quoted(struct buf *out, const char *s, size_t len_bytes, size_t *used_bytes);

#endif
