/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind rows (bpf/row.h), the blocks that index them and the mappings they belong to: the arrays that user space
 * fills, and the searches in them. */
#ifndef CP_BPF_ROWS_BPF_H
#define CP_BPF_ROWS_BPF_H

#include "bpf/state.bpf.h"

/* One element, as large as its mask in cp_config says; user space fills it through mmap. */
#define SHARED_ARRAY(name)                         \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__uint(key_size, 4);               \
		__uint(value_size, 8);             \
	} name __weak SEC(".maps")

SHARED_ARRAY(cp_rows);
SHARED_ARRAY(cp_blocks);
SHARED_ARRAY(cp_mappings);

/* verifier: bounds an index by a mask that it knows as a constant */
#define BOUND(index, mask)              \
	({                              \
		u64 bounded_ = (index); \
		hide(bounded_);         \
		bounded_ &= (mask);     \
		bounded_;               \
	})

/* The row that covers pc_off among rows lo..hi (both included), 0 if there is none. */
__weak u64 find_row(u32 lo, u32 hi, u32 pc_off)
{
	u32 zero = 0;
	u64 *rows = bpf_map_lookup_elem(&cp_rows, &zero), row;

	if (!rows)
		return 0;
	for (int i = 0; i < 9; i++) { /* a block of 256 bytes has at most 256 rows */
		u32 mid, after;

		if (lo >= hi)
			break;
		mid = (lo + hi + 1) >> 1;
		row = rows[BOUND(mid, cp_config.row_mask)];
		after = (u32)((s64)((u64)pc_off - (u32)row) >>
			      63); /* all ones: pc lies before mid */
		hide(after);
		lo = (lo & after) | (mid & ~after);
		hi = (hi & ~after) | ((mid - 1) & after);
		hide(lo);
		hide(hi);
	}
	row = rows[BOUND(lo, cp_config.row_mask)];
	return (u32)row > pc_off ? 0 : row;
}

/* The mapping that covers pc, as an index into cp_mappings, all of whose addresses lie in the lower half; ~0 if there is
 * none. */
__weak u32 find_mapping(u32 lo, u32 cnt, u64 pc)
{
	u32 zero = 0, hi = lo + cnt, end = hi;
	struct cp_mapping *mappings = bpf_map_lookup_elem(&cp_mappings, &zero), *m;

	if (!mappings || pc >> 63)
		return ~0U;
	for (int i = 0; i < 17; i++) {
		u32 mid, below;

		if (lo >= hi)
			break;
		mid = (lo + hi) >> 1;
		m = &mappings[BOUND(mid, cp_config.mapping_mask)];
		below = (u32)((s64)(pc - m->end) >> 63); /* all ones: pc < end */
		hide(below);
		hi = (hi & ~below) | (mid & below);
		lo = (lo & below) | ((mid + 1) & ~below);
		hide(lo);
		hide(hi);
	}
	if (lo >= end)
		return ~0U;
	m = &mappings[BOUND(lo, cp_config.mapping_mask)];
	return pc < m->start || pc >= m->end ? ~0U : lo;
}

#endif
