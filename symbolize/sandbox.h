/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers of hostile files run here: a process without capabilities, under seccomp, with limits on memory,
 * CPU and wall time, that can only read the descriptors it is given and write its answer.
 *
 * sandbox_open forks a keeper, early, while the program is small; it drops its rights and does nothing but
 * fork a worker for each request. A worker handles one request and dies, so that a file that takes over,
 * crashes or hangs its worker costs what was asked about it and nothing else. What comes back is still not
 * trusted: the caller checks it.
 *
 * A keeper that died is replaced by the next request.
 *
 * Not for use from several threads at once; open two for two jobs at a time. */
#ifndef CP_SYMBOLIZE_SANDBOX_H
#define CP_SYMBOLIZE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"

enum sandbox_limit {
	SANDBOX_FD_MAX = 32,
	SANDBOX_ARGS_MAX_BYTES = 4096,
	SANDBOX_QUESTION_MAX_BYTES = 4096,
};

/* Who handles a request: an index into the table given to sandbox_open. */
enum sandbox_kind {
	SANDBOX_ROWS = 0,    /* symbolize/rows_remote.h */
	SANDBOX_SYMBOLS = 1, /* symbol tables */
	SANDBOX_LINES = 2,   /* debug information; opens by path are asked of the parent */
	SANDBOX_NAMES = 3,   /* demangling */
	SANDBOX_PYTHON = 4,  /* symbolize/python_layout.h */
	SANDBOX_KIND_MAX = 8,
};

/* In the worker. */
struct sandbox_job {
	uint32_t kind;
	int fds[SANDBOX_FD_MAX];
	size_t fd_cnt;
	uint8_t args[SANDBOX_ARGS_MAX_BYTES];
	size_t args_bytes;
	struct buf reply; /* the handler puts its answer here */
	int channel;	  /* for sandbox_ask */
};

/* Returns 0, or a negative errno with a message. Neither prints nor exits; memory need not be freed. */
typedef int (*sandbox_handler)(struct sandbox_job *job, struct err *err);

/* Asks the parent for a file (a path, a build id, whatever both agree upon). Returns a read-only descriptor
 * or a negative errno. */
int sandbox_ask(struct sandbox_job *job, const void *question, size_t len_bytes);

struct sandbox_limits {
	uint64_t memory_bytes; /* address space on top of what the keeper has */
	uint64_t reply_bytes;
	uint32_t cpu_s;
	uint32_t wall_ms;
};

extern const struct sandbox_limits sandbox_limits_default; /* 1 GiB, 512 MiB, 5 s, 10 s */

struct sandbox;

/* handlers[kind] may be NULL. The table is borrowed. */
int sandbox_open(const sandbox_handler handlers[SANDBOX_KIND_MAX], struct sandbox **ret,
		 struct err *err);
void sandbox_close(struct sandbox *s); /* NULL is fine */
/* From now on a request fails with -ECANCELED when stop_fd becomes readable (symbolize/stop.h), and all after it. */
void sandbox_stop_at(struct sandbox *s, int stop_fd);

struct sandbox_request {
	uint32_t kind;
	const int *fds; /* borrowed; read-only descriptors of regular files */
	size_t fd_cnt;
	const void *args;
	size_t args_bytes;
	const struct sandbox_limits *limits; /* NULL: the default */
	/* Answers sandbox_ask: a read-only descriptor (closed by the sandbox) or a negative errno. NULL:
	 * nothing is given. The question is not trusted. */
	int (*answer)(void *ctx, const void *question, size_t len_bytes);
	void *ctx;
};

/* Bytes that the worker wrote: untrusted, but nobody changes them any more. */
struct sandbox_reply {
	const uint8_t *data;
	size_t len_bytes;
};

/* Returns 0 and a reply to be released, or a negative errno: what the handler said, -EPROTO for a worker that died
 * of what it did (the message says how), -EAGAIN for one that could not be started or was not given enough CPU time,
 * -EPIPE if the keeper died. The last two are tried once more first, with a new keeper if need be, and say nothing
 * about the files; nor do the other errors of making a socket, memory or a process (sandbox_blames_file). */
int sandbox_run(struct sandbox *s, const struct sandbox_request *req, struct sandbox_reply *ret,
		struct err *err);

/* The same in two steps, for a parent that has other things to do meanwhile: requests that were started are
 * worked on one after the other, and are to be finished in the order of their starts (-EINVAL otherwise), before
 * the next sandbox_run. A handler that asks waits until its request is finished. Nothing is tried again: after
 * -EPIPE and -EAGAIN the caller may. */
struct sandbox_ticket {
	int channel, memory;
	uint32_t keeper_no, number;
	const struct sandbox_limits *limits;
	int (*answer)(void *ctx, const void *question, size_t len_bytes);
	void *ctx;
};

/* The descriptors of the request may be closed after this; limits and ctx are borrowed until the end. */
int sandbox_start(struct sandbox *s, const struct sandbox_request *req, struct sandbox_ticket *ret,
		  struct err *err);
int sandbox_finish(struct sandbox *s, const struct sandbox_ticket *t, struct sandbox_reply *ret,
		   struct err *err);
/* Instead of finishing: releases what a ticket holds. The other requests under way are lost too (-EPIPE); the next start
 * makes a new keeper. */
void sandbox_give_up(struct sandbox *s, const struct sandbox_ticket *t);
void sandbox_reply_free(struct sandbox_reply *r);
/* Whether an error of a request is about what was to be read. */
bool sandbox_blames_file(int rc);
/* CPU time that the workers have used so far, by the keeper's account. */
uint64_t sandbox_cpu_ns(const struct sandbox *s);

#endif
