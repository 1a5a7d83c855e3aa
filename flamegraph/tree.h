/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a flame graph: stacks merged from their roots on. A node is a frame reached by one path; its
 * total is the weight of all stacks through it, its self what of them ends there. Weights are kept apart by
 * class of time (class.h) and by side: a difference is one union tree in which each node has both sides, so
 * that code that vanished is still a node.
 *
 * Weights are doubles: whole numbers are exact up to 2^53 (104 days in nanoseconds). Building costs one
 * look-up in a hash table a frame that differs from the stack before. Finishing sorts the children of each
 * node: names byte by byte (for UTF-8 that is by code point), so equal input gives an equal tree whatever
 * the order of its stacks. */
#ifndef CP_FLAMEGRAPH_TREE_H
#define CP_FLAMEGRAPH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flamegraph/class.h"
#include "flamegraph/folded.h"
#include "user/base/index.h"
#include "user/base/strtab.h"

enum flame_side {
	FLAME_AFTER = 0, /* the only one when there is no difference */
	FLAME_BEFORE = 1,
	FLAME_SIDE_MAX = 2,
};

enum flame_merge {
	FLAME_MERGE_ALL,   /* equal paths are one node: a flame graph */
	FLAME_MERGE_CHART, /* only neighbours merge, the order is kept: a flame chart */
};

struct flame_node {
	uint32_t parent; /* the root is node 0 and its own parent */
	uint32_t first;	 /* child; 0 = none */
	uint32_t next;	 /* sibling; 0 = none */
	uint32_t name;	 /* id in names */
	uint32_t cell;	 /* 1 + index of its first cell; 0 = nothing ends here */
};

/* A weight that ends at a node. */
struct flame_cell {
	double value;
	uint64_t cnt; /* waits or samples; 0 = not known */
	uint32_t next;
	uint8_t cls;
	uint8_t side;
};

struct flame_weight {
	double value; /* >= 0 */
	uint64_t cnt;
	uint8_t cls;  /* enum flame_class */
	uint8_t side; /* enum flame_side */
};

struct flame_tree {
	struct strtab names;
	struct flame_node *nodes;
	size_t node_cnt, node_cap;
	struct flame_cell *cells;
	size_t cell_cnt, cell_cap;
	struct index index;
	uint32_t *path;	      /* nodes of the stack added last, root first */
	uint64_t *path_hash;  /* of the path up to each */
	uint32_t *path_guess; /* the node that the index has for it, most likely the right one */
	size_t path_cnt, path_cap, path_hash_cap, path_guess_cap;
	enum flame_merge merge;
	double *starts; /* of each node, charts only */
	size_t start_cap;
	double added; /* sum of the after side so far, charts only */
	/* Set by flame_tree__finish: */
	uint8_t cols[FLAME_SIDE_MAX][FLAME_CLASS_MAX]; /* 1 + column in totals; 0 = not there */
	uint8_t col_side[FLAME_SIDE_MAX * FLAME_CLASS_MAX];
	uint8_t col_class[FLAME_SIDE_MAX * FLAME_CLASS_MAX];
	uint32_t col_cnt;
	double *totals; /* node_cnt rows of col_cnt columns */
};

struct flame_tree *flame_tree__new(enum flame_merge merge);
void flame_tree__free(struct flame_tree *t); /* NULL is fine */

/* Adds a stack, root first; returns the node in which it ends. Frames are copied. */
uint32_t flame_tree__add(struct flame_tree *t, const struct flame_str *frames, size_t frame_cnt,
			 const struct flame_weight *weights, size_t weight_cnt);
/* The same for NUL-terminated names. */
uint32_t flame_tree__add_names(struct flame_tree *t, const char *const *names, size_t name_cnt,
			       const struct flame_weight *weights, size_t weight_cnt);

/* Sorts and sums up; call once, after the last add. O(n log n). */
void flame_tree__finish(struct flame_tree *t);

/* After flame_tree__finish: */
double flame_tree__total(const struct flame_tree *t, uint32_t node, enum flame_side side);
double flame_tree__class_total(const struct flame_tree *t, uint32_t node, enum flame_side side,
			       int cls);
double flame_tree__self(const struct flame_tree *t, uint32_t node, enum flame_side side);
bool flame_tree__has_side(const struct flame_tree *t, enum flame_side side);
bool flame_tree__has_classes(const struct flame_tree *t); /* any class but FLAME_NONE */
/* Sums of the counts of each node and all below it; 0s where not known. Owned by the caller. */
uint64_t *flame_tree__counts(const struct flame_tree *t, enum flame_side side);

#endif
