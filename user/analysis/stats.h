/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The statistics of a difference: distributions, and two ways to test thousands of frames at once without
 * calling noise a change. "Family-wise" means: the chance that anything at all is called a change when
 * nothing changed is at most alpha, however many frames there are and however they depend on each other.
 *
 * Sources: P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing (1993), algorithm 2.8 (step-down
 * max-T by permutation); Y. Ge, S. Dudoit, T. P. Speed, Resampling-based multiple testing for microarray
 * data analysis (2003), box 3; S. Holm, A simple sequentially rejective multiple test procedure (1979);
 * B. L. Welch, The generalization of Student's problem (1947); B. Phipson, G. K. Smyth, Permutation p-values
 * should never be zero (2010). The continued fraction of the incomplete beta function is Abramowitz and
 * Stegun 26.5.8. */
#ifndef CP_USER_ANALYSIS_STATS_H
#define CP_USER_ANALYSIS_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Regularised incomplete beta function I_x(a, b), a and b > 0; relative error about 1e-12. */
double stats_beta_inc(double a, double b, double x);
double stats_t_two_sided(double t, double df); /* P(|T| >= |t|); 0 < df */
double stats_t_quantile(double p, double df);  /* t with P(|T| > t) = p, 0 < p < 1 */
double stats_normal_two_sided(double z);
/* Two-sided p of k successes in n trials of probability q: twice the smaller tail, at most 1. k and n may
 * be fractions (effective counts). */
double stats_binomial_two_sided(double k, double n, double q);

/* Adjusts p[0..cnt-1] in place for cnt tests (Holm). O(n log n). */
void stats_holm(double *p, size_t cnt);

/* Runs in how many ways can be split into two sides of these sizes; at most limit. */
uint64_t stats_splits(unsigned int before_cnt, unsigned int after_cnt, uint64_t limit);
/* The smallest p that a permutation test can give with these sides. */
double stats_permutation_p_min(unsigned int before_cnt, unsigned int after_cnt,
			       uint32_t permutation_cnt);

/* Step-down max-T by permutation of the runs. values[run * frame_cnt + frame], the first before_cnt runs are
 * one side. p receives frame_cnt adjusted p-values (1 for a frame without variance). All splits are tried
 * when there are at most permutation_cnt of them, otherwise permutation_cnt random ones with the observed one
 * among them. O(permutations * runs * frames); memory: values again as floats. */
void stats_max_t(const double *values, size_t frame_cnt, unsigned int before_cnt,
		 unsigned int after_cnt, uint32_t permutation_cnt, uint64_t seed, double *p);

/* Mean and variance (n - 1) of one frame over runs first .. first + cnt - 1 of such a matrix. */
struct stats_moments {
	double mean, variance;
};
struct stats_moments stats_moments(const double *values, size_t frame_cnt, size_t frame,
				   unsigned int first, unsigned int cnt);

/* Tests of two means: the difference after - before, its standard error and degrees of freedom. Welch's
 * keeps the variances of the sides apart, the other pools them (Student). A side of one run borrows the
 * other's variance. df 0: nothing can be said. */
struct stats_means {
	double delta, se, df;
};
struct stats_means stats_pooled(struct stats_moments before, unsigned int before_cnt,
				struct stats_moments after, unsigned int after_cnt);
struct stats_means stats_welch(struct stats_moments before, unsigned int before_cnt,
			       struct stats_moments after, unsigned int after_cnt);

#endif
