#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# JSON formats: what is wrong is refused with its place; what is open ends; units are not added together.
. tests/golden/lib.sh
frames='"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b;c"},{"name":"d","file":"x.c","line":3}]}'
profile() { printf '{%s,"profiles":[%s]}' "$frames" "$1" > "$T/in.json"; }
show() { $cp export "$T/in.json" 2>&1 | sed "s|$T|T|"; }
{
	profile '{"type":"evented","name":"open","unit":"milliseconds","startValue":0,"endValue":10,"events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":2,"at":4.5}]}'; show
	profile '{"type":"evented","name":"back","unit":"nanoseconds","startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":5},{"type":"C","frame":0,"at":4}]}'; show
	profile '{"type":"evented","name":"cross","unit":"none","startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":2,"at":1},{"type":"C","frame":0,"at":5}]}'; show
	profile '{"type":"sampled","name":"short","unit":"seconds","startValue":0,"endValue":3,"samples":[[0,1],[0]],"weights":[1]}'; show
	profile '{"type":"sampled","name":"index","unit":"seconds","startValue":0,"endValue":3,"samples":[[0,9]],"weights":[1]}'; show
	profile '{"type":"sampled","name":"one","unit":"microseconds","startValue":0,"endValue":3,"samples":[[0,1],[0,2]],"weights":[1,0.0005]},{"type":"sampled","name":"two","unit":"bytes","startValue":0,"endValue":5,"samples":[[0]],"weights":[5]}'; show
	echo '{"traceEvents":[' > "$T/in.json"; show
	awk 'BEGIN { printf "[{\"ph\":\"X\",\"args\":"; for (i = 0; i < 100; i++) printf "["; }' > "$T/in.json"; show
	echo "-- timeline"
	cat > "$T/in.json" <<-'END'
	[{"ph":"M","name":"process_name","pid":1,"tid":2,"args":{"name":"app"}},
	{"ph":"B","name":"a","pid":1,"tid":2,"ts":1},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2.5,"dur":3},
	{"ph":"E","name":"a","pid":1,"tid":2,"ts":10},{"ph":"X","name":"late","pid":1,"tid":2,"ts":9,"dur":3},
	{"ph":"E","name":"none","pid":1,"tid":2,"ts":10},{"ph":"C","ts":1},
	{"ph":"B","name":"open","pid":1,"tid":3,"ts":1},{"ph":"X","name":"in","pid":1,"tid":3,"ts":2,"dur":0.001},
	END
	show
	$cp import "$T/in.json" -o "$T/t.cprof" 2> /dev/null
	$cp export --format chrome "$T/t.cprof" > "$T/back.json"
	$cp export "$T/back.json" > "$T/back"; $cp export "$T/t.cprof" | cmp - "$T/back" && echo "time line: same"
	$cp import "$T/in.json" --unit s -o "$T/no.cprof" > /dev/null 2>&1 || :
	printf 'a 1\n' > "$T/f.folded"; fails 1 "$cp" export --format chrome "$T/f.folded"
} | expect json
