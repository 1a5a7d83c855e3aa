/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug files from debuginfod servers ($DEBUGINFOD_URLS), fetched by a child process: it talks HTTP with
 * strangers, so it has no privileges (the invoking user's under sudo, else those of "nobody") and hands over
 * a descriptor. The caller must check that the file is the one it asked for. */
#ifndef CP_SYMBOLIZE_FETCHER_H
#define CP_SYMBOLIZE_FETCHER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fetcher;

enum {
	FETCHER_WAIT_MAX_MS = 120000, /* for one file; after that the child is ended for good */
	FETCHER_ID_MAX_BYTES = 64,
};

/* NULL when $DEBUGINFOD_URLS is not set. The child starts at the first request. */
struct fetcher *fetcher__new(void);
void fetcher__free(
	struct fetcher *f); /* ends the child, removes its temporary cache; NULL is fine */
/* The debug file of a build-id: a descriptor owned by the caller, or -errno (-ENOENT: no server has it,
 * -ETIMEDOUT, -EPIPE: the child is gone). */
int fetcher__debug_file(struct fetcher *f, const uint8_t *build_id, size_t build_id_bytes);
/* From now on a request fails with -ECANCELED when stop_fd becomes readable (symbolize/stop.h). */
void fetcher__stop_at(struct fetcher *f, int stop_fd);
/* Whom the child runs as; (uid_t)-1 before the first request. */
uid_t fetcher__uid(const struct fetcher *f);

#endif
