/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From stacks to the tree of a picture: what is kept, what the first frame is, which end is the root. For
 * the verbs flame and record. */
#ifndef CP_USER_CMD_FLAME_FILL_H
#define CP_USER_CMD_FLAME_FILL_H

#include <stdbool.h>

#include "flamegraph/folded.h"
#include "flamegraph/picture.h"
#include "user/base/err.h"
#include "user/cmd/filter_options.h"
#include "user/cmd/profile_source.h"
#include "user/model/profile.h"

/* A frame put below all others, so that parts stand side by side in one scale. */
enum flame_by {
	FLAME_BY_NOTHING,
	FLAME_BY_LANE,	 /* on-CPU, off-CPU */
	FLAME_BY_CLASS,	 /* running, runnable (woken), blocked (sleep), ... */
	FLAME_BY_THREAD, /* "comm-PID/TID" */
	FLAME_BY_PROCESS,
	FLAME_BY_GATE, /* the request gate */
	FLAME_BY_CGROUP,
	FLAME_BY_CONTAINER,
};

extern const char *const flame_by_words[]; /* for OPT_CHOICE, in the order of the enum */

struct class_filter {
	enum flame_group group;
	int cls; /* -1: by group */
};

/* "all", "on", "off", "runnable", "blocked" or a class's word; NULL is all. */
int class_filter_parse(const char *word, struct class_filter *ret, struct err *err);

struct flame_fill {
	/* chosen by the caller */
	struct flame_tree *tree;
	struct class_filter filter;
	const struct filter_options *part; /* of profiles; NULL = all */
	enum flame_by by;
	enum folded_counts counts;
	int default_cls; /* of folded text that does not tell it: enum flame_class */
	double scale;	 /* of values in folded text */
	bool reverse, no_classes, unfold_asleep;
	bool wakers; /* the wake-up graph of a profile, not its stacks */
	/* told afterwards */
	bool told_classes;	  /* folded text had frames that tell classes */
	struct profile *kept;	  /* the first profile read, for what it tells; freed by fini */
	uint64_t stack_cnt;	  /* before the filter */
	struct flame_str *turned; /* scratch */
	size_t turned_cap;
};

/* Reads a file of any kind into the tree: folded text as a stream, others as profiles. Says on stderr what
 * was skipped. */
int flame_fill__file(struct flame_fill *f, const char *path, const struct source_options *source,
		     struct err *err);
/* All stacks of another tree, under this one's filter, lanes and direction. */
void flame_fill__derive(struct flame_fill *f, const struct flame_tree *from);
void flame_fill__profile(struct flame_fill *f, const struct profile *p);
/* One stack, under the filter, lanes and direction. */
struct stack_names;
void flame_fill__stack(struct flame_fill *f, struct stack_names *names,
		       const struct flame_weight *weight);
void flame_fill__fini(struct flame_fill *f); /* the tree stays the caller's */

/* How a picture shows this profile's values: time, bytes, or its own unit. */
void flame_set_unit(struct flame_opts *o, const struct profile *p);

/* The picture of a whole profile, on- and off-CPU in one graph. */
int flame_profile_svg(const struct profile *p, const struct flame_opts *o, struct buf *out,
		      struct err *err);

#endif
