/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message trace in memory; see msgtrace.h. */
#include "user/model/msgtrace.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	ID_IS_NUMBER = 0x80000000u,
	ID_DIGITS_MAX = 10
};

struct msgtrace *msgtrace__new(void)
{
	struct msgtrace *t = xzalloc(sizeof(*t));

	strtab_add(&t->nodes, "");
	strtab_add(&t->strings, "");
	return t;
}

void msgtrace__free(struct msgtrace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i * MSG_CHUNK_CNT < t->msg_cnt; i++)
		free(t->chunks[i]);
	free(t->chunks);
	free(t->msg_witness);
	free(t->msg_heard_ns);
	free(t->msg_truth);
	free(t->calls);
	free(t->call_witness);
	free(t->call_msg);
	strtab_free(&t->nodes);
	strtab_free(&t->strings);
	free(t);
}

uint32_t msgtrace__node(struct msgtrace *t, const char *name, size_t len_bytes)
{
	return strtab_addn(&t->nodes, name, len_bytes);
}

const char *msgtrace__node_name(const struct msgtrace *t, uint32_t node)
{
	return strtab_get(&t->nodes, node);
}

static bool small_number(const char *text, size_t len_bytes, uint32_t *ret)
{
	uint64_t v = 0;

	/* "007" must stay different from "7" */
	if (!len_bytes || len_bytes > ID_DIGITS_MAX || (text[0] == '0' && len_bytes > 1))
		return false;
	for (size_t i = 0; i < len_bytes; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(text[i] - '0');
	}
	*ret = (uint32_t)v;
	return v < ID_IS_NUMBER;
}

uint32_t msgtrace__id(struct msgtrace *t, const char *text, size_t len_bytes)
{
	uint32_t v;

	if (!len_bytes || (len_bytes == 1 && text[0] == '-'))
		return 0;
	if (small_number(text, len_bytes, &v))
		return ID_IS_NUMBER | v;
	return strtab_addn(&t->strings, text, len_bytes);
}

void msgtrace__put_id(const struct msgtrace *t, uint32_t id, struct buf *out)
{
	if (!id)
		buf_putc(out, '-');
	else if (id & ID_IS_NUMBER)
		buf_put_u64(out, id & ~ID_IS_NUMBER);
	else
		buf_append(out, strtab_get(&t->strings, id), strtab_len_bytes(&t->strings, id));
}

/* Sets column[at], making the column on its first use; elements before it are zero. */
static void put_witness(struct witness **column, size_t *cap, size_t at, const struct witness *w)
{
	if (!w && !*column)
		return;
	if (at >= *cap) {
		size_t old = *cap;

		*column = xgrow(*column, cap, at + 1, sizeof(**column));
		memset(*column + old, 0, (*cap - old) * sizeof(**column));
	}
	if (w)
		(*column)[at] = *w;
}

static struct msg *new_msg(struct msgtrace *t)
{
	size_t chunk = t->msg_cnt / MSG_CHUNK_CNT;

	if (t->msg_cnt % MSG_CHUNK_CNT == 0) {
		t->chunks = xgrow(t->chunks, &t->chunk_cap, chunk + 1, sizeof(*t->chunks));
		t->chunks[chunk] = xmalloc(MSG_CHUNK_CNT * sizeof(struct msg));
	}
	return &t->chunks[chunk][t->msg_cnt++ % MSG_CHUNK_CNT];
}

static bool msg_before(const struct msg *a, const struct msg *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->op != MSG_RET && b->op == MSG_RET;
}

void msgtrace__add_msg(struct msgtrace *t, const struct msg *m, const struct witness *w)
{
	assert(t->msg_cnt < CALL_TRUE_NONE);
	if (t->msg_cnt && msg_before(m, msgtrace__msg(t, t->msg_cnt - 1)))
		t->unsorted_cnt++;
	put_witness(&t->msg_witness, &t->msg_witness_cap, t->msg_cnt, w);
	*new_msg(t) = *m;
}

void msgtrace__add_call(struct msgtrace *t, const struct call *c, const struct witness *w)
{
	assert(t->call_cnt < CALL_TRUE_NONE);
	put_witness(&t->call_witness, &t->call_witness_cap, t->call_cnt, w);
	t->calls = xgrow(t->calls, &t->call_cap, t->call_cnt + 1, sizeof(*t->calls));
	t->calls[t->call_cnt++] = *c;
	if (c->server_start_ns != c->client_start_ns || c->server_end_ns != c->client_end_ns)
		t->has_server_stamps = true;
	if (c->true_parent != CALL_TRUE_NONE)
		t->has_true_parents = true;
}

struct call call_init(uint32_t caller, uint32_t callee, int64_t start_ns, int64_t end_ns)
{
	return (struct call){
		.client_start_ns = start_ns,
		.server_start_ns = start_ns,
		.server_end_ns = end_ns,
		.client_end_ns = end_ns,
		.caller = caller,
		.callee = callee,
		.parent = CALL_NONE,
		.true_parent = CALL_TRUE_NONE,
	};
}

/* What sorting moves: the key, and where the element was. */
struct place {
	int64_t time_ns;
	uint32_t at;
	uint32_t rank;
};

static int place_cmp(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static struct place *msg_places(const struct msgtrace *t)
{
	struct place *places = xcalloc(t->msg_cnt, sizeof(*places));

	for (size_t i = 0; i < t->msg_cnt; i++) {
		const struct msg *m = msgtrace__msg(t, i);

		places[i] = (struct place){ m->time_ns, (uint32_t)i, m->op == MSG_RET };
	}
	qsort(places, t->msg_cnt, sizeof(*places), place_cmp);
	return places;
}

/* column[i] = old column[places[i].at] */
static void *permute(void *column, const struct place *places, size_t cnt, size_t elem_bytes)
{
	char *moved;

	if (!column)
		return NULL;
	moved = xcalloc(cnt, elem_bytes);
	for (size_t i = 0; i < cnt; i++)
		memcpy(moved + i * elem_bytes, (char *)column + places[i].at * elem_bytes,
		       elem_bytes);
	free(column);
	return moved;
}

/* now_at[old number] = new number */
static uint32_t *inverse(const struct place *places, size_t cnt)
{
	uint32_t *now_at = xcalloc(cnt, sizeof(*now_at));

	for (size_t i = 0; i < cnt; i++)
		now_at[places[i].at] = (uint32_t)i;
	return now_at;
}

static void move_msgs(struct msgtrace *t, const struct place *places)
{
	struct msgtrace moved = { 0 };

	for (size_t i = 0; i < t->msg_cnt; i++)
		*new_msg(&moved) = *msgtrace__msg(t, places[i].at);
	for (size_t i = 0; i * MSG_CHUNK_CNT < t->msg_cnt; i++)
		free(t->chunks[i]);
	free(t->chunks);
	t->chunks = moved.chunks;
	t->chunk_cap = moved.chunk_cap;
}

void msgtrace__sort_msgs(struct msgtrace *t)
{
	struct place *places;

	if (!t->unsorted_cnt)
		return;
	places = msg_places(t);
	move_msgs(t, places);
	t->msg_witness = permute(t->msg_witness, places, t->msg_cnt, sizeof(*t->msg_witness));
	t->msg_witness_cap = t->msg_witness ? t->msg_cnt : 0;
	t->msg_heard_ns = permute(t->msg_heard_ns, places, t->msg_cnt, sizeof(*t->msg_heard_ns));
	t->msg_truth = permute(t->msg_truth, places, t->msg_cnt, sizeof(*t->msg_truth));
	if (t->msg_truth) {
		uint32_t *now_at = inverse(places, t->msg_cnt);

		for (size_t i = 0; i < t->msg_cnt; i++)
			if (t->msg_truth[i].parent != CALL_NONE)
				t->msg_truth[i].parent = now_at[t->msg_truth[i].parent];
		free(now_at);
	}
	t->unsorted_cnt = 0;
	free(places);
}

static void move_parents(struct msgtrace *t, const uint32_t *now_at)
{
	for (size_t i = 0; i < t->call_cnt; i++) {
		struct call *c = &t->calls[i];

		if (c->parent != CALL_NONE)
			c->parent = now_at[c->parent];
		if (c->true_parent != CALL_TRUE_NONE)
			c->true_parent = now_at[c->true_parent] & CALL_TRUE_NONE;
	}
}

void msgtrace__sort_calls(struct msgtrace *t)
{
	struct place *places;
	uint32_t *now_at;
	size_t i = 1;

	while (i < t->call_cnt && t->calls[i - 1].client_start_ns <= t->calls[i].client_start_ns)
		i++;
	if (i >= t->call_cnt)
		return;
	places = xcalloc(t->call_cnt, sizeof(*places));
	for (i = 0; i < t->call_cnt; i++)
		places[i] = (struct place){ t->calls[i].client_start_ns, (uint32_t)i, 0 };
	qsort(places, t->call_cnt, sizeof(*places), place_cmp);
	t->calls = permute(t->calls, places, t->call_cnt, sizeof(*t->calls));
	t->call_cap = t->call_cnt;
	t->call_witness = permute(t->call_witness, places, t->call_cnt, sizeof(*t->call_witness));
	t->call_witness_cap = t->call_witness ? t->call_cnt : 0;
	t->call_msg = permute(t->call_msg, places, t->call_cnt, sizeof(*t->call_msg));
	now_at = inverse(places, t->call_cnt);
	move_parents(t, now_at);
	free(now_at);
	free(places);
}

void msgtrace__cut_msgs(struct msgtrace *t, size_t cnt)
{
	for (size_t i = (cnt + MSG_CHUNK_CNT - 1) / MSG_CHUNK_CNT; i * MSG_CHUNK_CNT < t->msg_cnt;
	     i++)
		free(t->chunks[i]);
	t->msg_cnt = cnt;
}

void msgtrace__drop_msgs(struct msgtrace *t, size_t cnt)
{
	for (size_t i = cnt / MSG_CHUNK_CNT; i-- > 0;) {
		if (i * MSG_CHUNK_CNT >= t->msg_cnt)
			continue;
		if (!t->chunks[i])
			break;
		free(t->chunks[i]);
		t->chunks[i] = NULL;
	}
}

static int check_call(const struct msgtrace *t, size_t i, struct err *err)
{
	const struct call *c = &t->calls[i];
	uint32_t true_parent = call_true_parent(c);

	if (!c->caller || !c->callee || c->caller >= t->nodes.cnt || c->callee >= t->nodes.cnt)
		return err_set(err, -EINVAL, "call %zu: a node that does not exist", i);
	if (c->client_start_ns > c->client_end_ns || c->server_start_ns > c->server_end_ns)
		return err_set(err, -EINVAL, "call %zu: it ends before it starts", i);
	if ((c->parent != CALL_NONE && c->parent >= t->call_cnt) ||
	    (true_parent != CALL_NONE && true_parent >= t->call_cnt))
		return err_set(err, -EINVAL, "call %zu: a parent that does not exist", i);
	if (i && c->client_start_ns < t->calls[i - 1].client_start_ns)
		return err_set(err, -EINVAL, "call %zu: not in order of time", i);
	return 0;
}

int msgtrace__check(const struct msgtrace *t, struct err *err)
{
	for (size_t i = 0; i < t->msg_cnt; i++) {
		const struct msg *m = t->chunks[i / MSG_CHUNK_CNT] ? msgtrace__msg(t, i) : NULL;

		if (m && (!m->sender || !m->receiver || m->sender >= t->nodes.cnt ||
			  m->receiver >= t->nodes.cnt))
			return err_set(err, -EINVAL, "message %zu: a node that does not exist", i);
		if (m && (m->op < MSG_CALL || m->op > MSG_ONEWAY))
			return err_set(err, -EINVAL, "message %zu: unknown operation", i);
	}
	for (size_t i = 0; i < t->call_cnt; i++) {
		int rc = check_call(t, i, err);

		if (rc)
			return rc;
	}
	return 0;
}
