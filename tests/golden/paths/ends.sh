#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Messages stamped at both ends: the network's share of each call, as a column and as a node; span tables joined.
. tests/golden/lib.sh
cat > "$T/both" <<'END'
0.000 CALL C W 1
0.010 CALL C W 1
0.100 CALL W A 2
0.101 CALL W A 2
0.150 RET A W 2
0.151 RET A W 2
0.300 RET W C 1
0.310 RET W C 1
END
printf 'front\tin\tuser\t1000\t9000\ti1\nfront\tout\tback\t2000\t4000\to1\nback\tin\tfront\t2500\t3800\ti2\nback\tout\tdb\t2600\t3000\to2\n' > "$T/spans"
{
	$cp paths --method nesting --dedup 20ms "$T/both" 2>&1
	$cp paths --method nesting --dedup 20ms --network-node C,W "$T/both" 2> /dev/null
	(cd "$T" && fails 1 "$OLDPWD/$cp" paths --method nesting --network-node C,A both)
	$cp paths --method nesting "$T/spans" 2>&1
	$cp paths --method nesting --links "$T/spans" 2> /dev/null
} | expect ends
