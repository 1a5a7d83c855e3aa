/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as weighted stacks of names: what folded text, reports and pictures are made of. Stacks are
 * keyed by frames; people read names, so stacks with equal names merge here, whatever their addresses. One
 * row is one path of names and one kind of time.
 *
 * Time without a stack becomes a frame that says why: "[filtered]", "[running, not sampled]", and
 * "[asleep throughout] ×N" for the N threads of a process that never ran in the window, which otherwise
 * would be a wall of idle pools. */
#ifndef CP_USER_ANALYSIS_FOLD_H
#define CP_USER_ANALYSIS_FOLD_H

#include "user/base/err.h"
#include "user/model/nametree.h"
#include "user/model/profile.h"

/* What the first frame is. */
enum fold_root {
	FOLD_ROOT_COMM, /* name of the process, as bcc's tools print it */
	FOLD_ROOT_NONE,
	FOLD_ROOT_PROCESS, /* "comm-PID", and in a PID namespace of its own "comm-PID (N inside)" */
	FOLD_ROOT_THREAD, /* "comm-PID/TID"; the process where the profile does not know the thread */
	FOLD_ROOT_GATE,	  /* the request gate, then the name of the process */
	FOLD_ROOT_CGROUP,    /* the path of the cgroup, then the name of the process */
	FOLD_ROOT_CONTAINER, /* the same with the name that people use, see container.h */
};

/* The words for them, in their order, for options; ends with NULL. */
extern const char *const fold_root_words[];

enum fold_flag {
	FOLD_SUFFIXES = 1 << 0,	 /* "_[k]" kernel, "_[i]" inlined, "_[j]" JIT, "_[p]" Python */
	FOLD_DELIMITER = 1 << 1, /* a frame "-" between user and kernel part */
	FOLD_USER_ONLY = 1 << 2,
	FOLD_KERNEL_ONLY = 1 << 3,
	FOLD_UNFOLD_ASLEEP = 1 << 4, /* stacks of threads that never ran, too */
	FOLD_LINES = 1 << 5,	     /* "name (file:line)" */
};

#define FOLD_KINDS_ALL UINT32_MAX

struct fold_opts {
	uint32_t kinds;	    /* mask of 1 << enum kind */
	unsigned int flags; /* enum fold_flag */
	enum fold_root root;
};

struct fold_row {
	uint32_t node;		  /* in names */
	uint32_t process, thread; /* 0 = several, or not known */
	uint8_t kind;
	uint8_t flags; /* enum part_flag: what holds for any part of it */
	uint64_t ns;   /* or the unit of an imported profile */
	uint64_t cnt;
};

struct fold {
	struct nametree names;
	struct fold_row *rows; /* by names, frame by frame in byte order, then by kind */
	size_t row_cnt;
	uint64_t total_ns;
};

/* O(n log n) in sums and frames. */
void fold_init(struct fold *f, const struct profile *p, const struct fold_opts *opts);
void fold_free(struct fold *f);

/* Calls visit for each row, in order. Names go from root to leaf, without the root above everything. */
typedef void (*fold_visit)(void *ctx, const char *const *names, size_t name_cnt,
			   const struct fold_row *row);
void fold_each(const struct fold *f, fold_visit visit, void *ctx);

/* "all", "off" (runnable and blocked), "blocked", "runnable", kinds by name or letter, with commas. */
int fold_parse_kinds(const char *text, uint32_t *ret, struct err *err);
/* The mask of kinds that the profile has time of. */
uint32_t fold_kinds_of(const struct profile *p);

#endif
