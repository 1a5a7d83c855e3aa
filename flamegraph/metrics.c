/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that fits, and numbers; see metrics.h. */
#include "flamegraph/metrics.h"

#include <math.h>
#include <string.h>

#include "user/base/escape.h"
#include "user/base/num.h"

/* Advance widths of ASCII 0x20..0x7e in 1/100 em: for each character the larger of what wide sans fonts
 * (the Verdana and DejaVu Sans families) need. */
static const unsigned char advance_pct[95] = {
	40,  46, 47, 84, 66, 109, 80, 30,  47, 47, 66, 84, 40, 48, 40, 48, /*   ! .. / */
	66,  66, 66, 66, 66, 66,  66, 66,  66, 66, 47, 47, 84, 84, 84, 57, /* 0 .. ? */
	102, 70, 70, 72, 79, 66,  60, 80,  78, 44, 48, 72, 58, 88, 77, 80, /* @ .. O */
	62,  80, 72, 70, 64, 75,  71, 101, 71, 64, 71, 47, 48, 47, 84, 66, /* P .. _ */
	66,  63, 65, 57, 65, 63,  38, 65,  66, 30, 36, 61, 30, 99, 66, 64, /* ` .. o */
	65,  65, 45, 55, 42, 66,  62, 84,  62, 62, 55, 66, 48, 66, 84,	   /* p .. ~ */
};

static double advance_em(uint32_t cp, bool mono)
{
	if (cp >= 0x1100)
		return cp >= 0x1f000 ? 1.4 : 1.05;
	if (mono)
		return 0.625;
	return cp >= 0x20 && cp < 0x7f ? advance_pct[cp - 0x20] / 100.0 : 0.9;
}

size_t flame_name_len(const char *name, size_t len_bytes)
{
	const char *tail = name + len_bytes - 4;

	if (len_bytes >= 4 && tail[0] == '_' && tail[1] == '[' && tail[3] == ']' &&
	    strchr("kwijp", tail[2]) && tail[2])
		return len_bytes - 4;
	return len_bytes;
}

/* The length of the longest head of the name that is not wider than max_px, and its width. */
static size_t head_bytes(const char *name, size_t len_bytes, double max_px, double *used_px,
			 const struct flame_opts *o)
{
	bool mono = strcasestr(o->font_type, "mono") || strcasestr(o->font_type, "courier");
	size_t at = 0;

	while (at < len_bytes) {
		size_t step_bytes;
		uint32_t cp = utf8_decode(name + at, len_bytes - at, &step_bytes);
		double px = advance_em(cp, mono) * o->font_size_px * (o->font_width_em / 0.59);

		if (*used_px + px > max_px)
			break;
		*used_px += px;
		at += step_bytes;
	}
	return at;
}

double flame_text_px(const char *text, size_t len_bytes, const struct flame_opts *o)
{
	double used_px = 0;

	head_bytes(text, len_bytes, INFINITY, &used_px, o);
	return used_px;
}

static void put_visible(struct buf *out, const char *s, size_t len_bytes)
{
	size_t from = 0;

	for (size_t i = 0; i < len_bytes; i++) {
		if (s[i] != '\n' && s[i] != '\r')
			continue;
		escape_xml(out, s + from, i - from);
		buf_put_utf8(out, s[i] == '\n' ? 0x2424 : 0x240d);
		from = i + 1;
	}
	escape_xml(out, s + from, len_bytes - from);
}

void flame_put_fitting(struct buf *out, const char *name, size_t len_bytes, double width_px,
		       const struct flame_opts *o)
{
	size_t full_bytes = flame_name_len(name, len_bytes);
	size_t fit_bytes;
	double used_px = 0;

	if (width_px < 3 * o->font_size_px * o->font_width_em)
		return;
	width_px -= 6; /* three pixels on either side */
	fit_bytes = head_bytes(name, full_bytes, width_px, &used_px, o);
	if (fit_bytes == full_bytes) {
		put_visible(out, name, full_bytes);
		return;
	}
	used_px = 0;
	fit_bytes = head_bytes(name, full_bytes, width_px - 0.9 * o->font_size_px, &used_px, o);
	if (!fit_bytes)
		return;
	put_visible(out, name, fit_bytes);
	buf_puts(out, "..");
}

void flame_put_name(struct buf *out, const char *name, size_t len_bytes)
{
	size_t full_bytes = flame_name_len(name, len_bytes);
	size_t cut_bytes = full_bytes;

	if (cut_bytes > FLAME_NAME_MAX_BYTES) {
		cut_bytes = FLAME_NAME_MAX_BYTES;
		while (cut_bytes > FLAME_NAME_MAX_BYTES - 4 &&
		       ((unsigned char)name[cut_bytes] & 0xc0) == 0x80)
			cut_bytes--;
	}
	put_visible(out, name, cut_bytes);
	if (cut_bytes < full_bytes)
		buf_printf(out, "... [%zu bytes]", full_bytes);
}

static void put_number(struct buf *out, double v)
{
	if (v < 0) {
		buf_putc(out, '-');
		v = -v;
	}
	if (v < 1e15 && v == floor(v))
		buf_put_grouped(out, (uint64_t)v);
	else if (v >= 1e15)
		buf_printf(out, "%.15g", v);
	else if (v >= 1000)
		buf_printf(out, "%.3f", v);
	else
		buf_printf(out, "%.4g", v);
}

void flame_put_value(struct buf *out, double weight, const struct flame_opts *o)
{
	double v = weight * o->factor;
	bool small = fabs(v) < 9e18;

	if (v < 0 && o->unit != FLAME_UNIT_COUNT)
		buf_putc(out, '-');
	if (o->unit == FLAME_UNIT_NS && small)
		buf_put_duration(out, (uint64_t)(fabs(v) + 0.5));
	else if (o->unit == FLAME_UNIT_BYTES && small)
		buf_put_size(out, (uint64_t)(fabs(v) + 0.5));
	else
		put_number(out, o->unit == FLAME_UNIT_COUNT ? v : fabs(v));
	if (o->unit == FLAME_UNIT_COUNT) {
		buf_putc(out, ' ');
		escape_xml(out, o->count_name, strlen(o->count_name));
	}
}

void flame_put_fixed1(struct buf *out, double v)
{
	int64_t tenths = llround(v * 10);

	if (tenths < 0) {
		buf_putc(out, '-');
		tenths = -tenths;
	}
	buf_put_u64(out, (uint64_t)tenths / 10);
	buf_putc(out, '.');
	buf_putc(out, (char)('0' + tenths % 10));
}

void flame_put_share(struct buf *out, double part, double whole)
{
	buf_printf(out, "%.2f%%", 100 * part / whole);
}
