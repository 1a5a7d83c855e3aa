/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between a sandbox's parent, keeper and worker; private to symbolize/sandbox*.c. All three are one
 * program, so structs cross as they are. The sockets keep message boundaries (SOCK_SEQPACKET). */
#ifndef CP_SYMBOLIZE_SANDBOX_WIRE_H
#define CP_SYMBOLIZE_SANDBOX_WIRE_H

#include <sys/types.h>

#include "symbolize/sandbox.h"

/* Parent to keeper, with descriptors: the worker's end of a channel, the reply's memory, the files. The
 * keeper answers with a sandbox_end. */
struct sandbox_order {
	uint32_t kind;
	uint32_t fd_cnt; /* of files */
	uint32_t args_bytes;
	struct sandbox_limits limits;
	uint8_t args[SANDBOX_ARGS_MAX_BYTES]; /* sent as far as they are used */
};

/* Keeper to parent: how the worker ended. */
struct sandbox_end {
	int32_t status; /* as wait(2) gives it */
	uint32_t pad;
	uint64_t cpu_ns; /* what it used */
};

enum sandbox_word_kind {
	SANDBOX_ASK = 1,  /* worker to parent: text is the question */
	SANDBOX_DONE = 2, /* worker to parent: code, text is the error message */
	SANDBOX_GIVE = 3, /* parent to worker: code, with a descriptor if it is 0 */
};

/* On the channel. */
struct sandbox_word {
	uint32_t kind;
	int32_t code;
	uint32_t text_bytes;
	char text[SANDBOX_QUESTION_MAX_BYTES];
};

/* One message with up to fd_cnt descriptors. sandbox_recv gives the number of bytes, 0 at the end; *fd_cnt
 * is the room on entry, then what came. Both retry after signals and return a negative errno. */
int sandbox_send(int sock, const void *data, size_t len_bytes, const int *fds, size_t fd_cnt);
ssize_t sandbox_recv(int sock, void *data, size_t cap_bytes, int *fds, size_t *fd_cnt);

enum sandbox_opens {
	SANDBOX_OPENS_END = 0, /* opening a file by path ends the worker */
	SANDBOX_OPENS_ASK = 1, /* sandbox_ask_for_opens handles it */
};

/* The keeper's life; returns when the socket is closed. */
void sandbox_keep(int sock, const sandbox_handler *handlers);

/* Opens by path become questions to the parent; call before sandbox_lock_up. 0 or a negative errno. */
int sandbox_ask_for_opens(struct sandbox_job *job);

/* From here on the process can compute, read and write what is open, and exit. 0 or a negative errno. */
int sandbox_lock_up(enum sandbox_opens opens);

#endif
