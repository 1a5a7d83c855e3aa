#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel symbols: any order, data names no code, owners are kept, hidden addresses are said to be hidden.
. tests/golden/lib.sh
cat > "$T/k" <<'K'
ffffffff81000000 T _stext
ffffffff81000100 t local_alias
ffffffff81000100 T do_thing
ffffffff81000200 T finish_task_switch.isra.0
ffffffff81000300 D some_data
ffffffff81000400 W weak_fn
ffffffffc0001000 t mod_fn	[nf_conntrack]
ffffffffc0001800 t mod_fn2	[nf_conntrack]
ffffffffc0100000 t bpf_prog_00c0ffee12345678_filter	[bpf]
ffffffff81000600 T out_of_order
nonsense
ffffffff81a00000 T _etext
K
sed 's/^ffffffff......../0000000000000000/' "$T/k" > "$T/zero"
"$cp" symbolize --kallsyms "$T/k" ffffffff80000000 ffffffff81000000 ffffffff81000104 ffffffff81000210 \
	ffffffff81000310 ffffffff81000410 ffffffff81000604 ffffffff81a00010 ffffffffc0001004 ffffffffc0001804 \
	ffffffffc0100010 ffffffffc0200000 > "$T/out"
"$cp" symbolize --keep-suffixes --kallsyms "$T/k" ffffffff81000210 >> "$T/out"
"$cp" symbolize --return --kallsyms "$T/k" ffffffff81000200 ffffffff81000201 >> "$T/out"
"$cp" symbolize --kallsyms "$T/zero" ffffffff81000104 ffffffff81000210 >> "$T/out" 2> "$T/err"
"$cp" symbolize --kallsyms "$T/k" --why ffffffff81000310 | sed "s|$T||" >> "$T/out"
cat "$T/err" >> "$T/out"
expect kallsyms < "$T/out"
