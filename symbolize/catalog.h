/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All modules and root directories that a symbolizer holds open. A module is a file (device, inode, size,
 * time of change), however many processes map it under however many names; a root directory is a mount
 * namespace and a directory in it. */
#ifndef CP_SYMBOLIZE_CATALOG_H
#define CP_SYMBOLIZE_CATALOG_H

#include <stdint.h>

#include "symbolize/maps.h"
#include "symbolize/module.h"
#include "user/base/index.h"

struct catalog {
	struct catalog_module *modules;
	size_t module_cnt, module_cap;
	size_t next_to_close; /* modules before it have no open files */
	struct index module_index;
	struct catalog_mapped *mapped;
	size_t mapped_cnt, mapped_cap;
	struct index mapped_index;
	struct catalog_root *roots;
	size_t root_cnt, root_cap;
	uint32_t fd_max, fd_cnt;
	struct module *vdso;
	struct module_env env; /* for closing */
};

struct catalog_module {
	uint64_t dev, inode, size_bytes, ctime_ns;
	struct module *module;
};

/* Under which numbers /proc/PID/maps showed a module last; of stacked filesystems they are not the file's own. */
struct catalog_mapped {
	uint64_t dev, inode;
	struct module *module;
};

struct catalog_root {
	uint64_t mount_ns, dev, inode;
	int fd;
};

void catalog_init(struct catalog *c, uint32_t fd_max, const struct module_env *env);
void catalog_fini(struct catalog *c);
/* The module of an open file; takes fd over. Beyond fd_max the oldest files are closed. */
struct module *catalog_module(struct catalog *c, int fd, const char *path, int root_fd);
/* Remembers that e, which a living process has, maps m: for processes that are gone before their files can be opened. O(1). */
void catalog_note_mapped(struct catalog *c, const struct maps_entry *e, struct module *m);
/* The module that was last seen mapped under the numbers of e, or NULL. While it is open no other file can have its
 * inode's number, and what is written into it is noticed; of one that has been closed nothing is known. O(1). */
struct module *catalog_find_mapped(const struct catalog *c, const struct maps_entry *e);
/* The root directory of a process: a descriptor (O_PATH) borrowed from the catalog, or -1. */
int catalog_root(struct catalog *c, pid_t pid);
/* For a process that is gone: the first root that has the mapped file under its path, by inode; host_root_fd first. -1:
 * none. */
int catalog_root_with(const struct catalog *c, int host_root_fd, const struct maps_entry *e);
/* The kernel's vdso, from our own memory: every 64-bit process of this kernel has the same one. NULL if there
 * is none. */
struct module *catalog_vdso(struct catalog *c);

#endif
