/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parsers of hostile files, run in the sandbox: what is asked there and how the answers come back. Each
 * answer is one block of bytes, checked here before anything of it is used. */
#ifndef CP_SYMBOLIZE_REMOTE_H
#define CP_SYMBOLIZE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/sandbox.h"
#include "symbolize/symfile.h"

/* Names as they are wanted. */
struct remote_style {
	bool no_demangle, keep_suffixes;
};

/* A descriptor of memory that holds a question too long for the arguments; or a negative errno. */
int remote_question(const void *data, size_t len_bytes, struct err *err);

/* How many strings end in a block. */
size_t remote_nul_cnt(const void *block, size_t len_bytes);

/* --- readable forms of raw names: one block of NUL-terminated strings to another, in the same order --- */
int remote_names(struct sandbox *s, const struct remote_style *style, const struct buf *raw,
		 size_t cnt, struct buf *ret, struct err *err);
/* In this process if s is NULL. */
int remote_names_or_here(struct sandbox *s, const struct remote_style *style, const struct buf *raw,
			 size_t cnt, struct buf *ret);
int remote_names_handler(struct sandbox_job *job, struct err *err);

/* --- inlined functions and lines --- */
struct remote_frame {
	uint32_t name, file; /* offsets in the strings */
	uint32_t line;
	uint32_t inlined;
};

struct remote_lines {
	struct sandbox_reply reply;
	size_t addr_cnt, frame_cnt, strings_bytes;
	uint64_t unit_cnt, missing_cnt;	   /* units, and those whose .dwo file was missing */
	const uint32_t *starts;		   /* addr_cnt + 1: frames of addrs[i] begin at starts[i] */
	const struct remote_frame *frames; /* innermost first */
	const char *strings;
};

struct remote_lines_query {
	int fd;	    /* holds .debug_info */
	int alt_fd; /* what dwz moved out of it; -1 = none */
	const uint64_t *addrs;
	size_t cnt;
	struct remote_style style;
	/* opens a split unit by the name that the debug information gives it */
	int (*open_dwo)(void *ctx, const char *path);
	void *ctx;
};

int remote_lines(struct sandbox *s, const struct remote_lines_query *q, struct remote_lines *ret,
		 struct err *err);
void remote_lines_free(struct remote_lines *l);
int remote_lines_handler(struct sandbox_job *job, struct err *err);

#endif
