/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile in memory; see profile.h. */
#include "user/model/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

/* Records are hashed and compared as bytes, so they must not have hidden padding. */
_Static_assert(sizeof(struct mapping) == 64, "mapping");
_Static_assert(sizeof(struct frame) == 40, "frame");
_Static_assert(sizeof(struct stack) == 8, "stack");
_Static_assert(sizeof(struct process) == 40, "process");
_Static_assert(sizeof(struct thread) == 104, "thread");
_Static_assert(sizeof(struct sum) == 40, "sum");
_Static_assert(sizeof(struct interval) == 40, "interval");
_Static_assert(sizeof(struct request) == 32, "request");
_Static_assert(sizeof(struct message) == 40, "message");

/* Puts a copy of *item at the end of a table and gives its number. */
#define APPEND(table, item)                                                                 \
	({                                                                                  \
		assert((table).cnt < UINT32_MAX - 1);                                       \
		if ((table).cnt == (table).cap)                                             \
			(table).items = xgrow((table).items, &(table).cap, (table).cnt + 1, \
					      sizeof(*(table).items));                      \
		(table).items[(table).cnt] = *(item);                                       \
		(uint32_t)(table).cnt++;                                                    \
	})

struct profile *profile__new(void)
{
	struct profile *p = xzalloc(sizeof(*p));

	strtab_add(&p->strings, "");
	APPEND(p->mappings, &(struct mapping){ 0 });
	APPEND(p->frames, &(struct frame){ 0 });
	APPEND(p->stacks, &(struct stack){ 0 });
	APPEND(p->processes, &(struct process){ 0 });
	APPEND(p->threads, &(struct thread){ 0 });
	return p;
}

void profile__free(struct profile *p)
{
	if (!p)
		return;
	strtab_free(&p->strings);
	free(p->mappings.items);
	free(p->frames.items);
	free(p->stacks.items);
	free(p->processes.items);
	free(p->threads.items);
	free(p->sums.items);
	free(p->intervals.items);
	free(p->requests.items);
	free(p->messages.items);
	free(p->labels.items);
	index_free(&p->frame_index);
	index_free(&p->stack_index);
	index_free(&p->sum_index);
	free(p);
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint32_t profile__add_mapping(struct profile *p, const struct mapping *m)
{
	return APPEND(p->mappings, m);
}

uint32_t profile__add_frame(struct profile *p, const struct frame *f)
{
	uint64_t hash = hash_bytes(f, sizeof(*f));
	struct index_iter it = index_find(&p->frame_index, hash);
	uint32_t id;

	for (; index_hit(&p->frame_index, &it); index_next(&p->frame_index, &it))
		if (!memcmp(&p->frames.items[it.elem], f, sizeof(*f)))
			return it.elem;
	id = APPEND(p->frames, f);
	index_add(&p->frame_index, hash, id);
	return id;
}

uint32_t profile__add_stack(struct profile *p, uint32_t parent, uint32_t frame)
{
	const struct stack s = { .parent = parent, .frame = frame };
	uint64_t hash = hash_u64((uint64_t)parent << 32 | frame);
	struct index_iter it = index_find(&p->stack_index, hash);
	uint32_t id;

	for (; index_hit(&p->stack_index, &it); index_next(&p->stack_index, &it)) {
		const struct stack *have = &p->stacks.items[it.elem];

		if (have->parent == parent && have->frame == frame)
			return it.elem;
	}
	id = APPEND(p->stacks, &s);
	index_add(&p->stack_index, hash, id);
	return id;
}

uint32_t profile__add_process(struct profile *p, const struct process *pr)
{
	return APPEND(p->processes, pr);
}

uint32_t profile__add_thread(struct profile *p, const struct thread *t)
{
	return APPEND(p->threads, t);
}

uint32_t profile__add_sum(struct profile *p, const struct sum *s)
{
	const size_t key_bytes = offsetof(struct sum, ns);
	uint64_t hash = hash_bytes(s, key_bytes);
	struct index_iter it = index_find(&p->sum_index, hash);
	uint32_t id;

	for (; index_hit(&p->sum_index, &it); index_next(&p->sum_index, &it)) {
		struct sum *have = &p->sums.items[it.elem];

		if (memcmp(have, s, key_bytes))
			continue;
		have->ns = add_saturating(have->ns, s->ns);
		have->cnt = add_saturating(have->cnt, s->cnt);
		return it.elem;
	}
	id = APPEND(p->sums, s);
	index_add(&p->sum_index, hash, id);
	return id;
}

void profile__add_interval(struct profile *p, const struct interval *iv)
{
	APPEND(p->intervals, iv);
}

uint32_t profile__add_request(struct profile *p, const struct request *r)
{
	return APPEND(p->requests, r) + 1;
}

void profile__add_message(struct profile *p, const struct message *m)
{
	APPEND(p->messages, m);
}

void profile__add_label(struct profile *p, const char *key, const char *value)
{
	const struct label l = { profile__string(p, key), profile__string(p, value) };

	APPEND(p->labels, &l);
}

void profile__add_loss(struct profile *p, enum loss_cause cause, uint64_t events, uint64_t ns)
{
	struct loss *l;

	assert((unsigned int)cause < LOSS_SLOTS_CNT);
	l = &p->losses[cause];
	l->events = add_saturating(l->events, events);
	l->ns = add_saturating(l->ns, ns); /* UINT64_MAX, "cannot be known", stays */
}

uint32_t profile__string(struct profile *p, const char *s)
{
	return strtab_add(&p->strings, s);
}

const char *profile__str(const struct profile *p, uint32_t sid)
{
	return strtab_get(&p->strings, sid);
}

size_t profile__frames(const struct profile *p, uint32_t stack, uint32_t **ret, size_t *cap)
{
	size_t cnt = 0, at;

	for (uint32_t s = stack; s; s = p->stacks.items[s].parent)
		cnt++;
	if (cnt > *cap)
		*ret = xgrow(*ret, cap, cnt, sizeof(**ret));
	at = cnt;
	for (uint32_t s = stack; s; s = p->stacks.items[s].parent)
		(*ret)[--at] = p->stacks.items[s].frame;
	return cnt;
}
