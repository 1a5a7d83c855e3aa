#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names as the programmer wrote them; hostile ones end soon and unchanged.
. tests/golden/lib.sh
{
	cat <<'N'
_ZN6Server11handle_lineERKSs
_ZNKSt8functionIFvRiEEclES0_
_ZZN3fooEvENKUlvE_clEv
_ZN12_GLOBAL__N_14workEi
_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE
_RNvCsabcd_5store4open
_ZN3foo3barEv.isra.0.cold
plain.constprop.3
plain.12
.cold
_Z
_ZN
__Z3foov
main.main.func1
_ZNotMangled
N
	# names that double with every part, or nest without end
	python3 -c 'print("_Z1fI" + "4PairIiiE" + "".join("4PairIS%s_S%s_E" % (d, d) for d in [""] + [str(i) for i in range(10)] + [chr(65 + i) for i in range(26)]) + "EvT_")' | tee "$T/double"
	python3 -c 'print("_Z1f" + "P" * 20000 + "i"); print("_ZN" + "4abcd" * 5000 + "E")'
} > "$T/in"
start=$(date +%s)
# a build with sanitizers cannot live under a limit
if (ulimit -v 500000; "$cp" --version > /dev/null 2>&1); then ulimit -v 500000; fi
"$cp" symbolize --demangle < "$T/in" > "$T/out"
[ $(($(date +%s) - start)) -le 5 ]
[ "$(wc -l < "$T/out")" = "$(wc -l < "$T/in")" ]
head -n 15 "$T/out" | expect demangle
tail -n 2 "$T/in" > "$T/want"; tail -n 2 "$T/out" | cmp - "$T/want"
