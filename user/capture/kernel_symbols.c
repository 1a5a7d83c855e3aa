/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/kernel_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bpf/events.h"

/* A record of the kernel's; false: cut off. */
static bool take_symbol(const struct buf *records, size_t *at, struct kallsyms_sieve *sieve)
{
	struct kallsyms_symbol symbol;
	size_t left_bytes = records->len_bytes - *at;
	char owner[CP_KSYM_OWNER_BYTES + 2];
	const char *name;
	struct cp_ksym k;

	if (left_bytes < sizeof(k))
		return false;
	memcpy(&k, records->data + *at, sizeof(k));
	if (left_bytes - sizeof(k) < (size_t)k.name_bytes + k.owner_bytes || !k.name_bytes ||
	    k.owner_bytes > CP_KSYM_OWNER_BYTES)
		return false;
	name = records->data + *at + sizeof(k);
	symbol = (struct kallsyms_symbol){ .addr = k.addr, .type = k.type, .name = name };
	symbol.name_bytes = k.name_bytes - 1;
	symbol.owner = owner;
	if (k.owner_bytes)
		symbol.owner_bytes = (size_t)snprintf(owner, sizeof(owner), "[%.*s]",
						      k.owner_bytes - 1, name + k.name_bytes);
	kallsyms_sieve__add(sieve, &symbol);
	*at += sizeof(k) + k.name_bytes + k.owner_bytes;
	return true;
}

int kernel_symbols_take(const struct buf *records, struct kallsyms_sieve *sieve)
{
	size_t at = 0;

	while (at < records->len_bytes)
		if (!take_symbol(records, &at, sieve))
			return -EPROTO;
	return 0;
}
