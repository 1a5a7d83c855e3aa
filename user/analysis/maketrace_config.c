/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations of synthetic traces; see maketrace.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/maketrace.h"
#include "user/base/mem.h"
#include "user/model/msgtrace.h"

enum {
	LINE_MAX_BYTES = 4096,
	WORD_MAX_CNT = 32,
};

/* A block that is being filled, and the step it belongs to. */
struct open_block {
	struct maketrace_step **end;
	struct maketrace_step *owner; /* NULL: a tracelet's body */
	struct maketrace_block *block;
};

struct parser {
	struct maketrace_config *c;
	struct input *in;
	struct err *err;
	char *words[WORD_MAX_CNT + 1]; /* NULL ends */
	size_t word_cnt;
	struct maketrace_tracelet **last_tracelet;
	struct open_block open[MAKETRACE_DEPTH_MAX];
	size_t depth; /* 0: outside of a tracelet */
};

static int bad(struct parser *p, const char *what, const char *word)
{
	return err_set(p->err, -EINVAL, "%s:%llu: %s '%s'", input_path(p->in),
		       (unsigned long long)input_line_no(p->in), what, word ? word : "");
}

/* [+-]digits[.digits] seconds as nanoseconds, without floating point. */
static int parse_seconds(struct parser *p, const char *text, int64_t *ret)
{
	const char *s = text;
	bool negative = *s == '-';
	int64_t v = 0, place = 1000000000;

	s += *s == '-' || *s == '+';
	if (*s < '0' || *s > '9')
		return bad(p, "not a number of seconds:", text);
	for (; *s >= '0' && *s <= '9'; s++) {
		if (v > 1000000000)
			return bad(p, "too many seconds:", text);
		v = v * 10 + (*s - '0');
	}
	v *= 1000000000;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++)
			v += (place /= 10) * (*s - '0');
	if (*s || v > (int64_t)1000000000 * 1000000000)
		return bad(p, "not a number of seconds:", text);
	*ret = negative ? -v : v;
	return 0;
}

static int parse_count(struct parser *p, const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (!text || !*text)
		return bad(p, "a number is missing", text);
	for (const char *s = text; *s; s++) {
		if (*s < '0' || *s > '9' || v > max / 10 + 1)
			return bad(p, "not a number, or too large:", text);
		v = v * 10 + (uint64_t)(*s - '0');
	}
	if (v > max)
		return bad(p, "too large:", text);
	*ret = v;
	return 0;
}

static uint32_t node(struct parser *p, const char *name, size_t len_bytes)
{
	return strtab_addn(&p->c->nodes, name, len_bytes);
}

/* The text behind "key=" if the word begins so, else NULL. */
static const char *value_of(const char *word, const char *key)
{
	size_t len_bytes = strlen(key);

	return !strncmp(word, key, len_bytes) && word[len_bytes] == '=' ? word + len_bytes + 1 :
									  NULL;
}

static int parse_end(struct parser *p, const char *word, struct maketrace_end *e)
{
	size_t len_bytes = strlen(word);

	if (word[len_bytes - 1] == '*') {
		e->prefix = arena_strndup(&p->c->arena, word, len_bytes - 1);
		return 0;
	}
	while (*word) {
		size_t part_bytes = strcspn(word, "|");

		if (!part_bytes || e->cnt == MAKETRACE_CHOICES_MAX)
			return bad(p, "an empty name, or too many nodes to choose from:", word);
		e->nodes[e->cnt++] = node(p, word, part_bytes);
		word += part_bytes + (word[part_bytes] == '|');
	}
	return 0;
}

static int parse_extra(struct parser *p, struct maketrace_step *s, const char *word)
{
	const char *eq = strchr(word, '=');

	if (!eq || eq == word || s->extra_cnt == MAKETRACE_EXTRAS_MAX)
		return bad(p, "extra needs NODE=SECONDS, at most four:", word);
	s->extras[s->extra_cnt].node = node(p, word, (size_t)(eq - word));
	return parse_seconds(p, eq + 1, &s->extras[s->extra_cnt++].ns);
}

static struct maketrace_step *add_step(struct parser *p, enum maketrace_step_kind kind)
{
	struct maketrace_step *s = arena_alloc(&p->c->arena, sizeof(*s));
	struct open_block *b = &p->open[p->depth - 1];

	s->kind = kind;
	s->line_no = (uint32_t)input_line_no(p->in);
	*b->end = s;
	b->end = &s->next;
	return s;
}

static int parse_op(struct parser *p, const char *word, uint8_t *ret)
{
	static const char *const ops[] = { "?", "call", "ret", "msg" };

	for (uint8_t op = MSG_CALL; op <= MSG_ONEWAY; op++)
		if (!strcmp(word, ops[op])) {
			*ret = op;
			return 0;
		}
	return bad(p, "none of call, ret, msg:", word);
}

/* What follows MEAN: [DEV] [extra NODE=SECONDS ...] */
static int parse_rest(struct parser *p, struct maketrace_step *s, size_t at)
{
	int rc = 0;

	if (at < p->word_cnt && strcmp(p->words[at], "extra") != 0)
		rc = parse_seconds(p, p->words[at++], &s->dev_ns);
	if (!rc && at < p->word_cnt && strcmp(p->words[at], "extra") != 0)
		rc = bad(p, "not understood:", p->words[at]);
	for (at++; !rc && at < p->word_cnt; at++)
		rc = parse_extra(p, s, p->words[at]);
	return rc;
}

/* FROM -> TO call|ret|msg MEAN [DEV] [extra NODE=SECONDS ...] */
static int parse_message(struct parser *p)
{
	struct maketrace_step *s;
	int rc;

	if (!p->depth)
		return bad(p, "a message outside of a tracelet:", p->words[0]);
	if (p->word_cnt < 5)
		return bad(p, "a message needs FROM -> TO call|ret|msg MEAN [DEV]:", p->words[0]);
	s = add_step(p, STEP_MESSAGE);
	rc = parse_end(p, p->words[0], &s->from);
	if (!rc)
		rc = parse_end(p, p->words[2], &s->to);
	if (!rc)
		rc = parse_op(p, p->words[3], &s->op);
	if (!rc)
		rc = parse_seconds(p, p->words[4], &s->mean_ns);
	if (!rc)
		rc = parse_rest(p, s, 5);
	if (!rc && (s->mean_ns < 0 || s->dev_ns < 0))
		rc = bad(p, "a negative delay:", p->words[4]);
	return rc;
}

static int push_block(struct parser *p, struct maketrace_block *block, struct maketrace_step *owner)
{
	if (p->depth == MAKETRACE_DEPTH_MAX)
		return bad(p, "blocks are nested too deeply:", p->words[0]);
	p->open[p->depth++] = (struct open_block){ &block->steps, owner, block };
	return 0;
}

static struct maketrace_block *new_block(struct parser *p)
{
	return arena_alloc(&p->c->arena, sizeof(struct maketrace_block));
}

/* "parallel {" or "repeat N {" */
static int parse_opening(struct parser *p, enum maketrace_step_kind kind)
{
	size_t brace = kind == STEP_REPEAT ? 2 : 1;
	struct maketrace_step *s;

	if (!p->depth || p->word_cnt != brace + 1 || strcmp(p->words[brace], "{") != 0)
		return bad(p, "expected inside of a tracelet: parallel { or repeat N {, not",
			   p->words[0]);
	s = add_step(p, kind);
	s->times = 1;
	s->blocks = new_block(p);
	if (kind == STEP_REPEAT && parse_count(p, p->words[1], 1000000, &s->times))
		return -EINVAL;
	return push_block(p, s->blocks, s);
}

/* "}" or, between the blocks of a parallel, "} {" */
static int parse_closing(struct parser *p)
{
	struct open_block closed;

	if (p->depth < 2)
		return bad(p, "nothing is open here:", p->words[0]);
	closed = p->open[--p->depth];
	if (!closed.block->steps)
		return bad(p, "an empty block:", p->words[0]);
	if (p->word_cnt == 1)
		return 0;
	if (closed.owner->kind != STEP_PARALLEL || p->word_cnt != 2 ||
	    strcmp(p->words[1], "{") != 0)
		return bad(p, "not understood:", p->words[1]);
	closed.block->next = new_block(p);
	return push_block(p, closed.block->next, closed.owner);
}

/* tracelet NAME [copies=N] [think=A..B] */
static int parse_tracelet(struct parser *p)
{
	struct maketrace_tracelet *t = arena_alloc(&p->c->arena, sizeof(*t));
	int rc = p->word_cnt < 2 ? bad(p, "a tracelet needs a name", NULL) : 0;

	if (!rc && p->depth > 1)
		rc = bad(p, "a block is still open before tracelet", p->words[1]);
	if (rc)
		return rc;
	t->name = arena_strndup(&p->c->arena, p->words[1], strlen(p->words[1]));
	t->copies = 1;
	for (size_t i = 2; i < p->word_cnt && !rc; i++) {
		const char *v = value_of(p->words[i], "copies");
		char *dots;

		if (v) {
			rc = parse_count(p, v, 1000000, &t->copies);
			continue;
		}
		v = value_of(p->words[i], "think");
		dots = v ? strstr(p->words[i], "..") : NULL;
		if (!dots)
			return bad(p, "not understood:", p->words[i]);
		*dots = '\0';
		rc = parse_seconds(p, v, &t->think_low_ns);
		if (!rc)
			rc = parse_seconds(p, dots + 2, &t->think_high_ns);
		if (!rc && (t->think_low_ns < 0 || t->think_high_ns < t->think_low_ns))
			rc = bad(p, "think needs 0 <= A <= B:", v);
	}
	*p->last_tracelet = t;
	p->last_tracelet = &t->next;
	p->depth = 0;
	return rc ? rc : push_block(p, &t->body, NULL);
}

static int parse_node(struct parser *p)
{
	const char *v = p->word_cnt == 3 ? value_of(p->words[2], "skew") : NULL;
	size_t old = p->c->skew_cap;
	uint32_t n;

	if (!v)
		return bad(p, "expected: node NAME skew=SECONDS, not", p->words[p->word_cnt - 1]);
	n = node(p, p->words[1], strlen(p->words[1]));
	if (n >= old) {
		p->c->skew_ns = xgrow(p->c->skew_ns, &p->c->skew_cap, n + 1, sizeof(int64_t));
		memset(p->c->skew_ns + old, 0, (p->c->skew_cap - old) * sizeof(int64_t));
	}
	return parse_seconds(p, v, &p->c->skew_ns[n]);
}

static int parse_capture(struct parser *p)
{
	int rc = 0;

	p->c->queue = 64;
	for (size_t i = 1; i < p->word_cnt && !rc; i++) {
		const char *rate = value_of(p->words[i], "rate");
		const char *queue = value_of(p->words[i], "queue");

		if (!rate && !queue)
			return bad(p, "expected: capture rate=N queue=N, not", p->words[i]);
		rc = parse_count(p, rate ? rate : queue, 1000000000,
				 rate ? &p->c->rate : &p->c->queue);
	}
	return rc;
}

/* Deviations of a block's messages become a percentage of their means. */
static void set_dev(struct maketrace_block *block, int64_t percent)
{
	for (; block; block = block->next)
		for (struct maketrace_step *s = block->steps; s; s = s->next) {
			s->dev_ns = s->mean_ns / 100 * percent;
			set_dev(s->blocks, percent);
		}
}

static int parse_for_all(struct parser *p)
{
	size_t len_bytes = strlen(p->words[1]);
	bool dev = !strcmp(p->words[0], "dev");
	uint64_t v = 0;
	int rc;

	if (dev && (!len_bytes || p->words[1][len_bytes - 1] != '%'))
		return bad(p, "expected: dev N%, not", p->words[1]);
	if (dev)
		p->words[1][len_bytes - 1] = '\0';
	rc = parse_count(p, p->words[1], dev ? 1000 : 1000000, &v);
	for (struct maketrace_tracelet *t = p->c->tracelets; t && !rc; t = t->next) {
		if (dev)
			set_dev(&t->body, (int64_t)v);
		else
			t->copies = v;
	}
	return rc;
}

static int parse_setting(struct parser *p)
{
	const char *key = p->words[0], *value = p->word_cnt == 2 ? p->words[1] : NULL;

	if (!strcmp(key, "node"))
		return parse_node(p);
	if (!strcmp(key, "capture"))
		return parse_capture(p);
	if (!value)
		return bad(p, "not understood:", key);
	if (!strcmp(key, "seed"))
		return parse_count(p, value, INT64_MAX, &p->c->seed);
	if (!strcmp(key, "instances"))
		return parse_count(p, value, 100000000, &p->c->instances);
	if (!strcmp(key, "copies") || !strcmp(key, "dev"))
		return parse_for_all(p);
	if (!strcmp(key, "ids") && (!strcmp(value, "on") || !strcmp(value, "off"))) {
		p->c->no_ids = value[1] == 'f';
		return 0;
	}
	return bad(p, "not understood:", key);
}

static int parse_line(struct parser *p, char *line)
{
	char *save = NULL;

	line[strcspn(line, "#")] = '\0';
	p->word_cnt = 0;
	for (char *w = strtok_r(line, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (p->word_cnt == WORD_MAX_CNT)
			return bad(p, "too many words:", w);
		p->words[p->word_cnt++] = w;
	}
	p->words[p->word_cnt] = NULL;
	if (!p->word_cnt)
		return 0;
	if (p->word_cnt > 1 && !strcmp(p->words[1], "->"))
		return parse_message(p);
	if (!strcmp(p->words[0], "tracelet"))
		return parse_tracelet(p);
	if (!strcmp(p->words[0], "parallel"))
		return parse_opening(p, STEP_PARALLEL);
	if (!strcmp(p->words[0], "repeat"))
		return parse_opening(p, STEP_REPEAT);
	if (!strcmp(p->words[0], "}"))
		return parse_closing(p);
	return parse_setting(p);
}

int maketrace_config_read(struct maketrace_config *c, struct input *in, struct err *err)
{
	struct parser p = { .c = c, .in = in, .err = err, .last_tracelet = &c->tracelets };
	size_t len_bytes;
	char *line;
	int rc;

	strtab_add(&c->nodes, "");
	while (*p.last_tracelet)
		p.last_tracelet = &(*p.last_tracelet)->next;
	while ((rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		if (memchr(line, '\0', len_bytes))
			return bad(&p, "a NUL byte in", line);
		rc = parse_line(&p, line);
		if (rc)
			return rc;
	}
	if (!rc && p.depth > 1)
		rc = err_set(err, -EINVAL, "%s: a block is not closed", input_path(in));
	return rc;
}

void maketrace_config_free(struct maketrace_config *c)
{
	arena_free(&c->arena);
	strtab_free(&c->nodes);
	free(c->skew_ns);
	*c = (struct maketrace_config){ 0 };
}
