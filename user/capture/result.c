/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From addresses and sums to a profile with names; see result.h. */
#include "user/capture/result.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/row.h"
#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/capture/code_maps.h"
#include "user/capture/name_queries.h"
#include "user/capture/python_stack.h"

enum {
	TRIM_SEARCH_FRAMES = 16
};

_Static_assert((int)SYM_HOSTILE == (int)NAME_HOSTILE, "reasons");
_Static_assert((int)SYM_REASON_MAX == (int)NAME_REASON_MAX, "reasons");
_Static_assert((int)WALK_ROOT == (int)STOP_ROOT, "stops");
_Static_assert((int)WALK_DEPTH == (int)STOP_DEPTH, "stops");
_Static_assert((int)CP_STOP_COMPAT == (int)STOP_COMPAT, "stops");
_Static_assert((int)WALK_BY_FP == (int)FRAME_BY_FP, "frame flags");

/* (space, address, way of looking up) -> its frames in the profile, outermost first. */
struct named {
	uint64_t space, addr;
	uint32_t flags;	     /* enum frame_flag that the frames carry */
	uint32_t first, cnt; /* in builder.frames */
};

/* (stack, process) -> stack in the profile. */
struct built_stack {
	uint32_t id, process, stack;
};

struct builder {
	const struct result_input *in;
	struct profile *p;
	struct named *named;
	size_t named_cnt, named_cap;
	struct index named_index;
	uint32_t *frames;
	size_t frame_cnt, frame_cap;
	struct built_stack *stacks;
	size_t stack_cnt, stack_cap;
	struct index stack_index;
	uint32_t *processes; /* by event process id, +1 element */
	size_t process_cap;
	uint32_t *threads;	   /* parallel to events.threads */
	struct index thread_index; /* by tid: the last one that had it */
	struct code_maps maps;
	union stack_room room; /* of the stack at work */
};

static struct frame make_frame(struct builder *b, const struct sym_result *r, size_t i,
			       uint64_t addr, uint32_t flags)
{
	const struct sym_frame *sf = &r->frames[i];
	struct frame f = { .flags = (uint8_t)flags, .kind = FRAME_USER };

	f.name_sid = profile__string(b->p, sf->name);
	f.module_sid = profile__string(b->p, r->module);
	f.file_sid = profile__string(b->p, sf->file);
	f.line = sf->line;
	f.reason = (uint8_t)r->reason;
	f.function = r->function_start;
	if (sf->jit)
		f.kind = FRAME_JIT;
	if (sf->inlined) {
		f.flags |= FRAME_INLINED;
		f.addr = 0;
	} else {
		f.addr = addr;
	}
	return f;
}

static uint32_t add_names(struct builder *b, uint64_t space, uint64_t addr, uint32_t flags,
			  enum sym_pc pc)
{
	struct sym_result r;
	uint32_t at;

	if (space)
		symbolizer__resolve_user(b->in->symbolizer, space, addr, pc, &r);
	else
		symbolizer__resolve_kernel(b->in->symbolizer, addr, pc, &r);
	b->named = xgrow(b->named, &b->named_cap, b->named_cnt + 1, sizeof(*b->named));
	at = (uint32_t)b->named_cnt++;
	b->named[at] =
		(struct named){ space, addr, flags, (uint32_t)b->frame_cnt, (uint32_t)r.cnt };
	for (size_t i = r.cnt; i-- > 0;) {
		struct frame f = make_frame(b, &r, i, addr, flags);

		if (!space)
			f.kind = FRAME_KERNEL;
		else
			f.mapping =
				code_maps_find(&b->maps, b->p, space, addr - (pc == SYM_PC_RETURN));
		b->frames = xgrow(b->frames, &b->frame_cap, b->frame_cnt + 1, sizeof(*b->frames));
		b->frames[b->frame_cnt++] = profile__add_frame(b->p, &f);
	}
	return at;
}

static const struct named *name_address(struct builder *b, uint64_t space, uint64_t addr,
					uint32_t flags)
{
	uint64_t hash = hash_pair(hash_pair(space, addr), flags);
	struct index_iter it = index_find(&b->named_index, hash);
	uint32_t at;

	for (; index_hit(&b->named_index, &it); index_next(&b->named_index, &it)) {
		const struct named *n = &b->named[it.elem];

		if (n->space == space && n->addr == addr && n->flags == flags)
			return n;
	}
	at = add_names(b, space, addr, flags,
		       flags & FRAME_EXACT_PC ? SYM_PC_EXACT : SYM_PC_RETURN);
	index_add(&b->named_index, hash, at);
	return &b->named[at];
}

static uint32_t push(struct builder *b, uint32_t stack, const struct named *n)
{
	for (uint32_t i = 0; i < n->cnt; i++)
		stack = profile__add_stack(b->p, stack, b->frames[n->first + i]);
	return stack;
}

static uint32_t push_mark(struct builder *b, uint32_t stack, const char *text)
{
	struct frame f = { .kind = FRAME_MARK };

	if (!*text)
		return stack;
	f.name_sid = profile__string(b->p, text);
	return profile__add_stack(b->p, stack, profile__add_frame(b->p, &f));
}

static const struct named *user_frame(struct builder *b, const struct cp_event_stack *e, size_t i,
				      uint64_t space)
{
	uint32_t flags = 0;

	if (!i || stack_bit(e->signal_mask, i - 1))
		flags |= FRAME_EXACT_PC;
	if (stack_bit(e->fp_mask, i))
		flags |= FRAME_BY_FP;
	if (stack_bit(e->signal_mask, i))
		flags |= FRAME_SIGNAL;
	return name_address(b, space, e->frames[e->kernel_cnt + i], flags);
}

/* The loop of the Python interpreter, whose rarely used part lies elsewhere and has a name of its own. */
static bool is_evaluation(struct builder *b, const struct cp_event_stack *e, size_t i,
			  uint64_t space, const struct cp_python *python)
{
	static const char name[] = "_PyEval_EvalFrameDefault";
	uint64_t addr = e->frames[e->kernel_cnt + i];
	const struct named *n;

	if (addr >= python->eval_start && addr < python->eval_end)
		return true;
	n = user_frame(b, e, i, space);
	for (uint32_t k = 0; k < n->cnt; k++)
		if (!strncmp(profile__str(b->p,
					  b->p->frames.items[b->frames[n->first + k]].name_sid),
			     name, sizeof(name) - 1))
			return true;
	return false;
}

static uint32_t push_python(struct builder *b, uint32_t stack, const struct cp_event_stack *e,
			    const struct python_run *run)
{
	const struct python_names *from = b->in->python_names;
	const struct python_name *names = python_names__find(from, e);

	for (uint32_t i = run->first + run->cnt; names && i-- > run->first;) {
		struct frame f = { .kind = FRAME_INTERPRETED,
				   .reason = (uint8_t)names[i].reason,
				   .line = names[i].line };

		f.name_sid = profile__string(b->p, python_names__str(from, names[i].function_sid));
		f.file_sid = profile__string(b->p, python_names__str(from, names[i].file_sid));
		f.module_sid = profile__string(b->p, "[python]");
		stack = profile__add_stack(b->p, stack, profile__add_frame(b->p, &f));
	}
	return stack;
}

/* A user stack with Python frames on its way into the profile. */
struct python_merge {
	const struct python_layout *layout; /* NULL: there are none */
	bool evaluation[CP_FRAMES_MAX + 1];
	struct python_runs runs;
	size_t left;	  /* evaluations still to come, from the root on */
	const char *mark; /* to be put before the outermost frame, where others are missing */
};

static void merge_begin(struct builder *b, struct python_merge *m, const struct cp_event_stack *e,
			uint64_t space)
{
	*m = (struct python_merge){ .mark = "" };
	if (!e->process)
		return;
	m->layout = spaces__python(b->in->spaces, (uint32_t)space);
	if (!m->layout)
		return;
	m->mark = python_stack_mark(e->python_stop);
	python_stack_runs(e, &m->runs);
	for (size_t i = 0; i < e->user_cnt && i < CP_FRAMES_MAX; i++) {
		m->evaluation[i] = is_evaluation(b, e, i, space, &m->layout->kernel);
		m->left += m->evaluation[i];
	}
}

/* What the n-th evaluation from the leaf ran. */
static uint32_t merge_run(struct builder *b, struct python_merge *m, uint32_t stack,
			  const struct cp_event_stack *e, size_t n)
{
	const struct python_run *run = python_stack_run(&m->runs, n);

	if (run || !m->runs.cnt) {
		stack = push_mark(b, stack, m->mark);
		m->mark = "";
	}
	return run ? push_python(b, stack, e, run) : stack;
}

/* Native frames, each evaluation followed by the Python functions that it ran. */
static uint32_t push_user(struct builder *b, uint32_t stack, const struct cp_event_stack *e,
			  uint64_t space)
{
	struct python_merge m;

	merge_begin(b, &m, e, space);
	/* a native walk that ended early has lost the evaluations further out, not what they ran */
	if (m.layout && e->stop != STOP_ROOT)
		for (size_t n = m.runs.cnt; n-- > m.left;)
			stack = merge_run(b, &m, stack, e, n);
	for (size_t i = e->user_cnt; i-- > 0;) {
		stack = push(b, stack, user_frame(b, e, i, space));
		if (i < CP_FRAMES_MAX && m.evaluation[i])
			stack = merge_run(b, &m, stack, e, --m.left);
	}
	return stack;
}

static const char *kernel_name(struct builder *b, uint64_t addr)
{
	const struct named *n = name_address(b, 0, addr, 0);

	return profile__str(b->p, b->p->frames.items[b->frames[n->first]].name_sid);
}

/* How many leaf frames are not the thread's own business: how the kernel got from schedule() to the program
 * that recorded the stack. */
static size_t trimmed_cnt(struct builder *b, const struct cp_event_stack *e)
{
	size_t cut = 0;

	for (size_t i = 0; i < e->kernel_cnt && i < TRIM_SEARCH_FRAMES; i++)
		if (!strcmp(kernel_name(b, e->frames[i]), "__schedule"))
			cut = i + 1;
	return cut < e->kernel_cnt ? cut : 0;
}

static uint32_t push_kernel(struct builder *b, uint32_t stack, const struct cp_event_stack *e)
{
	size_t trimmed = trimmed_cnt(b, e);

	for (size_t i = e->kernel_cnt; i-- > trimmed;)
		stack = push(b, stack,
			     name_address(b, 0, e->frames[i], i || trimmed ? 0 : FRAME_EXACT_PC));
	return stack;
}

static int stop_without_frames(uint32_t id)
{
	if (id == CP_STACK_NEW)
		return STOP_NEW;
	return id == CP_STACK_UNSEEN ? STOP_UNSEEN : STOP_LOST;
}

static uint32_t build_stack(struct builder *b, uint32_t id, const struct event_process *process)
{
	const struct cp_event_stack *e = events_stack(b->in->events, id, &b->room);
	uint32_t stack;

	if (!e)
		return push_mark(b, 0, model_stop_reason(stop_without_frames(id)));
	stack = push_mark(b, 0, model_stop_reason(e->stop));
	stack = push_user(b, stack, e, process ? process->space : UINT32_MAX);
	return push_kernel(b, stack, e);
}

static uint32_t stack_of(struct builder *b, uint32_t id, uint32_t process)
{
	uint64_t hash = hash_pair(id, process);
	struct index_iter it = index_find(&b->stack_index, hash);
	struct built_stack built = { .id = id, .process = process };

	for (; index_hit(&b->stack_index, &it); index_next(&b->stack_index, &it)) {
		const struct built_stack *s = &b->stacks[it.elem];

		if (s->id == id && s->process == process)
			return s->stack;
	}
	built.stack = build_stack(b, id, events_process(b->in->events, process));
	b->stacks = xgrow(b->stacks, &b->stack_cap, b->stack_cnt + 1, sizeof(*b->stacks));
	index_add(&b->stack_index, hash, (uint32_t)b->stack_cnt);
	b->stacks[b->stack_cnt++] = built;
	return built.stack;
}

static void add_processes(struct builder *b)
{
	const struct events *ev = b->in->events;

	for (size_t i = 0; i < ev->process_cnt; i++) {
		const struct event_process *e = &ev->processes[i];
		struct process pr = {
			.pid = e->event.tgid,
			.ns_pid = e->event.ns_tgid,
			.parent_pid = e->event.parent_tgid,
			.generation = e->event.generation,
			.start_ns = e->event.start_ns,
			.comm_sid = profile__string(b->p, e->event.comm),
			.exe_sid = profile__string(b->p, strtab_get(&ev->strings, e->exe_sid)),
			.cgroup_sid =
				profile__string(b->p, strtab_get(&ev->strings, e->cgroup_sid)),
		};
		size_t old_cap = b->process_cap;

		b->processes = xgrow(b->processes, &b->process_cap, e->event.process + 1,
				     sizeof(*b->processes));
		memset(b->processes + old_cap, 0,
		       (b->process_cap - old_cap) * sizeof(*b->processes));
		b->processes[e->event.process] = profile__add_process(b->p, &pr);
		code_maps_add(&b->maps, b->p, b->in->symbolizer, e->space,
			      b->processes[e->event.process]);
	}
}

static uint32_t process_number(const struct builder *b, uint32_t id)
{
	return id < b->process_cap ? b->processes[id] : 0;
}

static void add_threads(struct builder *b)
{
	const struct events *ev = b->in->events;

	b->threads = xcalloc(ev->thread_cnt, sizeof(*b->threads));
	for (size_t i = 0; i < ev->thread_cnt; i++) {
		const struct cp_event_thread *e = &ev->threads[i];
		struct thread t = {
			.tid = e->tid,
			.ns_tid = e->ns_tid,
			.process = process_number(b, e->process),
			.comm_sid = profile__string(b->p, e->comm),
			.first_ns = e->first_ns,
			.last_ns = e->last_ns,
			.running_ns = e->running_ns,
			.runnable_ns = e->runnable_ns,
			.blocked_ns = e->blocked_ns,
			.kernel_running_ns = e->exec_ns,
			.kernel_runnable_ns = e->delay_ns,
			.voluntary_cnt = e->voluntary_cnt,
			.involuntary_cnt = e->involuntary_cnt,
			.sample_cnt = e->sample_cnt,
			.flags = e->flags,
		};

		if (t.last_ns < t.first_ns)
			t.last_ns = t.first_ns;
		b->threads[i] = profile__add_thread(b->p, &t);
		index_add(&b->thread_index, hash_u64(e->tid), (uint32_t)i);
	}
}

static uint32_t thread_of_tid(const struct builder *b, uint32_t tid)
{
	struct index_iter it = index_find(&b->thread_index, hash_u64(tid));
	uint32_t found = 0;

	for (; index_hit(&b->thread_index, &it); index_next(&b->thread_index, &it))
		if (b->in->events->threads[it.elem].tid == tid)
			found = b->threads[it.elem];
	return found;
}

static void add_sums(struct builder *b)
{
	for (size_t i = 0; i < b->in->sums->cnt; i++) {
		struct cp_sum_key k;
		struct cp_sum value = sum_table_get(b->in->sums, i, &k);
		struct sum s = {
			.process = process_number(b, k.process),
			.thread = k.tid ? thread_of_tid(b, k.tid) : 0,
			.slice = k.slice,
			.gate = k.gate,
			.kind = k.kind,
			.flags = k.flags,
			.latency_class = k.latency_class,
			.ns = value.ns,
			.cnt = value.cnt,
		};

		if (!result_without_stack(k.flags))
			s.stack = stack_of(b, k.stack, k.process);
		profile__add_sum(b->p, &s);
	}
}

static void add_intervals(struct builder *b)
{
	const struct events *ev = b->in->events;

	for (size_t i = 0; i < ev->interval_cnt; i++) {
		const struct cp_event_interval *e = &ev->intervals[i];
		struct interval iv = {
			.start_ns = e->start_ns,
			.end_ns = e->end_ns,
			.thread = thread_of_tid(b, e->tid),
			.kind = e->kind,
			.flags = e->flags,
		};

		if (e->stack && !result_without_stack(e->flags))
			iv.stack = stack_of(b, e->stack, e->process);
		profile__add_interval(b->p, &iv);
	}
}

static bool stack_failed(int stop)
{
	return stop != STOP_NONE && stop != STOP_ROOT && stop != STOP_ZERO &&
	       stop != STOP_RUNNING && stop != STOP_IO_WORKER && stop != STOP_COMPAT &&
	       stop != STOP_EXITING && stop != STOP_EXEC;
}

/* Why time has no stack: a number without frames is a full ring's; no number at all is of several causes, and
 * goes to the first that happened. */
static int cause_without_frames(const struct result_input *in, uint32_t id)
{
	static const int causes[] = { LOSS_RING_FULL_STACK, LOSS_SCRATCH_BUSY };

	if (id == CP_STACK_UNSEEN)
		return LOSS_SWITCH_UNSEEN;
	for (size_t i = 0; id == CP_STACK_NONE && i < ARRAY_CNT(causes); i++)
		if (in->losses[causes[i]].events)
			return causes[i];
	return id == CP_STACK_NONE ? LOSS_SWITCH_UNSEEN : LOSS_RING_FULL_STACK;
}

/* Stacks that end early are a loss of knowledge, known to the nanosecond. */
static void add_losses(struct builder *b)
{
	for (int i = 0; i < LOSS_CAUSE_MAX; i++)
		if (b->in->losses[i].events)
			profile__add_loss(b->p, i, b->in->losses[i].events,
					  b->in->losses[i].ns ? b->in->losses[i].ns : UINT64_MAX);
	if (b->in->events->bad_cnt)
		profile__add_loss(b->p, LOSS_BAD_RECORD, b->in->events->bad_cnt, UINT64_MAX);
	for (size_t i = 0; i < b->in->sums->cnt; i++) {
		struct cp_sum_key k;
		struct cp_sum value = sum_table_get(b->in->sums, i, &k);
		int stop = events_stack_stop(b->in->events, k.stack);

		if (result_without_stack(k.flags) || k.stack == CP_STACK_NEW)
			continue;
		/* without a number: a thread that had not run yet, unless stacks were lost */
		if (stop < 0 && !k.stack && !b->in->losses[LOSS_RING_FULL_STACK].events)
			continue;
		if (stop < 0)
			profile__add_loss(b->p, cause_without_frames(b->in, k.stack), 0, value.ns);
		else if (stack_failed(stop))
			profile__add_loss(b->p,
					  stop == STOP_UNREADABLE ? LOSS_PAGE_NOT_RESIDENT :
								    LOSS_WALK_STOPPED,
					  value.cnt, value.ns);
	}
}

static void builder_fini(struct builder *b)
{
	code_maps_free(&b->maps);
	free(b->named);
	index_free(&b->named_index);
	free(b->frames);
	free(b->stacks);
	index_free(&b->stack_index);
	free(b->processes);
	free(b->threads);
	index_free(&b->thread_index);
}

int result_build(const struct result_input *in, struct profile *p, struct err *err)
{
	struct builder b = { .in = in, .p = p };

	name_queries_ask(in);
	add_processes(&b);
	add_threads(&b);
	add_sums(&b);
	add_intervals(&b);
	add_losses(&b);
	code_maps_note_tried(&b.maps, p, in->symbolizer);
	builder_fini(&b);
	return profile__check(p, err);
}
