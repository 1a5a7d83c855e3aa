/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof report --json; see report.h. Times are nanoseconds; a time that cannot be known is null. */
#include <stdlib.h>
#include <string.h>

#include "user/analysis/totals.h"
#include "user/base/mem.h"
#include "user/model/container.h"
#include "user/cmd/report.h"

static void put_str(struct json *j, const struct profile *p, const char *key, uint32_t sid)
{
	if (sid)
		json_str(j, key, profile__str(p, sid));
}

static void put_header(struct json *j, const struct profile *p)
{
	const struct header *h = &p->header;

	json_begin_object(j, "capture");
	json_u64(j, "window_start_ns", h->window_start_ns);
	json_u64(j, "window_end_ns", h->window_end_ns);
	json_u64(j, "realtime_ns", h->realtime_ns);
	json_u64(j, "sample_period_ns", h->sample_period_ns);
	json_u64(j, "switch_cnt", h->switch_cnt);
	json_u64(j, "target_switch_cnt", h->target_switch_cnt);
	json_u64(j, "cpu_cnt", h->cpu_cnt);
	put_str(j, p, "kernel", h->kernel_sid);
	put_str(j, p, "machine", h->machine_sid);
	put_str(j, p, "command", h->command_sid);
	put_str(j, p, "version", h->version_sid);
	put_str(j, p, "hook", h->hook_sid);
	put_str(j, p, "filter", h->filter_sid);
	put_str(j, p, "sampling", h->sampling_sid);
	put_str(j, p, "unit", h->unit_sid);
	json_bool(j, "interrupted", h->flags & HEADER_INTERRUPTED);
	json_bool(j, "imported", h->flags & HEADER_IMPORTED);
	json_u64(j, "stolen_ns", h->stolen_ns);
	json_end_object(j);
	json_begin_object(j, "cost");
	json_u64(j, "kernel_ns", h->bpf_ns);
	json_u64(j, "kernel_timed_calls", h->bpf_sampled_cnt);
	json_u64(j, "own_cpu_ns", h->user_cpu_ns);
	json_u64(j, "attach_ns", h->attach_ns);
	json_u64(j, "map_bytes", h->map_bytes);
	json_u64(j, "peak_rss_bytes", h->peak_rss_bytes);
	json_end_object(j);
}

static void put_labels(struct json *j, const struct profile *p)
{
	json_begin_array(j, "labels");
	for (size_t i = 0; i < p->labels.cnt; i++) {
		json_begin_object(j, NULL);
		json_str(j, "key", profile__str(p, p->labels.items[i].key_sid));
		json_str(j, "value", profile__str(p, p->labels.items[i].value_sid));
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_totals(struct json *j, const struct totals *t)
{
	json_begin_object(j, "time");
	json_u64(j, "all_ns", t->all_ns);
	json_u64(j, "running_ns", t->running_ns);
	json_u64(j, "runnable_ns", t->runnable_ns);
	json_u64(j, "blocked_ns", t->blocked_ns);
	json_u64(j, "never_ran_ns", t->asleep_ns);
	json_u64(j, "other_ns", t->other_ns);
	json_u64(j, "filtered_ns", t->filtered_ns);
	json_u64(j, "not_sampled_ns", t->not_sampled_ns);
	json_u64(j, "cut_ns", t->cut_ns);
	json_u64(j, "sample_cnt", t->sample_cnt);
	json_begin_object(j, "kinds");
	for (int kind = 0; kind < KIND_MAX; kind++) {
		if (!t->kind_ns[kind] && !t->kind_cnt[kind])
			continue;
		json_begin_object(j, model_kind_name(kind));
		json_u64(j, "ns", t->kind_ns[kind]);
		json_u64(j, "cnt", t->kind_cnt[kind]);
		json_end_object(j);
	}
	json_end_object(j);
	json_end_object(j);
	json_begin_object(j, "books");
	json_u64(j, "thread_cnt", t->thread_cnt);
	json_u64(j, "never_ran_cnt", t->asleep_cnt);
	json_u64(j, "lifetime_ns", t->wall_ns);
	json_u64(j, "residue_ns", t->residue_ns);
	json_u64(j, "residue_thread_cnt", t->residue_cnt);
	json_u64(j, "witness_thread_cnt", t->witness_cnt);
	json_u64(j, "witness_running_ns", t->witness_running_ns);
	json_u64(j, "witness_runnable_ns", t->witness_runnable_ns);
	json_u64(j, "witnessed_running_ns", t->witnessed_running_ns);
	json_u64(j, "witnessed_runnable_ns", t->witnessed_runnable_ns);
	json_end_object(j);
}

static void put_ns_or_null(struct json *j, const char *key, uint64_t ns)
{
	if (ns == UINT64_MAX)
		json_str(j, key, NULL);
	else
		json_u64(j, key, ns);
}

static void put_losses(struct json *j, const struct profile *p)
{
	json_begin_array(j, "lost");
	for (int i = 0; i < LOSS_SLOTS_CNT; i++) {
		const struct loss *l = &p->losses[i];

		if (!l->events && !l->ns)
			continue;
		json_begin_object(j, NULL);
		json_u64(j, "cause_number", (uint64_t)i);
		json_str(j, "cause", model_loss_cause(i));
		json_u64(j, "events", l->events);
		put_ns_or_null(j, "ns", l->ns);
		json_end_object(j);
	}
	json_end_array(j);
}

/* What is only told where it differs from what everybody has. */
static void put_inside(struct json *j, const struct profile *p, const struct thread *t)
{
	const struct process *pr = &p->processes.items[t->process];
	const char *cgroup = profile__str(p, pr->cgroup_sid);
	struct buf container = { 0 };

	if (t->ns_tid && t->ns_tid != t->tid)
		json_u64(j, "tid_inside", t->ns_tid);
	if (pr->ns_pid && pr->ns_pid != pr->pid)
		json_u64(j, "pid_inside", pr->ns_pid);
	if (*cgroup && strcmp(cgroup, "/")) {
		json_str(j, "cgroup", cgroup);
		if (container_name(cgroup, &container))
			json_str(j, "container", buf_str(&container));
	}
	buf_free(&container);
}

static void put_threads(struct json *j, const struct profile *p)
{
	json_begin_array(j, "threads");
	for (size_t i = 1; i < p->threads.cnt; i++) {
		const struct thread *t = &p->threads.items[i];

		json_begin_object(j, NULL);
		json_u64(j, "tid", t->tid);
		json_u64(j, "pid", p->processes.items[t->process].pid);
		put_inside(j, p, t);
		json_str(j, "name", profile__str(p, t->comm_sid));
		json_u64(j, "lifetime_ns", t->last_ns - t->first_ns);
		json_u64(j, "running_ns", t->running_ns);
		json_u64(j, "runnable_ns", t->runnable_ns);
		json_u64(j, "blocked_ns", t->blocked_ns);
		if (!(t->flags & THREAD_NO_WITNESS)) {
			json_u64(j, "kernel_running_ns", t->kernel_running_ns);
			json_u64(j, "kernel_runnable_ns", t->kernel_runnable_ns);
		}
		json_u64(j, "voluntary_cnt", t->voluntary_cnt);
		json_u64(j, "involuntary_cnt", t->involuntary_cnt);
		json_u64(j, "sample_cnt", t->sample_cnt);
		json_bool(j, "born", t->flags & THREAD_BORN);
		json_bool(j, "died", t->flags & THREAD_DIED);
		json_bool(j, "never_ran", t->flags & THREAD_ASLEEP_THROUGHOUT);
		json_end_object(j);
	}
	json_end_array(j);
}

struct ranked {
	const struct fold_row *row;
	size_t at;
};

static int compare_rows(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->row->ns != y->row->ns)
		return x->row->ns > y->row->ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void put_stack(struct json *j, const struct fold *f, const struct fold_row *r,
		      uint64_t sample_cnt)
{
	uint32_t *path = NULL;
	size_t depth = 0, cap = 0;

	json_begin_object(j, NULL);
	json_u64(j, "ns", r->ns);
	json_u64(j, "cnt", r->cnt);
	json_str(j, "kind", model_kind_name(r->kind));
	if (r->kind == KIND_RUNNING && !(r->flags & PART_NOT_SAMPLED))
		json_u64(j, "uncertainty_ns", totals_uncertainty_ns(r->ns, r->cnt, sample_cnt));
	for (uint32_t n = r->node; n; n = f->names.nodes[n].parent) {
		if (depth == cap)
			path = xgrow(path, &cap, depth + 1, sizeof(*path));
		path[depth++] = n;
	}
	json_begin_array(j, "stack");
	while (depth)
		json_str(j, NULL, nametree_name(&f->names, path[--depth]));
	json_end_array(j);
	json_end_object(j);
	free(path);
}

/* The stacks with most time, of all kinds together. */
static void put_stacks(struct json *j, const struct profile *p, const struct report_opts *o,
		       uint64_t sample_cnt)
{
	struct ranked *ranks;
	struct fold f;

	fold_init(&f, p, &o->fold);
	ranks = xcalloc(f.row_cnt + 1, sizeof(*ranks));
	for (size_t i = 0; i < f.row_cnt; i++)
		ranks[i] = (struct ranked){ &f.rows[i], i };
	if (f.row_cnt)
		qsort(ranks, f.row_cnt, sizeof(*ranks), compare_rows);
	json_begin_array(j, "stacks");
	for (size_t i = 0; i < f.row_cnt && i < o->top_cnt; i++)
		put_stack(j, &f, ranks[i].row, sample_cnt);
	json_end_array(j);
	json_u64(j, "stack_cnt", f.row_cnt);
	free(ranks);
	fold_free(&f);
}

void report__put_json(const struct profile *p, const struct report_opts *o, struct buf *out)
{
	struct totals t;
	struct json j;

	totals_init(&t, p);
	json_init(&j, out);
	json_begin_object(&j, NULL);
	put_header(&j, p);
	put_labels(&j, p);
	put_totals(&j, &t);
	put_losses(&j, p);
	put_stacks(&j, p, o, t.sample_cnt);
	put_threads(&j, p);
	report__json_unnamed(p, &j);
	if (p->header.slice_ns)
		report__json_slices(p, &j);
	if (o->tree)
		report__json_tree(p, o, &j);
	json_end_object(&j);
}
