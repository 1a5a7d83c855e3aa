#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf script: thread names, C++ names, ";" in symbols, deleted files, inlined JIT frames, events, ends.
. tests/golden/lib.sh
cat > "$T/in.txt" <<'END'
# cmdline : perf record -g
PrintManager pr 51320 9000.200001:      70000 cpu-clock: 
	          401000 f1+0x1 (/usr/bin/cups)

[NET POOL 0] 51332 [003] 9000.200002:      70000 cpu-clock:u: 
	          401000 f2 (/usr/lib/My Files/x.so (deleted))
	          401010 main+0x10 (/usr/bin/ts)

dotnet:worker 6  77/79 [001] 9000.200005:      70000 cpu-clock: 
	          401000 std::_Function_handler<void (Order&, int), serve()::{lambda()#2}>::_M_invoke+0x2e (/a)
	          401001 Box::operator->() const+0x2 (/a)
	          401002 (anonymous namespace)::helper(int)+0x9 (/a)
	          401003 net/http.(*conn).serve+0x6a0 (/a)
	          401004 <[u8; 32] as core::fmt::Debug>::fmt+0x10 (/a)

java  100 [000] 9.000001:     250000 cpu-clock: 
	    7f89 outer->inner->innermost+0x4b (/tmp/perf-100.map)
	    7f80 [unknown] (/lib/libjvm.so)
	    7f81 [unknown] ([unknown])
	ffffffff810 ksys_write+0x9c ([kernel.kallsyms])

:-1    -1 [000]  9000.200009:      70000 cpu-clock:  ffffffff81000200 f9 ([kernel.kallsyms])
   false 39654 19115.489713:          1 cycles:u:  ffffffff9b201293 [unknown] ([unknown])
last 1 3.0:  5 cpu-clock: 
	 1 f (/x)
	 not a frame
END
printf '\t 2 main (/x)' >> "$T/in.txt"
{
	$cp export "$T/in.txt" 2>&1 | sed "s|$T|T|"
	echo "-- tidy, no suffixes"; $cp export --tidy --no-suffixes "$T/in.txt" 2> /dev/null
	echo "-- another event"; $cp export --event cycles "$T/in.txt" 2>&1 | sed "s|$T|T|"
	echo "-- all, as samples at 100 Hz"; $cp export --event all --hz 100 "$T/in.txt" 2> /dev/null | tail -n 3
	echo "-- CRLF"; printf 'app 1 [000] 1.0:  5 cycles: \r\n\t401000 a (/x)\r\n\r\napp 1 2.0:  7 cycles: \r\n\t4 b (/x)\r\n' |
		$cp export -
} | expect perf
