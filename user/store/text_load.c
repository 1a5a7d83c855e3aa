/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reading half of the lossless text; see text.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/store/schema.h"
#include "user/store/text.h"

enum {
	LINE_MAX_BYTES = 16 << 20,
	RECORD_MAX_BYTES = 256,
};

struct loader {
	struct profile *p;
	const char *at; /* in the line, which ends with a NUL */
	const char *end;
	struct buf key, value; /* of the field at hand */
	bool quoted;	       /* the value was */
};

static void skip_blanks(struct loader *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
		l->at++;
}

/* The word up to a blank, or up to stop if that comes first. */
static void take_word(struct loader *l, char stop, struct buf *word)
{
	const char *start = l->at;

	while (l->at < l->end && *l->at != ' ' && *l->at != '\t' && *l->at != stop)
		l->at++;
	buf_reset(word);
	buf_append(word, start, (size_t)(l->at - start));
}

static int take_value(struct loader *l, struct err *err)
{
	size_t used_bytes;

	l->quoted = l->at < l->end && *l->at == '"';
	if (!l->quoted) {
		take_word(l, ' ', &l->value);
		return 0;
	}
	buf_reset(&l->value);
	if (unescape_quoted(&l->value, l->at, (size_t)(l->end - l->at), &used_bytes))
		return err_set(err, -EINVAL, "the quoted text after %s is wrong", buf_str(&l->key));
	l->at += used_bytes;
	if (l->at < l->end && *l->at != ' ' && *l->at != '\t')
		return err_set(err, -EINVAL, "a blank is missing after the value of %s",
			       buf_str(&l->key));
	return 0;
}

/* The next key=value: 1, 0 at the end of the line, < 0 on error. */
static int take_field(struct loader *l, struct err *err)
{
	int rc;

	skip_blanks(l);
	if (l->at == l->end)
		return 0;
	take_word(l, '=', &l->key);
	if (l->at == l->end || *l->at != '=')
		return err_set(err, -EINVAL, "'%s' is not a field: NAME=VALUE expected",
			       buf_str(&l->key));
	l->at++;
	rc = take_value(l, err);
	return rc ? rc : 1;
}

static int parse_enum(const struct schema_field *f, const char *text, uint64_t *ret,
		      struct err *err)
{
	if (isdigit((unsigned char)text[0]))
		return parse_u64(text, ret, err);
	for (int i = 0; i < 256; i++) {
		if (strcmp(f->value_name(i), text) || !strcmp(text, "?"))
			continue;
		*ret = (uint64_t)i;
		return 0;
	}
	return err_set(err, -EINVAL, "'%s' is not a %s", text, f->name);
}

static int parse_flag(const struct schema_field *f, const char *text, uint64_t *ret,
		      struct err *err)
{
	for (size_t bit = 0; f->flag_names[bit]; bit++) {
		if (strcmp(f->flag_names[bit], text))
			continue;
		*ret = UINT64_C(1) << bit;
		return 0;
	}
	return parse_u64(text, ret, err);
}

static int parse_flags(const struct schema_field *f, char *text, uint64_t *ret, struct err *err)
{
	char *save = NULL;

	*ret = 0;
	for (char *word = strtok_r(text, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
		uint64_t flag;
		int rc = parse_flag(f, word, &flag, err);

		if (rc)
			return rc;
		*ret |= flag;
	}
	return 0;
}

static int parse_bytes(const struct schema_field *f, const char *text, char *record,
		       struct err *err)
{
	if (strlen(text) != 2U * f->width_bytes ||
	    strspn(text, "0123456789abcdef") != 2U * f->width_bytes)
		return err_set(err, -EINVAL, "%s takes %d hexadecimal digits", f->name,
			       2 * f->width_bytes);
	for (size_t i = 0; i < f->width_bytes; i++) {
		const char digits[3] = { text[2 * i], text[2 * i + 1], '\0' };

		record[f->off_bytes + i] = (char)strtoul(digits, NULL, 16);
	}
	return 0;
}

/* "name_[k]" -> a frame of the kernel called "name". Cuts the suffix off. */
static uint32_t add_frame(struct profile *p, char *name)
{
	size_t len_bytes = strlen(name);
	struct frame f = { 0 };

	if (len_bytes > 4 && !strncmp(name + len_bytes - 4, "_[", 2) &&
	    name[len_bytes - 1] == ']' && strchr("kijp", name[len_bytes - 2])) {
		char letter = name[len_bytes - 2];

		name[len_bytes - 4] = '\0';
		f.kind = letter == 'k' ? FRAME_KERNEL :
			 letter == 'j' ? FRAME_JIT :
			 letter == 'p' ? FRAME_INTERPRETED :
					 FRAME_USER;
		f.flags = letter == 'i' ? FRAME_INLINED : 0;
	} else if (name[0] == '[' && name[len_bytes - 1] == ']') {
		f.kind = FRAME_MARK;
	}
	f.name_sid = profile__string(p, name);
	return profile__add_frame(p, &f);
}

static uint64_t add_stack(struct profile *p, char *path)
{
	char *save = NULL;
	uint32_t stack = 0;

	for (char *name = strtok_r(path, ";", &save); name; name = strtok_r(NULL, ";", &save))
		stack = profile__add_stack(p, stack, add_frame(p, name));
	return stack;
}

static int parse_number(struct loader *l, const struct schema_field *f, uint64_t *ret,
			struct err *err)
{
	char *text = l->value.data;

	if (l->quoted && (!strcmp(f->name, "stack") || !strcmp(f->name, "waker_stack"))) {
		*ret = add_stack(l->p, text);
		return 0;
	}
	if (!strcmp(text, "unknown")) {
		*ret = UINT64_MAX;
		return f->width_bytes == 8 ? 0 :
					     err_set(err, -EINVAL, "%s cannot be unknown", f->name);
	}
	return parse_u64(text, ret, err);
}

static int parse_value(struct loader *l, const struct schema_field *f, char *record,
		       struct err *err)
{
	uint64_t value = 0;
	int rc;

	buf_reserve(&l->value, 1); /* a text of its own, also when it is empty */
	l->value.data[l->value.len_bytes] = '\0';
	if (f->type == FIELD_BYTES)
		return parse_bytes(f, l->value.data, record, err);
	if (f->type == FIELD_STRING && !l->quoted)
		return err_set(err, -EINVAL, "%s must be quoted", f->name);
	if (f->type == FIELD_STRING) {
		value = strtab_addn(&l->p->strings, l->value.data, l->value.len_bytes);
		rc = 0;
	} else if (f->type == FIELD_ENUM) {
		rc = parse_enum(f, l->value.data, &value, err);
	} else if (f->type == FIELD_FLAGS) {
		rc = parse_flags(f, l->value.data, &value, err);
	} else {
		rc = parse_number(l, f, &value, err);
	}
	if (rc)
		return rc;
	if (f->width_bytes < 8 && value >> (8 * f->width_bytes))
		return err_set(err, -ERANGE, "%s: %s is too large", f->name, l->value.data);
	schema_set(record, f, value);
	return 0;
}

static const struct schema_field *find_field(const struct schema_field *fields, size_t cnt,
					     const char *name)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static int load_fields(struct loader *l, const char *what, const struct schema_field *fields,
		       size_t cnt, char *record, struct err *err)
{
	int rc;

	while ((rc = take_field(l, err)) > 0) {
		const struct schema_field *f = find_field(fields, cnt, buf_str(&l->key));

		if (!f)
			return err_set(err, -EINVAL, "a %s has no field '%s'", what,
				       buf_str(&l->key));
		rc = parse_value(l, f, record, err);
		if (rc)
			return rc;
	}
	return rc;
}

/* "frame 7 name=...": 7 must be the number that the record will get. */
static int check_number(struct loader *l, const struct schema_table *t, struct err *err)
{
	struct buf word = { 0 };
	uint64_t number;
	size_t next = 0;
	int rc = 0;

	skip_blanks(l);
	if (l->at == l->end || !isdigit((unsigned char)*l->at))
		return 0;
	take_word(l, ' ', &word);
	if (t->items)
		t->items(l->p, &next);
	if (parse_u64(buf_str(&word), &number, NULL) || number != next)
		rc = err_set(err, -EINVAL, "%s %s stands where %s %zu should", t->name,
			     buf_str(&word), t->name, next);
	buf_free(&word);
	return rc;
}

static int load_record(struct loader *l, const struct schema_table *t, struct err *err)
{
	_Alignas(16) char record[RECORD_MAX_BYTES] = { 0 };
	int rc = check_number(l, t, err);

	if (!rc)
		rc = load_fields(l, t->name, t->fields, t->field_cnt, record, err);
	if (rc)
		return rc;
	rc = t->add(l->p, record);
	return rc == -EEXIST ? err_set(err, rc, "this %s exists already", t->name) :
	       rc	     ? err_set(err, rc, "the cause of the loss is out of range") :
			       0;
}

static int load_string(struct loader *l, struct err *err)
{
	size_t expect = l->p->strings.cnt;
	int rc;

	skip_blanks(l);
	rc = take_value(l, err);
	if (rc)
		return rc;
	if (!l->quoted)
		return err_set(err, -EINVAL, "a string must be quoted");
	if (strtab_addn(&l->p->strings, buf_str(&l->value), l->value.len_bytes) != expect)
		return err_set(err, -EEXIST, "this string exists already");
	return 0;
}

static int load_line(struct loader *l, struct err *err)
{
	const struct schema_table *t;

	skip_blanks(l);
	if (l->at == l->end || *l->at == '#')
		return 0;
	take_word(l, ' ', &l->key);
	if (!strcmp(buf_str(&l->key), "string"))
		return load_string(l, err);
	if (!strcmp(buf_str(&l->key), "header"))
		return load_fields(l, "header", schema_facts, schema_fact_cnt,
				   (char *)&l->p->header, err);
	t = schema_find_name(buf_str(&l->key));
	if (!t)
		return err_set(err, -EINVAL, "unknown record '%s'", buf_str(&l->key));
	return load_record(l, t, err);
}

static int load_lines(struct loader *l, struct input *in, struct err *err)
{
	size_t len_bytes;
	char *line;
	int rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err);

	if (rc < 0)
		return rc;
	if (!rc || strcmp(line, "causeprof-text 1"))
		return err_set(err, -EINVAL, "%s: not a profile as text: line 1 must read %s",
			       input_path(in), "\"causeprof-text 1\"");
	while ((rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		l->at = line;
		l->end = line + len_bytes;
		rc = load_line(l, err);
		if (rc) {
			err_prefix(err, "%s:%llu", input_path(in),
				   (unsigned long long)input_line_no(in));
			return rc;
		}
	}
	if (!rc) {
		rc = profile__check(l->p, err);
		if (rc)
			err_prefix(err, "%s", input_path(in));
	}
	return rc;
}

int text__load(struct input *in, struct profile **ret, struct err *err)
{
	struct loader l = { .p = profile__new() };
	int rc = load_lines(&l, in, err);

	buf_free(&l.key);
	buf_free(&l.value);
	if (rc)
		profile__free(l.p);
	else
		*ret = l.p;
	return rc;
}
