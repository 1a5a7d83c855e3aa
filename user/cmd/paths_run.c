/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One trace through "causeprof paths"; see paths_run.h. */
#include "user/cmd/paths_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/callends.h"
#include "user/analysis/msgdedup.h"
#include "user/analysis/pathtruth.h"
#include "user/base/mem.h"
#include "user/cmd/node_map.h"
#include "user/exchange/msginput.h"
#include "user/exchange/msgtruth.h"

/* Span tables hold each end of a call by itself. */
static void join_ends(struct paths_run *run)
{
	size_t single = 0, joined = callends_join(run->t, (int64_t)run->opts->skew_ns);

	for (size_t i = 0; i < run->t->call_cnt; i++)
		single += run->t->calls[i].side != CALL_BOTH;
	if (joined || single)
		buf_printf(&run->notes,
			   "%zu calls seen at both ends, %zu at one (--skew helps if clocks "
			   "disagree)\n",
			   joined, single);
}

int paths_run_load(struct paths_run *run, char *const *files, size_t cnt, struct err *err)
{
	const struct paths_opts *o = run->opts;
	struct msginput_opts in = { o->skip_bad, o->ports, NULL, run->progress };
	const struct paths_method *m = &paths_methods[o->method];
	struct nodemap *map = NULL;
	int rc = 0;

	run->t = msgtrace__new();
	if (o->node_map)
		rc = read_node_map(o->node_map, &map, err);
	in.map = map;
	if (!rc)
		rc = msginput_load(files, cnt, &in, run->t, &run->notes, err);
	nodemap__free(map);
	if (rc)
		return rc;
	msgtrace__sort_msgs(run->t);
	if (o->dedup_ns) {
		uint64_t cut = msgdedup(run->t, (int64_t)o->dedup_ns);

		if (cut)
			buf_printf(&run->notes, "%llu messages seen twice, dropped\n",
				   (unsigned long long)cut);
	}
	if (run->t->msg_cnt)
		callpairs_find(run->t,
			       (m->wants_messages ? 0 : CALLPAIRS_DROP_MSGS) |
				       (o->truth ? CALLPAIRS_NUMBER : 0),
			       (int64_t)o->skew_ns, &run->pairs);
	if (!o->links)
		join_ends(run);
	msgtrace__sort_calls(run->t);
	return 0;
}

static uint32_t find_node(const struct msgtrace *t, const char *name, size_t len_bytes)
{
	for (uint32_t i = 1; i < t->nodes.cnt; i++)
		if (strtab_len_bytes(&t->nodes, i) == len_bytes &&
		    !memcmp(strtab_get(&t->nodes, i), name, len_bytes))
			return i;
	return 0;
}

/* --network-node A,B */
static int split_networks(struct paths_run *run, struct err *err)
{
	const struct opt_list *list = &run->opts->network_nodes;

	for (size_t i = 0; i < list->cnt; i++) {
		const char *text = list->items[i], *comma = strchr(text, ',');
		uint32_t a = comma ? find_node(run->t, text, (size_t)(comma - text)) : 0;
		uint32_t b = comma ? find_node(run->t, comma + 1, strlen(comma + 1)) : 0;

		if (!a || !b)
			return err_set(err, -EINVAL,
				       "--network-node %s: expected A,B, two nodes of the trace",
				       text);
		if (!callends_split_network(run->t, a, b))
			return err_set(err, -EINVAL,
				       "--network-node %s: no call between them has stamps of both "
				       "ends, so the network's share cannot be told",
				       text);
	}
	return 0;
}

static void put_pairs(const struct callpairs_stats *s, struct buf *out)
{
	if (s->unreturned_cnt)
		buf_printf(out, "%llu calls without return, in no path\n",
			   (unsigned long long)s->unreturned_cnt);
	if (s->orphan_ret_cnt)
		buf_printf(out, "%llu returns without call\n",
			   (unsigned long long)s->orphan_ret_cnt);
	if (s->early_ret_cnt)
		buf_printf(out, "%llu returns before their calls, within the window\n",
			   (unsigned long long)s->early_ret_cnt);
	if (s->oneway_cnt && s->call_cnt)
		buf_printf(out, "%llu one-way messages, in no path\n",
			   (unsigned long long)s->oneway_cnt);
	if (s->self_call_cnt)
		buf_printf(out, "%llu calls of a node to itself\n",
			   (unsigned long long)s->self_call_cnt);
}

static void pairs_json(const struct callpairs_stats *s, struct json *j)
{
	json_u64(j, "messages", s->msg_cnt);
	json_u64(j, "unreturned_calls", s->unreturned_cnt);
	json_u64(j, "orphan_returns", s->orphan_ret_cnt);
	json_u64(j, "early_returns", s->early_ret_cnt);
	json_u64(j, "oneway_messages", s->oneway_cnt);
	json_u64(j, "self_calls", s->self_call_cnt);
}

/* Traces of spans bring their own truth. */
static void put_accuracy(const struct msgtrace *t, struct buf *out, struct json *j)
{
	uint64_t right = 0, links = 0;

	for (size_t i = 0; i < t->call_cnt && t->has_true_parents; i++) {
		uint32_t true_parent = call_true_parent(&t->calls[i]);

		links += true_parent != CALL_NONE;
		right += true_parent != CALL_NONE && true_parent == t->calls[i].parent;
	}
	if (!links)
		return;
	if (j) {
		json_u64(j, "true_links", links);
		json_u64(j, "right_links", right);
	}
	buf_printf(out, "%llu of %llu links as the trace gives them (%.1f %%)\n",
		   (unsigned long long)right, (unsigned long long)links,
		   100.0 * (double)right / (double)links);
}

int paths_run_infer(struct paths_run *run, struct json *j, struct paths **ret, struct err *err)
{
	int rc;

	if (j)
		pairs_json(&run->pairs, j);
	rc = paths_methods[run->opts->method].infer(run, j, err);
	if (rc)
		return rc;
	put_pairs(&run->pairs, &run->notes);
	put_accuracy(run->t, &run->notes, j);
	rc = split_networks(run, err);
	if (rc)
		return rc;
	*ret = paths__new(run->t, run->opts->unordered ? PATHS_UNORDERED : 0);
	return 0;
}

int paths_run_judge(const struct paths_run *run, const struct paths *p, struct json *j,
		    struct buf *out, struct err *err)
{
	struct msgtruth truth = { 0 };
	struct pathtruth result;
	struct paths *true_paths;
	uint32_t *true_of_call;
	struct input *in;
	int rc = input_open(run->opts->truth, &in, err);

	if (rc)
		return rc;
	rc = msgtruth_read(in, &truth, err);
	if (!rc && !run->t->call_msg && run->t->call_cnt)
		rc = err_set(err, -EINVAL, "--truth needs a trace of messages, not of spans");
	input_close(in);
	if (rc)
		goto out;
	true_of_call = xcalloc(run->t->call_cnt + 1, sizeof(*true_of_call));
	for (size_t i = 0; i < run->t->call_cnt; i++) {
		uint32_t number = run->t->call_msg[i];

		true_of_call[i] = number < truth.number_cnt ? truth.call_of_number[number] :
							      (uint32_t)CALL_NONE;
	}
	true_paths = paths__new(truth.t, run->opts->unordered ? PATHS_UNORDERED : 0);
	pathtruth_judge(p, true_paths, true_of_call, &result);
	if (j)
		pathtruth_json(&result, j);
	else
		pathtruth_text(&result, out);
	paths__free(true_paths);
	free(true_of_call);
out:
	msgtruth_free(&truth);
	return rc;
}

void paths_run_fini(struct paths_run *run)
{
	buf_free(&run->notes);
	msgtrace__free(run->t);
	run->t = NULL;
}
