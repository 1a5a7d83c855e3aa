/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded text in and out (base/foldtext.h has the grammar). The process name, where a tool prints one, is the
 * first frame and stays a frame: the text does not say which it is. A line is read, placed in the trie of
 * stacks and forgotten, so that memory depends on distinct stacks and not on the length of the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/formats.h"
#include "user/exchange/intake.h"
#include "user/exchange/sink.h"
#include "user/model/nametree.h"

struct folded_reader {
	struct intake intake;
	struct strtab raw;  /* frames as they stand in the text */
	uint32_t *frame_of; /* by id in raw: 1 + frame */
	size_t frame_of_cap;
	struct buf text;
};

static uint32_t frame_id(struct folded_reader *r, const char *frame, size_t frame_bytes)
{
	uint32_t id = strtab_addn(&r->raw, frame, frame_bytes);

	if (id >= r->frame_of_cap) {
		size_t old = r->frame_of_cap;

		r->frame_of = xgrow(r->frame_of, &r->frame_of_cap, id + 1, sizeof(*r->frame_of));
		memset(r->frame_of + old, 0, (r->frame_of_cap - old) * sizeof(*r->frame_of));
	}
	if (!r->frame_of[id]) {
		buf_reset(&r->text);
		foldtext_unescape(&r->text, frame, frame_bytes);
		r->frame_of[id] =
			1 + intake_frame(&r->intake, buf_str(&r->text), r->text.len_bytes);
	}
	return r->frame_of[id] - 1;
}

static void add_line(struct folded_reader *r, const struct foldtext_line *l)
{
	const char *rest = l->stack, *end = l->stack + l->stack_bytes, *frame;
	struct intake_key key = { 0 };
	size_t frame_bytes;

	while (foldtext_next(&rest, end, &frame, &frame_bytes)) {
		if (rest > end && key.stack)
			key.kind = intake_leaf_kind(frame, frame_bytes);
		if (!key.kind)
			key.stack = profile__add_stack(r->intake.profile, key.stack,
						       frame_id(r, frame, frame_bytes));
	}
	intake_add(&r->intake, &key, &l->count, r->intake.unit_ns ? 0 : l->count.whole);
}

static void read_line(struct folded_reader *r, char *line, size_t len_bytes, uint64_t line_no)
{
	struct foldtext_line l;
	const char *why;

	if (!len_bytes || line[0] == '#')
		return;
	why = foldtext_parse(line, len_bytes, &l);
	if (!why && l.count.is_negative && (l.count.whole || l.count.nano))
		why = "a profile holds no negative values";
	if (why)
		intake_reject(&r->intake, line_no, why);
	else if (l.count.whole || l.count.nano)
		add_line(r, &l);
}

static int import_folded(struct input *in, const struct import_options *opts, struct profile *p,
			 struct import_report *report, struct err *err)
{
	struct folded_reader r = { .text = { 0 } };
	char *line;
	size_t len_bytes;
	int rc = intake_init(&r.intake, p, opts, report, err);

	while (!rc && (rc = input_line(in, IMPORT_LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		uint64_t line_no = input_line_no(in);

		if (line_no == 1 && len_bytes >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
			line += 3;
			len_bytes -= 3;
		}
		read_line(&r, line, len_bytes, line_no);
		intake_progress(&r.intake, in);
		rc = 0;
	}
	intake_finish(&r.intake);
	strtab_free(&r.raw);
	free(r.frame_of);
	buf_free(&r.text);
	return rc;
}

static bool ends_in_count(const char *line, const char *end)
{
	struct foldtext_count c;
	const char *s;

	while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	for (s = end; s > line && s[-1] != ' ' && s[-1] != '\t';)
		s--;
	return s > line && *line != '#' && !foldtext_parse_count(s, (size_t)(end - s), &c);
}

/* One of the first lines ends in a number behind a blank. */
static bool sniff_folded(const char *head, size_t len_bytes)
{
	const char *end = head + len_bytes, *nl;

	for (int i = 0; i < 20 && head < end; i++, head = nl + 1) {
		nl = memchr(head, '\n', (size_t)(end - head));
		if (ends_in_count(head, nl ? nl : end))
			return true;
		if (!nl)
			return end - head > 200; /* a long stack whose count was not seen */
	}
	return false;
}

struct folded_values {
	uint64_t *by_node;
	size_t cap;
};

static void collect(void *ctx, const struct sum *s, uint32_t node)
{
	struct folded_values *v = ctx;

	if (node >= v->cap) {
		size_t old = v->cap;

		v->by_node = xgrow(v->by_node, &v->cap, (size_t)node + 1, sizeof(*v->by_node));
		memset(v->by_node + old, 0, (v->cap - old) * sizeof(*v->by_node));
	}
	v->by_node[node] =
		v->by_node[node] > UINT64_MAX - s->ns ? UINT64_MAX : v->by_node[node] + s->ns;
}

/* The path of the node before is at hand: only what differs is written again. */
struct path_text {
	struct buf text;
	size_t *end_of_depth; /* end_of_depth[d]: bytes of the first d frames */
	size_t cap;
};

/* Rounded half up to the unit. */
static void put_value(struct buf *out, uint64_t v, uint64_t unit)
{
	buf_put_u64(out, v / unit + (v % unit >= unit - unit / 2 && unit > 1));
	buf_putc(out, '\n');
}

static void put_lines(const struct nametree *t, const struct folded_values *v, uint64_t unit,
		      struct sink *out)
{
	uint32_t *order = nametree_sorted(t);
	uint32_t *depth = xcalloc(t->cnt, sizeof(*depth));
	struct path_text path = { .cap = 0 };

	if (v->cap && v->by_node[0]) { /* time without a stack and without a process */
		buf_puts(&out->buf, "[no stack] ");
		put_value(&out->buf, v->by_node[0], unit);
	}
	for (size_t i = 1; i < t->cnt; i++) { /* order[0] is the root */
		uint32_t node = order[i], name = t->nodes[node].name, d;

		d = depth[node] = depth[t->nodes[node].parent] + 1;
		if (d >= path.cap)
			path.end_of_depth = xgrow(path.end_of_depth, &path.cap, d + 1,
						  sizeof(*path.end_of_depth));
		path.text.len_bytes = d > 1 ? path.end_of_depth[d - 1] : 0;
		if (d > 1)
			buf_putc(&path.text, ';');
		foldtext_escape(&path.text, strtab_get(&t->names, name),
				strtab_len_bytes(&t->names, name));
		path.end_of_depth[d] = path.text.len_bytes;
		if (node >= v->cap || !v->by_node[node])
			continue;
		buf_append(&out->buf, path.text.data, path.text.len_bytes);
		buf_putc(&out->buf, ' ');
		put_value(&out->buf, v->by_node[node], unit);
		sink_flush_if_full(out);
	}
	free(order);
	free(depth);
	free(path.end_of_depth);
	buf_free(&path.text);
}

static int export_folded(const struct profile *p, const struct export_options *opts,
			 struct export_sink *to, struct err *err)
{
	struct nametree t;
	struct folded_values v = { 0 };
	struct sink out = { .to = to, .err = err };
	uint64_t unit = 1;

	if (opts->unit) {
		unit = unit_ns(opts->unit);
		if (!unit || strcmp(profile__str(p, p->header.unit_sid), "ns"))
			return err_set(
				err, -EINVAL,
				"cannot write %s as %s: only nanoseconds become ns, us, ms or s",
				profile__str(p, p->header.unit_sid), opts->unit);
	}
	nametree_init(&t);
	nametree_add_profile(&t, p,
			     (opts->suffixes ? NAMETREE_SUFFIXES : 0) |
				     (opts->kinds ? NAMETREE_KINDS : 0),
			     collect, &v);
	put_lines(&t, &v, unit, &out);
	nametree_free(&t);
	free(v.by_node);
	return sink_finish(&out);
}

const struct exchange_format format_folded = {
	.name = "folded",
	.extensions = ".folded .stacks .collapsed",
	.summary = "one stack a line with its count, as flamegraph.pl reads it",
	.sniff = sniff_folded,
	.import = import_folded,
	.export = export_folded,
};
