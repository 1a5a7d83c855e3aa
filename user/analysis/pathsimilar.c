/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns that differ in replicas only; see pathsimilar.h. */
#include "user/analysis/pathsimilar.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

/* The length of a name without the number at its end; the whole length if it is no family's. */
static size_t stem_bytes(const char *name, size_t len_bytes)
{
	size_t n = len_bytes;

	if (!len_bytes || !isalpha((unsigned char)name[0]))
		return len_bytes;
	while (n > 1 && isdigit((unsigned char)name[n - 1]))
		n--;
	return n;
}

/* By node the name of its family ("WS*") where it has a relative, else its own. */
static const char **family_names(const struct msgtrace *t, struct strtab *names)
{
	const char **ret = xcalloc(t->nodes.cnt + 1, sizeof(*ret));
	uint32_t *family = xcalloc(t->nodes.cnt + 1, sizeof(*family)), *sizes;
	struct buf text = { 0 };

	for (uint32_t i = 1; i < t->nodes.cnt; i++) {
		const char *name = msgtrace__node_name(t, i);
		size_t len_bytes = strlen(name), stem = stem_bytes(name, len_bytes);

		buf_reset(&text);
		buf_append(&text, name, stem);
		if (stem < len_bytes)
			buf_putc(&text, '*');
		family[i] = strtab_addn(names, text.data ? text.data : "", text.len_bytes);
	}
	sizes = xcalloc(names->cnt + 1, sizeof(*sizes));
	for (uint32_t i = 1; i < t->nodes.cnt; i++)
		sizes[family[i]]++;
	for (uint32_t i = 1; i < t->nodes.cnt; i++)
		ret[i] = sizes[family[i]] > 1 ? strtab_get(names, family[i]) :
						msgtrace__node_name(t, i);
	free(sizes);
	free(family);
	buf_free(&text);
	return ret;
}

static int group_cmp(const void *a, const void *b)
{
	const struct pathsimilar_group *x = a, *y = b;

	if (x->instance_cnt != y->instance_cnt)
		return x->instance_cnt > y->instance_cnt ? -1 : 1;
	return x->name_sid < y->name_sid ? -1 : x->name_sid > y->name_sid;
}

void pathsimilar_find(const struct paths *p, struct pathsimilar *ret)
{
	uint32_t *group_of = xcalloc(p->pattern_cnt + 1, sizeof(*group_of)), *by_sid, at = 0;
	size_t cap = 0;
	const char **names;
	struct buf name = { 0 };

	*ret = (struct pathsimilar){ 0 };
	strtab_add(&ret->names, "");
	names = family_names(p->t, &ret->names);
	for (size_t i = 0; i < p->pattern_cnt; i++) {
		buf_reset(&name);
		paths__name_as(p, &p->patterns[i], names, &name);
		group_of[i] = strtab_addn(&ret->names, buf_str(&name), name.len_bytes);
	}
	by_sid = xmalloc((ret->names.cnt + 1) * sizeof(*by_sid));
	memset(by_sid, 0xff, (ret->names.cnt + 1) * sizeof(*by_sid));
	for (size_t i = 0; i < p->pattern_cnt; i++) {
		uint32_t *number = &by_sid[group_of[i]];

		if (*number == UINT32_MAX) {
			*number = (uint32_t)ret->group_cnt;
			ret->groups =
				xgrow(ret->groups, &cap, ret->group_cnt + 1, sizeof(*ret->groups));
			ret->groups[ret->group_cnt++] =
				(struct pathsimilar_group){ .name_sid = group_of[i] };
		}
		ret->groups[*number].cnt++;
		ret->groups[*number].instance_cnt += p->patterns[i].cnt;
		ret->groups[*number].total_ns += p->patterns[i].total_ns;
	}
	if (ret->group_cnt)
		qsort(ret->groups, ret->group_cnt, sizeof(*ret->groups), group_cmp);
	for (size_t i = 0; i < ret->group_cnt; i++) {
		by_sid[ret->groups[i].name_sid] = (uint32_t)i;
		ret->groups[i].first = at;
		at += ret->groups[i].cnt;
		ret->groups[i].cnt = 0;
	}
	ret->members = xcalloc(p->pattern_cnt + 1, sizeof(*ret->members));
	for (size_t i = 0; i < p->pattern_cnt; i++) {
		struct pathsimilar_group *g = &ret->groups[by_sid[group_of[i]]];

		ret->members[g->first + g->cnt++] = (uint32_t)i;
	}
	free(by_sid);
	free(group_of);
	free(names);
	buf_free(&name);
}

void pathsimilar_free(struct pathsimilar *s)
{
	strtab_free(&s->names);
	free(s->groups);
	free(s->members);
	*s = (struct pathsimilar){ 0 };
}
