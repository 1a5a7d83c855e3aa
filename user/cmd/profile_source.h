/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where verbs get their profile from: a .cprof file or anything that exchange/ can import, told by its first
 * bytes. Also the options that such verbs share. */
#ifndef CP_USER_CMD_PROFILE_SOURCE_H
#define CP_USER_CMD_PROFILE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/opt.h"
#include "user/exchange/exchange.h"
#include "user/model/profile.h"

struct source_options {
	const char *from; /* format name; NULL = by the first bytes */
	const char *unit;
	double hz;
	int kind; /* index into source_kinds */
	bool tidy;
	const char *event;
};

extern const char *const source_kinds[]; /* "any", "running", ...: enum kind by index */

int source_check_format(const char *name, struct err *err); /* for struct opt */

/* Entries for an option table; verb_type is the verb's struct, which has a member "source". */
#define SOURCE_OPTIONS(verb_type)                                                                \
	{ .name = "from",                                                                        \
	  .type = OPT_STRING,                                                                    \
	  .off_bytes = offsetof(verb_type, source.from),                                         \
	  .arg = "FORMAT",                                                                       \
	  .help = "format of the input (default: by its first bytes)",                           \
	  .check = source_check_format },                                                        \
		{ "unit",                                                                        \
		  0,                                                                             \
		  OPT_STRING,                                                                    \
		  offsetof(verb_type, source.unit),                                              \
		  "UNIT",                                                                        \
		  "what imported values are: ns, us, ms, s, or a noun such as samples or bytes", \
		  0,                                                                             \
		  0,                                                                             \
		  NULL },                                                                        \
		{ "hz",	   0,                                                                    \
		  OPT_F64, offsetof(verb_type, source.hz),                                       \
		  "HZ",	   "imported values are samples at this rate; they become time",         \
		  0,	   1e9,                                                                  \
		  NULL },                                                                        \
		{ "kind",      0,                                                                \
		  OPT_CHOICE,  offsetof(verb_type, source.kind),                                 \
		  "KIND",      "what threads did in imported values that do not say it",         \
		  0,	       0,                                                                \
		  source_kinds },                                                                \
		{ "tidy",                                                                        \
		  0,                                                                             \
		  OPT_FLAG,                                                                      \
		  offsetof(verb_type, source.tidy),                                              \
		  NULL,                                                                          \
		  "perf: cut argument lists and Java descriptors as stackcollapse-perf.pl does", \
		  0,                                                                             \
		  0,                                                                             \
		  NULL },                                                                        \
	{                                                                                        \
		"event", 0, OPT_STRING, offsetof(verb_type, source.event), "EVENT",              \
			"perf: the event to take, or \"all\" (default: the first)", 0, 0, NULL   \
	}

/* Reads one profile; says on stderr what the import left out or rounded. *ret is owned by the caller. */
/* source_read goes on with an input of which nothing was consumed yet; it stays the caller's. */
int source_read(struct input *in, const char *path, const struct source_options *opts,
		struct profile **ret, struct err *err);
int source_load(const char *path, const struct source_options *opts, struct profile **ret,
		struct err *err);

#endif
