/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/reason.h"

const char *sym_reason_name(int reason)
{
	static const char *const names[SYM_REASON_MAX] = {
		[SYM_OK] = "",
		[SYM_PENDING] = "[pending]",
		[SYM_NO_MAPPING] = "[no map]",
		[SYM_STRIPPED] = "[stripped]",
		[SYM_DELETED] = "[deleted]",
		[SYM_REPLACED] = "[replaced]",
		[SYM_ANONYMOUS] = "[anon]",
		[SYM_UNREADABLE] = "[unreadable]",
		[SYM_KPTR] = "[kernel addresses hidden]",
		[SYM_KERNEL] = "[no kernel symbol]",
		[SYM_EXITED] = "[exited]",
		[SYM_HOSTILE] = "[bad file]",
	};

	return reason >= 0 && reason < SYM_REASON_MAX ? names[reason] : "";
}
