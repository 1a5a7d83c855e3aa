/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading of traces on all cores. Each thread takes the next file, or, if there is none left, traces that
 * another thread read: a reader hands a trace over only while somebody is idle, else it analyses the trace
 * itself. The sum does not depend on who did what. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/analysis/ccct_encode.h"
#include "user/analysis/opportunity.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/critical.h"
#include "user/exchange/spans.h"

enum {
	QUEUE_TRACES = 64,
	QUEUE_SPANS = 32 * 1024,
	NOTES_KEPT = 40,
	PROGRESS_EVERY_S = 1,
};

struct queued {
	struct trace trace;
	uint32_t file;
};

struct crew {
	const struct critical_options *options;
	struct spans_files files;
	pthread_mutex_t lock;
	pthread_cond_t work;
	size_t next_file, idle, reading;
	struct queued queue[QUEUE_TRACES]; /* a stack: order does not matter */
	size_t queue_cnt, queue_spans;
	bool stop;
	struct err err; /* of the file that comes first */
	size_t err_file;
	uint64_t traces_done;
	bool progress;
	time_t progress_at;
};

struct worker {
	pthread_t thread;
	struct crew *crew;
	struct critical_run run;
	struct spantree tree;
	struct critpath path;
	struct opportunity opportunity;
	uint32_t file; /* being read */
};

enum critpath_rule critical_rule(const struct critical_options *o)
{
	return o->crisp2022   ? CRITPATH_CRISP2022 :
	       o->jaeger_ties ? CRITPATH_JAEGER :
	       o->exact	      ? CRITPATH_EXACT :
				CRITPATH_SECTIONS;
}

void critical_tree_options(const struct critical_options *o, struct spantree_options *ret)
{
	*ret = (struct spantree_options){
		.entry_service = o->service,
		.entry_operation = o->operation,
		.first_root = o->first_root || o->crisp2022,
		.no_shift = o->no_shift || o->crisp2022 || o->jaeger_ties,
		.drop_around = o->crisp2022,
		.max_shift_ns =
			(int64_t)(o->max_shift_ns < (UINT64_C(1) << 41) ? o->max_shift_ns :
									  UINT64_C(1) << 41),
	};
}

static int by_place(const void *a, const void *b)
{
	const struct critical_note *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->trace != y->trace)
		return x->trace < y->trace ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void trim_notes(struct critical_notes *n)
{
	if (n->cnt)
		qsort(n->items, n->cnt, sizeof(*n->items), by_place);
	while (n->cnt > NOTES_KEPT)
		free(n->items[--n->cnt].text);
}

static void add_note(struct critical_notes *n, struct critical_note note)
{
	n->items = xgrow(n->items, &n->cap, n->cnt + 1, sizeof(*n->items));
	n->items[n->cnt++] = note;
	if (n->cnt > 4 * NOTES_KEPT)
		trim_notes(n);
}

static char *note_text(const struct trace *t, const struct tree_note *n)
{
	const struct span *s = &t->spans[n->span];
	struct buf b = { 0 };

	buf_printf(&b, "trace %s: span %s ([%s] %s): %s", trace__str(t, t->id_sid),
		   trace__str(t, s->id_sid), trace__str(t, s->service_sid),
		   trace__str(t, s->operation_sid), tree_note_name(n->kind));
	if (n->kind == TREE_ORPHAN)
		buf_printf(&b, " (%s)", trace__str(t, s->parent_sid));
	if (n->amount_ns) {
		buf_puts(&b, n->kind == TREE_OUTSIDE ? " (" : n->amount_ns < 0 ? " by -" : " by ");
		buf_put_duration(&b, (uint64_t)llabs(n->amount_ns));
		buf_puts(&b, n->kind == TREE_OUTSIDE ? ")" : "");
	}
	return buf_take(&b);
}

static void keep_notes(struct worker *w, const struct trace *t, uint32_t file)
{
	struct critical_notes *kept = &w->run.notes;

	for (size_t i = 0; i < w->tree.notes_cnt; i++) {
		struct critical_note note = { file, t->ordinal, (uint32_t)i, NULL };

		if (kept->cnt >= NOTES_KEPT && by_place(&kept->items[NOTES_KEPT - 1], &note) < 0)
			return;
		note.text = note_text(t, &w->tree.notes[i]);
		add_note(kept, note);
	}
}

static void analyse(struct worker *w, const struct trace *t, uint32_t file)
{
	struct spantree_options o;
	struct ccct *c = &w->run.ccct;

	critical_tree_options(w->crew->options, &o);
	spantree__build(&w->tree, t, &o);
	ccct__count(c, &w->tree);
	for (size_t i = 0; i < w->tree.root_cnt; i++) {
		critpath__find(&w->path, &w->tree, w->tree.roots[i],
			       critical_rule(w->crew->options));
		ccct__add(c, &w->tree, &w->path);
		opportunity__add(&w->opportunity, c, &w->tree, &w->path);
	}
	opportunity__add_clocks(c, &w->tree);
	if (w->tree.notes_cnt)
		keep_notes(w, t, file);
}

static void show_progress(struct crew *crew)
{
	time_t now = time(NULL);

	if (!crew->progress || now < crew->progress_at + PROGRESS_EVERY_S)
		return;
	crew->progress_at = now;
	fprintf(stderr, "\r%zu of %zu files, %llu traces ", crew->next_file, crew->files.cnt,
		(unsigned long long)crew->traces_done);
}

/* The reader's callback: hands the trace over, or analyses it. */
static int take_trace(void *ctx, struct trace *t, struct err *err)
{
	struct worker *w = ctx;
	struct crew *crew = w->crew;
	bool handed = false;

	(void)err;
	pthread_mutex_lock(&crew->lock);
	crew->traces_done++;
	show_progress(crew);
	if (crew->idle && crew->queue_cnt < QUEUE_TRACES &&
	    (!crew->queue_cnt || crew->queue_spans + t->span_cnt < QUEUE_SPANS)) {
		crew->queue[crew->queue_cnt++] = (struct queued){ *t, w->file };
		crew->queue_spans += t->span_cnt;
		*t = (struct trace){ 0 };
		handed = true;
		pthread_cond_signal(&crew->work);
	}
	pthread_mutex_unlock(&crew->lock);
	if (!handed)
		analyse(w, t, w->file);
	return 0;
}

static void keep_error(struct crew *crew, size_t file, const struct err *err)
{
	if (!crew->err.code || file < crew->err_file) {
		crew->err = *err;
		crew->err_file = file;
	}
	if (!crew->options->skip_bad)
		crew->stop = true;
}

/* The rest of an input that is a partial result, added. */
static int read_partial(struct worker *w, struct input *in, struct err *err)
{
	struct buf data = { 0 };
	struct ccct part = { 0 };
	ssize_t n = 1;
	int rc;

	while (n > 0) {
		buf_reserve(&data, 64 * 1024);
		n = input_read(in, data.data + data.len_bytes, 64 * 1024, err);
		data.len_bytes += n > 0 ? (size_t)n : 0;
	}
	rc = n < 0 ? (int)n : ccct_decode(data.data, data.len_bytes, &part, err);
	if (!rc)
		ccct__merge(&w->run.ccct, &part);
	else if (!n)
		err_prefix(err, "%s", input_path(in));
	ccct__free(&part);
	buf_free(&data);
	return rc;
}

/* A partial result, or traces. */
static int read_path(struct worker *w, const char *path, struct err *err)
{
	const size_t magic_bytes = sizeof(CCCT_MAGIC) - 1;
	struct spans_options o = { .otlp_window_spans = w->crew->options->window_spans,
				   .take = take_trace,
				   .ctx = w };
	struct spans_stats stats = { 0 };
	struct input *in;
	const char *head;
	ssize_t n;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	n = input_peek(in, magic_bytes, &head, err);
	if (n >= (ssize_t)magic_bytes && !memcmp(head, CCCT_MAGIC, magic_bytes)) {
		rc = read_partial(w, in, err);
	} else {
		rc = n < 0 ? (int)n : spans_read(in, &o, &stats, err);
		w->run.ccct.totals.file_cnt++;
		w->run.ccct.totals.split_cnt += stats.split_cnt;
	}
	input_close(in);
	return rc;
}

/* Called with the lock held; returns with it held. */
static void read_file(struct worker *w)
{
	struct crew *crew = w->crew;
	size_t file = crew->next_file++;
	struct err err = { 0 };
	int rc;

	w->file = (uint32_t)file;
	crew->reading++;
	pthread_mutex_unlock(&crew->lock);
	rc = read_path(w, crew->files.paths[file], &err);
	pthread_mutex_lock(&crew->lock);
	crew->reading--;
	if (rc) {
		w->run.ccct.totals.bad_file_cnt++;
		keep_error(crew, file, &err);
	}
	pthread_cond_broadcast(&crew->work);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct crew *crew = w->crew;

	pthread_mutex_lock(&crew->lock);
	for (;;) {
		if (crew->queue_cnt) {
			struct queued q = crew->queue[--crew->queue_cnt];

			crew->queue_spans -= q.trace.span_cnt;
			pthread_mutex_unlock(&crew->lock);
			analyse(w, &q.trace, q.file);
			trace__free(&q.trace);
			pthread_mutex_lock(&crew->lock);
		} else if (crew->next_file < crew->files.cnt && !crew->stop) {
			read_file(w);
		} else if (crew->reading) {
			crew->idle++;
			pthread_cond_wait(&crew->work, &crew->lock);
			crew->idle--;
		} else {
			break;
		}
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static void gather(struct critical_run *run, struct worker *w)
{
	ccct__merge(&run->ccct, &w->run.ccct);
	for (size_t i = 0; i < w->run.notes.cnt; i++)
		add_note(&run->notes, w->run.notes.items[i]);
	free(w->run.notes.items);
	ccct__free(&w->run.ccct);
	spantree__free(&w->tree);
	critpath__free(&w->path);
	opportunity__free(&w->opportunity);
}

static void run_crew(struct crew *crew, size_t thread_cnt, struct critical_run *run)
{
	struct worker *workers = xcalloc(thread_cnt, sizeof(*workers));
	size_t started = 1;

	for (size_t i = 0; i < thread_cnt; i++)
		workers[i].crew = crew;
	while (started < thread_cnt &&
	       !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
		started++;
	work(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	for (size_t i = 0; i < started; i++)
		gather(run, &workers[i]);
	free(workers);
}

static size_t thread_count(const struct critical_options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return o->threads ? (size_t)o->threads : cpus > 0 ? (size_t)cpus : 1;
}

int critical_read(char **paths, int cnt, const struct critical_options *o, struct critical_run *run,
		  struct err *err)
{
	struct crew crew = { .options = o,
			     .lock = PTHREAD_MUTEX_INITIALIZER,
			     .work = PTHREAD_COND_INITIALIZER,
			     .progress = isatty(STDERR_FILENO) };
	int rc = 0;

	crew.progress_at = time(NULL);
	for (int i = 0; i < cnt && !rc; i++)
		rc = spans_files__add(&crew.files, paths[i], err);
	if (!rc)
		run_crew(&crew, thread_count(o), run);
	if (crew.progress && crew.traces_done)
		fputs("\r\033[K", stderr);
	if (!rc && crew.err.code && !o->skip_bad)
		rc = err_set(err, crew.err.code, "%s", crew.err.msg);
	trim_notes(&run->notes);
	ccct__finish(&run->ccct);
	spans_files__free(&crew.files);
	return rc;
}

void critical_run__free(struct critical_run *run)
{
	for (size_t i = 0; i < run->notes.cnt; i++)
		free(run->notes.items[i].text);
	free(run->notes.items);
	ccct__free(&run->ccct);
	*run = (struct critical_run){ 0 };
}
