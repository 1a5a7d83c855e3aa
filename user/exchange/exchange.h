/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Foreign profile formats, in and out. Each is one entry of a table; the verbs find it by name, by the
 * file's extension or by its first bytes. An importer puts what the file says into an empty profile and
 * into a report; it never prints. docs/formats.md says what each format can hold and what is rounded. */
#ifndef CP_USER_EXCHANGE_EXCHANGE_H
#define CP_USER_EXCHANGE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/input.h"
#include "user/model/profile.h"

enum {
	IMPORT_LINE_MAX_BYTES = 64 << 20, /* 10,000-deep stacks of long names fit */
	IMPORT_PEEK_BYTES = 4096
};

struct import_options {
	const char *unit;  /* of the values: ns, us, ms, s, or a noun; NULL = as the format says */
	double samples_hz; /* > 0: the values are samples at this rate and become nanoseconds */
	int kind;	   /* enum kind of everything; KIND_NONE = as the format says */
	bool tidy;	   /* cut argument lists as stackcollapse-perf.pl does */
	const char *event; /* perf script: the event to take; NULL = the first one */
	void (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
	void *progress_ctx;
};

/* What an import has to tell. Zero-initialised before the call. */
struct import_report {
	uint64_t rejected_cnt;	 /* lines or records that were left out */
	uint64_t first_rejected; /* the number of the first of them */
	char first_why[160];	 /* why */
	uint64_t ignored_cnt;	 /* samples of other events or other units */
	char ignored_why[160];
	uint64_t saturated_cnt; /* values beyond 2^64 - 1 */
	uint64_t rounded_cnt;	/* stacks whose total was rounded to a whole unit */
};

struct export_options {
	const char *unit; /* time unit of folded values: ns, us, ms, s; NULL = the profile's own */
	bool suffixes;	  /* _[k] _[i] _[j] _[p] */
	bool kinds;	  /* a leaf frame [running], [sleep], ... */
};

/* Where an exporter writes; an error is returned by the next call, too. */
struct export_sink {
	int (*write)(void *ctx, const void *data, size_t len_bytes, struct err *err);
	void *ctx;
};

struct exchange_format {
	const char *name;
	const char *extensions; /* separated by blanks, with their dots; "" = none of its own */
	const char *summary;
	bool (*sniff)(const char *head, size_t len_bytes); /* NULL = only by name */
	/* 0, or a negative errno with one clear line; p is then half-filled. NULL = cannot. */
	int (*import)(struct input *in, const struct import_options *opts, struct profile *p,
		      struct import_report *report, struct err *err);
	int (*export)(const struct profile *p, const struct export_options *opts,
		      struct export_sink *out, struct err *err); /* NULL = cannot */
};

/* All formats, one after the other; NULL behind the last. */
const struct exchange_format *exchange_format_at(size_t i);
const struct exchange_format *exchange_find(const char *name); /* NULL if unknown */
const struct exchange_format *
exchange_by_extension(const char *path); /* the longest that fits, or NULL */
/* By the first bytes of the input, which are not consumed. NULL with a message if nothing fits. */
const struct exchange_format *exchange_sniff(struct input *in, struct err *err);

/* One import: by *format, or by the input's first bytes where it is NULL. Checks the profile. */
int exchange_import(struct input *in, const struct exchange_format *format,
		    const struct import_options *opts, struct profile *p,
		    struct import_report *report, struct err *err);

#endif
