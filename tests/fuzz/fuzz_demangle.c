/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names: bounded output, and what is not mangled comes back unchanged but for compilers' suffixes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"
#include "user/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *name = xstrndup((const char *)data, len_bytes);
	struct buf out = { 0 };

	demangle(&out, name, len_bytes & 1);
	if (out.len_bytes > strlen(name) && out.len_bytes > DEMANGLE_OUTPUT_MAX_BYTES)
		abort();
	if (strlen(name) < demangle_stem_bytes(name))
		abort();
	buf_free(&out);
	free(name);
	return 0;
}
