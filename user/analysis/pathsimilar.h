/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load balancers multiply patterns: two web servers, two application servers and two databases make eight of
 * one (SOSP 2003, figure 11, asks for this merging). Nodes whose names differ in a number at the end only are
 * a family (WS1, WS2: WS*); patterns that are equal by families are one group. Names that begin with a digit,
 * such as addresses, are no families: --node-map can say what they are. */
#ifndef CP_USER_ANALYSIS_PATHSIMILAR_H
#define CP_USER_ANALYSIS_PATHSIMILAR_H

#include <stddef.h>
#include <stdint.h>

#include "user/analysis/paths.h"
#include "user/base/strtab.h"

struct pathsimilar_group {
	uint32_t name_sid;
	uint32_t first, cnt; /* its patterns: members[first .. first + cnt), most frequent first */
	uint64_t instance_cnt, total_ns;
};

struct pathsimilar {
	struct strtab names;
	struct pathsimilar_group *groups; /* most instances first */
	size_t group_cnt;
	uint32_t *members; /* pattern numbers */
};

void pathsimilar_find(const struct paths *p, struct pathsimilar *ret);
void pathsimilar_free(struct pathsimilar *s);

#endif
