#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What cannot be analysed ends in one clear line and the right status.
. tests/golden/lib.sh
D=tests/golden/critical
printf '{"data":[{"traceID":"t","spans":[{"spanID":"a","startTime":1,"dur' > "$T/cut.json"
printf 'not json' > "$T/text.json"
printf '{"data":[]}' > "$T/empty.json"
printf '{"data":[{"traceID":"t","spans":[{"spanID":"a","startTime":1,"duration":2}]}]}' > "$T/good.json"
{
	fails 2 "$cp" critical
	fails 1 "$cp" critical "$T/cut.json"
	fails 1 "$cp" critical "$T/text.json"
	fails 1 "$cp" critical "$T/empty.json"
	fails 1 "$cp" critical "$T/absent.json"
	fails 1 "$cp" critical -S nobody "$T/good.json"
	fails 1 "$cp" critical -f diff -P 50 "$T/good.json"
	fails 2 "$cp" critical -f folded -P 70-20 "$T/good.json"
	fails 1 "$cp" critical --compare "$T/good.json"
	fails 2 "$cp" critical --what-if 'a=5' "$T/good.json"
	fails 2 "$cp" critical score "$T/good.json"
	fails 1 "$cp" critical score -m "$T/good.json" "$T/good.json"
	fails 1 "$cp" critical train -m "$T/m" "$T/good.json"
	fails 0 "$cp" critical --skip-bad -f operations "$T/good.json" "$T/cut.json"
	fails 3 "$cp" critical --strict -f operations $D/durations.json $D/orphans.json
} 2>&1 | sed "s,$T,TMP,g" | expect errors
