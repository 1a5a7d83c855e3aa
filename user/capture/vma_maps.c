/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings as the kernel told them; see vma_maps.h. */
#include "user/capture/vma_maps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/base/strtab.h"

/* A file that was mapped. Of a stacked filesystem (overlay) the kernel's mappings have the file below, by which it is
 * found here, and /proc the file that is seen, by which everybody else knows it. */
struct known_file {
	uint64_t dev, inode;
	uint32_t shown_major, shown_minor;
	uint64_t shown_inode;
	uint32_t path_sid;
};

struct vma_maps {
	struct known_file *files;
	size_t cnt, cap;
	struct index index; /* by device and inode */
	struct strtab paths;
};

struct vma_maps *vma_maps__new(void)
{
	return xzalloc(sizeof(struct vma_maps));
}

void vma_maps__free(struct vma_maps *v)
{
	if (!v)
		return;
	free(v->files);
	index_free(&v->index);
	strtab_free(&v->paths);
	free(v);
}

static struct known_file *find_file(const struct vma_maps *v, uint64_t dev, uint64_t inode)
{
	struct index_iter it = index_find(&v->index, hash_pair(dev, inode));

	for (; index_hit(&v->index, &it); index_next(&v->index, &it))
		if (v->files[it.elem].dev == dev && v->files[it.elem].inode == inode)
			return &v->files[it.elem];
	return NULL;
}

/* The newest path of a file counts. */
static void learn_file(struct vma_maps *v, uint64_t dev, uint64_t inode,
		       const struct maps_entry *shown)
{
	struct known_file *f = find_file(v, dev, inode);

	if (!f) {
		v->files = xgrow(v->files, &v->cap, v->cnt + 1, sizeof(*v->files));
		index_add(&v->index, hash_pair(dev, inode), (uint32_t)v->cnt);
		f = &v->files[v->cnt++];
	}
	*f = (struct known_file){ .dev = dev,
				  .inode = inode,
				  .shown_major = shown->dev_major,
				  .shown_minor = shown->dev_minor,
				  .shown_inode = shown->inode,
				  .path_sid = strtab_add(&v->paths, shown->path) };
}

static void learn(struct vma_maps *v, const struct maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct maps_entry *e = &maps->entries[i];

		if ((e->perms & MAPS_EXEC) && e->inode)
			learn_file(v, makedev(e->dev_major, e->dev_minor), e->inode, e);
	}
}

/* The same files under the numbers that the kernel's mappings have. */
static void learn_told(struct vma_maps *v, const struct maps *maps, const struct cp_vma *vmas,
		       size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (vmas[i].inode)
			learn_file(v, makedev(vmas[i].dev_major, vmas[i].dev_minor), vmas[i].inode,
				   maps_find(maps, vmas[i].start));
}

/* A program that nobody has run before and that is gone: its file may still be where exec found it. */
static void learn_exe(struct vma_maps *v, const struct cp_told *told, size_t cnt)
{
	struct stat st;

	if (told->exe[0] != '/' || !memchr(told->exe, '\0', sizeof(told->exe)) ||
	    stat(told->exe, &st) || !S_ISREG(st.st_mode))
		return;
	for (size_t i = 0; i < cnt; i++) {
		const struct maps_entry shown = { .inode = st.st_ino,
						  .dev_major = told->vmas[i].dev_major,
						  .dev_minor = told->vmas[i].dev_minor,
						  .path = told->exe };
		uint64_t dev = makedev(shown.dev_major, shown.dev_minor);

		if (told->vmas[i].inode == st.st_ino && !find_file(v, dev, st.st_ino))
			learn_file(v, dev, st.st_ino, &shown);
	}
}

/* Whether maps, which was read a little later, still has what was announced. Stacked filesystems show another device in
 * /proc than the kernel's mappings have, and perhaps other inodes: if none is equal there, they cannot be compared. */
static bool still_there(const struct maps *maps, const struct cp_vma *vmas, size_t cnt)
{
	size_t file_cnt = 0, same_cnt = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct maps_entry *e = maps_find(maps, vmas[i].start);

		if (!e || e->start != vmas[i].start || e->end != vmas[i].end ||
		    e->off_bytes != vmas[i].off_bytes || !e->inode != !vmas[i].inode)
			return false;
		if (!e->inode)
			continue;
		if (e->inode != vmas[i].inode && e->dev_major == vmas[i].dev_major &&
		    e->dev_minor == vmas[i].dev_minor)
			return false;
		file_cnt++;
		same_cnt += e->inode == vmas[i].inode;
	}
	return same_cnt == file_cnt || !same_cnt;
}

static struct maps_entry make_entry(const struct vma_maps *v, const struct cp_vma *vma)
{
	struct maps_entry e = { .start = vma->start,
				.end = vma->end,
				.off_bytes = vma->off_bytes,
				.inode = vma->inode,
				.dev_major = vma->dev_major,
				.dev_minor = vma->dev_minor,
				.perms = MAPS_READ | MAPS_EXEC,
				.past = true,
				.path = vma->vdso ? "[vdso]" : "" };
	const struct known_file *f;

	f = vma->inode ? find_file(v, makedev(e.dev_major, e.dev_minor), e.inode) : NULL;
	if (f) {
		e.dev_major = f->shown_major;
		e.dev_minor = f->shown_minor;
		e.inode = f->shown_inode;
		e.path = strtab_get(&v->paths, f->path_sid);
	}
	return e;
}

/* Paths are borrowed from v and from constants: maps that are used at once. */
static void make(const struct vma_maps *v, const struct cp_vma *vmas, size_t cnt, struct maps *ret)
{
	*ret = (struct maps){ .entries = xcalloc(cnt, sizeof(*ret->entries)) };
	for (size_t i = 0; i < cnt; i++)
		if (vmas[i].start < vmas[i].end &&
		    (!ret->cnt || vmas[i].start >= ret->entries[ret->cnt - 1].end))
			ret->entries[ret->cnt++] = make_entry(v, &vmas[i]);
}

int vma_maps__read(struct vma_maps *v, pid_t pid, const struct cp_told *told, size_t cnt,
		   struct maps *ret, struct err *err)
{
	int rc = maps_read(ret, pid, err);

	if (!rc)
		learn(v, ret);
	if (!told || !cnt)
		return rc;
	if (!rc && still_there(ret, told->vmas, cnt)) {
		learn_told(v, ret, told->vmas, cnt);
		return 0;
	}
	learn_exe(v, told, cnt);
	maps_free(ret);
	make(v, told->vmas, cnt, ret);
	return 0;
}
