/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/debugfile.h"
#include "symbolize/demangle.h"
#include "symbolize/dwarf_names.h"
#include "symbolize/module.h"
#include "user/base/mem.h"

static struct module *module_new(const char *path, int root_fd)
{
	struct module *m = xzalloc(sizeof(*m));

	m->path = xstrdup(path);
	m->fd = m->debug_fd = m->alt_fd = -1;
	m->root_fd = root_fd;
	return m;
}

static void read_structure(struct module *m, const struct image *image)
{
	int rc = elf_open(&m->elf, image);

	if (rc) {
		m->reason = SYM_UNREADABLE;
		buf_puts(&m->trail, "file: not a 64-bit little-endian ELF file\n");
	}
}

struct module *module__new(int fd, const char *path, int root_fd)
{
	struct module *m = module_new(path, root_fd);
	struct image image;
	int rc = image_from_fd(&image, fd);

	m->fd = fd;
	if (!rc) {
		read_structure(m, &image);
	} else {
		m->reason = SYM_UNREADABLE;
		buf_printf(&m->trail, "file: %s\n", strerror(-rc));
	}
	return m;
}

struct module *module__new_mem(const void *data, uint64_t size_bytes, const char *path)
{
	struct module *m = module_new(path, -1);
	struct image image;

	image_from_mem(&image, data, size_bytes);
	read_structure(m, &image);
	return m;
}

static void close_debug(struct module *m)
{
	dwarf_names__close(m->dwarf);
	m->dwarf = NULL;
	elf_close(&m->debug);
	if (m->debug_fd >= 0)
		close(m->debug_fd);
	if (m->alt_fd >= 0)
		close(m->alt_fd);
	m->debug_fd = m->alt_fd = -1;
}

void module__free(struct module *m)
{
	if (!m)
		return;
	close_debug(m);
	elf_close(&m->elf);
	if (m->fd >= 0)
		close(m->fd);
	symtab_free(&m->table);
	free(m->names);
	free(m->path);
	free(m->debug_path);
	buf_free(&m->trail);
	free(m);
}

/* A separate debug file is looked for when the file itself lacks what was asked for. */
static bool wants_debug_file(const struct module *m, const struct module_env *env)
{
	const Elf64_Shdr *symtab = elf_section_by_type(&m->elf, SHT_SYMTAB);

	if (m->fd < 0)
		return false;
	return !symtab || (env->opts->lines && !elf_has_debug_info(&m->elf));
}

void module__load(struct module *m, const struct module_env *env)
{
	if (m->loaded || m->reason)
		return;
	m->loaded = true;
	if (wants_debug_file(m, env))
		debugfile_find(m, env);
	symfile_read(&m->elf, m->debug_fd >= 0 ? &m->debug : NULL, &m->table, &m->counts);
	m->names = xcalloc(m->table.ranges.cnt + 1, sizeof(*m->names));
	if (!env->opts->lines)
		close_debug(m);
}

void module__close_files(struct module *m, const struct module_env *env)
{
	module__load(m, env);
	if (m->fd < 0)
		return;
	close_debug(m);
	close(m->fd);
	m->fd = -1;
	m->dwarf_tried = true;
	image_from_mem(&m->elf.image, NULL, 0);
	buf_puts(&m->trail, "file: closed early, too many files were open\n");
}

static const char *readable_name(const struct module_env *env, const char *name)
{
	struct buf text = { 0 };
	uint32_t id;

	if (env->opts->no_demangle)
		buf_append(&text, name,
			   env->opts->keep_suffixes ? strlen(name) : demangle_stem_bytes(name));
	else
		demangle(&text, name, !env->opts->keep_suffixes);
	id = strtab_addn(env->names, buf_str(&text), text.len_bytes);
	buf_free(&text);
	return strtab_get(env->names, id);
}

const char *module__function(struct module *m, const struct module_env *env, uint64_t file_addr)
{
	const struct range *r;
	size_t at;

	module__load(m, env);
	r = symtab_find(&m->table, file_addr);
	if (!r)
		return NULL;
	at = (size_t)(r - m->table.ranges.items);
	if (!m->names[at])
		m->names[at] = readable_name(env, symtab_name(&m->table, r));
	return m->names[at];
}

static void open_dwarf(struct module *m, const struct module_env *env)
{
	const struct dwarf_opts opts = {
		.no_demangle = env->opts->no_demangle,
		.keep_suffixes = env->opts->keep_suffixes,
		.strings = env->names,
	};
	bool own = elf_has_debug_info(&m->elf);
	const struct elf *e = own ? &m->elf : &m->debug;
	int fd = own ? m->fd : m->debug_fd;

	m->dwarf_tried = true;
	if (fd < 0 || !elf_has_debug_info(e))
		return;
	m->alt_fd = debugfile_find_alt(m, env, e);
	m->dwarf = dwarf_names__open(fd, m->alt_fd, &opts);
	if (!m->dwarf)
		buf_puts(&m->trail, "debug information: damaged\n");
}

size_t module__inlined(struct module *m, const struct module_env *env, uint64_t file_addr,
		       struct sym_frame **ret)
{
	module__load(m, env);
	if (!m->dwarf_tried)
		open_dwarf(m, env);
	return m->dwarf ? dwarf_names__find(m->dwarf, file_addr, ret) : 0;
}

static void put_dwarf(const struct module *m, struct buf *out)
{
	size_t unit_cnt, missing_cnt;

	if (!m->dwarf)
		return;
	dwarf_names__count(m->dwarf, &unit_cnt, &missing_cnt);
	buf_printf(out, "debug information: %zu units, %zu .dwo files missing so far\n", unit_cnt,
		   missing_cnt);
}

static void put_count(struct buf *out, const char *source, int cnt)
{
	if (cnt >= 0)
		buf_printf(out, "%s: %d functions\n", source, cnt);
	else
		buf_printf(out, "%s: %s\n", source, cnt == -ENOENT ? "none" : "damaged");
}

void module__why(const struct module *m, struct buf *out)
{
	buf_append(out, buf_str(&m->trail), m->trail.len_bytes);
	if (!m->loaded)
		return;
	put_count(out, ".symtab", m->counts.symtab);
	put_count(out, "debug file's .symtab", m->counts.debug_symtab);
	put_count(out, ".dynsym", m->counts.dynsym);
	put_count(out, ".gnu_debugdata", m->counts.minidebug);
	put_count(out, "PLT stubs", m->counts.plt);
	put_dwarf(m, out);
	if (m->counts.dropped_cnt)
		buf_printf(out, "beyond the limit: %zu symbols\n", m->counts.dropped_cnt);
}
