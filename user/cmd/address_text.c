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

void address_text_put_hex(struct buf *out, uint64_t v)
{
	char digits[18];
	size_t at = sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	digits[--at] = 'x';
	digits[--at] = '0';
	buf_append(out, digits + at, sizeof(digits) - at);
}
