/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in columns; see columns_text.h. */
#include "user/cmd/columns_text.h"

#include <string.h>

#include "user/base/escape.h"
#include "user/base/num.h"

enum {
	NAME_MAX_COLS = 40, /* of a caller in a line of several names */
};

static const char ellipsis[] = "\u2026";

size_t text_cols(const char *s, size_t len_bytes)
{
	size_t cols = 0, used_bytes;

	for (; len_bytes; s += used_bytes, len_bytes -= used_bytes, cols++)
		utf8_decode(s, len_bytes, &used_bytes);
	return cols;
}

/* Appends text that is escaped already. */
static void append_cut(struct buf *out, const char *s, size_t len_bytes, size_t cols)
{
	size_t used_bytes;

	if (text_cols(s, len_bytes) <= cols) {
		buf_append(out, s, len_bytes);
		return;
	}
	for (; cols > 1; cols--, s += used_bytes, len_bytes -= used_bytes) {
		utf8_decode(s, len_bytes, &used_bytes);
		buf_append(out, s, used_bytes);
	}
	if (cols)
		buf_puts(out, ellipsis);
}

void put_cut(struct buf *out, const char *s, size_t cols)
{
	struct buf text = { 0 };

	escape_terminal(&text, s, strlen(s));
	append_cut(out, buf_str(&text), text.len_bytes, cols);
	buf_free(&text);
}

static void put_blanks(struct buf *out, size_t cnt)
{
	while (cnt--)
		buf_putc(out, ' ');
}

void put_left(struct buf *out, const char *s, size_t cols)
{
	size_t start = out->len_bytes, used;

	put_cut(out, s, cols);
	used = text_cols(buf_str(out) + start, out->len_bytes - start);
	put_blanks(out, cols > used ? cols - used : 0);
}

void put_right(struct buf *out, const char *s, size_t cols)
{
	size_t used = text_cols(s, strlen(s));

	put_blanks(out, cols > used ? cols - used : 0);
	buf_puts(out, s);
}

void put_duration_right(struct buf *out, uint64_t ns, size_t cols)
{
	struct buf text = { 0 };

	buf_put_duration(&text, ns);
	put_right(out, buf_str(&text), cols);
	buf_free(&text);
}

void put_share(struct buf *out, uint64_t part, uint64_t whole, size_t cols)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;
	struct buf text = { 0 };

	if (!part)
		buf_puts(&text, "0 %");
	else if (percent < 0.01)
		buf_puts(&text, "<0.01 %");
	else
		buf_printf(&text, "%.*f %%",
			   percent < 0.095 ? 2 :
			   percent < 99.95 ? 1 :
					     0,
			   percent);
	put_right(out, buf_str(&text), cols);
	buf_free(&text);
}

void put_bar(struct buf *out, uint64_t part, uint64_t whole, size_t cols)
{
	static const char *const eighths[] = { "",	 "\u258f", "\u258e", "\u258d",
					       "\u258c", "\u258b", "\u258a", "\u2589" };
	size_t n = whole ? (size_t)(8.0 * (double)cols * (double)part / (double)whole + 0.5) : 0;

	if (part && !n)
		n = 1;
	for (; n >= 8; n -= 8)
		buf_puts(out, "\u2588");
	buf_puts(out, eighths[n]);
}

/* Where the kernel part begins; name_cnt if there is none or nothing before it. */
static size_t find_kernel(const char *const *names, size_t name_cnt)
{
	for (size_t i = 1; i < name_cnt; i++)
		if (!strcmp(names[i], "-"))
			return i;
	return name_cnt;
}

/* Every blocked kernel stack ends in schedule() and its wrappers: what called them says more. */
static size_t find_wait(const char *const *names, size_t kernel, size_t name_cnt)
{
	size_t at = name_cnt - 1;

	while (at > kernel + 1 && strstr(names[at], "schedule"))
		at--;
	return at;
}

void put_stack_line(struct buf *out, const char *const *names, size_t name_cnt, size_t cols)
{
	size_t kernel = find_kernel(names, name_cnt), left = cols, used;
	struct buf tail = { 0 }, name = { 0 };

	if (kernel + 1 < name_cnt) {
		buf_puts(&tail, " [");
		put_cut(&tail, names[find_wait(names, kernel, name_cnt)], cols / 3);
		buf_putc(&tail, ']');
		used = text_cols(tail.data, tail.len_bytes);
		left = cols > used ? cols - used : 0;
	}
	for (size_t i = kernel; i > 0; i--) {
		bool first = i == kernel;
		size_t reserve = i > 1 ? 4 : 0; /* " < …" */

		buf_reset(&name);
		buf_puts(&name, first ? "" : " < ");
		put_cut(&name, names[i - 1], first ? left > 4 ? left - 4 : left : NAME_MAX_COLS);
		used = text_cols(name.data, name.len_bytes);
		if (used + reserve > left && !first) {
			buf_printf(out, " < %s", ellipsis);
			break;
		}
		buf_append(out, name.data, name.len_bytes);
		left -= used < left ? used : left;
	}
	buf_append(out, buf_str(&tail), tail.len_bytes);
	buf_free(&tail);
	buf_free(&name);
}
