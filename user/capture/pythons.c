/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Python interpreters of watched processes; see pythons.h. */
#include "user/capture/pythons.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/capture/mapped_file.h"

/* A file whose name is that of an interpreter. */
struct python_file {
	uint64_t dev, inode, size_bytes;
	int64_t mtime_ns;
	bool known; /* the layout is good */
	struct python_layout layout;
};

struct python_space {
	uint32_t space;
	struct python_layout layout;
};

struct pythons {
	struct python_file *files;
	size_t file_cnt, file_cap;
	struct python_space *spaces;
	size_t space_cnt, space_cap;
	struct index space_index;
};

struct pythons *pythons__new(void)
{
	return xzalloc(sizeof(struct pythons));
}

void pythons__free(struct pythons *p)
{
	if (!p)
		return;
	free(p->files);
	free(p->spaces);
	index_free(&p->space_index);
	free(p);
}

/* There are few of them: no index. */
static const struct python_file *find_file(struct pythons *p, struct sandbox *sandbox, int fd,
					   const struct stat *st)
{
	int64_t mtime_ns = st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	struct python_file *f;

	for (size_t i = 0; i < p->file_cnt; i++) {
		f = &p->files[i];
		if (f->dev == st->st_dev && f->inode == st->st_ino && f->mtime_ns == mtime_ns &&
		    f->size_bytes == (uint64_t)st->st_size)
			return f;
	}
	p->files = xgrow(p->files, &p->file_cap, p->file_cnt + 1, sizeof(*p->files));
	f = &p->files[p->file_cnt++];
	*f = (struct python_file){ .dev = st->st_dev,
				   .inode = st->st_ino,
				   .size_bytes = (uint64_t)st->st_size,
				   .mtime_ns = mtime_ns };
	f->known = !python_layout_remote(sandbox, fd, &f->layout, NULL);
	return f;
}

static bool add_mapping(struct pythons *p, struct sandbox *sandbox, uint32_t space, pid_t pid,
			const struct maps_entry *e)
{
	struct python_space entry = { .space = space };
	const struct python_file *f = NULL;
	struct stat st;
	int fd = mapped_file_open(pid, e);

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		f = find_file(p, sandbox, fd, &st);
	close(fd);
	if (!f || !f->known)
		return false;
	entry.layout = f->layout;
	if (!python_layout_move(&entry.layout, e->start, e->off_bytes))
		return false;
	p->spaces = xgrow(p->spaces, &p->space_cap, p->space_cnt + 1, sizeof(*p->spaces));
	index_add(&p->space_index, hash_u64(space), (uint32_t)p->space_cnt);
	p->spaces[p->space_cnt++] = entry;
	return true;
}

bool pythons__add(struct pythons *p, struct sandbox *sandbox, uint32_t space, pid_t pid,
		  const struct maps *maps)
{
	for (size_t i = 0; sandbox && i < maps->cnt; i++) {
		const struct maps_entry *e = &maps->entries[i];

		if ((e->perms & MAPS_EXEC) && e->inode && python_layout_is_candidate(e->path) &&
		    add_mapping(p, sandbox, space, pid, e))
			return true;
	}
	return false;
}

const struct python_layout *pythons__layout(const struct pythons *p, uint32_t space)
{
	struct index_iter it = index_find(&p->space_index, hash_u64(space));

	for (; index_hit(&p->space_index, &it); index_next(&p->space_index, &it))
		if (p->spaces[it.elem].space == space)
			return &p->spaces[it.elem].layout;
	return NULL;
}
