/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/handlers.h"
#include "symbolize/remote.h"
#include "symbolize/remote_symbols.h"
#include "symbolize/rows_remote.h"

const sandbox_handler symbolize_handlers[SANDBOX_KIND_MAX] = {
	[SANDBOX_ROWS] = rows_sandbox_handler,
	[SANDBOX_SYMBOLS] = remote_symbols_handler,
	[SANDBOX_LINES] = remote_lines_handler,
	[SANDBOX_NAMES] = remote_names_handler,
};
