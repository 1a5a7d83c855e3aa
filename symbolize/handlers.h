/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that the sandbox can do for this folder: the table for sandbox_open. */
#ifndef CP_SYMBOLIZE_HANDLERS_H
#define CP_SYMBOLIZE_HANDLERS_H

#include "symbolize/sandbox.h"

extern const sandbox_handler symbolize_handlers[SANDBOX_KIND_MAX];

#endif
