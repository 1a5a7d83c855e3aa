/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the code itself says where unwind information is missing or does not mean what it says: PLT sections
 * that nobody described (of static programs, where they jump to IRELATIVE targets; of linkers that leave their
 * stubs out of .eh_frame: lld, mold), and functions that are entered by a return. x86-64. */
#ifndef CP_SYMBOLIZE_ROWS_CODE_H
#define CP_SYMBOLIZE_ROWS_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the code of a PLT section does to the stack. */
struct rows_plt {
	uint32_t header_bytes; /* the first stub, which pushes a second word; 0 = there is none */
	uint32_t header_push;  /* where in it the push ends */
	uint32_t push_end;     /* where in a stub its push ends; 0 = stubs only jump */
};

/* Looks at the first stubs of a section. */
void rows_plt_classify(const uint8_t *code, size_t len_bytes, struct rows_plt *ret);

/* The rule at vaddr of a section that starts at plt_vaddr; *end_vaddr is where it ends to hold. */
uint64_t rows_plt_rule(const struct rows_plt *plt, uint64_t plt_vaddr, uint64_t vaddr,
		       uint64_t *end_vaddr);

enum {
	ROWS_ENTRY_BYTES = 7,	   /* of code, that rows_code_is_entry looks at */
	ROWS_ENTRY_MAX_BYTES = 64, /* functions larger than this are none */
	ROWS_START_BYTES = 128,	   /* of code at the entry point of a file: ld.so's are 96 */
};

/* Does the function that starts with these bytes replace its stack at once? makecontext lets the first
 * function of a context return into such a one (__start_context): there is no caller beyond. */
bool rows_code_is_entry(const uint8_t *code, size_t len_bytes);

#endif
