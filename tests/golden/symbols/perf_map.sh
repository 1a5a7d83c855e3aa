#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Perf maps: the last line that covers an address names it; lines that are no entries are skipped.
. tests/golden/lib.sh
{
	echo '1000 100 old function'
	echo '1080 40 moved here later'
	echo '0x2000 0x10 with prefix /path/file.js:12'
	printf '3000 10 carriage return\r\n'
	echo '4000 0 empty'
	echo 'nonsense'
	echo '5000 10'
	echo 'fffffffffffffff8 10 beyond the end'
	echo '6000 100 outer'
	echo '6010 10 a;b'
	echo '6000 10 first part again'
	printf '7000 10 no newline'
} > "$T/map"
"$cp" symbolize --perf-map "$T/map" fff 1000 107f 1080 10bf 10c0 10ff 1100 2008 300f 3010 4000 5000 fffffffffffffff9 \
	600f 6010 6020 60ff 7000 | expect perf_map
