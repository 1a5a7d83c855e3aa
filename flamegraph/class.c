/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classes of time; see class.h. */
#include "flamegraph/class.h"

#include <string.h>

#include "user/base/mem.h"

static const struct class_row {
	const char *leaf;
	const char *label;
	char letter; /* as ps and /proc write the state */
} rows[FLAME_CLASS_MAX] = {
	[FLAME_NONE] = { "", "", 0 },
	[FLAME_RUNNING] = { "[running]", "running", 'R' },
	[FLAME_PREEMPTED] = { "[preempted]", "runnable (preempted)", 'r' },
	[FLAME_WOKEN] = { "[woken]", "runnable (woken)", 'w' },
	[FLAME_SLEEP] = { "[sleep]", "blocked (sleep)", 'S' },
	[FLAME_DISK] = { "[disk]", "blocked (disk)", 'D' },
	[FLAME_STOPPED] = { "[stopped]", "stopped", 'T' },
	[FLAME_TRACED] = { "[traced]", "traced", 't' },
	[FLAME_PARKED] = { "[parked]", "parked", 'P' },
	[FLAME_IDLE] = { "[idle]", "idle", 'I' },
	[FLAME_ASLEEP] = { "[asleep]", "asleep throughout", 'a' },
};

const char *flame_class_leaf(int cls)
{
	return cls >= 0 && cls < FLAME_CLASS_MAX ? rows[cls].leaf : "";
}

const char *flame_class_label(int cls)
{
	return cls >= 0 && cls < FLAME_CLASS_MAX ? rows[cls].label : "";
}

enum flame_class flame_class_of_leaf(const char *name, size_t len_bytes)
{
	if (len_bytes < 3 || name[0] != '[')
		return FLAME_NONE;
	for (int c = FLAME_RUNNING; c < FLAME_CLASS_MAX; c++)
		if (strlen(rows[c].leaf) == len_bytes && !memcmp(rows[c].leaf, name, len_bytes))
			return (enum flame_class)c;
	return FLAME_NONE;
}

bool flame_class_in_group(int cls, enum flame_group group)
{
	switch (group) {
	case FLAME_GROUP_ON:
		return cls == FLAME_RUNNING;
	case FLAME_GROUP_OFF:
		return cls > FLAME_RUNNING;
	case FLAME_GROUP_RUNNABLE:
		return cls == FLAME_PREEMPTED || cls == FLAME_WOKEN;
	case FLAME_GROUP_BLOCKED:
		return cls >= FLAME_SLEEP;
	default:
		return true;
	}
}

int flame_class_of_word(const char *word)
{
	size_t len_bytes = strlen(word);

	for (int c = FLAME_RUNNING; c < FLAME_CLASS_MAX; c++) {
		const char *leaf = rows[c].leaf;

		if (len_bytes == 1 && word[0] == rows[c].letter)
			return c;
		if (strlen(leaf) == len_bytes + 2 && !memcmp(leaf + 1, word, len_bytes))
			return c;
	}
	return -1;
}
