#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Unwind rows: milliseconds a file, rows, bytes; directly, in the sandbox, and beside libdw in the same run.
# Then all files that a mariadbd maps. Medians of 9 (interleaved, CPU time), with quartiles; the sandbox: best of 9 (wall time).
set -eu
O=${O:-build}
bench=$O/tests/bench/rows_bench
make --no-print-directory "$bench" > /dev/null
"$bench" 9 /usr/sbin/mariadbd /lib/x86_64-linux-gnu/libc.so.6 /lib/x86_64-linux-gnu/libstdc++.so.6 \
	/lib64/ld-linux-x86-64.so.2 /usr/bin/gdb /usr/bin/python3.11 /usr/bin/node \
	/usr/lib/x86_64-linux-gnu/libcrypto.so.3 /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 \
	/usr/lib/chromium/chromium
if [ -x /usr/sbin/mariadbd ]; then
	echo
	echo 'mariadbd and its libraries:'
	# shellcheck disable=SC2046 # paths without blanks
	"$bench" 9 /usr/sbin/mariadbd $(ldd /usr/sbin/mariadbd | grep -oE '/[^ ]+' | sort -u)
fi
