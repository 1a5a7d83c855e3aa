/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture from start to profile; see session.h. */
#include "user/capture/session.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "symbolize/symbolizer.h"
#include "user/base/mem.h"
#include "user/capture/events.h"
#include "user/capture/harvest.h"
#include "user/capture/kernel.h"
#include "user/capture/result.h"
#include "symbolize/handlers.h"
#include "user/capture/spaces.h"

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
	struct spaces *spaces;
	struct symbolizer *symbolizer;
	struct sandbox *sandbox; /* where the symbolizer reads files */
	struct events events;
	struct harvest harvest;
	struct account_window window;
	uint64_t started_ns, realtime_ns;
	bool interrupted;
	uint64_t unpublished_cnt; /* processes that got no unwind rows for want of room */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint32_t read_exe(struct strtab *strings, uint32_t pid)
{
	char *path = xasprintf("/proc/%u/exe", pid), target[4096];
	ssize_t n = readlink(path, target, sizeof(target));

	free(path);
	return n > 0 ? strtab_addn(strings, target, (size_t)n) : 0;
}

/* The path of the process's cgroup in the v2 hierarchy: the line that begins with "0::". */
static uint32_t read_cgroup(struct strtab *strings, uint32_t pid)
{
	char *path = xasprintf("/proc/%u/cgroup", pid), line[4096];
	FILE *f = fopen(path, "re");
	uint32_t sid = 0;

	free(path);
	if (!f)
		return 0;
	while (!sid && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3))
			sid = strtab_addn(strings, line + 3, strcspn(line + 3, "\n"));
	fclose(f);
	return sid;
}

/* A process generation needs its space no more. Room that nobody points to is used again. */
static void leave_space(struct session *s, struct event_process *p)
{
	if (p->left)
		return;
	p->left = true;
	if (spaces__drop(s->spaces, p->space))
		kernel__unpublish(s->kernel, p->space);
}

static void process_ended(void *ctx, struct events *ev, struct event_process *p)
{
	struct session *s = ctx;

	leave_space(s, p);
	/* in a storm of processes the ring may not run empty for long */
	harvest_if_due(&s->harvest, s->kernel, ev, s->opts->sink != SINK_INTERVALS, NULL);
}

/* Answers the kernel's announcement of a process or of new code in it. */
static void process_seen(void *ctx, struct events *ev, struct event_process *p)
{
	struct session *s = ctx;
	struct event_process *before = events_process(ev, p->event.before);
	struct cp_range range;
	int rc;

	if (p->event.kernel)
		return;
	p->exe_sid = read_exe(&ev->strings, p->event.tgid);
	p->cgroup_sid = read_cgroup(&ev->strings, p->event.tgid);
	if (p->event.why == CP_PROCESS_FORK) {
		if (before) {
			p->space = before->space;
			spaces__hold(s->spaces, p->space);
		}
		return;
	}
	if (before)
		leave_space(s, before);
	rc = spaces__publish(s->spaces, p->space, (pid_t)p->event.tgid, s->symbolizer, &range,
			     NULL);
	if (!rc)
		rc = kernel__publish(s->kernel, p->space, &range, NULL);
	if (rc && rc != -ESRCH) /* gone already: its stacks say so themselves */
		s->unpublished_cnt++;
}

static int take_event(void *ctx, void *data, size_t len_bytes)
{
	struct session *s = ctx;

	return events_take(&s->events, data, len_bytes);
}

static void prepare_all(struct spaces *spaces)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	if (!proc)
		return;
	while ((e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]))
			spaces__prepare(spaces, atoi(e->d_name));
	closedir(proc);
}

static void prepare(struct session *s)
{
	if (s->opts->frame_pointers || !s->opts->user_stacks) {
		spaces__without_rows(s->spaces);
		return;
	}
	if (s->opts->all)
		prepare_all(s->spaces);
	for (size_t i = 0; i < s->opts->pid_cnt; i++)
		spaces__prepare(s->spaces, (pid_t)s->opts->pids[i]);
	for (size_t i = 0; i < s->opts->tid_cnt; i++)
		spaces__prepare(s->spaces, (pid_t)s->opts->tids[i]);
}

static int open_kernel(struct session *s, struct err *err)
{
	struct spaces_sizes sizes = spaces__sizes(s->spaces, s->opts->process_cnt_max);
	struct cp_mapping *mappings;
	uint64_t *rows;
	uint32_t *blocks;
	int rc = kernel__open(s->opts, &sizes, &s->kernel, err);

	if (!rc)
		rc = kernel__mappings(s->kernel, &rows, &blocks, &mappings, err);
	if (rc)
		return rc;
	spaces__use(s->spaces, &sizes, rows, blocks, mappings);
	return kernel__listen(s->kernel, take_event, s, err);
}

/* First the processes and their code, then the threads, so that the stacks of sleepers can be walked. */
static int take_census(struct session *s, struct err *err)
{
	int rc = kernel__census(s->kernel, CENSUS_FIND, err);

	if (!rc)
		rc = kernel__consume(s->kernel, err);
	if (!rc)
		rc = kernel__census(s->kernel, CENSUS_OPEN, err);
	if (!rc)
		rc = kernel__consume(s->kernel, err);
	if (!rc && !s->events.process_cnt)
		rc = err_set(err, -ESRCH, "the targets are gone: no thread was found to watch");
	return rc;
}

int session__open(const struct capture_opts *opts, struct session **ret, struct err *err)
{
	struct session *s = xzalloc(sizeof(*s));
	struct sym_opts sym_opts = { .debuginfod = true };
	int rc;

	s->opts = opts;
	s->started_ns = clock_ns(CLOCK_MONOTONIC);
	s->spaces = spaces__new();
	rc = sandbox_open(symbolize_handlers, &s->sandbox, err);
	if (rc) {
		session__close(s);
		return rc;
	}
	sym_opts.sandbox = s->sandbox;
	s->symbolizer = symbolizer__new(&sym_opts);
	s->events.process_seen = process_seen;
	s->events.process_ended = process_ended;
	s->events.ctx = s;
	s->events.keep_intervals = opts->keep_intervals;
	if (opts->sink != SINK_SUMS)
		s->events.sums = interval_sums__new(opts->per_thread);
	prepare(s);
	rc = open_kernel(s, err);
	if (!rc)
		rc = take_census(s, err);
	if (rc) {
		session__close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

static void open_window(struct session *s)
{
	s->window.start_ns = clock_ns(CLOCK_MONOTONIC) + OPEN_AHEAD_NS;
	s->realtime_ns = clock_ns(CLOCK_REALTIME) + OPEN_AHEAD_NS;
	s->window.end_ns = s->opts->duration_ns ? s->window.start_ns + s->opts->duration_ns : ~0ULL;
	kernel__set_window(s->kernel, &s->window);
}

static void stop_early(struct session *s, uint64_t now_ns)
{
	uint64_t end_ns = now_ns + STOP_AHEAD_NS;

	if (end_ns < s->window.start_ns)
		end_ns = s->window.start_ns + 1;
	if (end_ns >= s->window.end_ns)
		return;
	s->window.end_ns = end_ns;
	kernel__set_window(s->kernel, &s->window);
}

static bool targets_alive(const struct session *s)
{
	if (s->opts->all)
		return true;
	for (size_t i = 0; i < s->opts->pid_cnt + s->opts->tid_cnt; i++) {
		uint32_t id = i < s->opts->pid_cnt ? s->opts->pids[i] :
						     s->opts->tids[i - s->opts->pid_cnt];
		char *path = xasprintf("/proc/%u", id);
		bool there = !access(path, F_OK);

		free(path);
		if (there)
			return true;
	}
	/* children may outlive the targets */
	for (size_t i = 0; i < s->events.process_cnt; i++) {
		char *path = xasprintf("/proc/%u", s->events.processes[i].event.tgid);
		bool there = !s->events.processes[i].ended && !access(path, F_OK);

		free(path);
		if (there)
			return true;
	}
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
static void look_for_end(struct session *s, struct pollfd *stop, struct pollfd *end)
{
	bool stopped = stop->fd >= 0 && (stop->revents & POLLIN);
	bool ended = end->fd >= 0 && (end->revents & POLLIN);

	if (stopped) {
		s->interrupted = true;
		stop->fd = -1;
	}
	if (ended)
		end->fd = -1;
	if (stopped || ended)
		stop_early(s, clock_ns(CLOCK_MONOTONIC));
}

static int close_window(struct session *s, struct err *err)
{
	int rc;

	while (clock_ns(CLOCK_MONOTONIC) < s->window.end_ns + SETTLE_NS)
		usleep(SETTLE_NS / 1000);
	rc = kernel__census(s->kernel, CENSUS_CLOSE, err);
	return rc ? rc : kernel__consume(s->kernel, err);
}

int session__run(struct session *s, const struct session_watch *w, struct err *err)
{
	struct pollfd fds[3] = { { .fd = kernel__event_fd(s->kernel), .events = POLLIN },
				 { .fd = w->stop_fd, .events = POLLIN },
				 { .fd = w->end_fd, .events = POLLIN } };
	uint64_t now_ns, ticked_ns = 0;
	int rc;

	open_window(s);
	rc = tell_opened(s, w, err);
	while (!rc && (now_ns = clock_ns(CLOCK_MONOTONIC)) < s->window.end_ns) {
		if (poll(fds, ARRAY_CNT(fds), poll_timeout_ms(s, now_ns)) < 0 && errno != EINTR)
			return err_errno(err, "waiting for events");
		rc = kernel__consume(s->kernel, err);
		if (!rc)
			rc = harvest_if_due(&s->harvest, s->kernel, &s->events,
					    s->opts->sink != SINK_INTERVALS, err);
		look_for_end(s, &fds[1], &fds[2]);
		if (now_ns - ticked_ns < TICK_NS)
			continue;
		ticked_ns = now_ns;
		if (w->tick)
			w->tick(w->ctx,
				now_ns > s->window.start_ns ? now_ns - s->window.start_ns : 0);
		if (!targets_alive(s))
			stop_early(s, clock_ns(CLOCK_MONOTONIC));
	}
	return rc ? rc : close_window(s, err);
}

static void fill_header(struct session *s, struct header *h)
{
	struct rusage usage = { 0 };
	struct cp_cost cost;

	kernel__cost(s->kernel, &cost);
	getrusage(RUSAGE_SELF, &usage);
	h->window_start_ns = s->window.start_ns;
	h->window_end_ns = s->window.end_ns;
	h->realtime_ns = s->realtime_ns;
	h->sample_period_ns = kernel__sample_period_ns(s->kernel);
	h->switch_cnt = cost.switches;
	h->target_switch_cnt = cost.target_switches;
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

int session__result(struct session *s, struct profile **ret, struct err *err)
{
	struct result_input in = { .events = &s->events, .symbolizer = s->symbolizer };
	struct profile *p = profile__new();
	int rc = 0;

	if (s->opts->sink != SINK_INTERVALS)
		rc = harvest_finish(&s->harvest, s->kernel, &s->events, &in.keys, &in.values,
				    &in.sum_cnt, err);
	if (s->opts->sink == SINK_INTERVALS)
		in.sum_cnt = interval_sums__get(s->events.sums, &in.keys, &in.values);
	else if (!rc && s->opts->sink == SINK_BOTH)
		rc = result_compare(&in, s->events.sums, err);
	kernel__losses(s->kernel, in.losses, ARRAY_CNT(in.losses));
	in.losses[LOSS_PROCESS_MAP_FULL].events +=
		s->unpublished_cnt + spaces__stats(s->spaces).no_room_cnt;
	fill_header(s, &p->header);
	p->header.hook_sid = profile__string(p, "switch");
	p->header.sampling_sid = profile__string(p, kernel__sampling(s->kernel));
	if (!rc)
		rc = result_build(&in, p, err);
	if (rc) {
		profile__free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void session__put_raw(const struct session *s, struct buf *out)
{
	static const char *const words[] = { "?",      "census", "out",	   "in",
					     "wakeup", "born",	 "sample", "close" };

	buf_printf(out, "window %" PRIu64 " %" PRIu64 "\n", (uint64_t)s->window.start_ns,
		   (uint64_t)s->window.end_ns);
	for (size_t i = 0; i < s->events.raw_cnt; i++) {
		const struct cp_event_raw *e = &s->events.raws[i];

		buf_printf(out, "event %u %s %" PRIu64 " %u %u %u %u %" PRIu64 "\n", e->tid,
			   words[e->raw < ARRAY_CNT(words) ? e->raw : 0], (uint64_t)e->now_ns,
			   e->value, e->preempt, e->on_rq, e->sched_delayed, (uint64_t)e->ran_ns);
	}
	for (size_t i = 0; i < s->events.thread_cnt; i++) {
		const struct cp_event_thread *t = &s->events.threads[i];

		buf_printf(out, "books %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t->tid,
			   (uint64_t)t->running_ns, (uint64_t)t->runnable_ns,
			   (uint64_t)t->blocked_ns);
	}
}

void session__close(struct session *s)
{
	if (!s)
		return;
	kernel__close(s->kernel);
	spaces__free(s->spaces);
	symbolizer__free(s->symbolizer);
	sandbox_close(s->sandbox);
	events_free(&s->events);
	harvest_free(&s->harvest);
	free(s);
}
