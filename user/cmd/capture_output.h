/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture leaves behind: the profile, its picture, and the summary or folded text on standard
 * output. */
#ifndef CP_USER_CMD_CAPTURE_OUTPUT_H
#define CP_USER_CMD_CAPTURE_OUTPUT_H

#include <stdbool.h>

#include "user/base/err.h"
#include "user/base/phases.h"
#include "user/cmd/folded_form.h"
#include "user/model/profile.h"

struct output_opts {
	const char *path; /* of the profile; NULL: no profile and no picture */
	bool replace;	  /* files that exist */
	bool picture;	  /* FILE.svg beside FILE.cprof */
	bool summary;	  /* printed, with the names of the files */
	bool folded;	  /* printed instead of the summary */
	struct folded_form form;
	struct phases *phases; /* what writing costs; NULL = nobody asks */
};

/* Is there anything in the way of the files? For a look before a long capture: 0, or -EEXIST, ... */
int capture_output__check(const struct output_opts *o, struct err *err);
int capture_output__put(const struct profile *p, const struct output_opts *o, struct err *err);
/* Ends the last phase and prints what all of them cost, to standard error. NULL is fine. */
void capture_output__put_phases(struct phases *phases);

#endif
