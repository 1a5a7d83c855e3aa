/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Firefox Profiler's processed format, as an output: one thread a process, one sample a sum, times as
 * weights in milliseconds with six decimals, which is exact (the profiler itself computes with doubles, so
 * that it shows 15 digits). What a thread did is the innermost frame. The stamps of samples are made up: sums
 * have no place in time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/json.h"
#include "user/base/mem.h"
#include "user/exchange/firefox.h"
#include "user/exchange/sink.h"
#include "user/model/nametree.h"

enum {
	FORMAT_VERSION = 49,
	CATEGORY_USER = 0,
	CATEGORY_KERNEL = 1,
};

struct writer {
	const struct profile *p;
	const struct export_options *opts;
	struct sink out;
	struct json json;
	struct nametree tree; /* of the present process */
	uint32_t *nodes;      /* by sum of the present process */
	uint64_t *values;
	size_t cnt, nodes_cap, values_cap;
	bool is_time;
};

static void take_sum(void *ctx, const struct sum *s, uint32_t node)
{
	struct writer *w = ctx;

	if (w->cnt == w->nodes_cap)
		w->nodes = xgrow(w->nodes, &w->nodes_cap, w->cnt + 1, sizeof(*w->nodes));
	if (w->cnt == w->values_cap)
		w->values = xgrow(w->values, &w->values_cap, w->cnt + 1, sizeof(*w->values));
	w->nodes[w->cnt] = node;
	w->values[w->cnt++] = s->ns;
}

static void put_meta(struct writer *w)
{
	static const char *const names[] = { "User", "Kernel" }, *const colors[] = { "yellow",
										     "orange" };

	json_begin_object(&w->json, "meta");
	json_u64(&w->json, "version", 24);
	json_u64(&w->json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_f64(&w->json, "interval", 1);
	json_u64(&w->json, "startTime", w->p->header.realtime_ns / 1000000);
	json_u64(&w->json, "processType", 0);
	json_str(&w->json, "product", "causeprof");
	json_u64(&w->json, "stackwalk", 1);
	json_bool(&w->json, "symbolicated", true);
	json_bool(&w->json, "debug", false);
	json_begin_array(&w->json, "categories");
	for (int i = 0; i < 2; i++) {
		json_begin_object(&w->json, NULL);
		json_str(&w->json, "name", names[i]);
		json_str(&w->json, "color", colors[i]);
		json_begin_array(&w->json, "subcategories");
		json_str(&w->json, NULL, "Other");
		json_end_array(&w->json);
		json_end_object(&w->json);
	}
	json_end_array(&w->json);
	json_begin_array(&w->json, "markerSchema");
	json_end_array(&w->json);
	json_end_object(&w->json);
	json_begin_array(&w->json, "libs");
	json_end_array(&w->json);
}

enum fill {
	FILL_NULL,
	FILL_ZERO,
	FILL_MINUS_ONE,
	FILL_FALSE,
	FILL_NUMBER, /* its own place */
};

static void put_column(struct writer *w, const char *name, size_t cnt, enum fill fill)
{
	json_begin_array(&w->json, name);
	for (size_t i = 0; i < cnt; i++) {
		if (fill == FILL_NULL)
			json_str(&w->json, NULL, NULL);
		else if (fill == FILL_FALSE)
			json_bool(&w->json, NULL, false);
		else
			json_i64(&w->json, NULL,
				 fill == FILL_NUMBER ? (int64_t)i :
				 fill == FILL_ZERO   ? 0 :
						       -1);
		sink_flush_if_full(&w->out);
	}
	json_end_array(&w->json);
}

/* A function and a frame for each name. */
static void put_frames(struct writer *w)
{
	size_t cnt = w->tree.names.cnt;

	json_begin_object(&w->json, "frameTable");
	json_u64(&w->json, "length", cnt);
	put_column(w, "address", cnt, FILL_MINUS_ONE);
	put_column(w, "inlineDepth", cnt, FILL_ZERO);
	put_column(w, "category", cnt, FILL_NULL);
	put_column(w, "subcategory", cnt, FILL_NULL);
	put_column(w, "func", cnt, FILL_NUMBER);
	put_column(w, "nativeSymbol", cnt, FILL_NULL);
	put_column(w, "innerWindowID", cnt, FILL_NULL);
	put_column(w, "line", cnt, FILL_NULL);
	put_column(w, "column", cnt, FILL_NULL);
	json_end_object(&w->json);
	json_begin_object(&w->json, "funcTable");
	json_u64(&w->json, "length", cnt);
	put_column(w, "name", cnt, FILL_NUMBER);
	put_column(w, "isJS", cnt, FILL_FALSE);
	put_column(w, "relevantForJS", cnt, FILL_FALSE);
	put_column(w, "resource", cnt, FILL_MINUS_ONE);
	put_column(w, "fileName", cnt, FILL_NULL);
	put_column(w, "lineNumber", cnt, FILL_NULL);
	put_column(w, "columnNumber", cnt, FILL_NULL);
	json_end_object(&w->json);
	json_begin_array(&w->json, "stringArray");
	for (uint32_t i = 0; i < cnt; i++)
		json_str(&w->json, NULL, strtab_get(&w->tree.names, i));
	json_end_array(&w->json);
}

/* Node n of the tree is stack n - 1. */
static void put_stacks(struct writer *w)
{
	size_t cnt = w->tree.cnt - 1;

	json_begin_object(&w->json, "stackTable");
	json_u64(&w->json, "length", cnt);
	json_begin_array(&w->json, "prefix");
	for (size_t i = 1; i <= cnt; i++) {
		uint32_t parent = w->tree.nodes[i].parent;

		if (parent)
			json_u64(&w->json, NULL, parent - 1);
		else
			json_str(&w->json, NULL, NULL);
		sink_flush_if_full(&w->out);
	}
	json_end_array(&w->json);
	json_begin_array(&w->json, "frame");
	for (size_t i = 1; i <= cnt; i++)
		json_u64(&w->json, NULL, w->tree.nodes[i].name);
	json_end_array(&w->json);
	put_column(w, "category", cnt, FILL_ZERO);
	put_column(w, "subcategory", cnt, FILL_ZERO);
	json_end_object(&w->json);
}

/* Written here, because a double does not hold all nanoseconds of a long capture. */
static void put_weights(struct writer *w)
{
	json_begin_array(&w->json, "weight");
	for (size_t i = 0; i < w->cnt; i++) {
		if (w->is_time) {
			buf_printf(&w->out.buf, "%s%" PRIu64 ".%06u", i ? "," : "",
				   w->values[i] / 1000000, (unsigned int)(w->values[i] % 1000000));
			sink_flush_if_full(&w->out);
		} else {
			json_u64(&w->json, NULL, w->values[i]);
		}
	}
	json_end_array(&w->json);
}

static void put_samples(struct writer *w)
{
	const char *unit = profile__str(w->p, w->p->header.unit_sid);

	json_begin_object(&w->json, "samples");
	json_u64(&w->json, "length", w->cnt);
	json_begin_array(&w->json, "stack");
	for (size_t i = 0; i < w->cnt; i++)
		if (w->nodes[i])
			json_u64(&w->json, NULL, w->nodes[i] - 1);
		else
			json_str(&w->json, NULL, NULL);
	json_end_array(&w->json);
	put_column(w, "time", w->cnt, FILL_NUMBER);
	put_weights(w);
	json_str(&w->json, "weightType",
		 w->is_time	       ? "tracing-ms" :
		 strcmp(unit, "bytes") ? "samples" :
					 "bytes");
	json_end_object(&w->json);
}

static void put_empty_tables(struct writer *w)
{
	static const char *const markers[] = { "category", "data",	"endTime", "name",
					       "phase",	   "startTime", NULL };
	static const char *const resources[] = { "lib", "name", "host", "type", NULL };
	static const char *const symbols[] = { "address", "functionSize", "libIndex", "name",
					       NULL };
	static const struct {
		const char *name;
		const char *const *columns;
	} tables[] = { { "markers", markers },
		       { "resourceTable", resources },
		       { "nativeSymbols", symbols } };

	for (size_t t = 0; t < ARRAY_CNT(tables); t++) {
		json_begin_object(&w->json, tables[t].name);
		json_u64(&w->json, "length", 0);
		for (const char *const *c = tables[t].columns; *c; c++)
			put_column(w, *c, 0, FILL_NULL);
		json_end_object(&w->json);
	}
	put_column(w, "pausedRanges", 0, FILL_NULL);
}

static void put_thread(struct writer *w, const char *name, uint32_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, pid);
	json_begin_object(&w->json, NULL);
	json_str(&w->json, "name", *name ? name : "causeprof");
	json_str(&w->json, "processName", name);
	json_str(&w->json, "processType", "default");
	json_bool(&w->json, "isMainThread", true);
	json_u64(&w->json, "processStartupTime", 0);
	json_str(&w->json, "processShutdownTime", NULL);
	json_u64(&w->json, "registerTime", 0);
	json_str(&w->json, "unregisterTime", NULL);
	json_str(&w->json, "pid", text);
	json_u64(&w->json, "tid", pid);
	put_empty_tables(w);
	put_frames(w);
	put_stacks(w);
	put_samples(w);
	json_end_object(&w->json);
	sink_flush_if_full(&w->out);
}

struct by_process {
	uint32_t process, sum;
};

static int compare_processes(const void *a, const void *b)
{
	const struct by_process *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->sum > y->sum) - (x->sum < y->sum);
}

/* A view of the profile that has only the sums of one process. */
static void put_threads(struct writer *w)
{
	struct by_process *order = xcalloc(w->p->sums.cnt + 1, sizeof(*order));
	struct sum *sums = xcalloc(w->p->sums.cnt + 1, sizeof(*sums));
	struct profile view = *w->p;

	for (size_t i = 0; i < w->p->sums.cnt; i++)
		order[i] = (struct by_process){ w->p->sums.items[i].process, (uint32_t)i };
	qsort(order, w->p->sums.cnt, sizeof(*order), compare_processes);
	for (size_t i = 0, end; i < w->p->sums.cnt; i = end) {
		const struct process *pr = &w->p->processes.items[order[i].process];

		for (end = i; end < w->p->sums.cnt && order[end].process == order[i].process; end++)
			sums[end - i] = w->p->sums.items[order[end].sum];
		view.sums.items = sums;
		view.sums.cnt = end - i;
		w->cnt = 0;
		nametree_init(&w->tree);
		nametree_add_profile(&w->tree, &view,
				     NAMETREE_NO_PROCESS |
					     (w->opts->suffixes ? NAMETREE_SUFFIXES : 0) |
					     (w->opts->kinds ? NAMETREE_KINDS : 0),
				     take_sum, w);
		put_thread(w, profile__str(w->p, pr->comm_sid), pr->pid);
		nametree_free(&w->tree);
	}
	free(order);
	free(sums);
}

int firefox_export(const struct profile *p, const struct export_options *opts,
		   struct export_sink *to, struct err *err)
{
	struct writer w = { .p = p, .opts = opts, .out = { .to = to, .err = err } };
	const char *unit = profile__str(p, p->header.unit_sid);

	w.is_time = !*unit || !strcmp(unit, "ns");
	json_init(&w.json, &w.out.buf);
	json_begin_object(&w.json, NULL);
	put_meta(&w);
	json_begin_array(&w.json, "pages");
	json_end_array(&w.json);
	json_begin_array(&w.json, "threads");
	put_threads(&w);
	json_end_array(&w.json);
	json_end_object(&w.json);
	free(w.nodes);
	free(w.values);
	return sink_finish(&w.out);
}
