/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All bytes of an input; see wholeinput.h. */
#include "user/exchange/wholeinput.h"

#include <errno.h>

enum {
	PIECE_BYTES = 256 * 1024
};

int input_read_all(struct input *in, size_t max_bytes, struct buf *out, struct err *err)
{
	ssize_t n;

	do {
		if (out->len_bytes > max_bytes)
			return err_set(err, -E2BIG, "%s: more than %zu MiB of this format",
				       input_path(in), max_bytes >> 20);
		buf_reserve(out, PIECE_BYTES);
		n = input_read(in, out->data + out->len_bytes, PIECE_BYTES, err);
		if (n > 0)
			out->len_bytes += (size_t)n;
	} while (n > 0);
	return n < 0 ? (int)n : 0;
}
