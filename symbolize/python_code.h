/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A code object of a live Python process: the function's qualified name, its file, and the line of an instruction.
 * The memory is the process's own and may change, lie or be gone while it is read: types are compared, lengths are
 * bounded, and what does not fit is refused rather than guessed. Lines: PEP 626 and Objects/locations.md of CPython. */
#ifndef CP_SYMBOLIZE_PYTHON_CODE_H
#define CP_SYMBOLIZE_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/python_layout.h"
#include "user/base/buf.h"

enum {
	PYTHON_NAME_MAX_CHARS = 1024, /* longer names are cut */
	PYTHON_LINES_MAX_BYTES =
		1 << 18, /* functions with a longer table have no lines: each look walks it */
	PYTHON_LINES_SANE_BYTES = 1 << 28,
	PYTHON_INSTRS_MAX = 1 << 24,
};

/* Memory of a process: 0 and all of it, or a negative errno; -ESRCH: the process is gone. */
struct python_memory {
	int (*read)(void *ctx, uint64_t addr, void *to, size_t len_bytes);
	void *ctx;
};

/* Which object it is: equal words, the same function, as long as no address was used again for another. */
struct python_code_id {
	uint64_t filename, qualname, linetable;
	uint64_t instr_cnt;
	int32_t first_line;
	uint32_t pad;
};

struct python_code {
	struct python_code_id id;
	char *function, *file; /* UTF-8; owned */
	uint64_t instrs;       /* address of the first one; each has 2 bytes */
	uint8_t *lines;	       /* location table; owned */
	size_t lines_bytes;
};

/* 0; -EINVAL: no code object of this interpreter is there (any more); or what reading said. */
int python_code_identify(const struct python_layout *l, const struct python_memory *m,
			 uint64_t addr, struct python_code_id *ret);
int python_code_read(const struct python_layout *l, const struct python_memory *m, uint64_t addr,
		     struct python_code *ret);
void python_code_free(struct python_code *c);

/* Whether that instruction is of this code. */
bool python_code_holds(const struct python_code *c, uint64_t instr);
/* The line of the instruction at that address; 0 if the compiler gave it none. O(table). */
uint32_t python_code_line(const struct python_code *c, uint64_t instr);

/* The two decoders, for their tests. The line of the n-th code unit; 0 = none. */
uint32_t python_line_of(const uint8_t *table, size_t table_bytes, int32_t first_line,
			uint64_t unit);
/* Characters of 1 (Latin-1), 2 or 4 bytes as UTF-8; what is no character becomes U+FFFD. */
void python_put_utf8(struct buf *out, const void *data, size_t char_cnt, unsigned int char_bytes);

#endif
