/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/debugfile.h"
#include "symbolize/demangle.h"
#include "symbolize/dwarf_names.h"
#include "symbolize/locate.h"
#include "symbolize/module.h"
#include "symbolize/remote_symbols.h"
#include "symbolize/stop.h"
#include "user/base/mem.h"

/* Who has asked for this part of a file's names gets all of them: each question costs a process. */
#define ALL_NAMES_FROM REMOTE_SYMBOLS_PER_ADDR

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

static void read_content_stamp(int fd, uint64_t *size_bytes, uint64_t *mtime_ns)
{
	struct stat st = { 0 };

	fstat(fd, &st);
	*size_bytes = (uint64_t)st.st_size;
	*mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
}

/* Names are read later than the file was opened, and somebody may have written another program into it: from there on
 * it says nothing about what was mapped. (That a file was deleted or renamed changes its status, but no content.) */
static bool was_rewritten(struct module *m)
{
	uint64_t size_bytes, mtime_ns;

	if (m->fd < 0)
		return false;
	read_content_stamp(m->fd, &size_bytes, &mtime_ns);
	if (size_bytes == m->size_bytes && mtime_ns == m->mtime_ns)
		return false;
	m->reason = SYM_REPLACED;
	buf_puts(&m->trail, "file: written to since it was opened\n");
	return true;
}

struct module *module__new(int fd, const char *path, int root_fd)
{
	struct module *m = module_new(path, root_fd);
	struct image image;
	int rc = image_from_fd(&image, fd);

	m->fd = fd;
	read_content_stamp(fd, &m->size_bytes, &m->mtime_ns);
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
	lines_cache_free(&m->lines);
	free(m->names);
	starts_free(&m->starts);
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

/* Leaves nothing in r but the names. */
static void take_symbols(struct module *m, struct remote_symbols *r)
{
	if (r->rc) {
		m->reason = SYM_HOSTILE;
		buf_puts(&m->trail, "symbols: not an ELF file\n");
		return;
	}
	m->table = r->table;
	m->counts = r->counts;
	m->all_named = r->readable;
	r->table = (struct symtab){ 0 };
}

struct remote_style module_style(const struct module_env *env)
{
	return (struct remote_style){
		.no_demangle = env->opts->no_demangle,
		.keep_suffixes = env->opts->keep_suffixes,
	};
}

static int ask_alone(const struct module *m, const struct module_env *env, size_t expected_cnt,
		     struct remote_symbols *ret, struct err *err)
{
	const struct remote_symbols_file file = { .fd = m->fd,
						  .debug_fd = m->debug_fd,
						  .expected_cnt = expected_cnt };
	const struct remote_style style = module_style(env);
	struct sandbox_ticket ticket;
	int rc = remote_symbols_start(env->sandbox, &file, 1, &style, &ticket, err);

	return rc ? rc : remote_symbols_finish(env->sandbox, &ticket, ret, 1, err);
}

static enum sym_reason reason_of(int rc)
{
	if (rc == -ECANCELED)
		return SYM_PENDING;
	return sandbox_blames_file(rc) ? SYM_HOSTILE : SYM_UNREADABLE;
}

static void read_symbols(struct module *m, const struct module_env *env)
{
	struct remote_symbols result = { 0 };
	struct err err = { 0 };
	int rc;

	if (!env->sandbox || m->fd < 0) { /* the vdso is the kernel's */
		symfile_read(&m->elf, m->debug_fd >= 0 ? &m->debug : NULL, &m->table, &m->counts);
		return;
	}
	rc = ask_alone(m, env, m->asked_cnt, &result, &err);
	/* again if it was the sandbox's own fault, since there is another keeper, or if names were what was too much */
	if (rc == -EPIPE || rc == -EAGAIN || (rc == -EPROTO && m->asked_cnt))
		rc = ask_alone(m, env, 0, &result, &err);
	if (rc) {
		m->reason = reason_of(rc);
		buf_printf(&m->trail, "symbols: %s\n", err.msg);
	} else {
		take_symbols(m, &result);
	}
	remote_symbols_free(&result);
}

static void find_debug_file(struct module *m, const struct module_env *env)
{
	m->loaded = true;
	if (wants_debug_file(m, env))
		debugfile_find(m, env);
}

static void symbols_are_there(struct module *m, const struct module_env *env)
{
	m->names = xcalloc(m->table.ranges.cnt + 1, sizeof(*m->names));
	for (size_t i = 0; m->all_named && i < m->table.ranges.cnt; i++)
		m->names[i] = symtab_name(&m->table, &m->table.ranges.items[i]);
	if (!env->opts->lines)
		close_debug(m);
}

void module__load(struct module *m, const struct module_env *env)
{
	if (m->loaded || m->reason || was_rewritten(m))
		return;
	find_debug_file(m, env);
	/* without the debug file that was not waited for the names would be others */
	if (stop_asked(env->stop_fd))
		m->reason = SYM_PENDING;
	else
		read_symbols(m, env);
	symbols_are_there(m, env);
}

bool module__ask(struct module *m, const struct module_env *env, struct remote_symbols_file *file)
{
	if (m->loaded || m->reason || m->fd < 0 || !env->sandbox || stop_asked(env->stop_fd) ||
	    was_rewritten(m))
		return false;
	find_debug_file(m, env);
	file->fd = m->fd;
	file->debug_fd = m->debug_fd;
	return true;
}

void module__close_files(struct module *m, const struct module_env *env)
{
	module__load(m, env);
	if (m->fd < 0)
		return;
	module__function_start(m, 0);
	close_debug(m);
	close(m->fd);
	m->fd = -1;
	m->dwarf_tried = true;
	image_from_mem(&m->elf.image, NULL, 0);
	buf_puts(&m->trail, "file: closed early, too many files were open\n");
}

static const char *keep_name(const struct module_env *env, const char *name, size_t len_bytes)
{
	return strtab_get(env->names, strtab_addn(env->names, name, len_bytes));
}

void module__take(struct module *m, const struct module_env *env, struct remote_symbols *answer,
		  const uint64_t *addrs, size_t cnt)
{
	const char *name = buf_str(&answer->names);
	const struct range *last = NULL;
	size_t left_cnt = answer->name_cnt;

	if (!answer->rc)
		take_symbols(m, answer);
	else
		read_symbols(m, env); /* alone, and its names by a worker of their own */
	symbols_are_there(m, env);
	for (size_t i = 0; i < cnt && left_cnt; i++) {
		const struct range *r = symtab_find(&m->table, addrs[i]);

		if (!r || r == last)
			continue;
		m->names[r - m->table.ranges.items] = keep_name(env, name, strlen(name));
		name += strlen(name) + 1;
		left_cnt--;
		last = r;
	}
}

/* Names of many ranges at once. Plain names need no parser; when the sandbox fails, mangled ones stay as
 * they are. */
static void read_names(struct module *m, const struct module_env *env, const size_t *ranges,
		       size_t cnt)
{
	struct buf raw = { 0 }, out = { 0 };
	const struct remote_style style = module_style(env);
	const char *at;
	size_t mangled_cnt = 0;
	int rc = 0;

	for (size_t i = 0; i < cnt; i++) {
		const char *name = symtab_name(&m->table, &m->table.ranges.items[ranges[i]]);

		if (demangle_is_mangled(name) && !style.no_demangle) {
			buf_append(&raw, name, strlen(name) + 1);
			mangled_cnt++;
		} else {
			m->names[ranges[i]] = keep_name(
				env, name,
				style.keep_suffixes ? strlen(name) : demangle_stem_bytes(name));
		}
	}
	if (mangled_cnt)
		rc = remote_names_or_here(env->sandbox, &style, &raw, mangled_cnt, &out);
	if (rc)
		out = (struct buf){ 0 };
	at = out.len_bytes ? out.data : raw.data;
	for (size_t i = 0; mangled_cnt && rc != -ECANCELED && i < cnt; i++)
		if (!m->names[ranges[i]]) {
			m->names[ranges[i]] = keep_name(env, at, strlen(at));
			at += strlen(at) + 1;
		}
	buf_free(&raw);
	buf_free(&out);
}

bool module__knows(const struct module *m, const struct module_env *env, uint64_t file_addr)
{
	const struct range *r = m->loaded ? symtab_find(&m->table, file_addr) : NULL;

	if (!m->loaded || (env->opts->lines && !lines_cache_has(&m->lines, file_addr)))
		return false;
	return !r || m->names[r - m->table.ranges.items];
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
		read_names(m, env, &at, 1);
	return m->names[at];
}

uint64_t module__function_start(struct module *m, uint64_t file_addr)
{
	uint64_t start;

	if (!m->starts_read)
		starts_read(&m->elf, &m->starts);
	m->starts_read = true;
	start = starts_find(&m->starts, file_addr);
	/* what follows a function with a name is not a part of it */
	return start && !symtab_find(&m->table, start) ? start : 0;
}

/* Where the debug information is, if it is anywhere: *e and a descriptor, or -1. */
static int find_dwarf(struct module *m, const struct module_env *env)
{
	bool own = elf_has_debug_info(&m->elf);
	const struct elf *e = own ? &m->elf : &m->debug;
	int fd = own ? m->fd : m->debug_fd;

	if (fd < 0 || !elf_has_debug_info(e))
		return -1;
	if (!m->dwarf_tried)
		m->alt_fd = debugfile_find_alt(m, env, e);
	m->dwarf_tried = true;
	return fd;
}

static size_t inlined_here(struct module *m, const struct module_env *env, uint64_t file_addr,
			   struct sym_frame **ret)
{
	const struct dwarf_opts opts = {
		.no_demangle = env->opts->no_demangle,
		.keep_suffixes = env->opts->keep_suffixes,
		.strings = env->names,
	};
	bool first = !m->dwarf_tried;
	int fd = find_dwarf(m, env);

	if (first && fd >= 0) {
		m->dwarf = dwarf_names__open(fd, m->alt_fd, &opts);
		if (!m->dwarf)
			buf_puts(&m->trail, "debug information: damaged\n");
	}
	m->dwarf_tried = true;
	return m->dwarf ? dwarf_names__find(m->dwarf, file_addr, ret) : 0;
}

/* Split units lie in the target's file system; nothing else is opened for a file that asks. */
static int open_dwo(void *ctx, const char *path)
{
	const struct module *m = ctx;
	size_t len_bytes = strlen(path);

	if (m->root_fd < 0 || len_bytes < 4 || strcmp(path + len_bytes - 4, ".dwo"))
		return -EACCES;
	return locate_open_in_root(m->root_fd, path);
}

static void ask_lines(struct module *m, const struct module_env *env, const uint64_t *addrs,
		      size_t cnt)
{
	struct remote_lines_query query = {
		.fd = find_dwarf(m, env),
		.alt_fd = m->alt_fd,
		.addrs = addrs,
		.cnt = cnt,
		.style = module_style(env),
		.open_dwo = open_dwo,
		.ctx = m,
	};
	struct remote_lines lines = { 0 };
	struct err err = { 0 };

	if (query.fd >= 0 && !m->lines.failed) {
		query.alt_fd = m->alt_fd;
		m->lines.failed = remote_lines(env->sandbox, &query, &lines, &err);
		if (m->lines.failed)
			buf_printf(&m->trail, "debug information: %s\n", err.msg);
	}
	lines_cache_add(&m->lines, addrs, cnt, lines.starts ? &lines : NULL, env->names);
	remote_lines_free(&lines);
}

size_t module__inlined(struct module *m, const struct module_env *env, uint64_t file_addr,
		       struct sym_frame **ret)
{
	module__load(m, env);
	if (!env->sandbox)
		return inlined_here(m, env, file_addr, ret);
	if (!lines_cache_has(&m->lines, file_addr))
		ask_lines(m, env, &file_addr, 1);
	return lines_cache_find(&m->lines, file_addr, ret);
}

static int compare_addrs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Which ranges hold the addresses: 1 + its place, 0 = none. Returns how many still have no name. */
static size_t find_functions(const struct module *m, const uint64_t *addrs, size_t cnt,
			     uint32_t *ret)
{
	size_t nameless_cnt = 0;

	ranges_find_all(&m->table.ranges, addrs, cnt, ret);
	for (size_t i = 0; !m->all_named && i < cnt; i++)
		nameless_cnt += ret[i] && !m->names[ret[i] - 1];
	return nameless_cnt;
}

static void read_all_names(struct module *m, const struct module_env *env)
{
	size_t *ranges = xcalloc(m->table.ranges.cnt + 1, sizeof(*ranges)), n = 0;

	for (size_t i = 0; i < m->table.ranges.cnt; i++)
		if (!m->names[i])
			ranges[n++] = i;
	m->all_named = true;
	read_names(m, env, ranges, n);
	free(ranges);
}

void module__functions(struct module *m, const struct module_env *env, const uint64_t *addrs,
		       size_t cnt, uint32_t *ret)
{
	size_t *ranges, n = 0, nameless_cnt;

	m->asked_cnt += cnt;
	module__load(m, env);
	nameless_cnt = find_functions(m, addrs, cnt, ret);
	if (!nameless_cnt)
		return;
	if (m->asked_cnt >= m->table.ranges.cnt / ALL_NAMES_FROM) {
		read_all_names(m, env);
		return;
	}
	ranges = xcalloc(nameless_cnt, sizeof(*ranges));
	for (size_t i = 0; i < cnt; i++) {
		if (!ret[i] || m->names[ret[i] - 1])
			continue;
		m->names[ret[i] - 1] = ""; /* it is asked for once */
		ranges[n++] = ret[i] - 1;
	}
	for (size_t i = 0; i < n; i++)
		m->names[ranges[i]] = NULL;
	read_names(m, env, ranges, n);
	free(ranges);
}

static void prepare_names(struct module *m, const struct module_env *env, const uint64_t *addrs,
			  size_t cnt)
{
	uint32_t *functions = xcalloc(cnt, sizeof(*functions));

	module__functions(m, env, addrs, cnt, functions);
	free(functions);
}

static void prepare_lines(struct module *m, const struct module_env *env, const uint64_t *addrs,
			  size_t cnt)
{
	uint64_t *unknown = xcalloc(cnt + 1, sizeof(*unknown));
	size_t n = 0, different = 0;

	for (size_t i = 0; i < cnt; i++)
		if (!lines_cache_has(&m->lines, addrs[i]))
			unknown[n++] = addrs[i];
	if (n)
		qsort(unknown, n, sizeof(*unknown), compare_addrs);
	for (size_t i = 0; i < n; i++)
		if (!different || unknown[different - 1] != unknown[i])
			unknown[different++] = unknown[i];
	if (n)
		ask_lines(m, env, unknown, different);
	free(unknown);
}

void module__prepare(struct module *m, const struct module_env *env, const uint64_t *addrs,
		     size_t cnt)
{
	if (!m->loaded && env->sandbox)
		m->asked_cnt = cnt;
	module__load(m, env);
	if (!env->sandbox || m->reason || !cnt)
		return;
	prepare_names(m, env, addrs, cnt);
	if (env->opts->lines)
		prepare_lines(m, env, addrs, cnt);
}

static void put_dwarf(const struct module *m, struct buf *out)
{
	size_t unit_cnt = m->lines.unit_cnt, missing_cnt = m->lines.missing_cnt;

	if (m->dwarf)
		dwarf_names__count(m->dwarf, &unit_cnt, &missing_cnt);
	if (!unit_cnt)
		return;
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
