/* SPDX-License-Identifier: GPL-2.0-or-later */
/* critical train and critical score: what is normal for an entry, and which traces are not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/analysis/anomaly_model.h"
#include "user/base/escape.h"
#include "user/base/json.h"
#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/cmd/critical.h"
#include "user/exchange/spans.h"

enum {
	MODEL_MAX_BYTES = 1 << 30,
	FOLLOW_WINDOW_SPANS = 10000,
};

struct anomaly {
	const struct critical_options *options;
	struct anomaly_model model;
	struct spantree tree;
	struct critpath path;
	struct path_vector vector;
	struct vector_set set;
	struct outfile *out;
	struct buf line;
	uint64_t scored, alarms;
	double score_s; /* in making and scoring vectors */
};

/* CPU time of this process: comparable on busy machines. */
static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void free_anomaly(struct anomaly *a)
{
	anomaly_model__free(&a->model);
	spantree__free(&a->tree);
	critpath__free(&a->path);
	path_vector__free(&a->vector);
	vector_set__free(&a->set);
	buf_free(&a->line);
	outfile_close(a->out);
}

static int read_all(char **paths, int cnt, struct anomaly *a,
		    int (*take)(void *, struct trace *, struct err *), struct err *err)
{
	uint64_t window = a->options->window_spans;
	struct spans_options o = { .take = take, .ctx = a };
	struct spans_stats stats = { 0 };
	struct spans_files files = { 0 };
	int rc = 0;

	o.otlp_window_spans = window ? window : a->options->follow ? FOLLOW_WINDOW_SPANS : 0;
	for (int i = 0; i < cnt && !rc; i++)
		rc = spans_files__add(&files, paths[i], err);
	for (size_t i = 0; i < files.cnt && !rc; i++)
		rc = spans_read_file(files.paths[i], &o, &stats, err);
	spans_files__free(&files);
	return rc;
}

/* The entry that the model was trained for. */
static void build_tree(struct anomaly *a, const struct trace *t)
{
	struct spantree_options o;

	critical_tree_options(a->options, &o);
	o.entry_service = a->model.service && *a->model.service ? a->model.service : NULL;
	o.entry_operation = a->model.operation && *a->model.operation ? a->model.operation : NULL;
	spantree__build(&a->tree, t, &o);
}

static int learn_trace(void *ctx, struct trace *t, struct err *err)
{
	struct anomaly *a = ctx;

	(void)err;
	build_tree(a, t);
	for (size_t i = 0; i < a->tree.root_cnt; i++) {
		critpath__find(&a->path, &a->tree, a->tree.roots[i], critical_rule(a->options));
		vectorizer__make(&a->model.vectorizer, &a->tree, &a->path, true, &a->vector);
		vector_set__add(&a->set, &a->vector);
	}
	return 0;
}

int critical_train(char **paths, int cnt, const struct critical_options *o, struct err *err)
{
	struct anomaly a = { .options = o };
	struct buf bytes = { 0 };
	double begin_s = now_s(), read_s, train_s;
	int rc;

	a.model.vectorizer.kind = (enum vector_kind)o->vector;
	a.model.service = o->service ? xstrdup(o->service) : NULL;
	a.model.operation = o->operation ? xstrdup(o->operation) : NULL;
	rc = read_all(paths, cnt, &a, learn_trace, err);
	read_s = now_s() - begin_s;
	if (!rc)
		rc = detector__train(&a.model.detector, (enum detector_kind)o->detector,
				     (uint32_t)a.model.vectorizer.dict.path_cnt, &a.set, err);
	train_s = now_s() - begin_s - read_s;
	if (!rc) {
		anomaly_model__encode(&a.model, &bytes);
		rc = outfile_put(o->model, OUTFILE_REPLACE, bytes.data, bytes.len_bytes, err);
	}
	if (!rc)
		fprintf(stderr,
			"%zu traces, %zu call paths; reading %.3f s, training %.3f s CPU; threshold %.4g\n",
			a.set.row_cnt, a.model.vectorizer.dict.path_cnt, read_s, train_s,
			a.model.detector.threshold);
	buf_free(&bytes);
	free_anomaly(&a);
	return rc;
}

static int load_model(const char *path, struct anomaly_model *m, struct err *err)
{
	struct buf bytes = { 0 };
	struct input *in;
	ssize_t n = 1;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	while (n > 0 && bytes.len_bytes < MODEL_MAX_BYTES) {
		buf_reserve(&bytes, 64 * 1024);
		n = input_read(in, bytes.data + bytes.len_bytes, 64 * 1024, err);
		bytes.len_bytes += n > 0 ? (size_t)n : 0;
	}
	input_close(in);
	rc = n < 0 ? (int)n : anomaly_model__decode(bytes.data, bytes.len_bytes, m, err);
	if (rc)
		err_prefix(err, "%s", path);
	buf_free(&bytes);
	return rc;
}

static void reason_name(struct anomaly *a, const struct detector_reason *r, struct buf *out)
{
	const struct trace *t = a->tree.trace;

	if (r->column != SPAN_NONE) {
		ccct__put_path(&a->model.vectorizer.dict, r->column, ";", out);
		return;
	}
	for (uint32_t i = 0; i < a->vector.unknown_cnt && i < VECTOR_UNKNOWN_KEPT; i++) {
		const struct span *s = &t->spans[a->vector.unknown[i]];

		buf_printf(out, "%s[%s] %s", i ? "; " : "", trace__str(t, s->service_sid),
			   trace__str(t, s->operation_sid));
	}
}

static void put_reasons_text(struct anomaly *a, const struct detector_reason *r, size_t cnt)
{
	struct buf name = { 0 };

	for (size_t i = 0; i < cnt; i++) {
		buf_reset(&name);
		reason_name(a, &r[i], &name);
		buf_puts(&a->line, i ? "; " : "\t");
		escape_terminal(&a->line, buf_str(&name), name.len_bytes);
		if (r[i].column == SPAN_NONE)
			buf_puts(&a->line, ": never seen in training");
		else if (!r[i].present)
			buf_printf(&a->line, ": missing (normally %.0f us)", r[i].expected_us);
		else
			buf_printf(&a->line, ": %.0f us (normally %.0f)", r[i].seen_us,
				   r[i].expected_us);
	}
	buf_free(&name);
}

static void put_reasons_json(struct anomaly *a, struct json *j, const struct detector_reason *r,
			     size_t cnt)
{
	struct buf name = { 0 };

	json_begin_array(j, "reasons");
	for (size_t i = 0; i < cnt; i++) {
		buf_reset(&name);
		reason_name(a, &r[i], &name);
		json_begin_object(j, NULL);
		json_str(j, "path", buf_str(&name));
		json_bool(j, "known", r[i].column != SPAN_NONE);
		json_bool(j, "present", r[i].present);
		json_f64(j, "seen_us", r[i].seen_us);
		json_f64(j, "expected_us", r[i].expected_us);
		json_f64(j, "amount", r[i].amount);
		json_end_object(j);
	}
	json_end_array(j);
	buf_free(&name);
}

static void put_verdict(struct anomaly *a, const struct trace *t, double score,
			const struct detector_reason *r, size_t cnt)
{
	bool alarm = score > a->model.detector.threshold;
	const char *id = trace__str(t, t->id_sid);
	struct json j;

	buf_reset(&a->line);
	if (a->options->json) {
		json_init(&j, &a->line);
		json_begin_object(&j, NULL);
		json_str(&j, "trace", id);
		json_bool(&j, "alarm", alarm);
		json_f64(&j, "score", score);
		json_f64(&j, "threshold", a->model.detector.threshold);
		if (alarm)
			put_reasons_json(a, &j, r, cnt);
		json_end_object(&j);
		for (size_t i = 0; i + 1 < a->line.len_bytes; i++) /* one line a trace */
			if (a->line.data[i] == '\n')
				a->line.data[i] = ' ';
		return;
	}
	buf_printf(&a->line, "%s\t%.4g\t", alarm ? "ALARM" : "normal", score);
	escape_terminal(&a->line, id, strlen(id));
	if (alarm)
		put_reasons_text(a, r, cnt);
	buf_putc(&a->line, '\n');
}

static int score_trace(void *ctx, struct trace *t, struct err *err)
{
	struct anomaly *a = ctx;
	int rc = 0;

	build_tree(a, t);
	for (size_t i = 0; i < a->tree.root_cnt && !rc; i++) {
		struct detector_reason reasons[DETECTOR_REASONS];
		size_t cnt = 0;
		double begin_s, score;

		critpath__find(&a->path, &a->tree, a->tree.roots[i], critical_rule(a->options));
		begin_s = now_s();
		vectorizer__make(&a->model.vectorizer, &a->tree, &a->path, false, &a->vector);
		score = detector__score(&a->model.detector, &a->vector, NULL, NULL);
		a->score_s += now_s() - begin_s;
		a->scored++;
		if (score > a->model.detector.threshold) {
			detector__score(&a->model.detector, &a->vector, reasons, &cnt);
			a->alarms++;
		}
		put_verdict(a, t, score, reasons, cnt);
		if (a->options->follow)
			rc = write(STDOUT_FILENO, a->line.data, a->line.len_bytes) < 0 ?
				     err_errno(err, "standard output") :
				     0;
		else
			rc = outfile_write(a->out, a->line.data, a->line.len_bytes, err);
	}
	return rc;
}

int critical_score(char **paths, int cnt, const struct critical_options *o, struct err *err)
{
	struct anomaly a = { .options = o };
	int rc = load_model(o->model, &a.model, err);

	if (!rc && !o->follow)
		rc = outfile_open(o->output ? o->output : "-", OUTFILE_REPLACE, &a.out, err);
	if (!rc)
		rc = read_all(paths, cnt, &a, score_trace, err);
	if (!rc && a.out)
		rc = outfile_commit(a.out, err);
	if (!rc)
		fprintf(stderr, "%llu traces scored, %llu alarms; %.2f us a trace\n",
			(unsigned long long)a.scored, (unsigned long long)a.alarms,
			a.scored ? a.score_s * 1e6 / (double)a.scored : 0);
	free_anomaly(&a);
	return rc;
}
