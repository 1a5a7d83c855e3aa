/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/kernel_names.h"

#include <stdlib.h>

#include "symbolize/demangle.h"
#include "symbolize/symbolizer.h"
#include "user/base/buf.h"
#include "user/base/mem.h"
#include "user/base/strtab.h"

static int compare_addrs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void kernel_names_free(struct kernel_names *k)
{
	if (k->is_read)
		kallsyms_free(&k->kallsyms);
	free(k->names);
	free(k->wanted);
	*k = (struct kernel_names){ 0 };
}

static void note_read(struct kernel_names *k)
{
	k->is_read = true;
	k->names = xcalloc(k->kallsyms.table.ranges.cnt + 1, sizeof(*k->names));
}

void kernel_names_read(struct kernel_names *k, const struct sym_opts *opts, uint64_t at)
{
	if (k->is_read && k->wanted &&
	    !bsearch(&at, k->wanted, k->wanted_cnt, sizeof(at), compare_addrs))
		kernel_names_free(k);
	if (k->is_read)
		return;
	kallsyms_read(&k->kallsyms, opts->kallsyms);
	note_read(k);
}

static bool ask_kernel(struct kernel_names *k, const struct sym_opts *opts, const uint64_t *wanted,
		       size_t cnt)
{
	struct kallsyms_sieve *sieve;
	int rc;

	if (!opts->kernel_symbols)
		return false;
	sieve = kallsyms_sieve__new(wanted, cnt);
	rc = opts->kernel_symbols(opts->kernel_ctx, wanted, cnt, sieve);
	kallsyms_sieve__finish(sieve, &k->kallsyms);
	if (!rc && !k->kallsyms.reason)
		return true;
	kallsyms_free(&k->kallsyms);
	return false;
}

void kernel_names_prepare(struct kernel_names *k, const struct sym_opts *opts, uint64_t *wanted,
			  size_t cnt)
{
	size_t kept = 0;

	if (k->is_read || !cnt) {
		free(wanted);
		return;
	}
	qsort(wanted, cnt, sizeof(*wanted), compare_addrs);
	for (size_t i = 0; i < cnt; i++)
		if (!kept || wanted[i] != wanted[kept - 1])
			wanted[kept++] = wanted[i];
	if (!ask_kernel(k, opts, wanted, kept))
		kallsyms_read_near(&k->kallsyms, opts->kallsyms, wanted, kept);
	k->wanted = wanted;
	k->wanted_cnt = kept;
	note_read(k);
}

const char *kernel_names_find(struct kernel_names *k, const struct sym_opts *opts,
			      struct strtab *names, uint64_t at, const char **owner)
{
	struct buf text = { 0 };
	uint64_t start;
	size_t range;
	const char *raw = kallsyms_find(&k->kallsyms, at, owner, &start);

	if (!raw)
		return NULL;
	range = (size_t)(symtab_find(&k->kallsyms.table, at) - k->kallsyms.table.ranges.items);
	if (!k->names[range]) {
		demangle(&text, raw, !opts->keep_suffixes);
		k->names[range] = strtab_get(names, strtab_addn(names, text.data, text.len_bytes));
		buf_free(&text);
	}
	return k->names[range];
}
