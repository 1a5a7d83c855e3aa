/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack filters as options, for every verb that shows or writes stacks. */
#ifndef CP_USER_CMD_FILTER_OPTIONS_H
#define CP_USER_CMD_FILTER_OPTIONS_H

#include <stdint.h>

#include "user/base/err.h"
#include "user/base/opt.h"
#include "user/model/profile.h"

struct filter_options {
	struct opt_list only, without;
	const char *base;
	uint64_t max_depth;
};

/* Entries for an option table; type is the verb's struct, which has a member "filter". */
#define FILTER_OPTIONS(type)                                                                     \
	{                                                                                        \
		"only",                                                                          \
		0,                                                                               \
		OPT_LIST,                                                                        \
		offsetof(type, filter.only),                                                     \
		"FRAME",                                                                         \
		"keep stacks with this frame: its name, or /REGEX/; may be given several times", \
		0,                                                                               \
		0,                                                                               \
		NULL                                                                             \
	},                                                                                       \
		{ "without", 0,                                                                  \
		  OPT_LIST,  offsetof(type, filter.without),                                     \
		  "FRAME",   "drop stacks with this frame; may be given several times",          \
		  0,	     0,                                                                  \
		  NULL },                                                                        \
		{ "base",     0,                                                                 \
		  OPT_STRING, offsetof(type, filter.base),                                       \
		  "FRAME",    "make this frame the root and drop stacks without it",             \
		  0,	      0,                                                                 \
		  NULL },                                                                        \
	{                                                                                        \
		"max-depth", 0, OPT_U64, offsetof(type, filter.max_depth), "N",                  \
			"fold frames deeper than N into the last one kept", 1, UINT32_MAX, NULL  \
	}

/* Filters p and says on stderr what was dropped, if anything was. */
int filter_profile(struct profile *p, const struct filter_options *f, struct err *err);
void filter_options_free(struct filter_options *f);

#endif
