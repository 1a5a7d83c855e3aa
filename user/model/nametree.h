/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of one or several profiles as one tree of names. Stacks of a profile are keyed by addresses and
 * frames; people, folded text and differences go by names, so that two builds of a program compare. Node 0
 * is the root above everything; a profile's process names are its children where they are known, and frames
 * follow from root to leaf. Values are kept by the caller in arrays by node number.
 *
 * Parents have smaller numbers than their children, so that subtree totals are one pass from the end. */
#ifndef CP_USER_MODEL_NAMETREE_H
#define CP_USER_MODEL_NAMETREE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/index.h"
#include "user/base/strtab.h"
#include "user/model/profile.h"

struct nametree_node {
	uint32_t parent;
	uint32_t name; /* id in names */
};

struct builds; /* user/model/builds.h */

struct nametree {
	struct strtab names;
	struct nametree_node *nodes;
	size_t cnt, cap;
	struct index index; /* (parent, name) -> node */
	/* Functions without a name of files with several builds are one for each file; NULL: there are none. Borrowed. */
	const struct builds *builds;
};

enum nametree_flag {
	NAMETREE_SUFFIXES = 1 << 0,   /* "_[k]" kernel, "_[i]" inlined, "_[j]" JIT, "_[p]" Python */
	NAMETREE_KINDS = 1 << 1,      /* a leaf frame "[running]", "[sleep]", ... */
	NAMETREE_NO_PROCESS = 1 << 2, /* no process name at the root */
	NAMETREE_NO_ADDRESSES = 1 << 3, /* hexadecimal addresses in names become 0x... */
	NAMETREE_LINES = 1 << 4,	/* "name (file:line)" where the line is known */
};

/* What one sum of the profile became. */
typedef void (*nametree_visit)(void *ctx, const struct sum *sum, uint32_t node);

void nametree_init(struct nametree *t);
void nametree_free(struct nametree *t);
uint32_t nametree_child(struct nametree *t, uint32_t parent,
			uint32_t name); /* found or added; O(1) */
const char *nametree_name(const struct nametree *t, uint32_t node);

/* Puts every stack of the profile that has a sum into the tree and calls visit for each sum (visit may be
 * NULL). O(sums + frames of distinct stacks). */
void nametree_add_profile(struct nametree *t, const struct profile *p, unsigned int flags,
			  nametree_visit visit, void *ctx);

/* Node numbers in depth-first order, siblings by name (byte order): owned by the caller, cnt entries. */
uint32_t *nametree_sorted(const struct nametree *t);

/* The path of a node as folded text, without the root: "a;b;c" with escapes. */
void nametree_path(const struct nametree *t, uint32_t node, struct buf *out);

/* What a frame is called: its name, or the reason why it has none and the file, with where its function starts if that is
 * known ("[stripped] libz.so+0x1f0"). flags: NAMETREE_SUFFIXES, _NO_ADDRESSES, _LINES. */
void frame_label(const struct profile *p, uint32_t frame, unsigned int flags, struct buf *out);

#endif
