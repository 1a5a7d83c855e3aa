/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of many modules, read by the sandbox while its parent does other things: requests are started, and taken
 * when they are needed. */
#ifndef CP_SYMBOLIZE_SYMBOL_BATCH_H
#define CP_SYMBOLIZE_SYMBOL_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/module.h"
#include "symbolize/remote_symbols.h"

enum {
	SYMBOL_BATCH_REQUESTS_MAX = 16 /* under way at a time; each holds descriptors */
};

struct symbol_batch_module {
	struct module *module;
	const uint64_t *addrs; /* whose names are wanted: sorted; borrowed */
	size_t addr_cnt;
	bool together; /* may share a worker with the others that may */
};

struct symbol_batch_request {
	struct sandbox_ticket ticket;
	struct symbol_batch_module *modules[REMOTE_SYMBOLS_FILES_MAX];
	size_t cnt;
	bool started, together;
};

/* What the fields mean is the batch's own affair. Modules and env are borrowed until the end. */
struct symbol_batch {
	const struct module_env *env;
	struct symbol_batch_module *modules;
	size_t module_cnt, next;
	struct symbol_batch_request requests[SYMBOL_BATCH_REQUESTS_MAX];
	size_t request_cnt;
};

/* Modules that need no question are left alone. Nobody else may use the sandbox until symbol_batch_finish. */
void symbol_batch_start(struct symbol_batch *b, const struct module_env *env,
			struct symbol_batch_module *modules, size_t cnt);
void symbol_batch_finish(struct symbol_batch *b);

#endif
