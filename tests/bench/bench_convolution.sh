#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The convolution part of the SOSP 2003 paper's evaluation on synthetic traces of the same make and size, as
# tables: figures 13, 16 and 23, table 1, and the accuracy over quanta of mail. The paper's figures stand beside.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build}
cp=$O/causeprof
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT

# conv TRACE OPTIONS: JSON to $tmp/out; prints "CPU-seconds peak-MB"
conv() {
	trace=$1; shift
	/usr/bin/time -o "$tmp/time" -f '%U %M' "$cp" paths --method convolution --json "$@" "$trace" > "$tmp/out" 2> /dev/null
	awk '{ printf "%.2f | %.0f", $1, $2 / 1024 }' "$tmp/time"
}

for t in t1 t2 mail; do "$cp" maketrace "tests/traces/$t.conf" -o "$tmp/$t.txt" > /dev/null; done

echo '### Table 1: cost'
echo
echo '| trace | quantum | paper, CPU s | paper, MB | causeprof, CPU s | MB |'
echo '|---|---|---|---|---|---|'
echo "| multi-tier (T1), 202,520 messages | 20 ms | 6,684 | 0.2 | $(conv "$tmp/t1.txt" --quantum 20ms --no-echo) |"
echo "| the same, WS2 delayed (T2) | 20 ms | 6,709 | 0.2 | $(conv "$tmp/t2.txt" --quantum 20ms --no-echo) |"
echo "| T1 | 5 ms | - | - | $(conv "$tmp/t1.txt" --quantum 5ms --no-echo) |"
echo "| T1, S = 10 million quanta | 122 us | - | - | $(conv "$tmp/t1.txt" --quantum 122us --no-echo) |"
echo "| mail, 81,781 hops | 5 s | 2,106 | 131 | $(conv "$tmp/mail.txt" --quantum 5 --max-lag 300) |"
echo "| mail, 81,781 hops | 30 s | 338 | 36 | $(conv "$tmp/mail.txt" --quantum 30 --max-lag 300) |"
echo
echo '### Figure 13: 200 ms inserted at WS2, between its call of AUTH and its call of AP'
echo
echo 'Delay at WS2 between the reply of AUTH and the call of AP1 or AP2, from the most frequent path that has it; the'
echo 'paper: 0.02 s, and 0.21 s with the insertion.'
echo
echo '| quantum | normal (T1) | inserted (T2) | difference | the same at WS1 |'
echo '|---|---|---|---|---|'
cat > "$tmp/delay.py" <<'P'
import json, sys
def delay(path, ws):
    for p in json.load(open(path))['paths']:
        n, d = p['nodes'], p['delays_ns']
        for k in range(1, len(n) - 1):
            if n[k] == ws and n[k - 1] == 'AUTH' and n[k + 1].startswith('AP') and n[1:4] == [ws, 'AUTH', ws] and k == 3:
                return d[k - 1] / 1e6
    return float('nan')
a, b = sys.argv[1:]
w2, x2, w1, x1 = delay(a, 'WS2'), delay(b, 'WS2'), delay(a, 'WS1'), delay(b, 'WS1')
print('%.1f ms | %.1f ms | %.1f ms | %.1f ms' % (w2, x2, x2 - w2, x1 - w1))
P
for q in 100ms 20ms 5ms; do
	conv "$tmp/t1.txt" --quantum $q --no-echo > /dev/null; mv "$tmp/out" "$tmp/normal"
	conv "$tmp/t2.txt" --quantum $q --no-echo > /dev/null
	echo "| $q | $(python3 "$tmp/delay.py" "$tmp/normal" "$tmp/out") |"
done
echo
echo '### Figure 16: mail, frequent paths at a quantum of 5 s'
echo
echo 'The paper found delays of 0 and side peaks of 10 or 15 s, which were real. Here the side peaks are 10 s at gw2 and'
echo '15 s at hub2, by construction.'
echo
echo '```'
"$cp" paths --method convolution --quantum 5 --max-lag 300 "$tmp/mail.txt" 2> /dev/null
echo '```'
echo
echo '### Accuracy over quanta, mail'
echo
echo 'The paper: 21 to 29 % false positives; none (but at 720 s) once paths of fewer than 100 messages are dropped; no'
echo 'frequent path missed. A found path is false if its nodes are no run of consecutive nodes of a true one.'
echo
echo '| quantum | paths found | false | false, at least 100 messages | frequent paths missed (of 5) |'
echo '|---|---|---|---|---|'
cat > "$tmp/accuracy.py" <<'P'
import json, sys
true, now = [], None
for line in open('tests/traces/mail.conf'):
    w = line.split('#')[0].replace('->', ' -> ').split()
    if w[:1] == ['tracelet']: now = []; true.append(now)
    elif len(w) > 3 and w[1] == '->': now += [w[0], w[2]] if not now else [w[2]]
paths = json.load(open(sys.argv[1]))['paths']
def is_true(n): return any(t[i:i + len(n)] == n for t in true for i in range(len(t)))
false = [p for p in paths if not is_true(p['nodes'])]
big = [p for p in paths if p['messages'] >= 100]
missed = sum(t not in [p['nodes'] for p in paths] for t in true)
pc = lambda a, b: '%d (%.0f %%)' % (a, 100 * a / max(b, 1))
print('%d | %s | %s | %d' % (len(paths), pc(len(false), len(paths)), pc(sum(not is_true(p['nodes']) for p in big), len(big)), missed))
P
for q in 5 30 60 120 360 720; do
	conv "$tmp/mail.txt" --quantum $q --max-lag 7200 > /dev/null
	echo "| $q s | $(python3 "$tmp/accuracy.py" "$tmp/out") |"
done
echo
echo '### Figure 23: cost of one correlation against S'
echo
echo 'A message every fourth quantum (dense), 1,000 lags, CPU ms; the paper: proportional to S log S.'
echo
echo '| S | transform | per S log2 S, ns | direct sum |'
echo '|---|---|---|---|'
"$O/tests/bench/xcorr_growth" | awk -F'\t' '{ printf "| %d | %.1f | %.3f | %.1f |\n", $1, $2, $2 * 1e6 / ($1 * log($1) / log(2)), $3 }'
