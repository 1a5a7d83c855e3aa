/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synthetic traces as Jaeger JSON, one document a line, for tests and for the evaluation of anomaly detection.
 *
 *	spangen endpoint N COUNT SEED [normal|drop|shuffle]	N = 1..6: the table below
 *	spangen getDriverTasks COUNT SEED
 *	spangen createOrder COUNT SEED
 *	spangen chain|wide SPANS
 *
 * An endpoint is a call tree, made once from its own seed; each trace draws which optional calls are made,
 * how long each takes (log-normal, times a load of the whole trace, times a slow service now and then).
 * Anomalies: "drop" leaves out a fifth of the spans (with what is below them), other times unchanged;
 * "shuffle" permutes the own times of the spans before the trace is laid out.
 * Random numbers are xoshiro256**: the same bytes everywhere (up to the last bit of libm). */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NODES_MAX = 1024,
	SPANS_MAX = 8192,
	REPEATS_MAX = 6,
	SERVICES_MAX = 64,
};

/* The six endpoints of the evaluation: fixed before the first run. */
static const struct endpoint {
	uint64_t seed;
	int nodes, services, depth;
	double parallel;   /* share of calls that start with their elder sibling */
	double optional;   /* share of calls that are not always made */
	double rare;	   /* share of calls that are seldom made */
	double spread;	   /* standard deviation of log times within an operation */
	double slow_trace; /* probability that one service is three times slower in a trace */
} endpoints[] = {
	{ 101, 30, 8, 5, 0.30, 0.15, 0.05, 0.25, 0.02 },
	{ 202, 60, 12, 6, 0.50, 0.20, 0.10, 0.30, 0.02 },
	{ 303, 112, 20, 7, 0.60, 0.25, 0.10, 0.35, 0.03 },
	{ 404, 200, 30, 8, 0.70, 0.25, 0.15, 0.35, 0.03 },
	{ 505, 350, 40, 8, 0.75, 0.30, 0.20, 0.40, 0.04 },
	{ 606, 600, 50, 9, 0.80, 0.30, 0.25, 0.40, 0.05 },
};

static uint64_t state[4];

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static uint64_t next(void)
{
	uint64_t r = rotl(state[1] * 5, 7) * 9, t = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= t;
	state[3] = rotl(state[3], 45);
	return r;
}

static void seed_with(uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		state[i] = z ^ z >> 31;
	}
}

static double uniform(void)
{
	return (double)(next() >> 11) * 0x1p-53;
}

static double normal(void)
{
	double u = uniform() + 0x1p-60;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * uniform());
}

static int below(int n)
{
	return (int)(uniform() * n);
}

struct node {
	int parent, service, depth, first_child, next_sibling, last_child;
	double log_us, spread, probability;
	int repeats; /* at most, in a row */
	bool parallel;
};

struct span {
	int node, parent;
	double own_us, start_us, end_us;
	bool dropped;
};

struct spangen {
	const struct endpoint *e;
	struct node nodes[NODES_MAX];
	int node_cnt;
	struct span spans[SPANS_MAX];
	int span_cnt;
	double slow[SERVICES_MAX];
};

static void make_tree(struct spangen *g)
{
	const struct endpoint *e = g->e;

	seed_with(e->seed);
	for (int i = 0; i < e->nodes; i++) {
		struct node *n = &g->nodes[i];
		double kind = uniform();
		int p = i ? below(i) : -1;

		while (i && g->nodes[p].depth >= e->depth)
			p = below(i);
		*n = (struct node){
			.parent = p, .first_child = -1, .next_sibling = -1, .last_child = -1
		};
		n->service = i ? below(e->services) : 0;
		n->depth = i ? g->nodes[p].depth + 1 : 0;
		n->log_us = log(2000) + normal();
		n->spread = e->spread * (0.5 + uniform());
		n->probability = kind < e->rare		      ? 0.02 + 0.18 * uniform() :
				 kind < e->rare + e->optional ? 0.5 + 0.5 * uniform() :
								1;
		n->repeats = uniform() < 0.05 ? 2 + below(REPEATS_MAX - 1) : 1;
		n->parallel = uniform() < e->parallel;
		if (!i) {
			n->probability = 1;
			n->repeats = 1;
		} else if (g->nodes[p].first_child < 0) {
			g->nodes[p].first_child = g->nodes[p].last_child = i;
		} else {
			g->nodes[g->nodes[p].last_child].next_sibling = i;
			g->nodes[p].last_child = i;
		}
	}
	g->node_cnt = e->nodes;
}

/* Which spans there are, parents first; own times. */
static void draw(struct spangen *g)
{
	double load = exp(0.25 * normal());
	int slow = uniform() < g->e->slow_trace ? below(g->e->services) : -1;

	for (int i = 0; i < g->e->services; i++)
		g->slow[i] = i == slow ? 3 : 1;
	g->spans[0] = (struct span){ .node = 0, .parent = -1 };
	g->span_cnt = 1;
	for (int s = 0; s < g->span_cnt; s++) {
		const struct node *n = &g->nodes[g->spans[s].node];

		g->spans[s].own_us =
			exp(n->log_us + n->spread * normal()) * load * g->slow[n->service];
		for (int c = n->first_child; c >= 0; c = g->nodes[c].next_sibling) {
			int times = g->nodes[c].repeats > 1 ? 1 + below(g->nodes[c].repeats) : 1;

			if (uniform() >= g->nodes[c].probability)
				continue;
			while (times-- && g->span_cnt < SPANS_MAX)
				g->spans[g->span_cnt++] = (struct span){ .node = c, .parent = s };
		}
	}
}

static void shuffle(struct spangen *g)
{
	for (int i = g->span_cnt - 1; i > 0; i--) {
		int k = below(i + 1);
		double t = g->spans[i].own_us;

		g->spans[i].own_us = g->spans[k].own_us;
		g->spans[k].own_us = t;
	}
}

static void drop(struct spangen *g)
{
	int gone = 0;

	while (gone * 5 < g->span_cnt && g->span_cnt > 1) {
		g->spans[1 + below(g->span_cnt - 1)].dropped = true;
		gone = 0;
		for (int i = 1; i < g->span_cnt; i++) {
			g->spans[i].dropped |= g->spans[g->spans[i].parent].dropped;
			gone += g->spans[i].dropped;
		}
	}
}

/* A span: half of its own time, its children (in groups that start together), the other half. Children of
 * one span lie one behind the other in spans[]; each knows its start once its elder siblings are laid out. */
static double lay_out(struct spangen *g, int s, double start_us)
{
	struct span *p = &g->spans[s];
	double group_us = start_us + p->own_us / 2, end_us = group_us;

	p->start_us = start_us;
	for (int c = s + 1; c < g->span_cnt; c++) {
		double child_end_us;

		if (g->spans[c].parent != s)
			continue;
		if (!g->nodes[g->spans[c].node].parallel ||
		    g->spans[c].node == g->spans[c - 1].node)
			group_us = end_us;
		child_end_us = lay_out(g, c, group_us);
		end_us = child_end_us > end_us ? child_end_us : end_us;
	}
	return p->end_us = end_us + p->own_us / 2;
}

static void print_span(bool *comma, uint64_t trace, int id, int parent, const char *operation,
		       const char *service, const char *kind, const double *us)
{
	printf("%s{\"traceID\":\"%016llx\",\"spanID\":\"%x\",\"operationName\":\"%s\",\"references\":[",
	       *comma ? "," : "", (unsigned long long)trace, id + 1, operation);
	if (parent >= 0)
		printf("{\"refType\":\"CHILD_OF\",\"traceID\":\"%016llx\",\"spanID\":\"%x\"}",
		       (unsigned long long)trace, parent + 1);
	printf("],\"startTime\":%lld,\"duration\":%lld,\"processID\":\"%s\"",
	       1700000000000000 + llround(us[0]), llround(us[1]) - llround(us[0]), service);
	if (kind)
		printf(",\"tags\":[{\"key\":\"span.kind\",\"value\":\"%s\"}]", kind);
	putchar('}');
	*comma = true;
}

static void print_trace(struct spangen *g, uint64_t id)
{
	bool comma = false;

	printf("{\"data\":[{\"traceID\":\"%016llx\",\"spans\":[", (unsigned long long)id);
	for (int i = 0; i < g->span_cnt; i++) {
		const struct span *s = &g->spans[i];
		char operation[32], service[32];

		if (s->dropped)
			continue;
		snprintf(operation, sizeof(operation), "op%d", s->node);
		snprintf(service, sizeof(service), "s%d", g->nodes[s->node].service);
		print_span(&comma, id, i, s->parent, operation, service, NULL,
			   (const double[]){ s->start_us, s->end_us });
	}
	printf("],\"processes\":{");
	for (int i = 0; i < g->e->services; i++)
		printf("%s\"s%d\":{\"serviceName\":\"s%d\"}", i ? "," : "", i, i);
	printf("}}]}\n");
}

static int run_endpoint(int argc, char **argv)
{
	static struct spangen g;
	int which = atoi(argv[2]);
	long cnt = atol(argv[3]);
	uint64_t seed = strtoull(argv[4], NULL, 10);
	const char *kind = argc > 5 ? argv[5] : "normal";

	if (which < 1 || which > 6)
		return 2;
	g.e = &endpoints[which - 1];
	make_tree(&g);
	seed_with(g.e->seed * 1000003 + seed);
	for (long i = 0; i < cnt; i++) {
		draw(&g);
		if (!strcmp(kind, "shuffle"))
			shuffle(&g);
		lay_out(&g, 0, 0);
		if (!strcmp(kind, "drop"))
			drop(&g);
		print_trace(&g, seed << 40 | (uint64_t)i);
	}
	return 0;
}

/* Spans of a hand-made trace; times in us from its start. */
struct scene {
	uint64_t trace;
	bool comma;
	int id;
};

static int put(struct scene *sc, int parent, const char *service, const char *operation,
	       const char *kind, double start_us, double us)
{
	print_span(&sc->comma, sc->trace, sc->id, parent, operation, service, kind,
		   (const double[]){ start_us, start_us + us });
	return sc->id++;
}

static void begin(struct scene *sc, uint64_t trace)
{
	*sc = (struct scene){ .trace = trace };
	printf("{\"data\":[{\"traceID\":\"%016llx\",\"spans\":[", (unsigned long long)trace);
}

static void finish(const char *const *services)
{
	printf("],\"processes\":{");
	for (int i = 0; services[i]; i++)
		printf("%s\"%s\":{\"serviceName\":\"%s\"}", i ? "," : "", services[i], services[i]);
	printf("}}]}\n");
}

/* A child that is on the critical path only in the tail, where it makes 47 % of the latency: a read that
 * runs beside a longer call and is normally short. */
static void driver_tasks(uint64_t trace, double jitter, bool slow)
{
	static const char *const services[] = { "tasks", NULL };
	double plan_us = 8000 * jitter, read_us = (slow ? 10000 * 47.0 / 53 : 2000) * jitter;
	double both_us = plan_us > read_us ? plan_us : read_us;
	struct scene sc;
	int root;

	begin(&sc, trace);
	root = put(&sc, -1, "tasks", "getDriverTasks", "server", 0, both_us + 10000 * jitter);
	put(&sc, root, "tasks", "planTasks", NULL, 5000 * jitter, plan_us);
	put(&sc, root, "tasks", "getTaskCompletionStatus", "client", 5000 * jitter, read_us);
	finish(services);
}

/* Four kinds of opportunity: one call that makes 68 %; two calls in turn that need not be; a round trip
 * that is mostly the way; a fetch from a store. */
static void create_order(uint64_t trace, double jitter)
{
	static const char *const services[] = { "order", "risk",	"venue",
						"fare",	 "marketplace", NULL };
	double u = 1000 * jitter;
	struct scene sc;
	int root, call;

	begin(&sc, trace);
	root = put(&sc, -1, "order", "createOrder", "server", 0, 100 * u);
	call = put(&sc, root, "order", "decideOrderRisk", "client", 1 * u, 68 * u);
	put(&sc, call, "risk", "decideOrderRisk", "server", 1.5 * u, 67 * u);
	call = put(&sc, root, "order", "GetVenues", "client", 70 * u, 5 * u);
	put(&sc, call, "venue", "GetVenues", "server", 70.2 * u, 4.6 * u);
	call = put(&sc, root, "order", "GetAccessPts", "client", 76 * u, 5 * u);
	put(&sc, call, "venue", "GetAccessPts", "server", 76.2 * u, 4.6 * u);
	call = put(&sc, root, "order", "FareValidate", "client", 82 * u, 6 * u);
	put(&sc, call, "fare", "FareValidate", "server", 84.5 * u, 1 * u);
	call = put(&sc, root, "marketplace", "GetMarketplaceBenefits", NULL, 89 * u, 10 * u);
	put(&sc, call, "marketplace", "SELECT benefits", "client", 89.5 * u, 9 * u);
	finish(services);
}

static int run_scene(char **argv)
{
	long cnt = atol(argv[2]);

	seed_with(strtoull(argv[3], NULL, 10));
	for (long i = 0; i < cnt; i++) {
		double jitter = exp(0.05 * normal());

		if (!strcmp(argv[1], "createOrder"))
			create_order((uint64_t)i + 1, jitter);
		else
			driver_tasks((uint64_t)i + 1, jitter, uniform() < 0.08);
	}
	return 0;
}

/* One large trace: each span the parent of the next, or all of them below one root, children first. */
static int run_large(char **argv)
{
	static const char *const services[] = { "a", "b", NULL };
	long cnt = atol(argv[2]);
	bool chain = !strcmp(argv[1], "chain");
	struct scene sc;

	begin(&sc, 1);
	for (long i = cnt - 1; i >= 0; i--) {
		double start = chain ? (double)i : i ? (double)(i - 1) * 10 : 0;
		double us = chain ? (double)(2 * (cnt - i)) : i ? 10 : (double)(cnt - 1) * 10;

		sc.id = (int)i;
		put(&sc, i ? (chain ? (int)i - 1 : 0) : -1, i % 2 ? "b" : "a", i ? "step" : "root",
		    NULL, start, us);
	}
	finish(services);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 5 && !strcmp(argv[1], "endpoint"))
		return run_endpoint(argc, argv);
	if (argc == 4 && (!strcmp(argv[1], "createOrder") || !strcmp(argv[1], "getDriverTasks")))
		return run_scene(argv);
	if (argc == 3 && (!strcmp(argv[1], "chain") || !strcmp(argv[1], "wide")))
		return run_large(argv);
	fputs("usage: spangen endpoint N COUNT SEED [normal|drop|shuffle]\n"
	      "       spangen getDriverTasks|createOrder COUNT SEED\n"
	      "       spangen chain|wide SPANS\n",
	      stderr);
	return 2;
}
