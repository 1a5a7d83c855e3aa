/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pretends to be CPython 3.11 and lies: the list of threads is a ring, or the chain of frames is one, or leads nowhere, and
 * code objects are none. usage: false_python threads|frames|nowhere. Built with -rdynamic, under the name python3. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

uint64_t _PyRuntime[64], PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8];
const uint64_t Py_Version = 0x030b02f0;

static uint64_t interpreter[64], threads[3][64], holder[4], frames[2][16], code[64];

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

void _PyEval_EvalFrameDefault(void);

__attribute__((noinline)) void _PyEval_EvalFrameDefault(void)
{
	for (;;) {
		usleep(2000);
		__asm__ volatile("");
	}
}

int main(int argc, char **argv)
{
	const char *lie = argc > 1 ? argv[1] : "frames";

	_PyRuntime[40 / 8] = address(interpreter);
	interpreter[16 / 8] = address(threads[0]);
	for (int i = 0; i < 3; i++) {
		threads[i][8 / 8] = address(threads[(i + 1) % 3]);
		threads[i][152 / 8] = 1234;
	}
	if (!strcmp(lie, "threads"))
		_PyEval_EvalFrameDefault();
	threads[1][152 / 8] = (uint64_t)pthread_self();
	threads[1][56 / 8] = address(holder);
	holder[1] = address(frames[0]);
	frames[0][32 / 8] = address(code);
	frames[0][48 / 8] = strcmp(lie, "nowhere") ? address(frames[1]) : 0xffff800000000000;
	frames[1][32 / 8] = 0x10;
	frames[1][48 / 8] = address(frames[0]);
	code[1] = address(PyCode_Type);
	code[2] = 1 << 20;
	code[112 / 8] = code[128 / 8] = code[136 / 8] = address(code);
	_PyEval_EvalFrameDefault();
	return 0;
}
