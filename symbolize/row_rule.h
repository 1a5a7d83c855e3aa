/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From call frame rules to the 8 bytes of a row (without its pc), for each machine. */
#ifndef CP_SYMBOLIZE_ROW_RULE_H
#define CP_SYMBOLIZE_ROW_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolize/cfi.h"

struct row_machine {
	uint16_t elf_machine; /* EM_* */
	uint8_t columns[32];  /* for struct cfi_section */
	/* tracks_bx: say where rbx is saved; else that field is 0. */
	uint64_t (*encode)(const struct cfi_cie *cie, const struct cfi_state *s, bool tracks_bx);
};

/* NULL for a machine that has no rows yet. */
const struct row_machine *row_machine_find(uint16_t elf_machine);

#endif
