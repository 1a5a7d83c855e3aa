/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof record: a capture, its file, its picture, and the summary. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "gen/version.h"
#include "user/base/buf.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/base/outfile.h"
#include "user/capture/capability.h"
#include "user/capture/process_names.h"
#include "user/capture/rate.h"
#include "user/capture/sampler.h"
#include "user/capture/session.h"
#include "user/cmd/capture_output.h"
#include "user/cmd/child.h"
#include "user/cmd/command.h"

enum {
	RATE_SPAN_NS = 50000000,
	PROGRESS_FROM_NS = 2000000000,
	DURATION_MAX_S = 86400 * 7
};

struct record_opts {
	struct opt_list pids, tids, labels;
	bool all, user_threads, kernel_threads, user_only, kernel_only, intervals, verify,
		per_thread, force, strict, picture;
	bool quiet, replace, folded, delimiter, annotate;
	uint64_t duration_ns, sample_hz, min_ns, max_ns, stack_cnt_max, process_cnt_max, ring_bytes;
	double max_overhead_percent;
	const char *comm, *state, *output, *btf, *kinds, *raw_path;
	int unwind;
	char **command;	    /* what stands behind "--"; NULL: none */
	struct child child; /* it, once it is started */
};

static const char *const unwind_choices[] = { "auto", "dwarf", "fp", NULL };

#define OFF(member) offsetof(struct record_opts, member)

static const struct opt options[] = {
	{ "pid", 'p', OPT_LIST, OFF(pids), "PID[,PID]",
	  "Watch these processes and their children" },
	{ "tid", 't', OPT_LIST, OFF(tids), "TID[,TID]", "Watch these threads only" },
	{ "thread", 'L', OPT_LIST, OFF(tids), "TID[,TID]", "The same as -t" },
	{ "all", 'a', OPT_FLAG, OFF(all), NULL, "Watch every thread of the machine" },
	{ "comm", 0, OPT_STRING, OFF(comm), "GLOB",
	  "Of all processes watch those whose name matches when the capture starts, with their "
	  "children" },
	{ "user-threads-only", 'u', OPT_FLAG, OFF(user_threads), NULL,
	  "Watch the threads of all processes, not the kernel's own" },
	{ "kernel-threads-only", 'k', OPT_FLAG, OFF(kernel_threads), NULL,
	  "Watch the kernel's own threads only" },
	{ "duration", 0, OPT_SECONDS, OFF(duration_ns), "TIME",
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
	  "With -f: mark frames _[k] kernel, _[i] inlined, _[j] JIT" },
	{ "frequency", 'F', OPT_U64, OFF(sample_hz), "HZ",
	  "Samples of running threads a second; default 99 to 4999, for about 1000 a CPU", 1,
	  20000 },
	{ "min-block-time", 'm', OPT_MICROSECONDS, OFF(min_ns), "US",
	  "Waits shorter than this become [filtered]" },
	{ "max-block-time", 'M', OPT_MICROSECONDS, OFF(max_ns), "US",
	  "Waits longer than this become [filtered]" },
	{ "state", 0, OPT_STRING, OFF(state), "STATES",
	  "Keep these kinds of waiting, others become [filtered]: letters S D T t P I R, or bcc's bit "
	  "mask" },
	{ "unwind", 0, OPT_CHOICE, OFF(unwind), "HOW",
	  "How user stacks are walked: auto or dwarf (unwind rows), fp (frame pointers)", 0, 0,
	  unwind_choices },
	{ "user-stacks-only", 'U', OPT_FLAG, OFF(user_only), NULL, "No kernel stacks" },
	{ "kernel-stacks-only", 'K', OPT_FLAG, OFF(kernel_only), NULL, "No user stacks" },
	{ "per-thread", 0, OPT_FLAG, OFF(per_thread), NULL, "Keep the sums of each thread apart" },
	{ "intervals", 0, OPT_FLAG, OFF(intervals), NULL,
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
	{ "stack-storage-size", 0, OPT_U64, OFF(stack_cnt_max), "N",
	  "Room for distinct stacks; default 262144", 1024, 16777216 },
	{ "process-storage-size", 0, OPT_U64, OFF(process_cnt_max), "N",
	  "Room for processes that live at a time and for their mappings; default 16384", 64,
	  4194304 },
	{ "ring-size", 0, OPT_SIZE, OFF(ring_bytes), "BYTES",
	  "Room for events on their way to user space; default 4M, with intervals 32M", 4096,
	  1 << 30 },
	{ "btf", 0, OPT_STRING, OFF(btf), "FILE", "Kernel types, for kernels without BTF" },
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
	if (own_cnt == 1 &&
	    parse_duration_ns(operands->argv[0], 1000000000, &o->duration_ns, err)) {
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
	return o->pids.cnt || o->tids.cnt;
}

static int check(const struct record_opts *o, bool has_duration, struct err *err)
{
	bool named = names_targets(o);
	const struct {
		bool wrong;
		const char *why;
	} rules[] = {
		{ has_duration && !o->duration_ns, "the duration must be longer than 0" },
		{ o->duration_ns > (uint64_t)DURATION_MAX_S * 1000000000,
		  "the duration must be at most 7 days" },
		{ o->all && named, "-a does not go with -p or -t" },
		{ o->user_threads && o->kernel_threads, "-u does not go with -k" },
		{ (o->user_threads || o->kernel_threads) && named,
		  "-u and -k are about the whole machine: they do not go with -p or -t" },
		{ o->comm && (named || o->command), "--comm does not go with -p, -t or a command" },
		{ o->command && named, "a command does not go with -p or -t" },
		{ !o->all && !named && !o->command,
		  "nothing to watch: name a process with -p PID, a thread with -t TID, all with -a, or a "
		  "command behind --" },
		{ o->max_ns && o->max_ns < o->min_ns, "-M is smaller than -m: no wait fits" },
		{ o->user_only && o->kernel_only, "-U does not go with -K" },
	};

	for (size_t i = 0; i < ARRAY_CNT(rules); i++)
		if (rules[i].wrong)
			return err_set(err, -EINVAL, "%s", rules[i].why);
	return check_labels(&o->labels, err);
}

static int fill_capture(const struct record_opts *o, struct capture_opts *c, uint32_t **pids,
			uint32_t **tids, struct err *err)
{
	int rc = parse_ids(&o->pids, "process", pids, &c->pid_cnt, err);

	if (!rc)
		rc = parse_ids(&o->tids, "thread", tids, &c->tid_cnt, err);
	if (!rc)
		rc = parse_states(o->state, &c->kind_mask, err);
	c->pids = *pids;
	c->tids = *tids;
	c->all = o->all;
	c->user_threads = o->user_threads;
	c->kernel_threads = o->kernel_threads;
	c->duration_ns = o->duration_ns;
	c->sample_hz = o->sample_hz;
	c->min_ns = o->min_ns;
	c->max_ns = o->max_ns;
	c->sink = o->verify ? SINK_BOTH : o->intervals ? SINK_INTERVALS : SINK_SUMS;
	c->keep_intervals = o->intervals;
	c->per_thread = o->per_thread;
	c->user_stacks = !o->kernel_only;
	c->kernel_stacks = !o->user_only;
	c->frame_pointers = o->unwind == 2;
	c->stack_cnt_max = o->stack_cnt_max;
	c->process_cnt_max = (uint32_t)o->process_cnt_max;
	c->ring_bytes = o->ring_bytes;
	c->btf_path = o->btf;
	c->raw_events = o->raw_path;
	return rc;
}

/* What this user may not see does not stop a capture; it is said before it starts. */
static void print_notes(const struct capture_opts *c)
{
	struct buf notes = { 0 };

	if (!capability_lacking()) /* else there is no capture to be limited */
		capability_put_notes(c->pids, c->pid_cnt, c->kernel_stacks, &notes);
	fputs(buf_str(&notes), stderr);
	buf_free(&notes);
}

static int predict(const struct record_opts *o, const struct capture_opts *c, struct err *err)
{
	struct buf line = { 0 };
	struct rate rate;
	int rc = rate_measure(c, RATE_SPAN_NS, &rate, err);

	if (rc)
		return rc;
	buf_put_grouped(&line, rate.switches_per_s);
	if (rate.cpu_share * 100 > o->max_overhead_percent && !o->force)
		rc = err_set(
			err, -EDQUOT,
			"%s switches/s would cost about %.1f %% of the machine's CPU time, above the "
			"budget of %.1f %%: raise --max-overhead, give --force, or watch less",
			buf_str(&line), rate.cpu_share * 100, o->max_overhead_percent);
	else if (!o->quiet)
		fprintf(stderr,
			"%s switches/s: predicted cost about %.2f %% of the machine's CPU time\n",
			buf_str(&line), rate.cpu_share * 100);
	buf_free(&line);
	return rc;
}

/* The signals that end a capture, as a descriptor: no handler, nothing asynchronous. */
static int open_stop_fd(struct err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? err_errno(err, "signalfd") : fd;
}

static int let_go(void *ctx, struct err *err)
{
	struct record_opts *o = ctx;

	return o->command ? child__go(&o->child, err) : 0;
}

static void show_progress(void *ctx, uint64_t elapsed_ns)
{
	const struct record_opts *o = ctx;

	if (elapsed_ns < PROGRESS_FROM_NS)
		return;
	if (o->duration_ns)
		fprintf(stderr, "\r%.0f of %.0f s ", (double)elapsed_ns / 1e9,
			(double)o->duration_ns / 1e9);
	else
		fprintf(stderr, "\r%.0f s, Ctrl-C ends ", (double)elapsed_ns / 1e9);
}

static void note_origin(struct profile *p, const struct record_opts *o, const char *command)
{
	struct utsname u;

	if (!uname(&u)) {
		p->header.kernel_sid = profile__string(p, u.release);
		p->header.machine_sid = profile__string(p, u.machine);
	}
	p->header.command_sid = profile__string(p, command);
	p->header.version_sid = profile__string(p, CAUSEPROF_VERSION);
	p->header.unit_sid = profile__string(p, "ns");
	for (size_t i = 0; i < o->labels.cnt; i++) {
		const char *eq = strchr(o->labels.items[i], '=');
		char *key = xstrndup(o->labels.items[i], (size_t)(eq - o->labels.items[i]));

		profile__add_label(p, key, eq + 1);
		free(key);
	}
}

static int save_raw(const struct session *s, const char *path, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	session__put_raw(s, &text);
	rc = outfile_put(path, OUTFILE_REPLACE, buf_str(&text), text.len_bytes, err);
	buf_free(&text);
	return rc;
}

static int check_raw(const char *path, struct err *err)
{
	struct outfile *f = NULL;
	int rc = outfile_open(path, OUTFILE_REPLACE, &f, err);

	outfile_close(f);
	return rc;
}

static int capture(struct record_opts *o, const struct capture_opts *c, int stop_fd,
		   struct profile **ret, struct err *err)
{
	/* a command has the terminal for itself */
	bool terminal = isatty(STDERR_FILENO) && !o->quiet && !o->command;
	struct session_watch watch = { .stop_fd = stop_fd,
				       .end_fd = o->command ? o->child.pidfd : -1,
				       .opened = let_go,
				       .tick = terminal ? show_progress : NULL,
				       .ctx = o };
	struct session *s = NULL;
	int rc = session__open(c, &s, err);

	if (!rc)
		rc = session__run(s, &watch, err);
	if (terminal)
		fputs("\r                         \r", stderr);
	if (!rc)
		rc = session__result(s, ret, err);
	if (!rc && o->raw_path)
		rc = save_raw(s, o->raw_path, err);
	session__close(s);
	return rc;
}

static bool lost_data(const struct profile *p)
{
	for (int i = 0; i < LOSS_CAUSE_MAX; i++)
		if (p->losses[i].events && i != LOSS_WAKEUP_UNSEEN && i != LOSS_WALK_STOPPED)
			return true;
	return false;
}

static int fill_outputs(const struct record_opts *o, struct output_opts *out, struct err *err)
{
	*out = (struct output_opts){
		.path = o->output ? o->output :
			o->folded ? NULL :
				    "causeprof.cprof",
		/* the default names are ours to replace, as perf.data is perf's */
		.replace = o->replace || !o->output,
		.picture = o->picture,
		.summary = !o->quiet,
		.folded = o->folded,
	};
	if (o->kinds && fold_parse_kinds(o->kinds, &out->form.opts.kinds, err))
		return -EINVAL;
	out->form.show_kinds = out->form.opts.kinds & (out->form.opts.kinds - 1);
	out->form.opts.flags =
		(o->annotate ? FOLD_SUFFIXES : 0) | (o->delimiter ? FOLD_DELIMITER : 0);
	return 0;
}

/* Starts the command, which then waits to be let go, and makes it what is watched. */
static int start_command(struct record_opts *o, struct capture_opts *c, uint32_t **pids,
			 struct err *err)
{
	size_t cap = 0;
	int rc = child__start(o->command, &o->child, err);

	if (rc || o->all)
		return rc;
	*pids = xgrow(*pids, &cap, 1, sizeof(**pids));
	(*pids)[0] = (uint32_t)o->child.pid;
	c->pids = *pids;
	c->pid_cnt = 1;
	return 0;
}

/* Processes that have the name are named one by one; those that get it later are not. */
static int find_named(const struct record_opts *o, struct capture_opts *c, uint32_t **pids,
		      struct err *err)
{
	int rc = o->comm ? process_names_match(o->comm, pids, &c->pid_cnt, err) : 0;

	c->pids = *pids;
	c->all = o->all && !o->comm;
	return rc;
}

/* The capture, from a look at what it will cost to its files. */
static int record_to(struct record_opts *o, struct capture_opts *c, const struct output_opts *out,
		     const char *command, int stop_fd, struct err *err)
{
	struct profile *p = NULL;
	int rc = 0, status = STATUS_FAILED;

	if (o->all || !o->command) /* what a command will do is not known yet */
		rc = predict(o, c, err);
	if (!rc)
		print_notes(c);
	if (!rc)
		rc = capture(o, c, stop_fd, &p, err);
	if (!rc) {
		note_origin(p, o, command);
		rc = capture_output__put(p, out, err);
	}
	if (!rc)
		status = o->strict && lost_data(p) ? STATUS_LOST : STATUS_DONE;
	profile__free(p);
	return status;
}

/* The command goes on to its end, whatever became of the capture; its status is ours if we have done well. */
static int end_command(struct record_opts *o, int stop_fd, int status)
{
	int command_status;

	if (o->child.failed)
		status = CHILD_NOT_EXECUTED;
	else if (o->child.go_fd < 0) {
		command_status = child__wait(&o->child, stop_fd);
		if (status == STATUS_DONE)
			status = command_status;
	}
	child__close(&o->child);
	return status;
}

static int record(struct record_opts *o, const char *command, struct err *err)
{
	struct output_opts out;
	struct capture_opts c = { 0 };
	uint32_t *pids = NULL, *tids = NULL;
	int rc = fill_outputs(o, &out, err), status, stop_fd = -1;
	bool started = false;

	if (!rc)
		rc = fill_capture(o, &c, &pids, &tids, err);
	status = rc ? STATUS_USAGE : STATUS_FAILED;
	if (!rc) /* before the capture: after it a file in the way would cost the capture */
		rc = capture_output__check(&out, err);
	if (!rc && o->raw_path)
		rc = check_raw(o->raw_path, err);
	if (!rc)
		rc = find_named(o, &c, &pids, err);
	if (!rc && o->command) {
		rc = start_command(o, &c, &pids, err);
		started = !rc;
	}
	if (!rc) {
		stop_fd = open_stop_fd(err);
		rc = stop_fd < 0 ? stop_fd : 0;
	}
	if (!rc)
		status = record_to(o, &c, &out, command, stop_fd, err);
	if (started)
		status = end_command(o, stop_fd, status);
	if (stop_fd >= 0)
		close(stop_fd);
	free(pids);
	free(tids);
	return status;
}

static char *join(int argc, char **argv)
{
	struct buf words = { 0 };

	for (int i = 0; i < argc; i++)
		buf_printf(&words, "%s%s", i ? " " : "", argv[i]);
	return buf_take(&words);
}

static int run(int argc, char **argv, struct err *err)
{
	struct record_opts o = { .picture = true, .max_overhead_percent = 5 };
	struct opt_operands operands;
	char *command = join(argc, argv);
	int status = STATUS_USAGE;

	o.duration_ns = UINT64_MAX;
	if (!opt_parse(options, argc, argv, &o, &operands, err) &&
	    !parse_operands(&o, &operands, err)) {
		bool has_duration = o.duration_ns != UINT64_MAX;

		if (!has_duration)
			o.duration_ns = 0;
		if (!names_targets(&o))
			o.all = o.all || o.user_threads || o.kernel_threads || o.comm;
		if (!check(&o, has_duration, err))
			status = record(&o, command, err);
	}
	opt_list_free(&o.pids);
	opt_list_free(&o.tids);
	opt_list_free(&o.labels);
	free(command);
	return status;
}

const struct command command_record = {
	.name = "record",
	.usage = "[OPTIONS] -p PID [DURATION] | [OPTIONS] -- COMMAND [ARG]...",
	.summary = "Capture where the time of threads goes: running, runnable, blocked",
	.options = options,
	.run = run,
};
