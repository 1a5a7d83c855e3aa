/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed between two sets of profiles; see diff.h. The order of work: all profiles into one tree; the
 * mean of each side for every node; which nodes and functions are large enough to be tested; their values by
 * run as a matrix; the test (difftest.c). */
#include "user/analysis/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/difftest.h"
#include "user/base/mem.h"

const char *const diff_normalize_names[] = { "none", "wall", "running", "requests", "total", NULL };

struct run_item {
	uint32_t node;
	double value;
	double variance; /* of counting; NaN = the count is not known */
};

struct run {
	const struct profile *profile;
	struct run_item *items;
	size_t item_cnt, item_cap;
	double scale;
	unsigned int side;
	uint32_t kinds;
};

/* Everything of one run by node, and summed up by function. */
struct run_values {
	double *self, *subtree;		      /* by node */
	double *function_self, *function_sub; /* by name */
};

struct builder {
	struct diff *d;
	const struct diff_options *opts;
	struct run *runs;
	unsigned int run_cnt;
	bool *is_outermost;   /* by node: no ancestor has its name */
	bool *has_children;   /* by node */
	uint32_t *places_cnt; /* by name */
	uint32_t *function_of_name;
	struct run_values now;
	struct difftest_plan plan;
};

/* A sample stands for ns / cnt; the variance of a sum of Poisson many is cnt times that squared. Waits vary
 * themselves: taken as exponential, which doubles it. */
static double counting_variance(const struct sum *s)
{
	double value = (double)s->ns;

	if (!s->ns)
		return 0;
	if (!s->cnt)
		return NAN;
	return value * value / (double)s->cnt * (s->kind > KIND_RUNNING ? 2 : 1);
}

static void take_sum(void *ctx, const struct sum *s, uint32_t node)
{
	struct run *r = ctx;

	if (r->kinds && !(r->kinds >> s->kind & 1))
		return;
	if (r->item_cnt == r->item_cap)
		r->items = xgrow(r->items, &r->item_cap, r->item_cnt + 1, sizeof(*r->items));
	r->items[r->item_cnt++] = (struct run_item){ node, (double)s->ns, counting_variance(s) };
}

static double run_total(const struct run *r)
{
	double total = 0;

	for (size_t i = 0; i < r->item_cnt; i++)
		total += r->items[i].value;
	return total;
}

static double running_ns(const struct profile *p)
{
	double total = 0;

	for (size_t i = 0; i < p->sums.cnt; i++)
		total += p->sums.items[i].kind == KIND_RUNNING ? (double)p->sums.items[i].ns : 0;
	return total;
}

/* What a run's values are divided by. */
static double divisor(const struct run *r, enum diff_normalize how)
{
	const struct header *h = &r->profile->header;

	switch (how) {
	case DIFF_NORMALIZE_WALL:
		return (double)(h->window_end_ns - h->window_start_ns);
	case DIFF_NORMALIZE_RUNNING:
		return running_ns(r->profile);
	case DIFF_NORMALIZE_REQUESTS:
		return (double)r->profile->requests.cnt;
	case DIFF_NORMALIZE_TOTAL:
		return run_total(r);
	default:
		return 1;
	}
}

/* Values stay in their unit: all runs are scaled to what the second side has on average. */
static int set_scales(struct builder *b, struct err *err)
{
	static const char *const missing[] = { "", "window", "running time", "requests", "values" };
	struct diff *d = b->d;
	double reference = 0;

	for (unsigned int i = 0; i < b->run_cnt; i++) {
		b->runs[i].scale = divisor(&b->runs[i], b->opts->normalize);
		if (!(b->runs[i].scale > 0))
			return err_set(
				err, -ENODATA,
				"cannot normalise by %s: profile %u of the %s side has no %s",
				diff_normalize_names[b->opts->normalize],
				i < d->run_cnt[0] ? i + 1 : i - d->run_cnt[0] + 1,
				i < d->run_cnt[0] ? "first" : "second",
				missing[b->opts->normalize]);
		reference += b->runs[i].side ? b->runs[i].scale / d->run_cnt[1] : 0;
	}
	d->scale_min = INFINITY;
	for (unsigned int i = 0; i < b->run_cnt; i++) {
		b->runs[i].scale = reference / b->runs[i].scale;
		d->scale_min = fmin(d->scale_min, b->runs[i].scale);
		d->scale_max = fmax(d->scale_max, b->runs[i].scale);
	}
	return 0;
}

/* The run's values by node and by function; of variances if asked. */
static void spread_run(struct builder *b, const struct run *r, bool variances)
{
	const struct nametree *t = &b->d->tree;
	struct run_values *v = &b->now;
	double scale = variances ? r->scale * r->scale : r->scale;

	memset(v->self, 0, t->cnt * sizeof(*v->self));
	memset(v->function_self, 0, t->names.cnt * sizeof(*v->function_self));
	memset(v->function_sub, 0, t->names.cnt * sizeof(*v->function_sub));
	for (size_t i = 0; i < r->item_cnt; i++)
		v->self[r->items[i].node] +=
			scale * (variances ? r->items[i].variance : r->items[i].value);
	memcpy(v->subtree, v->self, t->cnt * sizeof(*v->subtree));
	for (size_t i = t->cnt; i-- > 1;)
		v->subtree[t->nodes[i].parent] += v->subtree[i];
	for (size_t i = 1; i < t->cnt; i++) {
		v->function_self[t->nodes[i].name] += v->self[i];
		if (b->is_outermost[i])
			v->function_sub[t->nodes[i].name] += v->subtree[i];
	}
}

/* One walk from root to leaves that keeps count of the names above. */
static void find_shape(struct builder *b)
{
	const struct nametree *t = &b->d->tree;
	uint32_t *order = nametree_sorted(t), *depth = xcalloc(t->cnt, sizeof(*depth));
	uint32_t *above = xcalloc(t->names.cnt + 1, sizeof(*above));
	uint32_t *path = xcalloc(t->cnt, sizeof(*path));
	uint32_t path_cnt = 0;

	b->is_outermost = xcalloc(t->cnt, sizeof(*b->is_outermost));
	b->has_children = xcalloc(t->cnt, sizeof(*b->has_children));
	b->places_cnt = xcalloc(t->names.cnt + 1, sizeof(*b->places_cnt));
	for (size_t i = 1; i < t->cnt; i++) {
		const struct nametree_node *n = &t->nodes[order[i]];

		depth[order[i]] = depth[n->parent] + 1;
		for (; path_cnt >= depth[order[i]]; path_cnt--)
			above[t->nodes[path[path_cnt - 1]].name]--;
		b->is_outermost[order[i]] = !above[n->name]++;
		path[path_cnt++] = order[i];
		b->has_children[n->parent] = true;
		b->places_cnt[n->name]++;
	}
	free(order);
	free(depth);
	free(above);
	free(path);
}

static void add_means(struct builder *b)
{
	struct diff *d = b->d;

	for (unsigned int r = 0; r < b->run_cnt; r++) {
		unsigned int side = b->runs[r].side;
		double share = 1.0 / d->run_cnt[side];

		spread_run(b, &b->runs[r], false);
		for (size_t i = 0; i < d->tree.cnt; i++) {
			d->nodes[i].self[side] += share * b->now.self[i];
			d->nodes[i].subtree[side] += share * b->now.subtree[i];
		}
		for (size_t i = 0; i < d->function_cnt; i++) {
			struct diff_function *f = &d->functions[i];

			f->self[side] += share * b->now.function_self[f->name];
			f->subtree[side] += share * b->now.function_sub[f->name];
		}
	}
}

static uint32_t plan_measure(struct builder *b, enum difftest_what what, uint32_t id,
			     const double values[2])
{
	struct difftest_plan *p = &b->plan;
	const double *whole = b->d->nodes[0].subtree;
	double least = b->opts->min_share * fmax(whole[0], whole[1]);

	if (!(fmax(values[0], values[1]) > least))
		return DIFF_NO_MEASURE;
	if (p->cnt == p->cap)
		p->items = xgrow(p->items, &p->cap, p->cnt + 1, sizeof(*p->items));
	p->items[p->cnt] = (struct difftest_item){ .what = what, .id = id };
	return (uint32_t)p->cnt++;
}

/* A leaf's self is its subtree, and a function of one place is that place: each is tested once. */
static void plan_measures(struct builder *b)
{
	struct diff *d = b->d;

	for (uint32_t i = 0; i < d->tree.cnt; i++) {
		struct diff_node *n = &d->nodes[i];
		uint32_t function = i ? b->function_of_name[d->tree.nodes[i].name] : 0;

		n->subtree_measure = plan_measure(b, DIFFTEST_SUBTREE, i, n->subtree);
		n->self_measure = i && !b->has_children[i] ?
					  n->subtree_measure :
					  plan_measure(b, DIFFTEST_SELF, i, n->self);
		if (i && b->places_cnt[d->tree.nodes[i].name] == 1) {
			d->functions[function].self_measure = n->self_measure;
			d->functions[function].subtree_measure = n->subtree_measure;
		}
	}
	for (size_t i = 0; i < d->function_cnt; i++) {
		struct diff_function *f = &d->functions[i];

		if (b->places_cnt[f->name] == 1)
			continue;
		f->self_measure = plan_measure(b, DIFFTEST_FUNCTION_SELF, f->name, f->self);
		f->subtree_measure =
			plan_measure(b, DIFFTEST_FUNCTION_SUBTREE, f->name, f->subtree);
	}
}

static double item_value(const struct builder *b, const struct difftest_item *item)
{
	switch (item->what) {
	case DIFFTEST_SELF:
		return b->now.self[item->id];
	case DIFFTEST_SUBTREE:
		return b->now.subtree[item->id];
	case DIFFTEST_FUNCTION_SELF:
		return b->now.function_self[item->id];
	default:
		return b->now.function_sub[item->id];
	}
}

static double *matrix(struct builder *b, bool variances)
{
	size_t cnt = b->plan.cnt;
	double *values = xcalloc(cnt * b->run_cnt + 1, sizeof(*values));

	for (unsigned int r = 0; r < b->run_cnt; r++) {
		spread_run(b, &b->runs[r], variances);
		for (size_t i = 0; i < cnt; i++)
			values[r * cnt + i] = item_value(b, &b->plan.items[i]);
	}
	return values;
}

static void list_functions(struct builder *b)
{
	struct diff *d = b->d;

	b->function_of_name = xcalloc(d->tree.names.cnt + 1, sizeof(*b->function_of_name));
	d->functions = xcalloc(d->tree.names.cnt + 1, sizeof(*d->functions));
	for (uint32_t name = 0; name < d->tree.names.cnt; name++)
		if (b->places_cnt[name]) {
			b->function_of_name[name] = (uint32_t)d->function_cnt;
			d->functions[d->function_cnt++] =
				(struct diff_function){ .name = name,
							.self_measure = DIFF_NO_MEASURE,
							.subtree_measure = DIFF_NO_MEASURE };
		}
}

static void measure_all(struct builder *b)
{
	struct diff *d = b->d;
	struct difftest t = { .before_cnt = d->run_cnt[0],
			      .after_cnt = d->run_cnt[1],
			      .alpha = d->alpha,
			      .permutation_cnt = b->opts->permutation_cnt,
			      .seed = b->opts->seed };

	d->nodes = xcalloc(d->tree.cnt, sizeof(*d->nodes));
	b->now.self = xcalloc(d->tree.cnt, sizeof(double));
	b->now.subtree = xcalloc(d->tree.cnt, sizeof(double));
	b->now.function_self = xcalloc(d->tree.names.cnt + 1, sizeof(double));
	b->now.function_sub = xcalloc(d->tree.names.cnt + 1, sizeof(double));
	find_shape(b);
	list_functions(b);
	add_means(b);
	plan_measures(b);
	t.cnt = d->measure_cnt = b->plan.cnt;
	t.values = matrix(b, false);
	t.variances = difftest_needs_variances(&t) ? matrix(b, true) : NULL;
	d->measures = xcalloc(d->measure_cnt + 1, sizeof(*d->measures));
	d->method = difftest_run(&t, d->measures);
	free(t.values);
	free(t.variances);
}

static int add_runs(struct builder *b, const struct profile *const *profiles, unsigned int cnt,
		    unsigned int side, struct err *err)
{
	struct diff *d = b->d;

	for (unsigned int i = 0; i < cnt; i++) {
		const struct profile *p = profiles[i];
		const char *unit = profile__str(p, p->header.unit_sid);
		struct run *r = &b->runs[b->run_cnt++];

		unit = *unit ? unit : "ns";
		if (!*d->unit)
			snprintf(d->unit, sizeof(d->unit), "%s", unit);
		else if (strncmp(unit, d->unit, sizeof(d->unit) - 1))
			return err_set(
				err, -EINVAL,
				"the profiles have different units: %s and %s; import --unit or --hz "
				"brings them to one",
				d->unit, unit);
		*r = (struct run){ .profile = p, .side = side, .kinds = b->opts->kinds };
		nametree_add_profile(&d->tree, p, b->opts->tree_flags, take_sum, r);
		d->window_ns[side] +=
			(double)(p->header.window_end_ns - p->header.window_start_ns) / cnt;
	}
	return 0;
}

struct ranked_function {
	struct diff_function function;
	bool self_significant, subtree_significant;
	const char *name;
};

static int compare_doubles_down(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_functions(const void *a, const void *b)
{
	const struct ranked_function *x = a, *y = b;
	int c = y->self_significant - x->self_significant;

	if (!c)
		c = compare_doubles_down(fabs(x->function.self[1] - x->function.self[0]),
					 fabs(y->function.self[1] - y->function.self[0]));
	if (!c)
		c = y->subtree_significant - x->subtree_significant;
	if (!c)
		c = compare_doubles_down(fabs(x->function.subtree[1] - x->function.subtree[0]),
					 fabs(y->function.subtree[1] - y->function.subtree[0]));
	return c ? c : strcmp(x->name, y->name);
}

static void rank_functions(struct diff *d)
{
	struct ranked_function *r = xcalloc(d->function_cnt + 1, sizeof(*r));

	for (size_t i = 0; i < d->function_cnt; i++) {
		const struct diff_function *f = &d->functions[i];

		r[i].function = *f;
		r[i].self_significant = diff_is_significant(d, f->self_measure);
		r[i].subtree_significant = diff_is_significant(d, f->subtree_measure);
		r[i].name = strtab_get(&d->tree.names, f->name);
	}
	qsort(r, d->function_cnt, sizeof(*r), compare_functions);
	for (size_t i = 0; i < d->function_cnt; i++)
		d->functions[i] = r[i].function;
	free(r);
}

static void free_builder(struct builder *b)
{
	for (unsigned int i = 0; i < b->run_cnt; i++)
		free(b->runs[i].items);
	free(b->runs);
	free(b->is_outermost);
	free(b->has_children);
	free(b->places_cnt);
	free(b->function_of_name);
	free(b->now.self);
	free(b->now.subtree);
	free(b->now.function_self);
	free(b->now.function_sub);
	free(b->plan.items);
}

int diff__make(struct diff *d, const struct profile *const *before, unsigned int before_cnt,
	       const struct profile *const *after, unsigned int after_cnt,
	       const struct diff_options *opts, struct err *err)
{
	struct builder b = { .d = d, .opts = opts };
	int rc;

	*d = (struct diff){ .run_cnt = { before_cnt, after_cnt },
			    .alpha = opts->alpha,
			    .normalize = opts->normalize };
	nametree_init(&d->tree);
	if (!before_cnt || !after_cnt || before_cnt > UINT16_MAX / 2 || after_cnt > UINT16_MAX / 2)
		return err_set(err, -EINVAL, "each side of a difference needs 1 to %d profiles",
			       UINT16_MAX / 2);
	b.runs = xcalloc(before_cnt + after_cnt, sizeof(*b.runs));
	for (unsigned int i = 0; i < before_cnt + after_cnt; i++)
		builds_add(&d->builds, i < before_cnt ? before[i] : after[i - before_cnt]);
	d->tree.builds = &d->builds;
	rc = add_runs(&b, before, before_cnt, 0, err);
	if (!rc)
		rc = add_runs(&b, after, after_cnt, 1, err);
	if (!rc)
		rc = set_scales(&b, err);
	if (!rc) {
		measure_all(&b);
		rank_functions(d);
	}
	free_builder(&b);
	return rc;
}

void diff__fini(struct diff *d)
{
	nametree_free(&d->tree);
	builds_free(&d->builds);
	free(d->nodes);
	free(d->functions);
	free(d->measures);
	*d = (struct diff){ 0 };
}

bool diff_is_significant(const struct diff *d, uint32_t measure)
{
	return measure != DIFF_NO_MEASURE && d->measures[measure].p <= d->alpha;
}

bool diff_node_self_changed(const struct diff *d, uint32_t node)
{
	return diff_is_significant(d, d->nodes[node].self_measure);
}

bool diff_node_subtree_changed(const struct diff *d, uint32_t node)
{
	return diff_is_significant(d, d->nodes[node].subtree_measure);
}
