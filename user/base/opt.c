/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line options as data; see opt.h. */
#include "user/base/opt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	HELP_INDENT = 32,
	HELP_WIDTH = 80
};

static int in_range(const struct opt *o, double v, const char *text, struct err *err)
{
	if (o->max > o->min && (v < o->min || v > o->max))
		return err_set(err, -ERANGE, "'%s' is outside %.15g..%.15g", text, o->min, o->max);
	return 0;
}

static int set_choice(const struct opt *o, int *ret, const char *text, struct err *err)
{
	struct buf words = { 0 };
	int rc;

	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], text)) {
			*ret = i;
			buf_free(&words);
			return 0;
		}
		buf_printf(&words, "%s%s", i ? ", " : "", o->choices[i]);
	}
	rc = err_set(err, -EINVAL, "'%s' is not one of %s", text, buf_str(&words));
	buf_free(&words);
	return rc;
}

static int set_number(const struct opt *o, void *at, const char *text, struct err *err)
{
	uint64_t u = 0;
	int rc;

	switch (o->type) {
	case OPT_F64:
		rc = parse_f64(text, at, err);
		return rc ? rc : in_range(o, *(double *)at, text, err);
	case OPT_SECONDS:
		rc = parse_duration_ns(text, 1000000000, &u, err);
		break;
	case OPT_MICROSECONDS:
		rc = parse_duration_ns(text, 1000, &u, err);
		break;
	case OPT_SIZE:
		rc = parse_size_bytes(text, &u, err);
		break;
	default:
		rc = parse_u64(text, &u, err);
		break;
	}
	if (rc)
		return rc;
	*(uint64_t *)at = u;
	return in_range(o, (double)u, text, err);
}

static int set_value(const struct opt *o, void *values, const char *text, struct err *err)
{
	void *at = (char *)values + o->off_bytes;
	struct opt_list *list = at;
	int rc = o->check ? o->check(text, err) : 0;

	if (rc) {
		err_prefix(err, "--%s", o->name);
		return rc;
	}
	switch (o->type) {
	case OPT_FLAG:
		*(bool *)at = true;
		break;
	case OPT_STRING:
		*(const char **)at = text;
		break;
	case OPT_LIST:
		list->items = xgrow(list->items, &list->cap, list->cnt + 1, sizeof(*list->items));
		list->items[list->cnt++] = text;
		break;
	case OPT_CHOICE:
		rc = set_choice(o, at, text, err);
		break;
	default:
		rc = set_number(o, at, text, err);
	}
	if (rc)
		err_prefix(err, "--%s", o->name);
	return rc;
}

static const struct opt *by_letter(const struct opt *table, char letter)
{
	for (; table->name; table++)
		if (table->letter == letter && letter)
			return table;
	return NULL;
}

static const struct opt *by_name(const struct opt *table, const char *name, size_t len_bytes)
{
	for (; table->name; table++)
		if (strlen(table->name) == len_bytes && !memcmp(table->name, name, len_bytes))
			return table;
	return NULL;
}

struct parser {
	const struct opt *table;
	char **argv;
	int argc;
	int at; /* the argument being looked at */
	void *values;
	struct err *err;
};

static int take_value(struct parser *p, const struct opt *o, const char *inline_value)
{
	const char *text = inline_value;

	if (!text && p->at + 1 >= p->argc)
		return err_set(p->err, -EINVAL, "--%s needs a value (%s)", o->name, o->arg);
	if (!text)
		text = p->argv[++p->at];
	return set_value(o, p->values, text, p->err);
}

static int parse_long(struct parser *p, const char *arg)
{
	const char *eq = strchr(arg, '=');
	size_t len_bytes = eq ? (size_t)(eq - arg) : strlen(arg);
	const struct opt *o = by_name(p->table, arg, len_bytes);

	if (!o && !strncmp(arg, "no-", 3)) {
		o = by_name(p->table, arg + 3, len_bytes - 3);
		if (o && o->type == OPT_FLAG && !eq) {
			*(bool *)((char *)p->values + o->off_bytes) = false;
			return 0;
		}
		o = NULL;
	}
	if (!o)
		return err_set(p->err, -EINVAL, "unknown option --%.*s", (int)len_bytes, arg);
	if (o->type != OPT_FLAG)
		return take_value(p, o, eq ? eq + 1 : NULL);
	if (eq)
		return err_set(p->err, -EINVAL, "--%s takes no value", o->name);
	return set_value(o, p->values, NULL, p->err);
}

static int parse_letters(struct parser *p, const char *letters)
{
	for (; *letters; letters++) {
		const struct opt *o = by_letter(p->table, *letters);
		int rc;

		if (!o)
			return err_set(p->err, -EINVAL, "unknown option -%c", *letters);
		if (o->type != OPT_FLAG)
			return take_value(p, o, letters[1] ? letters + 1 : NULL);
		rc = set_value(o, p->values, NULL, p->err);
		if (rc)
			return rc;
	}
	return 0;
}

int opt_parse(const struct opt *table, int argc, char **argv, void *values,
	      struct opt_operands *operands, struct err *err)
{
	struct parser p = { table, argv, argc, 1, values, err };
	int kept = 1, rc;

	operands->after_dashes = -1;
	for (; p.at < argc; p.at++) {
		char *arg = argv[p.at];

		if (operands->after_dashes >= 0 || arg[0] != '-' || !arg[1]) {
			argv[kept++] = arg;
			continue;
		}
		if (!strcmp(arg, "--")) {
			operands->after_dashes = kept - 1;
			continue;
		}
		rc = arg[1] == '-' ? parse_long(&p, arg + 2) : parse_letters(&p, arg + 1);
		if (rc)
			return rc;
	}
	operands->argv = argv + 1;
	operands->argc = kept - 1;
	if (operands->after_dashes < 0)
		operands->after_dashes = operands->argc;
	return 0;
}

void opt_list_free(struct opt_list *list)
{
	free(list->items);
	*list = (struct opt_list){ 0 };
}

/* Appends text word by word, breaking lines before HELP_WIDTH and indenting the next ones. */
static void put_wrapped(struct buf *out, size_t column, const char *text)
{
	while (*text) {
		size_t len_bytes = strcspn(text, " ");

		if (column + len_bytes > HELP_WIDTH && column > HELP_INDENT) {
			buf_printf(out, "\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		}
		buf_append(out, text, len_bytes);
		column += len_bytes;
		text += len_bytes;
		if (*text == ' ') {
			text++;
			buf_putc(out, ' ');
			column++;
		}
	}
}

void opt_help(const struct opt *table, struct buf *out)
{
	for (; table->name; table++) {
		size_t start = out->len_bytes, column;

		if (table->letter)
			buf_printf(out, "  -%c, ", table->letter);
		else
			buf_puts(out, "      ");
		buf_printf(out, "--%s", table->name);
		if (table->arg)
			buf_printf(out, " %s", table->arg);
		column = out->len_bytes - start;
		if (column + 2 > HELP_INDENT)
			buf_printf(out, "\n%*s", HELP_INDENT, "");
		else
			buf_printf(out, "%*s", (int)(HELP_INDENT - column), "");
		put_wrapped(out, HELP_INDENT, table->help);
		buf_putc(out, '\n');
	}
}
