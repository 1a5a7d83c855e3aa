/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces out of files; see spans.h. This file tells the formats apart and finds the files. */
#include "user/exchange/spans.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "user/base/mem.h"
#include "user/exchange/otlp.h"
#include "user/exchange/span_json.h"

enum {
	FOLDER_DEPTH_MAX = 16,
	HEAD_BYTES = 32,
	ENVELOPE_DEPTH_MAX = 4, /* {"result": {"resourceSpans": ...}} */
};

int span_reader__emit(struct span_reader *r, struct trace *t, struct err *err)
{
	int rc;

	t->ordinal = r->stats->trace_cnt++;
	r->stats->span_cnt += t->span_cnt;
	for (int i = 0; i < TRACE_FLAW_MAX; i++)
		r->stats->flaws[i] += t->flaws[i];
	rc = r->options->take(r->options->ctx, t, err);
	trace__reset(t);
	return rc;
}

enum top_key {
	KEY_DATA,
	KEY_RESOURCE_SPANS,
	KEY_ENVELOPE
};

/* The top object of a document: a Jaeger answer, a bare Jaeger trace, OTLP, or one of them in an envelope. */
static int read_top_object(struct span_reader *r, int depth, struct err *err)
{
	static const struct json_name names[] = {
		JSON_NAME("data", KEY_DATA),
		JSON_NAME("resourceSpans", KEY_RESOURCE_SPANS),
		JSON_NAME("resource_spans", KEY_RESOURCE_SPANS),
		JSON_NAME("batches", KEY_RESOURCE_SPANS),
		JSON_NAME("result", KEY_ENVELOPE),
		JSON_NAME("trace", KEY_ENVELOPE),
	};

	for (;;) {
		const char *text;
		size_t len;
		int rc, id, token = jsonpull__next(r->json, err);

		if (token != JSONPULL_KEY)
			return token < 0 ? token : 0;
		text = jsonpull__text(r->json, &len);
		id = json_name_find(names, ARRAY_CNT(names), text, len);
		if (id == KEY_DATA) {
			rc = jaeger_array(r, err);
		} else if (id == KEY_RESOURCE_SPANS) {
			rc = otlp_resources(r, err);
		} else if (id == KEY_ENVELOPE && depth < ENVELOPE_DEPTH_MAX) {
			rc = json_enter(r, JSONPULL_OBJECT, NULL, err);
			if (rc > 0)
				rc = read_top_object(r, depth + 1, err);
		} else {
			rc = jaeger_key(r, jaeger_name(text, len), err);
		}
		if (rc < 0)
			return rc;
	}
}

static int read_documents(struct span_reader *r, struct err *err)
{
	int token, rc = 0;

	while (!rc && (token = jsonpull__next(r->json, err)) != JSONPULL_END) {
		if (token == JSONPULL_OBJECT) {
			rc = read_top_object(r, 0, err);
			if (!rc && (r->trace.span_cnt || r->trace.id_sid))
				rc = jaeger_finish(r, err);
			else
				trace__reset(&r->trace);
		} else if (token == JSONPULL_ARRAY) {
			rc = jaeger_elements(r, err);
		} else {
			rc = token < 0 ?
				     token :
				     err_set(err, -EINVAL,
					     "%s: neither Jaeger nor OTLP: not an object", r->path);
		}
	}
	return rc;
}

static int read_input(struct span_reader *r, struct input *in, struct err *err)
{
	const char *head;
	ssize_t n = input_peek(in, HEAD_BYTES, &head, err);
	int rc;

	if (n < 0)
		return (int)n;
	if (otlp_is_protobuf(head, (size_t)n)) {
		rc = otlp_protobuf(r, in, err);
	} else {
		r->json = jsonpull__new(in);
		rc = read_documents(r, err);
		jsonpull__free(r->json);
	}
	return rc ? rc : otlp_finish(r, err);
}

int spans_read(struct input *in, const struct spans_options *o, struct spans_stats *stats,
	       struct err *err)
{
	struct span_reader r = { .options = o, .stats = stats, .path = input_path(in) };
	int rc = read_input(&r, in, err);

	stats->raw_bytes += input_raw_bytes(in);
	otlp_free(r.otlp);
	trace__free(&r.trace);
	buf_free(&r.scratch);
	free(r.refs);
	free(r.processes);
	return rc;
}

int spans_read_file(const char *path, const struct spans_options *o, struct spans_stats *stats,
		    struct err *err)
{
	struct input *in;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	rc = spans_read(in, o, stats, err);
	input_close(in);
	return rc;
}

static bool has_suffix(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !memcmp(name + len - n, suffix, n);
}

static bool is_trace_file(const char *name)
{
	static const char *const packed[] = { ".gz", ".zst" };
	static const char *const kinds[] = { ".json",  ".jsonl", ".ndjson", ".pb",
					     ".binpb", ".otlp",	 ".ccct" };
	size_t len = strlen(name);

	if (*name == '.')
		return false;
	for (size_t i = 0; i < ARRAY_CNT(packed); i++)
		if (has_suffix(name, len, packed[i]))
			len -= strlen(packed[i]);
	for (size_t i = 0; i < ARRAY_CNT(kinds); i++)
		if (has_suffix(name, len, kinds[i]))
			return true;
	return false;
}

static int add_path(struct spans_files *f, const char *path, int depth, struct err *err);

static int add_folder(struct spans_files *f, const char *path, int depth, struct err *err)
{
	struct dirent **entries;
	int rc = 0, cnt = scandir(path, &entries, NULL, alphasort);

	if (cnt < 0)
		return err_errno(err, "reading folder %s", path);
	for (int i = 0; i < cnt; i++) {
		const char *name = entries[i]->d_name;
		char *below = xasprintf("%s/%s", path, name);
		struct stat st;

		if (!rc && *name != '.' && !lstat(below, &st) &&
		    ((S_ISDIR(st.st_mode) && depth < FOLDER_DEPTH_MAX) || is_trace_file(name)))
			rc = add_path(f, below, depth + 1, err);
		free(below);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int add_path(struct spans_files *f, const char *path, int depth, struct err *err)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st))
		return err_errno(err, "%s", path);
	if (strcmp(path, "-") != 0 && S_ISDIR(st.st_mode))
		return add_folder(f, path, depth, err);
	f->paths = xgrow(f->paths, &f->cap, f->cnt + 1, sizeof(*f->paths));
	f->paths[f->cnt++] = xstrdup(path);
	return 0;
}

int spans_files__add(struct spans_files *f, const char *path, struct err *err)
{
	return add_path(f, path, 0, err);
}

void spans_files__free(struct spans_files *f)
{
	for (size_t i = 0; i < f->cnt; i++)
		free(f->paths[i]);
	free(f->paths);
	*f = (struct spans_files){ 0 };
}
