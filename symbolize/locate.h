/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening of other processes' files. This is the part that needs privileges and believes nobody: paths come
 * from the programs that are watched, and the file systems may be theirs too. Files are only opened here,
 * never parsed. Only regular files are opened: looking at a FIFO or a device can block or change it. */
#ifndef CP_SYMBOLIZE_LOCATE_H
#define CP_SYMBOLIZE_LOCATE_H

#include <sys/types.h>

#include "symbolize/maps.h"
#include "symbolize/reason.h"
#include "user/base/buf.h"

/* A file below a root directory, as a process with that root would open it: symbolic links, also absolute
 * ones, stay inside. root_fd may be O_PATH. A descriptor, or -errno. */
int locate_open_in_root(int root_fd, const char *path);
/* The same, refusing a symbolic link as the last component: for files in places where everybody may write. */
int locate_open_in_root_nofollow(int root_fd, const char *path);

/* A file that the user of this program named. A descriptor, or -errno. */
int locate_open_named(const char *path);

/* The file that pid maps, in this order: /proc/PID/map_files (the very file, even if it was deleted,
 * replaced, or lies in another mount namespace), the path inside of root_fd (-1 = none) if its inode is the
 * mapped one. A descriptor, or -1 with *reason. Appends what was tried to *trail, in words
 * that are equal for all processes that map the file. */
int locate_open_mapped(pid_t pid, int root_fd, const struct maps_entry *entry,
		       enum sym_reason *reason, struct buf *trail);

#endif
