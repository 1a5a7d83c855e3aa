/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile__check: what must hold in every profile, whoever made it. */
#include <errno.h>

#include "user/base/mem.h"
#include "user/model/profile.h"

/* One reference: the number at hand and how many elements the table it points into has. */
struct ref {
	const char *field;
	uint64_t value;
	size_t cnt;
};

static int check_refs(const char *table, size_t at, const struct ref *refs, size_t ref_cnt,
		      struct err *err)
{
	for (size_t i = 0; i < ref_cnt; i++)
		if (refs[i].value >= refs[i].cnt)
			return err_set(err, -EINVAL, "%s %zu: %s %llu does not exist", table, at,
				       refs[i].field, (unsigned long long)refs[i].value);
	return 0;
}

static int check_order(const char *table, size_t at, uint64_t start, uint64_t end, struct err *err)
{
	if (start <= end)
		return 0;
	return err_set(err, -EINVAL, "%s %zu: its start %llu lies behind its end %llu", table, at,
		       (unsigned long long)start, (unsigned long long)end);
}

static int check_header(const struct profile *p, struct err *err)
{
	const struct header *h = &p->header;
	const size_t cnt = p->strings.cnt;
	const struct ref refs[] = {
		{ "kernel", h->kernel_sid, cnt },     { "machine", h->machine_sid, cnt },
		{ "command", h->command_sid, cnt },   { "version", h->version_sid, cnt },
		{ "hook", h->hook_sid, cnt },	      { "filter", h->filter_sid, cnt },
		{ "sampling", h->sampling_sid, cnt }, { "unit", h->unit_sid, cnt },
	};
	int rc = check_refs("header", 0, refs, ARRAY_CNT(refs), err);

	return rc ? rc : check_order("window", 0, h->window_start_ns, h->window_end_ns, err);
}

static int check_mappings(const struct profile *p, struct err *err)
{
	for (size_t i = 1; i < p->mappings.cnt; i++) {
		const struct mapping *m = &p->mappings.items[i];
		const struct ref refs[] = {
			{ "path", m->path_sid, p->strings.cnt },
			{ "tried", m->tried_sid, p->strings.cnt },
			{ "process", m->process, p->processes.cnt },
			{ "build id of length", m->build_id_bytes, BUILD_ID_MAX_BYTES + 1 },
		};
		int rc = check_refs("mapping", i, refs, ARRAY_CNT(refs), err);

		if (!rc)
			rc = check_order("mapping", i, m->start, m->end, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_frames(const struct profile *p, struct err *err)
{
	for (size_t i = 1; i < p->frames.cnt; i++) {
		const struct frame *f = &p->frames.items[i];
		const struct ref refs[] = {
			{ "mapping", f->mapping, p->mappings.cnt },
			{ "name", f->name_sid, p->strings.cnt },
			{ "module", f->module_sid, p->strings.cnt },
			{ "file", f->file_sid, p->strings.cnt },
		};
		int rc = check_refs("frame", i, refs, ARRAY_CNT(refs), err);

		if (rc)
			return rc;
	}
	return 0;
}

static int check_stacks(const struct profile *p, struct err *err)
{
	for (size_t i = 1; i < p->stacks.cnt; i++) {
		const struct stack *s = &p->stacks.items[i];
		const struct ref refs[] = {
			{ "parent", s->parent, i }, /* before its child: no cycles */
			{ "frame", s->frame, p->frames.cnt },
		};
		int rc = check_refs("stack", i, refs, ARRAY_CNT(refs), err);

		if (rc)
			return rc;
		if (!s->frame)
			return err_set(err, -EINVAL, "stack %zu: it has no frame", i);
	}
	return 0;
}

static int check_processes(const struct profile *p, struct err *err)
{
	for (size_t i = 1; i < p->processes.cnt; i++) {
		const struct process *pr = &p->processes.items[i];
		const struct ref refs[] = {
			{ "comm", pr->comm_sid, p->strings.cnt },
			{ "exe", pr->exe_sid, p->strings.cnt },
			{ "cgroup", pr->cgroup_sid, p->strings.cnt },
		};
		int rc = check_refs("process", i, refs, ARRAY_CNT(refs), err);

		if (rc)
			return rc;
	}
	return 0;
}

static int check_threads(const struct profile *p, struct err *err)
{
	for (size_t i = 1; i < p->threads.cnt; i++) {
		const struct thread *t = &p->threads.items[i];
		const struct ref refs[] = {
			{ "process", t->process, p->processes.cnt },
			{ "comm", t->comm_sid, p->strings.cnt },
		};
		int rc = check_refs("thread", i, refs, ARRAY_CNT(refs), err);

		if (!rc)
			rc = check_order("thread", i, t->first_ns, t->last_ns, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_sums(const struct profile *p, struct err *err)
{
	for (size_t i = 0; i < p->sums.cnt; i++) {
		const struct sum *s = &p->sums.items[i];
		const struct ref refs[] = {
			{ "stack", s->stack, p->stacks.cnt },
			{ "process", s->process, p->processes.cnt },
			{ "thread", s->thread, p->threads.cnt },
			{ "gate", s->gate, p->strings.cnt },
		};
		int rc = check_refs("sum", i, refs, ARRAY_CNT(refs), err);

		if (rc)
			return rc;
	}
	return 0;
}

static int check_intervals(const struct profile *p, struct err *err)
{
	for (size_t i = 0; i < p->intervals.cnt; i++) {
		const struct interval *iv = &p->intervals.items[i];
		const struct ref refs[] = {
			{ "thread", iv->thread, p->threads.cnt },
			{ "stack", iv->stack, p->stacks.cnt },
			{ "waker", iv->waker, p->threads.cnt },
			{ "waker stack", iv->waker_stack, p->stacks.cnt },
			{ "request", iv->request, p->requests.cnt + 1 },
		};
		int rc = check_refs("interval", i, refs, ARRAY_CNT(refs), err);

		if (!rc)
			rc = check_order("interval", i, iv->start_ns, iv->end_ns, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_requests(const struct profile *p, struct err *err)
{
	for (size_t i = 0; i < p->requests.cnt; i++) {
		const struct request *r = &p->requests.items[i];
		const struct ref refs[] = {
			{ "thread", r->thread, p->threads.cnt },
			{ "gate", r->gate, p->strings.cnt },
			{ "label", r->label_sid, p->strings.cnt },
		};
		int rc = check_refs("request", i + 1, refs, ARRAY_CNT(refs), err);

		if (!rc)
			rc = check_order("request", i + 1, r->start_ns, r->end_ns, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_messages(const struct profile *p, struct err *err)
{
	for (size_t i = 0; i < p->messages.cnt; i++) {
		const struct message *m = &p->messages.items[i];
		const struct ref refs[] = {
			{ "thread", m->thread, p->threads.cnt },
			{ "endpoint", m->endpoint, p->strings.cnt },
		};
		int rc = check_refs("message", i, refs, ARRAY_CNT(refs), err);

		if (!rc)
			rc = check_order("message", i, m->call_ns, m->time_ns, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_labels(const struct profile *p, struct err *err)
{
	for (size_t i = 0; i < p->labels.cnt; i++) {
		const struct label *l = &p->labels.items[i];
		const struct ref refs[] = {
			{ "key", l->key_sid, p->strings.cnt },
			{ "value", l->value_sid, p->strings.cnt },
		};
		int rc = check_refs("label", i, refs, ARRAY_CNT(refs), err);

		if (rc)
			return rc;
	}
	return 0;
}

int profile__check(const struct profile *p, struct err *err)
{
	static int (*const checks[])(const struct profile *, struct err *) = {
		check_header,	 check_mappings, check_frames, check_stacks,
		check_processes, check_threads,	 check_sums,   check_intervals,
		check_requests,	 check_messages, check_labels,
	};

	if (!p->strings.cnt || !p->mappings.cnt || !p->frames.cnt || !p->stacks.cnt ||
	    !p->processes.cnt || !p->threads.cnt)
		return err_set(err, -EINVAL, "a table lacks its entry 0");
	for (size_t i = 0; i < ARRAY_CNT(checks); i++) {
		int rc = checks[i](p, err);

		if (rc)
			return rc;
	}
	return 0;
}
