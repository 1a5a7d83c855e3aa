#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names for many addresses: causeprof symbolize beside addr2line -f -i and perf script, as ratios of the CPU
# time per address in one run. The peers get fewer addresses (their time is linear in them).
#	tests/bench/bench_symbols.sh [PROGRAM [LIBRARY]]
set -u
cp=${O:-build}/causeprof
program=${1:-$(command -v mariadbd || echo /usr/sbin/mariadbd)}
library=${2:-$(ldd "$program" 2> /dev/null | awk '/libc\.so/ { print $3 }')}
OURS=${OURS:-500000} THEIRS=${THEIRS:-3000} ROUNDS=${ROUNDS:-5}
[ -x "$program" ] && [ -r "$library" ] || { echo "bench_symbols: no $program or no C library; skipped"; exit 0; }
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT

# addresses FILE COUNT: anywhere in the executable segment, always the same ones
addresses() {
	readelf -lW "$1" 2> /dev/null | awk -v n="$2" '$1 == "LOAD" && $0 ~ / R E / {
		start = strtonum($3); size = strtonum($6); seed = 1
		for (i = 0; i < n; i++) { seed = (seed * 1103515245 + 12345) % 2147483648; printf "0x%x\n", start + seed % size }
		exit }'
}
command -v gawk > /dev/null && awk() { gawk "$@"; }
if ! echo | awk '{ exit strtonum("0x10") != 16 }' 2> /dev/null; then
	addresses() { python3 - "$1" "$2" <<'P'
import subprocess, sys
for line in subprocess.run(["readelf", "-lW", sys.argv[1]], capture_output=True, text=True).stdout.splitlines():
    f = line.split()
    if f[:1] == ["LOAD"] and " R E " in line:
        start, size, seed = int(f[2], 16), int(f[5], 16), 1
        for _ in range(int(sys.argv[2])):
            seed = (seed * 1103515245 + 12345) % 2147483648
            print("0x%x" % (start + seed % size))
        break
P
	}
fi
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
spread() { sort -n | awk '{ v[NR] = $1 } END { printf "%.2f..%.2f", v[1], v[NR] }'; }
# ns COUNT COMMAND...: nanoseconds of CPU time (also of its children) per address, input from $T/in
ns() {
	local count=$1 TIMEFORMAT='%U %S'
	shift
	{ time "$@" < "$T/in" > "$T/out" 2> "$T/err" || { cat "$T/err" >&2; echo "$* failed" >&2; } } 2> "$T/time"
	[ "$(wc -l < "$T/out")" -ge "$count" ] || { echo "bench_symbols: $*: too few answers: $(cat "$T/err")" >&2; exit 1; }
	tail -n 1 "$T/time" | awk -v n="$count" '{ printf "%d\n", ($1 + $2) * 1e9 / n }'
}

for file in "$program" "$library"; do
	addresses "$file" "$OURS" > "$T/many"
	head -n "$THEIRS" "$T/many" > "$T/few"
	: > "$T/a"; : > "$T/b"; : > "$T/c"; : > "$T/ratio"; : > "$T/ratio_inline"
	for _ in $(seq "$ROUNDS"); do
		cp "$T/many" "$T/in"; a=$(ns "$OURS" "$cp" symbolize --elf "$file"); echo "$a" >> "$T/a"
		c=$(ns "$OURS" "$cp" symbolize --inlined --elf "$file"); echo "$c" >> "$T/c"
		cp "$T/few" "$T/in"; b=$(ns "$THEIRS" addr2line -f -i -e "$file"); echo "$b" >> "$T/b"
		awk "BEGIN { print $b / $a }" >> "$T/ratio"
		awk "BEGIN { print $b / $c }" >> "$T/ratio_inline"
	done
	printf '%-12s addr2line -f -i   %8s ns/address, ours %5s (%s times, %s), with inlined functions %5s (%s times, %s)\n' \
		"$(basename "$file")" "$(median < "$T/b")" "$(median < "$T/a")" "$(median < "$T/ratio" | cut -c1-6)" "$(spread < "$T/ratio")" \
		"$(median < "$T/c")" "$(median < "$T/ratio_inline" | cut -c1-6)" "$(spread < "$T/ratio_inline")"
done

# perf script on one sample for each of the same addresses, half of them in each file. --no-inline: it is about functions.
count=${SAMPLES:-1000000}
if command -v perf > /dev/null && python3 tests/bench/perf_samples.py "$T/perf" "$count" "$program" "$library"; then
	: > "$T/a"; : > "$T/b"; : > "$T/ratio"; : > "$T/start"; : > "$T/beyond"
	for _ in $(seq "$ROUNDS"); do
		: > "$T/in"
		b=$(ns "$count" perf script --no-inline -i "$T/perf" -F ip,sym); echo "$b" >> "$T/b"; mv "$T/out" "$T/theirs"
		cp "$T/perf.0" "$T/in"; a0=$(ns $((count / 2)) "$cp" symbolize --elf "$program"); mv "$T/out" "$T/ours.0"
		cp "$T/perf.1" "$T/in"; a1=$(ns $((count / 2)) "$cp" symbolize --elf "$library"); mv "$T/out" "$T/ours.1"
		a=$(((a0 + a1) / 2)); echo "$a" >> "$T/a"
		awk "BEGIN { print $b / $a }" >> "$T/ratio"
		# what does not depend on the number of addresses: both programs read and sort the same symbols once
		start=0
		for file in "$program" "$library"; do
			echo 0x1000 > "$T/in"; start=$((start + $(ns 1 "$cp" symbolize --elf "$file")))
		done
		echo $((start / count)) >> "$T/start"
		awk "BEGIN { print $b / ($a - $start / $count) }" >> "$T/beyond"
	done
	printf '%s and %s, %s addresses: perf script %5s ns/address, ours %5s (%s times, %s)\n' "$(basename "$program")" \
		"$(basename "$library")" "$count" "$(median < "$T/b")" "$(median < "$T/a")" "$(median < "$T/ratio" | cut -c1-6)" "$(spread < "$T/ratio")"
	printf '  of ours %s ns/address are two runs with one address; without them %s times (%s)\n' \
		"$(median < "$T/start")" "$(median < "$T/beyond" | cut -c1-6)" "$(spread < "$T/beyond")"
	paste -d '\n' "$T/ours.0" "$T/ours.1" | python3 -c '
import re, sys
# perf leaves arguments out, keeps versions, and may choose another alias of an address
def base(name):
    name = re.sub(r"@.*", "", re.sub(r"\(.*", "", name))
    return re.split(r"[ :]", name)[-1].lstrip("_")
both = same = unnamed = other = 0
for ours, theirs in zip(sys.stdin, open(sys.argv[1])):
    ours, theirs = ours.rstrip("\n").split(" ", 1)[1], theirs.strip().split(" ", 1)[1]
    if ours.endswith("[stripped]") or theirs == "[unknown]":
        unnamed += ours.endswith("[stripped]") and theirs == "[unknown]"
        other += not (ours.endswith("[stripped]") and theirs == "[unknown]")
    else:
        both += 1
        same += base(ours) == base(theirs)
print(f"the same: {unnamed} without a name in either, {same} of the {both} with a name in both (without arguments, versions and _); {other} with a name in one")
' "$T/theirs"
fi
