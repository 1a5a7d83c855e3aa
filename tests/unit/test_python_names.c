/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names read from the memory of a real process: a child that has a code object of CPython 3.11 in it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/tiny_python.h"
#include "user/base/mem.h"
#include "user/capture/python_names.h"

struct fixture {
	struct python_layout layout;
	struct python_names *names;
	struct cp_event_stack *stack;
	uint64_t mark;
	pid_t child;
	uint32_t next;
};

static int setup(void **state)
{
	struct fixture *f = xzalloc(sizeof(*f));
	static struct tiny_memory m;

	assert_int_equal(tiny_layout(&f->layout), 0);
	f->names = python_names__new();
	f->stack = xzalloc(sizeof(*f->stack) + 3 * sizeof(uint64_t));
	f->mark = cp_python_mark(TINY_NAME, TINY_LINES);
	f->child = fork();
	assert_true(f->child >= 0);
	if (!f->child) {
		void *at = mmap((void *)(uintptr_t)TINY_BASE, TINY_MEMORY_BYTES,
				PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		tiny_memory_make(&m);
		if (at == MAP_FAILED)
			_exit(1);
		memcpy(at, m.data, sizeof(m.data));
		raise(SIGSTOP);
		pause();
	}
	waitpid(f->child, NULL, WUNTRACED);
	*state = f;
	return 0;
}

static void end_child(struct fixture *f)
{
	if (!f->child)
		return;
	kill(f->child, SIGKILL);
	waitpid(f->child, NULL, 0);
	f->child = 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	end_child(f);
	python_names__free(f->names);
	free(f->stack);
	free(f);
	return 0;
}

/* A stack of one frame arrives. */
static const struct python_name *arrive(struct fixture *f, uint32_t process, uint64_t code,
					uint64_t instr, uint64_t mark)
{
	static pid_t pid;

	if (f->child)
		pid = f->child;
	f->stack->id = ++f->next;
	f->stack->process = process;
	f->stack->python_cnt = 1;
	f->stack->frames[0] = code;
	f->stack->frames[1] = instr;
	f->stack->frames[2] = mark;
	python_names__stack(f->names, f->stack, &f->layout, (uint32_t)pid);
	return python_names__find(f->names, f->stack);
}

enum {
	INSTRS = TINY_CODE + 184
};

static void named(void **state)
{
	struct fixture *f = *state;
	const struct python_name *n =
		arrive(f, 1, TINY_CODE | CP_PYTHON_ENTRY, INSTRS + 4, f->mark);

	assert_int_equal(n->reason, NAME_OK);
	assert_string_equal(python_names__str(f->names, n->function_sid), "Shop.open");
	assert_string_equal(python_names__str(f->names, n->file_sid), "/srv/shop.py");
	assert_int_equal(n->line, 9);
	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS, 0)->reason, NAME_OK); /* of the census */
	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS, f->mark)->line, 7);
}

static void refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS, f->mark + 2)->reason, NAME_REPLACED);
	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS + 4000, f->mark)->reason, NAME_REPLACED);
	assert_int_equal(arrive(f, 1, TINY_NAME, INSTRS, f->mark)->reason, NAME_REPLACED);
	assert_int_equal(arrive(f, 1, 0x10, INSTRS, f->mark)->reason, NAME_UNREADABLE);
	assert_int_equal(arrive(f, 1, CP_PYTHON_ENTRY, 0, 0)->reason, NAME_UNREADABLE);
	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS, f->mark)->reason, NAME_OK);
}

static void gone(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS, f->mark)->reason, NAME_OK);
	end_child(f);
	/* known, and surely the same */
	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS, f->mark)->reason, NAME_OK);
	/* known, but something else lay there; not known at all, with its memory open and not */
	assert_int_equal(arrive(f, 1, TINY_CODE, INSTRS, f->mark + 2)->reason, NAME_EXITED);
	assert_int_equal(arrive(f, 1, TINY_CODE + 16, INSTRS, f->mark)->reason, NAME_EXITED);
	assert_int_equal(arrive(f, 2, TINY_CODE, INSTRS, f->mark)->reason, NAME_EXITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(named, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(gone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
