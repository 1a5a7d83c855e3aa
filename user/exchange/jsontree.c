/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A JSON document in memory; see jsontree.h. */
#include "user/exchange/jsontree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "user/base/mem.h"

enum {
	PIECE_BYTES = 64 * 1024
};

struct open_node {
	struct jsonnode *node, *last;
};

struct builder {
	struct jsontree *tree;
	struct open_node open[JSONTREE_DEPTH_MAX];
	int depth;
	const char *key;
	bool is_too_deep;
};

static struct jsonnode *add(struct builder *b, enum jsontree_type type, const char *text,
			    size_t text_bytes)
{
	struct jsonnode *n = arena_alloc(&b->tree->arena, sizeof(*n));

	n->type = type;
	n->key = b->key;
	b->key = NULL;
	n->text = text_bytes ? arena_strndup(&b->tree->arena, text, text_bytes) : "";
	n->text_bytes = text_bytes;
	if (!b->depth) {
		if (!b->tree->root)
			b->tree->root = n;
		return n;
	}
	if (b->open[b->depth - 1].last)
		b->open[b->depth - 1].last->next = n;
	else
		b->open[b->depth - 1].node->first = n;
	b->open[b->depth - 1].last = n;
	b->open[b->depth - 1].node->child_cnt++;
	return n;
}

static int on_null(void *ctx)
{
	add(ctx, JSONTREE_NULL, "", 0);
	return 1;
}

static int on_bool(void *ctx, int value)
{
	add(ctx, JSONTREE_BOOL, value ? "true" : "false", value ? 4 : 5);
	return 1;
}

static int on_number(void *ctx, const char *text, size_t text_bytes)
{
	add(ctx, JSONTREE_NUMBER, text, text_bytes);
	return 1;
}

static int on_string(void *ctx, const unsigned char *text, size_t text_bytes)
{
	add(ctx, JSONTREE_STRING, (const char *)text, text_bytes);
	return 1;
}

static int on_key(void *ctx, const unsigned char *text, size_t text_bytes)
{
	struct builder *b = ctx;

	b->key = arena_strndup(&b->tree->arena, (const char *)text, text_bytes);
	return 1;
}

static int open_one(struct builder *b, enum jsontree_type type)
{
	if (b->depth == JSONTREE_DEPTH_MAX) {
		b->is_too_deep = true;
		return 0;
	}
	b->open[b->depth] = (struct open_node){ .node = add(b, type, "", 0) };
	b->depth++;
	return 1;
}

static int on_object(void *ctx)
{
	return open_one(ctx, JSONTREE_OBJECT);
}

static int on_array(void *ctx)
{
	return open_one(ctx, JSONTREE_ARRAY);
}

static int on_end(void *ctx)
{
	((struct builder *)ctx)->depth--;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

static int parse_error(struct builder *b, struct input *in, yajl_handle h, uint64_t done_bytes,
		       struct err *err)
{
	unsigned char *why;
	int rc;

	if (b->is_too_deep)
		return err_set(err, -E2BIG, "%s: JSON nested deeper than %d levels", input_path(in),
			       JSONTREE_DEPTH_MAX);
	why = yajl_get_error(h, 0, NULL, 0);
	why[strcspn((const char *)why, "\n")] = '\0';
	rc = err_set(err, -EINVAL, "%s: byte %llu: %s", input_path(in),
		     (unsigned long long)(done_bytes + yajl_get_bytes_consumed(h)), why);
	yajl_free_error(h, why);
	return rc;
}

/* "[{...},\n" without an end is what a browser that was stopped leaves. */
static yajl_status close_array(struct builder *b, yajl_handle h)
{
	if (b->depth != 1 || b->open[0].node->type != JSONTREE_ARRAY)
		return yajl_complete_parse(h);
	return yajl_status_ok;
}

int jsontree_read(struct jsontree *t, struct input *in, bool allow_open_array, struct err *err)
{
	struct builder b = { .tree = t };
	yajl_handle h = yajl_alloc(&callbacks, NULL, &b);
	char *piece = xmalloc(PIECE_BYTES);
	yajl_status status = yajl_status_ok;
	uint64_t done_bytes = 0;
	ssize_t n;
	int rc = 0;

	*t = (struct jsontree){ 0 };
	yajl_config(h, yajl_dont_validate_strings, 1);
	while ((n = input_read(in, piece, PIECE_BYTES, err)) > 0) {
		status = yajl_parse(h, (unsigned char *)piece, (size_t)n);
		if (status != yajl_status_ok)
			break;
		done_bytes += (uint64_t)n;
		if (done_bytes > JSONTREE_TEXT_MAX_BYTES) {
			rc = err_set(err, -E2BIG, "%s: more than 1 GiB of JSON", input_path(in));
			break;
		}
	}
	if (n < 0)
		rc = (int)n;
	if (!rc && status == yajl_status_ok)
		status = allow_open_array ? close_array(&b, h) : yajl_complete_parse(h);
	if (!rc && status != yajl_status_ok)
		rc = parse_error(&b, in, h, done_bytes, err);
	if (!rc && !t->root)
		rc = err_set(err, -ENODATA, "%s: no JSON in it", input_path(in));
	yajl_free(h);
	free(piece);
	return rc;
}

void jsontree_free(struct jsontree *t)
{
	arena_free(&t->arena);
	t->root = NULL;
}

const struct jsonnode *jsontree_get(const struct jsonnode *object, const char *key)
{
	if (!jsontree_is(object, JSONTREE_OBJECT))
		return NULL;
	for (const struct jsonnode *n = object->first; n; n = n->next)
		if (!strcmp(n->key, key))
			return n;
	return NULL;
}

const struct jsonnode **jsontree_elements(const struct jsonnode *array, size_t *cnt)
{
	const struct jsonnode **ret;
	size_t i = 0;

	*cnt = 0;
	if (!jsontree_is(array, JSONTREE_ARRAY))
		return NULL;
	ret = xcalloc(array->child_cnt + 1, sizeof(struct jsonnode *));
	for (const struct jsonnode *n = array->first; n; n = n->next)
		ret[i++] = n;
	*cnt = i;
	return ret;
}

const char *jsontree_text(const struct jsonnode *n)
{
	return jsontree_is(n, JSONTREE_STRING) ? n->text : "";
}

bool jsontree_is(const struct jsonnode *n, enum jsontree_type type)
{
	return n && n->type == type;
}

bool jsontree_number(const struct jsonnode *n, struct foldtext_count *ret)
{
	return (jsontree_is(n, JSONTREE_NUMBER) || jsontree_is(n, JSONTREE_STRING)) &&
	       !foldtext_parse_count(n->text, n->text_bytes, ret);
}

bool jsontree_index(const struct jsonnode *n, uint64_t max, uint64_t *ret)
{
	struct foldtext_count c;

	if (!jsontree_number(n, &c) || c.nano || c.is_saturated || c.whole > max ||
	    (c.is_negative && c.whole))
		return false;
	*ret = c.whole;
	return true;
}
