/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/minidebug.h"
#include "symbolize/plt.h"
#include "symbolize/symfile.h"

static int add_minidebug(struct symtab_builder *b, const struct elf *main)
{
	struct image image;
	struct elf inner;
	uint8_t *data;
	size_t len_bytes;
	int rc = minidebug_read(main, &data, &len_bytes);

	if (rc)
		return rc;
	image_from_mem(&image, data, len_bytes);
	rc = elf_open(&inner, &image) ? -EINVAL : symtab_add_elf(b, &inner, SHT_SYMTAB);
	elf_close(&inner);
	free(data);
	return rc;
}

/* The dynamic symbols are always read: a .symtab may have been stripped to a few symbols. */
void symfile_read(const struct elf *main, const struct elf *debug, struct symtab *ret,
		  struct symfile_counts *counts)
{
	struct symtab_builder b = { 0 };
	struct symtab_section dynamic;

	*counts = (struct symfile_counts){
		.debug_symtab = -ENOENT,
		.minidebug = -ENOENT,
	};
	counts->symtab = symtab_add_elf(&b, main, SHT_SYMTAB);
	if (counts->symtab < 0 && debug)
		counts->debug_symtab = symtab_add_elf(&b, debug, SHT_SYMTAB);
	symtab_section_read(&dynamic, &b, main, SHT_DYNSYM);
	counts->dynsym = symtab_add_section(&b, main, &dynamic);
	if (counts->symtab <= 0 && counts->debug_symtab <= 0)
		counts->minidebug = add_minidebug(&b, main);
	counts->plt = plt_add(&b, main, &dynamic);
	symtab_section_free(&dynamic);
	counts->dropped_cnt = b.dropped_cnt;
	symtab_build(&b, ret);
}

static bool failed(int cnt)
{
	return cnt < 0 && cnt != -ENOENT;
}

bool symfile_is_damaged(const struct symfile_counts *c)
{
	return failed(c->symtab) || failed(c->debug_symtab) || failed(c->dynsym) ||
	       failed(c->minidebug) || c->dropped_cnt;
}
