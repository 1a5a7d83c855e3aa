#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Bad input: a right answer, or one clear line with counts.
. tests/golden/lib.sh
{
	p() { printf '%b' "$1" > "$T/t"; shift; echo "== $*"; (cd "$T" && "$OLDPWD/$cp" paths --method nesting "$@" t 2>&1) || echo "status $?"; }
	p ''
	p '1 MSG A B -\n2 MSG B C -\n'
	p '4 RET B A 1\n1 CALL A B 1\n3 RET C B 2\n2 CALL B C 2\n'
	p '1 CALL A B 1\n2 RET B A 1\n3 CALL A B 2\n4 RET C A 9\n5 CALL A A 3\n6 RET A A 3\n'
	p '1 CALL A B 1\nnonsense\n2 RET B A 1\n'
	p '1 CALL A B 1\nnonsense\n2 RET B A 1\n' --skip-bad
	p '1 CALL A B 1\n1e5 RET B A 1\n'
	p '99999999999999999999 CALL A B 1\n'
	p '1 JUMP A B 1\n'
	p '#unit fortnights\n1 CALL A B 1\n'
	p '#unit us\n1 CALL A%20b B 1 7/8 call:9\n5 RET B A%20b 1\n'
	p '1 CALL A B 1 x\n'
	p 'a\tin\tb\t5\t3\tx\n'
	p 'a\tin\tb\t3\t5\tx\na\tout\tc\t4\t5\n'
	p '{"data":[]}'
	p '1 CALL A B 1\n2 RET B A 1\n' --truth nowhere
	p '1 CALL A B 1\n2 RET B A 1\n' --compare
	p '1 CALL A B 1\n2 RET B A 1\n' -o nowhere/x.dot
} | expect bad
