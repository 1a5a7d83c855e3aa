/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/python_stack.h"

#include "user/base/mem.h"

const char *python_stack_mark(unsigned int python_stop)
{
	static const char *const marks[CP_PYTHON_STOP_MAX] = {
		[CP_PYTHON_WHOLE] = "",
		[CP_PYTHON_NO_THREAD] = "[Python frames missing: thread not known]",
		[CP_PYTHON_UNREADABLE] = "[Python frames missing: memory not readable]",
		[CP_PYTHON_DEPTH] = "[Python frames missing: more than 128]",
	};

	_Static_assert(CP_PYTHON_FRAMES_MAX == 128, "the text says so");
	return python_stop < ARRAY_CNT(marks) ? marks[python_stop] : "";
}

struct cp_python_frame python_stack_frame(const struct cp_event_stack *e, size_t i)
{
	const __u64 *words = e->frames + e->kernel_cnt + e->user_cnt + 3 * i;

	_Static_assert(sizeof(struct cp_python_frame) == 3 * sizeof(*words), "wire format");
	return (struct cp_python_frame){ words[0], words[1], words[2] };
}

void python_stack_runs(const struct cp_event_stack *e, struct python_runs *ret)
{
	struct python_run run = { 0 };

	ret->cnt = 0;
	for (uint32_t i = 0; i < e->python_cnt && ret->cnt < PYTHON_RUN_MAX; i++) {
		uint64_t code = python_stack_frame(e, i).code;

		/* an evaluation that has not begun its function yet has a frame that is none */
		run.cnt += code != CP_PYTHON_ENTRY;
		if (!(code & CP_PYTHON_ENTRY))
			continue;
		ret->runs[ret->cnt++] = run;
		run = (struct python_run){ .first = i + 1 };
	}
	if (run.cnt && ret->cnt < PYTHON_RUN_MAX)
		ret->runs[ret->cnt++] = run;
}

const struct python_run *python_stack_run(const struct python_runs *r, size_t n)
{
	return n < r->cnt && r->runs[n].cnt ? &r->runs[n] : NULL;
}
