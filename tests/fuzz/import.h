/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every fuzz target of a foreign format does: import; whatever came in must be a sound profile, and each
 * format that we write must read back with the same total. */
#ifndef CP_TESTS_FUZZ_IMPORT_H
#define CP_TESTS_FUZZ_IMPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/exchange/exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static inline int fuzz_write(void *ctx, const void *data, size_t len_bytes, struct err *err)
{
	(void)err;
	buf_append(ctx, data, len_bytes);
	return 0;
}

static inline uint64_t fuzz_total(const struct profile *p)
{
	uint64_t total = 0;

	for (size_t i = 0; i < p->sums.cnt; i++)
		total = total > UINT64_MAX - p->sums.items[i].ns ? UINT64_MAX :
								   total + p->sums.items[i].ns;
	return total;
}

static inline struct profile *fuzz_import(const void *data, size_t len_bytes,
					  const struct exchange_format *f, const char *unit)
{
	const struct import_options opts = { .unit = unit };
	struct import_report report = { 0 };
	struct profile *p = profile__new();
	struct input *in;
	struct err err = { 0 };
	int rc = input_open_mem(data, len_bytes, &in, &err);

	if (!rc) {
		rc = exchange_import(in, f, &opts, p, &report, &err);
		input_close(in);
	}
	if (rc && !*err.msg)
		abort(); /* every refusal says why */
	if (rc) {
		profile__free(p);
		return NULL;
	}
	return p;
}

static inline void fuzz_round_trip(const struct profile *p, const struct exchange_format *f)
{
	const struct export_options opts = { .suffixes = true, .kinds = true };
	struct buf out = { 0 };
	struct export_sink sink = { fuzz_write, &out };
	struct err err = { 0 };
	struct profile *back;

	if (!f->export || (!p->intervals.cnt && !strcmp(f->name, "chrome")))
		return;
	if (f->export(p, &opts, &sink, &err))
		abort();
	back = f->import ? fuzz_import(out.data, out.len_bytes, f, NULL) : NULL;
	if (back && strcmp(f->name, "chrome") && fuzz_total(back) != fuzz_total(p)) {
		fprintf(stderr, "%s: %llu became %llu\n", f->name,
			(unsigned long long)fuzz_total(p), (unsigned long long)fuzz_total(back));
		abort();
	}
	if (!back && fuzz_total(p)) {
		fprintf(stderr, "%s: what was written cannot be read\n", f->name);
		abort();
	}
	profile__free(back);
	buf_free(&out);
}

static inline int fuzz_format(const uint8_t *data, size_t len_bytes, const char *name)
{
	struct profile *p = fuzz_import(data, len_bytes, exchange_find(name), NULL);
	size_t cnt = 0;

	if (!p)
		return 0;
	if (profile__check(p, NULL))
		abort();
	/* One format an input, by its length, keeps this fast. Sums beyond
	 * what pprof's signed values hold are cut, as docs/formats.md says. */
	while (exchange_format_at(cnt))
		cnt++;
	if (fuzz_total(p) < UINT64_MAX / 4)
		fuzz_round_trip(p, exchange_format_at(len_bytes % cnt));
	profile__free(p);
	return 0;
}

#endif
