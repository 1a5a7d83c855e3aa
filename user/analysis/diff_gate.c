/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gates on a difference, for builds that must fail when something became slower; see diff.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/analysis/diff.h"
#include "user/base/num.h"

struct words {
	const char *at;
	char word[256];
};

/* The next word, or what stands in single or double quotes. */
static bool next_word(struct words *w)
{
	size_t n = 0;
	char quote = 0;

	while (isspace((unsigned char)*w->at))
		w->at++;
	if (*w->at == '\'' || *w->at == '"')
		quote = *w->at++;
	while (*w->at && (quote ? *w->at != quote : !isspace((unsigned char)*w->at))) {
		if (n < sizeof(w->word) - 1)
			w->word[n++] = *w->at;
		w->at++;
	}
	if (quote && *w->at)
		w->at++;
	w->word[n] = '\0';
	return n > 0;
}

static bool direction_of(const char *word, int *ret)
{
	*ret = !strcmp(word, "regression") ? 1 : !strcmp(word, "improvement") ? -1 : 0;
	return *ret || !strcmp(word, "change");
}

static bool expect(struct words *w, const char *word)
{
	return next_word(w) && !strcmp(w->word, word);
}

static bool parse_subject(struct words *w, struct diff_gate *g)
{
	if (!next_word(w))
		return false;
	if (direction_of(w->word, &g->direction))
		return true;
	if (strcmp(w->word, "any"))
		snprintf(g->subject, sizeof(g->subject), "%s", w->word);
	return next_word(w) && direction_of(w->word, &g->direction);
}

static bool parse_percent(struct words *w, struct diff_gate *g)
{
	size_t n;

	if (!expect(w, ">") || !next_word(w))
		return false;
	n = strlen(w->word);
	if (n < 2 || w->word[n - 1] != '%')
		return false;
	w->word[n - 1] = '\0';
	return !parse_f64(w->word, &g->percent, NULL) && g->percent >= 0;
}

static bool parse_rest(struct words *w, struct diff_gate *g)
{
	bool more = next_word(w);

	if (more && !strcmp(w->word, "of")) {
		g->of_total = true;
		if (!expect(w, "total"))
			return false;
		more = next_word(w);
	}
	if (!more)
		return true;
	if (strcmp(w->word, "at") || !expect(w, "p") || !expect(w, "<") || !next_word(w))
		return false;
	return !parse_f64(w->word, &g->p, NULL) && g->p > 0 && g->p <= 1 && !next_word(w);
}

int diff_gate_parse(const char *text, double default_p, struct diff_gate *ret, struct err *err)
{
	struct words w = { .at = text };

	*ret = (struct diff_gate){ .p = default_p };
	if (parse_subject(&w, ret) && parse_percent(&w, ret) && parse_rest(&w, ret))
		return 0;
	return err_set(err, -EINVAL,
		       "cannot read the gate '%.200s'; it is \"[total|any|NAME] "
		       "regression|improvement|change > N%% [of total] [at p < P]\"",
		       text);
}

static bool measure_meets(const struct diff *d, const struct diff_gate *g, uint32_t measure)
{
	const struct diff_measure *m;
	double delta, base;

	if (measure == DIFF_NO_MEASURE)
		return false;
	m = &d->measures[measure];
	delta = m->after - m->before;
	base = g->of_total ? d->nodes[0].subtree[0] : m->before;
	if (g->direction ? delta * g->direction <= 0 : delta == 0)
		return false;
	return m->p < g->p && fabs(delta) * 100 > g->percent * base;
}

int diff_gate_check(const struct diff *d, const struct diff_gate *g, uint32_t *worst,
		    struct err *err)
{
	int cnt = 0;

	*worst = UINT32_MAX;
	if (d->method == DIFF_NO_TEST)
		return err_set(
			err, -ENODATA,
			"the gate cannot be judged: one run a side without sample counts says "
			"nothing about noise; give several runs a side");
	if (!strcmp(g->subject, "total"))
		return measure_meets(d, g, d->nodes[0].subtree_measure);
	for (size_t i = 0; i < d->function_cnt; i++) {
		const struct diff_function *f = &d->functions[i];

		if (*g->subject && strcmp(g->subject, strtab_get(&d->tree.names, f->name)))
			continue;
		if (!measure_meets(d, g, f->self_measure) &&
		    !measure_meets(d, g, f->subtree_measure))
			continue;
		if (!cnt++)
			*worst = (uint32_t)i;
	}
	return cnt;
}
