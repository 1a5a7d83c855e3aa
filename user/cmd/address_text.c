/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "user/base/escape.h"
#include "user/cmd/address_text.h"

/* Most names need no change. */
void address_text_put_name(struct buf *out, const char *name)
{
	size_t start = out->len_bytes, len_bytes = 0;

	while (name[len_bytes] >= ' ' && name[len_bytes] <= '~' && name[len_bytes] != ';')
		len_bytes++;
	if (!name[len_bytes]) {
		buf_append(out, name, len_bytes);
		return;
	}
	escape_terminal(out, name, strlen(name));
	for (char *at = out->data + start; (at = strchr(at, ';')); at++)
		*at = ':';
}

char *address_text_hex(char *to, uint64_t v)
{
	int digit_cnt = (67 - __builtin_clzll(v | 1)) / 4;

	*to++ = '0';
	*to++ = 'x';
	for (int i = digit_cnt; i-- > 0; v >>= 4)
		to[i] = "0123456789abcdef"[v & 15];
	return to + digit_cnt;
}

void address_text_put_hex(struct buf *out, uint64_t v)
{
	char text[ADDRESS_TEXT_HEX_MAX_BYTES];

	buf_append(out, text, (size_t)(address_text_hex(text, v) - text));
}
