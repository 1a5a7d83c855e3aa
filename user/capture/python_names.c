/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for Python frames; see python_names.h. */
#include "user/capture/python_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/python_code.h"
#include "user/base/arena.h"
#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/capture/process_memory.h"
#include "user/capture/python_stack.h"

enum {
	LINES_KEPT_MAX_BYTES = 128 << 20, /* location tables; then they are read again */
};

/* A code object of a process. */
struct known_code {
	uint32_t process;
	uint32_t function_sid, file_sid;
	uint64_t addr;
	struct python_code code; /* without the texts */
};

struct python_names {
	struct arena arena;
	const struct python_name **stacks; /* by stack number */
	size_t stack_cap;
	struct known_code *codes;
	size_t code_cnt, code_cap;
	struct index code_index; /* by process and address */
	size_t lines_bytes;
	struct strtab strings;
	struct process_memory memory;
};

/* What one stack's names are read with. */
struct reader {
	struct python_names *names;
	const struct python_layout *layout;
	uint32_t process;
	int fd; /* or why there is none */
	struct python_memory memory;
};

struct python_names *python_names__new(void)
{
	return xzalloc(sizeof(struct python_names));
}

static void forget_lines(struct python_names *n, struct known_code *k)
{
	if (k->code.lines)
		n->lines_bytes -= k->code.lines_bytes;
	python_code_free(&k->code);
}

void python_names__free(struct python_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->code_cnt; i++)
		forget_lines(n, &n->codes[i]);
	free(n->codes);
	index_free(&n->code_index);
	free(n->stacks);
	arena_free(&n->arena);
	strtab_free(&n->strings);
	process_memory_close(&n->memory);
	free(n);
}

static int read_memory(void *ctx, uint64_t addr, void *to, size_t len_bytes)
{
	const struct reader *r = ctx;

	return r->fd < 0 ? r->fd : process_memory_read(r->fd, addr, to, len_bytes);
}

static struct known_code *find_code(struct python_names *n, uint32_t process, uint64_t addr)
{
	uint64_t hash = hash_pair(process, addr);
	struct index_iter it = index_find(&n->code_index, hash);

	for (; index_hit(&n->code_index, &it); index_next(&n->code_index, &it))
		if (n->codes[it.elem].process == process && n->codes[it.elem].addr == addr)
			return &n->codes[it.elem];
	n->codes = xgrow(n->codes, &n->code_cap, n->code_cnt + 1, sizeof(*n->codes));
	n->codes[n->code_cnt] = (struct known_code){ .process = process, .addr = addr };
	index_add(&n->code_index, hash, (uint32_t)n->code_cnt);
	return &n->codes[n->code_cnt++];
}

static int read_code(const struct reader *r, struct known_code *k)
{
	struct python_names *n = r->names;
	int rc;

	forget_lines(n, k);
	rc = python_code_read(r->layout, &r->memory, k->addr, &k->code);
	if (rc)
		return rc;
	k->function_sid = strtab_add(&n->strings, k->code.function);
	k->file_sid = strtab_add(&n->strings, k->code.file);
	free(k->code.function);
	free(k->code.file);
	k->code.function = k->code.file = NULL;
	n->lines_bytes += k->code.lines_bytes;
	return 0;
}

static bool has_mark(const struct known_code *k, uint64_t mark)
{
	return cp_python_mark(k->code.id.qualname, k->code.id.linetable) == mark;
}

/* Makes sure that what is known of the code object is what lay there when the stack was taken. A stack of the
 * census has no mark: its thread slept, and sleeps in the function yet, or has left it a moment ago. */
static int look_at(const struct reader *r, struct known_code *k, uint64_t mark)
{
	struct python_code_id id;
	int rc;

	if (k->code.lines && mark && has_mark(k, mark))
		return 0;
	if (k->code.lines && !mark) {
		rc = python_code_identify(r->layout, &r->memory, k->addr, &id);
		if (rc || !memcmp(&id, &k->code.id, sizeof(id)))
			return rc;
	}
	rc = read_code(r, k);
	return rc || !mark || has_mark(k, mark) ? rc : -ESTALE;
}

static enum name_reason reason_of(int rc)
{
	switch (rc) {
	case 0:
		return NAME_OK;
	case -ESRCH:
		return NAME_EXITED;
	case -ESTALE:
	case -EINVAL:
		return NAME_REPLACED; /* something else lies there now */
	default:
		return NAME_UNREADABLE;
	}
}

static struct python_name name_frame(const struct reader *r, const struct cp_python_frame *f)
{
	uint64_t addr = f->code & ~CP_PYTHON_ENTRY;
	struct python_name name = { .reason = NAME_UNREADABLE };
	struct known_code *k;
	int rc;

	if (!addr)
		return name;
	k = find_code(r->names, r->process, addr);
	rc = look_at(r, k, f->mark);
	if (!rc && !python_code_holds(&k->code, f->instr))
		rc = -ESTALE;
	name.reason = reason_of(rc);
	if (rc)
		return name;
	name.function_sid = k->function_sid;
	name.file_sid = k->file_sid;
	name.line = python_code_line(&k->code, f->instr);
	if (r->names->lines_bytes > LINES_KEPT_MAX_BYTES)
		forget_lines(r->names, k);
	return name;
}

void python_names__stack(struct python_names *n, const struct cp_event_stack *e,
			 const struct python_layout *l, uint32_t pid)
{
	struct reader r = { .names = n, .layout = l, .process = e->process };
	size_t old_cap = n->stack_cap;
	struct python_name *names;

	if (e->id >= n->stack_cap) {
		n->stacks = xgrow(n->stacks, &n->stack_cap, e->id + 1, sizeof(*n->stacks));
		memset(n->stacks + old_cap, 0, (n->stack_cap - old_cap) * sizeof(*n->stacks));
	}
	r.fd = process_memory_open(&n->memory, e->process, pid);
	r.memory = (struct python_memory){ .read = read_memory, .ctx = &r };
	names = arena_alloc(&n->arena, e->python_cnt * sizeof(*names));
	for (size_t i = 0; i < e->python_cnt; i++) {
		struct cp_python_frame f = python_stack_frame(e, i);

		names[i] = name_frame(&r, &f);
	}
	n->stacks[e->id] = names;
}

const struct python_name *python_names__find(const struct python_names *n,
					     const struct cp_event_stack *e)
{
	return e->id < n->stack_cap ? n->stacks[e->id] : NULL;
}

const char *python_names__str(const struct python_names *n, uint32_t sid)
{
	return strtab_get(&n->strings, sid);
}
