/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps: whatever the lines are, the table is in order. */
#include <stdint.h>
#include <stdlib.h>

#include "symbolize/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct symtab t;
	size_t skipped_cnt;

	perfmap_parse(&t, (const char *)data, len_bytes, &skipped_cnt);
	if (!symtab_check(&t))
		abort();
	symtab_free(&t);
	return 0;
}
