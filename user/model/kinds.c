/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the enums in kinds.h. A value that a newer version wrote has no name here: "?". */
#include "user/model/kinds.h"

#include <stddef.h>

#include "user/base/mem.h"

struct kind_name {
	const char *name;
	char letter;
};

static const struct kind_name kinds[KIND_MAX] = {
	[KIND_NONE] = { "none", '-' },		 [KIND_RUNNING] = { "running", 'R' },
	[KIND_PREEMPTED] = { "preempted", 'r' }, [KIND_WOKEN] = { "woken", 'w' },
	[KIND_SLEEP] = { "sleep", 'S' },	 [KIND_DISK] = { "disk", 'D' },
	[KIND_STOPPED] = { "stopped", 'T' },	 [KIND_TRACED] = { "traced", 't' },
	[KIND_PARKED] = { "parked", 'P' },	 [KIND_IDLE] = { "idle", 'I' },
};

static const char *const name_reasons[NAME_REASON_MAX] = {
	[NAME_OK] = "",
	[NAME_PENDING] = "[pending]",
	[NAME_NO_MAPPING] = "[no map]",
	[NAME_STRIPPED] = "[stripped]",
	[NAME_DELETED] = "[deleted]",
	[NAME_REPLACED] = "[replaced]",
	[NAME_ANONYMOUS] = "[anon]",
	[NAME_UNREADABLE] = "[unreadable]",
	[NAME_KPTR] = "[kernel addresses hidden]",
	[NAME_KERNEL] = "[no kernel symbol]",
	[NAME_EXITED] = "[exited]",
	[NAME_HOSTILE] = "[bad file]",
};

static const char *const stop_reasons[STOP_REASON_MAX] = {
	[STOP_NONE] = "",
	[STOP_ROOT] = "",
	[STOP_ZERO] = "[walk stopped: return address 0]",
	[STOP_NO_MAPPING] = "[walk stopped: no mapping]",
	[STOP_NO_ROW] = "[walk stopped: no unwind row]",
	[STOP_UNSUPPORTED] = "[walk stopped: unsupported unwind rule]",
	[STOP_UNREADABLE] = "[walk stopped: stack not resident]",
	[STOP_BAD_CFA] = "[walk stopped: stack pointer did not grow]",
	[STOP_DEPTH] = "[walk stopped: too deep]",
	[STOP_COMPAT] = "[walk stopped: 32-bit task]",
	[STOP_MAPS_CHANGED] = "[walk stopped: mappings changed]",
	[STOP_NO_ROWS] = "[walk stopped: no unwind rows]",
	[STOP_RUNNING] = "[walk stopped: on a CPU]",
	[STOP_IO_WORKER] = "[io_uring worker]",
	[STOP_LOST] = "[walk stopped: frames lost]",
	[STOP_NEW] = "[new thread]",
	[STOP_UNSEEN] = "[walk stopped: switch not seen]",
	[STOP_COPY_SHORT] = "[walk stopped: stack larger than its copy]",
	[STOP_EXITING] = "[exiting]",
	[STOP_EXEC] = "[in execve]",
};

static const char *const loss_causes[LOSS_CAUSE_MAX] = {
	[LOSS_SUM_MAP_FULL] = "sum map full",
	[LOSS_STACK_MAP_FULL] = "stack map full",
	[LOSS_UPDATE_BUSY] = "map update busy",
	[LOSS_NO_STORAGE] = "no task storage",
	[LOSS_RECURSION] = "program recursion",
	[LOSS_RING_FULL_STACK] = "ring full: stack",
	[LOSS_RING_FULL_INTERVAL] = "ring full: interval",
	[LOSS_RING_FULL_THREAD] = "ring full: thread",
	[LOSS_WALK_STOPPED] = "walk stopped",
	[LOSS_PAGE_NOT_RESIDENT] = "stack page not resident",
	[LOSS_THROTTLED] = "sampling throttled",
	[LOSS_SAMPLE_SKIPPED] = "sample skipped",
	[LOSS_KPROBE_MISSED] = "kprobe missed",
	[LOSS_RETURN_PROBE] = "return probe missed",
	[LOSS_WAKEUP_UNSEEN] = "wake-up not seen",
	[LOSS_SCRATCH_BUSY] = "scratch memory busy",
	[LOSS_NEGATIVE_TIME] = "negative time",
	[LOSS_PROCESS_MAP_FULL] = "process map full",
	[LOSS_SWITCH_UNSEEN] = "switch unseen",
	[LOSS_RESUME_UNSEEN] = "resume unseen",
	[LOSS_BAD_RECORD] = "malformed record",
};

static const char *name_of(const char *const *names, size_t cnt, int value)
{
	return value >= 0 && (size_t)value < cnt && names[value] ? names[value] : "?";
}

const char *model_kind_name(int kind)
{
	return kind >= 0 && kind < KIND_MAX ? kinds[kind].name : "?";
}

char model_kind_letter(int kind)
{
	return kind >= 0 && kind < KIND_MAX ? kinds[kind].letter : '?';
}

const char *model_name_reason(int reason)
{
	return name_of(name_reasons, ARRAY_CNT(name_reasons), reason);
}

const char *model_stop_reason(int reason)
{
	return name_of(stop_reasons, ARRAY_CNT(stop_reasons), reason);
}

const char *model_loss_cause(int cause)
{
	return name_of(loss_causes, ARRAY_CNT(loss_causes), cause);
}

int model_kind_is_blocked(int kind)
{
	return kind >= KIND_SLEEP && kind <= KIND_IDLE;
}

int model_kind_is_runnable(int kind)
{
	return kind == KIND_PREEMPTED || kind == KIND_WOKEN;
}
