/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges the matching method on sets of call records with known causes:
 *	match_eval [-v] PREFIX...
 * reads PREFIX.spans.tsv[.gz] (service, in|out, peer, start us, end us, id) and PREFIX.truth.tsv[.gz] (out id,
 * in id, trace). One line a set: end-to-end % (traces in which every request has exactly its calls),
 * links %, requests, CPU ms, share of doubtful links, accuracy of doubtful and of sure links. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/analysis/match.h"
#include "user/base/input.h"
#include "user/base/mem.h"
#include "user/base/num.h"

struct set {
	struct msgtrace *trace;
	uint32_t *true_parent; /* by call number before sorting = op id order; CALL_NONE */
	struct strtab ids;     /* span ids; call number = id - 1 before sorting */
	uint32_t *call_of_id;
	uint32_t *trace_of; /* by call: trace id of an in call with calls, 0 = none */
	struct strtab traces;
};

static int split(char *line, char **field, int max)
{
	int n = 0;

	for (char *s = strtok_r(line, "\t", &line); s && n < max; s = strtok_r(NULL, "\t", &line))
		field[n++] = s;
	return n;
}

static void die(const struct err *err)
{
	fprintf(stderr, "match_eval: %s\n", err->msg);
	exit(1);
}

static struct input *open_part(const char *prefix, const char *part)
{
	struct err err = { 0 };
	struct input *in;
	char *path = xasprintf("%s.%s.tsv.gz", prefix, part);

	if (access(path, R_OK)) {
		free(path);
		path = xasprintf("%s.%s.tsv", prefix, part);
	}
	if (input_open(path, &in, &err))
		die(&err);
	free(path);
	return in;
}

static uint32_t node(struct msgtrace *t, const char *kind, const char *name)
{
	char *full = xasprintf("%s%s", kind, name);
	uint32_t id = msgtrace__node(t, full, strlen(full));

	free(full);
	return id;
}

static void load(struct set *s, const char *prefix)
{
	struct err err = { 0 };
	struct input *in = open_part(prefix, "spans");
	char *line, *f[6];
	size_t len;

	s->trace = msgtrace__new();
	while (input_line(in, 1 << 16, &line, &len, &err) > 0) {
		struct call c;
		uint32_t svc, peer;
		int is_in;

		if (split(line, f, 6) != 6)
			continue;
		is_in = !strcmp(f[1], "in");
		svc = node(s->trace, "", f[0]);
		peer = node(s->trace, is_in ? "from " : "to ", f[2]);
		c = call_init(is_in ? peer : svc, is_in ? svc : peer, atoll(f[3]) * 1000,
			      atoll(f[4]) * 1000);
		c.side = is_in ? CALL_SERVER : CALL_CLIENT;
		c.id = strtab_add(&s->ids, f[5]);
		msgtrace__add_call(s->trace, &c, NULL);
	}
	if (err.code)
		die(&err);
	input_close(in);
	msgtrace__sort_calls(s->trace);
	s->call_of_id = xcalloc(s->ids.cnt + 1, sizeof(*s->call_of_id));
	for (size_t i = 0; i < s->trace->call_cnt; i++)
		s->call_of_id[s->trace->calls[i].id] = (uint32_t)i;
	s->true_parent = xcalloc(s->trace->call_cnt + 1, sizeof(*s->true_parent));
	s->trace_of = xcalloc(s->trace->call_cnt + 1, sizeof(*s->trace_of));
	for (size_t i = 0; i < s->trace->call_cnt; i++)
		s->true_parent[i] = CALL_NONE;
	in = open_part(prefix, "truth");
	while (input_line(in, 1 << 16, &line, &len, &err) > 0) {
		uint32_t out, parent;

		if (split(line, f, 6) < 3)
			continue;
		out = s->call_of_id[strtab_add(&s->ids, f[0])];
		parent = s->call_of_id[strtab_add(&s->ids, f[1])];
		s->true_parent[out] = parent;
		s->trace_of[parent] = strtab_add(&s->traces, f[2]);
	}
	input_close(in);
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void judge(struct set *s, const char *prefix)
{
	struct match_link *links = xcalloc(s->trace->call_cnt + 1, sizeof(*links));
	struct match_stats stats;
	bool *bad = xcalloc(s->traces.cnt + 2, sizeof(*bad)),
	     *seen = xcalloc(s->traces.cnt + 2, sizeof(*seen));
	double ms = cpu_ms();
	size_t links_cnt = 0, right = 0, traces = 0, good = 0, doubt = 0, doubt_right = 0;
	double expected = 0;

	match_run(s->trace, &(struct match_opts){ 0 }, links, &stats);
	ms = cpu_ms() - ms;
	for (size_t i = 0; i < s->trace->call_cnt; i++) {
		bool ok = links[i].parent == s->true_parent[i];

		if (s->trace_of[i])
			seen[s->trace_of[i]] = true;
		if (s->true_parent[i] != CALL_NONE) {
			links_cnt++;
			right += ok;
			doubt += links[i].doubtful;
			doubt_right += links[i].doubtful && ok;
			expected += (double)links[i].posterior;
		}
		if (ok)
			continue;
		if (s->true_parent[i] != CALL_NONE)
			bad[s->trace_of[s->true_parent[i]]] = true;
		if (links[i].parent != CALL_NONE)
			bad[s->trace_of[links[i].parent]] = true;
	}
	for (size_t t = 1; t < s->traces.cnt + 2; t++) {
		traces += seen[t];
		good += seen[t] && !bad[t];
	}
	printf("%-28s e2e %5.1f  links %6.2f  expected %6.2f  doubtful %5.2f (right %4.1f)  %zu traces %7.0f ms\n",
	       strrchr(prefix, '/') ? strrchr(prefix, '/') + 1 : prefix,
	       100.0 * (double)good / (double)traces, 100.0 * (double)right / (double)links_cnt,
	       100.0 * expected / (double)links_cnt, 100.0 * (double)doubt / (double)links_cnt,
	       doubt ? 100.0 * (double)doubt_right / (double)doubt : 0.0, traces, ms);
	free(links);
	free(bad);
	free(seen);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct set s = { 0 };

		load(&s, argv[i]);
		judge(&s, argv[i]);
		msgtrace__free(s.trace);
		strtab_free(&s.ids);
		strtab_free(&s.traces);
		free(s.call_of_id);
		free(s.true_parent);
		free(s.trace_of);
	}
	return 0;
}
