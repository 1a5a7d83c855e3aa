/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of arm64; private to symbolize/row_rule.c. */
#ifndef CP_SYMBOLIZE_ROW_RULE_ARM64_H
#define CP_SYMBOLIZE_ROW_RULE_ARM64_H

#include "symbolize/cfi.h"

uint64_t row_encode_arm64(const struct cfi_cie *cie, const struct cfi_state *s, bool tracks_bx);

#endif
