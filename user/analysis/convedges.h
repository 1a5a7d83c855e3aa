/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of a trace by directed edge, as convolution wants them, and which nodes are roots; a long trace
 * in pieces, each with what its messages may cause behind its end.
 * Only library code of the convolution method uses this header. */
#ifndef CP_USER_ANALYSIS_CONVEDGES_H
#define CP_USER_ANALYSIS_CONVEDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analysis/xcorr.h"
#include "user/base/index.h"
#include "user/model/msgtrace.h"

struct conv_edge {
	uint32_t from, to; /* nodes */
	int64_t *times_ns; /* ascending */
	size_t cnt, cap;
	size_t own_cnt;	      /* of a piece: those before its end */
	uint64_t request_cnt; /* those that ask for something: no replies */
	struct signal signal; /* of a piece */
};

struct conv_edges {
	struct conv_edge *edges; /* by from, then to */
	size_t cnt, cap;
	uint32_t *first; /* by node: its edges are edges[first[n] .. first[n + 1]) */
	uint32_t nodes_cnt;
	int64_t origin_ns, last_ns;
	uint64_t messages_cnt;
};

/* Messages, or the ends of calls if the trace has no messages. */
struct conv_edges conv_edges_make(const struct msgtrace *t);
void conv_edges_free(struct conv_edges *e);

/* Where to cut, so that a piece has about piece_cnt messages and lasts at least four times reach_ns: ends_ns[cnt],
 * ascending, the last one behind all messages; the caller frees it. */
int64_t *conv_edges_cut(const struct conv_edges *e, uint64_t piece_cnt, int64_t reach_ns,
			size_t *cnt);
/* The messages in [from_ns, to_ns), and those up to reach_ns later, with signals. Borrows from e. */
struct conv_edges conv_edges_piece(const struct conv_edges *e, int64_t from_ns, int64_t to_ns,
				   int64_t reach_ns, int64_t quantum_ns);
void conv_edges_piece_free(struct conv_edges *e);

/* Nodes that send requests and get none; if there is none, those that send more than they get; if that
 * neither, all that send. by node. Returns how many. */
uint32_t conv_edges_roots(const struct conv_edges *e, bool *is_root);

#endif
