#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A debug file from a server (on the loopback interface), fetched without privileges.
. tests/golden/lib.sh
python=$(command -v python3) || { echo "no python3"; exit 77; }
cat > "$T/t.c" <<'C'
__attribute__((noinline)) static int hidden(int x) { return x * 3 + 1; }
int main(int c, char **v) { (void)v; return hidden(c); }
C
gcc -g -O1 -Wl,--build-id=sha1 -o "$T/full" "$T/t.c"
gcc -g -O1 -DOTHER -Wl,--build-id=sha1 -Dhidden=fooled -o "$T/other" "$T/t.c"
strip -o "$T/t" "$T/full"
strip -o "$T/u" "$T/other"
at=$(nm "$T/full" | awk '$3 == "hidden" { print $1 }')
for p in full other; do
	id=$(readelf -n "$T/$p" | awk '/Build ID/ { print $3 }')
	mkdir -p "$T/www/buildid/$id"
	# the server answers the second question with the wrong file
	cp "$T/full" "$T/www/buildid/$id/debuginfo"
done
"$python" -u -m http.server 0 --bind 127.0.0.1 --directory "$T/www" > "$T/log" 2> "$T/access" & server=$!
trap '{ kill $server; wait $server; } 2> /dev/null || true; rm -rf "$T"' EXIT
for _ in $(seq 50); do grep -q port "$T/log" && break; sleep 0.1; done
port=$(sed 's/.* port \([0-9]*\).*/\1/' "$T/log")
uid=$(id -u)
[ "$uid" != 0 ] || uid=${SUDO_UID:-65534}
[ "$(id -u)" = 0 ] || { DEBUGINFOD_CACHE_PATH=$T/cache; export DEBUGINFOD_CACHE_PATH; }
before=$(ls -d /tmp/causeprof-debuginfod-* 2> /dev/null || true)
ask() { "$cp" symbolize "$@" --debug-dirs "$T/none" "$at" | sed "s/^$at/-/; s/0x$at/-/"; }
{
	ask --elf "$T/t"
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
	ask --elf "$T/t" --no-debuginfod
	ask --elf "$T/t"
	ask --elf "$T/t" --why | grep debuginfod | sed "s/user $uid/user UNPRIVILEGED/"
	ask --elf "$T/u" --why | grep -E '^-|debuginfod' | sed "s/user $uid/user UNPRIVILEGED/"
	kill $server
	ask --elf "$T/t" --why | grep -E '^-|debuginfod.*(refused|errno|error|fetched)' | sed "s/user $uid/user UNPRIVILEGED/" | sed 's/): .*/): SOMETHING/'
} > "$T/out"
expect debuginfod < "$T/out"
after=$(ls -d /tmp/causeprof-debuginfod-* 2> /dev/null || true)
[ "$before" = "$after" ] || { echo "a temporary cache was left: $after"; exit 1; }
