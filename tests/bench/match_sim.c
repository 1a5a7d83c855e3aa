/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a set of call records with known causes, for developing and judging the matching method:
 *	match_sim SCENARIO REQUESTS PARALLEL SEED PREFIX
 * writes PREFIX.spans.tsv (service, in|out, peer, start us, end us, id) and PREFIX.truth.tsv (out id, in id,
 * request). PARALLEL is the mean number of open requests. Scenarios are programs of one service, so that
 * the result is the accuracy of one service; the others' effect is the product. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rng.h"

enum {
	KIDS_MAX = 32,
	STEPS_MAX = 16
};

/* A step starts one or more calls (a fork) and goes on when all have returned. */
struct step {
	int forks; /* calls started together, to endpoints endpoint .. endpoint + forks - 1 */
	int endpoint;
	double chance;		    /* that the step is done at all */
	int repeat_min, repeat_max; /* times in turn */
	double work_us;		    /* median of the own work before */
	double spread;		    /* sigma of its logarithm */
	double call_us;		    /* median of the calls' length */
	double call_spread;
	double stagger_us; /* between the starts of forked calls */
};

struct scenario {
	const char *name;
	int classes;
	struct step steps[2][STEPS_MAX]; /* by class; ends with work_us = 0 */
	double last_us, last_spread;	 /* own work before the answer */
	double stall_chance, stall_us;	 /* own work that takes much longer */
	double early_chance, early_us;	 /* the answer is stamped before the last call's return */
	long tick_us;			 /* clock */
	bool one_cpu; /* own work is done by one thread, first come first served */
};

static const struct scenario scenarios[] = {
	{ .name = "chain",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 1, 200, .5, 5000, .6, 0 },
		       { 1, 1, 1, 1, 1, 300, .6, 3000, .5, 0 },
		       { 1, 2, 1, 1, 1, 150, .7, 2500, .7, 0 } } },
	  .last_us = 250,
	  .last_spread = .5,
	  .stall_chance = .03,
	  .stall_us = 4000,
	  .tick_us = 1 },
	{ .name = "fork",
	  .classes = 1,
	  .steps = { { { 5, 0, 1, 1, 1, 150, .5, 3000, .6, 60 },
		       { 1, 5, 1, 1, 1, 120, .4, 1500, .5, 0 },
		       { 3, 6, 1, 1, 1, 100, .5, 2500, .8, 40 } } },
	  .last_us = 100,
	  .last_spread = .5,
	  .stall_chance = .02,
	  .stall_us = 3000,
	  .tick_us = 1 },
	{ .name = "cache",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 1, 200, .5, 800, .4, 0 },
		       { 1, 1, .3, 1, 1, 150, .4, 6000, .7, 0 },
		       { 1, 2, .3, 1, 1, 100, .4, 700, .4, 0 },
		       { 1, 3, 1, 1, 1, 300, .5, 2000, .5, 0 } } },
	  .last_us = 150,
	  .last_spread = .4,
	  .stall_chance = .02,
	  .stall_us = 3000,
	  .tick_us = 1 },
	{ .name = "loop",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 4, 200, .4, 1500, .5, 0 },
		       { 1, 1, 1, 1, 1, 300, .5, 3000, .6, 0 } } },
	  .last_us = 200,
	  .last_spread = .5,
	  .stall_chance = .02,
	  .stall_us = 3000,
	  .tick_us = 1 },
	{ .name = "classes",
	  .classes = 2,
	  .steps = { { { 1, 0, 1, 1, 1, 150, .4, 3000, .6, 0 },
		       { 1, 1, 1, 1, 1, 400, .5, 3000, .6, 0 } },
		     { { 1, 1, 1, 1, 1, 100, .4, 2000, .6, 0 },
		       { 1, 0, 1, 1, 1, 800, .6, 4000, .6, 0 } } },
	  .last_us = 200,
	  .last_spread = .5,
	  .stall_chance = .02,
	  .stall_us = 3000,
	  .tick_us = 1 },
	{ .name = "eventloop",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 1, 300, .5, 3000, .4, 0 },
		       { 1, 1, 1, 1, 1, 200, .6, 2000, .3, 0 },
		       { 1, 2, 1, 1, 1, 200, .6, 4000, .4, 0 } } },
	  .last_us = 200,
	  .last_spread = .5,
	  .tick_us = 1000,
	  .one_cpu = true },
	{ .name = "early",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 1, 200, .5, 5000, .6, 0 },
		       { 1, 1, 1, 1, 1, 300, .6, 3000, .5, 0 } } },
	  .last_us = 250,
	  .last_spread = .5,
	  .stall_chance = .03,
	  .stall_us = 4000,
	  .early_chance = .02,
	  .early_us = 100,
	  .tick_us = 1 },
	{ .name = "coarse",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 1, 900, .5, 8000, .5, 0 },
		       { 1, 1, 1, 1, 1, 1200, .6, 6000, .5, 0 } } },
	  .last_us = 900,
	  .last_spread = .5,
	  .tick_us = 1000 },
	{ .name = "wide",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 1, 300, 1.1, 4000, .6, 0 },
		       { 1, 1, 1, 1, 1, 500, 1.2, 3000, .5, 0 },
		       { 1, 2, 1, 1, 1, 300, 1.1, 2500, .7, 0 } } },
	  .last_us = 300,
	  .last_spread = 1.1,
	  .tick_us = 1 },
	{ .name = "onecpu",
	  .classes = 1,
	  .steps = { { { 1, 0, 1, 1, 1, 300, .5, 3000, .6, 0 },
		       { 2, 1, 1, 1, 1, 200, .6, 2000, .5, 30 },
		       { 1, 3, 1, 1, 1, 200, .6, 4000, .6, 0 } } },
	  .last_us = 200,
	  .last_spread = .5,
	  .tick_us = 1,
	  .one_cpu = true },
};

struct kid {
	int endpoint;
	double start, end;
};

struct request {
	int cls;
	double start, end;
	struct kid kids[KIDS_MAX];
	int kids_cnt;
	int step, turn; /* where it is */
};

struct event { /* own work becomes ready */
	double at;
	int req;
};

static double draw(struct rng *r, double median, double spread)
{
	return median * exp(spread * rng_gauss(r));
}

static double own_work(const struct scenario *s, struct rng *r, double median, double spread)
{
	double w = draw(r, median, spread);

	return rng_unit(r) < s->stall_chance ? w + rng_exp(r, s->stall_us) : w;
}

static void heap_add(struct event *h, int *cnt, struct event e)
{
	int i = (*cnt)++;

	for (; i && h[(i - 1) / 2].at > e.at; i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = e;
}

static struct event heap_take(struct event *h, int *cnt)
{
	struct event top = h[0], last = h[--*cnt];
	int i = 0;

	for (;;) {
		int k = 2 * i + 1;

		if (k >= *cnt)
			break;
		if (k + 1 < *cnt && h[k + 1].at < h[k].at)
			k++;
		if (h[k].at >= last.at)
			break;
		h[i] = h[k];
		i = k;
	}
	h[i] = last;
	return top;
}

/* The next step that this request takes; NULL = it answers. */
static const struct step *next_step(const struct scenario *s, struct request *q, struct rng *r)
{
	for (;; q->step++) {
		const struct step *st = &s->steps[q->cls][q->step];

		if (!st->work_us)
			return NULL;
		if (q->turn == 0) {
			if (rng_unit(r) >= st->chance)
				continue;
			q->turn =
				st->repeat_min +
				(int)rng_below(r, (uint32_t)(st->repeat_max - st->repeat_min + 1));
			return st;
		}
		if (--q->turn > 0)
			return st;
	}
}

/* Does one piece of own work and what it starts; returns when the request goes on, or < 0. */
static double advance(const struct scenario *s, struct request *q, double now, double *cpu_free,
		      struct rng *r)
{
	const struct step *st = next_step(s, q, r);
	double begin = s->one_cpu && *cpu_free > now ? *cpu_free : now, back = 0;
	double t = begin + (st ? own_work(s, r, st->work_us, st->spread) :
				 own_work(s, r, s->last_us, s->last_spread));

	if (!st) {
		q->end = rng_unit(r) < s->early_chance ? now - rng_exp(r, s->early_us) : t;
		*cpu_free = t;
		return -1;
	}
	for (int f = 0; f < st->forks; f++) {
		struct kid *k = &q->kids[q->kids_cnt++];

		k->endpoint = st->endpoint + f;
		k->start = t;
		k->end = t + draw(r, st->call_us, st->call_spread);
		back = k->end > back ? k->end : back;
		t += f + 1 < st->forks ? draw(r, st->stagger_us, .6) : 0;
	}
	*cpu_free = t;
	return back;
}

static void run(const struct scenario *s, struct request *q, int cnt, double gap_us, struct rng *r)
{
	struct event *heap = calloc((size_t)cnt + 1, sizeof(*heap));
	int heap_cnt = 0, arrived = 0;
	double now = 0, cpu_free = 0;

	while (arrived < cnt || heap_cnt) {
		double back;
		struct event e;

		if (arrived < cnt && (!heap_cnt || heap[0].at > now)) {
			q[arrived].cls = (int)rng_below(r, (uint32_t)s->classes);
			q[arrived].start = now;
			heap_add(heap, &heap_cnt, (struct event){ now, arrived++ });
			now += rng_exp(r, gap_us);
			continue;
		}
		e = heap_take(heap, &heap_cnt);
		back = advance(s, &q[e.req], e.at, &cpu_free, r);
		if (back >= 0)
			heap_add(heap, &heap_cnt, (struct event){ back, e.req });
	}
	free(heap);
}

struct line {
	long start, end;
	double exact;
	int req, kid; /* kid < 0: the request itself */
	int id;
};

static int by_start(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if ((x->kid < 0) != (y->kid < 0))
		return x->kid < 0 ? -1 : 1;
	return (x->exact > y->exact) - (x->exact < y->exact);
}

static int write_set(const struct scenario *s, const struct request *q, int cnt, const char *prefix)
{
	char path[4096];
	struct line *lines = calloc((size_t)cnt * (KIDS_MAX + 1), sizeof(*lines));
	int *id_of_req = calloc((size_t)cnt, sizeof(*id_of_req)), n = 0;
	FILE *spans, *truth;

	for (int i = 0; i < cnt; i++)
		for (int k = -1; k < q[i].kids_cnt; k++) {
			double a = k < 0 ? q[i].start : q[i].kids[k].start;
			double b = k < 0 ? q[i].end : q[i].kids[k].end;

			lines[n++] = (struct line){ (long)(a / (double)s->tick_us) * s->tick_us,
						    (long)(b / (double)s->tick_us) * s->tick_us,
						    a,
						    i,
						    k,
						    0 };
		}
	qsort(lines, (size_t)n, sizeof(*lines), by_start);
	snprintf(path, sizeof(path), "%s.spans.tsv", prefix);
	spans = fopen(path, "w");
	snprintf(path, sizeof(path), "%s.truth.tsv", prefix);
	truth = fopen(path, "w");
	if (!spans || !truth) {
		perror(prefix);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		struct line *l = &lines[i];

		if (l->kid < 0)
			id_of_req[l->req] = i;
		fprintf(spans, "svc\t%s\t%s%d\t%ld\t%ld\ts%d\n", l->kid < 0 ? "in" : "out",
			l->kid < 0 ? "class" : "ep",
			l->kid < 0 ? q[l->req].cls : q[l->req].kids[l->kid].endpoint, l->start,
			l->end, i);
	}
	for (int i = 0; i < n; i++)
		if (lines[i].kid >= 0)
			fprintf(truth, "s%d\ts%d\t%d\n", i, id_of_req[lines[i].req], lines[i].req);
	return fclose(spans) || fclose(truth);
}

int main(int argc, char **argv)
{
	const struct scenario *s = NULL;
	struct request *q;
	struct rng r;
	double mean_us = 0;
	int cnt;

	for (size_t i = 0; argc == 6 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(argv[1], scenarios[i].name))
			s = &scenarios[i];
	if (!s) {
		fprintf(stderr,
			"usage: match_sim SCENARIO REQUESTS PARALLEL SEED PREFIX\nscenarios:");
		for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
			fprintf(stderr, " %s", scenarios[i].name);
		fprintf(stderr, "\n");
		return 2;
	}
	cnt = atoi(argv[2]);
	r.state = strtoull(argv[4], NULL, 10);
	q = calloc((size_t)cnt, sizeof(*q));
	run(s, q, cnt < 200 ? cnt : 200, 1e9, &r); /* how long one takes alone */
	for (int i = 0; i < (cnt < 200 ? cnt : 200); i++)
		mean_us += (q[i].end - q[i].start) / (cnt < 200 ? cnt : 200);
	memset(q, 0, (size_t)cnt * sizeof(*q));
	run(s, q, cnt, mean_us / atof(argv[3]), &r);
	return write_set(s, q, cnt, argv[5]);
}
