/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PLT stubs by their code; see rows_code.h.
 *
 * A stub that only jumps (after an endbr64, with or without a bnd prefix) leaves the stack as the call made
 * it: CFA = rsp + 8. The stubs of lazy binding push the number of their symbol and jump to the header, which
 * pushes a second word and jumps into ld.so:
 *
 *   header:  ff 35 rel32   push GOT[1](%rip)          stub:  ff 25 rel32   jmp *slot(%rip)
 *            ff 25 rel32   jmp *GOT[2](%rip)                 68 imm32      push $number
 *                                                            e9 rel32      jmp header
 *   with -z ibtplt the stub is: f3 0f 1e fa (endbr64)  68 imm32  [f2] e9 rel32 */
#include "symbolize/rows_code.h"

#include <linux/types.h>
#include <string.h>

#include "bpf/row.h"

enum {
	STUB_BYTES = 16,
};

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

void rows_plt_classify(const uint8_t *code, size_t len_bytes, struct rows_plt *ret)
{
	static const uint8_t push_rip[] = { 0xff, 0x35 };
	static const uint8_t push_imm = 0x68;
	const uint8_t *stub = code + STUB_BYTES;

	*ret = (struct rows_plt){ 0 };
	if (len_bytes < 2 * STUB_BYTES || memcmp(code, push_rip, sizeof(push_rip)) != 0)
		return;
	ret->header_bytes = STUB_BYTES;
	ret->header_push = 6;
	if (stub[6] == push_imm)
		ret->push_end = 11;
	else if (memcmp(stub, endbr64, sizeof(endbr64)) == 0 && stub[4] == push_imm)
		ret->push_end = 9;
	else if (stub[0] == push_imm)
		ret->push_end = 5;
}

uint64_t rows_plt_rule(const struct rows_plt *plt, uint64_t plt_vaddr, uint64_t vaddr,
		       uint64_t *end_vaddr)
{
	uint64_t off = vaddr - plt_vaddr;

	if (off < plt->header_push) {
		*end_vaddr = plt_vaddr + plt->header_push;
		return row_make(ROW_RSP, 2, 0, ROW_RBX_LOST);
	}
	if (off < plt->header_bytes) {
		*end_vaddr = plt_vaddr + plt->header_bytes;
		return row_make(ROW_RSP, 3, 0, ROW_RBX_LOST);
	}
	*end_vaddr = UINT64_MAX;
	if (!plt->push_end)
		return row_make(ROW_RSP, 1, 0, ROW_RBX_LOST);
	return row_make(ROW_PLT, plt->push_end, 0, ROW_RBX_LOST);
}

bool rows_code_is_entry(const uint8_t *code, size_t len_bytes)
{
	static const uint8_t mov_rbx_rsp[] = { 0x48, 0x89, 0xdc };

	if (len_bytes >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0) {
		code += sizeof(endbr64);
		len_bytes -= sizeof(endbr64);
	}
	return len_bytes >= sizeof(mov_rbx_rsp) &&
	       memcmp(code, mov_rbx_rsp, sizeof(mov_rbx_rsp)) == 0;
}
