/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sub-commands of critical that look at each trace in the order of the input: --what-if and sections. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/whatif.h"
#include "user/base/json.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/critical.h"
#include "user/exchange/spans.h"

struct each {
	const struct critical_options *options;
	struct spantree tree;
	struct critpath path;
	struct buf *out;
	struct whatif whatif;
	struct whatif_change *changes;
	int64_t *before_ns, *after_ns;
	size_t cnt, before_cap, after_cap;
};

static int for_each_trace(char **paths, int cnt, struct each *e,
			  int (*take)(void *, struct trace *, struct err *), struct err *err)
{
	struct spans_options o = { .otlp_window_spans = e->options->window_spans,
				   .take = take,
				   .ctx = e };
	struct spans_stats stats = { 0 };
	struct spans_files files = { 0 };
	int rc = 0;

	for (int i = 0; i < cnt && !rc; i++)
		rc = spans_files__add(&files, paths[i], err);
	for (size_t i = 0; i < files.cnt && !rc; i++)
		rc = spans_read_file(files.paths[i], &o, &stats, err);
	spans_files__free(&files);
	return rc;
}

static int print_sections(void *ctx, struct trace *t, struct err *err)
{
	struct each *e = ctx;
	struct spantree_options o;

	(void)err;
	critical_tree_options(e->options, &o);
	spantree__build(&e->tree, t, &o);
	for (size_t i = 0; i < e->tree.root_cnt; i++) {
		critpath__find(&e->path, &e->tree, e->tree.roots[i], critical_rule(e->options));
		for (size_t k = e->path.section_cnt; k-- > 0;) {
			const struct section *s = &e->path.sections[k];

			buf_printf(e->out, "%s\t%s\t%.3f\t%.3f\n", trace__str(t, t->id_sid),
				   trace__str(t, t->spans[s->span].id_sid),
				   (double)(s->from_ns / 1000) + (double)(s->from_ns % 1000) / 1e3,
				   (double)(s->to_ns / 1000) + (double)(s->to_ns % 1000) / 1e3);
		}
	}
	return 0;
}

int critical_sections(char **paths, int cnt, const struct critical_options *o, struct buf *out,
		      struct err *err)
{
	struct each e = { .options = o, .out = out };
	int rc = o->crisp2022 ? err_set(err, -EINVAL, "sections: CRISP's path has none") :
				for_each_trace(paths, cnt, &e, print_sections, err);

	spantree__free(&e.tree);
	critpath__free(&e.path);
	return rc;
}

/* "[SERVICE] OPERATION=-20%", "OPERATION=-5ms". The text is cut up; the parts are borrowed from it. */
static int parse_change(char *text, struct whatif_change *c, struct err *err)
{
	char *equals = strrchr(text, '='), *close;
	size_t len;
	double percent;
	uint64_t ns;

	if (!equals || equals[1] != '-')
		return err_set(err, -EINVAL, "'%s' is not OPERATION=-20%% or OPERATION=-5ms", text);
	*equals = 0;
	*c = (struct whatif_change){ .operation = text, .factor = 1 };
	close = *text == '[' ? strstr(text, "] ") : NULL;
	if (close) {
		*close = 0;
		c->service = text + 1;
		c->operation = close + 2;
	}
	len = strlen(equals + 2);
	if (len && equals[1 + len] == '%') {
		equals[1 + len] = 0;
		if (parse_f64(equals + 2, &percent, err))
			return -EINVAL;
		if (percent < 0 || percent > 100)
			return err_set(err, -EINVAL, "%g %% is not within 0 and 100", percent);
		c->factor = 1 - percent / 100;
		return 0;
	}
	if (parse_duration_ns(equals + 2, 1000, &ns, err))
		return -EINVAL;
	c->less_ns = (int64_t)(ns < INT64_MAX ? ns : INT64_MAX);
	return 0;
}

int critical_check_change(const char *text, struct err *err)
{
	char *copy = xstrdup(text);
	struct whatif_change change;
	int rc = parse_change(copy, &change, err);

	free(copy);
	return rc;
}

static int retime(void *ctx, struct trace *t, struct err *err)
{
	struct each *e = ctx;
	struct spantree_options o;

	(void)err;
	critical_tree_options(e->options, &o);
	spantree__build(&e->tree, t, &o);
	for (size_t i = 0; i < e->tree.root_cnt; i++) {
		uint32_t root = e->tree.roots[i];

		e->before_ns = xgrow(e->before_ns, &e->before_cap, e->cnt + 1, sizeof(int64_t));
		e->after_ns = xgrow(e->after_ns, &e->after_cap, e->cnt + 1, sizeof(int64_t));
		e->before_ns[e->cnt] = e->tree.end_ns[root] - e->tree.start_ns[root];
		e->after_ns[e->cnt++] = whatif__root_ns(&e->whatif, &e->tree, root, e->changes,
							e->options->what_if.cnt);
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void print_what_if(struct each *e, bool as_json)
{
	static const double quantiles[] = { 0.50, 0.90, 0.95, 0.99 };
	struct json j;

	qsort(e->before_ns, e->cnt, sizeof(int64_t), by_value);
	qsort(e->after_ns, e->cnt, sizeof(int64_t), by_value);
	json_init(&j, e->out);
	if (as_json)
		json_begin_array(&j, NULL);
	else
		buf_printf(e->out, "%zu traces\n           now       then    change\n", e->cnt);
	for (size_t i = 0; i < ARRAY_CNT(quantiles); i++) {
		size_t at = (size_t)(ceil(quantiles[i] * (double)e->cnt)) - 1;
		int64_t before = e->before_ns[at], after = e->after_ns[at];
		struct buf b = { 0 };

		if (as_json) {
			json_begin_object(&j, NULL);
			json_f64(&j, "q", quantiles[i]);
			json_i64(&j, "now_ns", before);
			json_i64(&j, "then_ns", after);
			json_end_object(&j);
			continue;
		}
		buf_put_duration(&b, (uint64_t)before);
		buf_printf(e->out, "P%-3.0f %9s ", quantiles[i] * 100, buf_str(&b));
		buf_reset(&b);
		buf_put_duration(&b, (uint64_t)after);
		buf_printf(e->out, "%10s %+7.2f %%\n", buf_str(&b),
			   before ? ((double)after / (double)before - 1) * 100 : 0);
		buf_free(&b);
	}
	if (as_json)
		json_end_array(&j);
}

int critical_what_if(char **paths, int cnt, const struct critical_options *o, struct buf *out,
		     struct err *err)
{
	struct each e = { .options = o, .out = out };
	char **texts = xcalloc(o->what_if.cnt, sizeof(*texts));
	int rc = 0;

	e.changes = xcalloc(o->what_if.cnt, sizeof(*e.changes));
	for (size_t i = 0; i < o->what_if.cnt; i++)
		texts[i] = xstrdup(o->what_if.items[i]);
	for (size_t i = 0; i < o->what_if.cnt && !rc; i++)
		rc = parse_change(texts[i], &e.changes[i], err);
	if (!rc)
		rc = for_each_trace(paths, cnt, &e, retime, err);
	if (!rc && !e.cnt)
		rc = err_set(err, -ENODATA, "%s: no trace that matches", paths[0]);
	if (!rc)
		print_what_if(&e, o->format == CRITICAL_JSON);
	for (size_t i = 0; i < o->what_if.cnt; i++)
		free(texts[i]);
	free(texts);
	free(e.changes);
	free(e.before_ns);
	free(e.after_ns);
	whatif__free(&e.whatif);
	spantree__free(&e.tree);
	return rc;
}
