/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classes of time: what a thread did while it had a stack. One picture can hold several of them in one unit,
 * each with a colour of its own. Folded text tells the class by a last frame in brackets, "a;b;[sleep] 12";
 * the words are those of "causeprof fold --kinds=all". Text without such frames is of class "none". */
#ifndef CP_FLAMEGRAPH_CLASS_H
#define CP_FLAMEGRAPH_CLASS_H

#include <stdbool.h>
#include <stddef.h>

enum flame_class {
	FLAME_NONE = 0,	     /* not told: an ordinary flame graph */
	FLAME_RUNNING = 1,   /* on a CPU */
	FLAME_PREEMPTED = 2, /* runnable: lost its CPU */
	FLAME_WOKEN = 3,     /* runnable: woken, waiting for a CPU */
	FLAME_SLEEP = 4,     /* blocked, interruptible */
	FLAME_DISK = 5,	     /* blocked, uninterruptible */
	FLAME_STOPPED = 6,   /* stopped by a signal */
	FLAME_TRACED = 7,    /* stopped by a debugger */
	FLAME_PARKED = 8,    /* a parked kernel thread */
	FLAME_IDLE = 9,	     /* a kernel thread without work */
	FLAME_ASLEEP = 10,   /* threads that never ran in the window, merged */
	FLAME_CLASS_MAX = 11,
};

/* A group of classes that people ask for by one word. */
enum flame_group {
	FLAME_GROUP_ALL,
	FLAME_GROUP_ON,	 /* running */
	FLAME_GROUP_OFF, /* everything else that is told */
	FLAME_GROUP_RUNNABLE,
	FLAME_GROUP_BLOCKED,
	FLAME_GROUP_MAX,
};

const char *flame_class_leaf(int cls);	/* "[sleep]"; "" for FLAME_NONE */
const char *flame_class_label(int cls); /* "blocked (sleep)", for legends and tooltips */
/* The class that a leaf frame names, or FLAME_NONE. */
enum flame_class flame_class_of_leaf(const char *name, size_t len_bytes);
bool flame_class_in_group(int cls, enum flame_group group);
/* The class with this word ("sleep", "running", "R", "S", "D", ...), or -1. */
int flame_class_of_word(const char *word);

#endif
