/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The truth of a synthetic trace; see msgtruth.h. */
#include "user/exchange/msgtruth.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	LINE_MAX_BYTES = 1 << 16,
	FIELD_CNT = 7,
};

struct reader {
	struct msgtruth *truth;
	uint32_t *call_of_line; /* by line - 1 */
	size_t line_cnt, line_cap, number_cap;
	char *fields[FIELD_CNT];
};

static bool split(char *line, char **fields)
{
	char *save = NULL, *word = strtok_r(line, " \t", &save);

	for (int i = 0; i < FIELD_CNT; i++, word = strtok_r(NULL, " \t", &save)) {
		if (!word)
			return false;
		fields[i] = word;
	}
	return !word;
}

/* The number in a field, counted from 1; 0 for "-". */
static bool parse_number(const char *text, size_t max, uint32_t *ret)
{
	uint64_t v = 0;

	*ret = 0;
	if (!strcmp(text, "-"))
		return true;
	if (parse_u64(text, &v, NULL) || !v || v > max)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static void add_call(struct reader *r, uint32_t parent_line, uint32_t number)
{
	struct msgtruth *truth = r->truth;
	int64_t line = (int64_t)r->line_cnt;
	struct call c =
		call_init(msgtrace__node(truth->t, r->fields[5], strlen(r->fields[5])),
			  msgtrace__node(truth->t, r->fields[6], strlen(r->fields[6])), line, line);
	uint32_t call = (uint32_t)truth->t->call_cnt;

	if (parent_line)
		c.parent = r->call_of_line[parent_line - 1];
	msgtrace__add_call(truth->t, &c, NULL);
	r->call_of_line[r->line_cnt] = call;
	if (number)
		truth->call_of_number[number - 1] = call;
}

static const char *read_line(struct reader *r, char *line)
{
	struct msgtruth *truth = r->truth;
	uint32_t number, parent_line;

	if (!split(line, r->fields))
		return "not 7 fields";
	/* numbers may be ahead of lines by clock skew, but not by more than there are messages */
	if (!parse_number(r->fields[0], CALL_TRUE_NONE - 1, &number))
		return "the number is none";
	if (!parse_number(r->fields[2], r->line_cnt, &parent_line))
		return "the parent is no line before";
	if (r->line_cnt >= CALL_TRUE_NONE - 1)
		return "more than 2^30 messages";
	r->call_of_line = xgrow(r->call_of_line, &r->line_cap, r->line_cnt + 1, sizeof(uint32_t));
	r->call_of_line[r->line_cnt] = CALL_NONE;
	if (number > truth->number_cnt) {
		if (number > r->line_cnt + (1 << 24))
			return "the number is far ahead of the line";
		truth->call_of_number =
			xgrow(truth->call_of_number, &r->number_cap, number, sizeof(uint32_t));
		memset(truth->call_of_number + truth->number_cnt, 0xff,
		       (number - truth->number_cnt) * sizeof(uint32_t));
		truth->number_cnt = number;
	}
	if (!strcmp(r->fields[4], "RET")) {
		uint32_t call = parent_line ? r->call_of_line[parent_line - 1] : CALL_NONE;

		if (call == CALL_NONE)
			return "a RET without CALL";
		truth->t->calls[call].client_end_ns = truth->t->calls[call].server_end_ns =
			(int64_t)r->line_cnt;
	} else {
		add_call(r, parent_line, number);
	}
	r->line_cnt++;
	return NULL;
}

int msgtruth_read(struct input *in, struct msgtruth *truth, struct err *err)
{
	struct reader r = { .truth = truth };
	size_t len_bytes;
	char *line;
	int rc;

	*truth = (struct msgtruth){ .t = msgtrace__new() };
	while ((rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		const char *why;

		if (!len_bytes || line[0] == '#')
			continue;
		why = read_line(&r, line);
		if (!why)
			continue;
		rc = err_set(err, -EINVAL, "%s:%llu: %s", input_path(in),
			     (unsigned long long)input_line_no(in), why);
		break;
	}
	free(r.call_of_line);
	return rc;
}

void msgtruth_free(struct msgtruth *truth)
{
	msgtrace__free(truth->t);
	free(truth->call_of_number);
	*truth = (struct msgtruth){ 0 };
}
