/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference for programs: JSON, and folded text with two counts; see diff_report.h. */
#include <math.h>
#include <stdlib.h>

#include "user/analysis/diff_report.h"
#include "user/base/json.h"

static const char *const method_names[] = {
	[DIFF_NO_TEST] = "none",
	[DIFF_COUNTS] = "counts",
	[DIFF_STUDENT] = "student",
	[DIFF_PERMUTATION] = "permutation",
};

static void put_pair(struct json *j, const struct diff *d, const char *key, const double values[2],
		     uint32_t measure)
{
	json_begin_object(j, key);
	json_f64(j, "before", values[0]);
	json_f64(j, "after", values[1]);
	json_f64(j, "change", values[1] - values[0]);
	if (measure != DIFF_NO_MEASURE) {
		const struct diff_measure *m = &d->measures[measure];

		json_f64(j, "low", m->low);
		json_f64(j, "high", m->high);
		json_f64(j, "p", m->p);
	}
	json_bool(j, "significant", diff_is_significant(d, measure));
	json_end_object(j);
}

static void put_frames(struct json *j, const struct diff *d)
{
	struct buf path = { 0 };

	json_begin_array(j, "changed_frames");
	for (uint32_t i = 1; i < d->tree.cnt; i++) {
		if (!diff_node_self_changed(d, i) && !diff_node_subtree_changed(d, i))
			continue;
		buf_reset(&path);
		nametree_path(&d->tree, i, &path);
		json_begin_object(j, NULL);
		json_str(j, "stack", buf_str(&path));
		put_pair(j, d, "self", d->nodes[i].self, d->nodes[i].self_measure);
		put_pair(j, d, "subtree", d->nodes[i].subtree, d->nodes[i].subtree_measure);
		json_end_object(j);
	}
	json_end_array(j);
	buf_free(&path);
}

void diff_report_json(const struct diff *d, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_begin_object(&j, NULL);
	json_u64(&j, "runs_before", d->run_cnt[0]);
	json_u64(&j, "runs_after", d->run_cnt[1]);
	json_str(&j, "unit", d->unit);
	json_str(&j, "normalize", diff_normalize_names[d->normalize]);
	json_str(&j, "method", method_names[d->method]);
	json_f64(&j, "family_wise_error", d->alpha);
	json_u64(&j, "tests", d->measure_cnt);
	put_pair(&j, d, "total", d->nodes[0].subtree, d->nodes[0].subtree_measure);
	json_begin_array(&j, "functions");
	for (size_t i = 0; i < d->function_cnt; i++) {
		const struct diff_function *f = &d->functions[i];

		json_begin_object(&j, NULL);
		json_str(&j, "name", strtab_get(&d->tree.names, f->name));
		put_pair(&j, d, "self", f->self, f->self_measure);
		put_pair(&j, d, "subtree", f->subtree, f->subtree_measure);
		json_end_object(&j);
	}
	json_end_array(&j);
	put_frames(&j, d);
	json_end_object(&j);
}

static uint64_t rounded(double v)
{
	return v < 1.8e19 ? (uint64_t)floor(v + 0.5) : UINT64_MAX;
}

void diff_report_folded(const struct diff *d, struct buf *out)
{
	uint32_t *order = nametree_sorted(&d->tree);

	for (size_t i = 1; i < d->tree.cnt; i++) {
		const struct diff_node *n = &d->nodes[order[i]];

		if (!(n->self[0] > 0) && !(n->self[1] > 0))
			continue;
		nametree_path(&d->tree, order[i], out);
		buf_putc(out, ' ');
		buf_put_u64(out, rounded(n->self[0]));
		buf_putc(out, ' ');
		buf_put_u64(out, rounded(n->self[1]));
		buf_putc(out, '\n');
	}
	free(order);
}
