/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came out of the ring buffer, decoded and kept until names are known: stacks as addresses, processes,
 * threads, intervals. */
#ifndef CP_USER_CAPTURE_EVENTS_H
#define CP_USER_CAPTURE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "bpf/events.h"
#include "user/base/index.h"
#include "user/base/strtab.h"
#include "user/capture/stack_table.h"
#include "user/capture/sum_table.h"

enum {
	EVENTS_STACK_KEPT =
		CP_STACKS_MAX, /* the kernel's numbers of stacks are smaller, those of events_same_stack not */
};

/* A process generation with what /proc told when it was announced. */
struct event_process {
	struct cp_event_process event;
	uint32_t space;		      /* whose mappings it has */
	uint32_t exe_sid, cgroup_sid; /* in events.strings */
	bool left;		      /* its space */
	bool ended;		      /* and all generations of the process */
};

struct events {
	struct stack_table table;
	uint32_t *stacks;		 /* by the kernel's id: number in the table; 0: lost */
	size_t stack_cap;		 /* ids below it */
	struct event_process *processes; /* in order of arrival */
	size_t process_cnt, process_cap;
	struct index process_index; /* by id */
	struct cp_event_thread *threads;
	size_t thread_cnt, thread_cap;
	struct cp_event_interval *intervals; /* kept only if asked for */
	size_t interval_cnt, interval_cap;
	struct cp_event_raw *raws; /* only with the option for it */
	size_t raw_cnt, raw_cap;
	struct interval_sums *sums;   /* NULL: intervals are not added up */
	struct interval_sums *sliced; /* ... by slices of time */
	bool keep_intervals;
	struct strtab strings;
	uint64_t bad_cnt; /* records that make no sense: a loss, in result_build */
	/* called for each new process, with what was told of its mappings or NULL; may set space, exe_sid, cgroup_sid */
	void (*process_seen)(void *ctx, struct events *ev, struct event_process *p,
			     const struct cp_told *told);
	/* called when the last generation of a process has ended */
	void (*process_ended)(void *ctx, struct events *ev, struct event_process *p);
	/* called for each new stack with Python frames, borrowed until it returns; its id is its number in the table */
	void (*python_seen)(void *ctx, struct events *ev, const struct cp_event_stack *e);
	/* called for each copy of a stack: walks it into ret, whose room is enough for any stack */
	void (*copy_seen)(void *ctx, struct events *ev, const struct cp_event_copy *e,
			  struct cp_event_stack *ret);
	/* a cgroup was made; a process came into a watched one */
	void (*cgroup_seen)(void *ctx, uint64_t id, const char *path);
	void (*moved_in)(void *ctx);
	void *ctx;
};

/* One record of the ring: checked, then kept. Returns 0 also for a bad one, which is counted. */
int events_take(struct events *ev, const void *data, size_t len_bytes);
struct event_process *events_process(const struct events *ev, uint32_t id); /* NULL if unknown */
/* A stack, by the kernel's number or by events_same_stack's; NULL if it was lost. Its id is its number in the table. O(frames). */
const struct cp_event_stack *events_stack(const struct events *ev, uint32_t id,
					  union stack_room *room);
int events_stack_stop(const struct events *ev, uint32_t id); /* how it ended; -1 if it was lost */
/* A number that all stacks with the same frames have, since the kernel forgets stacks and sends them again; id itself
 * if it has not arrived. */
uint32_t events_same_stack(const struct events *ev, uint32_t id);
void events_free(struct events *ev);

/* The sums that the kernel would have made of the intervals. */
struct interval_sums;
struct interval_sums *interval_sums__new(bool per_thread);
/* From now on by slices, the first of which begins at start_ns. Intervals are cut at the borders; a wait is counted
 * in the slice in which it began. */
void interval_sums__slice(struct interval_sums *s, uint64_t start_ns, uint64_t slice_ns);
void interval_sums__add(struct interval_sums *s, const struct cp_event_interval *e);
const struct sum_table *interval_sums__table(const struct interval_sums *s);
void interval_sums__free(struct interval_sums *s);

#endif
