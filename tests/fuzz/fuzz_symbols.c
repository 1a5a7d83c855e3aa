/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of an ELF image: .symtab, .dynsym, MiniDebugInfo, PLT stubs, links to debug files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/starts.h"
#include "symbolize/symfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct image image;
	struct elf e;
	struct symtab table;
	struct symfile_counts counts;
	struct elf_debug_links links;
	struct starts starts;
	uint64_t addr;

	image_from_mem(&image, data, len_bytes);
	if (!elf_open(&e, &image)) {
		symfile_read(&e, NULL, &table, &counts);
		if (!symtab_check(&table))
			abort();
		elf_debug_links(&e, &links);
		if (links.debuglink && strlen(links.debuglink) > len_bytes)
			abort();
		elf_debug_links_free(&links);
		starts_read(&e, &starts);
		for (addr = 0; addr < 4096; addr += 97)
			(void)starts_find(&starts, addr);
		(void)starts_find(&starts, UINT64_MAX);
		starts_free(&starts);
		if (elf_addr_of_offset(&e, len_bytes / 2, &addr))
			elf_code_pages(&e, addr, addr + len_bytes, &addr);
		symtab_free(&table);
	}
	elf_close(&e);
	return 0;
}
