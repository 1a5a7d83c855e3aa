#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is wrong with the question is said in one line; what is wrong with a file is a reason, not a failure.
. tests/golden/lib.sh
echo 'not an ELF file' > "$T/text"
: > "$T/empty"
head -c 100 "$cp" > "$T/cut"
mkfifo "$T/fifo"
mkdir "$T/dir"
{
	fails 2 "$cp" symbolize 1234
	fails 2 "$cp" symbolize --elf "$T/text" --kernel 1234
	fails 2 "$cp" symbolize --elf "$T/text" 12x4
	fails 2 "$cp" symbolize --elf "$T/text" 11112222333344445
	fails 1 "$cp" symbolize -p 4194303 1234
	printf '12\nzz\n' > "$T/in"
	rc=0; "$cp" symbolize --elf "$T/text" < "$T/in" 2>&1 || rc=$?; echo "status $rc"
	fails 1 "$cp" symbolize --elf "$T/none" 1234 | sed "s|$T||"
	for f in text empty cut fifo dir; do
		"$cp" symbolize --elf "$T/$f" 1234 | sed "s/^/$f: /"
	done
	"$cp" symbolize --json --elf "$T/text" 1234 | sed "s|$T||"
} | expect messages
