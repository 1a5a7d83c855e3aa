/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A JSON writer; see json.h. */
#include "user/base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"

void json_init(struct json *j, struct buf *out)
{
	*j = (struct json){ .out = out };
}

static void start_value(struct json *j, const char *key)
{
	if (j->has_items[j->depth])
		buf_putc(j->out, ',');
	if (j->depth)
		buf_printf(j->out, "\n%*s", j->depth * 2, "");
	j->has_items[j->depth] = true;
	if (!key)
		return;
	escape_json(j->out, key, strlen(key));
	buf_puts(j->out, ": ");
}

static void open_bracket(struct json *j, const char *key, char c)
{
	start_value(j, key);
	buf_putc(j->out, c);
	assert(j->depth + 1 < JSON_DEPTH_MAX);
	j->has_items[++j->depth] = false;
}

static void close_bracket(struct json *j, char c)
{
	bool had_items = j->has_items[j->depth--];

	if (had_items)
		buf_printf(j->out, "\n%*s", j->depth * 2, "");
	buf_putc(j->out, c);
	if (!j->depth)
		buf_putc(j->out, '\n');
}

void json_begin_object(struct json *j, const char *key)
{
	open_bracket(j, key, '{');
}

void json_end_object(struct json *j)
{
	close_bracket(j, '}');
}

void json_begin_array(struct json *j, const char *key)
{
	open_bracket(j, key, '[');
}

void json_end_array(struct json *j)
{
	close_bracket(j, ']');
}

void json_str(struct json *j, const char *key, const char *value)
{
	start_value(j, key);
	if (value)
		escape_json(j->out, value, strlen(value));
	else
		buf_puts(j->out, "null");
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	start_value(j, key);
	buf_put_u64(j->out, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	start_value(j, key);
	buf_put_i64(j->out, value);
}

void json_f64(struct json *j, const char *key, double value)
{
	char text[40];

	start_value(j, key);
	if (!isfinite(value)) {
		buf_puts(j->out, "null");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(j->out, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
	start_value(j, key);
	buf_puts(j->out, value ? "true" : "false");
}
