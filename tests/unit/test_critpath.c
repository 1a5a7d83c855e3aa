/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Span trees, critical paths, what-if. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rng.h"
#include "tests/unit/trace_text.h"
#include "user/analysis/critpath.h"
#include "user/analysis/whatif.h"
#include "user/base/buf.h"

#define SECOND_NS 1000000000

static const struct spantree_options plain = { .max_shift_ns = SECOND_NS };

/* Exclusive times by span id, as "A200 B300", in the order of the file; only spans with time. */
static void put_times(const struct trace *t, const struct critpath *p, struct buf *out)
{
	for (uint32_t i = 0; i < t->span_cnt; i++)
		for (size_t k = 0; k < p->node_cnt; k++)
			if (p->nodes[k].span == i && p->nodes[k].exclusive_ns)
				buf_printf(out, "%s%s%lld", out->len_bytes ? " " : "",
					   trace__str(t, t->spans[i].id_sid),
					   (long long)p->nodes[k].exclusive_ns / 1000);
}

static void expect_path(const char *text, enum critpath_rule rule, const struct spantree_options *o,
			const char *want)
{
	struct trace t = { 0 };
	struct spantree tree = { 0 };
	struct critpath p = { 0 };
	struct buf got = { 0 };

	trace_from_text(&t, text);
	spantree__build(&tree, &t, o);
	for (size_t i = 0; i < tree.root_cnt; i++) {
		critpath__find(&p, &tree, tree.roots[i], rule);
		put_times(&t, &p, &got);
	}
	assert_string_equal(buf_str(&got), want);
	buf_free(&got);
	critpath__free(&p);
	spantree__free(&tree);
	trace__free(&t);
}

static void expect_default(const char *text, const char *want)
{
	expect_path(text, CRITPATH_SECTIONS, &plain, want);
}

static void siblings(void **state)
{
	(void)state;
	/* touching; a third that ends there too: the longer of the two; small and large overlaps */
	expect_default("A - 1000 1000 S O\nB A 1100 300 S b\nC A 1400 500 S c", "A200 B300 C500");
	expect_default("A - 1000 1000 S O\nB A 1100 300 S b\nC A 1400 500 S c\nD A 1050 350 S d",
		       "A150 C500 D350");
	expect_default("A - 1000 1000 S O\nB A 1100 309 S b\nC A 1400 500 S c", "A200 B300 C500");
	expect_default("A - 1000 1000 S O\nB A 1100 350 S b\nC A 1400 500 S c", "A500 C500");
	expect_default("A - 1000 1000 S O\nB A 1100 800 S b\nC A 1300 600 S c", "A200 B800");
	/* the tolerance is at most 1 ms: 10 s of parent do not allow 2 ms of overlap */
	expect_default("A - 0 10000000 S O\nB A 0 5002000 S b\nC A 5000000 5000000 S c",
		       "A5000000 C5000000");
	/* zero length is no section */
	expect_default("A - 0 1000 S O\nB A 500 0 S b\nC A 600 300 S c", "A700 C300");
}

static void children_that_do_not_fit(void **state)
{
	(void)state;
	expect_default("A - 1000 1000 S O\nB A 900 1200 S b", "B1000");
	expect_default("A - 1000 1000 S O - h1\nB A 2000 100 S b - h2\nC B 2005 45 S c - h3",
		       "A1000");
	expect_default("A - 1000 1000 S O\nB A 1600 600 S b\nC A 1100 400 S c", "A200 B400 C400");
	expect_default("A - 1000 1000 S O\nB X 1100 300 S b\nC A 1500 400 S c", "A600 C400");
	expect_default("A - 1000 1000 S O server h1\nB A 1100 700 S rpc client h1\n"
		       "C B 1050 650 S rpc server h2\nD C 1060 240 S db - h2",
		       "A300 B50 C410 D240");
}

static void shifts_have_limits(void **state)
{
	struct spantree_options no = plain, small = plain;
	const char *skewed = "A - 1000 1000 S O server h1\nB A 1100 700 S rpc client h1\n"
			     "C B 1050 650 S rpc server h2";

	(void)state;
	no.no_shift = true;
	small.max_shift_ns = 70000;
	expect_path(skewed, CRITPATH_SECTIONS, &plain, "A300 B50 C650");
	expect_path(skewed, CRITPATH_SECTIONS, &no, "A300 B100 C600");
	expect_path(skewed, CRITPATH_SECTIONS, &small, "A300 B100 C600");
	/* one host has one clock; a consumer is not shifted back to its producer */
	expect_default("A - 1000 1000 S O client h\nB A 900 500 S r server h", "A600 B400");
	expect_default("A - 0 1000 g publish producer\nB ~A 5000 100000 w consume consumer",
		       "A1000");
	expect_default("A - 0 1000 g publish producer\nB A 500 100000 w consume consumer", "A1000");
}

static void a_shift_centres_the_server(void **state)
{
	struct trace t = { 0 };
	struct spantree tree = { 0 };

	(void)state;
	trace_from_text(&t, "A - 1000 1000 S O server h1\nB A 1100 700 S rpc client h1\n"
			    "C B 1050 650 S rpc server h2");
	spantree__build(&tree, &t, &plain);
	assert_int_equal(tree.notes_cnt, 1);
	assert_int_equal(tree.notes[0].kind, TREE_SHIFTED);
	assert_int_equal(tree.notes[0].amount_ns, 75000);
	assert_int_equal(tree.start_ns[2], 1125000);
	assert_int_equal(tree.clock_cnt, 1);
	assert_int_equal(tree.clocks[0].offset_ns, -75000);
	spantree__free(&tree);
	trace__free(&t);
}

static void rules_of_others(void **state)
{
	const char *touching = "A - 1000 1000 S O\nB A 1100 300 S b\nC A 1400 500 S c";
	const char *overlap = "A - 1000 1000 S O\nB A 1100 309 S b\nC A 1400 500 S c";
	struct spantree_options crisp = plain;

	(void)state;
	crisp.drop_around = crisp.no_shift = true;
	expect_path(touching, CRITPATH_CRISP2022, &crisp, "A200 B300 C500");
	expect_path(overlap, CRITPATH_CRISP2022, &crisp, "A191 B309 C500");
	expect_path("A - 1000 1000 S O\nB A 900 1200 S b", CRITPATH_CRISP2022, &crisp, "A1000");
	expect_path(touching, CRITPATH_JAEGER, &plain, "A500 C500");
	expect_path(overlap, CRITPATH_EXACT, &plain, "A500 C500");
}

/* B runs on after it has released C: the time before C is B's, though B ended last. */
static void a_recorded_wake_up_beats_the_latest_end(void **state)
{
	(void)state;
	expect_default("A - 0 100 S O\nB A 10 80 S b\nC A 50 45 S c - - B", "A15 B40 C45");
	expect_default("A - 0 100 S O\nB A 10 80 S b\nC A 50 45 S c - - -", "A55 C45");
}

static void expect_note(const char *text, enum tree_note_kind kind, uint64_t cnt, const char *path)
{
	struct trace t = { 0 };
	struct spantree tree = { 0 };

	trace_from_text(&t, text);
	spantree__build(&tree, &t, &plain);
	if (tree.note_cnt[kind] != cnt)
		fail_msg("%s: %s %llu times, not %llu", text, tree_note_name(kind),
			 (unsigned long long)tree.note_cnt[kind], (unsigned long long)cnt);
	spantree__free(&tree);
	trace__free(&t);
	expect_default(text, path);
}

static void damage_is_told(void **state)
{
	(void)state;
	expect_note("A - 0 100 S O\nB X 10 20 S b\nC B 12 5 S c", TREE_ORPHAN, 1, "A100");
	expect_note("A - 0 100 S O\nB C 10 20 S b\nC B 12 5 S c\nD D 1 1 S d", TREE_CIRCLE, 2,
		    "A100");
	expect_note("B C 12 5 S b\nC B 10 20 S c", TREE_NO_ROOT, 1, "B5 C15");
	expect_note("A - 0 100 S O\nB A 10 20 S b\nB A 10 20 S b", TREE_TWICE, 1, "A80 B20");
	expect_note("A - 0 100 S O\nB A 10 50 S b client\nB A 20 30 T b server\nC B 25 10 T c",
		    TREE_SHARED_ID, 1, "A50 B20 B20 C10");
	expect_note("A - 0 100 S O\nB A 20 30 T b server\nB A 10 50 S b client\nC B 25 10 T c",
		    TREE_SHARED_ID, 1, "A50 B20 B20 C10");
	expect_note("A - 0 100 S O\nB A 10 20 S b\nB A 40 20 S x", TREE_AMBIGUOUS_ID, 1,
		    "A60 B20 B20");
	expect_note("A - 0 100 S O\nB A 200 20 S b", TREE_OUTSIDE, 1, "A100");
	expect_note("A - 0 100 S O\nB A 50 70 S b", TREE_CUT, 1, "A50 B50");
	expect_note("A ~B 0 1000 S job\nB A 1000 500 T next", TREE_ASYNC, 1, "A1000");
}

static void entries(void **state)
{
	struct spantree_options o = plain;
	const char *text = "R - 0 100 web root\nA R 10 20 S O\nB R 50 30 S O\nC B 55 10 S O";

	(void)state;
	o.entry_service = "S";
	o.entry_operation = "O";
	expect_path(text, CRITPATH_SECTIONS, &o, "A20 B20 C10");
	o.first_root = true;
	expect_path(text, CRITPATH_SECTIONS, &o, "A20");
	o.entry_operation = "nothing";
	expect_path(text, CRITPATH_SECTIONS, &o, "");
}

/* A random tree; without overlap among siblings and with distinct times unless wild. */
static void random_trace(struct trace *t, struct rng *r, size_t cnt, bool wild)
{
	char id[16];

	trace__reset(t);
	for (size_t i = 0; i < cnt; i++) {
		struct span *s = trace__add_span(t), *p;

		snprintf(id, sizeof(id), "n%zu", i);
		s->id_sid = strtab_add(&t->strings, id);
		s->service_sid = strtab_add(&t->strings, "s");
		s->operation_sid = s->id_sid;
		s->end_ns = 1000000000;
		if (!i)
			continue;
		p = &t->spans[rng_below(r, (uint32_t)i)];
		s->parent_sid = p->id_sid;
		if (wild) {
			s->start_ns = p->start_ns + rng_below(r, 2000) * 1000000 - 500000000;
			s->end_ns = s->start_ns + rng_below(r, 1000) * 1000000;
		} else { /* the parent's own time so far, cut in three: the child takes the middle */
			int64_t lo = p->start_ns, hi = p->end_ns;

			for (size_t k = 0; k < i; k++)
				if (t->spans[k].parent_sid == p->id_sid && t->spans[k].end_ns > lo)
					lo = t->spans[k].end_ns;
			s->start_ns = lo + (hi - lo) / 3;
			s->end_ns = s->start_ns + (hi - lo) / 3;
		}
	}
}

static void check_tiling(const struct critpath *p, const struct spantree *t, uint32_t root)
{
	int64_t at = t->end_ns[root], sum = 0;

	for (size_t i = 0; i < p->section_cnt; i++) {
		const struct section *s = &p->sections[i];

		assert_true(s->from_ns < s->to_ns);
		assert_true(s->to_ns == at);
		assert_true(s->from_ns >= t->start_ns[s->span] && s->to_ns <= t->end_ns[s->span]);
		at = s->from_ns;
	}
	assert_true(at == t->start_ns[root]);
	for (size_t i = 0; i < p->node_cnt; i++)
		sum += p->nodes[i].exclusive_ns;
	assert_true(sum == t->end_ns[root] - t->start_ns[root]);
}

static void sections_tile_random_trees(void **state)
{
	struct rng r = { 7 };
	struct trace t = { 0 };
	struct spantree tree = { 0 };
	struct critpath p = { 0 };

	(void)state;
	for (int round = 0; round < 400; round++) {
		random_trace(&t, &r, 1 + rng_below(&r, 200), round % 2);
		spantree__build(&tree, &t, &plain);
		for (size_t i = 0; i < tree.root_cnt; i++)
			for (int rule = CRITPATH_SECTIONS; rule <= CRITPATH_JAEGER; rule++) {
				critpath__find(&p, &tree, tree.roots[i], rule);
				check_tiling(&p, &tree, tree.roots[i]);
			}
	}
	critpath__free(&p);
	spantree__free(&tree);
	trace__free(&t);
}

static void all_rules_agree_without_overlap(void **state)
{
	struct rng r = { 11 };
	struct trace t = { 0 };
	struct spantree tree = { 0 };
	struct critpath p = { 0 };
	struct buf want = { 0 }, got = { 0 };

	(void)state;
	for (int round = 0; round < 100; round++) {
		random_trace(&t, &r, 1 + rng_below(&r, 40), false);
		spantree__build(&tree, &t, &plain);
		for (int rule = CRITPATH_SECTIONS; rule <= CRITPATH_CRISP2022; rule++) {
			buf_reset(&got);
			critpath__find(&p, &tree, tree.roots[0], rule);
			put_times(&t, &p, rule == CRITPATH_SECTIONS ? &want : &got);
			if (rule != CRITPATH_SECTIONS)
				assert_string_equal(buf_str(&got), buf_str(&want));
		}
		buf_reset(&want);
	}
	buf_free(&want);
	buf_free(&got);
	critpath__free(&p);
	spantree__free(&tree);
	trace__free(&t);
}

/* All times times k: all results times k (up to the tolerance, which --exact has not). */
static void scaling_scales(void **state)
{
	struct rng r = { 13 };
	struct trace t = { 0 };
	struct spantree tree = { 0 };
	struct critpath a = { 0 }, b = { 0 };

	(void)state;
	for (int round = 0; round < 100; round++) {
		random_trace(&t, &r, 1 + rng_below(&r, 60), true);
		spantree__build(&tree, &t, &plain);
		critpath__find(&a, &tree, tree.roots[0], CRITPATH_EXACT);
		for (size_t i = 0; i < t.span_cnt; i++) {
			t.spans[i].start_ns *= 7;
			t.spans[i].end_ns *= 7;
		}
		spantree__build(&tree, &t, &plain);
		critpath__find(&b, &tree, tree.roots[0], CRITPATH_EXACT);
		assert_int_equal(a.node_cnt, b.node_cnt);
		for (size_t i = 0; i < a.node_cnt; i++)
			assert_true(a.nodes[i].exclusive_ns * 7 == b.nodes[i].exclusive_ns);
	}
	critpath__free(&a);
	critpath__free(&b);
	spantree__free(&tree);
	trace__free(&t);
}

static void deep_chains_and_wide_fans(void **state)
{
	enum {
		DEEP = 10000,
		WIDE = 50000
	};
	struct trace t = { 0 };
	struct spantree tree = { 0 };
	struct critpath p = { 0 };
	char id[16];

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		int cnt = wide ? WIDE : DEEP;

		trace__reset(&t);
		for (int i = 0; i < cnt; i++) {
			struct span *s = trace__add_span(&t);

			snprintf(id, sizeof(id), "n%d", i);
			s->id_sid = strtab_add(&t.strings, id);
			snprintf(id, sizeof(id), "n%d", wide ? 0 : i - 1);
			s->parent_sid = i ? strtab_add(&t.strings, id) : 0;
			s->start_ns = wide ? (i ? i - 1 : 0) : i;
			s->end_ns = wide ? (i ? i : cnt) : 2 * cnt - i;
		}
		spantree__build(&tree, &t, &plain);
		critpath__find(&p, &tree, tree.roots[0], CRITPATH_SECTIONS);
		assert_int_equal(p.node_cnt, cnt);
		check_tiling(&p, &tree, tree.roots[0]);
	}
	critpath__free(&p);
	spantree__free(&tree);
	trace__free(&t);
}

static int64_t root_if(const char *text, const char *operation, double factor, int64_t less_ns)
{
	struct whatif_change change = { .operation = operation,
					.factor = factor,
					.less_ns = less_ns };
	struct trace t = { 0 };
	struct spantree tree = { 0 };
	struct whatif w = { 0 };
	int64_t ns;

	trace_from_text(&t, text);
	spantree__build(&tree, &t, &plain);
	ns = whatif__root_ns(&w, &tree, tree.roots[0], &change, 1);
	whatif__free(&w);
	spantree__free(&tree);
	trace__free(&t);
	return ns / 1000;
}

static void what_if(void **state)
{
	/* b, then c and d at once (d longer), then 100 of A */
	const char *text = "A - 0 1000 S A\nb A 100 200 S b\nc A 350 200 S c\nd A 350 550 S d";

	(void)state;
	assert_int_equal(root_if(text, "nothing", 0, 0), 1000);
	assert_int_equal(root_if(text, "b", 0.5, 0), 900);
	assert_int_equal(root_if(text, "b", 1, 50000), 950);
	assert_int_equal(root_if(text, "c", 0, 0), 1000); /* off the path: no gain */
	assert_int_equal(root_if(text, "d", 0, 0), 650);  /* until c takes over */
	assert_int_equal(root_if(text, "A", 0.9, 0), 900);
}

static void what_if_nothing_changes_random_trees(void **state)
{
	struct rng r = { 17 };
	struct trace t = { 0 };
	struct spantree tree = { 0 };
	struct whatif w = { 0 };

	(void)state;
	for (int round = 0; round < 200; round++) {
		random_trace(&t, &r, 1 + rng_below(&r, 100), true);
		spantree__build(&tree, &t, &plain);
		assert_true(whatif__root_ns(&w, &tree, 0, NULL, 0) ==
			    tree.end_ns[0] - tree.start_ns[0]);
	}
	whatif__free(&w);
	spantree__free(&tree);
	trace__free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siblings),
		cmocka_unit_test(children_that_do_not_fit),
		cmocka_unit_test(shifts_have_limits),
		cmocka_unit_test(a_shift_centres_the_server),
		cmocka_unit_test(rules_of_others),
		cmocka_unit_test(a_recorded_wake_up_beats_the_latest_end),
		cmocka_unit_test(damage_is_told),
		cmocka_unit_test(entries),
		cmocka_unit_test(sections_tile_random_trees),
		cmocka_unit_test(all_rules_agree_without_overlap),
		cmocka_unit_test(scaling_scales),
		cmocka_unit_test(deep_chains_and_wide_fans),
		cmocka_unit_test(what_if),
		cmocka_unit_test(what_if_nothing_changes_random_trees),
	};

	return cmocka_run_group_tests_name("critpath", tests, NULL, NULL);
}
