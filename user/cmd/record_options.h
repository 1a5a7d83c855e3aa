/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of record: a table, what they are read into, and what must not be asked for together. The verb
 * itself (verb_record.c) has only the flow of a capture. */
#ifndef CP_USER_CMD_RECORD_OPTIONS_H
#define CP_USER_CMD_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/base/opt.h"
#include "user/capture/options.h"

struct record_opts {
	struct capture_opts
		capture;       /* options that the capture takes as they are land here at once */
	uint32_t *pids, *tids; /* what capture.pids and capture.tids point to; owned */
	struct opt_list pid_words, tid_words, cgroup_words, labels;
	bool user_only, kernel_only, verify, force, strict, picture;
	bool quiet, verbose, replace, folded, delimiter, annotate;
	double max_overhead_percent;
	const char *comm, *state, *output, *kinds, *raw_path;
	int unwind, hook;
	struct capture_cgroup
		*cgroups; /* what capture.cgroups points to, with its directories; owned */
	char **command;	  /* what stands behind "--", borrowed from argv; NULL: none */
};

extern const struct opt record_options[];

/* Reads argv[1..argc-1] into *o and checks it. Returns 0, or -EINVAL with a message that names the option.
 * *o is to be freed either way. */
int record_opts__parse(struct record_opts *o, int argc, char **argv, struct err *err);
void record_opts__free(struct record_opts *o);

/* Looks up what is told by name: cgroups, processes of a name. 0, or -errno with the name that was not found. */
int record_opts__look_up(struct record_opts *o, struct err *err);
/* One more process to watch, with its children. */
void record_opts__watch(struct record_opts *o, uint32_t pid);

#endif
