#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Folded text: dialects in, exact values, kinds and suffixes kept, what is refused is said.
. tests/golden/lib.sh
{
	printf 'app;f;g 1e-3\napp;f;g 0.999\napp;big 18446744073709551615\n'
	printf 'app;a b;step 12 6\napp;k_[k];in_[i];j_[j] 3\napp;x\\x3by;z 2\n'
	printf 'app;wait;[sleep] 1.5e3\napp;hot;[running] 7\r\n'
} > "$T/in.folded"
{
	echo "-- as it is"; $cp export "$T/in.folded" 2>&1
	echo "-- through a profile"; $cp import --unit us "$T/in.folded" -o "$T/p.cprof" 2>&1 | sed "s|$T|T|"
	$cp export "$T/p.cprof"
	echo "-- in us, without marks"; $cp export --in us --no-suffixes --no-kinds "$T/p.cprof"
	echo "-- refused"
	printf 'a -5\nb 0x10\nc 12V.43\nd nan\nok 7\n' > "$T/bad.folded"
	$cp export "$T/bad.folded" 2>&1 | sed "s|$T|T|"
	echo "-- rounding: three thirds are one"
	printf 'a 0.333333333\na 0.333333333\na 0.333333334\nb 0.4\nc 0.5\n' | $cp export - 2>&1
	echo "-- byte order mark, no last newline"
	printf '\357\273\277a;b 1\nc 2' | $cp export -
	echo "-- nothing"
	: > "$T/empty"; fails 1 "$cp" export "$T/empty" | sed "s|$T|T|"
	printf 'a 0\n' > "$T/zero"; fails 1 "$cp" export "$T/zero" | sed "s|$T|T|"
	printf 'a\0;\0b\0 \0001\0\n\0' > "$T/utf16"; fails 1 "$cp" export "$T/utf16" | sed "s|$T|T|"
} | expect folded
