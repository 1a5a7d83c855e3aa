/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps over JSON for the readers of spans; see span_json.h. */
#include "user/exchange/span_json.h"

#include <errno.h>
#include <string.h>

#include "user/base/mem.h"

int json_name_find(const struct json_name *names, size_t cnt, const char *text, size_t len_bytes)
{
	for (size_t i = 0; i < cnt; i++)
		if (names[i].len_bytes == len_bytes && len_bytes && *names[i].name == *text &&
		    !memcmp(names[i].name, text, len_bytes))
			return names[i].id;
	return -1;
}

int json_next_key(struct span_reader *r, const struct json_name *names, size_t cnt, int *id,
		  struct err *err)
{
	const char *text;
	size_t len;
	int token = jsonpull__next(r->json, err);

	if (token != JSONPULL_KEY)
		return token < 0 ? token : 0;
	text = jsonpull__text(r->json, &len);
	*id = json_name_find(names, cnt, text, len);
	return 1;
}

/* A value that was just seen is not what was wanted: passes over it. */
static int pass_over(struct span_reader *r, int token, uint32_t *flaws, struct err *err)
{
	if (token < 0)
		return token;
	if (token != JSONPULL_NULL && flaws)
		flaws[TRACE_WRONG_TYPE]++;
	if (token == JSONPULL_OBJECT || token == JSONPULL_ARRAY)
		return jsonpull__leave(r->json, err);
	return 0;
}

int json_enter(struct span_reader *r, int token, uint32_t *flaws, struct err *err)
{
	int got = jsonpull__next(r->json, err);

	return got == token ? 1 : pass_over(r, got, flaws, err);
}

int json_next_object(struct span_reader *r, uint32_t *flaws, struct err *err)
{
	for (;;) {
		int token = jsonpull__next(r->json, err), rc;

		if (token == JSONPULL_OBJECT)
			return 1;
		if (token == JSONPULL_ARRAY_END)
			return 0;
		rc = pass_over(r, token, flaws, err);
		if (rc)
			return rc;
	}
}

int json_take_text(struct span_reader *r, const char **text, size_t *len_bytes, uint32_t *flaws,
		   struct err *err)
{
	int token = jsonpull__next(r->json, err);

	*text = "";
	*len_bytes = 0;
	if (token != JSONPULL_STRING)
		return pass_over(r, token, flaws, err);
	*text = jsonpull__text(r->json, len_bytes);
	return 1;
}

int json_take_sid(struct span_reader *r, struct trace *t, uint32_t *sid, struct err *err)
{
	const char *text;
	size_t len;
	int rc = json_take_text(r, &text, &len, t->flaws, err);

	if (rc > 0)
		*sid = strtab_addn(&t->strings, text, len);
	return rc < 0 ? rc : 0;
}

int json_take_i64(struct span_reader *r, int64_t *ret, struct err *err)
{
	int token = jsonpull__next(r->json, err);
	bool saturated;

	*ret = 0;
	if (token != JSONPULL_STRING && token != JSONPULL_NUMBER)
		return pass_over(r, token, NULL, err);
	return jsonpull__i64(r->json, ret, &saturated) && !saturated;
}

int json_take_scalar(struct span_reader *r, const char **text, size_t *len_bytes, struct err *err)
{
	int token = jsonpull__next(r->json, err);

	*text = "";
	*len_bytes = 0;
	switch (token) {
	case JSONPULL_STRING:
	case JSONPULL_NUMBER:
		*text = jsonpull__text(r->json, len_bytes);
		return 1;
	case JSONPULL_TRUE:
	case JSONPULL_FALSE:
		*text = token == JSONPULL_TRUE ? "true" : "false";
		*len_bytes = strlen(*text);
		return 1;
	default:
		return pass_over(r, token, NULL, err);
	}
}

int span_tag_find(const char *key, size_t len_bytes)
{
	static const struct json_name names[] = {
		JSON_NAME("span.kind", SPAN_TAG_KIND),
		JSON_NAME("error", SPAN_TAG_ERROR),
		JSON_NAME("hostname", SPAN_TAG_HOST),
		JSON_NAME("host.name", SPAN_TAG_HOST),
		JSON_NAME("causeprof.waker", SPAN_TAG_WAKER),
		JSON_NAME("service.name", SPAN_TAG_SERVICE),
	};

	return json_name_find(names, ARRAY_CNT(names), key, len_bytes);
}

void span_tag_apply(struct trace *t, struct span *s, int tag, const char *text, size_t len_bytes)
{
	switch (tag) {
	case SPAN_TAG_KIND:
		s->kind = (uint8_t)span_kind_parse(text, len_bytes);
		break;
	case SPAN_TAG_ERROR:
		if (len_bytes != 5 || memcmp(text, "false", 5) != 0)
			s->flags |= SPAN_ERROR;
		break;
	case SPAN_TAG_HOST:
		s->host_sid = strtab_addn(&t->strings, text, len_bytes);
		break;
	case SPAN_TAG_WAKER:
		s->waker_sid = strtab_addn(&t->strings, text, len_bytes);
		break;
	default:
		break;
	}
}
