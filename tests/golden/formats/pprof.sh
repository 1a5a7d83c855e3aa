#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pprof: what an independent reader of the wire format sees in our file.
. tests/golden/lib.sh
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
cat > "$T/in.folded" <<'END'
srv;main;read;vfs_read_[k];[sleep] 1000000001
srv;main;work;inl_[i];[running] 123456789
END
$cp import --unit ns "$T/in.folded" -o "$T/p.cprof"
{
	$cp export "$T/p.cprof" -o "$T/p.pb.gz"
	python3 tests/golden/formats/pprof_decode.py "$T/p.pb.gz"
	echo "-- perf script with modules"
	printf 'app 9 1.0: 250000 cpu-clock: \n\t10 f+0x1 (/bin/app)\n\t20 main (/bin/app)\n\n' > "$T/in.txt"
	$cp export "$T/in.txt" --format pprof > "$T/q.pb.gz"
	python3 tests/golden/formats/pprof_decode.py "$T/q.pb.gz"
	echo "-- damaged"
	gzip -dc "$T/p.pb.gz" | head -c 100 > "$T/cut.pb"; fails 1 "$cp" export "$T/cut.pb" | sed "s|$T|T|"
	fails 1 "$cp" export --event nothing "$T/p.pb.gz" | sed "s|$T|T|"
} | expect pprof
