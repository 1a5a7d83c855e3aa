/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding of the ring buffer; see events.h. The kernel side is ours, but a record may be cut or of a kind
 * that this version does not know: everything is checked before use. */
#include "user/capture/events.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/model/kinds.h"

enum {
	STACK_IDS_MAX = EVENTS_STACK_KEPT,
	PROCESS_IDS_MAX = 1 << 26,
};

static size_t stack_bytes(const struct cp_event_stack *e)
{
	return sizeof(*e) + ((size_t)e->kernel_cnt + e->user_cnt) * sizeof(e->frames[0]) +
	       e->python_cnt * sizeof(struct cp_python_frame);
}

static void reserve_stack(struct events *ev, uint32_t id)
{
	size_t old_cap = ev->stack_cap;

	if (id < old_cap)
		return;
	ev->stacks = xgrow(ev->stacks, &ev->stack_cap, id + 1, sizeof(*ev->stacks));
	memset(ev->stacks + old_cap, 0, (ev->stack_cap - old_cap) * sizeof(*ev->stacks));
}

static bool take_stack(struct events *ev, const struct cp_event_stack *e, size_t len_bytes)
{
	union stack_room room;
	bool is_new;

	if (len_bytes < sizeof(*e) || e->id >= STACK_IDS_MAX || !e->id ||
	    len_bytes < stack_bytes(e))
		return false;
	reserve_stack(ev, e->id);
	ev->stacks[e->id] = stack_table_add(&ev->table, e, &is_new);
	if (is_new && e->python_cnt && ev->python_seen)
		ev->python_seen(ev->ctx, ev, stack_table_get(&ev->table, ev->stacks[e->id], &room));
	return ev->stacks[e->id];
}

/* Walked at once, and from there on a stack like all others. */
static bool take_copy(struct events *ev, const struct cp_event_copy *e, size_t len_bytes)
{
	union stack_room room;

	if (len_bytes < sizeof(*e) || e->kernel_cnt > CP_FRAMES_MAX ||
	    e->stack_bytes > CP_COPY_MAX_BYTES ||
	    len_bytes - sizeof(*e) < e->kernel_cnt * sizeof(e->words[0]) + e->stack_bytes)
		return false;
	if (!ev->copy_seen)
		return true;
	ev->copy_seen(ev->ctx, ev, e, &room.stack);
	return take_stack(ev, &room.stack, sizeof(room));
}

static bool take_thread(struct events *ev, const struct cp_event_thread *e, size_t len_bytes)
{
	if (len_bytes < sizeof(*e))
		return false;
	ev->threads = xgrow(ev->threads, &ev->thread_cap, ev->thread_cnt + 1, sizeof(*e));
	ev->threads[ev->thread_cnt] = *e;
	ev->threads[ev->thread_cnt++].comm[CP_COMM_BYTES - 1] = '\0';
	return true;
}

static bool take_process(struct events *ev, const struct cp_event_process *e, size_t len_bytes)
{
	struct event_process *p;

	if (len_bytes < sizeof(*e) || !e->process || e->process >= PROCESS_IDS_MAX ||
	    e->vma_cnt > CP_VMAS_MAX ||
	    (e->told && len_bytes - sizeof(*e) < sizeof(struct cp_told)))
		return false;
	ev->processes = xgrow(ev->processes, &ev->process_cap, ev->process_cnt + 1, sizeof(*p));
	p = &ev->processes[ev->process_cnt];
	*p = (struct event_process){ .event = *e, .space = e->process };
	p->event.comm[CP_COMM_BYTES - 1] = '\0';
	index_add(&ev->process_index, hash_u64(e->process), (uint32_t)ev->process_cnt);
	ev->process_cnt++;
	if (ev->process_seen)
		ev->process_seen(ev->ctx, ev, p, e->told ? (const struct cp_told *)(e + 1) : NULL);
	return true;
}

/* All generations of the process: what it was before its last exec or dlopen cannot come back either. */
static bool take_end(struct events *ev, const struct cp_event_end *e, size_t len_bytes)
{
	struct event_process *last, *p;

	if (len_bytes < sizeof(*e))
		return false;
	last = events_process(ev, e->process);
	for (p = last; p && !p->ended;) {
		p->ended = true;
		p = p->event.why == CP_PROCESS_FORK ? NULL : events_process(ev, p->event.before);
	}
	if (last && ev->process_ended)
		ev->process_ended(ev->ctx, ev, last);
	return true;
}

static bool take_interval(struct events *ev, const struct cp_event_interval *e, size_t len_bytes)
{
	struct cp_event_interval same;

	if (len_bytes < sizeof(*e) || e->end_ns < e->start_ns || !e->kind || e->kind >= KIND_MAX)
		return false;
	same = *e;
	same.stack = events_same_stack(ev, e->stack);
	if (ev->sums)
		interval_sums__add(ev->sums, &same);
	if (ev->sliced)
		interval_sums__add(ev->sliced, &same);
	if (!ev->keep_intervals || e->sampled == CP_FLUSHED)
		return true;
	ev->intervals = xgrow(ev->intervals, &ev->interval_cap, ev->interval_cnt + 1, sizeof(*e));
	ev->intervals[ev->interval_cnt++] = same;
	return true;
}

static bool take_raw(struct events *ev, const struct cp_event_raw *e, size_t len_bytes)
{
	if (len_bytes < sizeof(*e))
		return false;
	ev->raws = xgrow(ev->raws, &ev->raw_cap, ev->raw_cnt + 1, sizeof(*e));
	ev->raws[ev->raw_cnt++] = *e;
	return true;
}

/* A path that fills its room may be cut. */
static bool take_cgroup(struct events *ev, const struct cp_event_cgroup *e, size_t len_bytes)
{
	if (len_bytes < sizeof(*e) || e->path[CP_CGROUP_PATH_BYTES - 1])
		return false;
	if (ev->cgroup_seen && strlen(e->path) < CP_CGROUP_PATH_BYTES - 1)
		ev->cgroup_seen(ev->ctx, e->cgroup, e->path);
	return true;
}

static bool take_moved(struct events *ev, size_t len_bytes)
{
	if (ev->moved_in)
		ev->moved_in(ev->ctx);
	return len_bytes >= sizeof(struct cp_event_moved);
}

int events_take(struct events *ev, const void *data, size_t len_bytes)
{
	bool good = false;

	if (len_bytes) {
		switch (*(const uint8_t *)data) {
		case CP_EVENT_STACK:
			good = take_stack(ev, data, len_bytes);
			break;
		case CP_EVENT_COPY:
			good = take_copy(ev, data, len_bytes);
			break;
		case CP_EVENT_THREAD:
			good = take_thread(ev, data, len_bytes);
			break;
		case CP_EVENT_INTERVAL:
			good = take_interval(ev, data, len_bytes);
			break;
		case CP_EVENT_PROCESS:
			good = take_process(ev, data, len_bytes);
			break;
		case CP_EVENT_END:
			good = take_end(ev, data, len_bytes);
			break;
		case CP_EVENT_RAW:
			good = take_raw(ev, data, len_bytes);
			break;
		case CP_EVENT_CGROUP:
			good = take_cgroup(ev, data, len_bytes);
			break;
		case CP_EVENT_MOVED:
			good = take_moved(ev, len_bytes);
			break;
		}
	}
	ev->bad_cnt += !good;
	return 0;
}

struct event_process *events_process(const struct events *ev, uint32_t id)
{
	struct index_iter it = index_find(&ev->process_index, hash_u64(id));

	for (; index_hit(&ev->process_index, &it); index_next(&ev->process_index, &it))
		if (ev->processes[it.elem].event.process == id)
			return &ev->processes[it.elem];
	return NULL;
}

/* Its number in the table; 0 = lost. */
static uint32_t number_of(const struct events *ev, uint32_t id)
{
	if (id < ev->stack_cap)
		return ev->stacks[id];
	return id >= EVENTS_STACK_KEPT && id - EVENTS_STACK_KEPT < ev->table.cnt ?
		       id - EVENTS_STACK_KEPT :
		       0;
}

const struct cp_event_stack *events_stack(const struct events *ev, uint32_t id,
					  union stack_room *room)
{
	uint32_t number = number_of(ev, id);

	return number ? stack_table_get(&ev->table, number, room) : NULL;
}

int events_stack_stop(const struct events *ev, uint32_t id)
{
	uint32_t number = number_of(ev, id);

	return number ? stack_table_stop(&ev->table, number) : -1;
}

uint32_t events_same_stack(const struct events *ev, uint32_t id)
{
	uint32_t number = number_of(ev, id);

	return number ? EVENTS_STACK_KEPT + number : id;
}

void events_free(struct events *ev)
{
	stack_table_free(&ev->table);
	free(ev->stacks);
	free(ev->processes);
	index_free(&ev->process_index);
	free(ev->threads);
	free(ev->intervals);
	free(ev->raws);
	interval_sums__free(ev->sums);
	interval_sums__free(ev->sliced);
	strtab_free(&ev->strings);
	*ev = (struct events){ 0 };
}
