#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Which of several symbols names an address: sizes, holes, labels, aliases, nesting (symbolize/symtab.h).
. tests/golden/lib.sh
cat > "$T/t.S" <<'S'
	.text
	.globl base
base:
	.type sized,@function
sized:	nop; nop; nop; ret		# 0-3
	.size sized, .-sized
	.fill 12, 1, 0x90		# 4-15 belong to nobody
	.globl no_size
	.type no_size,@function
no_size: nop; nop; nop; ret		# 16-19
	.globl untyped
untyped: nop; nop; nop; ret		# 20-23
	.globl __alias
	.type __alias,@function
__alias:
	.weak alias
	.type alias,@function
alias:
	.type local_alias,@function
local_alias:
marker:	nop				# 24-31
inside:	nop				# a label in the middle names nothing
	.fill 5, 1, 0x90
	ret
	.size __alias, .-__alias
	.size alias, .-alias
	.size local_alias, .-local_alias
	.globl zero
	.type zero,@function
zero:					# better bound, but of size 0
	.type outer,@function
outer:	nop; nop			# 32-43, with inner in 34-37
	.type inner,@function
inner:	nop; nop; nop; nop
	.size inner, .-inner
	.fill 6, 1, 0x90
	.size outer, .-outer
	.globl main
	.type main,@function
main:	xor %eax, %eax
	ret
	.size main, .-main
	.data
	.globl table
	.type table,@object
table:	.quad 1
	.section .note.GNU-stack,"",@progbits
S
gcc -no-pie -o "$T/t" "$T/t.S"
base=$(nm "$T/t" | awk '$3 == "base" { print $1 }')
data=$(nm "$T/t" | awk '$3 == "table" { print $1 }')
for off in 0 3 4 15 16 19 20 23 24 25 31 32 33 34 37 38 43 44; do
	at=$(printf '%x' $((0x$base + off)))
	"$cp" symbolize --elf "$T/t" "$at" | sed "s/^$at/$off/; s/0x$at/-/"
done > "$T/out"
"$cp" symbolize --elf "$T/t" "$data" | sed "s/^$data/data/; s/0x[0-9a-f]*/-/" >> "$T/out"
expect holes < "$T/out"
