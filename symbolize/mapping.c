/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/locate.h"
#include "symbolize/mapping.h"
#include "user/base/mem.h"

#define NEIGHBOURS_MAX 8 /* mappings looked at on either side of remapped text */

struct opening {
	struct addrspace *space;
	const struct maps *maps;
	struct catalog *catalog;
	struct strtab *names;
};

static const char *intern(const struct opening *o, const char *text)
{
	return strtab_get(o->names, strtab_add(o->names, text));
}

/* What is past cannot be opened by its process; its path need not lead to it from here, or not any more, but others may
 * have mapped it before. */
static struct module *file_of_past(const struct opening *o, const struct maps_entry *e,
				   struct region *r, struct buf *trail)
{
	struct module *m = e->past ? catalog_find_mapped(o->catalog, e) : NULL;

	if (m) {
		buf_puts(trail, "same device and inode as a file that was opened before\n");
		r->reason = SYM_OK;
	}
	return m;
}

static struct module *open_file(const struct opening *o, const struct maps_entry *e,
				struct region *r)
{
	struct buf trail = { 0 };
	int fd = locate_open_mapped(o->space->pid, o->space->root_fd, e, &r->reason, &trail);
	struct module *m = fd < 0 ? file_of_past(o, e, r, &trail) : NULL;

	r->trail = intern(o, buf_str(&trail));
	buf_free(&trail);
	if (fd >= 0) {
		m = catalog_module(o->catalog, fd, r->path, o->space->root_fd);
		if (!e->past) /* else it was found by its path, which is not certain enough for others */
			catalog_note_mapped(o->catalog, e, m);
	}
	return m;
}

/* Whether neighbour n of anonymous entry e belongs to a program whose code reaches over e. */
static bool covers(const struct opening *o, const struct maps_entry *n, const struct maps_entry *e,
		   struct region *r)
{
	struct region probe = { .path = n->path };
	struct module *m = n->inode && n->path[0] == '/' ? open_file(o, n, &probe) : NULL;
	uint64_t addr, first, last;
	bool found = false;

	if (m && !m->reason && elf_addr_of_offset(&m->elf, n->off_bytes, &addr)) {
		first = e->start - n->start + addr;
		last = e->end - 1 - n->start + addr;
		found = elf_code_pages(&m->elf, first, last, &r->off_bytes);
	}
	if (found) {
		r->module = m;
		r->path = intern(o, n->path);
		r->remapped = true;
		r->reason = SYM_OK;
	}
	return found;
}

static void find_original(const struct opening *o, size_t at, struct region *r)
{
	const struct maps_entry *e = &o->maps->entries[at];

	for (size_t i = 1; i <= NEIGHBOURS_MAX; i++)
		if ((i <= at && covers(o, e - i, e, r)) ||
		    (at + i < o->maps->cnt && covers(o, e + i, e, r)))
			return;
}

static void add_entry(const struct opening *o, size_t at)
{
	const struct maps_entry *e = &o->maps->entries[at];
	struct region r = {
		.start = e->start,
		.end = e->end,
		.off_bytes = e->off_bytes,
		.path = intern(o, e->path),
		.trail = "",
		.reason = SYM_ANONYMOUS,
	};

	if (!strcmp(e->path, "[vdso]")) {
		r.module = catalog_vdso(o->catalog);
		r.off_bytes = 0;
	} else if (e->inode) {
		r.module = open_file(o, e, &r);
	}
	if (!r.module || r.module->reason)
		find_original(o, at, &r);
	addrspace__add(o->space, &r);
}

void mapping_open_all(struct addrspace *a, const struct maps *maps, struct catalog *c,
		      struct strtab *names)
{
	const struct opening o = { a, maps, c, names };
	size_t cnt = 0;

	for (size_t i = 0; i < maps->cnt; i++)
		cnt += (maps->entries[i].perms & MAPS_EXEC) != 0;
	addrspace__reserve(a, cnt);
	for (size_t i = 0; i < maps->cnt; i++)
		if (maps->entries[i].perms & MAPS_EXEC)
			add_entry(&o, i);
}

static const char *intern_path(const struct opening *o, const char *path, const char *outcome)
{
	char *text = xasprintf("path %s: %s\n", path, outcome);
	const char *interned = intern(o, text);

	free(text);
	return interned;
}

static struct module *open_stored(const struct opening *o, const struct sym_mapping *m,
				  struct region *r)
{
	struct module *module;
	int fd;

	if (!strcmp(m->path, "[vdso]"))
		return catalog_vdso(o->catalog);
	if (m->path[0] != '/') {
		r->reason = SYM_ANONYMOUS;
		return NULL;
	}
	fd = locate_open_in_root(o->space->root_fd, m->path);
	if (fd < 0) {
		r->trail = intern_path(o, m->path, strerror(-fd));
		r->reason = fd == -ENOENT ? SYM_DELETED : SYM_UNREADABLE;
		return NULL;
	}
	module = catalog_module(o->catalog, fd, r->path, o->space->root_fd);
	if (!m->build_id_bytes || (module->elf.build_id_bytes == m->build_id_bytes &&
				   !memcmp(module->elf.build_id, m->build_id, m->build_id_bytes)))
		return module;
	r->trail = intern_path(o, m->path, "another build-id than the one recorded");
	r->reason = SYM_REPLACED;
	return NULL;
}

static int compare_starts(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void mapping_open_stored(struct addrspace *a, const struct sym_mapping *maps, size_t cnt,
			 struct catalog *c, struct strtab *names)
{
	const struct opening o = { a, NULL, c, names };

	addrspace__reserve(a, cnt);
	for (size_t i = 0; i < cnt; i++) {
		const struct sym_mapping *m = &maps[i];
		struct region r = {
			.start = m->start,
			.end = m->end,
			.off_bytes = m->off_bytes,
			.path = intern(&o, m->path),
			.trail = "",
		};

		r.module = open_stored(&o, m, &r);
		addrspace__add(a, &r);
	}
	if (a->cnt)
		qsort(a->regions, a->cnt, sizeof(*a->regions), compare_starts);
}
