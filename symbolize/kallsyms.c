/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
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

void kallsyms_parse(struct kallsyms *k, const char *text, size_t len_bytes)
{
	struct text rest = { text, text + len_bytes }, line;
	struct symtab_builder b = { 0 };
	bool any_addr = false;

	memset(k, 0, sizeof(*k));
	while (text_line(&rest, &line)) {
		struct text type, name;
		uint64_t addr;

		k->line_cnt++;
		if (!text_hex(&line, &addr) || !text_char(&line, ' ') ||
		    (type = text_word(&line), text_len(type) != 1) || !text_char(&line, ' ') ||
		    (name = text_word(&line), !text_len(name))) {
			k->skipped_cnt++;
			continue;
		}
		any_addr |= addr != 0;
		if (addr)
			add_symbol(&b, addr, *type.at, name, parse_owner(&line));
	}
	k->reason = any_addr ? SYM_OK : SYM_KPTR;
	symtab_build(&b, &k->table);
}

void kallsyms_read(struct kallsyms *k, const char *path)
{
	struct buf text = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : text_read_fd(fd, KALLSYMS_TEXT_MAX_BYTES, &text);

	memset(k, 0, sizeof(*k));
	if (!rc)
		kallsyms_parse(k, buf_str(&text), text.len_bytes);
	else
		k->reason = rc == -EACCES || rc == -EPERM ? SYM_KPTR : SYM_UNREADABLE;
	if (fd >= 0)
		close(fd);
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
