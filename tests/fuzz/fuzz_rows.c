/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rows of hostile files. The first byte chooses: 0 = the rest is a whole ELF file, 1 = it is an
 * .eh_frame section, 2 = a .debug_frame section, in an otherwise sane file; 4 is added for a PLT whose code
 * is the text's zeros. What compiles must keep the promises of a table, and a search must stay within it. */
#include <stdint.h>
#include <stdlib.h>

#include "symbolize/rows.h"
#include "tests/unit/tiny_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static void use(const void *image, size_t len_bytes)
{
	struct row_table t;
	struct err err = { 0 };

	if (rows_compile(image, len_bytes, &t, &err)) {
		if (!err.code || !err.msg[0] || t.rows || t.blocks)
			abort();
		return;
	}
	if (rows_check(&t, &err))
		abort();
	for (uint64_t v = 0; v < 64; v++)
		(void)rows_find(&t, t.base_vaddr + v * 997);
	(void)rows_find(&t, UINT64_MAX);
	for (uint32_t i = 0; i + 1 < t.row_cnt; i++)
		if (rows_find(&t, t.base_vaddr + row_pc(t.rows[i])) != t.rows[i])
			abort();
	rows_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct tiny_elf e;

	if (!len_bytes)
		return 0;
	if ((data[0] & 3) == 0) {
		use(data + 1, len_bytes - 1);
		return 0;
	}
	e = tiny_elf_make((data[0] & 3) == 1 ? ".eh_frame" : ".debug_frame", data + 1,
			  len_bytes - 1, data[0] & 4 ? 0x2000 : 0);
	use(e.data, e.len_bytes);
	free(e.data);
	return 0;
}
