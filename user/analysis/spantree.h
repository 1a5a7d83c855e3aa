/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a trace, with its damage repaired and said.
 *
 * Spans come from many machines: parents are missing, ids are shared by the two halves of a call (Zipkin) or
 * sent twice, links run in circles, clocks disagree. What is done about each:
 *	parent not in the trace	  orphan: a tree of its own, not analysed unless an entry lies in it
 *	FOLLOWS_FROM; a consumer under a producer: nobody waits for it: a tree of its own
 *	same id, client and server halves: the server becomes the client's child and takes the children
 *	same id, equal in all else	sent twice: dropped
 *	circle of parents	  opened at its earliest span
 *	server outside its client on another host, and not longer: its subtree is shifted to the middle of
 *				  the client span (the best guess if both ways take equally long)
 *	child partly outside its parent: cut to it; wholly outside: dropped with its subtree
 * Roots are the spans without any parent; with an entry (service, operation), the top-most spans that match.
 *
 * Source: Zhang et al., CRISP (USENIX ATC 2022), section 4, but for the shift. O(n log n). */
#ifndef CP_USER_ANALYSIS_SPANTREE_H
#define CP_USER_ANALYSIS_SPANTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/model/trace.h"

#define SPAN_NONE UINT32_MAX

enum node_flag {
	NODE_ORPHAN = 1 << 0,
	NODE_ASYNC = 1 << 1,
	NODE_CIRCLE = 1 << 2,  /* its parent link was cut to open a circle */
	NODE_TWICE = 1 << 3,   /* a copy: in no tree */
	NODE_OUTSIDE = 1 << 4, /* dropped: outside of its parent's time */
	NODE_CUT = 1 << 5,
	NODE_SHIFTED = 1 << 6,
	NODE_USED = 1 << 7, /* scratch of the walk */
};

struct spantree_options {
	const char *entry_service, *entry_operation; /* NULL = any; both NULL = whole traces */
	bool first_root; /* only the first match in document order, depth first */
	bool no_shift;
	bool drop_around;     /* a child around its parent is dropped, not cut (CRISP 2022) */
	int64_t max_shift_ns; /* larger disagreements are cut, not shifted */
};

/* One thing worth telling about one span; amount_ns is the shift, or what was cut off. */
enum tree_note_kind {
	TREE_ORPHAN,
	TREE_ASYNC,
	TREE_CIRCLE,
	TREE_TWICE,
	TREE_SHARED_ID,
	TREE_AMBIGUOUS_ID,
	TREE_OUTSIDE,
	TREE_CUT,
	TREE_SHIFTED,
	TREE_NEGATIVE,
	TREE_FOREIGN_TRACE,
	TREE_PARENT_WARNED,
	TREE_NO_ROOT, /* the earliest orphan or opened circle stands in for it */
	TREE_NOTE_MAX,
};

struct tree_note {
	enum tree_note_kind kind;
	uint32_t span;
	int64_t amount_ns;
};

/* What a client and the server it called say about their clocks: offset_ns is how far the middles of their
 * spans lie apart (server minus client): the clock offset, if both ways take equally long. */
struct clock_pair {
	uint32_t client, server; /* spans */
	int64_t offset_ns;
};

struct spantree {
	const struct trace *trace; /* borrowed */
	size_t cnt;
	uint32_t *parent;		/* SPAN_NONE = root of a tree */
	uint32_t *child_off, *children; /* children[child_off[i] .. child_off[i + 1]) */
	int64_t *start_ns, *end_ns;	/* repaired, valid below analysed roots */
	uint8_t *flags;			/* enum node_flag */
	uint32_t *roots;		/* to be analysed, in document order */
	size_t root_cnt;
	int64_t cut_ns, root_ns; /* over all analysed roots */
	uint64_t note_cnt[TREE_NOTE_MAX];
	struct tree_note *notes; /* the first TREE_NOTES_KEPT */
	size_t notes_cnt, notes_cap;
	struct clock_pair *clocks;
	size_t clock_cnt, clock_cap;
	uint32_t *by_sid; /* id -> first span with it, SPAN_NONE = none */
	struct tree_stack {
		uint32_t node;
		int64_t shift_ns;
	} * stack;
	size_t cap, sid_cap, stack_cap;
};

enum {
	TREE_NOTES_KEPT = 32
};

/* Rebuilds *t (zero-initialised, or from a trace before) for a trace, which must outlive its use. */
void spantree__build(struct spantree *t, const struct trace *trace,
		     const struct spantree_options *o);
void spantree__free(struct spantree *t);

uint32_t spantree__find(const struct spantree *t, uint32_t id_sid); /* SPAN_NONE if unknown */
const char *tree_note_name(int kind);				    /* "parent missing" */

#endif
