/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen after a capture; see summary.h. */
#include "user/cmd/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "user/analysis/fold.h"
#include "user/analysis/totals.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/model/container.h"
#include "user/cmd/columns_text.h"

enum {
	LABEL_COLS = 19,
	TIME_COLS = 9,
	SHARE_COLS = 8,
	WIDTH_MIN = 60,
	STOLEN_MIN_NS = 20000000,
};

struct screen {
	const struct profile *p;
	struct totals t;
	size_t width, top_cnt;
	struct buf *out;
	bool is_time; /* not the unit of an imported profile */
};

static void put_count(struct buf *out, uint64_t cnt, const char *one, const char *several)
{
	buf_put_grouped(out, cnt);
	buf_printf(out, " %s", cnt == 1 ? one : several);
}

static const char *unit_of(const struct profile *p)
{
	const char *unit = profile__str(p, p->header.unit_sid);

	return *unit ? unit : "ns";
}

/* A value of the profile in its unit. */
static void put_value(struct screen *s, uint64_t v, size_t cols)
{
	struct buf text = { 0 };

	if (s->is_time)
		buf_put_duration(&text, v);
	else
		buf_put_grouped(&text, v);
	put_right(s->out, buf_str(&text), cols);
	buf_free(&text);
}

static void put_container(const struct profile *p, const struct process *pr, struct buf *out)
{
	struct buf name = { 0 };

	if (container_name(profile__str(p, pr->cgroup_sid), &name)) {
		buf_puts(out, ", container ");
		put_cut(out, buf_str(&name), 32);
	}
	buf_free(&name);
}

static void put_processes(const struct profile *p, struct buf *out)
{
	size_t cnt;
	const struct process *first = &p->processes.items[totals_main_process(p, &cnt)];

	if (first == p->processes.items)
		return;
	put_cut(out, profile__str(p, first->comm_sid), 32);
	buf_printf(out, " (%" PRIu32, first->pid);
	if (first->ns_pid && first->ns_pid != first->pid)
		buf_printf(out, ", %" PRIu32 " inside", first->ns_pid);
	put_container(p, first, out);
	buf_putc(out, ')');
	if (cnt > 1) {
		buf_puts(out, " and ");
		put_count(out, cnt - 1, "more process", "more processes");
	}
}

void summary__put_title(const struct profile *p, struct buf *out)
{
	uint64_t window_ns = p->header.window_end_ns - p->header.window_start_ns;
	size_t thread_cnt = 0, start = out->len_bytes;

	for (size_t i = 1; i < p->threads.cnt; i++)
		thread_cnt += !(p->threads.items[i].flags & THREAD_IDLE);
	put_processes(p, out);
	if (out->len_bytes > start)
		buf_puts(out, ": ");
	if (window_ns)
		buf_put_duration(out, window_ns);
	else
		buf_puts(out, p->header.flags & HEADER_IMPORTED ? "imported profile" :
								  "profile without a window");
	if (thread_cnt) {
		buf_puts(out, ", ");
		put_count(out, thread_cnt, "thread", "threads");
	}
	if (p->header.flags & HEADER_INTERRUPTED)
		buf_puts(out, ", interrupted");
}

static void put_machine(struct screen *s)
{
	const struct header *h = &s->p->header;
	struct buf line = { 0 };

	if (h->cpu_cnt)
		put_count(&line, h->cpu_cnt, "CPU", "CPUs");
	if (h->kernel_sid)
		buf_printf(&line, "%sLinux %s %s", line.len_bytes ? ", " : "",
			   profile__str(s->p, h->kernel_sid), profile__str(s->p, h->machine_sid));
	for (size_t i = 0; i < s->p->labels.cnt; i++)
		buf_printf(&line, "%s%s=%s", line.len_bytes ? ", " : "",
			   profile__str(s->p, s->p->labels.items[i].key_sid),
			   profile__str(s->p, s->p->labels.items[i].value_sid));
	if (line.len_bytes) {
		buf_puts(s->out, "  ");
		put_cut(s->out, buf_str(&line), s->width - 2);
		buf_putc(s->out, '\n');
	}
	buf_free(&line);
}

/* One class: its name, time, share, what the kernel says (UINT64_MAX: nothing), a bar. */
static void put_class(struct screen *s, const char *name, uint64_t ns, uint64_t witness_ns)
{
	size_t used = LABEL_COLS + TIME_COLS + SHARE_COLS + TIME_COLS + 6;

	put_left(s->out, name, LABEL_COLS);
	put_value(s, ns, TIME_COLS);
	put_share(s->out, ns, s->t.all_ns, SHARE_COLS);
	buf_puts(s->out, "  ");
	if (s->is_time && witness_ns != UINT64_MAX)
		put_duration_right(s->out, witness_ns, TIME_COLS);
	else
		put_right(s->out, "", s->is_time ? TIME_COLS : 0);
	buf_puts(s->out, "  ");
	put_bar(s->out, ns, s->t.all_ns, s->width > used + 8 ? s->width - used : 8);
	while (s->out->data[s->out->len_bytes - 1] == ' ')
		s->out->data[--s->out->len_bytes] = '\0';
	buf_putc(s->out, '\n');
}

/* Blocked time by state, in one line, if there is more than sleep. */
static void put_states(struct screen *s)
{
	const char *separator = "  of it ";

	if (s->t.blocked_ns == s->t.kind_ns[KIND_SLEEP])
		return;
	for (int kind = KIND_SLEEP; kind < KIND_MAX; kind++) {
		if (!s->t.kind_ns[kind])
			continue;
		buf_printf(s->out, "%s%s ", separator, model_kind_name(kind));
		put_value(s, s->t.kind_ns[kind], 0);
		separator = ", ";
	}
	buf_putc(s->out, '\n');
}

static void put_classes(struct screen *s)
{
	const struct totals *t = &s->t;
	struct buf name = { 0 };

	put_left(s->out, s->is_time ? "thread time" : unit_of(s->p), LABEL_COLS);
	put_value(s, t->all_ns, TIME_COLS);
	put_right(s->out, "share", SHARE_COLS);
	if (s->is_time && t->witness_cnt)
		put_right(s->out, "kernel's", TIME_COLS + 2);
	buf_putc(s->out, '\n');
	if (t->running_ns || !t->other_ns)
		put_class(s, "running", t->running_ns,
			  t->witness_cnt ? t->witness_running_ns : UINT64_MAX);
	if (t->runnable_ns || !t->other_ns)
		put_class(s, "runnable", t->runnable_ns,
			  t->witness_cnt ? t->witness_runnable_ns : UINT64_MAX);
	if (t->blocked_ns || !t->other_ns)
		put_class(s, "blocked", t->blocked_ns, UINT64_MAX);
	put_states(s);
	if (t->asleep_ns) {
		buf_printf(&name, "never ran, \u00d7%" PRIu64, t->asleep_cnt);
		put_class(s, buf_str(&name), t->asleep_ns, UINT64_MAX);
	}
	if (t->other_ns)
		put_class(s, t->other_ns == t->all_ns ? "all" : "kind not told", t->other_ns,
			  UINT64_MAX);
	buf_free(&name);
}

struct top_row {
	uint64_t ns, cnt;
	uint32_t node;
	size_t at; /* in the order of names, to break ties */
	uint8_t kind, flags;
};

static int compare_tops(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Waits: how many and how long each; samples: how far the estimate may be off. */
static void put_detail(struct screen *s, const struct top_row *r)
{
	struct buf text = { 0 };

	if (!s->is_time) {
		put_right(s->out, "", 2);
		return;
	}
	if (r->flags & PART_NOT_SAMPLED) {
		buf_puts(&text, "exact");
	} else if (!r->cnt) {
		buf_puts(&text, "-"); /* imported: how often is not known */
	} else if (r->kind == KIND_RUNNING) {
		buf_puts(&text, "\u00b1");
		buf_put_duration(&text, totals_uncertainty_ns(r->ns, r->cnt, s->t.sample_cnt));
	} else {
		buf_put_grouped(&text, r->cnt);
		buf_puts(&text, " x");
	}
	put_right(s->out, buf_str(&text), TIME_COLS + 1);
	buf_printf(s->out, " %c ", model_kind_letter(r->kind));
	buf_free(&text);
}

static void put_top_row(struct screen *s, const struct fold *f, const struct top_row *r,
			uint64_t whole, bool show_comm)
{
	const char **names = NULL;
	size_t cnt = 0, cap = 0, at, used;
	size_t start = s->out->len_bytes;
	bool has_comm;

	for (uint32_t n = r->node; n; n = f->names.nodes[n].parent)
		cnt++;
	names = xgrow(names, &cap, cnt + 1, sizeof(*names));
	at = cnt;
	for (uint32_t n = r->node; n; n = f->names.nodes[n].parent)
		names[--at] = nametree_name(&f->names, n);
	has_comm = cnt > 1 && s->p->processes.cnt > 1;
	put_value(s, r->ns, TIME_COLS + 2);
	put_share(s->out, r->ns, whole, SHARE_COLS);
	put_detail(s, r);
	if (has_comm && show_comm) {
		put_cut(s->out, names[0], 16);
		buf_puts(s->out, ": ");
	}
	used = text_cols(s->out->data + start, s->out->len_bytes - start);
	put_stack_line(s->out, names + has_comm, cnt - has_comm,
		       s->width > used + 8 ? s->width - used : 8);
	buf_putc(s->out, '\n');
	free(names);
}

static bool several_names(const struct profile *p)
{
	for (size_t i = 2; i < p->processes.cnt; i++)
		if (p->processes.items[i].comm_sid != p->processes.items[1].comm_sid)
			return true;
	return false;
}

static void put_tops(struct screen *s, const char *title, uint32_t kinds, uint64_t whole)
{
	const struct fold_opts opts = { .kinds = kinds, .flags = FOLD_DELIMITER };
	struct top_row *rows;
	struct fold f;
	size_t cnt = 0;

	if (!whole || !s->top_cnt)
		return;
	fold_init(&f, s->p, &opts);
	rows = xcalloc(f.row_cnt + 1, sizeof(*rows));
	for (size_t i = 0; i < f.row_cnt; i++) {
		const struct fold_row *r = &f.rows[i];

		if (r->flags & PART_ASLEEP_THROUGHOUT)
			continue;
		rows[cnt++] = (struct top_row){ r->ns, r->cnt, r->node, i, r->kind, r->flags };
	}
	qsort(rows, cnt, sizeof(*rows), compare_tops);
	buf_printf(s->out, "%s\n", title);
	for (size_t i = 0; i < cnt && i < s->top_cnt; i++)
		put_top_row(s, &f, &rows[i], whole, several_names(s->p));
	free(rows);
	fold_free(&f);
}

static uint32_t blocked_mask(void)
{
	uint32_t mask = 0;

	for (int kind = 0; kind < KIND_MAX; kind++)
		if (model_kind_is_blocked(kind))
			mask |= 1U << kind;
	return mask;
}

static void put_rate(struct buf *out, uint64_t cnt, uint64_t window_ns)
{
	buf_put_grouped(out, (uint64_t)((double)cnt * 1e9 / (double)window_ns + 0.5));
	buf_puts(out, "/s");
}

/* Running time is the clock's; where the kernel accounts for stolen time, its own numbers are smaller on a busy host. It is
 * counted in ticks of usually 10 ms, one or two of which say nothing. */
static void put_stolen(struct screen *s)
{
	const struct header *h = &s->p->header;
	uint64_t cpus_ns = s->t.window_ns * (h->cpu_cnt ? h->cpu_cnt : 1);

	if (!cpus_ns || h->stolen_ns <= STOLEN_MIN_NS || h->stolen_ns < cpus_ns / 200)
		return;
	buf_puts(s->out, "stolen    ");
	buf_put_duration(s->out, h->stolen_ns);
	buf_puts(s->out, " of all CPUs by the host (");
	put_share(s->out, h->stolen_ns, cpus_ns, 0);
	buf_puts(s->out, "); running time may have some of it that the kernel's has not\n");
}

static void put_trust(struct screen *s)
{
	const struct totals *t = &s->t;
	const struct header *h = &s->p->header;

	if (t->window_ns && (h->target_switch_cnt || h->switch_cnt)) {
		buf_puts(s->out, "switches  ");
		put_rate(s->out, h->target_switch_cnt, t->window_ns);
		buf_puts(s->out, " of these threads, ");
		put_rate(s->out, h->switch_cnt, t->window_ns);
		buf_puts(s->out, " on the machine");
		if (t->sample_cnt) {
			buf_puts(s->out, "; running time from ");
			put_count(s->out, t->sample_cnt, "sample", "samples");
		}
		buf_putc(s->out, '\n');
	}
	put_stolen(s);
	if (!t->thread_cnt)
		return;
	buf_puts(s->out, "books     ");
	if (!t->residue_ns) {
		buf_puts(s->out, "running + runnable + blocked = lifetime in every thread");
	} else {
		buf_puts(s->out, "off by ");
		buf_put_duration(s->out, t->residue_ns);
		buf_puts(s->out, " in ");
		put_count(s->out, t->residue_cnt, "thread", "threads");
	}
	if (t->cut_ns) {
		buf_puts(s->out, "; ");
		buf_put_duration(s->out, t->cut_ns);
		buf_puts(s->out, " cut by the window");
	}
	buf_putc(s->out, '\n');
}

static void put_cost(struct screen *s)
{
	const struct header *h = &s->p->header;
	uint64_t window_ns = s->t.window_ns;

	if (!window_ns || !(h->bpf_ns || h->user_cpu_ns))
		return;
	buf_puts(s->out, "cost      ");
	buf_put_duration(s->out, h->bpf_ns);
	buf_puts(s->out, " in the kernel (");
	put_share(s->out, h->bpf_ns, window_ns * (h->cpu_cnt ? h->cpu_cnt : 1), 0);
	buf_puts(s->out, " of all CPUs), ");
	buf_put_duration(s->out, h->user_cpu_ns);
	buf_puts(s->out, " own CPU, ");
	buf_put_size(s->out, h->map_bytes + h->peak_rss_bytes);
	buf_puts(s->out, ", ");
	buf_put_duration(s->out, h->attach_ns);
	buf_puts(s->out, " to attach\n");
}

static void put_cause(struct buf *out, int cause, const struct loss *l)
{
	buf_printf(out, "%s ", model_loss_cause(cause));
	buf_put_grouped(out, l->events);
	buf_puts(out, " (");
	if (l->ns == UINT64_MAX)
		buf_puts(out, "time unknown");
	else
		buf_put_duration(out, l->ns);
	buf_putc(out, ')');
}

/* Causes with commas; lines are wrapped at width, as far as that is not 0, behind blanks. */
static void put_causes(const struct profile *p, size_t indent, size_t width, struct buf *out)
{
	size_t start = out->len_bytes, line_start = out->len_bytes;

	for (int i = 0; i < LOSS_SLOTS_CNT; i++) {
		struct buf cause = { 0 };

		if (!p->losses[i].events && !p->losses[i].ns)
			continue;
		put_cause(&cause, i, &p->losses[i]);
		if (out->len_bytes > start)
			buf_puts(out, ", ");
		if (width && out->len_bytes > line_start &&
		    indent + out->len_bytes - line_start + cause.len_bytes > width) {
			out->len_bytes--; /* the blank */
			buf_printf(out, "\n%*s", (int)indent, "");
			line_start = out->len_bytes;
		}
		buf_append(out, cause.data, cause.len_bytes);
		buf_free(&cause);
	}
	if (out->len_bytes == start)
		buf_puts(out, "nothing");
}

void summary__put_loss(const struct profile *p, struct buf *out)
{
	put_causes(p, 0, 0, out);
}

static void put_lost(struct screen *s)
{
	if (!s->t.window_ns && !s->t.lost_cnt)
		return;
	buf_puts(s->out, "lost      ");
	put_causes(s->p, 10, s->width, s->out);
	buf_putc(s->out, '\n');
}

void summary__put(const struct profile *p, const struct summary_opts *opts, struct buf *out)
{
	struct screen s = { .p = p, .out = out, .top_cnt = opts->top_cnt };
	const char *unit = unit_of(p);

	s.width = opts->width_cols ? opts->width_cols : SUMMARY_WIDTH_DEFAULT;
	s.width = s.width < WIDTH_MIN ? WIDTH_MIN : s.width;
	s.is_time = !strcmp(unit, "ns");
	totals_init(&s.t, p);
	summary__put_title(p, out);
	buf_putc(out, '\n');
	put_machine(&s);
	put_classes(&s);
	put_tops(&s, "top running", 1U << KIND_RUNNING, s.t.running_ns);
	put_tops(&s, "top blocked", blocked_mask(), s.t.blocked_ns);
	put_tops(&s, "top", 1U << KIND_NONE, s.t.other_ns);
	put_trust(&s);
	put_lost(&s);
	put_cost(&s);
}

size_t summary__terminal_cols(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}
