/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the Python frames of a stack belong between its native ones. Each evaluation, a native frame of
 * _PyEval_EvalFrameDefault, runs one function and all that it calls in Python: a run of frames, of which the kernel
 * marked the first. So the n-th run from the leaf belongs right above the n-th evaluation from the leaf. */
#ifndef CP_USER_CAPTURE_PYTHON_STACK_H
#define CP_USER_CAPTURE_PYTHON_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"

enum {
	PYTHON_RUN_MAX = CP_PYTHON_FRAMES_MAX + 1,
};

/* A run of e's Python frames: first is its leaf. */
struct python_run {
	uint32_t first, cnt;
};

struct python_runs {
	struct python_run runs[PYTHON_RUN_MAX]; /* leaf first */
	size_t cnt;
};

/* What stands where Python frames are missing; "" for CP_PYTHON_WHOLE. */
const char *python_stack_mark(unsigned int python_stop);
/* The Python frame i of a stack, leaf first. */
struct cp_python_frame python_stack_frame(const struct cp_event_stack *e, size_t i);
void python_stack_runs(const struct cp_event_stack *e, struct python_runs *ret);
/* The run that belongs to the evaluation that is the n-th from the leaf: NULL if there is none, or it is empty. */
const struct python_run *python_stack_run(const struct python_runs *r, size_t n);

#endif
