/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of record; see record_options.h. */
#include "user/cmd/record_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/capture/cgroups.h"
#include "user/capture/process_names.h"
#include "user/model/kinds.h"

enum {
	DURATION_MAX_S = 86400 * 7,
	SLICE_MIN_NS = 1000000,
	SLICES_MAX = 100000
};

#define NOT_GIVEN UINT64_MAX /* of times of which 0 is a mistake */

enum unwind {
	UNWIND_AUTO,
	UNWIND_DWARF,
	UNWIND_FP
};

static const char *const unwind_choices[] = { "auto", "dwarf", "fp", NULL };
static const char *const hook_choices[] = { "switch", "finish", NULL };

#define OFF(member) offsetof(struct record_opts, member)

const struct opt record_options[] = {
	{ "pid", 'p', OPT_LIST, OFF(pid_words), "PID[,PID]",
	  "Watch these processes and their children" },
	{ "tid", 't', OPT_LIST, OFF(tid_words), "TID[,TID]", "Watch these threads only" },
	{ "thread", 'L', OPT_LIST, OFF(tid_words), "TID[,TID]", "The same as -t" },
	{ "all", 'a', OPT_FLAG, OFF(capture.all), NULL, "Watch every thread of the machine" },
	{ "comm", 0, OPT_STRING, OFF(comm), "GLOB",
	  "Of all processes watch those whose name matches when the capture starts, with their "
	  "children" },
	{ "cgroup", 'G', OPT_LIST, OFF(cgroup_words), "CGROUP",
	  "Watch the processes in this cgroup (version 2) and below, also those that come: its path, "
	  "or its number" },
	{ "user-threads-only", 'u', OPT_FLAG, OFF(capture.user_threads), NULL,
	  "Watch the threads of all processes, not the kernel's own" },
	{ "kernel-threads-only", 'k', OPT_FLAG, OFF(capture.kernel_threads), NULL,
	  "Watch the kernel's own threads only" },
	{ "duration", 0, OPT_SECONDS, OFF(capture.duration_ns), "TIME",
	  "How long: 0.1, 250ms, 2m; also as an operand. Without it: until Ctrl-C" },
	{ "output", 'o', OPT_STRING, OFF(output), "FILE",
	  "The profile to write; default causeprof.cprof" },
	{ "svg", 0, OPT_FLAG, OFF(picture), NULL,
	  "Draw FILE.svg beside the profile (the default; --no-svg)" },
	{ "replace", 0, OPT_FLAG, OFF(replace), NULL,
	  "Replace the files that -o names if they exist" },
	{ "folded", 'f', OPT_FLAG, OFF(folded), NULL,
	  "Print folded stacks as bcc's offcputime does (us of blocked time), write files only with -o" },
	{ "delimiter", 'd', OPT_FLAG, OFF(delimiter), NULL,
	  "With -f: a frame \"-\" between the user and the kernel part" },
	{ "kinds", 0, OPT_STRING, OFF(kinds), "KINDS",
	  "With -f: which time, as for causeprof fold: all, off, blocked, runnable, running, ..." },
	{ "annotate", 0, OPT_FLAG, OFF(annotate), NULL,
	  "With -f: mark frames _[k] kernel, _[i] inlined, _[j] JIT, _[p] Python" },
	{ "frequency", 'F', OPT_U64, OFF(capture.sample_hz), "HZ",
	  "Samples of running threads a second; default 99 to 4999, for about 1000 a CPU", 1,
	  20000 },
	{ "min-block-time", 'm', OPT_MICROSECONDS, OFF(capture.min_ns), "US",
	  "Waits shorter than this become [filtered]" },
	{ "max-block-time", 'M', OPT_MICROSECONDS, OFF(capture.max_ns), "US",
	  "Waits longer than this become [filtered]" },
	{ "state", 0, OPT_STRING, OFF(state), "STATES",
	  "Keep these kinds of waiting, others become [filtered]: letters S D T t P I R, or bcc's bit "
	  "mask" },
	{ "unwind", 0, OPT_CHOICE, OFF(unwind), "HOW",
	  "How user stacks are walked: auto or dwarf (unwind rows), fp (frame pointers)", 0, 0,
	  unwind_choices },
	{ "hook", 0, OPT_CHOICE, OFF(hook), "WHEN",
	  "When the stack of a wait is walked: switch (the thread leaves its CPU) or finish (it goes on)",
	  0, 0, hook_choices },
	{ "user-stacks-only", 'U', OPT_FLAG, OFF(user_only), NULL, "No kernel stacks" },
	{ "kernel-stacks-only", 'K', OPT_FLAG, OFF(kernel_only), NULL, "No user stacks" },
	{ "lines", 0, OPT_FLAG, OFF(capture.lines), NULL,
	  "Note inlined functions, source files and lines, where there is debug information" },
	{ "per-thread", 0, OPT_FLAG, OFF(capture.per_thread), NULL,
	  "Keep the sums of each thread apart" },
	{ "slice", 0, OPT_SECONDS, OFF(capture.slice_ns), "TIME",
	  "Keep the sums of each such stretch of time apart (report --slices; --since and --until of the "
	  "other verbs)" },
	{ "intervals", 0, OPT_FLAG, OFF(capture.keep_intervals), NULL,
	  "Record every single interval, not only sums" },
	{ "verify", 0, OPT_FLAG, OFF(verify), NULL,
	  "Record through both ways, sums and intervals, and fail unless they are equal" },
	{ "raw-events", 0, OPT_STRING, OFF(raw_path), "FILE",
	  "Write what the scheduler told, event by event: for reports of wrong times" },
	{ "label", 0, OPT_LIST, OFF(labels), "KEY=VALUE", "Note this in the profile" },
	{ "max-overhead", 0, OPT_F64, OFF(max_overhead_percent), "PERCENT",
	  "Refuse when the predicted cost is above this share of the machine's CPU time; default 5",
	  0, 100 },
	{ "force", 0, OPT_FLAG, OFF(force), NULL, "Capture whatever it costs" },
	{ "strict", 0, OPT_FLAG, OFF(strict), NULL, "Exit with status 3 when data were lost" },
	{ "quiet", 'q', OPT_FLAG, OFF(quiet), NULL, "No summary" },
	{ "verbose", 'v', OPT_FLAG, OFF(verbose), NULL,
	  "Tell how long each step of the capture took, in wall and CPU time" },
	{ "stack-storage-size", 0, OPT_U64, OFF(capture.stack_cnt_max), "N",
	  "Room for distinct stacks; default 262144", 1024, 16777216 },
	{ "process-storage-size", 0, OPT_U64, OFF(capture.process_cnt_max), "N",
	  "Room for processes that live at a time and for their mappings; default 16384", 64,
	  4194304 },
	{ "ring-size", 0, OPT_SIZE, OFF(capture.ring_bytes), "BYTES",
	  "Room for events on their way to user space; default 8M, with intervals 32M", 4096,
	  1 << 30 },
	{ "btf", 0, OPT_STRING, OFF(capture.btf_path), "FILE",
	  "Take the layout of kernel types from here; default the running kernel's own" },
	{ 0 },
};

static int parse_ids(const struct opt_list *list, const char *what, uint32_t **ids, size_t *cnt,
		     struct err *err)
{
	size_t cap = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		char *copy = xstrdup(list->items[i]), *rest = copy, *word;

		while ((word = strsep(&rest, ","))) {
			uint64_t id;
			int rc = parse_u64(word, &id, err);

			if (!rc && (!id || id > INT32_MAX))
				rc = err_set(err, -EINVAL, "'%s' is not a %s", word, what);
			if (rc) {
				free(copy);
				return rc;
			}
			*ids = xgrow(*ids, &cap, *cnt + 1, sizeof(**ids));
			(*ids)[(*cnt)++] = (uint32_t)id;
		}
		free(copy);
	}
	return 0;
}

/* bcc's mask has the kernel's bits: 0 = running (preempted), 1 = S, 2 = D, 4 = T, 8 = t. */
static uint32_t kinds_of_mask(uint64_t mask)
{
	uint32_t kinds = 0;

	if (!mask)
		return 1U << KIND_PREEMPTED | 1U << KIND_WOKEN;
	if (mask & 1)
		kinds |= 1U << KIND_SLEEP;
	if (mask & 2)
		kinds |= 1U << KIND_DISK | 1U << KIND_IDLE;
	if (mask & 4)
		kinds |= 1U << KIND_STOPPED;
	if (mask & 8)
		kinds |= 1U << KIND_TRACED;
	return kinds;
}

static int parse_states(const char *text, uint32_t *kinds, struct err *err)
{
	uint64_t mask;

	if (!text) {
		*kinds = ~0U;
		return 0;
	}
	*kinds = 1U << KIND_RUNNING;
	if (!parse_u64(text, &mask, NULL)) {
		*kinds |= kinds_of_mask(mask);
		return 0;
	}
	for (; *text; text++) {
		int kind = KIND_PREEMPTED;

		if (*text == ',')
			continue;
		while (kind < KIND_MAX && model_kind_letter(kind) != *text)
			kind++;
		if (kind == KIND_MAX || !*text)
			return err_set(err, -EINVAL, "--state: '%c' is none of S D T t P I R",
				       *text);
		*kinds |= 1U << kind;
		if (*text == 'R')
			*kinds |= 1U << KIND_PREEMPTED | 1U << KIND_WOKEN;
	}
	return 0;
}

static int parse_operands(struct record_opts *o, const struct opt_operands *operands,
			  struct err *err)
{
	int own_cnt = operands->after_dashes;

	if (own_cnt < operands->argc) {
		o->command = operands->argv + own_cnt;
		operands->argv[operands->argc] = NULL;
	}
	if (own_cnt > 1)
		return err_set(err, -EINVAL,
			       "unexpected argument '%s' (a command stands behind --)",
			       operands->argv[1]);
	if (own_cnt == 1 && o->capture.duration_ns != NOT_GIVEN)
		return err_set(err, -EINVAL, "two durations: --duration and '%s'",
			       operands->argv[0]);
	if (own_cnt == 1 &&
	    parse_duration_ns(operands->argv[0], 1000000000, &o->capture.duration_ns, err)) {
		err_prefix(err, "duration");
		return -EINVAL;
	}
	return 0;
}

static int check_labels(const struct opt_list *labels, struct err *err)
{
	for (size_t i = 0; i < labels->cnt; i++)
		if (!strchr(labels->items[i], '=') || labels->items[i][0] == '=')
			return err_set(err, -EINVAL, "--label: '%s' is not KEY=VALUE",
				       labels->items[i]);
	return 0;
}

static bool names_targets(const struct record_opts *o)
{
	return o->pid_words.cnt || o->tid_words.cnt;
}

static bool names_nothing(const struct record_opts *o)
{
	return !o->capture.all && !o->comm && !o->command && !o->cgroup_words.cnt &&
	       !names_targets(o);
}

struct rule {
	bool wrong;
	const char *why;
};

static int apply_rules(const struct rule *rules, size_t cnt, struct err *err)
{
	for (size_t i = 0; i < cnt; i++)
		if (rules[i].wrong)
			return err_set(err, -EINVAL, "%s", rules[i].why);
	return 0;
}

/* What is watched. */
static int check_targets(const struct record_opts *o, struct err *err)
{
	const struct capture_opts *c = &o->capture;
	bool named = names_targets(o), half = c->user_threads || c->kernel_threads;
	bool cgroup = o->cgroup_words.cnt;
	const struct rule rules[] = {
		{ c->all && named, "-a does not go with -p or -t" },
		{ c->user_threads && c->kernel_threads, "-u does not go with -k" },
		{ half && named,
		  "-u and -k are about the whole machine: they do not go with -p or -t" },
		{ cgroup && (named || o->comm || o->command || c->all),
		  "-G does not go with -a, -p, -t, --comm or a command" },
		{ o->comm && (named || o->command), "--comm does not go with -p, -t or a command" },
		{ o->command && named, "a command does not go with -p or -t" },
		{ names_nothing(o),
		  "nothing to watch: name a process with -p PID, a thread with -t TID, a cgroup with -G, "
		  "all with -a, or a command behind --" },
	};

	return apply_rules(rules, ARRAY_CNT(rules), err);
}

static int check(const struct record_opts *o, bool has_duration, bool has_slice, struct err *err)
{
	const struct capture_opts *c = &o->capture;
	const struct rule rules[] = {
		{ has_duration && !c->duration_ns, "the duration must be longer than 0" },
		{ c->duration_ns > (uint64_t)DURATION_MAX_S * 1000000000,
		  "the duration must be at most 7 days" },
		{ c->max_ns && c->max_ns < c->min_ns, "-M is smaller than -m: no wait fits" },
		{ o->user_only && o->kernel_only, "-U does not go with -K" },
		{ has_slice && c->slice_ns < SLICE_MIN_NS, "--slice must be at least 1ms" },
		{ c->slice_ns && c->duration_ns / c->slice_ns > SLICES_MAX,
		  "--slice: more than 100,000 slices; take longer ones" },
	};
	int rc;

	rc = check_targets(o, err);
	if (!rc)
		rc = apply_rules(rules, ARRAY_CNT(rules), err);
	return rc ? rc : check_labels(&o->labels, err);
}

/* What no option writes into the capture by itself. */
static int fill_capture(struct record_opts *o, struct err *err)
{
	struct capture_opts *c = &o->capture;
	int rc = parse_ids(&o->pid_words, "process", &o->pids, &c->pid_cnt, err);

	if (!rc)
		rc = parse_ids(&o->tid_words, "thread", &o->tids, &c->tid_cnt, err);
	if (!rc)
		rc = parse_states(o->state, &c->kind_mask, err);
	c->pids = o->pids;
	c->tids = o->tids;
	c->sink = o->verify			   ? SINK_BOTH :
		  c->keep_intervals || c->slice_ns ? SINK_INTERVALS :
						     SINK_SUMS;
	c->user_stacks = !o->kernel_only;
	c->kernel_stacks = !o->user_only;
	c->frame_pointers = o->unwind == UNWIND_FP;
	c->hook_finish = o->hook == 1;
	c->raw_events = o->raw_path;
	return rc;
}

/* And makes it 0 if not. */
static bool given(uint64_t *time_ns)
{
	bool is = *time_ns != NOT_GIVEN;

	if (!is)
		*time_ns = 0;
	return is;
}

int record_opts__parse(struct record_opts *o, int argc, char **argv, struct err *err)
{
	struct capture_opts *c = &o->capture;
	struct opt_operands operands;
	bool has_duration, has_slice;
	int rc;

	*o = (struct record_opts){ .picture = true,
				   .max_overhead_percent = 5,
				   .capture.duration_ns = NOT_GIVEN,
				   .capture.slice_ns = NOT_GIVEN };
	rc = opt_parse(record_options, argc, argv, o, &operands, err);
	if (!rc)
		rc = parse_operands(o, &operands, err);
	if (rc)
		return rc;
	has_duration = given(&c->duration_ns);
	has_slice = given(&c->slice_ns);
	if (!names_targets(o) && !o->cgroup_words.cnt && (c->user_threads || c->kernel_threads))
		c->all = true;
	rc = check(o, has_duration, has_slice, err);
	if (!rc)
		rc = fill_capture(o, err);
	if (o->comm) /* the processes of that name, out of all */
		c->all = false;
	return rc;
}

static int find_cgroups(struct record_opts *o, struct err *err)
{
	struct capture_opts *c = &o->capture;
	struct cgroups *cgroups = cgroups__new();
	int rc = 0;

	o->cgroups = xcalloc(o->cgroup_words.cnt, sizeof(*o->cgroups));
	c->cgroups = o->cgroups;
	for (size_t i = 0; i < o->cgroup_words.cnt && !rc; i++) {
		char *dir = NULL;

		rc = cgroups__find(cgroups, o->cgroup_words.items[i], &o->cgroups[i].id, &dir, err);
		o->cgroups[i].dir = dir;
		c->cgroup_cnt += !rc;
	}
	cgroups__free(cgroups);
	return rc;
}

/* Processes that have the name are watched one by one; those that get it later are not. */
static int find_named(struct record_opts *o, struct err *err)
{
	uint32_t *pids = NULL;
	size_t cnt = 0;
	int rc = process_names_match(o->comm, &pids, &cnt, err);

	for (size_t i = 0; !rc && i < cnt; i++)
		record_opts__watch(o, pids[i]);
	free(pids);
	return rc;
}

int record_opts__look_up(struct record_opts *o, struct err *err)
{
	int rc = o->cgroup_words.cnt ? find_cgroups(o, err) : 0;

	return rc || !o->comm ? rc : find_named(o, err);
}

void record_opts__watch(struct record_opts *o, uint32_t pid)
{
	size_t cap = o->capture.pid_cnt;

	o->pids = xgrow(o->pids, &cap, o->capture.pid_cnt + 1, sizeof(*o->pids));
	o->pids[o->capture.pid_cnt++] = pid;
	o->capture.pids = o->pids;
}

void record_opts__free(struct record_opts *o)
{
	opt_list_free(&o->pid_words);
	opt_list_free(&o->tid_words);
	opt_list_free(&o->labels);
	opt_list_free(&o->cgroup_words);
	for (size_t i = 0; i < o->capture.cgroup_cnt; i++)
		free((char *)o->cgroups[i].dir);
	free(o->cgroups);
	free(o->pids);
	free(o->tids);
}
