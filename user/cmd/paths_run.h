/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One trace through "causeprof paths": from files to calls with parents. */
#ifndef CP_USER_CMD_PATHS_RUN_H
#define CP_USER_CMD_PATHS_RUN_H

#include <stddef.h>

#include "user/analysis/paths.h"
#include "user/base/json.h"
#include "user/cmd/paths_method.h"

/* Reads the files into run->t and pairs their messages. run->opts and run->progress are set, the rest is zero. */
int paths_run_load(struct paths_run *run, char *const *files, size_t cnt, struct err *err);
/* Lets the method set parents and builds the paths; loss goes to run->notes, and to j if it is not NULL. */
int paths_run_infer(struct paths_run *run, struct json *j, struct paths **ret, struct err *err);
/* The accuracy of p by opts->truth, into j, or else into out. */
int paths_run_judge(const struct paths_run *run, const struct paths *p, struct json *j,
		    struct buf *out, struct err *err);
void paths_run_fini(struct paths_run *run);

#endif
