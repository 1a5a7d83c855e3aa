/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file behind a mapping of a process. */
#ifndef CP_USER_CAPTURE_MAPPED_FILE_H
#define CP_USER_CAPTURE_MAPPED_FILE_H

#include <sys/types.h>

#include "symbolize/maps.h"

/* Through map_files, which is the mapped file itself whatever became of its path (not for mappings that are past); else
 * by path inside the process's root, or in ours if the process is gone, if it is still the same file. A descriptor for
 * reading, or -1. */
int mapped_file_open(pid_t pid, const struct maps_entry *e);

#endif
