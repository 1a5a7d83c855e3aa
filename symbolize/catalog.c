/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbolize/catalog.h"
#include "symbolize/locate.h"
#include "symbolize/maps.h"
#include "user/base/hash.h"
#include "user/base/mem.h"

void catalog_init(struct catalog *c, uint32_t fd_max, const struct module_env *env)
{
	memset(c, 0, sizeof(*c));
	c->fd_max = fd_max;
	c->env = *env;
}

void catalog_fini(struct catalog *c)
{
	for (size_t i = 0; i < c->module_cnt; i++)
		module__free(c->modules[i].module);
	module__free(c->vdso);
	for (size_t i = 0; i < c->root_cnt; i++)
		close(c->roots[i].fd);
	free(c->modules);
	free(c->mapped);
	free(c->roots);
	index_free(&c->module_index);
	index_free(&c->mapped_index);
	memset(c, 0, sizeof(*c));
}

static struct catalog_module key_of(const struct stat *st)
{
	return (struct catalog_module){
		.dev = st->st_dev,
		.inode = st->st_ino,
		.size_bytes = (uint64_t)st->st_size,
		.ctime_ns =
			(uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec,
	};
}

static bool keys_equal(const struct catalog_module *a, const struct catalog_module *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->size_bytes == b->size_bytes &&
	       a->ctime_ns == b->ctime_ns;
}

static void close_oldest(struct catalog *c)
{
	while (c->fd_cnt >= c->fd_max && c->next_to_close < c->module_cnt) {
		module__close_files(c->modules[c->next_to_close++].module, &c->env);
		c->fd_cnt--;
	}
}

struct module *catalog_module(struct catalog *c, int fd, const char *path, int root_fd)
{
	struct stat st = { 0 };
	struct catalog_module key;
	struct index_iter it;
	uint64_t hash;

	fstat(fd, &st);
	key = key_of(&st);
	hash = hash_pair(hash_pair(key.dev, key.inode), hash_pair(key.size_bytes, key.ctime_ns));
	it = index_find(&c->module_index, hash);
	for (; index_hit(&c->module_index, &it); index_next(&c->module_index, &it))
		if (keys_equal(&c->modules[it.elem], &key)) {
			close(fd);
			return c->modules[it.elem].module;
		}
	close_oldest(c);
	key.module = module__new(fd, path, root_fd);
	c->fd_cnt++;
	index_add(&c->module_index, hash, (uint32_t)c->module_cnt);
	c->modules = xgrow(c->modules, &c->module_cap, c->module_cnt + 1, sizeof(*c->modules));
	c->modules[c->module_cnt++] = key;
	return key.module;
}

static struct catalog_mapped *find_mapped(const struct catalog *c, uint64_t dev, uint64_t inode)
{
	struct index_iter it = index_find(&c->mapped_index, hash_pair(dev, inode));

	for (; index_hit(&c->mapped_index, &it); index_next(&c->mapped_index, &it))
		if (c->mapped[it.elem].dev == dev && c->mapped[it.elem].inode == inode)
			return &c->mapped[it.elem];
	return NULL;
}

void catalog_note_mapped(struct catalog *c, const struct maps_entry *e, struct module *m)
{
	uint64_t dev = makedev(e->dev_major, e->dev_minor);
	struct catalog_mapped *at = find_mapped(c, dev, e->inode);

	if (!at) {
		c->mapped = xgrow(c->mapped, &c->mapped_cap, c->mapped_cnt + 1, sizeof(*at));
		index_add(&c->mapped_index, hash_pair(dev, e->inode), (uint32_t)c->mapped_cnt);
		at = &c->mapped[c->mapped_cnt++];
	}
	*at = (struct catalog_mapped){ .dev = dev, .inode = e->inode, .module = m };
}

struct module *catalog_find_mapped(const struct catalog *c, const struct maps_entry *e)
{
	const struct catalog_mapped *at =
		find_mapped(c, makedev(e->dev_major, e->dev_minor), e->inode);

	return at && at->module->fd >= 0 ? at->module : NULL;
}

int catalog_root(struct catalog *c, pid_t pid)
{
	char root_path[64], ns_path[64];
	struct stat root, ns = { 0 };
	int fd;

	snprintf(root_path, sizeof(root_path), "/proc/%d/root", (int)pid);
	snprintf(ns_path, sizeof(ns_path), "/proc/%d/ns/mnt", (int)pid);
	fd = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &root) || stat(ns_path, &ns)) {
		close(fd);
		return -1;
	}
	for (size_t i = 0; i < c->root_cnt; i++) {
		const struct catalog_root *r = &c->roots[i];

		if (r->mount_ns == ns.st_ino && r->dev == root.st_dev && r->inode == root.st_ino) {
			close(fd);
			return r->fd;
		}
	}
	c->roots = xgrow(c->roots, &c->root_cap, c->root_cnt + 1, sizeof(*c->roots));
	c->roots[c->root_cnt++] = (struct catalog_root){
		.mount_ns = ns.st_ino,
		.dev = root.st_dev,
		.inode = root.st_ino,
		.fd = fd,
	};
	return fd;
}

static bool has_file(int root_fd, const struct maps_entry *e)
{
	int fd = locate_open_in_root(root_fd, e->path);
	struct stat st;
	bool has = fd >= 0 && !fstat(fd, &st) && st.st_ino == e->inode;

	if (fd >= 0)
		close(fd);
	return has;
}

int catalog_root_with(const struct catalog *c, int host_root_fd, const struct maps_entry *e)
{
	if (has_file(host_root_fd, e))
		return host_root_fd;
	for (size_t i = 0; i < c->root_cnt; i++)
		if (has_file(c->roots[i].fd, e))
			return c->roots[i].fd;
	return -1;
}

struct module *catalog_vdso(struct catalog *c)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	const struct maps_entry *e;
	struct maps maps;

	if (c->vdso || !base || maps_read(&maps, getpid(), NULL))
		return c->vdso;
	e = maps_find(&maps, base);
	if (e)
		c->vdso = module__new_mem((const void *)(uintptr_t)base, e->end - base, "[vdso]");
	maps_free(&maps);
	return c->vdso;
}
