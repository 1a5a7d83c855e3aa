#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every format that is written reads back to the same stacks and nanoseconds, kinds and processes included.
. tests/golden/lib.sh
cat > "$T/in.folded" <<'END'
srv;main;<b>&"x"'y';deep 4611686018427387904
srv;main;read;vfs_read_[k];[sleep] 1000000001
srv;main;read;vfs_read_[k];[disk] 2
srv;main;work;[running] 123456789
srv;main;a b;c\x3bd;[running] 1
srv;naïve;ünï;[woken] 77
END
$cp import --unit ns "$T/in.folded" -o "$T/p.cprof"
$cp export "$T/p.cprof" > "$T/want"
for format in folded pprof speedscope firefox otlp; do
	$cp export --format "$format" "$T/p.cprof" > "$T/out"
	$cp export --format "$format" "$T/p.cprof" | cmp - "$T/out"
	unit=''; [ "$format" = folded ] && unit='--unit=ns'
	# shellcheck disable=SC2086 # nothing or one option
	$cp export --from "$format" $unit "$T/out" > "$T/got"
	if cmp -s "$T/got" "$T/want"; then echo "$format: same"; else
		echo "$format: differs"; diff "$T/want" "$T/got" || :; fi
done > "$T/report"
{ cat "$T/report"; cat "$T/want"; } | expect roundtrip
