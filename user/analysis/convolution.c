/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/convolution.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/convedges.h"
#include "user/analysis/convpaths.h"
#include "user/base/mem.h"

enum {
	DEFAULT_LAG_MS = 2000,
	QUANTA_PER_LAG = 1000,
	STATS_LAGS_MIN = 1000, /* mean and sigma are taken over at least as many lags */
	SPIKES_MAX = 64,       /* of one correlation */
	FINE_PER_QUANTUM = 16, /* bins in which a delay is refined */
	PIECE_MIN = 1 << 18,   /* messages of a piece of a long trace: at least as many, */
	EDGE_PIECE = 1 << 12,  /* and as many times the number of edges */
};

#define NOISE_CHANCE  0.01 /* of a spike in a correlation of pure noise */
#define MIN_SHARE     0.02 /* of an edge's messages that a path must explain */
#define SPREAD_GROWTH 1.10 /* a wider spread must find as many more messages */
#define PAPER_N	      4.0
#define PAPER_S	      3.0

struct times {
	int64_t *ns; /* ascending */
	size_t cnt;
};

struct search {
	struct conv_opts o;
	struct conv_edges e;
	bool *is_root;
	int64_t lag_min; /* quanta */
	size_t lags_cnt; /* in which spikes are looked for */
	size_t stats_lags_cnt;
	double n_sigma;
	uint8_t *used; /* by edge: how often the present path goes over it */
	struct conv_path path;
	struct conv_result *result;
};

/* A hop over an edge, found at a spike. */
struct hop {
	uint32_t edge;
	int64_t lag; /* quanta */
	struct times times;
	int64_t delay_ns, deviation_ns;
	double messages; /* that come so late, beyond what chance puts there */
	double chance;
};

/* All differences between two sets of messages that lie in a window, as a histogram. */
struct differences {
	int64_t from_ns, width_ns;
	size_t bins_cnt;
	uint64_t *cnt;
	double *sums, *squares; /* of what lies in each bin */
};

static struct differences differences_new(const struct search *s, int64_t lag, int64_t spread)
{
	struct differences d = { .width_ns = (2 * spread + 2) * s->o.quantum_ns,
				 .bins_cnt = (size_t)(2 * spread + 2) * FINE_PER_QUANTUM };

	d.from_ns = (lag - spread - 1) *
		    s->o.quantum_ns; /* two times lag quanta apart differ by lag - 1 .. lag + 1 */
	d.cnt = xcalloc(d.bins_cnt, sizeof(*d.cnt));
	d.sums = xcalloc(d.bins_cnt, sizeof(*d.sums));
	d.squares = xcalloc(d.bins_cnt, sizeof(*d.squares));
	return d;
}

static void differences_free(struct differences *d)
{
	free(d->cnt);
	free(d->sums);
	free(d->squares);
}

/* O(messages + pairs in the window). */
static void count_differences(const struct times *m, const struct conv_edge *edge,
			      struct differences *d)
{
	size_t first = 0;

	for (size_t i = 0; i < edge->cnt; i++) {
		int64_t latest_ns = edge->times_ns[i] - d->from_ns;

		while (first < m->cnt && m->ns[first] <= latest_ns - d->width_ns)
			first++;
		for (size_t k = first; k < m->cnt && m->ns[k] <= latest_ns; k++) {
			double x = (double)(latest_ns - m->ns[k]);
			size_t b = (size_t)(x / (double)d->width_ns * (double)d->bins_cnt);

			b = b < d->bins_cnt ? b : d->bins_cnt - 1;
			d->cnt[b]++;
			d->sums[b] += x;
			d->squares[b] += x * x;
		}
	}
}

/* The bins around the highest that stand out of a level of chance; one that does not may lie between. */
static void find_peak(const struct differences *d, double floor_cnt, size_t *first, size_t *end)
{
	double level = floor_cnt + 2 * sqrt(floor_cnt) + 1;
	size_t top = 0;

	for (size_t b = 1; b < d->bins_cnt; b++)
		if (d->cnt[b] > d->cnt[top])
			top = b;
	*first = top;
	*end = top + 1;
	for (size_t b = top; b-- > 0 && *first - b <= 2;)
		if ((double)d->cnt[b] >= level)
			*first = b;
	for (size_t b = top + 1; b < d->bins_cnt && b - *end < 2; b++)
		if ((double)d->cnt[b] >= level)
			*end = b + 1;
}

/* Number, mean and deviation of the delays at a spike, finer than the quantum: of what rises above the level
 * of chance, which is what both borders of the window hold. */
static void measure(const struct search *s, const struct times *m, struct hop *h, int64_t spread)
{
	struct differences d = differences_new(s, h->lag, spread);
	double floor_cnt = 0, total = 0, weight = 0, mean = 0, square = 0;
	size_t border = FINE_PER_QUANTUM / 4, first, end;

	count_differences(m, &s->e.edges[h->edge], &d);
	for (size_t b = 0; b < border; b++)
		floor_cnt += (double)(d.cnt[b] + d.cnt[d.bins_cnt - 1 - b]) / (double)(2 * border);
	for (size_t b = 0; b < d.bins_cnt; b++)
		total += (double)d.cnt[b] - floor_cnt; /* noise cancels */
	find_peak(&d, floor_cnt, &first, &end);
	for (size_t b = first; b < end; b++) {
		double share = d.cnt[b] ? 1 - floor_cnt / (double)d.cnt[b] : 0;

		weight += share * (double)d.cnt[b];
		mean += share * d.sums[b];
		square += share * d.squares[b];
	}
	h->messages = total > 0 ? total : 0;
	mean = weight > 0 ? mean / weight : (double)d.width_ns / 2;
	square = weight > 0 ? square / weight - mean * mean : 0;
	h->delay_ns = d.from_ns + (int64_t)llround(mean);
	h->deviation_ns = (int64_t)llround(sqrt(square > 0 ? square : 0));
	differences_free(&d);
}

/* The messages of the edge that come after one of m by the hop's delay, three deviations (at least half a
 * quantum) give or take. O(m + edge). */
static struct times select_messages(const struct search *s, const struct times *m,
				    const struct hop *h, int64_t spread)
{
	const struct conv_edge *edge = &s->e.edges[h->edge];
	struct times out = { .ns = xcalloc(edge->cnt + 1, sizeof(*out.ns)) };
	int64_t reach_ns = 3 * h->deviation_ns;
	size_t at = 0;

	if (reach_ns < s->o.quantum_ns / 2)
		reach_ns = s->o.quantum_ns / 2;
	if (reach_ns > (spread + 1) * s->o.quantum_ns)
		reach_ns = (spread + 1) * s->o.quantum_ns;
	for (size_t i = 0; i < edge->cnt; i++) {
		int64_t from_ns = edge->times_ns[i] - h->delay_ns;

		while (at < m->cnt && m->ns[at] < from_ns - reach_ns)
			at++;
		if (at < m->cnt && m->ns[at] <= from_ns + reach_ns)
			out.ns[out.cnt++] = edge->times_ns[i];
	}
	return out;
}

static double least_messages(const struct search *s, const struct conv_edge *edge)
{
	double share = MIN_SHARE * (double)edge->cnt;

	return share > s->o.min_messages ? share : s->o.min_messages;
}

/* Whether the spike is worth following; then the hop is filled in. */
static bool follow_spike(const struct search *s, const struct times *m, const struct spike *spike,
			 const struct xcorr_stats *st, struct hop *h)
{
	int64_t spread = 1;

	h->lag = s->lag_min + (int64_t)spike->at;
	measure(s, m, h, spread);
	while (spread < CONV_SPREAD_MAX) {
		struct hop wider = *h;

		measure(s, m, &wider, spread + 1);
		if (wider.messages <= SPREAD_GROWTH * h->messages)
			break;
		*h = wider;
		spread++;
	}
	if (h->messages < least_messages(s, &s->e.edges[h->edge]) ||
	    h->delay_ns < -s->o.skew_ns - s->o.quantum_ns / 8)
		return false;
	h->times = select_messages(s, m, h, spread);
	if (h->messages > (double)h->times.cnt)
		h->messages = (double)h->times.cnt;
	h->chance = st->mean + PAPER_N * st->sigma;
	return h->times.cnt > 0;
}

static void emit(struct search *s, uint64_t messages, double chance)
{
	struct conv_result *r = s->result;
	struct conv_path *p;

	if (r->cnt >= CONV_PATHS_MAX) {
		r->stats.cut_cnt++;
		return;
	}
	r->paths = xgrow(r->paths, &r->cap, r->cnt + 1, sizeof(*r->paths));
	p = &r->paths[r->cnt++];
	*p = s->path;
	p->messages = messages;
	for (uint32_t k = 0; k < p->hops_cnt; k++) /* no hop has fewer than the whole */
		if (p->hop_messages[k] < p->messages)
			p->messages = p->hop_messages[k];
	p->chance = chance;
}

struct hops {
	struct hop *hops;
	size_t cnt, cap;
};

/* All hops that go on from node, after messages m, by the correlation with the signal of from. */
static struct hops find_hops(struct search *s, uint32_t node, const struct times *m)
{
	uint32_t first = s->e.first[node], cnt = s->e.first[node + 1] - first;
	struct hops found = { 0 };
	struct signal a = signal_make(m->ns, m->cnt, s->e.origin_ns, s->o.quantum_ns);
	struct signal *b = xcalloc((size_t)cnt + 1, sizeof(*b));
	double *c = xcalloc((size_t)cnt * s->stats_lags_cnt + 1, sizeof(*c));

	for (uint32_t i = 0; i < cnt; i++)
		b[i] = s->e.edges[first + i].signal;
	xcorr(&a, b, cnt, s->lag_min, s->stats_lags_cnt, s->o.engine, c);
	s->result->stats.correlations_cnt += cnt;
	for (uint32_t i = 0; i < cnt; i++) {
		const double *row = c + i * s->stats_lags_cnt;
		struct xcorr_stats st = xcorr_stats(row, s->stats_lags_cnt);
		struct spike spikes[SPIKES_MAX];
		size_t spikes_cnt = xcorr_spikes(row, s->lags_cnt, &st, s->n_sigma, s->o.s_sigma,
						 spikes, SPIKES_MAX);

		if (s->used[first + i] >= s->o.max_repeat)
			continue;
		for (size_t k = 0; k < spikes_cnt; k++) {
			struct hop h = { .edge = first + i };

			if (!follow_spike(s, m, &spikes[k], &st, &h))
				continue;
			found.hops = xgrow(found.hops, &found.cap, found.cnt + 1, sizeof(h));
			found.hops[found.cnt++] = h;
		}
	}
	signal_free(&a);
	free(b);
	free(c);
	return found;
}

static void extend(struct search *s, const struct times *m, uint64_t messages, double chance);

/* One hop further: the path grows by it, is followed to its ends, and shrinks again. */
static void take_hop(struct search *s, const struct times *m, struct hop *h)
{
	const struct conv_edge *edge = &s->e.edges[h->edge];
	uint32_t k = s->path.hops_cnt++;
	int64_t before_ns = 0;

	for (uint32_t i = 1; s->o.anchor_root && i < k; i++)
		before_ns += s->path.delay_ns[i - 1]; /* delays from the root are cumulative */
	s->path.nodes[k + 1] = edge->to;
	s->path.delay_ns[k - 1] = h->delay_ns - before_ns;
	s->path.deviation_ns[k - 1] = h->deviation_ns;
	s->path.hop_messages[k] = (uint64_t)llround(h->messages);
	s->used[h->edge]++;
	if (s->is_root[edge->to] || s->path.hops_cnt >= s->o.max_hops)
		emit(s, s->path.hop_messages[k], h->chance);
	else
		extend(s, s->o.anchor_root ? m : &h->times, s->path.hop_messages[k], h->chance);
	s->used[h->edge]--;
	s->path.hops_cnt--;
}

/* Anchored at the root, a later message cannot come much before the one that caused it. */
static bool in_order(const struct search *s, const struct hop *h)
{
	int64_t before_ns = 0;

	for (uint32_t i = 1; i < s->path.hops_cnt; i++)
		before_ns += s->path.delay_ns[i - 1];
	return !s->o.anchor_root || h->delay_ns >= before_ns - s->o.skew_ns - s->o.quantum_ns;
}

static void extend(struct search *s, const struct times *m, uint64_t messages, double chance)
{
	struct hops found = find_hops(s, s->path.nodes[s->path.hops_cnt], m);
	bool went_on = false;

	for (size_t i = 0; i < found.cnt; i++) {
		if (s->result->cnt < CONV_PATHS_MAX && in_order(s, &found.hops[i])) {
			take_hop(s, m, &found.hops[i]);
			went_on = true;
		}
		free(found.hops[i].times.ns);
	}
	free(found.hops);
	if (!went_on)
		emit(s, messages, chance);
}

static int check(struct conv_opts *o, struct err *err)
{
	o->max_lag_ns = o->max_lag_ns ? o->max_lag_ns : (int64_t)DEFAULT_LAG_MS * 1000000;
	o->quantum_ns = o->quantum_ns ? o->quantum_ns : o->max_lag_ns / QUANTA_PER_LAG;
	o->s_sigma = o->s_sigma > 0 ? o->s_sigma : PAPER_S;
	o->max_hops = o->max_hops ? o->max_hops : 12;
	o->max_repeat = o->max_repeat ? o->max_repeat : 2;
	o->min_messages = o->min_messages ? o->min_messages : 20;
	if (o->quantum_ns <= 0 || o->max_lag_ns < o->quantum_ns)
		return err_set(err, -EINVAL,
			       "the longest delay (%" PRId64
			       " ns) is shorter than the quantum (%" PRId64
			       " ns); raise --max-lag or lower --quantum",
			       o->max_lag_ns, o->quantum_ns);
	if ((o->max_lag_ns + o->skew_ns) / o->quantum_ns > (int64_t)(XCORR_LAGS_MAX / 8))
		return err_set(err, -EINVAL,
			       "delays up to %" PRId64 " ns are over %zu quanta of %" PRId64
			       " ns; raise --quantum or lower --max-lag",
			       o->max_lag_ns, XCORR_LAGS_MAX / 8, o->quantum_ns);
	if (o->max_hops > CONV_HOPS_MAX)
		return err_set(err, -EINVAL, "a path may have at most %d messages", CONV_HOPS_MAX);
	return 0;
}

static void start(struct search *s, const struct conv_edges *all)
{
	const struct conv_opts *o = &s->o;

	s->lag_min = -((o->skew_ns + o->quantum_ns - 1) / o->quantum_ns);
	s->lags_cnt = (size_t)(o->max_lag_ns / o->quantum_ns - s->lag_min + 1);
	s->stats_lags_cnt = s->lags_cnt > STATS_LAGS_MIN ? s->lags_cnt : STATS_LAGS_MIN;
	s->n_sigma = o->n_sigma > 0 ? o->n_sigma :
		     o->paper	    ? PAPER_N :
				      xcorr_threshold(s->lags_cnt, NOISE_CHANCE, PAPER_N);
	s->used = xcalloc(all->cnt + 1, sizeof(*s->used));
	s->is_root = xcalloc(all->nodes_cnt, sizeof(*s->is_root));
	if (!o->roots)
		s->result->stats.roots_cnt = conv_edges_roots(all, s->is_root);
	for (size_t i = 0; i < o->roots_cnt; i++) {
		if (o->roots[i] >= all->nodes_cnt)
			continue;
		s->result->stats.roots_cnt += !s->is_root[o->roots[i]];
		s->is_root[o->roots[i]] = true;
	}
	s->result->stats.messages_cnt = all->messages_cnt;
	s->result->stats.edges_cnt = all->cnt;
	s->result->stats.quanta_cnt =
		all->messages_cnt ?
			(uint64_t)((all->last_ns - all->origin_ns) / o->quantum_ns) + 1 :
			0;
}

static void search_piece(struct search *s)
{
	for (size_t i = 0; i < s->e.cnt; i++) {
		const struct conv_edge *d = &s->e.edges[i];
		struct times m = { .ns = d->times_ns, .cnt = d->own_cnt };

		if (!s->is_root[d->from] || !d->request_cnt || m.cnt < s->o.min_messages)
			continue;
		s->path = (struct conv_path){ .nodes = { d->from, d->to }, .hops_cnt = 1 };
		s->path.hop_messages[0] = m.cnt;
		s->used[i] = 1;
		if (s->is_root[d->to])
			emit(s, m.cnt, 0);
		else
			extend(s, &m, m.cnt, 0);
		s->used[i] = 0;
	}
}

/* A message may cause others as long as this after it. */
static int64_t reach_ns(const struct conv_opts *o)
{
	int64_t reach;

	return __builtin_mul_overflow(o->max_lag_ns, (int64_t)o->max_hops, &reach) ? INT64_MAX :
										     reach;
}

int conv_run(const struct msgtrace *t, const struct conv_opts *opts, struct conv_result *ret,
	     struct err *err)
{
	struct search s = { .o = *opts, .result = ret };
	int64_t *ends_ns, from_ns;
	struct conv_edges all;
	size_t pieces;
	int rc = check(&s.o, err);

	if (rc)
		return rc;
	*ret = (struct conv_result){ .quantum_ns = s.o.quantum_ns };
	all = conv_edges_make(t);
	start(&s, &all);
	ends_ns = conv_edges_cut(
		&all, (uint64_t)all.cnt * EDGE_PIECE > PIECE_MIN ? all.cnt * EDGE_PIECE : PIECE_MIN,
		reach_ns(&s.o), &pieces);
	from_ns = all.origin_ns;
	for (size_t i = 0; i < pieces; i++) {
		struct conv_result found = { 0 };

		progress_tick(s.o.progress, "correlating", i, pieces);
		s.e = conv_edges_piece(&all, from_ns, ends_ns[i], reach_ns(&s.o), s.o.quantum_ns);
		s.result = pieces > 1 ? &found : ret;
		search_piece(&s);
		conv_edges_piece_free(&s.e);
		if (pieces > 1)
			conv_paths_merge(ret, &found);
		from_ns = ends_ns[i];
	}
	if (s.o.no_echo)
		conv_paths_drop_echoes(ret);
	conv_paths_sort(ret);
	conv_edges_free(&all);
	free(ends_ns);
	free(s.used);
	free(s.is_root);
	return 0;
}

void conv_free(struct conv_result *r)
{
	free(r->paths);
	*r = (struct conv_result){ 0 };
}
