/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/symbol_batch.h"

#include <string.h>

static bool has_room(const struct symbol_batch_request *r, bool together)
{
	return r && together && r->together && r->cnt < REMOTE_SYMBOLS_FILES_MAX;
}

/* Where a module's question goes: to the last request if both may share, else to one of its own; NULL: there are
 * enough of them. */
static struct symbol_batch_request *request_for(struct symbol_batch *b, bool together)
{
	struct symbol_batch_request *r = b->request_cnt ? &b->requests[b->request_cnt - 1] : NULL;

	if (has_room(r, together))
		return r;
	return b->request_cnt < SYMBOL_BATCH_REQUESTS_MAX ? &b->requests[b->request_cnt] : NULL;
}

static void start(struct symbol_batch *b, struct symbol_batch_request *r,
		  const struct remote_symbols_file *files)
{
	const struct remote_style style = module_style(b->env);

	r->started =
		!remote_symbols_start(b->env->sandbox, files, r->cnt, &style, &r->ticket, NULL);
}

/* As many requests as may be under way. The files of the last one are gathered first. */
static void start_some(struct symbol_batch *b)
{
	struct remote_symbols_file files[REMOTE_SYMBOLS_FILES_MAX];
	struct symbol_batch_request *last = NULL, *r;

	for (; b->next < b->module_cnt; b->next++) {
		struct symbol_batch_module *m = &b->modules[b->next];
		struct remote_symbols_file file = { .addrs = m->addrs, .addr_cnt = m->addr_cnt };

		r = request_for(b, m->together);
		if (!r)
			break;
		if (!module__ask(m->module, b->env, &file))
			continue;
		if (r != last) {
			if (last)
				start(b, last, files);
			*r = (struct symbol_batch_request){ .together = m->together };
			b->request_cnt++;
			last = r;
		}
		files[r->cnt] = file;
		r->modules[r->cnt++] = m;
	}
	if (last)
		start(b, last, files);
}

static void take(struct symbol_batch *b, struct symbol_batch_request *r, int rc,
		 struct remote_symbols *answers)
{
	for (size_t i = 0; i < r->cnt; i++) {
		struct symbol_batch_module *m = r->modules[i];

		if (rc) {
			memset(&answers[i], 0, sizeof(answers[i]));
			answers[i].rc = rc;
		}
		module__take(m->module, b->env, &answers[i], m->addrs, m->addr_cnt);
		remote_symbols_free(&answers[i]);
	}
}

/* All answers first: what is asked again, alone, is a request of its own. */
static void finish_some(struct symbol_batch *b)
{
	static const int lost = -1;
	int rcs[SYMBOL_BATCH_REQUESTS_MAX];

	for (size_t i = 0; i < b->request_cnt; i++) {
		struct symbol_batch_request *r = &b->requests[i];
		struct remote_symbols answers[REMOTE_SYMBOLS_FILES_MAX];

		rcs[i] = lost;
		if (r->started)
			rcs[i] = remote_symbols_finish(b->env->sandbox, &r->ticket, answers, r->cnt,
						       NULL);
		if (!rcs[i])
			take(b, r, 0, answers);
	}
	for (size_t i = 0; i < b->request_cnt; i++) {
		struct remote_symbols answers[REMOTE_SYMBOLS_FILES_MAX];

		if (rcs[i])
			take(b, &b->requests[i], rcs[i], answers);
	}
	b->request_cnt = 0;
}

void symbol_batch_start(struct symbol_batch *b, const struct module_env *env,
			struct symbol_batch_module *modules, size_t cnt)
{
	b->env = env;
	b->modules = modules;
	b->module_cnt = env->sandbox ? cnt : 0;
	b->next = 0;
	b->request_cnt = 0;
	start_some(b);
}

void symbol_batch_finish(struct symbol_batch *b)
{
	finish_some(b);
	while (b->next < b->module_cnt) {
		start_some(b);
		finish_some(b);
	}
}
