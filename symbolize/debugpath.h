/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the separate debug file of a program may lie: names only, nothing is opened. */
#ifndef CP_SYMBOLIZE_DEBUGPATH_H
#define CP_SYMBOLIZE_DEBUGPATH_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

enum {
	DEBUGPATH_DIRS_MAX = 16,
};

/* A program of which the debug file is wanted. Names come from the file and may be hostile. */
struct debugpath_query {
	const char *path;      /* of the program, absolute */
	const char *debuglink; /* name from .gnu_debuglink; NULL = none */
	const uint8_t *build_id;
	size_t build_id_bytes; /* 0 = none */
	const char *dirs;      /* colon-separated global debug directories */
};

/* Appends the candidates in search order, each ending in a NUL; returns how many:
 *	DIR/.build-id/ab/cdef....debug			for each DIR
 *	FOLDER/LINK, FOLDER/.debug/LINK, DIR/FOLDER/LINK	with a debuglink
 *	DIR/PATH.debug, DIR/PATH
 * Debuglinks with a "/" in them are refused. */
size_t debugpath_candidates(const struct debugpath_query *q, struct buf *out);

#endif
