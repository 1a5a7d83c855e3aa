/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/kallsyms.h"
#include "symbolize/text.h"
#include "user/base/mem.h"

#define KALLSYMS_TEXT_MAX_BYTES ((size_t)1 << 30)

/* Names that mark the end of a range of code; no function starts there. */
static bool is_end_marker(struct text name)
{
	static const char *const markers[] = { "_etext", "_einittext", "_end", "__end_rodata",
					       "_etext_end" };

	for (size_t i = 0; i < ARRAY_CNT(markers); i++)
		if (strlen(markers[i]) == text_len(name) &&
		    !memcmp(markers[i], name.at, text_len(name)))
			return true;
	return false;
}

/* The owner stands in brackets behind a blank: "[nf_conntrack]". */
static struct text parse_owner(struct text *line)
{
	struct text w;

	text_skip_blanks(line);
	w = text_word(line);
	if (text_len(w) >= 2 && w.at[0] == '[' && w.end[-1] == ']')
		return w;
	return (struct text){ w.at, w.at };
}

/* Text symbols are named, all others only end the one before. */
static void add_symbol(struct symtab_builder *b, uint64_t addr, char type, struct text name,
		       struct text owner)
{
	bool code = memchr("tTwW", type, 4) && !is_end_marker(name);
	struct symtab_symbol symbol = {
		.start = addr,
		.limit = addr + KALLSYMS_FUNCTION_MAX_BYTES,
		.typed = code,
		.binding = type == 'T'			? 0 :
			   (type == 'W' || type == 'w') ? 1 :
							  2,
	};
	char both[1024];
	size_t name_bytes = text_len(name), owner_bytes = text_len(owner);

	if (symbol.limit < addr)
		symbol.limit = UINT64_MAX;
	if (!code)
		name_bytes = owner_bytes = 0;
	if (name_bytes + owner_bytes + 1 > sizeof(both))
		name_bytes = owner_bytes = 0;
	memcpy(both, name.at, name_bytes);
	both[name_bytes] = '\0';
	memcpy(both + name_bytes + 1, owner.at, owner_bytes);
	symtab_add(b, &symbol, both, name_bytes + 1 + owner_bytes);
}

struct entry {
	uint64_t addr;
	char type;
	struct text name, rest;
};

/* False for a line that is not understood. */
static bool parse_line(struct text line, struct entry *e)
{
	struct text type;

	if (!text_hex(&line, &e->addr) || !text_char(&line, ' '))
		return false;
	type = text_word(&line);
	if (text_len(type) != 1 || !text_char(&line, ' '))
		return false;
	e->type = *type.at;
	e->name = text_word(&line);
	e->rest = line;
	return text_len(e->name) > 0;
}

void kallsyms_parse(struct kallsyms *k, const char *text, size_t len_bytes)
{
	struct text rest = { text, text + len_bytes }, line;
	struct symtab_builder b = { 0 };
	bool any_addr = false;

	memset(k, 0, sizeof(*k));
	while (text_line(&rest, &line)) {
		struct entry e;

		k->line_cnt++;
		if (!parse_line(line, &e)) {
			k->skipped_cnt++;
			continue;
		}
		any_addr |= e.addr != 0;
		if (e.addr)
			add_symbol(&b, e.addr, e.type, e.name, parse_owner(&e.rest));
	}
	k->reason = any_addr ? SYM_OK : SYM_KPTR;
	symtab_build(&b, &k->table);
}

/* The lines with the largest address so far that is not above a wanted one. */
struct nearest {
	uint64_t addr;
	struct buf lines;
};

/* Lines of one address count for the first wanted address that is not below it: those after that have nearer ones,
 * or the same. Nearly all lines are in order, so the place of the last one is mostly the next one's. */
struct sieve {
	const uint64_t *wanted;
	size_t cnt, at;
	struct nearest *nearest; /* by wanted address */
	bool any_addr;
};

static size_t place_of(struct sieve *s, uint64_t addr)
{
	size_t low = 0, high = s->cnt;

	if ((!s->at || s->wanted[s->at - 1] < addr) &&
	    (s->at == s->cnt || s->wanted[s->at] >= addr))
		return s->at;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->wanted[mid] < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return s->at = low;
}

static void sift(struct sieve *s, struct text line)
{
	struct nearest *n;
	struct entry e;
	size_t at;

	if (!parse_line(line, &e) || !e.addr)
		return;
	s->any_addr = true;
	at = place_of(s, e.addr);
	if (at == s->cnt || e.addr < s->nearest[at].addr)
		return;
	n = &s->nearest[at];
	if (e.addr > n->addr)
		buf_reset(&n->lines);
	n->addr = e.addr;
	buf_append(&n->lines, line.at, text_len(line));
	buf_putc(&n->lines, '\n');
}

/* Parses what is left, and empties the sieve. */
static void finish(struct sieve *s, struct kallsyms *k)
{
	struct buf lines = { 0 };

	for (size_t i = 0; i < s->cnt; i++) {
		buf_append(&lines, buf_str(&s->nearest[i].lines), s->nearest[i].lines.len_bytes);
		buf_free(&s->nearest[i].lines);
	}
	kallsyms_parse(k, buf_str(&lines), lines.len_bytes);
	k->reason = s->any_addr ? SYM_OK : SYM_KPTR;
	buf_free(&lines);
	free(s->nearest);
}

void kallsyms_parse_near(struct kallsyms *k, const char *text, size_t len_bytes,
			 const uint64_t *wanted, size_t cnt)
{
	struct text rest = { text, text + len_bytes }, line;
	struct sieve s = { .wanted = wanted, .cnt = cnt };

	s.nearest = xcalloc(cnt + 1, sizeof(*s.nearest));
	while (text_line(&rest, &line))
		sift(&s, line);
	finish(&s, k);
}

static int read_text(const char *path, struct buf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : text_read_fd(fd, KALLSYMS_TEXT_MAX_BYTES, text);

	if (fd >= 0)
		close(fd);
	return rc;
}

static enum sym_reason reason_of(int rc)
{
	return rc == -EACCES || rc == -EPERM ? SYM_KPTR : SYM_UNREADABLE;
}

void kallsyms_read(struct kallsyms *k, const char *path)
{
	struct buf text = { 0 };
	int rc = read_text(path, &text);

	memset(k, 0, sizeof(*k));
	if (!rc)
		kallsyms_parse(k, buf_str(&text), text.len_bytes);
	else
		k->reason = reason_of(rc);
	buf_free(&text);
}

void kallsyms_read_near(struct kallsyms *k, const char *path, const uint64_t *wanted, size_t cnt)
{
	struct buf text = { 0 };
	int rc = read_text(path, &text);

	memset(k, 0, sizeof(*k));
	if (!rc)
		kallsyms_parse_near(k, buf_str(&text), text.len_bytes, wanted, cnt);
	else
		k->reason = reason_of(rc);
	buf_free(&text);
}

const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **owner,
			  uint64_t *start)
{
	const struct range *r = symtab_find(&k->table, addr);
	const char *name;

	if (!r)
		return NULL;
	name = symtab_name(&k->table, r);
	if (!*name)
		return NULL;
	*owner = name + strlen(name) + 1;
	*start = r->start;
	return name;
}

void kallsyms_free(struct kallsyms *k)
{
	symtab_free(&k->table);
	memset(k, 0, sizeof(*k));
}
