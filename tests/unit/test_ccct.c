/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Critical paths added up: merging, grouping, percentiles, facts; vectors and detectors. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "tests/unit/trace_text.h"
#include "user/analysis/anomaly_model.h"
#include "user/analysis/ccct_encode.h"
#include "user/analysis/ccct_graph.h"
#include "user/analysis/opportunity.h"

static const struct spantree_options plain = { .max_shift_ns = 1000000000 };

struct bench {
	struct trace trace;
	struct spantree tree;
	struct critpath path;
	struct opportunity opportunity;
};

static void analyse(struct bench *b, const char *text)
{
	trace_from_text(&b->trace, text);
	spantree__build(&b->tree, &b->trace, &plain);
	critpath__find(&b->path, &b->tree, b->tree.roots[0], CRITPATH_SECTIONS);
}

static void add(struct bench *b, struct ccct *c, const char *text)
{
	analyse(b, text);
	ccct__count(c, &b->tree);
	ccct__add(c, &b->tree, &b->path);
	opportunity__add(&b->opportunity, c, &b->tree, &b->path);
	opportunity__add_clocks(c, &b->tree);
}

static void free_bench(struct bench *b)
{
	trace__free(&b->trace);
	spantree__free(&b->tree);
	critpath__free(&b->path);
	opportunity__free(&b->opportunity);
}

/* Trace number i of a family: two calls, of which the second is made in two of three traces. */
static void numbered(struct bench *b, struct ccct *c, int i)
{
	char text[256];
	int us = 1000 + i * 37 % 500;

	snprintf(text, sizeof(text), "t%d - 0 %d web root\nb t%d 100 %d db %s\nc t%d %d 90 db read",
		 i, us, i, us / 2, i % 5 ? "query" : "update", i, i % 3 ? us - 95 : us + 5);
	add(b, c, text);
}

static void expect_same(struct ccct *a, struct ccct *b)
{
	struct buf x = { 0 }, y = { 0 };

	ccct__finish(a);
	ccct__finish(b);
	ccct_encode(a, &x);
	ccct_encode(b, &y);
	assert_int_equal(x.len_bytes, y.len_bytes);
	assert_memory_equal(x.data, y.data, x.len_bytes);
	buf_free(&x);
	buf_free(&y);
}

static void merging_is_free_of_order(void **state)
{
	struct bench b = { 0 };
	struct ccct all = { 0 }, parts[3] = { 0 }, up = { 0 }, down = { 0 }, pair = { 0 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		numbered(&b, &all, i);
		numbered(&b, &parts[i * 7 % 3], i);
	}
	for (int i = 0; i < 3; i++)
		ccct__merge(&up, &parts[i]);
	for (int i = 3; i-- > 0;)
		ccct__merge(&down, &parts[i]);
	ccct__merge(&pair, &parts[2]); /* (c + a) + b */
	ccct__merge(&pair, &parts[0]);
	ccct__merge(&pair, &parts[1]);
	expect_same(&up, &down);
	expect_same(&up, &pair);
	expect_same(&up, &all);
	for (int i = 0; i < 3; i++)
		ccct__free(&parts[i]);
	ccct__free(&all);
	ccct__free(&up);
	ccct__free(&down);
	ccct__free(&pair);
	free_bench(&b);
}

static void encoding_is_read_back_or_refused(void **state)
{
	struct bench b = { 0 };
	struct ccct c = { 0 }, back = { 0 };
	struct buf x = { 0 };
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < 20; i++)
		numbered(&b, &c, i);
	ccct__finish(&c);
	ccct_encode(&c, &x);
	assert_int_equal(ccct_decode(x.data, x.len_bytes, &back, &err), 0);
	expect_same(&c, &back);
	ccct__free(&back);
	for (size_t cut = 0; cut < x.len_bytes; cut += 7) {
		assert_int_equal(ccct_decode(x.data, cut, &back, NULL), -EINVAL);
		ccct__free(&back);
	}
	x.data[x.len_bytes / 2] ^= 1;
	assert_int_equal(ccct_decode(x.data, x.len_bytes, &back, NULL), -EINVAL);
	ccct__free(&back);
	ccct__free(&c);
	buf_free(&x);
	free_bench(&b);
}

/* Sum of exclusive times = sum of root durations, of all traces and of every part of them; parts add up. */
static void graphs_add_up(void **state)
{
	struct bench b = { 0 };
	struct ccct c = { 0 };
	struct ccct_graph whole, low, high;

	(void)state;
	for (int i = 0; i < 50; i++)
		numbered(&b, &c, i);
	ccct__finish(&c);
	ccct_graph__fill(&whole, &c, SPAN_NONE, 0, 100);
	ccct_graph__fill(&low, &c, SPAN_NONE, 0, 40);
	ccct_graph__fill(&high, &c, SPAN_NONE, 40, 100);
	assert_int_equal(whole.trace_cnt, 50);
	assert_true(low.root_ns + high.root_ns == whole.root_ns);
	for (int g = 0; g < 3; g++) {
		const struct ccct_graph *graph = g == 0 ? &whole : g == 1 ? &low : &high;
		int64_t sum = 0;

		for (size_t i = 0; i < graph->path_cnt; i++)
			sum += graph->paths[i].exclusive_ns;
		assert_true(sum == graph->root_ns);
	}
	for (size_t i = 0; i < whole.path_cnt; i++)
		assert_true(low.paths[i].exclusive_ns + high.paths[i].exclusive_ns ==
			    whole.paths[i].exclusive_ns);
	ccct_graph__free(&whole);
	ccct_graph__free(&low);
	ccct_graph__free(&high);
	ccct__free(&c);
	free_bench(&b);
}

/* Beyond CCCT_EXACT_CELLS memory stops growing, and sums stay exact, in whatever order it happened. */
static void grouping_keeps_sums(void **state)
{
	enum {
		TRACES = CCCT_EXACT_CELLS / 3 + 1000
	};
	struct bench b = { 0 };
	struct ccct one = { 0 }, halves[2] = { 0 }, sum = { 0 };
	int64_t root_ns = 0;

	(void)state;
	for (int i = 0; i < TRACES; i++) {
		char text[128];

		snprintf(text, sizeof(text), "a - 0 %d S root\nb a 10 %d S b\nc a 600 50 S c",
			 1000 + i % 977, 300 + i % 50);
		analyse(&b, text);
		ccct__add(&one, &b.tree, &b.path);
		ccct__add(&halves[i % 2], &b.tree, &b.path);
		root_ns += b.path.nodes[0].inclusive_ns;
	}
	ccct__merge(&sum, &halves[1]);
	ccct__merge(&sum, &halves[0]);
	expect_same(&one, &sum);
	assert_true(one.cell_cnt < 2000);
	assert_int_equal(one.trace_cnt, TRACES);
	for (size_t i = 0; i < one.group_cnt; i++)
		root_ns -= one.groups[i].root_ns;
	assert_true(root_ns == 0);
	ccct__free(&one);
	ccct__free(&sum);
	ccct__free(&halves[0]);
	ccct__free(&halves[1]);
	free_bench(&b);
}

static int64_t room(const struct ccct *c, const char *operation, bool slack)
{
	for (size_t i = 0; i < c->fact_cnt; i++) {
		const struct ccct_fact *f = &c->facts[i];

		if (f->kind == FACT_ROOM &&
		    !strcmp(strtab_get(&c->strings,
				       c->frames[c->paths[f->path].frame].operation_sid),
			    operation))
			return (slack ? f->more_ns : f->ns) / 1000;
	}
	return -1;
}

static void drag_and_slack(void **state)
{
	struct bench b = { 0 };
	struct ccct c = { 0 };

	(void)state;
	/* b beside c; then d */
	add(&b, &c,
	    "A - 0 1000 S A\nb A 100 200 S b\nc A 100 300 S c\ne b 120 100 S e\nd A 450 500 S d");
	assert_int_equal(room(&c, "A", false), 1000);
	assert_int_equal(room(&c, "d", false), 500);
	assert_int_equal(room(&c, "c", false), 100);
	assert_int_equal(room(&c, "b", false), 0);
	assert_int_equal(room(&c, "b", true), 150);
	assert_int_equal(room(&c, "e", true), 150);
	ccct__free(&c);
	free_bench(&b);
}

static bool has_hint(const struct ccct *c, enum hint_kind kind)
{
	size_t cnt;
	struct hint *h = opportunity_hints(c, &cnt);
	bool found = false;

	for (size_t i = 0; i < cnt; i++)
		found |= h[i].kind == kind;
	free(h);
	return found;
}

static void hints(void **state)
{
	struct bench b = { 0 };
	struct ccct serial = { 0 }, overlap = { 0 }, repeated = { 0 };

	(void)state;
	add(&b, &serial, "A - 0 1000 S A\nb A 100 300 S b\nc A 450 300 S c");
	ccct__finish(&serial);
	assert_true(has_hint(&serial, HINT_SERIAL));
	assert_false(has_hint(&serial, HINT_REPEATED));
	/* the same pair overlaps in one trace: they do run at once */
	add(&b, &overlap, "A - 0 1000 S A\nb A 100 300 S b\nc A 450 300 S c");
	add(&b, &overlap, "A - 0 1000 S A\nb A 100 300 S b\nc A 250 300 S c");
	ccct__finish(&overlap);
	assert_false(has_hint(&overlap, HINT_SERIAL));
	add(&b, &repeated,
	    "A - 0 1000 S A\nb A 100 90 S q\nc A 200 90 S q\nd A 300 90 S q\n"
	    "e A 400 90 S q\nf A 500 90 S q");
	ccct__finish(&repeated);
	assert_true(has_hint(&repeated, HINT_REPEATED));
	assert_false(has_hint(&repeated, HINT_SERIAL));
	ccct__free(&serial);
	ccct__free(&overlap);
	ccct__free(&repeated);
	free_bench(&b);
}

static double vector_total_us(const struct path_vector *v)
{
	double sum = 0;

	for (size_t i = 0; i < v->cnt; i++)
		sum += expm1(v->cells[i].log_us);
	return sum;
}

/* An early sibling off the path is seen by STV only; SCPV of a trace adds up to the root. */
static void vectors_differ_off_the_path(void **state)
{
	const char *without = "A - 0 1000 S A\nb A 500 400 S b";
	const char *with = "A - 0 1000 S A\nb A 500 400 S b\nc A 520 10 S c";
	struct bench b = { 0 };
	struct vectorizer scpv = { .kind = VECTOR_SCPV }, stv = { .kind = VECTOR_STV };
	struct path_vector v = { 0 };

	(void)state;
	analyse(&b, without);
	vectorizer__make(&scpv, &b.tree, &b.path, true, &v);
	assert_true(fabs(vector_total_us(&v) - 1000) < 0.1);
	vectorizer__make(&stv, &b.tree, &b.path, true, &v);
	analyse(&b, with);
	vectorizer__make(&scpv, &b.tree, &b.path, false, &v);
	assert_int_equal(v.unknown_cnt, 0);
	assert_int_equal(v.cnt, 2);
	vectorizer__make(&stv, &b.tree, &b.path, false, &v);
	assert_int_equal(v.unknown_cnt, 1);
	vectorizer__make(&stv, &b.tree, &b.path, true, &v);
	assert_true(scpv.dict.path_cnt < stv.dict.path_cnt);
	vectorizer__free(&scpv);
	vectorizer__free(&stv);
	path_vector__free(&v);
	free_bench(&b);
}

static const char *column_operation(const struct ccct *c, uint32_t column)
{
	return strtab_get(&c->strings, c->frames[c->paths[column].frame].operation_sid);
}

static void detectors_find_and_explain(void **state)
{
	struct bench b = { 0 };
	struct rng r = { 3 };

	(void)state;
	for (int kind = 0; kind < DETECTOR_KIND_MAX; kind++) {
		struct anomaly_model m = { .vectorizer.kind = VECTOR_SCPV }, back = { 0 };
		struct vector_set set = { 0 };
		struct path_vector v = { 0 };
		struct detector_reason reasons[DETECTOR_REASONS];
		struct buf bytes = { 0 };
		struct err err = { 0 };
		size_t cnt;
		double odd;
		bool found;

		for (int i = 0; i < 800; i++) {
			char text[256];
			int call = (int)(400 * exp(0.1 * rng_gauss(&r)));

			snprintf(text, sizeof(text), "A - 0 %d S A\nb A 100 %d S b\nc A %d 100 S c",
				 600 + call, call, 200 + call);
			analyse(&b, text);
			vectorizer__make(&m.vectorizer, &b.tree, &b.path, true, &v);
			vector_set__add(&set, &v);
		}
		assert_int_equal(
			detector__train(&m.detector, (enum detector_kind)kind, 3, &set, &err), 0);
		analyse(&b, "A - 0 9000 S A\nb A 100 8400 S b\nc A 8600 100 S c");
		vectorizer__make(&m.vectorizer, &b.tree, &b.path, false, &v);
		odd = detector__score(&m.detector, &v, reasons, &cnt);
		assert_true(odd > m.detector.threshold);
		assert_true(cnt > 0);
		found = false;
		for (size_t i = 0; i < (kind == DETECTOR_ROBUST ? 1 : cnt); i++)
			found |= !strcmp(column_operation(&m.vectorizer.dict, reasons[i].column),
					 "b");
		assert_true(found);
		anomaly_model__encode(&m, &bytes);
		assert_int_equal(anomaly_model__decode(bytes.data, bytes.len_bytes, &back, &err),
				 0);
		assert_true(detector__score(&back.detector, &v, NULL, NULL) == odd);
		for (size_t cut = 0; cut < bytes.len_bytes; cut += 13) {
			struct anomaly_model part = { 0 };

			assert_int_not_equal(anomaly_model__decode(bytes.data, cut, &part, NULL),
					     0);
			anomaly_model__free(&part);
		}
		anomaly_model__free(&m);
		anomaly_model__free(&back);
		vector_set__free(&set);
		path_vector__free(&v);
		buf_free(&bytes);
	}
	free_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_is_free_of_order),
		cmocka_unit_test(encoding_is_read_back_or_refused),
		cmocka_unit_test(graphs_add_up),
		cmocka_unit_test(grouping_keeps_sums),
		cmocka_unit_test(drag_and_slack),
		cmocka_unit_test(hints),
		cmocka_unit_test(vectors_differ_off_the_path),
		cmocka_unit_test(detectors_find_and_explain),
	};

	return cmocka_run_group_tests_name("ccct", tests, NULL, NULL);
}
