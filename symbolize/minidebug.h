/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MiniDebugInfo: a stripped file may carry the symbol table of its static functions as an ELF file of its
 * own, compressed with xz, in the section .gnu_debugdata. */
#ifndef CP_SYMBOLIZE_MINIDEBUG_H
#define CP_SYMBOLIZE_MINIDEBUG_H

#include <stddef.h>
#include <stdint.h>

#include "symbolize/elf.h"

enum {
	MINIDEBUG_MEMORY_MAX_BYTES = 128 << 20, /* of the decoder */
	MINIDEBUG_OUTPUT_MAX_BYTES = 256 << 20,
};

/* The decompressed ELF file in *data, owned by the caller. 0, -ENOENT when there is none, -EINVAL when it
 * is damaged, -E2BIG beyond the limits. */
int minidebug_read(const struct elf *e, uint8_t **data, size_t *len_bytes);

#endif
