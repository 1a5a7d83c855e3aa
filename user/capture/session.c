/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture from start to profile; see session.h. */
#include "user/capture/session.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "symbolize/symbolizer.h"
#include "user/base/mem.h"
#include "user/capture/cgroups.h"
#include "user/capture/copies.h"
#include "user/capture/events.h"
#include "user/capture/harvest.h"
#include "user/capture/kernel.h"
#include "user/capture/kernel_symbols.h"
#include "user/capture/prepare.h"
#include "user/capture/processes.h"
#include "user/capture/python_names.h"
#include "user/capture/raw_events.h"
#include "user/capture/result.h"
#include "user/capture/resume.h"
#include "symbolize/handlers.h"
#include "user/capture/spaces.h"
#include "user/capture/stolen.h"

enum {
	POLL_MS = 20, /* unread events never wait longer */
	TICK_NS = 100000000,
	OPEN_AHEAD_NS =
		300000, /* the window opens a little in the future: all programs clip to it */
	STOP_AHEAD_NS = 1000000,
	SETTLE_NS = 1000000, /* after the end, for programs that are still running on other CPUs */
};

struct session {
	const struct capture_opts *opts;
	struct kernel *kernel;
	pthread_t detacher; /* closes the kernel side */
	bool detaching;
	struct spaces *spaces;
	struct symbolizer *symbolizer;
	struct sandbox *sandbox; /* where the symbolizer reads files */
	struct cgroups *cgroups;
	struct copies *copies;
	struct processes processes;
	struct events events;
	struct harvest harvest;
	struct python_names *python_names;
	bool moved;	/* a process came into a cgroup: another census is due */
	int harvest_rc; /* of a harvest between events, and what it said */
	struct err harvest_err;
	struct account_window window;
	uint64_t started_ns, realtime_ns;
	bool interrupted;
	struct cp_cost cost;	   /* up to the end of the window */
	uint64_t stolen_before_ns; /* since boot, when the window opened; UINT64_MAX: not told */
	uint64_t stolen_ns;	   /* in the window */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool is_there(uint32_t id)
{
	char *path = xasprintf("/proc/%u", id);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

static void note_helpers(struct session *s)
{
	phases_helpers(s->opts->phases,
		       spaces__stats(s->spaces).files.helper_cpu_ns + sandbox_cpu_ns(s->sandbox));
}

/* A new phase, and what the sandboxes have used in the one before. */
static void next_phase(struct session *s, const char *name)
{
	note_helpers(s);
	phases_begin(s->opts->phases, name);
}

static void process_seen(void *ctx, struct events *ev, struct event_process *p,
			 const struct cp_told *told)
{
	struct session *s = ctx;

	processes_seen(&s->processes, ev, p, told);
}

static void process_ended(void *ctx, struct events *ev, struct event_process *p)
{
	struct session *s = ctx;

	processes_leave(&s->processes, p);
	/* in a storm of processes the ring may not run empty for long */
	if (!s->harvest_rc)
		s->harvest_rc = harvest_if_due(&s->harvest, s->kernel, ev,
					       s->opts->sink != SINK_INTERVALS, &s->harvest_err);
}

/* Names of functions are read while the process has them. */
static void python_seen(void *ctx, struct events *ev, const struct cp_event_stack *e)
{
	struct session *s = ctx;
	const struct event_process *p = events_process(ev, e->process);
	const struct python_layout *l = p ? spaces__python(s->spaces, p->space) : NULL;

	if (l)
		python_names__stack(s->python_names, e, l, p->event.tgid);
}

static void copy_seen(void *ctx, struct events *ev, const struct cp_event_copy *e,
		      struct cp_event_stack *ret)
{
	struct session *s = ctx;
	const struct event_process *p = events_process(ev, e->process);

	copies__walk(s->copies, s->spaces, p ? p->space : 0, e, ret);
}

static void cgroup_seen(void *ctx, uint64_t id, const char *path)
{
	struct session *s = ctx;

	cgroups__learn(s->cgroups, id, path);
}

static void moved_in(void *ctx)
{
	struct session *s = ctx;

	s->moved = true;
	kernel__census(s->kernel, CENSUS_BLIND, NULL);
}

/* What has come from the kernel, with all that follows from it. */
static int consume(struct session *s, struct err *err)
{
	int rc = kernel__consume(s->kernel, err);

	return rc || !s->harvest_rc ? rc : err_set(err, s->harvest_rc, "%s", s->harvest_err.msg);
}

static int take_event(void *ctx, void *data, size_t len_bytes)
{
	struct session *s = ctx;

	return events_take(&s->events, data, len_bytes);
}

/* Rows are still being compiled while the kernel looks at the programs, which need to know how many there will be: when that
 * was guessed too low, programs are loaded again. */
static int open_kernel(struct session *s, struct err *err)
{
	struct spaces_sizes sizes = spaces__sizes(s->spaces, (uint32_t)s->opts->process_cnt_max);
	struct cp_mapping *mappings;
	uint64_t *rows;
	uint32_t *blocks;
	int rc = kernel__open(s->opts, &sizes, &s->kernel, err);

	next_phase(s, "wait for rows");
	if (!rc && !spaces__settle(s->spaces, &sizes)) {
		kernel__close(s->kernel);
		s->kernel = NULL;
		sizes = spaces__sizes(s->spaces, (uint32_t)s->opts->process_cnt_max);
		rc = kernel__open(s->opts, &sizes, &s->kernel, err);
	}
	if (!rc)
		rc = kernel__mappings(s->kernel, &rows, &blocks, &mappings, err);
	if (rc)
		return rc;
	spaces__use(s->spaces, &sizes, rows, blocks, mappings);
	processes_init(&s->processes, s->kernel, s->spaces, s->symbolizer, s->cgroups);
	return kernel__listen(s->kernel, take_event, s, err);
}

/* A process may be in /proc and yet not among the tasks that the kernel lets programs walk. */
static int none_found(const struct session *s, struct err *err)
{
	const struct capture_opts *o = s->opts;
	size_t cnt = o->pid_cnt + o->tid_cnt;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t id = i < o->pid_cnt ? o->pids[i] : o->tids[i - o->pid_cnt];

		if (is_there(id))
			return err_set(
				err, -ESRCH,
				"%s %u is there, but the kernel's task iterator does not show "
				"it (or it has just died): it cannot be watched",
				i < o->pid_cnt ? "process" : "thread", id);
	}
	return err_set(err, -ESRCH, "the targets are gone: no thread was found to watch");
}

/* First the processes and their code, then the threads, so that the stacks of sleepers can be walked. */
static int take_census(struct session *s, struct err *err)
{
	int rc = kernel__census(s->kernel, CENSUS_FIND, err);

	if (!rc)
		rc = consume(s, err);
	if (!rc)
		rc = kernel__census(s->kernel, CENSUS_OPEN, err);
	if (!rc)
		rc = consume(s, err);
	if (!rc && !s->events.process_cnt && !s->opts->cgroup_cnt)
		rc = none_found(s, err);
	return rc;
}

static void *detach(void *kernel)
{
	kernel__close(kernel);
	return NULL;
}

/* Nothing more is wanted from the kernel. It waits there for programs to end on all CPUs, once for each of them:
 * time in which addresses can get their names. */
static void begin_detach(void *ctx)
{
	struct session *s = ctx;

	if (s->detaching || !s->kernel)
		return;
	s->detaching = !pthread_create(&s->detacher, NULL, detach, s->kernel);
	if (s->detaching)
		s->kernel = NULL;
}

static int kernel_symbols(void *ctx, const uint64_t *wanted, size_t cnt,
			  struct kallsyms_sieve *sieve)
{
	struct session *s = ctx;
	struct buf records = { 0 };
	int rc = s->kernel ? kernel__symbols(s->kernel, wanted, cnt, &records) : -ENOTSUP;

	if (!rc)
		rc = kernel_symbols_take(&records, sieve);
	buf_free(&records);
	return rc;
}

int session__open(const struct capture_opts *opts, struct session **ret, struct err *err)
{
	struct session *s = xzalloc(sizeof(*s));
	struct sym_opts sym_opts = { .debuginfod = true, .lines = opts->lines };
	int rc;

	s->opts = opts;
	phases_begin(opts->phases, "sandboxes");
	s->started_ns = clock_ns(CLOCK_MONOTONIC);
	s->spaces = spaces__new();
	s->cgroups = cgroups__new();
	s->copies = copies__new();
	rc = sandbox_open(symbolize_handlers, &s->sandbox, err);
	if (rc) {
		session__close(s);
		return rc;
	}
	sym_opts.sandbox = s->sandbox;
	sym_opts.kernel_symbols = kernel_symbols;
	sym_opts.kernel_done = begin_detach;
	sym_opts.kernel_ctx = s;
	sym_opts.one_process = prepare_is_one_process(opts);
	s->symbolizer = symbolizer__new(&sym_opts);
	s->python_names = python_names__new();
	s->events.process_seen = process_seen;
	s->events.process_ended = process_ended;
	s->events.python_seen = python_seen;
	s->events.copy_seen = copy_seen;
	s->events.cgroup_seen = cgroup_seen;
	s->events.moved_in = moved_in;
	s->events.ctx = s;
	s->events.keep_intervals = opts->keep_intervals;
	if (opts->sink == SINK_BOTH || (opts->sink == SINK_INTERVALS && !opts->slice_ns))
		s->events.sums = interval_sums__new(opts->per_thread);
	if (opts->slice_ns)
		s->events.sliced = interval_sums__new(opts->per_thread);
	next_phase(s, "compile rows");
	prepare_spaces(s->spaces, opts);
	next_phase(s, "load programs");
	rc = open_kernel(s, err);
	next_phase(s, "census");
	if (!rc)
		rc = take_census(s, err);
	if (rc) {
		session__close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

/* The kernel programs must know a border of the window before it is reached: what happens until then is booked without
 * it. We may lose the CPU just before they are told, so the clock is read again, and the border put off if it was late. */
static bool was_late(uint64_t border_ns, uint64_t *ahead_ns)
{
	*ahead_ns *= 2;
	return clock_ns(CLOCK_MONOTONIC) >= border_ns;
}

static void open_window(struct session *s)
{
	uint64_t duration_ns = s->opts->duration_ns, ahead_ns = OPEN_AHEAD_NS;
	struct account_window *w = &s->window;

	if (!stolen__read(&s->stolen_before_ns))
		s->stolen_before_ns = UINT64_MAX;
	do {
		w->start_ns = clock_ns(CLOCK_MONOTONIC) + ahead_ns;
		w->end_ns = duration_ns ? w->start_ns + duration_ns : ~0ULL;
		kernel__set_window(s->kernel, w);
	} while (was_late(w->start_ns, &ahead_ns));
	s->realtime_ns = clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_MONOTONIC) - w->start_ns);
	if (s->events.sliced)
		interval_sums__slice(s->events.sliced, w->start_ns, s->opts->slice_ns);
}

static void stop_early(struct session *s)
{
	uint64_t planned_ns = s->window.end_ns, ahead_ns = STOP_AHEAD_NS;
	struct account_window *w = &s->window;

	do {
		w->end_ns = clock_ns(CLOCK_MONOTONIC) + ahead_ns;
		if (w->end_ns < w->start_ns)
			w->end_ns = w->start_ns + 1;
		if (w->end_ns > planned_ns)
			w->end_ns = planned_ns;
		kernel__set_window(s->kernel, w);
	} while (w->end_ns < planned_ns && was_late(w->end_ns, &ahead_ns));
}

static bool targets_alive(const struct session *s)
{
	if (s->opts->all)
		return true;
	for (size_t i = 0; i < s->opts->cgroup_cnt; i++)
		if (!access(s->opts->cgroups[i].dir, F_OK))
			return true;
	for (size_t i = 0; i < s->opts->pid_cnt + s->opts->tid_cnt; i++) {
		uint32_t id = i < s->opts->pid_cnt ? s->opts->pids[i] :
						     s->opts->tids[i - s->opts->pid_cnt];

		if (is_there(id))
			return true;
	}
	/* children may outlive the targets */
	for (size_t i = 0; i < s->events.process_cnt; i++)
		if (!s->events.processes[i].ended && is_there(s->events.processes[i].event.tgid))
			return true;
	return false;
}

static int poll_timeout_ms(const struct session *s, uint64_t now_ns)
{
	uint64_t left_ns = s->window.end_ns > now_ns ? s->window.end_ns - now_ns : 0;

	return left_ns >= (uint64_t)POLL_MS * 1000000 ? POLL_MS : (int)(left_ns / 1000000) + 1;
}

/* For the first instruction of a command: what comes before the window's start is not in it. */
static int tell_opened(const struct session *s, const struct session_watch *w, struct err *err)
{
	uint64_t now_ns;

	if (!w->opened)
		return 0;
	while ((now_ns = clock_ns(CLOCK_MONOTONIC)) < s->window.start_ns)
		usleep((useconds_t)((s->window.start_ns - now_ns) / 1000 + 1));
	return w->opened(w->ctx, err);
}

/* Ends the window when a descriptor says so; each is looked at until it has. */
static void look_for_end(struct session *s, const struct session_watch *w, struct pollfd *stop,
			 struct pollfd *end)
{
	bool stopped = stop->fd >= 0 && (stop->revents & POLLIN);
	bool ended = end->fd >= 0 && (end->revents & POLLIN);

	if (stopped) {
		s->interrupted = true;
		stop->fd = -1;
		if (w->interrupted)
			w->interrupted(w->ctx);
	}
	if (ended)
		end->fd = -1;
	if (stopped || ended)
		stop_early(s);
}

static int close_window(struct session *s, struct err *err)
{
	uint64_t stolen_ns;
	int rc;

	while (clock_ns(CLOCK_MONOTONIC) < s->window.end_ns + SETTLE_NS)
		usleep(SETTLE_NS / 1000);
	next_phase(s, "closing census");
	kernel__cost(s->kernel, &s->cost);
	if (stolen__read(&stolen_ns) && stolen_ns > s->stolen_before_ns)
		s->stolen_ns = stolen_ns - s->stolen_before_ns;
	rc = kernel__census(s->kernel, CENSUS_CLOSE, err);
	return rc ? rc : consume(s, err);
}

/* Finds the stacks of threads that were moved into a watched cgroup. */
static int take_late_census(struct session *s, struct err *err)
{
	s->moved = false;
	return take_census(s, err);
}

int session__run(struct session *s, const struct session_watch *w, struct err *err)
{
	struct pollfd fds[3] = { { .fd = kernel__event_fd(s->kernel), .events = POLLIN },
				 { .fd = w->stop_fd, .events = POLLIN },
				 { .fd = w->end_fd, .events = POLLIN } };
	uint64_t now_ns, ticked_ns = 0;
	int rc;

	next_phase(s, "window");
	open_window(s);
	rc = tell_opened(s, w, err);
	while (!rc && (now_ns = clock_ns(CLOCK_MONOTONIC)) < s->window.end_ns) {
		if (poll(fds, ARRAY_CNT(fds), poll_timeout_ms(s, now_ns)) < 0 && errno != EINTR)
			return err_errno(err, "waiting for events");
		rc = consume(s, err);
		if (!rc)
			rc = harvest_if_due(&s->harvest, s->kernel, &s->events,
					    s->opts->sink != SINK_INTERVALS, err);
		if (!rc && s->moved)
			rc = take_late_census(s, err);
		look_for_end(s, w, &fds[1], &fds[2]);
		if (now_ns - ticked_ns < TICK_NS)
			continue;
		ticked_ns = now_ns;
		if (w->tick)
			w->tick(w->ctx,
				now_ns > s->window.start_ns ? now_ns - s->window.start_ns : 0);
		if (!targets_alive(s))
			stop_early(s);
	}
	if (w->stop_fd >= 0)
		symbolizer__stop_at(s->symbolizer, w->stop_fd);
	return rc ? rc : close_window(s, err);
}

static void fill_header(struct session *s, struct header *h)
{
	struct rusage usage = { 0 };
	const struct cp_cost cost = s->cost;

	getrusage(RUSAGE_SELF, &usage);
	h->window_start_ns = s->window.start_ns;
	h->window_end_ns = s->window.end_ns;
	h->realtime_ns = s->realtime_ns;
	h->slice_ns = s->opts->slice_ns;
	h->sample_period_ns = kernel__sample_period_ns(s->kernel);
	h->switch_cnt = cost.switches;
	h->target_switch_cnt = cost.target_switches;
	h->recalled_cnt = cost.recalled;
	h->stolen_ns = s->stolen_ns;
	h->bpf_sampled_cnt = cost.timed_calls;
	if (cost.timed_calls)
		h->bpf_ns = (uint64_t)((double)cost.timed_ns / (double)cost.timed_calls *
				       (double)cost.calls);
	h->user_cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
			 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	h->attach_ns = s->window.start_ns - s->started_ns;
	h->map_bytes = kernel__map_bytes(s->kernel);
	h->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	h->cpu_cnt = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (s->interrupted)
		h->flags |= HEADER_INTERRUPTED;
	if (s->opts->keep_intervals)
		h->flags |= HEADER_HAS_INTERVALS;
}

/* --verify: what the kernel programs remember of kernel stacks is what the kernel unwinds. */
static int compare_recalled(const struct session *s, struct err *err)
{
	if (!s->cost.recalled_wrong)
		return 0;
	return err_set(err, -EIO,
		       "%" PRIu64 " of %" PRIu64
		       " remembered kernel stacks differ from what the kernel unwinds",
		       (uint64_t)s->cost.recalled_wrong, (uint64_t)s->cost.recalled);
}

static void end_detach(struct session *s)
{
	if (s->detaching)
		pthread_join(s->detacher, NULL);
	s->detaching = false;
	kernel__close(s->kernel);
	s->kernel = NULL;
}

int session__result(struct session *s, struct profile **ret, struct err *err)
{
	struct result_input in = { .events = &s->events,
				   .symbolizer = s->symbolizer,
				   .spaces = s->spaces,
				   .python_names = s->python_names };
	struct profile *p = profile__new();
	char hook[RESUME_NAME_BYTES + 32];
	int rc = 0;

	next_phase(s, "read sums");
	if (s->opts->sink != SINK_INTERVALS)
		rc = harvest_finish(&s->harvest, s->kernel, &s->events, &in.sums, err);
	if (!rc && s->opts->sink == SINK_BOTH)
		rc = result_compare(in.sums, interval_sums__table(s->events.sums), err);
	if (!rc && s->opts->sink == SINK_BOTH)
		rc = compare_recalled(s, err);
	if (s->events.sliced)
		in.sums = interval_sums__table(s->events.sliced);
	else if (s->opts->sink == SINK_INTERVALS)
		in.sums = interval_sums__table(s->events.sums);
	kernel__losses(s->kernel, in.losses, ARRAY_CNT(in.losses));
	in.losses[LOSS_PROCESS_MAP_FULL].events +=
		s->processes.unpublished_cnt + spaces__stats(s->spaces).no_room_cnt;
	fill_header(s, &p->header);
	p->header.hook_sid = profile__string(p, kernel__hook(s->kernel, hook, sizeof(hook)));
	p->header.sampling_sid = profile__string(p, kernel__sampling(s->kernel));
	next_phase(s, "names and profile");
	if (!rc)
		rc = result_build(&in, p, err);
	note_helpers(s);
	if (rc) {
		profile__free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void session__put_raw(const struct session *s, struct buf *out)
{
	raw_events_put(&s->events, &s->window, out);
}

void session__close(struct session *s)
{
	if (!s)
		return;
	next_phase(s, "detach");
	end_detach(s);
	spaces__free(s->spaces);
	cgroups__free(s->cgroups);
	copies__free(s->copies);
	processes_fini(&s->processes);
	symbolizer__free(s->symbolizer);
	sandbox_close(s->sandbox);
	events_free(&s->events);
	harvest_free(&s->harvest);
	python_names__free(s->python_names);
	free(s);
}
