/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How right inferred paths are; see pathtruth.h. */
#include "user/analysis/pathtruth.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/strtab.h"

#define NIL 0xffffffffu

static const double tolerances[PATHTRUTH_TOLERANCES] = { 0, 0.02, 0.06 };

/* Patterns by name: the two sides number nodes and shapes differently. */
struct naming {
	struct strtab names;
	uint32_t *true_rank, *inferred_rank; /* by name id, NIL = none */
	size_t cap;
};

static void name_patterns(struct naming *n, const struct paths *p, uint32_t **rank)
{
	struct buf name = { 0 };

	for (size_t i = 0; i < p->pattern_cnt; i++) {
		uint32_t id;

		buf_reset(&name);
		paths__name(p, &p->patterns[i], &name);
		id = strtab_addn(&n->names, buf_str(&name), name.len_bytes);
		if (id >= n->cap) {
			size_t old = n->cap, cap = old;

			n->true_rank = xgrow(n->true_rank, &cap, id + 1, sizeof(uint32_t));
			n->inferred_rank = xreallocarray(n->inferred_rank, cap, sizeof(uint32_t));
			memset(n->true_rank + old, 0xff, (cap - old) * sizeof(uint32_t));
			memset(n->inferred_rank + old, 0xff, (cap - old) * sizeof(uint32_t));
			n->cap = cap;
		}
		(*rank)[id] = (uint32_t)i;
	}
	buf_free(&name);
}

/* Patterns in both, as the other side's rank by one's own; NIL = the other has none. */
static uint32_t *other_rank(const struct naming *n, const struct paths *p, const uint32_t *own,
			    const uint32_t *other)
{
	uint32_t *ret = xmalloc((p->pattern_cnt + 1) * sizeof(*ret));

	memset(ret, 0xff, (p->pattern_cnt + 1) * sizeof(*ret));
	for (size_t id = 0; id < n->names.cnt && id < n->cap; id++)
		if (own[id] != NIL)
			ret[own[id]] = other[id];
	return ret;
}

static void judge_top(const struct paths *inferred, const struct paths *truth,
		      const uint32_t *inferred_of_true, struct pathtruth *r)
{
	r->top_cnt =
		truth->pattern_cnt < PATHTRUTH_TOP_MAX ? truth->pattern_cnt : PATHTRUTH_TOP_MAX;
	for (size_t n = 1; n <= r->top_cnt; n++) {
		uint32_t last_cnt = n <= inferred->pattern_cnt ? inferred->patterns[n - 1].cnt : 0;

		for (int k = 0; k < PATHTRUTH_TOLERANCES; k++) {
			size_t missed = 0;

			for (size_t i = 0; i < n; i++) {
				uint32_t rank = inferred_of_true[i];

				if (rank == NIL)
					missed++;
				else if (rank >= n && (double)inferred->patterns[rank].cnt <
							      (1 - tolerances[k]) * last_cnt)
					missed++;
			}
			r->miss[n - 1][k] = (double)missed / (double)n;
		}
	}
}

static void judge_patterns(const struct paths *inferred, const struct paths *truth,
			   struct pathtruth *r)
{
	struct naming n = { 0 };
	uint32_t *inferred_of_true, *true_of_inferred;

	strtab_add(&n.names, "");
	name_patterns(&n, truth, &n.true_rank);
	name_patterns(&n, inferred, &n.inferred_rank);
	inferred_of_true = other_rank(&n, truth, n.true_rank, n.inferred_rank);
	true_of_inferred = other_rank(&n, inferred, n.inferred_rank, n.true_rank);
	r->patterns = (struct pathtruth_count){ truth->pattern_cnt, inferred->pattern_cnt, 0 };
	for (size_t i = 0; i < truth->pattern_cnt; i++)
		r->patterns.right_cnt += inferred_of_true[i] != NIL;
	judge_top(inferred, truth, inferred_of_true, r);
	for (size_t i = 0; i < inferred->pattern_cnt && i < PATHTRUTH_TOP_MAX; i++)
		if (true_of_inferred[i] == NIL)
			r->false_ranks[r->false_rank_cnt++] = i + 1;
	free(inferred_of_true);
	free(true_of_inferred);
	free(n.true_rank);
	free(n.inferred_rank);
	strtab_free(&n.names);
}

static void judge_links(const struct paths *inferred, const struct paths *truth,
			const uint32_t *true_of_call, struct pathtruth *r)
{
	const struct msgtrace *t = inferred->t;

	for (size_t i = 0; i < truth->t->call_cnt; i++)
		r->links.true_cnt += truth->t->calls[i].parent != CALL_NONE;
	for (size_t i = 0; i < t->call_cnt; i++) {
		uint32_t parent = t->calls[i].parent, true_call = true_of_call[i];

		if (parent == CALL_NONE)
			continue;
		r->links.inferred_cnt++;
		r->links.right_cnt += true_call != NIL && true_of_call[parent] != NIL &&
				      truth->t->calls[true_call].parent == true_of_call[parent];
	}
}

/* Whether an inferred tree is a true tree: the same calls, each with the right parent. */
static bool tree_is_true(const struct paths *inferred, const struct paths *truth,
			 const uint32_t *true_of_call, const uint32_t *calls, size_t cnt,
			 uint32_t *scratch)
{
	const struct msgtrace *t = inferred->t;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t parent = t->calls[calls[i]].parent, true_call = true_of_call[calls[i]];

		if (true_call == NIL ||
		    truth->t->calls[true_call].parent !=
			    (parent == CALL_NONE ? (uint32_t)CALL_NONE : true_of_call[parent]))
			return false;
	}
	/* no more calls in the true tree than these */
	return paths__instance(truth, true_of_call[calls[0]], scratch, cnt + 1) == cnt;
}

static void judge_instances(const struct paths *inferred, const struct paths *truth,
			    const uint32_t *true_of_call, struct pathtruth *r)
{
	uint32_t *calls = NULL, *scratch = NULL;
	size_t cap = 0;

	r->instances = (struct pathtruth_count){ truth->root_cnt, inferred->root_cnt, 0 };
	for (size_t i = 0; i < inferred->pattern_cnt; i++) {
		const struct path_pattern *pat = &inferred->patterns[i];
		size_t size = inferred->shapes[pat->shape].size;

		if (size + 1 > cap) {
			calls = xgrow(calls, &cap, size + 1, sizeof(*calls));
			scratch = xreallocarray(scratch, cap, sizeof(*scratch));
		}
		for (uint32_t k = 0; k < pat->cnt; k++) {
			uint32_t root = inferred->roots[pat->first_root + k];

			paths__instance(inferred, root, calls, size);
			r->instances.right_cnt +=
				tree_is_true(inferred, truth, true_of_call, calls, size, scratch);
		}
	}
	free(calls);
	free(scratch);
}

void pathtruth_judge(const struct paths *inferred, const struct paths *truth,
		     const uint32_t *true_of_call, struct pathtruth *ret)
{
	*ret = (struct pathtruth){ 0 };
	judge_patterns(inferred, truth, ret);
	judge_links(inferred, truth, true_of_call, ret);
	judge_instances(inferred, truth, true_of_call, ret);
}

static void put_count(const char *what, const struct pathtruth_count *c, struct buf *out)
{
	uint64_t fn = c->true_cnt - c->right_cnt, fp = c->inferred_cnt - c->right_cnt;

	buf_printf(out, "%-10s %10llu %10llu %10llu %9.2f %% %9.2f %%\n", what,
		   (unsigned long long)c->true_cnt, (unsigned long long)c->inferred_cnt,
		   (unsigned long long)c->right_cnt,
		   c->true_cnt ? 100.0 * (double)fn / (double)c->true_cnt : 0,
		   c->inferred_cnt ? 100.0 * (double)fp / (double)c->inferred_cnt : 0);
}

void pathtruth_text(const struct pathtruth *r, struct buf *out)
{
	buf_printf(out, "%-10s %10s %10s %10s %11s %11s\n", "", "true", "inferred", "right",
		   "false neg", "false pos");
	put_count("patterns", &r->patterns, out);
	put_count("instances", &r->instances, out);
	put_count("links", &r->links, out);
	buf_printf(out,
		   "\ntop N: share of the true top N that is missed, with a tolerance for "
		   "counts of\n%6s %8s %8s %8s\n",
		   "N", "0", "2 %", "6 %");
	for (size_t n = 1; n <= r->top_cnt; n++)
		buf_printf(out, "%6zu %8.3f %8.3f %8.3f\n", n, r->miss[n - 1][0], r->miss[n - 1][1],
			   r->miss[n - 1][2]);
	buf_puts(out, "false patterns at ranks:");
	for (size_t i = 0; i < r->false_rank_cnt; i++)
		buf_printf(out, " %llu", (unsigned long long)r->false_ranks[i]);
	buf_puts(out, r->false_rank_cnt ? "\n" : " none\n");
}

static void count_json(struct json *j, const char *key, const struct pathtruth_count *c)
{
	json_begin_object(j, key);
	json_u64(j, "true", c->true_cnt);
	json_u64(j, "inferred", c->inferred_cnt);
	json_u64(j, "right", c->right_cnt);
	json_end_object(j);
}

void pathtruth_json(const struct pathtruth *r, struct json *j)
{
	static const char *const keys[PATHTRUTH_TOLERANCES] = { "miss", "miss_2_percent",
								"miss_6_percent" };

	json_begin_object(j, "truth");
	count_json(j, "patterns", &r->patterns);
	count_json(j, "instances", &r->instances);
	count_json(j, "links", &r->links);
	for (int k = 0; k < PATHTRUTH_TOLERANCES; k++) {
		json_begin_array(j, keys[k]);
		for (size_t n = 0; n < r->top_cnt; n++)
			json_f64(j, NULL, r->miss[n][k]);
		json_end_array(j);
	}
	json_begin_array(j, "false_pattern_ranks");
	for (size_t i = 0; i < r->false_rank_cnt; i++)
		json_u64(j, NULL, r->false_ranks[i]);
	json_end_array(j);
	json_end_object(j);
}
