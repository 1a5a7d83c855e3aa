/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Request and reply become a call; see callpairs.h. */
#include "user/analysis/callpairs.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"

#define NIL	  0xffffffffu
#define NOT_ENDED INT64_MIN

/* A call that waits for its RET. Those with equal hash of (caller, callee, id) hang in one bucket, oldest first. */
struct open_call {
	uint32_t call;
	uint32_t id;
	uint32_t prev, next;
};

struct open_bucket {
	uint32_t head, tail;
};

/* A RET that came before its CALL. */
struct early {
	int64_t time_ns;
	uint32_t caller, callee, id;
	bool used;
};

struct pairing {
	struct msgtrace *t;
	int64_t window_ns;
	struct early *early;
	size_t early_cnt, early_cap;
	struct index early_index;
	struct open_call *open;
	size_t open_cap, used_cnt, live_cnt;
	uint32_t free_head;
	struct open_bucket *buckets;
	size_t bucket_cnt; /* a power of two */
	size_t call_msg_cap;
	bool number;
	struct callpairs_stats *stats;
};

static struct open_bucket *bucket_of(const struct pairing *p, uint32_t caller, uint32_t callee,
				     uint32_t id)
{
	uint64_t hash = hash_pair((uint64_t)caller << 32 | callee, id);

	return &p->buckets[hash & (p->bucket_cnt - 1)];
}

static void link_open(struct pairing *p, uint32_t slot)
{
	struct open_call *o = &p->open[slot];
	const struct call *c = &p->t->calls[o->call];
	struct open_bucket *b = bucket_of(p, c->caller, c->callee, o->id);

	o->prev = b->tail;
	o->next = NIL;
	if (b->tail == NIL)
		b->head = slot;
	else
		p->open[b->tail].next = slot;
	b->tail = slot;
}

static void unlink_open(struct pairing *p, uint32_t slot)
{
	struct open_call *o = &p->open[slot];
	const struct call *c = &p->t->calls[o->call];
	struct open_bucket *b = bucket_of(p, c->caller, c->callee, o->id);

	if (o->prev == NIL)
		b->head = o->next;
	else
		p->open[o->prev].next = o->next;
	if (o->next == NIL)
		b->tail = o->prev;
	else
		p->open[o->next].prev = o->prev;
	o->next = p->free_head;
	o->call = NIL;
	p->free_head = slot;
	p->live_cnt--;
}

static int open_cmp(const void *a, const void *b)
{
	const struct open_call *x = a, *y = b;

	return x->call < y->call ? -1 : x->call > y->call;
}

/* Doubles the buckets. Slots are put in order of calls, which keeps each bucket oldest first. */
static void grow_buckets(struct pairing *p)
{
	size_t live_cnt = 0;

	for (size_t i = 0; i < p->used_cnt; i++)
		if (p->open[i].call != NIL)
			p->open[live_cnt++] = p->open[i];
	if (live_cnt)
		qsort(p->open, live_cnt, sizeof(*p->open), open_cmp);
	p->used_cnt = live_cnt;
	p->free_head = NIL;
	p->bucket_cnt = p->bucket_cnt ? p->bucket_cnt * 2 : 1024;
	p->buckets = xreallocarray(p->buckets, p->bucket_cnt, sizeof(*p->buckets));
	memset(p->buckets, 0xff, p->bucket_cnt * sizeof(*p->buckets));
	for (size_t i = 0; i < live_cnt; i++)
		link_open(p, (uint32_t)i);
}

static void open_add(struct pairing *p, uint32_t call)
{
	uint32_t slot;

	if (p->live_cnt >= p->bucket_cnt)
		grow_buckets(p);
	slot = p->free_head;
	if (slot != NIL) {
		p->free_head = p->open[slot].next;
	} else {
		p->open = xgrow(p->open, &p->open_cap, p->used_cnt + 1, sizeof(*p->open));
		slot = (uint32_t)p->used_cnt++;
	}
	p->open[slot].call = call;
	p->open[slot].id = p->t->calls[call].id;
	p->live_cnt++;
	link_open(p, slot);
}

/* The oldest open call of the edge with this id, or NIL. */
static uint32_t open_find(const struct pairing *p, uint32_t caller, uint32_t callee, uint32_t id)
{
	uint32_t slot = p->bucket_cnt ? bucket_of(p, caller, callee, id)->head : NIL;

	for (; slot != NIL; slot = p->open[slot].next) {
		const struct call *c = &p->t->calls[p->open[slot].call];

		if (c->caller == caller && c->callee == callee && p->open[slot].id == id)
			return slot;
	}
	return NIL;
}

static uint64_t hash_early(uint32_t caller, uint32_t callee, uint32_t id)
{
	return hash_pair((uint64_t)caller << 32 | callee, id);
}

/* The place for early returns of this key: the latest one counts, so that a key has one. NULL if there is none. */
static struct early *early_find(struct pairing *p, uint32_t caller, uint32_t callee, uint32_t id)
{
	struct index_iter it = index_find(&p->early_index, hash_early(caller, callee, id));

	for (; index_hit(&p->early_index, &it); index_next(&p->early_index, &it)) {
		struct early *e = &p->early[it.elem];

		if (e->caller == caller && e->callee == callee && e->id == id)
			return e;
	}
	return NULL;
}

static void early_add(struct pairing *p, const struct msg *m)
{
	struct early *e = early_find(p, m->receiver, m->sender, m->id);

	if (!e) {
		p->early = xgrow(p->early, &p->early_cap, p->early_cnt + 1, sizeof(*p->early));
		index_add(&p->early_index, hash_early(m->receiver, m->sender, m->id),
			  (uint32_t)p->early_cnt);
		e = &p->early[p->early_cnt++];
	}
	*e = (struct early){ m->time_ns, m->receiver, m->sender, m->id, false };
}

/* Whether the call's RET has been here, within the window. */
static bool early_take(struct pairing *p, const struct msg *m)
{
	struct early *e = m->id ? early_find(p, m->sender, m->receiver, m->id) : NULL;

	if (!e || e->used || m->time_ns - e->time_ns > p->window_ns)
		return false;
	e->used = true;
	p->stats->orphan_ret_cnt--;
	p->stats->early_ret_cnt++;
	return true;
}

static int64_t heard_ns(const struct msgtrace *t, size_t msg_no)
{
	return t->msg_heard_ns ? t->msg_heard_ns[msg_no] : MSG_UNHEARD;
}

static void on_call(struct pairing *p, const struct msg *m, size_t msg_no)
{
	struct msgtrace *t = p->t;
	struct call c = call_init(m->sender, m->receiver, m->time_ns, m->time_ns);
	uint32_t call = (uint32_t)t->call_cnt;

	c.id = m->id;
	c.client_end_ns = NOT_ENDED;
	if (heard_ns(t, msg_no) != MSG_UNHEARD)
		c.server_start_ns = heard_ns(t, msg_no);
	msgtrace__add_call(t, &c, t->msg_witness ? &t->msg_witness[msg_no] : NULL);
	if (p->number) {
		t->call_msg = xgrow(t->call_msg, &p->call_msg_cap, call + 1, sizeof(*t->call_msg));
		t->call_msg[call] = (uint32_t)msg_no;
	}
	if (p->early_cnt && early_take(p, m))
		t->calls[call].client_end_ns = t->calls[call].server_start_ns =
			t->calls[call].server_end_ns = m->time_ns;
	else
		open_add(p, call);
}

static void on_ret(struct pairing *p, const struct msg *m, size_t msg_no)
{
	uint32_t slot = open_find(p, m->receiver, m->sender, m->id);
	struct call *c;

	if (slot == NIL && m->id)
		slot = open_find(p, m->receiver, m->sender, 0);
	if (slot == NIL) {
		p->stats->orphan_ret_cnt++;
		if (p->window_ns && m->id)
			early_add(p, m);
		return;
	}
	c = &p->t->calls[p->open[slot].call];
	c->client_end_ns = c->server_end_ns = m->time_ns;
	if (heard_ns(p->t, msg_no) != MSG_UNHEARD) {
		c->client_end_ns = heard_ns(p->t, msg_no);
		p->t->has_server_stamps = true;
	}
	if (c->server_start_ns > c->server_end_ns) /* the receiver's clock is ahead of the reply */
		c->server_start_ns = c->server_end_ns;
	p->stats->self_call_cnt += c->caller == c->callee;
	unlink_open(p, slot);
}

/* Takes the calls [first, call_cnt) that were never ended out of the table. */
static void compact(struct pairing *p, size_t first)
{
	struct msgtrace *t = p->t;
	size_t kept = first;

	for (size_t i = first; i < t->call_cnt; i++) {
		if (t->calls[i].client_end_ns == NOT_ENDED)
			continue;
		t->calls[kept] = t->calls[i];
		if (t->call_witness)
			t->call_witness[kept] = t->call_witness[i];
		if (t->call_msg)
			t->call_msg[kept] = t->call_msg[i];
		kept++;
	}
	p->stats->unreturned_cnt = t->call_cnt - kept;
	p->stats->call_cnt = kept - first;
	t->call_cnt = kept;
}

/* True parents of calls from those of their CALL messages. */
static void number_true_parents(struct msgtrace *t, size_t first)
{
	uint32_t *call_of_msg = xmalloc((t->msg_cnt + 1) * sizeof(*call_of_msg));

	memset(call_of_msg, 0xff, t->msg_cnt * sizeof(*call_of_msg));
	for (size_t i = first; i < t->call_cnt; i++)
		call_of_msg[t->call_msg[i]] = (uint32_t)i;
	for (size_t i = first; i < t->call_cnt; i++) {
		uint32_t parent = t->msg_truth[t->call_msg[i]].parent;

		if (parent >= t->msg_cnt || call_of_msg[parent] == NIL)
			continue;
		t->calls[i].true_parent = call_of_msg[parent] & CALL_TRUE_NONE;
	}
	t->has_true_parents = true;
	free(call_of_msg);
}

void callpairs_find(struct msgtrace *t, unsigned int flags, int64_t window_ns,
		    struct callpairs_stats *stats)
{
	struct pairing p = { .t = t, .window_ns = window_ns, .free_head = NIL, .stats = stats };
	size_t first = t->call_cnt;

	*stats = (struct callpairs_stats){ .msg_cnt = t->msg_cnt };
	p.number = (flags & CALLPAIRS_NUMBER) || t->msg_truth;
	msgtrace__sort_msgs(t);
	for (size_t i = 0; i < t->msg_cnt; i++) {
		const struct msg *m = msgtrace__msg(t, i);

		if (m->op == MSG_CALL)
			on_call(&p, m, i);
		else if (m->op == MSG_RET)
			on_ret(&p, m, i);
		else
			stats->oneway_cnt++;
		if ((flags & CALLPAIRS_DROP_MSGS) && (i + 1) % MSG_CHUNK_CNT == 0)
			msgtrace__drop_msgs(t, i + 1);
	}
	compact(&p, first);
	if (t->msg_truth)
		number_true_parents(t, first);
	free(p.open);
	free(p.buckets);
	free(p.early);
	index_free(&p.early_index);
	msgtrace__sort_calls(t);
}
