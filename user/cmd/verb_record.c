/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof record: a capture, its file, its picture, and the summary. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gen/version.h"
#include "user/base/buf.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/base/outfile.h"
#include "user/capture/capability.h"
#include "user/capture/cgroups.h"
#include "user/capture/process_names.h"
#include "user/capture/rate.h"
#include "user/capture/sampler.h"
#include "user/capture/session.h"
#include "user/cmd/capture_output.h"
#include "user/cmd/child.h"
#include "user/cmd/command.h"
#include "user/cmd/record_options.h"

enum {
	RATE_SPAN_NS = 50000000,
	PROGRESS_FROM_NS = 2000000000,
	FILES_MAX = 65536
};

struct recording {
	struct record_opts opts;
	struct child child; /* the command, once it is started */
	int stop_fd;
};

/* What this user may not see does not stop a capture; it is said before it starts. */
static void print_notes(const struct capture_opts *c)
{
	struct buf notes = { 0 };
	uint32_t *others = NULL;
	size_t cnt = 0;

	/* of all that may come, those that are there; with the capability one more closed process is no news */
	if (!capability_held(CAPABILITY_SYS_PTRACE)) {
		if (c->all)
			process_names_match("*", &others, &cnt, NULL);
		for (size_t i = 0; i < c->cgroup_cnt; i++)
			cgroups_list(c->cgroups[i].dir, &others, &cnt);
	}
	if (!capability_lacking()) /* else there is no capture to be limited */
		capability_put_notes(cnt ? others : c->pids, cnt ? cnt : c->pid_cnt,
				     c->kernel_stacks, &notes);
	fputs(buf_str(&notes), stderr);
	free(others);
	buf_free(&notes);
}

static int predict(const struct record_opts *o, struct err *err)
{
	struct buf line = { 0 };
	struct rate rate;
	int rc = rate_measure(&o->capture, RATE_SPAN_NS, &rate, err);

	if (rc)
		return rc;
	buf_put_grouped(&line, rate.switches_per_s);
	if (rate.cpu_share * 100 > o->max_overhead_percent && !o->force)
		rc = err_set(
			err, -EDQUOT,
			"%s switches/s would cost about %.1f %% of the machine's CPU time, above the "
			"budget of %g %%: raise --max-overhead, give --force, or watch less",
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
	struct sigaction hup = { 0 };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN) /* nohup */
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? err_errno(err, "signalfd") : fd;
}

static int let_go(void *ctx, struct err *err)
{
	struct recording *r = ctx;

	return r->opts.command ? child__go(&r->child, err) : 0;
}

static void take_signal(void *ctx)
{
	const struct recording *r = ctx;

	child__signalled(&r->child, r->stop_fd);
}

static void show_progress(void *ctx, uint64_t elapsed_ns)
{
	const struct recording *r = ctx;
	uint64_t duration_ns = r->opts.capture.duration_ns;

	if (elapsed_ns < PROGRESS_FROM_NS)
		return;
	if (duration_ns)
		fprintf(stderr, "\r%.0f of %.0f s ", (double)elapsed_ns / 1e9,
			(double)duration_ns / 1e9);
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

/* The session is the caller's to close, also after an error: late, since the kernel takes its time to let go. */
static int capture(struct recording *r, struct session **session, struct profile **ret,
		   struct err *err)
{
	const struct record_opts *o = &r->opts;
	/* a command has the terminal for itself */
	bool terminal = isatty(STDERR_FILENO) && !o->quiet && !o->command;
	struct session_watch watch = { .stop_fd = r->stop_fd,
				       .interrupted = take_signal,
				       .end_fd = o->command ? r->child.pidfd : -1,
				       .opened = let_go,
				       .tick = terminal ? show_progress : NULL,
				       .ctx = r };
	struct session *s = NULL;
	int rc = session__open(&o->capture, &s, err);

	if (!rc)
		rc = session__run(s, &watch, err);
	if (terminal)
		fputs("\r\033[Klooking up names, Ctrl-C leaves out what is missing", stderr);
	if (!rc)
		rc = session__result(s, ret, err);
	if (terminal)
		fputs("\r\033[K", stderr);
	if (!rc && o->raw_path)
		rc = save_raw(s, o->raw_path, err);
	*session = s;
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
	out->form.opts.flags = (o->annotate ? FOLD_SUFFIXES : 0) |
			       (o->delimiter ? FOLD_DELIMITER : 0) |
			       (o->capture.lines ? FOLD_LINES : 0);
	return 0;
}

/* Sampling takes a descriptor for each CPU, and large machines have more of them than the usual soft limit, which is
 * for programs that know no larger ones. A command has been started by then, with the limit that we got. */
static void raise_file_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= FILES_MAX)
		return;
	r.rlim_cur = r.rlim_max < FILES_MAX ? r.rlim_max : FILES_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &r); /* up to the hard limit is always allowed */
}

/* Starts the command, which then waits to be let go, and makes it what is watched. */
static int start_command(struct recording *r, struct err *err)
{
	int rc = child__start(r->opts.command, &r->child, err);

	if (!rc && !r->opts.capture.all)
		record_opts__watch(&r->opts, (uint32_t)r->child.pid);
	return rc;
}

/* What has ended the capture, or the search for names, is not to end the writing too: only what comes later is. */
static void take_signals(const struct recording *r)
{
	struct pollfd stop = { .fd = r->stop_fd, .events = POLLIN };

	while (poll(&stop, 1, 0) == 1)
		child__signalled(&r->child, r->stop_fd);
}

/* The capture, from a look at what it will cost to its files. */
static int record_to(struct recording *r, const struct output_opts *out, const char *command,
		     struct err *err)
{
	const struct record_opts *o = &r->opts;
	struct session *s = NULL;
	struct profile *p = NULL;
	int rc = 0, status = STATUS_FAILED;

	phases_begin(o->capture.phases, "start, switch rate");
	if (o->capture.all || !o->command) /* what a command will do is not known yet */
		rc = predict(o, err);
	if (!rc)
		print_notes(&o->capture);
	if (!rc)
		rc = capture(r, &s, &p, err);
	if (!rc) {
		note_origin(p, o, command);
		take_signals(r);
		rc = capture_output__put(p, out, err);
	}
	if (!rc)
		status = o->strict && lost_data(p) ? STATUS_LOST : STATUS_DONE;
	session__close(s);
	profile__free(p);
	capture_output__put_phases(o->capture.phases);
	return status;
}

/* The command goes on to its end, whatever became of the capture; its status is ours if we have done well. */
static int end_command(struct recording *r, int status)
{
	int command_status;

	if (r->child.failed)
		status = CHILD_NOT_EXECUTED;
	else if (r->child.go_fd < 0) {
		command_status = child__wait(&r->child, r->stop_fd);
		if (status == STATUS_DONE)
			status = command_status;
	}
	child__close(&r->child);
	return status;
}

static int record(struct recording *r, const char *command, struct err *err)
{
	struct record_opts *o = &r->opts;
	struct output_opts out;
	int rc = fill_outputs(o, &out, err), status = rc ? STATUS_USAGE : STATUS_FAILED;
	struct phases phases = { 0 };
	bool started = false;

	if (o->verbose)
		o->capture.phases = &phases;
	out.phases = o->capture.phases;
	if (!rc) /* before the capture: after it a file in the way would cost the capture */
		rc = capture_output__check(&out, err);
	if (!rc && o->raw_path)
		rc = check_raw(o->raw_path, err);
	if (!rc)
		rc = record_opts__look_up(o, err);
	if (!rc && o->command) {
		rc = start_command(r, err);
		started = !rc;
	}
	raise_file_limit();
	if (!rc) {
		r->stop_fd = open_stop_fd(err);
		rc = r->stop_fd < 0 ? r->stop_fd : 0;
	}
	if (!rc)
		status = record_to(r, &out, command, err);
	if (started)
		status = end_command(r, status);
	if (r->stop_fd >= 0)
		close(r->stop_fd);
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
	struct recording r = { .stop_fd = -1 };
	char *command = join(argc, argv); /* before the parser permutes argv */
	int status = STATUS_USAGE;

	if (!record_opts__parse(&r.opts, argc, argv, err))
		status = record(&r, command, err);
	record_opts__free(&r.opts);
	free(command);
	return status;
}

const struct command command_record = {
	.name = "record",
	.usage = "[OPTIONS] -p PID [DURATION] | [OPTIONS] -- COMMAND [ARG]...",
	.summary = "Capture where the time of threads goes: running, runnable, blocked",
	.options = record_options,
	.run = run,
};
