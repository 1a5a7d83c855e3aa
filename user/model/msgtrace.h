/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message trace in memory: what black boxes said to each other, and when.
 *
 * Two views of the same thing. A *message* is one line "at this time this node sent that to another": it is
 * what a wire shows, and all that convolution needs. A *call* is a pair of messages, request and reply; it is
 * what nesting and matching work on. Text and pcap give messages, which user/analysis/callpairs turns into
 * calls; span tables give calls at once.
 *
 * A call has up to four stamps in the order in which they happen: client_start <= server_start <=
 * server_end <= client_end. Where only one end was stamped the server's pair equals the client's. What a
 * node did between its own stamps is its business; the differences client/server are the network's.
 *
 * Order (specs A.1): messages by time; at equal times CALL and MSG come before RET, else input order. Among
 * RETs of one instant the one whose CALL is the latest comes first: only pairing knows, and does it there.
 * Calls are sorted by client_start, then by input order. Node 0 means "none". Times are int64 nanoseconds
 * of any clock. The trace owns everything; pointers into it are borrowed until the next change. */
#ifndef CP_USER_MODEL_MSGTRACE_H
#define CP_USER_MODEL_MSGTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/strtab.h"

enum msg_op {
	MSG_CALL = 1, /* a request: a RET from its receiver to its sender ends it */
	MSG_RET = 2,
	MSG_ONEWAY = 3, /* "MSG": no reply expected, or kind unknown */
};

enum {
	CALL_NONE = 0xffffffff, /* no parent, no true parent known */
	MSG_CHUNK_CNT = 1 << 14,
};

#define MSG_UNHEARD INT64_MIN

struct msg {
	int64_t time_ns;
	uint32_t sender, receiver; /* node ids */
	uint32_t id;		   /* see msgtrace__id; 0 = none */
	uint8_t op;		   /* enum msg_op */
	uint8_t pad[3];
};

/* How the sender of a CALL is known (by the kernel, not by timing) to have come to send it. */
enum cause_kind {
	CAUSE_UNKNOWN = 0,
	CAUSE_THREAD =
		1, /* cause is the tid, in the sending node, at which the chain of wake-ups began */
	CAUSE_CALL = 2, /* cause is the id of the call that was being served: exact */
};

/* What only a trace from the kernel has; tids are those of the ends' own nodes, 0 = unknown. */
struct witness {
	uint32_t sender_tid, receiver_tid;
	uint32_t cause;
	uint32_t cause_kind; /* enum cause_kind */
};

/* The truth of a message, from a truth file. */
struct msg_truth {
	uint32_t instance; /* of a path, from 1; 0 = unknown */
	uint32_t
		parent; /* number of the CALL (or MSG) message that caused it; CALL_NONE = a root */
};

enum call_side {
	CALL_BOTH = 0,	 /* one record for both ends */
	CALL_CLIENT = 1, /* seen by the caller only: is nobody's parent */
	CALL_SERVER = 2, /* seen by the callee only: its parent is not known here */
};

struct call {
	int64_t client_start_ns, server_start_ns, server_end_ns, client_end_ns;
	uint32_t caller, callee;   /* node ids */
	uint32_t op_sid;	   /* operation in strings, 0 = none */
	uint32_t id;		   /* see msgtrace__id; 0 = none */
	uint32_t parent;	   /* inferred: number of a call, or CALL_NONE */
	uint32_t true_parent : 30; /* see call_true_parent */
	uint32_t side : 2;	   /* enum call_side */
};

struct msgtrace {
	struct strtab nodes;
	struct strtab strings; /* operations and ids that are no numbers */
	struct msg **chunks;   /* MSG_CHUNK_CNT messages each; see msgtrace__msg */
	size_t msg_cnt, chunk_cap;
	struct witness *msg_witness; /* by message; NULL if the trace has none */
	int64_t *
		msg_heard_ns; /* by message: when its receiver stamped it, MSG_UNHEARD if it did not; or NULL */
	struct msg_truth *msg_truth; /* by message; NULL if no truth was loaded */
	size_t msg_witness_cap;
	struct call *calls;
	size_t call_cnt, call_cap;
	struct witness *call_witness; /* by call: sender = caller, receiver = callee; NULL = none */
	size_t call_witness_cap;
	uint32_t *call_msg; /* by call: the number of its CALL message; NULL unless asked for */
	bool has_true_parents;
	bool has_server_stamps; /* some call has server stamps that differ from the client's */
	uint64_t unsorted_cnt;	/* messages that came earlier than the one before them */
};

/* The true parent's number, or CALL_NONE for a root (or if no truth is known). */
#define CALL_TRUE_NONE 0x3fffffffu
static inline uint32_t call_true_parent(const struct call *c)
{
	return c->true_parent == CALL_TRUE_NONE ? (uint32_t)CALL_NONE : c->true_parent;
}

static inline struct msg *msgtrace__msg(const struct msgtrace *t, size_t i)
{
	return &t->chunks[i / MSG_CHUNK_CNT][i % MSG_CHUNK_CNT];
}

struct msgtrace *msgtrace__new(void);	 /* owned by the caller */
void msgtrace__free(struct msgtrace *t); /* NULL is fine */

uint32_t msgtrace__node(struct msgtrace *t, const char *name, size_t len_bytes);
const char *msgtrace__node_name(const struct msgtrace *t, uint32_t node); /* "" for 0 */

/* An id is a token. Decimal numbers below 2^31 are kept as themselves, others in strings; "-" and "" are 0. */
uint32_t msgtrace__id(struct msgtrace *t, const char *text, size_t len_bytes);
void msgtrace__put_id(const struct msgtrace *t, uint32_t id, struct buf *out); /* "-" for 0 */

/* w may be NULL. O(1) amortised. At most CALL_TRUE_NONE - 1 of each; more is a caller's error. */
void msgtrace__add_msg(struct msgtrace *t, const struct msg *m, const struct witness *w);
void msgtrace__add_call(struct msgtrace *t, const struct call *c, const struct witness *w);
/* A call with one pair of stamps and no parent. */
struct call call_init(uint32_t caller, uint32_t callee, int64_t start_ns, int64_t end_ns);

/* Bring messages (with witnesses and truth) and calls (with parents rewritten) into the order above; free
 * if they are. Stable. O(n log n), O(n) when sorted. */
void msgtrace__sort_msgs(struct msgtrace *t);
void msgtrace__sort_calls(struct msgtrace *t);
/* Forgets messages [cnt, msg_cnt). */
void msgtrace__cut_msgs(struct msgtrace *t, size_t cnt);
/* Gives back the memory of messages [0, cnt): they must not be looked at any more. */
void msgtrace__drop_msgs(struct msgtrace *t, size_t cnt);

/* Nodes, parents and stamps are sane: for tests and asserts. 0, or -EINVAL with what is wrong. O(size). */
int msgtrace__check(const struct msgtrace *t, struct err *err);

#endif
