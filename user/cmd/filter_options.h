/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes, which time and which stacks, as options for every verb that shows or writes stacks. */
#ifndef CP_USER_CMD_FILTER_OPTIONS_H
#define CP_USER_CMD_FILTER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "user/analysis/stackfilter.h"
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

/* Entries for an option table; verb_type is the verb's struct, which has a member "filter". */
#define FILTER_OPTIONS(verb_type)                                                                  \
	{ .name = "only",                                                                          \
	  .type = OPT_LIST,                                                                        \
	  .off_bytes = offsetof(verb_type, filter.only),                                           \
	  .arg = "FRAME",                                                                          \
	  .help = "keep stacks with this frame: its name, or /REGEX/; may be given several times", \
	  .check = stackfilter_check },                                                            \
		{ .name = "without",                                                               \
		  .type = OPT_LIST,                                                                \
		  .off_bytes = offsetof(verb_type, filter.without),                                \
		  .arg = "FRAME",                                                                  \
		  .help = "drop stacks with this frame; may be given several times",               \
		  .check = stackfilter_check },                                                    \
		{ .name = "comm",                                                                  \
		  .type = OPT_STRING,                                                              \
		  .off_bytes = offsetof(verb_type, filter.comm),                                   \
		  .arg = "GLOB",                                                                   \
		  .help = "only processes whose name matches" },                                   \
		{ .name = "cgroup",                                                                \
		  .type = OPT_STRING,                                                              \
		  .off_bytes = offsetof(verb_type, filter.cgroup),                                 \
		  .arg = "GLOB",                                                                   \
		  .help = "only processes whose cgroup's path or container's name matches" },      \
		{ .name = "pid",                                                                   \
		  .type = OPT_U64,                                                                 \
		  .off_bytes = offsetof(verb_type, filter.pid),                                    \
		  .arg = "PID",                                                                    \
		  .help = "only this process, by its number outside or inside of its container",   \
		  .min = 1,                                                                        \
		  .max = UINT32_MAX },                                                             \
		{ .name = "since",                                                                 \
		  .type = OPT_LIST,                                                                \
		  .off_bytes = offsetof(verb_type, filter.since),                                  \
		  .arg = "TIME",                                                                   \
		  .help = "only what came later in the capture (record --slice, --intervals)",     \
		  .check = filter_options_check_time },                                            \
		{ .name = "until",                                                                 \
		  .type = OPT_LIST,                                                                \
		  .off_bytes = offsetof(verb_type, filter.until),                                  \
		  .arg = "TIME",                                                                   \
		  .help = "only what came earlier in the capture",                                 \
		  .check = filter_options_check_time },                                            \
		{ .name = "base",                                                                  \
		  .type = OPT_STRING,                                                              \
		  .off_bytes = offsetof(verb_type, filter.base),                                   \
		  .arg = "FRAME",                                                                  \
		  .help = "make this frame the root and drop stacks without it",                   \
		  .check = stackfilter_check },                                                    \
	{                                                                                          \
		.name = "max-depth", .type = OPT_U64,                                              \
		.off_bytes = offsetof(verb_type, filter.max_depth), .arg = "N",                    \
		.help = "fold frames deeper than N into the last one kept", .min = 1,              \
		.max = UINT32_MAX                                                                  \
	}

int filter_options_check_time(const char *text, struct err *err); /* for struct opt */
bool filter_options_any(const struct filter_options *f);
/* Filters p and says on stderr what was dropped, if anything was. */
int filter_profile(struct profile *p, const struct filter_options *f, struct err *err);
void filter_options_free(struct filter_options *f);

#endif
