/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One program, library or vdso: its file, kept open since it was mapped, and the names found for it. The
 * names are read at the first question. */
#ifndef CP_SYMBOLIZE_MODULE_H
#define CP_SYMBOLIZE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolize/elf.h"
#include "symbolize/lines_cache.h"
#include "symbolize/reason.h"
#include "symbolize/remote_symbols.h"
#include "symbolize/sandbox.h"
#include "symbolize/starts.h"
#include "symbolize/symbolizer.h"
#include "symbolize/symfile.h"
#include "user/base/strtab.h"

struct fetcher;

/* What modules share; everything is borrowed. */
struct module_env {
	const struct sym_opts *opts;
	struct strtab *names;
	int host_root_fd;
	struct fetcher *fetcher; /* NULL = do not ask debuginfod servers */
	struct sandbox *sandbox; /* NULL = read files in this process */
	int stop_fd;		 /* readable: what is not known yet stays SYM_PENDING; 0 = none */
};

struct module {
	char *path;
	int fd;	     /* -1 when it was closed, or for memory */
	int root_fd; /* root of the process that mapped it, for its debug files; borrowed; -1 = none */
	uint64_t size_bytes, mtime_ns; /* of its content when it was opened */
	struct elf elf;
	enum sym_reason reason; /* SYM_OK, or why there are no names at all */
	bool loaded;
	struct symtab table;
	const char **names;   /* demangled, by range; NULL = not asked for yet */
	size_t asked_cnt;     /* addresses in questions about many */
	bool all_named;	      /* all were asked for, or came with the table */
	struct starts starts; /* of functions without a name */
	bool starts_read;
	struct symfile_counts counts;
	int debug_fd; /* separate debug file, -1 = none */
	struct elf debug;
	char *debug_path;
	int alt_fd; /* what dwz moved out of the debug information, -1 = none */
	struct dwarf_names *dwarf;
	bool dwarf_tried;
	struct lines_cache lines; /* what the sandbox said about addresses */
	struct buf trail;	  /* what was tried, one line each */
};

/* Takes over fd (>= 0) and reads the file's structure. Never fails: reason says what is wrong. */
struct module *module__new(int fd, const char *path, int root_fd);
/* The vdso, or another ELF image in memory; borrowed. */
struct module *module__new_mem(const void *data, uint64_t size_bytes, const char *path);
void module__free(struct module *m);

/* Reads all names now, if it was not done. O(n log n) in symbols. */
void module__load(struct module *m, const struct module_env *env);
/* The same for many modules in few questions: module__ask says what to ask about this one (false: it needs no
 * question), module__take takes the answer; one whose rc is set is asked again, alone. addrs are those of the question. */
bool module__ask(struct module *m, const struct module_env *env, struct remote_symbols_file *file);
void module__take(struct module *m, const struct module_env *env, struct remote_symbols *answer,
		  const uint64_t *addrs, size_t cnt);
struct remote_style module_style(const struct module_env *env);
/* Closes the files; names of functions are read before, lines and inlined functions can no longer be. */
void module__close_files(struct module *m, const struct module_env *env);
/* Answers beforehand, in one go, what will be asked about these addresses: with a sandbox each question
 * costs a process. */
void module__prepare(struct module *m, const struct module_env *env, const uint64_t *addrs,
		     size_t cnt);
/* The same for functions alone: ret[i] = 1 + the function at addrs[i] as a place in names, which are read; 0 = none.
 * O(cnt) once the names are read. */
void module__functions(struct module *m, const struct module_env *env, const uint64_t *addrs,
		       size_t cnt, uint32_t *ret);
/* Whether an address's answer is there, be it a name or that there is none. */
bool module__knows(const struct module *m, const struct module_env *env, uint64_t file_addr);
/* The function at an address of the file; NULL if none. Lives as long as env->names. O(log n). */
const char *module__function(struct module *m, const struct module_env *env, uint64_t file_addr);
/* Where the function starts that has no name; 0 = not known. O(log n). */
uint64_t module__function_start(struct module *m, uint64_t file_addr);
/* The functions around an address from debug information, as dwarf_names__find gives them. */
size_t module__inlined(struct module *m, const struct module_env *env, uint64_t file_addr,
		       struct sym_frame **ret);
/* Appends what was tried, and what each source gave. */
void module__why(const struct module *m, struct buf *out);

#endif
