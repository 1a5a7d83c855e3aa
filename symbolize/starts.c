/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "symbolize/starts.h"

enum {
	HEAD_BYTES = 12, /* version, three encodings, address of .eh_frame, number of entries */
	PAIR_BYTES = 8,
	UDATA4 = 0x03,	       /* DW_EH_PE_udata4 */
	DATAREL_SDATA4 = 0x3b, /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
	TABLE_MAX_BYTES = 128 << 20,
};

static const Elf64_Phdr *find_segment(const struct elf *e)
{
	for (size_t i = 0; i < e->phdr_cnt; i++)
		if (e->phdrs[i].p_type == PT_GNU_EH_FRAME)
			return &e->phdrs[i];
	return NULL;
}

void starts_read(const struct elf *e, struct starts *ret)
{
	const Elf64_Phdr *p = find_segment(e);
	uint8_t head[HEAD_BYTES];
	uint32_t cnt;

	memset(ret, 0, sizeof(*ret));
	/* the address of .eh_frame, which nobody needs here, has 4 bytes in the encodings that linkers write */
	if (!p || p->p_filesz < HEAD_BYTES ||
	    !image_read(&e->image, p->p_offset, head, sizeof(head)) || head[0] != 1 ||
	    (head[1] & 0x0f) != (DATAREL_SDATA4 & 0x0f) || head[2] != UDATA4 ||
	    head[3] != DATAREL_SDATA4)
		return;
	memcpy(&cnt, head + 8, sizeof(cnt));
	if (cnt > (p->p_filesz - HEAD_BYTES) / PAIR_BYTES)
		return;
	ret->table = image_copy(&e->image, p->p_offset + HEAD_BYTES, (uint64_t)cnt * PAIR_BYTES,
				TABLE_MAX_BYTES);
	ret->cnt = ret->table ? cnt : 0;
	ret->base_vaddr = p->p_vaddr;
}

static uint64_t start_at(const struct starts *s, size_t i)
{
	int32_t from_base;

	memcpy(&from_base, s->table + i * PAIR_BYTES, sizeof(from_base));
	return s->base_vaddr + (uint64_t)(int64_t)from_base;
}

uint64_t starts_find(const struct starts *s, uint64_t addr)
{
	size_t low = 0, high = s->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (start_at(s, mid) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? start_at(s, low - 1) : 0;
}

void starts_free(struct starts *s)
{
	free(s->table);
	memset(s, 0, sizeof(*s));
}
