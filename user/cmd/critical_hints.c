/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hints, clock offsets, drag and slack of critical paths, printed. */
#include <stdlib.h>
#include <string.h>

#include "user/analysis/opportunity.h"
#include "user/base/escape.h"
#include "user/base/num.h"
#include "user/cmd/critical.h"

static void put_frame(struct buf *out, const struct ccct *c, uint32_t frame)
{
	struct buf name = { 0 };

	ccct__put_frame(c, frame, false, &name);
	escape_terminal(out, buf_str(&name), name.len_bytes);
	buf_free(&name);
}

static const char *const hint_names[HINT_KIND_MAX] = {
	[HINT_DOMINANT] = "dominant",	[HINT_SERIAL] = "serial", [HINT_REPEATED] = "repeated",
	[HINT_TRANSPORT] = "transport", [HINT_STORE] = "store",
};

static void put_hint(struct buf *out, const struct ccct *c, const struct hint *h)
{
	buf_printf(out, "%8.2f %%  %-9s  ", h->share * 100, hint_names[h->kind]);
	put_frame(out, c, c->paths[h->path].frame);
	switch (h->kind) {
	case HINT_DOMINANT:
		buf_puts(
			out,
			" makes this share of the fastest half: cache it, or run it beside the rest");
		break;
	case HINT_SERIAL:
		buf_puts(out, " and ");
		put_frame(out, c, c->paths[h->other].frame);
		buf_printf(out, " never overlap (%llu times): could they run at once?",
			   (unsigned long long)h->cnt);
		break;
	case HINT_REPEATED:
		buf_printf(out,
			   " is called %.1f times in a row per parent (N+1): one call for all?",
			   (double)h->more_cnt / (double)h->cnt);
		break;
	case HINT_TRANSPORT:
		buf_printf(out,
			   " is mostly the way there and back (%llu calls): save the round trip?",
			   (unsigned long long)h->cnt);
		break;
	default:
		buf_printf(
			out,
			" waits for something without spans, such as a store (%llu calls): cache it?",
			(unsigned long long)h->cnt);
		break;
	}
	buf_putc(out, '\n');
}

static void print_clocks(const struct ccct *c, uint64_t top, struct buf *out)
{
	size_t cnt, shown = 0;
	struct clock_offset *o = opportunity_clocks(c, &cnt);

	for (size_t i = 0; i < cnt && shown < top; i++) {
		struct buf b = { 0 };

		if (!o[i].shifted_cnt)
			continue;
		if (!shown++)
			buf_puts(
				out,
				"\n     calls    shifted     median  clock offset of the server against the client\n");
		buf_put_duration(&b, (uint64_t)llabs(o[i].median_ns));
		buf_printf(out, "%10llu %10llu %s%9s  ", (unsigned long long)o[i].cnt,
			   (unsigned long long)o[i].shifted_cnt, o[i].median_ns < 0 ? "-" : "+",
			   buf_str(&b));
		put_frame(out, c, o[i].client);
		buf_puts(out, "-> ");
		put_frame(out, c, o[i].server);
		buf_putc(out, '\n');
		buf_free(&b);
	}
	free(o);
}

void critical_print_hints(const struct ccct *c, uint64_t top, struct buf *out)
{
	size_t cnt;
	struct hint *h = opportunity_hints(c, &cnt);

	if (cnt)
		buf_puts(out, "\n     share  hint (what two calls share, no trace can tell)\n");
	for (size_t i = 0; i < cnt && i < top; i++)
		put_hint(out, c, &h[i]);
	free(h);
	print_clocks(c, top, out);
}

static void json_path(struct json *j, const char *key, const struct ccct *c, uint32_t path)
{
	struct buf name = { 0 };

	ccct__put_path(c, path, ";", &name);
	json_str(j, key, buf_str(&name));
	buf_free(&name);
}

void critical_json_hints(const struct ccct *c, struct json *j)
{
	size_t cnt;
	struct hint *h = opportunity_hints(c, &cnt);
	struct clock_offset *o;

	json_begin_array(j, "hints");
	for (size_t i = 0; i < cnt; i++) {
		json_begin_object(j, NULL);
		json_str(j, "kind", hint_names[h[i].kind]);
		json_path(j, "path", c, h[i].path);
		if (h[i].kind == HINT_SERIAL)
			json_path(j, "other", c, h[i].other);
		json_f64(j, "share", h[i].share);
		json_u64(j, "count", h[i].cnt);
		json_end_object(j);
	}
	json_end_array(j);
	free(h);
	o = opportunity_clocks(c, &cnt);
	json_begin_array(j, "clock_offsets");
	for (size_t i = 0; i < cnt; i++) {
		json_begin_object(j, NULL);
		json_str(j, "client", strtab_get(&c->strings, c->frames[o[i].client].service_sid));
		json_str(j, "server", strtab_get(&c->strings, c->frames[o[i].server].service_sid));
		json_u64(j, "calls", o[i].cnt);
		json_u64(j, "shifted", o[i].shifted_cnt);
		json_i64(j, "median_ns", o[i].median_ns);
		json_end_object(j);
	}
	json_end_array(j);
	free(o);
}

void critical_print_drag(const struct ccct *c, struct buf *out)
{
	buf_puts(out, "callPath,spanCount,avgDrag_us,totalDrag_us,avgSlack_us,totalSlack_us\n");
	for (size_t i = 0; i < c->fact_cnt; i++) {
		const struct ccct_fact *f = &c->facts[i];
		struct buf name = { 0 };

		if (f->kind != FACT_ROOM)
			continue;
		ccct__put_path(c, f->path, "->", &name);
		buf_putc(out, '"');
		for (const char *s = buf_str(&name); *s; s++) {
			if (*s == '"')
				buf_putc(out, '"');
			buf_putc(out, *s);
		}
		buf_printf(out, "\",%llu,%.3f,%.3f,%.3f,%.3f\n", (unsigned long long)f->cnt,
			   (double)f->ns / 1e3 / (double)f->cnt, (double)f->ns / 1e3,
			   (double)f->more_ns / 1e3 / (double)f->cnt, (double)f->more_ns / 1e3);
		buf_free(&name);
	}
}
