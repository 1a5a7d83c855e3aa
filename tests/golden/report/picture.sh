#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The picture of a profile: frames with their time by class; the same as that of its folded text.
. tests/golden/lib.sh
titles() { grep -o '<title>[^<]*</title>' | sed 's/<[^>]*>//g'; }
"$cp" load tests/golden/fold/server.txt -o "$T/s.cprof"
"$cp" flame --static --plain "$T/s.cprof" | titles | expect picture
"$cp" flame --static --plain - < "$T/s.cprof" | titles | cmp - tests/golden/report/picture.out
without_counts() { titles | sed '1d; s/; [0-9]* times*)/)/'; }
"$cp" flame --static --plain "$T/s.cprof" | without_counts > "$T/profile"
"$cp" fold --kinds=all --annotate --unit=ns "$T/s.cprof" | "$cp" flame --unit=ns --static --plain | without_counts > "$T/folded"
cmp "$T/profile" "$T/folded"
"$cp" flame "$T/s.cprof" > "$T/1"
"$cp" flame "$T/s.cprof" | cmp - "$T/1"
"$cp" flame --state=blocked --static --plain "$T/s.cprof" | titles | expect picture_blocked
