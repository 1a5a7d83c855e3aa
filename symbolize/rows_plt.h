/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for PLT sections that nobody described: of static programs (.iplt: jumps to IRELATIVE targets) and of
 * linkers that leave their stubs out of .eh_frame (lld, mold). */
#ifndef CP_SYMBOLIZE_ROWS_PLT_H
#define CP_SYMBOLIZE_ROWS_PLT_H

#include <stddef.h>
#include <stdint.h>

/* What the code of a PLT section does to the stack. */
struct rows_plt {
	uint32_t header_bytes; /* the first stub, which pushes a second word; 0 = there is none */
	uint32_t header_push;  /* where in it the push ends */
	uint32_t push_end;     /* where in a stub its push ends; 0 = stubs only jump */
};

/* Looks at the first stubs of a section. x86-64. */
void rows_plt_classify(const uint8_t *code, size_t len_bytes, struct rows_plt *ret);

/* The rule at vaddr of a section that starts at plt_vaddr; *end_vaddr is where it ends to hold. */
uint64_t rows_plt_rule(const struct rows_plt *plt, uint64_t plt_vaddr, uint64_t vaddr,
		       uint64_t *end_vaddr);

#endif
