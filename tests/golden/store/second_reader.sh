#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A reader made from docs/FORMAT.md finds what dump prints.
. tests/golden/lib.sh
command -v zstd > /dev/null || { echo "the zstd command is missing"; exit 77; }
"$cp" load tests/fuzz/corpus/text/all -o "$T/hand.cprof"
tail -c +2 tests/fuzz/corpus/cprof/file > "$T/random.cprof"
for f in hand random; do
	"$cp" dump "$T/$f.cprof" > "$T/$f.txt"
	python3 -B tests/tools/cprof_compare.py docs/FORMAT.md "$T/$f.cprof" "$T/$f.txt"
done | expect second_reader
