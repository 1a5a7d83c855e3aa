/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions, means and Holm; see stats.h. Permutations are in maxt.c. */
#include "user/analysis/stats.h"

#include <math.h>
#include <stdlib.h>

#include "user/base/mem.h"

/* The continued fraction, evaluated by Lentz's method: every step multiplies by c and 1/d, which are kept
 * away from zero. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

double stats_beta_inc(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_two_sided(double t, double df)
{
	return stats_beta_inc(df / 2, 0.5, df / (df + t * t));
}

double stats_t_quantile(double p, double df)
{
	double low = 0, high = 1;

	while (stats_t_two_sided(high, df) > p && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double mid = (low + high) / 2;

		if (stats_t_two_sided(mid, df) > p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

double stats_normal_two_sided(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

double stats_binomial_two_sided(double k, double n, double q)
{
	double upper, lower, p;

	if (n <= 0)
		return 1;
	upper = k <= 0 ? 1 : stats_beta_inc(k, n - k + 1, q);	  /* P(X >= k) */
	lower = k >= n ? 1 : stats_beta_inc(n - k, k + 1, 1 - q); /* P(X <= k) */
	p = 2 * (upper < lower ? upper : lower);
	return p < 1 ? p : 1;
}

struct ranked {
	double p;
	size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void stats_holm(double *p, size_t cnt)
{
	struct ranked *r = xcalloc(cnt + 1, sizeof(*r));
	double largest = 0;

	for (size_t i = 0; i < cnt; i++)
		r[i] = (struct ranked){ p[i], i };
	qsort(r, cnt, sizeof(*r), compare_ranked);
	for (size_t i = 0; i < cnt; i++) {
		double adjusted = r[i].p * (double)(cnt - i);

		largest = adjusted > largest ? adjusted : largest;
		p[r[i].at] = largest < 1 ? largest : 1;
	}
	free(r);
}

struct stats_moments stats_moments(const double *values, size_t frame_cnt, size_t frame,
				   unsigned int first, unsigned int cnt)
{
	struct stats_moments m = { 0 };

	for (unsigned int i = 0; i < cnt; i++)
		m.mean += values[(first + i) * frame_cnt + frame] / cnt;
	for (unsigned int i = 0; i < cnt && cnt > 1; i++) {
		double d = values[(first + i) * frame_cnt + frame] - m.mean;

		m.variance += d * d / (cnt - 1);
	}
	return m;
}

struct stats_means stats_pooled(struct stats_moments before, unsigned int before_cnt,
				struct stats_moments after, unsigned int after_cnt)
{
	struct stats_means m = { .delta = after.mean - before.mean };
	double variance;

	if (before_cnt + after_cnt < 3)
		return m;
	m.df = before_cnt + after_cnt - 2;
	variance = ((before_cnt - 1) * before.variance + (after_cnt - 1) * after.variance) / m.df;
	m.se = sqrt(variance * (1.0 / before_cnt + 1.0 / after_cnt));
	return m;
}

struct stats_means stats_welch(struct stats_moments before, unsigned int before_cnt,
			       struct stats_moments after, unsigned int after_cnt)
{
	struct stats_means w = { .delta = after.mean - before.mean };
	double a, b;

	if (before_cnt < 2 && after_cnt < 2)
		return w;
	if (before_cnt < 2 || after_cnt < 2)
		return stats_pooled(before, before_cnt, after, after_cnt);
	a = before.variance / before_cnt;
	b = after.variance / after_cnt;
	w.se = sqrt(a + b);
	if (a + b > 0)
		w.df = (a + b) * (a + b) / (a * a / (before_cnt - 1) + b * b / (after_cnt - 1));
	return w;
}
