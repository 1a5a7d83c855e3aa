#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# elfutils' own server finds a separate debug file by its build-id and gives it to us; an id that it does not know is told.
. tests/golden/lib.sh
command -v debuginfod > /dev/null || { echo "no debuginfod (scripts/install-deps test)"; exit 77; }
cat > "$T/t.c" <<'C'
__attribute__((noinline)) static int hidden(int x) { return x * 3 + 1; }
__attribute__((always_inline)) static inline int inlined(int x) { return hidden(x) + hidden(x + 1); }
int main(int c, char **v) { (void)v; return inlined(c); }
C
mkdir "$T/debug" "$T/home"
for p in t other; do
	gcc -g -O1 "-DNAME_$p" -Wl,--build-id=sha1 -o "$T/$p.full" "$T/t.c"
	strip -o "$T/$p" "$T/$p.full"
	printf 'int version_of_%s;\n' "$p" >> "$T/t.c"
done
objcopy --only-keep-debug "$T/t.full" "$T/debug/t.debug"
id=$(readelf -n "$T/t" | awk '/Build ID/ { print $3 }')
[ "$id" != "$(readelf -n "$T/other" | awk '/Build ID/ { print $3 }')" ]
at=$(nm "$T/t.full" | awk '$3 == "hidden" { print $1 }')
main=$(nm "$T/t.full" | awk '$3 == "main" { print $1 }')
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
HOME=$T/home debuginfod -d :memory: -p "$port" -t 0 -F "$T/debug" > "$T/log" 2>&1 & server=$!
trap '{ kill $server; wait $server; } 2> /dev/null || true; rm -rf "$T"' EXIT
python3 - "http://127.0.0.1:$port/buildid/$id/debuginfo" <<'P' || { tail "$T/log"; echo "the server does not know the file"; exit 1; }
import sys, time, urllib.request
for _ in range(300): # it answers before it has seen its folder
    try:
        sys.exit(len(urllib.request.urlopen(sys.argv[1]).read()) == 0)
    except OSError:
        time.sleep(0.1)
sys.exit(1)
P
export DEBUGINFOD_URLS="http://127.0.0.1:$port"
ask() { "$cp" symbolize "$@" --debug-dirs "$T/none" | sed "s/^0*\($at\|$main\)/-/; s/0x0*$at/-/; s|$T|T|g" | sed 's/^[0-9a-f][0-9a-f]* /- /'; }
{
	ask --elf "$T/t" "$at"
	ask --elf "$T/t" --no-debuginfod "$at" | sed 's/0x[0-9a-f]*/-/'
	ask --elf "$T/t" --lines "$(printf '%x' $((0x$main + 6)))"
	echo "an id that the server does not know:"
	ask --elf "$T/other" "$at" --why | grep -E '^-|debuginfod' | sed 's/as user [0-9]*/as user UNPRIVILEGED/; s/ 0x[0-9a-f]*/ -/'
} > "$T/out"
expect debuginfod_server < "$T/out"
# what it served went to us, by its own account
kill $server; wait $server 2> /dev/null || true
grep -q "GET /buildid/$id/debuginfo 200" "$T/log" || grep -q "buildid/$id/debuginfo.* 200" "$T/log" || { tail "$T/log"; exit 1; }
