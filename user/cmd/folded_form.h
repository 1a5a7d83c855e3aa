/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded text as bcc's tools print it, and with kinds of time as leaf frames. For the verbs fold and
 * record -f. */
#ifndef CP_USER_CMD_FOLDED_FORM_H
#define CP_USER_CMD_FOLDED_FORM_H

#include <stdio.h>

#include "user/analysis/fold.h"
#include "user/base/buf.h"

struct folded_form {
	struct fold_opts opts; /* kinds 0: blocked time, or all of a profile that tells no kinds */
	bool show_kinds;       /* a last frame "[running]", "[sleep]", ... */
	uint64_t
		value_ns; /* a value of 1 in the text; 0 = 1000. Other units than time stay as they are */
};

/* Lines by stack, values rounded to nearest; those that round to 0 are left out. */
void folded_form__put(const struct profile *p, const struct folded_form *form, struct buf *out);
/* Says that the chosen kinds have no time, and what the profile has. */
void folded_form__tell_empty(const struct profile *p, FILE *to);

#endif
