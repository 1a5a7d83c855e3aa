// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's symbols near the addresses that are wanted. /proc/kallsyms has all of them as text, and most of the
 * time to read it is spent on making that text; here nothing is formatted, and what cannot name a wanted
 * address does not leave the kernel. */
#include "bpf/rows.bpf.h"

/* Sorted. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64[CP_KSYM_WANTED_MAX]);
} cp_ksym_wanted SEC(".maps");

struct ksym_line {
	struct cp_ksym head;
	char text[CP_KSYM_NAME_BYTES + CP_KSYM_OWNER_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ksym_line);
} cp_ksym_line SEC(".maps");

__u32 cp_ksym_cnt = 0; /* of wanted addresses */
__u32 cp_ksym_at =
	0; /* the first one that is not below the last symbol: symbols mostly come in order */

#define WANTED(at) wanted[BOUND(at, CP_KSYM_WANTED_MAX - 1)]

/* The first wanted address that is not below addr; ~0: none. */
__weak u64 find_wanted(u64 addr)
{
	u32 zero = 0, lo = 0, hi = cp_ksym_cnt, at = cp_ksym_at;
	u64 *wanted = bpf_map_lookup_elem(&cp_ksym_wanted, &zero);

	if (!wanted)
		return ~0ULL;
	if (at < hi && WANTED(at) >= addr && (!at || WANTED(at - 1) < addr))
		return WANTED(at);
	for (int i = 0; i < 16; i++) {
		u32 mid, below;

		if (lo >= hi)
			break;
		mid = (lo + hi) >> 1;
		/* verifier: no branches; all addresses of the kernel have the same sign. All ones: wanted < addr */
		below = (u32)((s64)(WANTED(mid) - addr) >> 63);
		hide(below);
		lo = (lo & ~below) | ((mid + 1) & below);
		hi = (hi & below) | (mid & ~below);
		hide(lo);
		hide(hi);
	}
	cp_ksym_at = lo;
	return lo < cp_ksym_cnt ? WANTED(lo) : ~0ULL;
}

SEC("iter/ksym")
int cp_ksym(struct bpf_iter__ksym *ctx)
{
	struct kallsym_iter *k = ctx->ksym;
	struct ksym_line *line;
	u64 addr, wanted, len;
	long name_bytes, owner_bytes = 0;
	u32 zero = 0;
	char type;

	if (!k || !k->show_value)
		return 0;
	addr = k->value;
	wanted = find_wanted(addr);
	if (wanted == ~0ULL || wanted - addr >= CP_KSYM_REACH_BYTES)
		return 0;
	line = bpf_map_lookup_elem(&cp_ksym_line, &zero);
	if (!line)
		return 0;
	name_bytes = bpf_probe_read_kernel_str(line->text, CP_KSYM_NAME_BYTES, k->name);
	if (name_bytes <= 0 || name_bytes > CP_KSYM_NAME_BYTES)
		return 0;
	type = k->type;
	owner_bytes = bpf_probe_read_kernel_str(line->text + name_bytes, CP_KSYM_OWNER_BYTES,
						k->module_name);
	if (owner_bytes <= 1 || owner_bytes > CP_KSYM_OWNER_BYTES)
		owner_bytes = 0;
	else if (k->exported)
		type &= ~0x20; /* as /proc/kallsyms has it: upper case */
	else
		type |= 0x20;
	line->head.addr = addr;
	line->head.name_bytes = name_bytes;
	line->head.owner_bytes = owner_bytes;
	line->head.type = type;
	len = sizeof(line->head) + name_bytes + owner_bytes;
	if (len > sizeof(*line))
		return 0;
	bpf_seq_write(ctx->meta->seq, line, len);
	return 0;
}
