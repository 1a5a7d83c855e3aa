#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# dump and load are each other's reverse; files are replaced only when asked.
. tests/golden/lib.sh
tail -c +2 tests/fuzz/corpus/cprof/file > "$T/a.cprof"
"$cp" dump "$T/a.cprof" -o "$T/a.txt"
"$cp" load "$T/a.txt" -o "$T/b.cprof"
cmp "$T/a.cprof" "$T/b.cprof"
# a file from before a column was added
tail -c +2 tests/fuzz/corpus/cprof/file_older | "$cp" dump - | cmp - "$T/a.txt"
"$cp" dump - < "$T/b.cprof" | "$cp" load - -o - | cmp - "$T/a.cprof"
"$cp" load tests/fuzz/corpus/text/all -o "$T/hand.cprof"
"$cp" dump "$T/hand.cprof" | expect dump
"$cp" dump --redact "$T/hand.cprof" | expect redacted
"$cp" dump --redact-key=secret "$T/hand.cprof" > "$T/keyed"
! "$cp" dump --redact "$T/hand.cprof" | cmp -s - "$T/keyed"
head -c 300 "$T/a.cprof" > "$T/cut.cprof"
{
	fails 1 "$cp" load "$T/a.txt" -o "$T/b.cprof"
	"$cp" load "$T/a.txt" -o "$T/b.cprof" --force
	fails 1 "$cp" dump "$T/cut.cprof"
	fails 1 "$cp" dump "$T/none.cprof"
	fails 1 "$cp" dump "$T/a.txt"
	fails 1 "$cp" load "$T/a.cprof" -o "$T/c.cprof"
	fails 1 "$cp" load "$T/a.txt" -o "$T/none/c.cprof"
	fails 2 "$cp" load "$T/a.txt"
	fails 2 "$cp" dump
	fails 2 "$cp" dump a b
} | sed "s|$T/||g" | expect messages
