/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel symbols: the table is in order, each name has an owner behind it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct kallsyms k;
	const char *owner;
	uint64_t start;

	kallsyms_parse(&k, (const char *)data, len_bytes);
	if (!symtab_check(&k.table))
		abort();
	for (size_t i = 0; i < k.table.ranges.cnt; i++)
		if (kallsyms_find(&k, k.table.ranges.items[i].start, &owner, &start) &&
		    strlen(owner) > len_bytes)
			abort();
	kallsyms_free(&k);
	return 0;
}
