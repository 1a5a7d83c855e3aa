#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Separate debug files: where they are looked for, and that only the right one is taken.
. tests/golden/lib.sh
cat > "$T/t.c" <<'C'
__attribute__((noinline)) static int hidden(int x) { return x * 3 + 1; }
int main(int c, char **v) { (void)v; return hidden(c); }
C
mkdir -p "$T/bin/.debug" "$T/dbg$T/bin" "$T/ids/.build-id"
gcc -g -O1 -o "$T/full" -Wl,--build-id=sha1 "$T/t.c"
at=$(nm "$T/full" | awk '$3 == "hidden" { print $1 }')
id=$(readelf -n "$T/full" | awk '/Build ID/ { print $3 }')
objcopy --only-keep-debug "$T/full" "$T/t.debug"
(cd "$T" && objcopy -S --add-gnu-debuglink=t.debug full bin/t)
(cd "$T" && objcopy -S --remove-section=.note.gnu.build-id --add-gnu-debuglink=t.debug full bin/no-id)
objcopy --only-keep-debug --remove-section=.note.gnu.build-id "$T/full" "$T/no-id.debug"
ask() { "$cp" symbolize --debug-dirs "$T/dbg:$T/ids" --elf "$T/bin/$1" "$at" | sed "s/^$at/$2:/; s/0x$at/-/"; }
{
	ask t nowhere
	cp "$T/t.debug" "$T/bin/t.debug"; ask t beside; rm "$T/bin/t.debug"
	cp "$T/t.debug" "$T/bin/.debug/t.debug"; ask t .debug; rm "$T/bin/.debug/t.debug"
	cp "$T/t.debug" "$T/dbg$T/bin/t.debug"; ask t global; rm "$T/dbg$T/bin/t.debug"
	dir=$T/ids/.build-id/$(echo "$id" | cut -c1-2); mkdir "$dir"
	ln -s "$T/t.debug" "$dir/$(echo "$id" | cut -c3-).debug"; ask t build-id; rm -r "$dir"
	# the debuglink's CRC decides where there is no build-id: that of t.debug was recorded
	cp "$T/t.debug" "$T/bin/t.debug"; ask no-id crc
	echo >> "$T/bin/t.debug"; ask no-id 'wrong crc'
	sed 's/hidden/other_/' "$T/t.c" > "$T/u.c"
	gcc -g -O1 -o "$T/u" -Wl,--build-id=sha1 "$T/u.c"; cp "$T/u" "$T/bin/t.debug"; ask t 'wrong build-id'
	mkfifo "$T/fifo"; mv "$T/fifo" "$T/bin/t.debug"; ask t fifo
} | expect debug_files
