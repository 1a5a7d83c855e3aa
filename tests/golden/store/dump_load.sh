#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dump and load are each other's reverse; files are replaced only when asked.
. tests/golden/lib.sh
tail -c +2 tests/fuzz/corpus/cprof/file > "$T/a.cprof"
"$cp" dump "$T/a.cprof" -o "$T/a.txt"
"$cp" load "$T/a.txt" -o "$T/b.cprof"
cmp "$T/a.cprof" "$T/b.cprof"
"$cp" dump - < "$T/b.cprof" | "$cp" load - -o - | cmp - "$T/a.cprof"
"$cp" load tests/fuzz/corpus/text/all -o "$T/hand.cprof"
"$cp" dump "$T/hand.cprof" | expect dump
"$cp" dump --redact "$T/hand.cprof" | expect redacted
"$cp" dump --redact-key=secret "$T/hand.cprof" > "$T/keyed"
! "$cp" dump --redact "$T/hand.cprof" | cmp -s - "$T/keyed"
{
	cd "$T"; cp="$OLDPWD/$cp"
	fails 1 "$cp" load a.txt -o b.cprof
	"$cp" load a.txt -o b.cprof --force
	head -c 300 a.cprof > cut.cprof
	fails 1 "$cp" dump cut.cprof
	fails 1 "$cp" dump none.cprof
	fails 1 "$cp" dump a.txt
	fails 1 "$cp" load a.cprof -o c.cprof
	fails 1 "$cp" load a.txt -o none/c.cprof
	fails 2 "$cp" load a.txt
	fails 2 "$cp" dump
	fails 2 "$cp" dump a b
	cd "$OLDPWD"
} | expect messages
