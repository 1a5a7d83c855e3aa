/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test behind a difference; see difftest.h. The number of runs decides the method: with enough of them
 * permutation, which assumes only that unchanged runs could be swapped; with a few Student's t (both sides have
 * one variance if nothing changed, and pooling it leaves more degrees of freedom than Welch's test has), the
 * variance never taken below that of counting, because runs that agree by luck prove nothing; with one a side
 * the counts alone. */
#include "user/analysis/difftest.h"

#include <math.h>
#include <stdlib.h>

#include "user/analysis/stats.h"
#include "user/base/mem.h"

static bool can_permute(const struct difftest *t)
{
	return t->before_cnt > 1 && t->after_cnt > 1 &&
	       stats_permutation_p_min(t->before_cnt, t->after_cnt, t->permutation_cnt) <= t->alpha;
}

bool difftest_needs_variances(const struct difftest *t)
{
	return !can_permute(t);
}

static struct stats_moments side(const struct difftest *t, size_t i, bool after)
{
	return stats_moments(t->values, t->cnt, i, after ? t->before_cnt : 0,
			     after ? t->after_cnt : t->before_cnt);
}

static double mean_variance(const struct difftest *t, size_t i, bool after)
{
	return stats_moments(t->variances, t->cnt, i, after ? t->before_cnt : 0,
			     after ? t->after_cnt : t->before_cnt)
		.mean;
}

static void set_interval(struct diff_measure *m, double delta, double half_width)
{
	m->low = delta - half_width;
	m->high = delta + half_width;
}

static void permute(const struct difftest *t, struct diff_measure *ret)
{
	double *p = xcalloc(t->cnt + 1, sizeof(*p));

	stats_max_t(t->values, t->cnt, t->before_cnt, t->after_cnt, t->permutation_cnt, t->seed, p);
	for (size_t i = 0; i < t->cnt; i++) {
		struct stats_means w = stats_welch(side(t, i, false), t->before_cnt,
						   side(t, i, true), t->after_cnt);

		ret[i].p = p[i];
		set_interval(&ret[i], w.delta, w.df > 0 ? w.se * stats_t_quantile(0.05, w.df) : 0);
	}
	free(p);
}

static void student(const struct difftest *t, struct diff_measure *ret)
{
	double *p = xcalloc(t->cnt + 1, sizeof(*p));

	for (size_t i = 0; i < t->cnt; i++) {
		struct stats_moments a = side(t, i, false), b = side(t, i, true);
		struct stats_means w;

		a.variance = fmax(a.variance, mean_variance(t, i, false)); /* fmax ignores NaN */
		b.variance = fmax(b.variance, mean_variance(t, i, true));
		w = stats_pooled(a, t->before_cnt, b, t->after_cnt);
		p[i] = w.se > 0 && w.df > 0 ? stats_t_two_sided(w.delta / w.se, w.df) : 1;
		set_interval(&ret[i], w.delta,
			     w.se > 0 && w.df > 0 ? w.se * stats_t_quantile(0.05, w.df) : NAN);
	}
	stats_holm(p, t->cnt);
	for (size_t i = 0; i < t->cnt; i++)
		ret[i].p = p[i];
	free(p);
}

/* Values are sums of counts times a weight. Given all counts, those of one side are binomial if nothing
 * changed; a side without counts has the other's weight. */
static double counts_p(double a, double b, double var_a, double var_b)
{
	double weight_a = a > 0 ? var_a / a : 0, weight_b = b > 0 ? var_b / b : 0, n_a, n_b;

	weight_a = weight_a > 0 ? weight_a : weight_b;
	weight_b = weight_b > 0 ? weight_b : weight_a;
	if (!(weight_a > 0))
		return 1;
	n_a = a / weight_a;
	n_b = b / weight_b;
	return stats_binomial_two_sided(n_b, n_a + n_b, weight_a / (weight_a + weight_b));
}

static enum diff_method counts(const struct difftest *t, struct diff_measure *ret)
{
	double *p = xcalloc(t->cnt + 1, sizeof(*p));
	bool known = true;

	for (size_t i = 0; i < t->cnt; i++) {
		double var_a = t->variances[i], var_b = t->variances[t->cnt + i];

		known = known && !isnan(var_a) && !isnan(var_b);
		p[i] = counts_p(ret[i].before, ret[i].after, var_a, var_b);
		set_interval(&ret[i], ret[i].after - ret[i].before, 1.96 * sqrt(var_a + var_b));
	}
	stats_holm(p, t->cnt);
	for (size_t i = 0; i < t->cnt; i++) {
		ret[i].p = known ? p[i] : NAN;
		if (!known)
			ret[i].low = ret[i].high = NAN;
	}
	free(p);
	return known ? DIFF_COUNTS : DIFF_NO_TEST;
}

enum diff_method difftest_run(const struct difftest *t, struct diff_measure *ret)
{
	for (size_t i = 0; i < t->cnt; i++) {
		ret[i].before = side(t, i, false).mean;
		ret[i].after = side(t, i, true).mean;
	}
	if (can_permute(t)) {
		permute(t, ret);
		return DIFF_PERMUTATION;
	}
	if (t->before_cnt > 1 || t->after_cnt > 1) {
		student(t, ret);
		return DIFF_STUDENT;
	}
	return counts(t, ret);
}
