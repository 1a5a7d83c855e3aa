/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From addresses to names: the facade of this folder.
 *
 * A process is added while it lives (or with mappings remembered from then); its files are opened at that
 * moment through /proc/PID/map_files, so that what is looked up later is what was mapped, whatever became
 * of the process, of the path, or of the mount namespace in which the path was valid. An address then gives
 * one frame per function: the innermost inlined one first, the real one last. Where there is no name there
 * is a reason, and symbolizer__why tells what was tried. docs/symbols.md has the search order and the rules.
 *
 * Not thread-safe. Nothing here prints. */
#ifndef CP_SYMBOLIZE_SYMBOLIZER_H
#define CP_SYMBOLIZE_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolize/maps.h"
#include "symbolize/reason.h"
#include "user/base/buf.h"
#include "user/base/err.h"

struct symbolizer;
struct sandbox;

struct kallsyms_sieve; /* symbolize/kallsyms.h */

struct sym_opts {
	bool lines;	    /* inlined functions, source files and lines from DWARF (slower) */
	bool keep_suffixes; /* keep .isra.0, .part.1, .constprop.2, .cold of compiler-made clones */
	bool no_demangle;   /* names as they stand in the file */
	bool debuginfod;    /* ask the servers of $DEBUGINFOD_URLS, if it is set */
	const char *debug_dirs; /* colon-separated; NULL = "/usr/lib/debug" */
	const char *kallsyms;	/* path; NULL = "/proc/kallsyms" */
	struct sandbox *
		sandbox; /* reads hostile files (symbolize/handlers.h); borrowed; NULL = this process */
	/* Fills a sieve with the kernel's symbols, in place of the text in kallsyms: 0, or a negative errno, after
	 * which that is read. NULL: nobody can. */
	int (*kernel_symbols)(void *ctx, const uint64_t *wanted, size_t cnt,
			      struct kallsyms_sieve *sieve);
	void (*kernel_done)(void *ctx); /* they were read; NULL: nobody wants to know */
	void *kernel_ctx;
	bool one_process; /* who is added first is all that is asked about: one worker may read all of its files */
	uint32_t fd_max; /* files kept open at a time; 0 = 512 */
};

/* Which instruction an address stands for. */
enum sym_pc {
	SYM_PC_EXACT = 0,  /* the instruction itself: a sample, or the frame below a signal frame */
	SYM_PC_RETURN = 1, /* a return address: the call ends there, so addr - 1 is looked up */
};

/* Strings are borrowed until symbolizer__free; "" when unknown, never NULL. */
struct sym_frame {
	const char *name; /* demangled; "" when the result has a reason */
	const char *file; /* source file */
	uint32_t line;	  /* 0 = unknown */
	bool inlined;	  /* into the next frame of the list */
	bool jit;	  /* named by a perf map */
};

struct sym_result {
	const struct sym_frame *frames; /* innermost first; borrowed until the next call */
	size_t cnt;			/* >= 1; with a reason: one frame without a name */
	enum sym_reason reason;
	const char *module; /* path of the file, "[vdso]", kernel module, "" if none */
	uint64_t
		function_start; /* of a function without a name, as the file's symbols count; 0 = not known */
	uint64_t file_addr; /* the address as the file's own symbols count; 0 if there is no file */
};

struct sym_query {
	uint64_t proc_key;
	uint64_t addr;
	enum sym_pc pc;
};

/* A mapping as a profile keeps it. */
struct sym_mapping {
	uint64_t start, end;
	uint64_t off_bytes;
	const char *path; /* as the process saw it, without " (deleted)" */
	uint8_t build_id[20];
	uint32_t build_id_bytes; /* 0 = none known */
};

struct symbolizer *
symbolizer__new(const struct sym_opts *opts); /* owned by the caller; copies opts */
void symbolizer__free(struct symbolizer *s);  /* NULL is fine */

/* Opens what pid maps executable and keeps it under proc_key (any number of the caller's; adding a key again
 * replaces it). maps is copied; NULL reads them now. 0, or -ESRCH, -EACCES, ... with a message: the key
 * then exists all the same and its addresses get a reason. O(mappings). */
int symbolizer__add_process(struct symbolizer *s, uint64_t proc_key, pid_t pid,
			    const struct maps *maps, struct err *err);
/* The same from a stored profile: files are found by path, and used only if their build-id is equal (or
 * none was recorded). */
void symbolizer__add_stored(struct symbolizer *s, uint64_t proc_key, const struct sym_mapping *maps,
			    size_t cnt);
/* The i-th of a key's executable mappings, by start; false: there are not so many. The path is borrowed until
 * symbolizer__free. O(1). */
bool symbolizer__mapping(const struct symbolizer *s, uint64_t proc_key, size_t i,
			 struct sym_mapping *ret);
void symbolizer__forget(struct symbolizer *s, uint64_t proc_key); /* names stay valid */

/* *ret is always filled. O(log n) after the first address of a file; equal addresses give equal results. */
void symbolizer__resolve_user(struct symbolizer *s, uint64_t proc_key, uint64_t addr,
			      enum sym_pc pc, struct sym_result *ret);
void symbolizer__resolve_kernel(struct symbolizer *s, uint64_t addr, enum sym_pc pc,
				struct sym_result *ret);
/* Answers beforehand, in one go, what will be asked: with a sandbox each single question may cost a process
 * (about 1 ms). Results are the same with and without. O(n log n). */
void symbolizer__prepare_user(struct symbolizer *s, const struct sym_query *queries, size_t cnt);
/* The same, and for addresses in the kernel (whatever their proc_key), while the sandbox is at work. The kernel's symbols
 * are then not kept for other addresses, but read again if those are asked for: of no use twice. */
void symbolizer__prepare(struct symbolizer *s, const struct sym_query *user, size_t user_cnt,
			 const struct sym_query *kernel, size_t kernel_cnt);
void symbolizer__prepare_file(struct symbolizer *s, const char *path, const uint64_t *addrs,
			      size_t cnt, enum sym_pc pc);

/* Functions alone, for many addresses of one file: ret[i] = number of the function at addrs[i], 0 = none.
 * Returns the reason that those without one have. */
enum sym_reason symbolizer__functions(struct symbolizer *s, const char *path, const uint64_t *addrs,
				      size_t cnt, enum sym_pc pc, uint32_t *ret);
/* The name of a number from the last call; valid until symbolizer__free. Numbers of one file stay. */
const char *symbolizer__function_name(const struct symbolizer *s, uint32_t number);
/* From now on, as soon as stop_fd is readable (symbolize/stop.h), nothing more is read or waited for: user addresses
 * that are not known by then are SYM_PENDING. */
void symbolizer__stop_at(struct symbolizer *s, int stop_fd);

/* An address as an ELF file's own symbols count (what nm prints), in a file that no process maps. */
void symbolizer__resolve_file(struct symbolizer *s, const char *path, uint64_t addr, enum sym_pc pc,
			      struct sym_result *ret);

/* Appends lines of text: what was tried for this address, in order, and what came of it. */
/* Of these the lines about the file mapped there, or why there is none, once names were asked for: true for all of the
 * mapping's addresses, and equal for all processes that map the file. */
void symbolizer__tried_user(const struct symbolizer *s, uint64_t proc_key, uint64_t addr,
			    struct buf *out);
void symbolizer__why_user(struct symbolizer *s, uint64_t proc_key, uint64_t addr, struct buf *out);
void symbolizer__why_file(struct symbolizer *s, const char *path, uint64_t addr, struct buf *out);
void symbolizer__why_kernel(struct symbolizer *s, uint64_t addr, struct buf *out);

#endif
