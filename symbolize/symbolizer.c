/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facade: options, processes, and the way from an address to a result. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/addrspace.h"
#include "symbolize/catalog.h"
#include "symbolize/demangle.h"
#include "symbolize/fetcher.h"
#include "symbolize/kernel_names.h"
#include "symbolize/locate.h"
#include "symbolize/mapping.h"
#include "symbolize/symbol_batch.h"
#include "symbolize/stop.h"
#include "symbolize/symbolizer.h"
#include "user/base/hash.h"
#include "user/base/mem.h"

#define FD_MAX_DEFAULT 512

struct symbolizer {
	struct sym_opts opts;
	char *debug_dirs, *kallsyms_path; /* owned copies of what opts points to */
	struct strtab names;
	struct module_env env;
	struct catalog catalog;
	struct addrspace **spaces;
	size_t space_cnt, space_cap;
	struct index space_index; /* by key */
	struct kernel_names kernel;
	struct sym_frame frame;	  /* of the last result */
	struct module *last_file; /* of resolve_file */
	char *last_path;
};

struct symbolizer *symbolizer__new(const struct sym_opts *opts)
{
	struct symbolizer *s = xzalloc(sizeof(*s));

	s->opts = *opts;
	s->debug_dirs = xstrdup(opts->debug_dirs ? opts->debug_dirs : "/usr/lib/debug");
	s->kallsyms_path = xstrdup(opts->kallsyms ? opts->kallsyms : "/proc/kallsyms");
	s->opts.debug_dirs = s->debug_dirs;
	s->opts.kallsyms = s->kallsyms_path;
	s->env = (struct module_env){
		.opts = &s->opts,
		.names = &s->names,
		.host_root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
		.fetcher = opts->debuginfod ? fetcher__new() : NULL,
		.sandbox = opts->sandbox,
	};
	catalog_init(&s->catalog, opts->fd_max ? opts->fd_max : FD_MAX_DEFAULT, &s->env);
	return s;
}

void symbolizer__free(struct symbolizer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->space_cnt; i++)
		addrspace__free(s->spaces[i]);
	free(s->spaces);
	index_free(&s->space_index);
	catalog_fini(&s->catalog);
	kernel_names_free(&s->kernel);
	if (s->env.host_root_fd >= 0)
		close(s->env.host_root_fd);
	fetcher__free(s->env.fetcher);
	strtab_free(&s->names);
	free(s->debug_dirs);
	free(s->kallsyms_path);
	free(s->last_path);
	free(s);
}

void symbolizer__stop_at(struct symbolizer *s, int stop_fd)
{
	s->env.stop_fd = stop_fd;
	if (s->env.fetcher)
		fetcher__stop_at(s->env.fetcher, stop_fd);
	if (s->env.sandbox)
		sandbox_stop_at(s->env.sandbox, stop_fd);
}

static struct addrspace **find_slot(const struct symbolizer *s, uint64_t key)
{
	struct index_iter it = index_find(&s->space_index, hash_u64(key));

	for (; index_hit(&s->space_index, &it); index_next(&s->space_index, &it))
		if (s->spaces[it.elem] && s->spaces[it.elem]->key == key)
			return &s->spaces[it.elem];
	return NULL;
}

static void put_space(struct symbolizer *s, struct addrspace *a)
{
	struct addrspace **slot = find_slot(s, a->key);

	if (slot) {
		addrspace__free(*slot);
		*slot = a;
		return;
	}
	index_add(&s->space_index, hash_u64(a->key), (uint32_t)s->space_cnt);
	s->spaces = xgrow(s->spaces, &s->space_cap, s->space_cnt + 1, sizeof(struct addrspace *));
	s->spaces[s->space_cnt++] = a;
}

/* The process is gone, and its root with it: others have the same files. */
static int root_of_gone(const struct symbolizer *s, const struct maps *maps)
{
	int fd = -1;

	for (size_t i = 0; i < maps->cnt && fd < 0; i++)
		if (maps->entries[i].path[0] == '/' && (maps->entries[i].perms & MAPS_EXEC))
			fd = catalog_root_with(&s->catalog, s->env.host_root_fd, &maps->entries[i]);
	return fd;
}

int symbolizer__add_process(struct symbolizer *s, uint64_t proc_key, pid_t pid,
			    const struct maps *maps, struct err *err)
{
	struct addrspace *a = addrspace__new(proc_key, pid);
	struct maps own = { 0 };
	int rc = maps ? 0 : maps_read(&own, pid, err);

	if (rc)
		a->reason = rc == -ESRCH ? SYM_EXITED : SYM_UNREADABLE;
	addrspace__read_status(a);
	a->root_fd = catalog_root(&s->catalog, pid);
	if (a->root_fd < 0 && maps)
		a->root_fd = root_of_gone(s, maps);
	if (!rc)
		mapping_open_all(a, maps ? maps : &own, &s->catalog, &s->names);
	maps_free(&own);
	put_space(s, a);
	return rc;
}

void symbolizer__add_stored(struct symbolizer *s, uint64_t proc_key, const struct sym_mapping *maps,
			    size_t cnt)
{
	struct addrspace *a = addrspace__new(proc_key, 0);

	a->root_fd = s->env.host_root_fd;
	mapping_open_stored(a, maps, cnt, &s->catalog, &s->names);
	put_space(s, a);
}

bool symbolizer__mapping(const struct symbolizer *s, uint64_t proc_key, size_t i,
			 struct sym_mapping *ret)
{
	struct addrspace **slot = find_slot(s, proc_key);
	const struct region *r;

	if (!slot || !*slot || i >= (*slot)->cnt)
		return false;
	r = &(*slot)->regions[i];
	*ret = (struct sym_mapping){
		.start = r->start,
		.end = r->end,
		.off_bytes = r->off_bytes,
		.path = r->path,
	};
	if (r->module) {
		ret->build_id_bytes = r->module->elf.build_id_bytes;
		memcpy(ret->build_id, r->module->elf.build_id, ret->build_id_bytes);
	}
	return true;
}

void symbolizer__forget(struct symbolizer *s, uint64_t proc_key)
{
	struct addrspace **slot = find_slot(s, proc_key);

	if (!slot)
		return;
	addrspace__free(*slot);
	*slot = NULL;
}

static uint64_t looked_up(uint64_t addr, enum sym_pc pc)
{
	return addr - (pc == SYM_PC_RETURN && addr ? 1 : 0);
}

static void set_reason(struct symbolizer *s, enum sym_reason reason, struct sym_result *ret)
{
	s->frame = (struct sym_frame){ .name = "", .file = "" };
	ret->frames = &s->frame;
	ret->cnt = 1;
	ret->reason = reason;
}

static void set_name(struct symbolizer *s, const char *name, struct sym_result *ret)
{
	s->frame = (struct sym_frame){ .name = name, .file = "" };
	ret->frames = &s->frame;
	ret->cnt = 1;
	ret->reason = SYM_OK;
}

/* Debug information adds inlined functions and lines; the real function keeps the symbol's name, so that it
 * is called the same with and without. */
static bool resolve_lines(struct symbolizer *s, struct module *m, uint64_t file_addr,
			  struct sym_result *ret)
{
	struct sym_frame *frames;
	size_t cnt = module__inlined(m, &s->env, file_addr, &frames);
	const char *name;

	if (!cnt)
		return false;
	name = module__function(m, &s->env, file_addr);
	if (name)
		frames[cnt - 1].name = name;
	ret->frames = frames;
	ret->cnt = cnt;
	return *frames[cnt - 1].name;
}

static enum sym_reason unnamed_reason_of(const struct module *m)
{
	return symfile_is_damaged(&m->counts) ? SYM_HOSTILE : SYM_STRIPPED;
}

/* The file as a whole has no names, or may not be asked any more. */
static bool has_no_names(struct symbolizer *s, struct module *m, uint64_t file_addr,
			 struct sym_result *ret)
{
	if (m->reason)
		set_reason(s, m->reason, ret);
	else if (stop_asked(s->env.stop_fd) && !module__knows(m, &s->env, file_addr))
		set_reason(s, SYM_PENDING, ret);
	else
		return false;
	return true;
}

static void resolve_module(struct symbolizer *s, struct module *m, uint64_t file_addr,
			   struct sym_result *ret)
{
	const char *name;

	if (has_no_names(s, m, file_addr, ret))
		return;
	if (s->opts.lines && resolve_lines(s, m, file_addr, ret))
		return;
	name = module__function(m, &s->env, file_addr);
	if (name) {
		set_name(s, name, ret);
		return;
	}
	if (has_no_names(s, m, file_addr, ret)) /* it was read just now */
		return;
	set_reason(s, unnamed_reason_of(m), ret);
	ret->function_start = module__function_start(m, file_addr);
}

/* Code without a program file behind it may be a JIT compiler's. */
static bool resolve_jit(struct symbolizer *s, struct addrspace *a, uint64_t addr,
			struct sym_result *ret)
{
	const char *name = addrspace__jit_name(a, addr);

	if (!name)
		return false;
	set_name(s, strtab_get(&s->names, strtab_add(&s->names, name)), ret);
	s->frame.jit = true;
	return true;
}

static enum sym_reason unnamed_reason(const struct addrspace *a, const struct region *r)
{
	if (!a || a->reason)
		return a ? a->reason : SYM_EXITED;
	if (!r)
		return SYM_NO_MAPPING;
	if (!r->module)
		return r->reason;
	return r->module->reason ? r->module->reason : SYM_STRIPPED;
}

static bool has_program(const struct region *r)
{
	return r && r->module && !r->module->reason;
}

void symbolizer__resolve_user(struct symbolizer *s, uint64_t proc_key, uint64_t addr,
			      enum sym_pc pc, struct sym_result *ret)
{
	struct addrspace **slot = find_slot(s, proc_key), *a = slot ? *slot : NULL;
	uint64_t at = looked_up(addr, pc), file_addr;
	const struct region *r = a ? addrspace__find(a, at) : NULL;

	*ret = (struct sym_result){ .module = r ? r->path : "" };
	if (has_program(r) &&
	    elf_addr_of_offset(&r->module->elf, at - r->start + r->off_bytes, &file_addr)) {
		resolve_module(s, r->module, file_addr, ret);
		ret->file_addr = file_addr + (addr - at);
		return;
	}
	if (a && resolve_jit(s, a, at, ret))
		return;
	set_reason(s, unnamed_reason(a, r), ret);
}

struct wanted {
	struct module *module;
	uint64_t addr;
};

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->module != y->module)
		return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int compare_modules(const void *a, const void *b)
{
	const struct symbol_batch_module *x = a, *y = b;

	return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : x->module != y->module;
}

/* Files of the one process that is watched may share a worker: it runs the code of all of them. */
static void mark_together(const struct symbolizer *s, struct symbol_batch_module *modules,
			  size_t cnt)
{
	const struct addrspace *a = s->opts.one_process && s->space_cnt ? s->spaces[0] : NULL;

	for (size_t i = 0; a && i < a->cnt; i++) {
		const struct symbol_batch_module key = { .module = a->regions[i].module };
		struct symbol_batch_module *m =
			bsearch(&key, modules, cnt, sizeof(*modules), compare_modules);

		if (m)
			m->together = true;
	}
}

/* What lies in files, sorted, each once. */
static size_t collect(struct symbolizer *s, const struct sym_query *queries, size_t cnt,
		      struct wanted *wanted)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct addrspace **slot = find_slot(s, queries[i].proc_key);
		uint64_t at = looked_up(queries[i].addr, queries[i].pc);
		const struct region *r = slot ? addrspace__find(*slot, at) : NULL;

		if (!has_program(r) ||
		    !elf_addr_of_offset(&r->module->elf, at - r->start + r->off_bytes,
					&wanted[n].addr))
			continue;
		wanted[n++].module = r->module;
	}
	if (n)
		qsort(wanted, n, sizeof(*wanted), compare_wanted);
	for (size_t i = 0; i < n; i++)
		if (!kept || compare_wanted(&wanted[i], &wanted[kept - 1]))
			wanted[kept++] = wanted[i];
	return kept;
}

/* wanted is sorted: a module's addresses stand together, and are copied to addrs. */
static size_t group(const struct wanted *wanted, size_t cnt, uint64_t *addrs,
		    struct symbol_batch_module *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		addrs[i] = wanted[i].addr;
		if (!i || wanted[i].module != wanted[i - 1].module)
			ret[n++] = (struct symbol_batch_module){ .module = wanted[i].module,
								 .addrs = addrs + i };
		ret[n - 1].addr_cnt++;
	}
	return n;
}

static void prepare_kernel(struct symbolizer *s, const struct sym_query *queries, size_t cnt)
{
	uint64_t *wanted = xcalloc(cnt + 1, sizeof(*wanted));

	for (size_t i = 0; i < cnt; i++)
		wanted[i] = looked_up(queries[i].addr, queries[i].pc);
	kernel_names_prepare(&s->kernel, &s->opts, wanted, cnt);
}

/* Questions are on their way while the kernel's symbols are read. */
void symbolizer__prepare(struct symbolizer *s, const struct sym_query *user, size_t user_cnt,
			 const struct sym_query *kernel, size_t kernel_cnt)
{
	struct wanted *wanted = xcalloc(user_cnt + 1, sizeof(*wanted));
	size_t cnt = collect(s, user, user_cnt, wanted), module_cnt;
	uint64_t *addrs = xcalloc(cnt + 1, sizeof(*addrs));
	struct symbol_batch_module *modules = xcalloc(cnt + 1, sizeof(*modules));
	struct symbol_batch *batch = xcalloc(1, sizeof(*batch));

	module_cnt = group(wanted, cnt, addrs, modules);
	mark_together(s, modules, module_cnt);
	symbol_batch_start(batch, &s->env, modules, module_cnt);
	prepare_kernel(s, kernel, kernel_cnt);
	if (s->opts.kernel_done)
		s->opts.kernel_done(s->opts.kernel_ctx);
	symbol_batch_finish(batch);
	for (size_t i = 0; i < module_cnt; i++)
		module__prepare(modules[i].module, &s->env, modules[i].addrs, modules[i].addr_cnt);
	free(batch);
	free(modules);
	free(addrs);
	free(wanted);
}

void symbolizer__prepare_user(struct symbolizer *s, const struct sym_query *queries, size_t cnt)
{
	symbolizer__prepare(s, queries, cnt, NULL, 0);
}

void symbolizer__resolve_kernel(struct symbolizer *s, uint64_t addr, enum sym_pc pc,
				struct sym_result *ret)
{
	uint64_t at = looked_up(addr, pc);
	const char *name, *owner = "";

	kernel_names_read(&s->kernel, &s->opts, at);
	*ret = (struct sym_result){ .module = "[kernel]" };
	if (s->kernel.kallsyms.reason) {
		set_reason(s, s->kernel.kallsyms.reason, ret);
		return;
	}
	name = kernel_names_find(&s->kernel, &s->opts, &s->names, at, &owner);
	if (*owner)
		ret->module = owner;
	if (name)
		set_name(s, name, ret);
	else
		set_reason(s, SYM_KERNEL, ret);
}

/* Questions about one file come in long rows: the last one is remembered. */
static struct module *module_of_file(struct symbolizer *s, const char *path,
				     enum sym_reason *reason)
{
	char *absolute;
	int fd;

	*reason = SYM_OK;
	if (s->last_file && !strcmp(s->last_path, path))
		return s->last_file;
	fd = locate_open_named(path);
	if (fd < 0) {
		*reason = fd == -ENOENT ? SYM_DELETED : SYM_UNREADABLE;
		return NULL;
	}
	absolute = realpath(path, NULL);
	s->last_file =
		catalog_module(&s->catalog, fd, absolute ? absolute : path, s->env.host_root_fd);
	free(absolute);
	free(s->last_path);
	s->last_path = xstrdup(path);
	return s->last_file;
}

void symbolizer__resolve_file(struct symbolizer *s, const char *path, uint64_t addr, enum sym_pc pc,
			      struct sym_result *ret)
{
	enum sym_reason reason;
	struct module *m = module_of_file(s, path, &reason);

	*ret = (struct sym_result){ .module = path, .file_addr = addr };
	if (m)
		resolve_module(s, m, looked_up(addr, pc), ret);
	else
		set_reason(s, reason, ret);
}

void symbolizer__prepare_file(struct symbolizer *s, const char *path, const uint64_t *addrs,
			      size_t cnt, enum sym_pc pc)
{
	enum sym_reason reason;
	struct module *m = module_of_file(s, path, &reason);
	uint64_t *at = xcalloc(cnt + 1, sizeof(*at));

	for (size_t i = 0; i < cnt; i++)
		at[i] = looked_up(addrs[i], pc);
	if (m && !m->reason)
		module__prepare(m, &s->env, at, cnt);
	free(at);
}

enum sym_reason symbolizer__functions(struct symbolizer *s, const char *path, const uint64_t *addrs,
				      size_t cnt, enum sym_pc pc, uint32_t *ret)
{
	enum sym_reason reason;
	struct module *m = module_of_file(s, path, &reason);
	uint64_t *at;

	memset(ret, 0, cnt * sizeof(*ret));
	if (!m)
		return reason;
	if (pc == SYM_PC_EXACT) {
		module__functions(m, &s->env, addrs, cnt, ret);
		return m->reason ? m->reason : unnamed_reason_of(m);
	}
	at = xcalloc(cnt + 1, sizeof(*at));
	for (size_t i = 0; i < cnt; i++)
		at[i] = looked_up(addrs[i], pc);
	module__functions(m, &s->env, at, cnt, ret);
	free(at);
	return m->reason ? m->reason : unnamed_reason_of(m);
}

const char *symbolizer__function_name(const struct symbolizer *s, uint32_t number)
{
	return s->last_file->names[number - 1];
}

void symbolizer__why_file(struct symbolizer *s, const char *path, uint64_t addr, struct buf *out)
{
	enum sym_reason reason;
	struct module *m = module_of_file(s, path, &reason);
	struct sym_result result;

	symbolizer__resolve_file(s, path, addr, SYM_PC_EXACT, &result);
	if (m)
		module__why(m, out);
	buf_printf(out, "result: %s\n",
		   result.reason ? sym_reason_name(result.reason) : result.frames->name);
}

void symbolizer__tried_user(const struct symbolizer *s, uint64_t proc_key, uint64_t addr,
			    struct buf *out)
{
	struct addrspace **slot = find_slot(s, proc_key), *a = slot ? *slot : NULL;
	const struct region *r = a ? addrspace__find(a, addr) : NULL;

	if (!r)
		return;
	if (r->module) {
		module__why(r->module, out);
		return;
	}
	buf_puts(out, r->trail);
	addrspace__why_jit(a, out);
}

void symbolizer__why_user(struct symbolizer *s, uint64_t proc_key, uint64_t addr, struct buf *out)
{
	struct addrspace **slot = find_slot(s, proc_key), *a = slot ? *slot : NULL;
	const struct region *r = a ? addrspace__find(a, addr) : NULL;
	struct sym_result result;

	symbolizer__resolve_user(s, proc_key, addr, SYM_PC_EXACT, &result);
	if (!a)
		buf_puts(out, "process: not known\n");
	else if (a->reason)
		buf_printf(out, "process %d: %s\n", (int)a->pid, sym_reason_name(a->reason));
	if (r) {
		buf_printf(out, "mapping %" PRIx64 "-%" PRIx64 " at offset 0x%" PRIx64 ": %s%s\n",
			   r->start, r->end, r->off_bytes, *r->path ? r->path : "anonymous",
			   r->remapped ? " (its code was copied to anonymous memory)" : "");
		buf_puts(out, r->trail);
		if (r->module)
			module__why(r->module, out);
	} else if (a) {
		buf_puts(out, "mapping: none covers the address\n");
	}
	if (a)
		addrspace__why_jit(a, out);
	buf_printf(out, "result: %s\n",
		   result.reason ? sym_reason_name(result.reason) : result.frames->name);
}

void symbolizer__why_kernel(struct symbolizer *s, uint64_t addr, struct buf *out)
{
	struct sym_result result;

	symbolizer__resolve_kernel(s, addr, SYM_PC_EXACT, &result);
	buf_printf(out, "%s: %zu lines, %zu not understood\n", s->opts.kallsyms,
		   s->kernel.kallsyms.line_cnt, s->kernel.kallsyms.skipped_cnt);
	if (s->kernel.kallsyms.reason == SYM_KPTR)
		buf_puts(out, "every address in it is hidden: be root, or lower "
			      "/proc/sys/kernel/kptr_restrict\n");
	buf_printf(out, "result: %s\n",
		   result.reason ? sym_reason_name(result.reason) : result.frames->name);
}
