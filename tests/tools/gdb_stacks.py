# SPDX-License-Identifier: GPL-2.0-or-later
# For gdb: prints "TID pc pc ..." for each thread; inlined and tail-call frames have no return address of their
# own and are left out.
import gdb

for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.ptid[1]):
    thread.switch()
    pcs = []
    frame = gdb.newest_frame()
    while frame is not None and len(pcs) < 200:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pcs.append("%x" % frame.pc())
        try:
            frame = frame.older()
        except gdb.error:
            break
    print("%d gdb - %s" % (thread.ptid[1], " ".join(pcs)))
