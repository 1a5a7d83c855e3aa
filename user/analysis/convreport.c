/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/analysis/convreport.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/base/num.h"

enum {
	DELAYS_SHOWN = 4
};

/* Paths over the same nodes: order[first .. first + cnt). */
struct family {
	uint32_t first, cnt;
	uint64_t messages;
};

struct families {
	struct family *list; /* most messages first */
	size_t cnt;
	uint32_t *order; /* path numbers */
};

static int cmp_nodes(const struct conv_path *x, const struct conv_path *y)
{
	if (x->hops_cnt != y->hops_cnt)
		return x->hops_cnt < y->hops_cnt ? -1 : 1;
	return memcmp(x->nodes, y->nodes, (x->hops_cnt + 1) * sizeof(*x->nodes));
}

static int cmp_order(const void *a, const void *b, void *ctx)
{
	const struct conv_result *r = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = cmp_nodes(&r->paths[x], &r->paths[y]);

	return c ? c : (x > y) - (x < y); /* paths are sorted by messages */
}

static int cmp_family(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	if (x->messages != y->messages)
		return x->messages > y->messages ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static struct families group(const struct conv_result *r)
{
	struct families f = { .order = xcalloc(r->cnt + 1, sizeof(*f.order)),
			      .list = xcalloc(r->cnt + 1, sizeof(*f.list)) };

	for (size_t i = 0; i < r->cnt; i++)
		f.order[i] = (uint32_t)i;
	/* the comparison needs the paths: the cast drops a const that qsort_r has no room for */
	if (r->cnt)
		qsort_r(f.order, r->cnt, sizeof(*f.order), cmp_order, (void *)(uintptr_t)r);
	for (size_t i = 0; i < r->cnt; i++) {
		if (!i || cmp_nodes(&r->paths[f.order[i - 1]], &r->paths[f.order[i]]))
			f.list[f.cnt++] = (struct family){ .first = (uint32_t)i };
		f.list[f.cnt - 1].cnt++;
		f.list[f.cnt - 1].messages += r->paths[f.order[i]].messages;
	}
	if (f.cnt)
		qsort(f.list, f.cnt, sizeof(*f.list), cmp_family);
	return f;
}

static void families_free(struct families *f)
{
	free(f->list);
	free(f->order);
}

static void put_delay(struct buf *out, int64_t ns)
{
	if (ns < 0)
		buf_putc(out, '-');
	buf_put_duration(out, (uint64_t)(ns < 0 ? -ns : ns));
}

static void put_node(const struct msgtrace *t, uint32_t node, struct buf *out)
{
	const char *name = msgtrace__node_name(t, node);

	escape_terminal(out, name, strlen(name));
}

struct delay_share {
	int64_t delay_ns;
	uint64_t messages;
};

static int cmp_share(const void *a, const void *b)
{
	const struct delay_share *x = a, *y = b;

	if (x->messages != y->messages)
		return x->messages > y->messages ? -1 : 1;
	return (x->delay_ns > y->delay_ns) - (x->delay_ns < y->delay_ns);
}

/* The delays of a family at one node; those within a quantum of each other are one. Returns how many. */
static size_t delays_at(const struct conv_result *r, const struct families *f,
			const struct family *fam, uint32_t hop, int64_t quantum_ns,
			struct delay_share *ret)
{
	size_t cnt = 0;

	for (uint32_t i = 0; i < fam->cnt; i++) {
		const struct conv_path *p = &r->paths[f->order[fam->first + i]];
		size_t k = 0;

		while (k < cnt && llabs(ret[k].delay_ns - p->delay_ns[hop]) > quantum_ns)
			k++;
		if (k == cnt)
			ret[cnt++] = (struct delay_share){ .delay_ns = p->delay_ns[hop] };
		ret[k].messages += p->messages;
	}
	qsort(ret, cnt, sizeof(*ret), cmp_share);
	return cnt;
}

static void put_delays(const struct conv_result *r, const struct families *f,
		       const struct family *fam, uint32_t hop, int64_t quantum_ns, struct buf *out)
{
	struct delay_share *d = xcalloc((size_t)fam->cnt + 1, sizeof(*d));
	size_t cnt = delays_at(r, f, fam, hop, quantum_ns, d);

	for (size_t k = 0; k < cnt && k < DELAYS_SHOWN; k++) {
		buf_puts(out, k ? ", " : "");
		put_delay(out, d[k].delay_ns);
		if (cnt > 1)
			buf_printf(out, " %.0f %%",
				   100 * (double)d[k].messages / (double)fam->messages);
	}
	if (cnt > DELAYS_SHOWN)
		buf_printf(out, ", %zu more", cnt - DELAYS_SHOWN);
	free(d);
}

static void put_family(const struct msgtrace *t, const struct conv_opts *o,
		       const struct conv_result *r, const struct families *f,
		       const struct family *fam, struct buf *out)
{
	const struct conv_path *p = &r->paths[f->order[fam->first]];
	struct buf count = { 0 };

	buf_put_grouped(&count, fam->messages);
	buf_printf(out, "%12s  ", buf_str(&count));
	buf_free(&count);
	put_node(t, p->nodes[0], out);
	for (uint32_t k = 1; k <= p->hops_cnt; k++) {
		buf_puts(out, " > ");
		put_node(t, p->nodes[k], out);
		if (k == p->hops_cnt)
			break;
		buf_puts(out, " [");
		put_delays(r, f, fam, k - 1, o->quantum_ns, out);
		buf_putc(out, ']');
	}
	buf_putc(out, '\n');
}

void convreport_text(const struct msgtrace *t, const struct conv_opts *o,
		     const struct conv_result *r, size_t top_cnt, struct buf *out)
{
	struct families f = group(r);
	size_t shown = top_cnt && top_cnt < f.cnt ? top_cnt : f.cnt;

	buf_put_grouped(out, r->stats.messages_cnt);
	buf_printf(out, " messages on %llu edges, ", (unsigned long long)r->stats.edges_cnt);
	buf_put_grouped(out, r->stats.quanta_cnt);
	buf_puts(out, " quanta of ");
	buf_put_duration(out, (uint64_t)o->quantum_ns);
	buf_printf(
		out,
		", %llu correlations\n%zu paths, the most frequent first; the delay at each node in brackets\n\n",
		(unsigned long long)r->stats.correlations_cnt, f.cnt);
	if (shown)
		buf_puts(out, "    messages  path\n");
	for (size_t i = 0; i < shown; i++)
		put_family(t, o, r, &f, &f.list[i], out);
	if (shown < f.cnt)
		buf_printf(out, "%zu more paths\n", f.cnt - shown);
	families_free(&f);
}

static void path_json(const struct msgtrace *t, const struct conv_path *p, struct json *j)
{
	json_begin_object(j, NULL);
	json_u64(j, "messages", p->messages);
	json_f64(j, "chance_messages", p->chance);
	json_begin_array(j, "nodes");
	for (uint32_t k = 0; k <= p->hops_cnt; k++)
		json_str(j, NULL, msgtrace__node_name(t, p->nodes[k]));
	json_end_array(j);
	json_begin_array(j, "delays_ns");
	for (uint32_t k = 0; k + 1 < p->hops_cnt; k++)
		json_i64(j, NULL, p->delay_ns[k]);
	json_end_array(j);
	json_begin_array(j, "deviations_ns");
	for (uint32_t k = 0; k + 1 < p->hops_cnt; k++)
		json_i64(j, NULL, p->deviation_ns[k]);
	json_end_array(j);
	json_begin_array(j, "hop_messages");
	for (uint32_t k = 0; k < p->hops_cnt; k++)
		json_u64(j, NULL, p->hop_messages[k]);
	json_end_array(j);
	json_end_object(j);
}

void convreport_json(const struct msgtrace *t, const struct conv_opts *o,
		     const struct conv_result *r, struct json *j)
{
	json_u64(j, "messages", r->stats.messages_cnt);
	json_u64(j, "edges", r->stats.edges_cnt);
	json_u64(j, "roots", r->stats.roots_cnt);
	json_i64(j, "quantum_ns", o->quantum_ns);
	json_u64(j, "quanta", r->stats.quanta_cnt);
	json_u64(j, "correlations", r->stats.correlations_cnt);
	json_u64(j, "echoes_dropped", r->stats.echo_cnt);
	json_u64(j, "extensions_cut", r->stats.cut_cnt);
	json_begin_array(j, "paths");
	for (size_t i = 0; i < r->cnt; i++)
		path_json(t, &r->paths[i], j);
	json_end_array(j);
}

static void dot_label(const struct buf *text, struct buf *out)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < text->len_bytes; i++) {
		if (text->data[i] == '"' || text->data[i] == '\\')
			buf_putc(out, '\\');
		buf_putc(out, text->data[i]);
	}
	buf_putc(out, '"');
}

static void family_dot(const struct msgtrace *t, const struct conv_result *r,
		       const struct families *f, size_t number, struct buf *out)
{
	const struct family *fam = &f->list[number];
	const struct conv_path *p = &r->paths[f->order[fam->first]];
	struct buf text = { 0 };

	for (uint32_t k = 0; k <= p->hops_cnt; k++) {
		buf_reset(&text);
		put_node(t, p->nodes[k], &text);
		buf_printf(out, "\tp%zu_%u [label=", number, k);
		dot_label(&text, out);
		buf_puts(out, "];\n");
	}
	for (uint32_t k = 0; k < p->hops_cnt; k++) {
		buf_reset(&text);
		if (k)
			put_delays(r, f, fam, k - 1, 1, &text);
		buf_puts(&text, k ? " / " : "");
		buf_put_grouped(&text, fam->messages);
		buf_printf(out, "\tp%zu_%u -> p%zu_%u [label=", number, k, number, k + 1);
		dot_label(&text, out);
		buf_puts(out, "];\n");
	}
	buf_free(&text);
}

void convreport_dot(const struct msgtrace *t, const struct conv_result *r, size_t top_cnt,
		    struct buf *out)
{
	struct families f = group(r);

	buf_puts(out, "digraph paths {\n\trankdir=LR;\n");
	for (size_t i = 0; i < f.cnt && (!top_cnt || i < top_cnt); i++)
		family_dot(t, r, &f, i, out);
	buf_puts(out, "}\n");
	families_free(&f);
}
