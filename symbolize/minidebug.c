/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "symbolize/minidebug.h"
#include "user/base/mem.h"

#define STEP_BYTES ((size_t)256 << 10)

static int decode(lzma_stream *stream, uint8_t **data, size_t *len_bytes)
{
	lzma_ret rc = LZMA_OK;
	size_t cap = 0;

	while (rc == LZMA_OK) {
		if (*len_bytes >= MINIDEBUG_OUTPUT_MAX_BYTES)
			return -E2BIG;
		*data = xgrow(*data, &cap, *len_bytes + STEP_BYTES, 1);
		stream->next_out = *data + *len_bytes;
		stream->avail_out = STEP_BYTES;
		rc = lzma_code(stream, LZMA_FINISH);
		*len_bytes += STEP_BYTES - stream->avail_out;
	}
	if (rc == LZMA_MEMLIMIT_ERROR)
		return -E2BIG;
	return rc == LZMA_STREAM_END ? 0 : -EINVAL;
}

int minidebug_read(const struct elf *e, uint8_t **data, size_t *len_bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint64_t packed_bytes = 0;
	uint8_t *packed = elf_section_copy(e, elf_section(e, ".gnu_debugdata"),
					   MINIDEBUG_OUTPUT_MAX_BYTES, &packed_bytes);
	int rc;

	*data = NULL;
	*len_bytes = 0;
	if (!packed)
		return -ENOENT;
	rc = lzma_stream_decoder(&stream, MINIDEBUG_MEMORY_MAX_BYTES, 0) == LZMA_OK ? 0 : -ENOMEM;
	if (!rc) {
		stream.next_in = packed;
		stream.avail_in = packed_bytes;
		rc = decode(&stream, data, len_bytes);
		lzma_end(&stream);
	}
	free(packed);
	if (rc) {
		free(*data);
		*data = NULL;
	}
	return rc;
}
