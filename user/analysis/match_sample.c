/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/match_sample.h"

#include <math.h>
#include <stdlib.h>

#include "user/base/mem.h"

static double unit(struct match_sampler *s) /* (0, 1); splitmix64 */
{
	uint64_t z = (s->random += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static uint32_t below(struct match_sampler *s, uint32_t cnt)
{
	return (uint32_t)(unit(s) * cnt);
}

/* The calls that two requests would have. */
struct exchange {
	uint32_t i, j;
	uint32_t kids_i[MATCH_KIDS_MAX], kids_j[MATCH_KIDS_MAX]; /* now */
	uint32_t cnt_i, cnt_j;
	uint32_t new_i[2 * MATCH_KIDS_MAX], new_j[2 * MATCH_KIDS_MAX];
	uint32_t new_cnt_i, new_cnt_j;
	double log_ratio; /* of the chances of drawing the way back and this one */
};

static uint32_t list(const struct match_node *n, uint32_t r, uint32_t *kids)
{
	uint32_t cnt = 0;

	for (uint32_t o = n->first[r]; o != MATCH_NOBODY && cnt < MATCH_KIDS_MAX; o = n->next[o])
		kids[cnt++] = o;
	return cnt;
}

static double score(const struct match_node *n, uint32_t r, const uint32_t *kids, uint32_t cnt)
{
	const struct match_out *outs[MATCH_KIDS_MAX];

	for (uint32_t k = 0; k < cnt; k++)
		outs[k] = &n->outs[kids[k]];
	return match_model_score(&n->model, &n->reqs[r], outs, cnt);
}

static bool fits(const struct match_node *n, uint32_t o, uint32_t r)
{
	return !n->fixed[o] && match_node_fits(n, o, r);
}

static void insert(uint32_t *kids, uint32_t *cnt, uint32_t o)
{
	uint32_t k = (*cnt)++;

	for (; k && kids[k - 1] > o; k--)
		kids[k] = kids[k - 1];
	kids[k] = o;
}

/* Where in j's list the counterpart of call o is: one with the same endpoint, or cnt_j. */
static uint32_t counterpart(struct match_sampler *s, const struct exchange *x, uint32_t o)
{
	uint32_t same = 0, pick;

	for (uint32_t k = 0; k < x->cnt_j; k++)
		same += s->n->outs[x->kids_j[k]].endpoint == s->n->outs[o].endpoint;
	if (!same)
		return x->cnt_j;
	pick = below(s, same);
	for (uint32_t k = 0;; k++)
		if (s->n->outs[x->kids_j[k]].endpoint == s->n->outs[o].endpoint && !pick--)
			return k;
}

static uint32_t keep_rest(const uint32_t *kids, uint32_t cnt, uint32_t from, uint32_t to,
			  uint32_t *rest)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < cnt; k++)
		if (k < from || k >= to)
			rest[kept++] = kids[k];
	return kept;
}

/* Exchanges kids_i[a..a_end) with kids_j[b..b_end). */
static bool exchange_runs(const struct match_node *n, struct exchange *x, const uint32_t *run)
{
	uint32_t a = run[0], a_end = run[1], b = run[2], b_end = run[3];

	for (uint32_t k = a; k < a_end; k++)
		if (!fits(n, x->kids_i[k], x->j))
			return false;
	for (uint32_t k = b; k < b_end; k++)
		if (!fits(n, x->kids_j[k], x->i))
			return false;
	x->new_cnt_i = keep_rest(x->kids_i, x->cnt_i, a, a_end, x->new_i);
	x->new_cnt_j = keep_rest(x->kids_j, x->cnt_j, b, b_end, x->new_j);
	for (uint32_t k = a; k < a_end; k++)
		insert(x->new_j, &x->new_cnt_j, x->kids_i[k]);
	for (uint32_t k = b; k < b_end; k++)
		insert(x->new_i, &x->new_cnt_i, x->kids_j[k]);
	return true;
}

static void relink(struct match_node *n, uint32_t r, const uint32_t *kids, uint32_t cnt)
{
	uint32_t *link = &n->first[r];

	for (uint32_t k = 0; k < cnt; k++) {
		*link = kids[k];
		link = &n->next[kids[k]];
		n->req_of[kids[k]] = r;
	}
	*link = MATCH_NOBODY;
}

/* The first of j's calls that is not before call o. */
static uint32_t not_before(const struct exchange *x, uint32_t o)
{
	uint32_t b = 0;

	while (b < x->cnt_j && x->kids_j[b] < o)
		b++;
	return b;
}

/* Draws what to exchange when call kids_i[a] moves: run = {a, a_end, b, b_end}. Runs begin at calls of one
 * kind or at one time, and end after as many calls or at one time. */
static void draw_runs(struct match_sampler *s, const struct exchange *x, uint32_t a, uint32_t *run)
{
	double kind = unit(s);
	uint32_t b = counterpart(s, x, x->kids_i[a]), len;
	bool none = b == x->cnt_j, by_time = none || unit(s) < MATCH_BY_TIME_SHARE;

	run[0] = a;
	if (kind >= MATCH_TAIL_SHARE + MATCH_RUN_SHARE) { /* one call */
		run[1] = a + 1;
		run[2] = b;
		run[3] = none || unit(s) < MATCH_GIVE_SHARE ? b : b + 1;
		return;
	}
	if (by_time)
		b = not_before(x, x->kids_i[a]);
	run[2] = b;
	if (kind < MATCH_TAIL_SHARE) {
		run[1] = x->cnt_i;
		run[3] = x->cnt_j;
		return;
	}
	len = 1 + below(s, x->cnt_i - a);
	run[1] = a + len;
	if (by_time)
		run[3] = run[1] < x->cnt_i ? not_before(x, x->kids_i[run[1]]) : x->cnt_j;
	else
		run[3] = b + len < x->cnt_j ? b + len : x->cnt_j;
}

/* How readily call o is offered to its candidate number c: mostly where it was seen before. */
static double offer(const struct match_sampler *s, uint32_t o, size_t c)
{
	double cnt = (double)(s->n->cand_start[o + 1] - s->n->cand_start[o]);

	return (1 - s->offer_any) * (double)s->seen[c] + s->offer_any / cnt;
}

static double offer_to(const struct match_sampler *s, uint32_t o, uint32_t req)
{
	const struct match_node *n = s->n;

	for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1]; c++)
		if (n->cands[c] == req)
			return offer(s, o, c);
	return 0;
}

static uint32_t draw_candidate(struct match_sampler *s, uint32_t o)
{
	const struct match_node *n = s->n;
	double at = unit(s);
	size_t c = n->cand_start[o];

	for (; c + 1 < n->cand_start[o + 1]; c++) {
		at -= offer(s, o, c);
		if (at < 0)
			break;
	}
	return n->cands[c];
}

static bool propose(struct match_sampler *s, uint32_t o, struct exchange *x)
{
	struct match_node *n = s->n;
	uint32_t cands = (uint32_t)(n->cand_start[o + 1] - n->cand_start[o]), a, run[4];
	double there, back;

	x->i = n->req_of[o];
	if (cands < 2 || x->i == MATCH_NOBODY || n->fixed[o])
		return false;
	x->j = draw_candidate(s, o);
	if (x->j == x->i)
		return false;
	x->cnt_i = list(n, x->i, x->kids_i);
	x->cnt_j = list(n, x->j, x->kids_j);
	for (a = 0; x->kids_i[a] != o;)
		if (++a == x->cnt_i)
			return false;
	draw_runs(s, x, a, run);
	if (!exchange_runs(n, x, run) || x->new_cnt_i > MATCH_KIDS_MAX ||
	    x->new_cnt_j > MATCH_KIDS_MAX)
		return false;
	there = offer_to(s, o, x->j);
	back = offer_to(s, o, x->i);
	if (run[2] < run[3]) { /* the same exchange can begin at the other end */
		there += offer_to(s, x->kids_j[run[2]], x->i);
		back += offer_to(s, x->kids_j[run[2]], x->j);
	}
	x->log_ratio = log(back / there);
	return true;
}

static void step(struct match_sampler *s, uint32_t o, struct exchange *x)
{
	double si, sj, gain;

	if (!propose(s, o, x))
		return;
	si = score(s->n, x->i, x->new_i, x->new_cnt_i);
	sj = score(s->n, x->j, x->new_j, x->new_cnt_j);
	gain = (si + sj - s->score[x->i] - s->score[x->j]) / s->temperature + x->log_ratio;
	s->tried_cnt++;
	if (gain < 0 && log(unit(s)) > gain)
		return;
	s->taken_cnt++;
	s->score[x->i] = si;
	s->score[x->j] = sj;
	relink(s->n, x->i, x->new_i, x->new_cnt_i);
	relink(s->n, x->j, x->new_j, x->new_cnt_j);
}

void match_sampler_init(struct match_sampler *s, struct match_node *n, uint64_t seed)
{
	*s = (struct match_sampler){ .n = n, .temperature = 1, .offer_any = 1, .random = seed };
	s->score = xcalloc((size_t)n->reqs_cnt + 1, sizeof(*s->score));
	s->seen = xcalloc(n->cand_start[n->outs_cnt] + 1, sizeof(*s->seen));
	for (uint32_t o = 0; o < n->outs_cnt; o++)
		for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1]; c++)
			s->seen[c] = 1 / (float)(n->cand_start[o + 1] - n->cand_start[o]);
}

void match_sampler_free(struct match_sampler *s)
{
	free(s->score);
	free(s->seen);
}

void match_sampler_refresh(struct match_sampler *s)
{
	uint32_t kids[MATCH_KIDS_MAX];

	for (uint32_t r = 0; r < s->n->reqs_cnt; r++)
		s->score[r] = score(s->n, r, kids, list(s->n, r, kids));
}

void match_sampler_sweep(struct match_sampler *s)
{
	struct exchange *x = xmalloc(sizeof(*x));

	for (uint32_t o = 0; o < s->n->outs_cnt; o++)
		step(s, o, x);
	free(x);
}

void match_sampler_note(struct match_sampler *s, double share)
{
	const struct match_node *n = s->n;
	float keep = (float)(1 - share), add = (float)share;

	for (uint32_t o = 0; o < n->outs_cnt; o++)
		for (size_t c = n->cand_start[o]; c < n->cand_start[o + 1]; c++)
			s->seen[c] = s->seen[c] * keep + (n->cands[c] == n->req_of[o] ? add : 0);
}
