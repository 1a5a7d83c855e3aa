/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a CPython keeps what a profiler wants to know. Up to 3.12 the places depend on the minor version (they are
 * facts of its headers); from 3.13 on the interpreter tells them itself, in a table at the start of _PyRuntime. The
 * file is hostile: its symbols are looked up in the sandbox, and what comes back is checked again. */
#ifndef CP_SYMBOLIZE_PYTHON_LAYOUT_H
#define CP_SYMBOLIZE_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>

#include "bpf/python.h"
#include "symbolize/image.h"
#include "symbolize/sandbox.h"
#include "user/base/err.h"

enum {
	PYTHON_CODE_MAX_BYTES = 512, /* of a code object before its instructions */
	PYTHON_STRING_HEAD_MAX_BYTES = 128,
};

/* Offsets in bytes. */
struct python_offsets {
	uint32_t object_type, var_size;
	uint32_t code_filename, code_qualname, code_linetable, code_first_line, code_instrs;
	uint32_t bytes_data;
	uint32_t string_length, string_state, string_ascii,
		string_compact; /* the last two: where characters begin */
};

struct python_layout {
	uint32_t version; /* 0x030b = 3.11 */
	uint32_t pad;
	/* of types: what an object's type must be; as addresses of the file, or of a process (python_layout_move) */
	uint64_t code_type, string_type, bytes_type;
	/* the executable segment that holds the interpreter's loop */
	uint64_t segment_vaddr, segment_off_bytes, segment_size_bytes;
	struct cp_python kernel;
	struct python_offsets offsets;
};

/* Whether a file of that name may be an interpreter. */
bool python_layout_is_candidate(const char *path);
/* 0, -ENOENT: no CPython, or -ENOTSUP: one of a version that is not known. */
int python_layout_read(const struct image *image, struct python_layout *ret, struct err *err);
/* What must be true of a layout from elsewhere, so that reading by it stays within bounds. */
bool python_layout_check(const struct python_layout *l);
/* Turns addresses of the file into those of a process that has mapped off_bytes of it, executable, at start; false
 * if that mapping is not of the segment with the interpreter's loop. */
bool python_layout_move(struct python_layout *l, uint64_t start, uint64_t off_bytes);

/* To be put at SANDBOX_PYTHON in the table of handlers. */
int python_sandbox_handler(struct sandbox_job *job, struct err *err);
/* As python_layout_read, in the sandbox and checked. */
int python_layout_remote(struct sandbox *s, int fd, struct python_layout *ret, struct err *err);

#endif
