/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loader of profiles as text. What it takes must come back from its own dump. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/store/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static struct profile *load(const void *data, size_t len_bytes)
{
	struct profile *p = NULL;
	struct input *in = NULL;

	if (input_open_mem(data, len_bytes, &in, NULL))
		return NULL;
	text__load(in, &p, NULL);
	input_close(in);
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct buf text = { 0 }, again = { 0 };
	struct profile *p = load(data, len_bytes), *q;

	if (!p)
		return 0;
	text__dump(p, &text);
	q = load(text.data, text.len_bytes);
	assert(q);
	text__dump(q, &again);
	assert(!strcmp(buf_str(&text), buf_str(&again)));
	profile__free(p);
	profile__free(q);
	buf_free(&text);
	buf_free(&again);
	return 0;
}
