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
static bool is_end_marker(const struct kallsyms_symbol *s)
{
	static const char *const markers[] = { "_etext", "_einittext", "_end", "__end_rodata",
					       "_etext_end" };

	for (size_t i = 0; i < ARRAY_CNT(markers); i++)
		if (strlen(markers[i]) == s->name_bytes &&
		    !memcmp(markers[i], s->name, s->name_bytes))
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
static void add_symbol(struct symtab_builder *b, const struct kallsyms_symbol *s)
{
	bool code = memchr("tTwW", s->type, 4) && !is_end_marker(s);
	struct symtab_symbol symbol = {
		.start = s->addr,
		.limit = s->addr + KALLSYMS_FUNCTION_MAX_BYTES,
		.typed = code,
		.binding = s->type == 'T'		      ? 0 :
			   (s->type == 'W' || s->type == 'w') ? 1 :
								2,
	};
	char both[1024];
	size_t name_bytes = s->name_bytes, owner_bytes = s->owner_bytes;

	if (symbol.limit < s->addr)
		symbol.limit = UINT64_MAX;
	if (!code)
		name_bytes = owner_bytes = 0;
	if (name_bytes + owner_bytes + 1 > sizeof(both))
		name_bytes = owner_bytes = 0;
	memcpy(both, s->name, name_bytes);
	both[name_bytes] = '\0';
	memcpy(both + name_bytes + 1, s->owner, owner_bytes);
	symtab_add(b, &symbol, both, name_bytes + 1 + owner_bytes);
}

/* False for a line that is not understood. */
static bool parse_line(struct text line, struct kallsyms_symbol *s)
{
	struct text word;

	if (!text_hex(&line, &s->addr) || !text_char(&line, ' '))
		return false;
	word = text_word(&line);
	if (text_len(word) != 1 || !text_char(&line, ' '))
		return false;
	s->type = *word.at;
	word = text_word(&line);
	s->name = word.at;
	s->name_bytes = text_len(word);
	word = parse_owner(&line);
	s->owner = word.at;
	s->owner_bytes = text_len(word);
	return s->name_bytes > 0;
}

void kallsyms_parse(struct kallsyms *k, const char *text, size_t len_bytes)
{
	struct text rest = { text, text + len_bytes }, line;
	struct symtab_builder b = { 0 };
	bool any_addr = false;

	memset(k, 0, sizeof(*k));
	while (text_line(&rest, &line)) {
		struct kallsyms_symbol s;

		k->line_cnt++;
		if (!parse_line(line, &s)) {
			k->skipped_cnt++;
			continue;
		}
		any_addr |= s.addr != 0;
		if (s.addr)
			add_symbol(&b, &s);
	}
	k->reason = any_addr ? SYM_OK : SYM_KPTR;
	symtab_build(&b, &k->table);
}

/* The symbols with the largest address so far that is not above a wanted one: each a struct kallsyms_symbol and its
 * strings. */
struct nearest {
	uint64_t addr;
	struct buf symbols;
};

/* Symbols of one address count for the first wanted address that is not below it: those after that have nearer ones,
 * or the same. Nearly all come in order, so the place of the last one is mostly the next one's. */
struct kallsyms_sieve {
	const uint64_t *wanted;
	size_t cnt, at;
	struct nearest *nearest; /* by wanted address */
	bool any_addr;
};

struct kallsyms_sieve *kallsyms_sieve__new(const uint64_t *wanted, size_t cnt)
{
	struct kallsyms_sieve *s = xzalloc(sizeof(*s));

	s->wanted = wanted;
	s->cnt = cnt;
	s->nearest = xcalloc(cnt + 1, sizeof(*s->nearest));
	return s;
}

static size_t place_of(struct kallsyms_sieve *s, uint64_t addr)
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

void kallsyms_sieve__add(struct kallsyms_sieve *s, const struct kallsyms_symbol *symbol)
{
	struct nearest *n;
	size_t at;

	if (!symbol->addr)
		return;
	s->any_addr = true;
	at = place_of(s, symbol->addr);
	if (at == s->cnt || symbol->addr < s->nearest[at].addr)
		return;
	n = &s->nearest[at];
	if (symbol->addr > n->addr)
		buf_reset(&n->symbols);
	n->addr = symbol->addr;
	buf_append(&n->symbols, symbol, sizeof(*symbol));
	buf_append(&n->symbols, symbol->name, symbol->name_bytes);
	buf_append(&n->symbols, symbol->owner, symbol->owner_bytes);
}

static void add_nearest(const struct nearest *n, struct symtab_builder *b)
{
	struct kallsyms_symbol symbol;

	for (const char *at = n->symbols.data, *end = at + n->symbols.len_bytes; at < end;) {
		memcpy(&symbol, at, sizeof(symbol));
		symbol.name = at + sizeof(symbol);
		symbol.owner = symbol.name + symbol.name_bytes;
		at = symbol.owner + symbol.owner_bytes;
		add_symbol(b, &symbol);
	}
}

void kallsyms_sieve__finish(struct kallsyms_sieve *s, struct kallsyms *k)
{
	struct symtab_builder b = { 0 };

	memset(k, 0, sizeof(*k));
	for (size_t i = 0; i < s->cnt; i++) {
		if (s->nearest[i].symbols.len_bytes)
			add_nearest(&s->nearest[i], &b);
		buf_free(&s->nearest[i].symbols);
	}
	k->reason = s->any_addr ? SYM_OK : SYM_KPTR;
	symtab_build(&b, &k->table);
	free(s->nearest);
	free(s);
}

void kallsyms_parse_near(struct kallsyms *k, const char *text, size_t len_bytes,
			 const uint64_t *wanted, size_t cnt)
{
	struct text rest = { text, text + len_bytes }, line;
	struct kallsyms_sieve *s = kallsyms_sieve__new(wanted, cnt);

	while (text_line(&rest, &line)) {
		struct kallsyms_symbol symbol;

		if (parse_line(line, &symbol))
			kallsyms_sieve__add(s, &symbol);
	}
	kallsyms_sieve__finish(s, k);
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
