#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The man page is clean troff and knows every option; the completion completes verbs, options, choices, PIDs and files;
# make install puts exactly three files under DESTDIR and uninstall takes exactly these.
. tests/golden/lib.sh
scripts/make-man "$cp" > "$T/causeprof.1"
scripts/make-completion "$cp" > "$T/completion"

if command -v groff > /dev/null; then
	groff -man -Tutf8 -Kutf8 -ww -z "$T/causeprof.1" 2> "$T/said"
	[ ! -s "$T/said" ] || { head "$T/said"; exit 1; }
fi
for o in $("$cp" --dump-options | awk -F '\t' '$1 == "option" { print $2 }' | sort -u); do
	grep -qF -e "$(printf '%s' "$o" | sed 's/-/\\-/g')" "$T/causeprof.1" || { echo "the man page lacks $o"; exit 1; }
done

cat > "$T/complete.bash" <<'B'
. "$1"; shift
COMP_WORDS=(causeprof "$@"); COMP_CWORD=$#; COMPREPLY=()
_causeprof
printf '%s\n' "${COMPREPLY[@]}"
B
completes() { # WANTED WORD...
	want=$1; shift
	bash "$T/complete.bash" "$T/completion" "$@" > "$T/reply"
	grep -qxF -e "$want" "$T/reply" || { echo "'$*' does not complete to '$want' but to:"; head "$T/reply"; exit 1; }
}
completes record rec
completes doctor ''
completes --duration -p 1 --dur
completes --no-svg record --no-s
completes dwarf record --unwind dw
completes dwarf record --unwind = dw
completes "$$" record -p "$$"
completes "1,$$" record -p "1,$$"
completes "$T/causeprof.1" report "$T/cause"
completes --json doctor --j
bash "$T/complete.bash" "$T/completion" doctor --dur > "$T/reply"
! grep -q . "$T/reply" || { echo "doctor completes an option of record"; exit 1; }

mkdir -p "$T/root/usr/bin"; touch "$T/root/usr/bin/other"
make -s --no-print-directory O="${O:-build}" DESTDIR="$T/root" prefix=/usr install > /dev/null
(cd "$T/root" && find . -type f | sort) > "$T/files"
expect install < "$T/files"
"$T/root/usr/bin/causeprof" --version > /dev/null
make -s --no-print-directory O="${O:-build}" DESTDIR="$T/root" prefix=/usr uninstall > /dev/null
[ "$(cd "$T/root" && find . -type f)" = ./usr/bin/other ] || { echo "uninstall left or took too much:"; find "$T/root" -type f; exit 1; }
