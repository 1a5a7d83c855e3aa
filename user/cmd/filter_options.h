/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes, which time and which stacks, as options for every verb that shows or writes stacks. */
#ifndef CP_USER_CMD_FILTER_OPTIONS_H
#define CP_USER_CMD_FILTER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/opt.h"
#include "user/model/profile.h"

struct filter_options {
	struct opt_list only, without;
	const char *base;
	uint64_t max_depth;
	const char *comm, *cgroup;
	uint64_t pid;
	struct opt_list since, until; /* at most one; a list tells 0 from nothing */
};

/* Entries for an option table; type is the verb's struct, which has a member "filter". */
#define FILTER_OPTIONS(type)                                                                      \
	{                                                                                         \
		"only",                                                                           \
		0,                                                                                \
		OPT_LIST,                                                                         \
		offsetof(type, filter.only),                                                      \
		"FRAME",                                                                          \
		"keep stacks with this frame: its name, or /REGEX/; may be given several times",  \
		0,                                                                                \
		0,                                                                                \
		NULL                                                                              \
	},                                                                                        \
		{ "without", 0,                                                                   \
		  OPT_LIST,  offsetof(type, filter.without),                                      \
		  "FRAME",   "drop stacks with this frame; may be given several times",           \
		  0,	     0,                                                                   \
		  NULL },                                                                         \
		{ "comm",     0,                                                                  \
		  OPT_STRING, offsetof(type, filter.comm),                                        \
		  "GLOB",     "only processes whose name matches",                                \
		  0,	      0,                                                                  \
		  NULL },                                                                         \
		{ "cgroup",   0,                                                                  \
		  OPT_STRING, offsetof(type, filter.cgroup),                                      \
		  "GLOB",     "only processes whose cgroup's path or container's name matches",   \
		  0,	      0,                                                                  \
		  NULL },                                                                         \
		{ "pid",   0,                                                                     \
		  OPT_U64, offsetof(type, filter.pid),                                            \
		  "PID",   "only this process, by its number outside or inside of its container", \
		  1,	   UINT32_MAX,                                                            \
		  NULL },                                                                         \
		{ "since",  0,                                                                    \
		  OPT_LIST, offsetof(type, filter.since),                                         \
		  "TIME",   "only what came later in the capture (record --slice, --intervals)",  \
		  0,	    0,                                                                    \
		  NULL },                                                                         \
		{ "until",  0,                                                                    \
		  OPT_LIST, offsetof(type, filter.until),                                         \
		  "TIME",   "only what came earlier in the capture",                              \
		  0,	    0,                                                                    \
		  NULL },                                                                         \
		{ "base",     0,                                                                  \
		  OPT_STRING, offsetof(type, filter.base),                                        \
		  "FRAME",    "make this frame the root and drop stacks without it",              \
		  0,	      0,                                                                  \
		  NULL },                                                                         \
	{                                                                                         \
		"max-depth", 0, OPT_U64, offsetof(type, filter.max_depth), "N",                   \
			"fold frames deeper than N into the last one kept", 1, UINT32_MAX, NULL   \
	}

bool filter_options_any(const struct filter_options *f);
/* Filters p and says on stderr what was dropped, if anything was. */
int filter_profile(struct profile *p, const struct filter_options *f, struct err *err);
void filter_options_free(struct filter_options *f);

#endif
