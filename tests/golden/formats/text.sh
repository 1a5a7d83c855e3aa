#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# bpftrace maps and bcc's text.
. tests/golden/lib.sh
cat > "$T/bt.txt" <<'END'
Attaching 1 probe...

@[
    finish_task_switch+120
    schedule+70
, 
    __clock_nanosleep+72
    main+12
, sleep it, 4711]: 1048
@[
    do_idle+0x1f
, swapper]: 3
@other[1]: 5
@[comm, 12]: count 2, average 3, total 6
@[
    ffff81 do_mmap+1 ([kernel.kallsyms])
]: nan
@hist: 
[1]                    3 |@@@@|
END
cat > "$T/bcc.txt" <<'END'
Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.
^C
    finish_task_switch
    schedule
    --
    __poll
    -                vm stat (12345)
        1000000

    #0  0xffffffff81000000  do_exit+0x10
    -                a(b) (1)
        5

    cut
END
{
	echo "-- bpftrace"; $cp export "$T/bt.txt" 2>&1 | sed "s|$T|T|"
	echo "-- another map"; $cp export --event @other "$T/bt.txt" 2>&1 | sed "s|$T|T|"
	echo "-- bcc"; $cp export "$T/bcc.txt" 2>&1 | sed "s|$T|T|"
} | expect text
