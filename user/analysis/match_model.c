/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/match_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	FROM_ARRIVAL = 0,
	FROM_KIND = 1
}; /* then FROM_KIND + kinds: sent, + 1: any */

/* One event that the model must explain: a call's start, or the answer. */
struct factor {
	uint32_t mix; /* row of mix_share */
	uint32_t cnt;
	struct {
		uint32_t trigger;
		uint32_t from;
		uint32_t bin;
	} by[MATCH_TRIGGERS];
	uint32_t to;
};

static uint32_t from_sent(const struct match_model *m)
{
	return FROM_KIND + m->kinds;
}

static uint32_t from_any(const struct match_model *m)
{
	return FROM_KIND + m->kinds + 1;
}

static size_t key(const struct match_model *m, uint32_t cls, uint32_t from, uint32_t to)
{
	return ((size_t)cls * (from_any(m) + 1) + from) * (m->kinds + 1) + to;
}

static uint32_t mix_row(const struct match_model *m, uint32_t cls, uint32_t to)
{
	return cls * (m->kinds + 1) + to;
}

static size_t follow_row(const struct match_model *m, uint32_t cls, uint32_t from)
{
	return (size_t)cls * (m->kinds + 1) + from;
}

static double *count_row(const struct match_model *m, double *table, uint32_t cls,
			 uint32_t endpoint)
{
	return table + ((size_t)cls * m->endpoints + endpoint) * MATCH_COUNTS;
}

void match_model_init(struct match_model *m, const struct gap_kernels *kernels, uint32_t classes,
		      uint32_t endpoints)
{
	size_t mixes, counts;

	*m = (struct match_model){ .kernels = kernels, .classes = classes, .endpoints = endpoints };
	m->kinds = endpoints * MATCH_ORDINALS;
	m->keys_cnt = key(m, classes + 1, 0, 0);
	m->dist_of_key = xcalloc(m->keys_cnt, sizeof(*m->dist_of_key));
	mixes = (size_t)mix_row(m, classes, 0) * MATCH_TRIGGERS;
	counts = (size_t)classes * endpoints * MATCH_COUNTS;
	m->mix = xcalloc(mixes + 1, sizeof(*m->mix));
	m->mix_share = xcalloc(mixes + 1, sizeof(*m->mix_share));
	m->counts = xcalloc(counts + 1, sizeof(*m->counts));
	m->count_log = xcalloc(counts + 1, sizeof(*m->count_log));
	m->dists_cnt = 1;
	m->follow_total = xcalloc(follow_row(m, classes + 1, 0), sizeof(double));
	m->follow_rest = xcalloc(follow_row(m, classes + 1, 0), sizeof(double));
	match_model_clear(m);
	match_model_fit(m);
}

void match_model_free(struct match_model *m)
{
	free(m->dist_of_key);
	free(m->weights);
	free(m->density);
	free(m->mix);
	free(m->follow_sum);
	free(m->follow_share);
	free(m->follow_total);
	free(m->follow_rest);
	free(m->counts);
	free(m->mix_share);
	free(m->count_log);
	*m = (struct match_model){ 0 };
}

/* Ordinal of kid n among those to its endpoint, capped; *again: how many there are up to it. */
static uint32_t ordinal(const struct match_out *const *kids, uint32_t n, uint32_t *seen)
{
	uint32_t j = n;

	seen[n] = 1;
	while (j-- > 0)
		if (kids[j]->endpoint == kids[n]->endpoint) {
			seen[n] = seen[j] + 1;
			seen[j] = 0; /* no longer the last one */
			break;
		}
	return seen[n] < MATCH_ORDINALS ? seen[n] - 1 : MATCH_ORDINALS - 1;
}

/* What happened so far in a request, while its calls are walked in the order of their starts. */
struct past {
	int64_t latest; /* latest of {arrival, ends so far} */
	uint32_t latest_from;
	int64_t sent;			  /* latest start */
	uint32_t pending[MATCH_KIDS_MAX]; /* calls that had not returned */
	uint32_t pending_cnt;
};

static void note_returns(struct past *p, const struct match_out *const *kids, const uint32_t *kinds,
			 int64_t now)
{
	uint32_t keep = 0;

	for (uint32_t i = 0; i < p->pending_cnt; i++) {
		uint32_t n = p->pending[i];

		if (kids[n]->end > now) {
			p->pending[keep++] = n;
		} else if (kids[n]->end >= p->latest) {
			p->latest = kids[n]->end;
			p->latest_from = FROM_KIND + kinds[n];
		}
	}
	p->pending_cnt = keep;
}

static void add_trigger(struct factor *f, uint32_t trigger, uint32_t from, int64_t gap)
{
	f->by[f->cnt].trigger = trigger;
	f->by[f->cnt].from = from;
	f->by[f->cnt].bin = gap_bin(gap);
	f->cnt++;
}

/* Fills kids_cnt + 1 factors; seen[n] is, for the last call to each endpoint, how many there are. */
static void factorise(const struct match_model *m, const struct match_request *r,
		      const struct match_out *const *kids, uint32_t kids_cnt, struct factor *f,
		      uint32_t *seen)
{
	struct past p = { .latest = r->start, .latest_from = FROM_ARRIVAL };
	uint32_t kinds[MATCH_KIDS_MAX];

	for (uint32_t n = 0; n < kids_cnt; n++) {
		int64_t now = kids[n]->start;

		kinds[n] = kids[n]->endpoint * MATCH_ORDINALS + ordinal(kids, n, seen);
		note_returns(&p, kids, kinds, now);
		f[n] = (struct factor){ .to = kinds[n], .mix = mix_row(m, r->cls, kinds[n]) };
		add_trigger(&f[n], 0, p.latest_from, now - p.latest);
		add_trigger(&f[n], 1, FROM_ARRIVAL, now - r->start);
		if (n)
			add_trigger(&f[n], 2, from_sent(m), now - p.sent);
		p.sent = now;
		p.pending[p.pending_cnt++] = n;
	}
	note_returns(&p, kids, kinds, INT64_MAX);
	f[kids_cnt] = (struct factor){ .to = m->kinds, .mix = mix_row(m, r->cls, m->kinds) };
	add_trigger(&f[kids_cnt], 0, p.latest_from, r->end - p.latest);
	add_trigger(&f[kids_cnt], 1, FROM_ARRIVAL, r->end - r->start);
}

/* The distribution of a delay as far as the last fit knew it, or 0. */
static uint32_t fitted(const struct match_model *m, uint32_t cls, uint32_t from, uint32_t to)
{
	uint32_t dist = m->dist_of_key[key(m, cls, from, to)];

	return dist < m->fitted_cnt ? dist : 0;
}

/* The narrowest distribution of a delay about which anything was learned. */
static uint32_t dist_of(const struct match_model *m, uint32_t cls, uint32_t from, uint32_t to)
{
	uint32_t dist = fitted(m, cls, from, to);

	if (!dist)
		dist = fitted(m, m->classes, from, to);
	return dist ? dist : fitted(m, m->classes, from_any(m), to);
}

/* Probability that the next thing a request does after event from is to. */
static double follow(const struct match_model *m, uint32_t cls, uint32_t from, uint32_t to)
{
	uint32_t own = fitted(m, cls, from, to), all = fitted(m, m->classes, from, to);
	double base;

	if (own)
		return m->follow_share[own];
	base = all ? m->follow_share[all] :
		     m->follow_rest[follow_row(m, m->classes, from)] / (m->kinds + 1);
	return base * m->follow_rest[follow_row(m, cls, from)];
}

/* Share of each trigger in the density of an event. Returns the density. */
static double mixture(const struct match_model *m, const struct factor *f, uint32_t cls,
		      double *part)
{
	const double *share = m->mix_share + (size_t)f->mix * MATCH_TRIGGERS;
	double sum = 0, total = 0;

	for (uint32_t i = 0; i < f->cnt; i++) {
		uint32_t dist = dist_of(m, cls, f->by[i].from, f->to);

		part[i] = share[f->by[i].trigger] *
			  m->density[(size_t)dist * GAP_BINS + f->by[i].bin];
		sum += part[i];
		total += share[f->by[i].trigger];
	}
	return sum / total;
}

static double thread_score(const struct match_model *m, const struct match_request *r,
			   const struct match_out *const *kids, uint32_t kids_cnt)
{
	double ll = 0;

	for (uint32_t n = 0; n < kids_cnt && r->tid; n++)
		if (kids[n]->tid)
			ll += m->tid_log[kids[n]->tid == r->tid];
	return ll;
}

double match_model_score(const struct match_model *m, const struct match_request *r,
			 const struct match_out *const *kids, uint32_t kids_cnt)
{
	struct factor f[MATCH_KIDS_MAX + 1];
	uint32_t seen[MATCH_KIDS_MAX];
	double ll = 0, product = 1, part[MATCH_TRIGGERS];

	factorise(m, r, kids, kids_cnt, f, seen);
	for (uint32_t n = 0; n <= kids_cnt; n++) {
		product *= mixture(m, &f[n], r->cls, part) *
			   follow(m, r->cls, f[n].by[0].from, f[n].to);
		if (product < 1e-200) {
			ll += log(product);
			product = 1;
		}
	}
	ll += log(product);
	for (uint32_t n = 0; n < kids_cnt; n++) {
		const double *row = count_row(m, m->count_log, r->cls, kids[n]->endpoint);

		if (seen[n]) /* rows hold ln P(n) - ln P(0): silent endpoints need no visit */
			ll += row[seen[n] < MATCH_COUNTS ? seen[n] : MATCH_COUNTS - 1];
	}
	return ll + thread_score(m, r, kids, kids_cnt);
}

void match_model_clear(struct match_model *m)
{
	if (m->weights)
		memset(m->weights, 0, (size_t)m->dists_cnt * GAP_BINS * sizeof(double));
	if (m->follow_sum)
		memset(m->follow_sum, 0, m->dists_cnt * sizeof(double));
	memset(m->follow_total, 0, follow_row(m, m->classes + 1, 0) * sizeof(double));
	memset(m->mix, 0, (size_t)mix_row(m, m->classes, 0) * MATCH_TRIGGERS * sizeof(double));
	memset(m->counts, 0, (size_t)m->classes * m->endpoints * MATCH_COUNTS * sizeof(double));
	m->tid_sums[0] = m->tid_sums[1] = 0;
	m->low_bin = m->top_bin = GAP_NEG_BINS;
}

static void add_sample(struct match_model *m, size_t k, uint32_t bin, double weight)
{
	if (!m->dist_of_key[k]) {
		size_t need = ((size_t)m->dists_cnt + 1) * GAP_BINS;

		m->weights = xgrow(m->weights, &m->weights_cap, need, sizeof(double));
		m->density = xgrow(m->density, &m->density_cap, need, sizeof(double));
		m->follow_sum =
			xgrow(m->follow_sum, &m->follow_sum_cap, m->dists_cnt + 1, sizeof(double));
		m->follow_sum[m->dists_cnt] = 0;
		m->dist_of_key[k] = m->dists_cnt++;
		memset(m->weights + need - GAP_BINS, 0, GAP_BINS * sizeof(double));
		memset(m->density + need - GAP_BINS, 0, GAP_BINS * sizeof(double));
	}
	m->weights[(size_t)m->dist_of_key[k] * GAP_BINS + bin] += weight;
	m->top_bin = bin > m->top_bin ? bin : m->top_bin;
	m->low_bin = bin < m->low_bin ? bin : m->low_bin;
}

static void add_gap(struct match_model *m, uint32_t cls, uint32_t from, uint32_t to, uint32_t bin,
		    double weight)
{
	add_sample(m, key(m, cls, from, to), bin, weight);
	add_sample(m, key(m, m->classes, from, to), bin, weight);
	add_sample(m, key(m, m->classes, from_any(m), to), bin, weight);
}

/* The delay between the two must have been added before. */
static void add_follow(struct match_model *m, uint32_t cls, uint32_t from, uint32_t to,
		       double weight)
{
	m->follow_sum[m->dist_of_key[key(m, cls, from, to)]] += weight;
	m->follow_sum[m->dist_of_key[key(m, m->classes, from, to)]] += weight;
	m->follow_total[follow_row(m, cls, from)] += weight;
	m->follow_total[follow_row(m, m->classes, from)] += weight;
}

void match_model_add(struct match_model *m, const struct match_request *r,
		     const struct match_out *const *kids, uint32_t kids_cnt, double weight)
{
	struct factor f[MATCH_KIDS_MAX + 1];
	uint32_t seen[MATCH_KIDS_MAX];

	factorise(m, r, kids, kids_cnt, f, seen);
	for (uint32_t n = 0; n <= kids_cnt; n++) {
		double part[MATCH_TRIGGERS], sum = 0;

		mixture(m, &f[n], r->cls, part);
		for (uint32_t i = 0; i < f[n].cnt; i++)
			sum += part[i];
		for (uint32_t i = 0; i < f[n].cnt; i++) {
			double share = weight * (sum > 0 ? part[i] / sum : 1.0 / f[n].cnt);

			m->mix[(size_t)f[n].mix * MATCH_TRIGGERS + f[n].by[i].trigger] += share;
			add_gap(m, r->cls, f[n].by[i].from, f[n].to, f[n].by[i].bin, share);
		}
		add_follow(m, r->cls, f[n].by[0].from, f[n].to, weight);
	}
	for (uint32_t n = 0; n < kids_cnt && r->tid; n++)
		if (kids[n]->tid)
			m->tid_sums[kids[n]->tid == r->tid] += weight;
	for (uint32_t n = 0; n < kids_cnt; n++) {
		uint32_t cnt = seen[n] < MATCH_COUNTS ? seen[n] : MATCH_COUNTS - 1;

		if (cnt)
			count_row(m, m->counts, r->cls, kids[n]->endpoint)[cnt] += weight;
	}
	for (uint32_t e = 0; e < m->endpoints; e++)
		count_row(m, m->counts, r->cls, e)[0] += weight; /* all requests; see fit_counts */
}

void match_model_add_pair(struct match_model *m, const struct match_request *r,
			  const struct match_out *kid, double weight)
{
	uint32_t kind = kid->endpoint * MATCH_ORDINALS;

	add_gap(m, r->cls, FROM_ARRIVAL, kind, gap_bin(kid->start - r->start), weight);
	add_gap(m, r->cls, FROM_KIND + kind, m->kinds, gap_bin(r->end - kid->end), weight);
	add_follow(m, r->cls, FROM_ARRIVAL, kind, weight);
	add_follow(m, r->cls, FROM_KIND + kind, m->kinds, weight);
}

/* ln P(n) - ln P(0) from the number of requests with n calls. */
static void fit_count(const double *sums, double total, double *out)
{
	double zero = total, all = total;

	for (uint32_t n = 1; n < MATCH_COUNTS; n++) {
		zero -= sums[n];
		all += MATCH_PRIOR_COUNT;
	}
	zero = (zero > 0 ? zero : 0) + MATCH_PRIOR_COUNT;
	all += MATCH_PRIOR_COUNT;
	out[0] = 0;
	for (uint32_t n = 1; n < MATCH_COUNTS; n++)
		out[n] = log((sums[n] + MATCH_PRIOR_COUNT) / all) - log(zero / all);
}

void match_model_guess_counts(struct match_model *m, uint32_t endpoint, double calls_per_request)
{
	double mean = calls_per_request < 1e-3 ? 1e-3 : calls_per_request, none = exp(-mean);

	/* geometric above one: broad enough for any first guess */
	for (uint32_t c = 0; c < m->classes; c++) {
		double *row = count_row(m, m->counts, c, endpoint);

		row[0] = 1000;
		for (uint32_t n = 1; n < MATCH_COUNTS; n++)
			row[n] = 1000 * (1 - none) * 0.5 * pow(0.5, n - 1);
		if (mean <= 1) {
			row[1] = 1000 * mean * 0.9;
			row[2] = 1000 * mean * 0.05;
			for (uint32_t n = 3; n < MATCH_COUNTS; n++)
				row[n] = 0;
		}
	}
}

static void fit_dist(struct match_model *m, uint32_t dist, const double *broad, double broad_weight,
		     double *smooth)
{
	const double *w = m->weights + (size_t)dist * GAP_BINS;
	double *out = m->density + (size_t)dist * GAP_BINS;
	double total = 0;

	gap_smooth(m->kernels, w, smooth);
	for (uint32_t b = 0; b < GAP_BINS; b++)
		total += w[b];
	for (uint32_t b = 0; b < GAP_BINS; b++)
		out[b] = (total * smooth[b] + broad_weight * broad[b]) / (total + broad_weight);
}

static void to_density(struct match_model *m)
{
	double width[GAP_BINS];

	for (uint32_t b = 0; b < GAP_BINS; b++)
		width[b] = gap_bin_width(b);
	for (size_t i = 0; i < (size_t)m->dists_cnt * GAP_BINS; i++)
		m->density[i] /= width[i % GAP_BINS];
}

/* From the broadest relatives to the narrowest, so that each finds its prior ready as probabilities. */
static void fit_dists(struct match_model *m)
{
	double *any = m->density; /* distribution 0: a delay of any length */
	double smooth[GAP_BINS];

	gap_any(m->low_bin, m->top_bin, any);
	for (uint32_t to = 0; to <= m->kinds; to++) {
		uint32_t base = m->dist_of_key[key(m, m->classes, from_any(m), to)];

		if (!base)
			continue;
		fit_dist(m, base, any, MATCH_PRIOR_ANY, smooth);
		for (uint32_t from = 0; from < from_any(m); from++) {
			uint32_t all = m->dist_of_key[key(m, m->classes, from, to)];

			if (!all)
				continue;
			fit_dist(m, all, m->density + (size_t)base * GAP_BINS, MATCH_PRIOR_FROM,
				 smooth);
			for (uint32_t c = 0; c < m->classes; c++) {
				uint32_t own = m->dist_of_key[key(m, c, from, to)];

				if (own)
					fit_dist(m, own, m->density + (size_t)all * GAP_BINS,
						 MATCH_PRIOR_CLASS, smooth);
			}
		}
	}
	to_density(m);
}

static void fit_threads(struct match_model *m)
{
	double links = m->tid_sums[0] + m->tid_sums[1], pairs = m->tid_chance[0] + m->tid_chance[1];

	for (int same = 0; same < 2; same++)
		m->tid_log[same] = links > 0 && pairs > 0 ?
					   log((m->tid_sums[same] + 1) / (links + 2)) -
						   log((m->tid_chance[same] + 1) / (pairs + 2)) :
					   0;
}

static void fit_follow_row(struct match_model *m, uint32_t cls, uint32_t from)
{
	double total = m->follow_total[follow_row(m, cls, from)] + MATCH_PRIOR_FOLLOW;

	m->follow_rest[follow_row(m, cls, from)] = MATCH_PRIOR_FOLLOW / total;
	for (uint32_t to = 0; to <= m->kinds; to++) {
		uint32_t dist = m->dist_of_key[key(m, cls, from, to)];
		double base = 1.0 / (m->kinds + 1);

		if (!dist)
			continue;
		if (cls < m->classes)
			base = m->follow_share[m->dist_of_key[key(m, m->classes, from, to)]];
		m->follow_share[dist] = (m->follow_sum[dist] + MATCH_PRIOR_FOLLOW * base) / total;
	}
}

/* Row m->classes is what all classes share: it comes first. */
static void fit_follow(struct match_model *m)
{
	m->follow_share =
		xgrow(m->follow_share, &m->follow_share_cap, m->dists_cnt, sizeof(double));
	for (uint32_t cls = m->classes + 1; cls-- > 0;)
		for (uint32_t from = 0; from <= m->kinds; from++)
			fit_follow_row(m, cls, from);
}

void match_model_fit(struct match_model *m)
{
	size_t rows = mix_row(m, m->classes, 0);

	if (!m->density) {
		m->weights = xgrow(m->weights, &m->weights_cap, GAP_BINS, sizeof(double));
		m->density = xgrow(m->density, &m->density_cap, GAP_BINS, sizeof(double));
		memset(m->weights, 0, GAP_BINS * sizeof(double));
	}
	m->fitted_cnt = m->dists_cnt;
	fit_dists(m);
	fit_threads(m);
	fit_follow(m);
	for (size_t i = 0; i < rows; i++) {
		double *sums = m->mix + i * MATCH_TRIGGERS, total = 0;

		for (uint32_t t = 0; t < MATCH_TRIGGERS; t++)
			total += sums[t] + MATCH_PRIOR_MIX;
		for (uint32_t t = 0; t < MATCH_TRIGGERS; t++)
			m->mix_share[i * MATCH_TRIGGERS + t] = (sums[t] + MATCH_PRIOR_MIX) / total;
	}
	for (uint32_t c = 0; c < m->classes; c++)
		for (uint32_t e = 0; e < m->endpoints; e++) {
			const double *row = count_row(m, m->counts, c, e);

			fit_count(row, row[0], count_row(m, m->count_log, c, e));
		}
}
