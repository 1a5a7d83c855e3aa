/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof doctor: what this kernel and this user can do, by trying. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "gen/version.h"
#include "user/base/buf.h"
#include "user/base/json.h"
#include "user/capture/doctor.h"
#include "user/cmd/command.h"

struct doctor_opts {
	bool json;
};

static const struct opt options[] = {
	{ "json", 0, OPT_FLAG, offsetof(struct doctor_opts, json), NULL, "Print JSON" },
	{ 0 },
};

static void put_table(const struct doctor *d, const struct utsname *u, struct buf *out)
{
	buf_printf(out, "causeprof " CAUSEPROF_VERSION ", Linux %s %s\n", u->release, u->machine);
	for (size_t i = 0; i < d->cnt; i++) {
		const struct doctor_finding *f = &d->findings[i];

		buf_printf(out, "%-20s %-8s %s", f->name, doctor_state_word(f->state),
			   buf_str(&f->detail));
		if (f->state != DOCTOR_OK)
			buf_printf(out, "; costs: %s; way out: %s", f->cost, f->way_out);
		buf_putc(out, '\n');
	}
	buf_puts(out,
		 d->capture_possible ? "A capture is possible.\n" : "A capture is not possible.\n");
}

static void put_json(const struct doctor *d, const struct utsname *u, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_begin_object(&j, NULL);
	json_str(&j, "version", CAUSEPROF_VERSION);
	json_str(&j, "kernel", u->release);
	json_str(&j, "machine", u->machine);
	json_bool(&j, "capture_possible", d->capture_possible);
	json_begin_array(&j, "findings");
	for (size_t i = 0; i < d->cnt; i++) {
		const struct doctor_finding *f = &d->findings[i];

		json_begin_object(&j, NULL);
		json_str(&j, "name", f->name);
		json_str(&j, "state", doctor_state_word(f->state));
		json_str(&j, "detail", buf_str(&f->detail));
		json_str(&j, "cost", f->state == DOCTOR_OK ? NULL : f->cost);
		json_str(&j, "way_out", f->state == DOCTOR_OK ? NULL : f->way_out);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	buf_putc(out, '\n');
}

static int run(int argc, char **argv, struct err *err)
{
	struct doctor_opts o = { 0 };
	struct opt_operands operands;
	struct utsname u = { 0 };
	struct buf out = { 0 };
	struct doctor d;
	int status;

	if (opt_parse(options, argc, argv, &o, &operands, err))
		return STATUS_USAGE;
	if (operands.argc) {
		err_set(err, -EINVAL, "unexpected argument '%s'", operands.argv[0]);
		return STATUS_USAGE;
	}
	uname(&u);
	doctor__examine(&d);
	if (o.json)
		put_json(&d, &u, &out);
	else
		put_table(&d, &u, &out);
	fputs(buf_str(&out), stdout);
	status = d.capture_possible ? STATUS_DONE : STATUS_FAILED;
	buf_free(&out);
	doctor__free(&d);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[OPTIONS]",
	.summary = "What this kernel and this user can do",
	.details =
		"Each thing that a capture needs is tried: one line each, with what its absence costs\n"
		"and the way out. \"limited\" costs a part of the result, \"missing\" the capture. Exits\n"
		"with 0 if a capture is possible, else with 1.\n\n"
		"Instead of root these capabilities do: CAP_BPF and CAP_PERFMON for the capture,\n"
		"CAP_SYS_PTRACE for the stacks and names of other users' processes, CAP_SYSLOG for the\n"
		"names of kernel functions.",
	.options = options,
	.run = run,
};
