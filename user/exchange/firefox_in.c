/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Firefox Profiler's processed format (what it saves, and what samply writes), as an input. Tables are
 * columns; a stack is a prefix and a frame, a frame has a function, a function a name. Newer versions share
 * the tables between threads ("shared"), older ones have them in each thread, or only the strings shared.
 * Samples count one each unless they have weights; weights of another type than the first thread's are left
 * out and counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/firefox.h"
#include "user/exchange/intake.h"
#include "user/exchange/jsontree.h"

struct column {
	const struct jsonnode **items;
	size_t cnt;
};

struct reader {
	struct intake intake;
	struct input *in;
	struct err *err;
	const struct jsonnode *shared;
	size_t thread_number;
	char weight_type[32];
	uint32_t *stacks; /* of the present thread's table */
	int *kinds;	  /* by stack: what its leaf says */
	size_t stack_cnt;
};

static int bad(struct reader *r, const char *what, size_t number, const char *why)
{
	return err_set(r->err, -EINVAL, "%s: thread %zu, %s %zu: %s", input_path(r->in),
		       r->thread_number, what, number, why);
}

static struct column column(const struct jsonnode *table, const char *name)
{
	struct column c;

	c.items = jsontree_elements(jsontree_get(table, name), &c.cnt);
	return c;
}

/* A table of this name: the thread's own, or the shared one. */
static const struct jsonnode *table(const struct reader *r, const struct jsonnode *thread,
				    const char *name)
{
	const struct jsonnode *own = jsontree_get(thread, name);

	return own ? own : jsontree_get(r->shared, name);
}

static const char *string_of(const struct column *strings, const struct column *indexes,
			     uint64_t at)
{
	uint64_t s;

	if (at >= indexes->cnt || !strings->cnt ||
	    !jsontree_index(indexes->items[at], strings->cnt - 1, &s))
		return "";
	return jsontree_text(strings->items[s]);
}

/* Functions become frames of the profile. */
static uint32_t *read_functions(struct reader *r, const struct jsonnode *thread,
				const struct column *strings, size_t *cnt)
{
	const struct jsonnode *t = table(r, thread, "funcTable");
	struct column names = column(t, "name"), files = column(t, "fileName"),
		      lines = column(t, "lineNumber");
	uint32_t *ret = xcalloc(names.cnt + 1, sizeof(*ret));

	for (size_t i = 0; i < names.cnt; i++) {
		uint64_t line = 0;

		if (i < lines.cnt)
			jsontree_index(lines.items[i], UINT32_MAX, &line);
		ret[i] = intake_frame_at(&r->intake, string_of(strings, &names, i),
					 string_of(strings, &files, i), line, "");
	}
	*cnt = names.cnt;
	free(names.items);
	free(files.items);
	free(lines.items);
	return ret;
}

static int make_stack(struct reader *r, size_t i, const struct jsonnode *prefix, uint32_t frame)
{
	const char *name =
		profile__str(r->intake.profile, r->intake.profile->frames.items[frame].name_sid);
	uint64_t parent = 0;
	bool has_parent = jsontree_is(prefix, JSONTREE_NUMBER);

	if (has_parent && (!i || !jsontree_index(prefix, i - 1, &parent)))
		return bad(r, "stack", i, "its prefix does not come before it");
	r->kinds[i] = has_parent ? intake_leaf_kind(name, strlen(name)) : KIND_NONE;
	r->stacks[i] = has_parent ? r->stacks[parent] : 0;
	if (!r->kinds[i])
		r->stacks[i] = profile__add_stack(r->intake.profile, r->stacks[i], frame);
	return 0;
}

static int read_stacks(struct reader *r, const struct jsonnode *thread,
		       const struct column *strings)
{
	struct column funcs = column(table(r, thread, "frameTable"), "func");
	const struct jsonnode *t = table(r, thread, "stackTable");
	struct column frames = column(t, "frame"), prefixes = column(t, "prefix");
	size_t function_cnt;
	uint32_t *functions = read_functions(r, thread, strings, &function_cnt);
	int rc = 0;

	r->stack_cnt = frames.cnt;
	r->stacks = xcalloc(frames.cnt + 1, sizeof(*r->stacks));
	r->kinds = xcalloc(frames.cnt + 1, sizeof(*r->kinds));
	for (size_t i = 0; i < frames.cnt && !rc; i++) {
		uint64_t frame, func;

		if (!funcs.cnt || !function_cnt ||
		    !jsontree_index(frames.items[i], funcs.cnt - 1, &frame) ||
		    !jsontree_index(funcs.items[frame], function_cnt - 1, &func))
			rc = bad(r, "stack", i, "a frame or function that is not there");
		else
			rc = make_stack(r, i, i < prefixes.cnt ? prefixes.items[i] : NULL,
					functions[func]);
	}
	free(functions);
	free(funcs.items);
	free(frames.items);
	free(prefixes.items);
	return rc;
}

/* true: the thread's weights are of the type that is taken. */
static bool take_weight_type(struct reader *r, const struct jsonnode *samples, int *rc)
{
	const char *type = jsontree_text(jsontree_get(samples, "weightType"));

	if (!jsontree_is(jsontree_get(samples, "weight"), JSONTREE_ARRAY) || !*type)
		type = "samples";
	*rc = 0;
	if (*r->weight_type)
		return !strncmp(type, r->weight_type, sizeof(r->weight_type) - 1);
	snprintf(r->weight_type, sizeof(r->weight_type), "%s", type);
	*rc = intake_set_unit(&r->intake, strcmp(type, "tracing-ms") ? type : "ms", r->err);
	return true;
}

static int read_sample(struct reader *r, struct intake_key key, const struct jsonnode *stack,
		       const struct jsonnode *weight, size_t number)
{
	struct foldtext_count c = { .whole = 1 };
	uint64_t at;

	if (jsontree_is(stack, JSONTREE_NULL))
		at = UINT64_MAX;
	else if (!r->stack_cnt || !jsontree_index(stack, r->stack_cnt - 1, &at))
		return bad(r, "sample", number, "a stack that is not there");
	if (weight && !jsontree_number(weight, &c))
		return bad(r, "sample", number, "a weight that is no number");
	if (c.is_negative) {
		intake_reject(&r->intake, number + 1, "a profile holds no negative values");
		return 0;
	}
	if (at != UINT64_MAX) {
		key.stack = r->stacks[at];
		key.kind = r->kinds[at];
	}
	if (c.whole || c.nano)
		intake_add(&r->intake, &key, &c, r->intake.unit_ns ? 0 : c.whole);
	return 0;
}

static int read_samples(struct reader *r, const struct jsonnode *thread)
{
	const struct jsonnode *samples = jsontree_get(thread, "samples");
	const char *name = jsontree_text(jsontree_get(thread, "processName"));
	struct column stacks = column(samples, "stack"), weights = column(samples, "weight");
	struct intake_key key = { 0 };
	uint64_t pid = 0;
	int rc;

	if (!jsontree_get(thread, "processName"))
		name = jsontree_text(jsontree_get(thread, "name"));
	jsontree_index(jsontree_get(thread, "pid"), UINT32_MAX, &pid);
	key.process = intake_process(&r->intake, name, strlen(name), (uint32_t)pid);
	if (!take_weight_type(r, samples, &rc)) {
		for (size_t i = 0; i < stacks.cnt; i++)
			intake_ignore(&r->intake, "samples whose weights are of another type");
		stacks.cnt = 0;
	}
	if (!rc && weights.items && weights.cnt != stacks.cnt && stacks.cnt)
		rc = bad(r, "sample", weights.cnt, "there are not as many weights as samples");
	for (size_t i = 0; i < stacks.cnt && !rc; i++)
		rc = read_sample(r, key, stacks.items[i], weights.items ? weights.items[i] : NULL,
				 i);
	free(stacks.items);
	free(weights.items);
	return rc;
}

static int read_thread(struct reader *r, const struct jsonnode *thread)
{
	struct column strings = column(thread, "stringArray");
	int rc;

	if (!strings.items)
		strings = column(thread, "stringTable");
	if (!strings.items)
		strings = column(r->shared, "stringArray");
	rc = read_stacks(r, thread, &strings);
	if (!rc)
		rc = read_samples(r, thread);
	free(r->stacks);
	free(r->kinds);
	free(strings.items);
	return rc;
}

static int read_profile(struct reader *r, const struct jsonnode *root)
{
	const struct jsonnode *threads = jsontree_get(root, "threads"),
			      *meta = jsontree_get(root, "meta");
	int rc = 0;

	r->shared = jsontree_get(root, "shared");
	if (!jsontree_is(threads, JSONTREE_ARRAY))
		return err_set(r->err, -EINVAL, "%s: no threads in this Firefox profile",
			       input_path(r->in));
	if (!jsontree_get(meta, "preprocessedProfileVersion"))
		return err_set(r->err, -ENOTSUP,
			       "%s: a Gecko profile as Firefox records it; load it into "
			       "profiler.firefox.com and save it from there",
			       input_path(r->in));
	for (const struct jsonnode *t = threads->first; t && !rc; t = t->next, r->thread_number++)
		rc = read_thread(r, t);
	return rc;
}

int firefox_import(struct input *in, const struct import_options *opts, struct profile *p,
		   struct import_report *report, struct err *err)
{
	struct reader r = { .in = in, .err = err };
	struct jsontree t = { .root = NULL };
	int rc = intake_init(&r.intake, p, opts, report, err);

	if (!rc)
		rc = jsontree_read(&t, in, false, err);
	if (!rc)
		rc = read_profile(&r, t.root);
	intake_finish(&r.intake);
	jsontree_free(&t);
	return rc;
}
