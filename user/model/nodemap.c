/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of nodes; see nodemap.h. */
#include "user/model/nodemap.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

enum {
	LINE_MAX_BYTES = 4096,
	GROUPS_MAX = 10
};

struct rule {
	regex_t regex;
	char *node;
};

struct nodemap {
	struct rule *rules;
	size_t cnt, cap;
};

static int add_rule(struct nodemap *m, struct input *in, char *line, struct err *err)
{
	char *save = NULL, *regex = strtok_r(line, " \t", &save);
	char *node = strtok_r(NULL, " \t", &save), why[200];
	unsigned long long line_no = input_line_no(in);
	struct rule *r;
	int rc;

	if (!regex || regex[0] == '#')
		return 0;
	if (!node || strtok_r(NULL, " \t", &save))
		return err_set(err, -EINVAL, "%s:%llu: expected REGEX NODE", input_path(in),
			       line_no);
	m->rules = xgrow(m->rules, &m->cap, m->cnt + 1, sizeof(*m->rules));
	r = &m->rules[m->cnt];
	rc = regcomp(&r->regex, regex, REG_EXTENDED);
	if (rc) {
		regerror(rc, &r->regex, why, sizeof(why));
		return err_set(err, -EINVAL, "%s:%llu: %s in '%s'", input_path(in), line_no, why,
			       regex);
	}
	r->node = xstrdup(node);
	m->cnt++;
	return 0;
}

int nodemap__read(struct input *in, struct nodemap **ret, struct err *err)
{
	struct nodemap *m = xzalloc(sizeof(*m));
	size_t len_bytes;
	char *line;
	int rc;

	while ((rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		rc = add_rule(m, in, line, err);
		if (rc)
			break;
	}
	if (rc)
		nodemap__free(m);
	else
		*ret = m;
	return rc;
}

void nodemap__free(struct nodemap *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->cnt; i++) {
		regfree(&m->rules[i].regex);
		free(m->rules[i].node);
	}
	free(m->rules);
	free(m);
}

static void expand(const char *node, const char *name, const regmatch_t *groups, struct buf *out)
{
	for (; *node; node++) {
		int group = node[0] == '\\' && node[1] >= '1' && node[1] <= '9' ? node[1] - '0' : 0;

		if (!group) {
			buf_putc(out, *node);
			continue;
		}
		if (groups[group].rm_so >= 0)
			buf_append(out, name + groups[group].rm_so,
				   (size_t)(groups[group].rm_eo - groups[group].rm_so));
		node++;
	}
}

bool nodemap__name(const struct nodemap *m, const char *name, struct buf *out)
{
	regmatch_t groups[GROUPS_MAX];

	for (size_t i = 0; m && i < m->cnt; i++)
		if (!regexec(&m->rules[i].regex, name, GROUPS_MAX, groups, 0)) {
			expand(m->rules[i].node, name, groups, out);
			return true;
		}
	buf_puts(out, name);
	return false;
}

void nodemap__apply(const struct nodemap *m, struct msgtrace *t)
{
	uint32_t *now = xcalloc(t->nodes.cnt + 1, sizeof(*now));
	struct strtab old = t->nodes;
	struct buf name = { 0 };

	t->nodes = (struct strtab){ 0 };
	strtab_add(&t->nodes, "");
	for (uint32_t i = 1; i < old.cnt; i++) {
		buf_reset(&name);
		nodemap__name(m, strtab_get(&old, i), &name);
		/* an empty name would be no node */
		now[i] = name.len_bytes ? msgtrace__node(t, name.data, name.len_bytes) :
					  msgtrace__node(t, "-", 1);
	}
	for (size_t i = 0; i < t->msg_cnt; i++) {
		struct msg *msg = msgtrace__msg(t, i);

		msg->sender = now[msg->sender];
		msg->receiver = now[msg->receiver];
	}
	for (size_t i = 0; i < t->call_cnt; i++) {
		t->calls[i].caller = now[t->calls[i].caller];
		t->calls[i].callee = now[t->calls[i].callee];
	}
	strtab_free(&old);
	buf_free(&name);
	free(now);
}
