#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every verb answers --help on standard output with status 0; an unknown option or verb is one line that names it, and
# status 2; no verb takes a beginning of an option for the option.
. tests/golden/lib.sh
verbs=$("$cp" --dump-options | awk -F '\t' '$1 == "verb" { print $2 }')
[ "$(echo "$verbs" | wc -l)" -ge 16 ] || { echo "the tables name only: $verbs"; exit 1; }
for v in $verbs; do
	"$cp" "$v" --help > "$T/help" 2> "$T/said" || { echo "$v --help: status $?"; exit 1; }
	grep -q "^usage: causeprof $v" "$T/help" || { echo "$v --help: no usage"; exit 1; }
	[ ! -s "$T/said" ] || { echo "$v --help: talks: $(cat "$T/said")"; exit 1; }
	for o in $("$cp" --dump-options | awk -F '\t' -v v="$v" '$1 == "verb" { in_verb = $2 == v } $1 == "option" && in_verb { print $2 }'); do
		grep -q -e " $o\( \|\$\)" "$T/help" || { echo "$v --help does not tell of $o"; exit 1; }
	done
	for o in --bogus --hel --bogus=1; do
		fails 2 "$cp" "$v" "$o" > "$T/said"
		grep -v '^causeprof [a-z]* --help tells the options.$' "$T/said" > "$T/line" || true
		echo "causeprof: unknown option ${o%=1}" | cmp -s - "$T/line" || { echo "$v $o says: $(cat "$T/said")"; exit 1; }
	done
done
for o in --help --version --dump-options 'fold --help'; do
	# shellcheck disable=SC2086 # two words
	if "$cp" $o > /dev/full 2> "$T/said"; then echo "$o into a full disk: status 0"; exit 1; fi
	grep -qx 'causeprof: cannot write to standard output' "$T/said" || { echo "$o into a full disk says: $(cat "$T/said")"; exit 1; }
done
fails 2 "$cp" bogus | expect help_bogus
fails 2 "$cp" rec | grep -q "unknown verb 'rec'"
