#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same answer from one thread and many, from files, lines, a pipe, gzip and zstd, from the parts merged in
# any order, and a second time.
. tests/golden/lib.sh
g=${O:-build}/tests/workloads/spangen
[ -x "$g" ] || { echo "spangen is not built"; exit 77; }
$g endpoint 2 300 1 > "$T/all.jsonl"
mkdir "$T/files"
(cd "$T/files" && split -l 25 -d --additional-suffix=.json ../all.jsonl)
gzip -c "$T/all.jsonl" > "$T/all.jsonl.gz"
zstd -q "$T/all.jsonl" -o "$T/all.jsonl.zst" 2>/dev/null || cp "$T/all.jsonl" "$T/all.jsonl.zst"
want=$($cp critical -j 1 -f folded "$T/all.jsonl" 2>/dev/null | sha256sum)
check() { got=$(cat | sha256sum); [ "$got" = "$want" ] || { echo "$1 differs"; exit 1; }; }
$cp critical -j 4 -f folded "$T/all.jsonl" 2>/dev/null | check threads
$cp critical -j 3 -f folded "$T/files" 2>/dev/null | check folder
$cp critical -f folded - < "$T/all.jsonl" 2>/dev/null | check pipe
$cp critical -f folded "$T/all.jsonl.gz" 2>/dev/null | check gzip
$cp critical -f folded "$T/all.jsonl.zst" 2>/dev/null | check zstd
for f in "$T"/files/*.json; do $cp critical --partial -o "${f%.json}.ccct" "$f" 2>/dev/null; done
$cp critical -f folded "$T"/files/*.ccct 2>/dev/null | check partials
# shellcheck disable=SC2046 # names without blanks
$cp critical --partial -o "$T/up.ccct" "$T"/files/*.ccct
$cp critical --partial -o "$T/down.ccct" $(ls -r "$T"/files/*.ccct)
cmp "$T/up.ccct" "$T/down.ccct"
$cp critical --partial -o "$T/whole.ccct" "$T/all.jsonl" 2>/dev/null
$cp critical --json "$T/up.ccct" | grep -v '"files"' > "$T/up.json"
$cp critical --json "$T/whole.ccct" | grep -v '"files"' > "$T/whole.json"
cmp "$T/up.json" "$T/whole.json"
$cp critical --write "$T/w1" "$T/all.jsonl" 2>/dev/null
$cp critical --write "$T/w2" -j 1 "$T/all.jsonl" 2>/dev/null
diff -r "$T/w1" "$T/w2"
