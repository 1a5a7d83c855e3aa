#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The picture of a profile: frames with their time by class; the same as that of its folded text.
. tests/golden/lib.sh
titles() { grep -o '<title>[^<]*</title>' | sed 's/<[^>]*>//g'; }
"$cp" load tests/golden/fold/server.txt -o "$T/s.cprof"
"$cp" flame --static --plain "$T/s.cprof" | titles | expect picture
"$cp" flame --static --plain - < "$T/s.cprof" | titles | cmp - tests/golden/report/picture.out
without_counts() { titles | sed '1d; s/; [0-9]* times)/)/'; }
"$cp" flame --static --plain "$T/s.cprof" | without_counts > "$T/profile"
"$cp" fold --kinds=all --annotate --unit=ns "$T/s.cprof" | "$cp" flame --unit=ns --static --plain | without_counts > "$T/folded"
# a ";" in a name is escaped in folded text, which the profile need not do
sed 's/;code/\\x3bcode/; s/a;b/a\\x3bb/' "$T/profile" | diff - "$T/folded"
"$cp" flame "$T/s.cprof" > "$T/1"
"$cp" flame "$T/s.cprof" | cmp - "$T/1"
"$cp" flame --only-class=blocked --static --plain "$T/s.cprof" | titles | expect picture_blocked
