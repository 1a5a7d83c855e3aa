/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups of the v2 hierarchy (cgroups(7)): what the user names, and the paths behind the numbers that the
 * kernel programs tell. A cgroup's number is the inode of its directory; its path counts from the root of the
 * hierarchy, "/" being the root itself, as /proc/PID/cgroup has it. */
#ifndef CP_USER_CAPTURE_CGROUPS_H
#define CP_USER_CAPTURE_CGROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"

struct cgroups;

struct cgroups *cgroups__new(void);    /* owned by the caller; fine on machines without cgroup2 */
void cgroups__free(struct cgroups *c); /* NULL is fine */

/* Where the v2 hierarchy is mounted; NULL: nowhere. */
const char *cgroups__mount(const struct cgroups *c);

/* text: a number, a directory below the mount, or a path in the hierarchy, with or without the first "/". Gives the
 * number and the directory (owned by the caller). 0, or -ENOENT, -EINVAL with what is wrong. */
int cgroups__find(struct cgroups *c, const char *text, uint64_t *id, char **dir, struct err *err);

/* Appends the processes in a cgroup and below, as far as they can be read: one may come or go meanwhile. */
void cgroups_list(const char *dir, uint32_t **pids, size_t *cnt);

/* The kernel said so. */
void cgroups__learn(struct cgroups *c, uint64_t id, const char *path);
/* The path of a cgroup that process pid is or was in; "" if nobody knows any more. Lives as long as c. O(1), but
 * for a number that is new and whose process is gone: O(cgroups of the machine). */
const char *cgroups__path(struct cgroups *c, uint64_t id, uint32_t pid);

#endif
