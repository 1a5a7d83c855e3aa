/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of nodes: layers name the same thing differently (a host, an address, a process), and a user wants
 * "db" where a capture says 10.0.0.7:5432. A map is a text file with a line a rule,
 *
 *	REGEX NODE
 *
 * where REGEX is a POSIX extended regular expression without blanks and NODE may hold \1 .. \9. The first
 * rule that matches anywhere in a name replaces the whole name; a name that none matches stays. */
#ifndef CP_USER_MODEL_NODEMAP_H
#define CP_USER_MODEL_NODEMAP_H

#include <stdbool.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"
#include "user/model/msgtrace.h"

struct nodemap;

int nodemap__read(struct input *in, struct nodemap **ret,
		  struct err *err); /* owned by the caller */
void nodemap__free(struct nodemap *m);

/* Appends what name is called; false (and name itself) if no rule matches. m may be NULL. */
bool nodemap__name(const struct nodemap *m, const char *name, struct buf *out);
/* Renames the nodes of a trace; nodes of equal name become one. O(nodes * rules + messages + calls). */
void nodemap__apply(const struct nodemap *m, struct msgtrace *t);

#endif
