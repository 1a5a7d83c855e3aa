/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded text; see folded_form.h. */
#include "user/cmd/folded_form.h"

#include <string.h>

#include "user/base/foldtext.h"
#include "user/base/num.h"

/* The leaf that the picture shows in grey: not a kind, but threads that did nothing at all. */
static const char *leaf_of(const struct fold_row *row)
{
	return row->flags & PART_ASLEEP_THROUGHOUT ? "asleep" : model_kind_name(row->kind);
}

static bool is_time(const struct profile *p)
{
	const char *unit = profile__str(p, p->header.unit_sid);

	return !*unit || !strcmp(unit, "ns");
}

static uint32_t default_kinds(const struct profile *p)
{
	uint32_t mask = 0;

	if (fold_kinds_of(p) == 1U << KIND_NONE)
		return FOLD_KINDS_ALL;
	for (int kind = 0; kind < KIND_MAX; kind++)
		if (model_kind_is_blocked(kind))
			mask |= 1U << kind;
	return mask;
}

void folded_form__put(const struct profile *p, const struct folded_form *form, struct buf *out)
{
	uint64_t unit = !is_time(p) ? 1 : form->value_ns ? form->value_ns : 1000;
	struct fold_opts opts = form->opts;
	struct fold f;

	if (!opts.kinds)
		opts.kinds = default_kinds(p);
	fold_init(&f, p, &opts);
	for (size_t i = 0; i < f.row_cnt; i++) {
		const struct fold_row *row = &f.rows[i];
		uint64_t value = row->ns / unit + (row->ns % unit >= unit - unit / 2);

		if (!value)
			continue;
		nametree_path(&f.names, row->node, out);
		if (form->show_kinds && row->kind != KIND_NONE)
			buf_printf(out, "%s[%s]", row->node ? ";" : "", leaf_of(row));
		buf_putc(out, ' ');
		buf_put_u64(out, value);
		buf_putc(out, '\n');
	}
	fold_free(&f);
}

void folded_form__tell_empty(const struct profile *p, FILE *to)
{
	struct buf text = { 0 };
	uint64_t ns[KIND_MAX] = { 0 };
	const char *separator = "";

	for (size_t i = 0; i < p->sums.cnt; i++)
		if (p->sums.items[i].kind < KIND_MAX)
			ns[p->sums.items[i].kind] += p->sums.items[i].ns;
	buf_puts(&text, "causeprof: no time of the chosen kinds; the profile has ");
	for (int kind = 0; kind < KIND_MAX; kind++) {
		if (!ns[kind])
			continue;
		buf_printf(&text, "%s%s ", separator, model_kind_name(kind));
		buf_put_duration(&text, ns[kind]);
		separator = ", ";
	}
	fprintf(to, "%s\n", buf_str(&text));
	buf_free(&text);
}
