/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel symbols: the table is in order, each name has an owner behind it; who reads only what is wanted gets the same
 * names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Addresses at and around the borders of functions, sorted, each once. */
static size_t pick(const struct kallsyms *k, uint64_t *wanted)
{
	size_t cnt = 0, kept = 0;

	for (size_t i = 0; i < k->table.ranges.cnt; i++) {
		const struct range *r = &k->table.ranges.items[i];

		if (r->start % 3 == 0)
			continue;
		wanted[cnt++] = r->start - 1;
		wanted[cnt++] = r->start;
		wanted[cnt++] = r->end - 1;
		wanted[cnt++] = r->end;
	}
	if (cnt)
		qsort(wanted, cnt, sizeof(*wanted), compare);
	for (size_t i = 0; i < cnt; i++)
		if (!kept || wanted[i] != wanted[kept - 1])
			wanted[kept++] = wanted[i];
	return kept;
}

static void check_near(const struct kallsyms *k, const char *text, size_t len_bytes)
{
	uint64_t *wanted = calloc(4 * k->table.ranges.cnt + 1, sizeof(*wanted)), starts[2];
	size_t cnt = wanted ? pick(k, wanted) : 0;
	const char *owners[2], *names[2];
	struct kallsyms near;

	kallsyms_parse_near(&near, text, len_bytes, wanted, cnt);
	if (near.reason != k->reason)
		abort();
	for (size_t i = 0; i < cnt; i++) {
		names[0] = kallsyms_find(k, wanted[i], &owners[0], &starts[0]);
		names[1] = kallsyms_find(&near, wanted[i], &owners[1], &starts[1]);
		if (!names[0] != !names[1])
			abort();
		if (names[0] && (strcmp(names[0], names[1]) || strcmp(owners[0], owners[1]) ||
				 starts[0] != starts[1]))
			abort();
	}
	kallsyms_free(&near);
	free(wanted);
}

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
	check_near(&k, (const char *)data, len_bytes);
	kallsyms_free(&k);
	return 0;
}
