/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces and their rows; see spaces.h. */
#include "user/capture/spaces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbolize/elf.h"
#include "symbolize/maps.h"
#include "symbolize/rows_remote.h"
#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/capture/mapped_file.h"
#include "user/capture/pythons.h"

enum {
	ROWS_MIN = 1 << 20,
	BLOCKS_MIN = 1 << 19,
	MAPPINGS_MIN = 1 << 14,
	BATCHES_MAX = 16,     /* requests under way; each holds descriptors */
	ROW_UNWIND_BYTES = 5, /* of .eh_frame for a row: 4.7 to 12 in Debian's libraries */
};

/* A file that somebody maps; the vdso is the one with inode 0. */
struct rows_file {
	uint64_t dev, inode, size_bytes;
	int64_t mtime_ns;
	struct row_table table; /* rows and blocks freed once they are in the arrays */
	uint32_t row, block;	/* where */
	uint32_t row_guess_cnt, block_guess_cnt;
	bool pending; /* being compiled: the table is still empty */
	bool placed;
	bool failed;
};

/* Files that one worker compiles: a request under way. */
struct batch {
	struct sandbox_ticket ticket;
	uint32_t cnt;
	int fds[SANDBOX_FD_MAX];
	uint32_t files[SANDBOX_FD_MAX];
	bool started;
};

struct spaces {
	struct sandbox *sandbox; /* where files are parsed; NULL if there is none */
	struct rows_file *files;
	size_t file_cnt, file_cap;
	struct index file_index;
	struct spaces_sizes sizes;
	uint64_t *rows;
	uint32_t *blocks;
	struct cp_mapping *mappings;
	uint32_t row_cnt, block_cnt, mapping_cnt; /* used */
	uint64_t prepared_mapping_cnt;
	struct batch batches
		[BATCHES_MAX]; /* in the order of their starts; the last one may be gathering */
	size_t batch_cnt;
	uint32_t batch_files_max;
	bool preparing;
	bool without_rows;
	struct pythons *pythons;
	struct spaces_stats stats;
};

static const sandbox_handler handlers[SANDBOX_KIND_MAX] = {
	[SANDBOX_ROWS] = rows_sandbox_handler, [SANDBOX_PYTHON] = python_sandbox_handler
};

struct spaces *spaces__new(void)
{
	struct spaces *s = xzalloc(sizeof(*s));

	s->pythons = pythons__new();
	s->batch_files_max = 1;
	if (sandbox_open(handlers, &s->sandbox, NULL))
		s->sandbox = NULL; /* files then have no rows, which the statistics show */
	return s;
}

/* A sandbox that does not answer is replaced, once a file. */
static int compile(struct spaces *s, int fd, struct row_table *ret)
{
	int rc = s->sandbox ? rows_compile_remote(s->sandbox, fd, ret, NULL) : -EPIPE;

	if (rc != -EPIPE)
		return rc;
	sandbox_close(s->sandbox);
	s->sandbox = NULL;
	rc = sandbox_open(handlers, &s->sandbox, NULL);
	return rc ? rc : rows_compile_remote(s->sandbox, fd, ret, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void close_fds(struct batch *b)
{
	for (uint32_t i = 0; i < b->cnt; i++)
		close(b->fds[i]);
}

static void take_table(struct spaces *s, struct rows_file *f, int rc, const struct row_table *t)
{
	if (!rc)
		f->table = *t;
	f->failed = rc != 0;
	f->pending = false;
	s->stats.failed_file_cnt += f->failed;
}

/* One by one: the worker did not survive all of them together, or its sandbox is gone. */
static void compile_again(struct spaces *s, const struct batch *b)
{
	for (uint32_t i = 0; i < b->cnt; i++) {
		struct row_table t = { 0 };
		int rc = compile(s, b->fds[i], &t);

		take_table(s, &s->files[b->files[i]], rc, &t);
	}
}

static int finish(struct spaces *s, struct batch *b)
{
	struct rows_file_result results[SANDBOX_FD_MAX];
	int rc = -EPIPE;

	if (b->started)
		rc = rows_remote_finish(s->sandbox, &b->ticket, results, b->cnt, NULL);
	b->started = false;
	for (uint32_t i = 0; i < b->cnt && !rc; i++)
		take_table(s, &s->files[b->files[i]], results[i].rc, &results[i].table);
	return rc;
}

static void start_last(struct spaces *s)
{
	struct batch *b = s->batch_cnt ? &s->batches[s->batch_cnt - 1] : NULL;

	if (b && !b->started && s->sandbox)
		b->started = !rows_remote_start(s->sandbox, b->fds, b->cnt, &b->ticket, NULL);
}

/* Takes what was started, in that order, before the sandbox is asked for anything else. */
static void settle_all(struct spaces *s)
{
	int rcs[BATCHES_MAX];

	start_last(s);
	for (size_t i = 0; i < s->batch_cnt; i++)
		rcs[i] = finish(s, &s->batches[i]);
	for (size_t i = 0; i < s->batch_cnt; i++) {
		if (rcs[i])
			compile_again(s, &s->batches[i]);
		close_fds(&s->batches[i]);
	}
	s->batch_cnt = 0;
}

/* How many rows and blocks a file will have at most, mostly; from its headers alone. */
static void guess_sizes(struct rows_file *f, int fd)
{
	uint64_t first = UINT64_MAX, end = 0, unwind_bytes = 0;
	const Elf64_Shdr *unwind;
	struct image image;
	struct elf e = { 0 };

	if (!image_from_fd(&image, fd) && !elf_open(&e, &image)) {
		unwind = elf_section(&e, ".eh_frame");
		if (unwind)
			unwind_bytes = unwind->sh_size;
		for (size_t i = 0; i < e.phdr_cnt; i++) {
			const Elf64_Phdr *p = &e.phdrs[i];

			if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
				continue;
			first = p->p_vaddr < first ? p->p_vaddr : first;
			end = p->p_vaddr + p->p_filesz > end ? p->p_vaddr + p->p_filesz : end;
		}
	}
	elf_close(&e);
	/* hostile headers cost no more room than their file has bytes */
	if (unwind_bytes > f->size_bytes)
		unwind_bytes = f->size_bytes;
	f->row_guess_cnt = (uint32_t)(unwind_bytes / ROW_UNWIND_BYTES) & (ROWS_MAX - 1);
	if (end > first && end - first <= f->size_bytes)
		f->block_guess_cnt = (uint32_t)((end - first) >> ROW_BLOCK_SHIFT) + 2;
}

/* The file's table comes later. */
static void put_in_batch(struct spaces *s, uint32_t file, int fd)
{
	struct batch *b = s->batch_cnt ? &s->batches[s->batch_cnt - 1] : NULL;

	if (!b || b->started || b->cnt == s->batch_files_max) {
		start_last(s);
		if (s->batch_cnt == BATCHES_MAX)
			settle_all(s);
		b = &s->batches[s->batch_cnt++];
		b->cnt = 0;
		b->started = false;
	}
	guess_sizes(&s->files[file], fd);
	s->files[file].pending = true;
	b->files[b->cnt] = file;
	b->fds[b->cnt++] = fd;
}

static void compile_now(struct spaces *s, struct rows_file *f, int fd)
{
	struct row_table t = { 0 };
	int rc;

	if (fd >= 0)
		settle_all(s);
	rc = fd < 0 ? rows_compile_vdso(&t, NULL) : compile(s, fd, &t);
	take_table(s, f, rc, &t);
}

static uint32_t add_file(struct spaces *s, const struct stat *st, int fd, uint64_t hash)
{
	uint32_t file = (uint32_t)s->file_cnt++;
	uint64_t started_ns = now_ns();
	struct rows_file *f;
	int kept_fd;

	s->files = xgrow(s->files, &s->file_cap, s->file_cnt, sizeof(*s->files));
	f = &s->files[file];
	*f = (struct rows_file){ .dev = st->st_dev, .inode = st->st_ino };
	f->size_bytes = (uint64_t)st->st_size;
	f->mtime_ns = st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	kept_fd = fd >= 0 && s->preparing ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (kept_fd >= 0)
		put_in_batch(s, file, kept_fd);
	else
		compile_now(s, f, fd);
	s->stats.file_cnt++;
	s->stats.compile_ns += now_ns() - started_ns;
	index_add(&s->file_index, hash, file);
	return file;
}

void spaces__free(struct spaces *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->batch_cnt; i++) {
		close_fds(&s->batches[i]);
		if (s->batches[i].started)
			sandbox_give_up(s->sandbox, &s->batches[i].ticket);
	}
	sandbox_close(s->sandbox);
	pythons__free(s->pythons);
	for (size_t i = 0; i < s->file_cnt; i++)
		rows_free(&s->files[i].table);
	free(s->files);
	index_free(&s->file_index);
	free(s);
}

static uint32_t find_file(struct spaces *s, const struct stat *st, int fd)
{
	int64_t mtime_ns = st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	uint64_t hash = hash_pair(st->st_dev, st->st_ino);
	struct index_iter it = index_find(&s->file_index, hash);

	for (; index_hit(&s->file_index, &it); index_next(&s->file_index, &it)) {
		const struct rows_file *f = &s->files[it.elem];

		if (f->dev == st->st_dev && f->inode == st->st_ino && f->mtime_ns == mtime_ns &&
		    f->size_bytes == (uint64_t)st->st_size)
			return it.elem;
	}
	return add_file(s, st, fd, hash);
}

/* The file of an executable mapping as an index into files, or -1: memory without rows. */
static int64_t file_of(struct spaces *s, pid_t pid, const struct maps_entry *e)
{
	struct stat st = { 0 };
	int64_t file = -1;
	int fd;

	if (!strcmp(e->path, "[vdso]"))
		return find_file(s, &st, -1);
	if (!e->inode)
		return -1;
	fd = mapped_file_open(pid, e);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		file = find_file(s, &st, fd);
	close(fd);
	return file;
}

void spaces__without_rows(struct spaces *s)
{
	s->without_rows = true;
}

void spaces__together(struct spaces *s)
{
	s->batch_files_max = SANDBOX_FD_MAX;
}

void spaces__prepare(struct spaces *s, pid_t pid)
{
	struct maps maps = { 0 };

	if (maps_read(&maps, pid, NULL))
		return;
	s->preparing = true;
	for (size_t i = 0; i < maps.cnt; i++) {
		if (!(maps.entries[i].perms & MAPS_EXEC))
			continue;
		file_of(s, pid, &maps.entries[i]);
		s->prepared_mapping_cnt++;
	}
	s->preparing = false;
	start_last(s);
	maps_free(&maps);
}

static uint32_t power_of_two(uint64_t need, uint32_t least)
{
	uint32_t cnt = least;

	while (cnt < need && cnt < 1U << 31)
		cnt *= 2;
	return cnt;
}

struct spaces_sizes spaces__sizes(const struct spaces *s)
{
	uint64_t row_cnt = 0, block_cnt = 0;

	for (size_t i = 0; i < s->file_cnt; i++) {
		const struct rows_file *f = &s->files[i];

		row_cnt += f->pending ? f->row_guess_cnt : f->table.row_cnt;
		block_cnt += (f->pending ? f->block_guess_cnt : f->table.block_cnt) + 1;
	}
	return (struct spaces_sizes){
		.row_cnt = power_of_two(row_cnt + ROWS_MIN / 2, ROWS_MIN),
		.block_cnt = power_of_two(block_cnt + BLOCKS_MIN / 2, BLOCKS_MIN),
		.mapping_cnt = power_of_two(s->prepared_mapping_cnt * 2, MAPPINGS_MIN),
	};
}

bool spaces__settle(struct spaces *s, const struct spaces_sizes *sizes)
{
	uint64_t row_cnt = ROWS_MIN / 4, block_cnt = BLOCKS_MIN / 4; /* for code that comes later */

	settle_all(s);
	for (size_t i = 0; i < s->file_cnt; i++) {
		row_cnt += s->files[i].table.row_cnt;
		block_cnt += s->files[i].table.block_cnt + 1;
	}
	return row_cnt <= sizes->row_cnt && block_cnt <= sizes->block_cnt;
}

void spaces__use(struct spaces *s, const struct spaces_sizes *sizes, uint64_t *rows,
		 uint32_t *blocks, struct cp_mapping *mappings)
{
	s->sizes = *sizes;
	s->rows = rows;
	s->blocks = blocks;
	s->mappings = mappings;
}

/* Copies a file's rows into the arrays. */
static int place(struct spaces *s, struct rows_file *f)
{
	struct row_table *t = &f->table;

	if (f->placed || f->failed || !t->row_cnt)
		return 0;
	if (t->row_cnt > s->sizes.row_cnt - s->row_cnt ||
	    t->block_cnt + 1 > s->sizes.block_cnt - s->block_cnt)
		return -ENOSPC;
	f->row = s->row_cnt;
	f->block = s->block_cnt;
	memcpy(s->rows + f->row, t->rows, t->row_cnt * sizeof(*t->rows));
	memcpy(s->blocks + f->block, t->blocks, (t->block_cnt + 1) * sizeof(*t->blocks));
	s->row_cnt += t->row_cnt;
	s->block_cnt += t->block_cnt + 1;
	free(t->rows);
	free(t->blocks);
	t->rows = NULL;
	t->blocks = NULL;
	f->placed = true;
	return 0;
}

/* Finds where the file lies in the process: false if no executable segment covers the mapping's offset. */
static bool set_base(const struct row_table *t, const struct maps_entry *e, struct cp_mapping *m)
{
	bool vdso = !e->inode;

	for (uint32_t i = 0; i < t->segment_cnt; i++) {
		const struct rows_segment *g = &t->segments[i];
		uint64_t first = g->off_bytes & ~4095ULL;

		if (!vdso && (e->off_bytes < first || e->off_bytes >= g->off_bytes + g->size_bytes))
			continue;
		m->base = e->start - ((g->vaddr & ~4095ULL) + (e->off_bytes - (vdso ? 0 : first))) +
			  t->base_vaddr;
		return true;
	}
	return false;
}

static int add_mapping(struct spaces *s, pid_t pid, const struct maps_entry *e)
{
	struct cp_mapping m = { .start = e->start, .end = e->end };
	int64_t file = file_of(s, pid, e);
	struct rows_file *f = file < 0 ? NULL : &s->files[file];
	int rc = f ? place(s, f) : 0;

	if (rc)
		return rc;
	if (f && f->placed && set_base(&f->table, e, &m)) {
		m.row = f->row;
		m.row_cnt = f->table.row_cnt;
		m.block = f->block;
		m.block_cnt = f->table.block_cnt;
	}
	if (s->mapping_cnt == s->sizes.mapping_cnt)
		return -ENOSPC;
	s->mappings[s->mapping_cnt++] = m;
	return 0;
}

int spaces__publish(struct spaces *s, uint32_t space, pid_t pid, struct symbolizer *sym,
		    struct cp_range *ret, struct err *err)
{
	struct maps maps = { 0 };
	uint32_t first = s->mapping_cnt;
	int rc = maps_read(&maps, pid, err);

	if (rc)
		goto out;
	for (size_t i = 0; i < maps.cnt && !rc && !s->without_rows; i++)
		if (maps.entries[i].perms & MAPS_EXEC)
			rc = add_mapping(s, pid, &maps.entries[i]);
	if (rc) {
		s->mapping_cnt = first;
		err_set(err, rc, "no room for the unwind rows of process %d", (int)pid);
	}
	symbolizer__add_process(sym, space, pid, &maps, NULL);
	*ret = (struct cp_range){ .mapping = first, .mapping_cnt = s->mapping_cnt - first };
	ret->python = pythons__add(s->pythons, s->sandbox, space, pid, &maps);
	s->stats.publish_cnt++;
out:
	maps_free(&maps);
	return rc;
}

const struct python_layout *spaces__python(const struct spaces *s, uint32_t space)
{
	return pythons__layout(s->pythons, space);
}

struct spaces_stats spaces__stats(const struct spaces *s)
{
	struct spaces_stats stats = s->stats;

	stats.row_cnt = s->row_cnt;
	stats.mapping_cnt = s->mapping_cnt;
	stats.helper_cpu_ns = sandbox_cpu_ns(s->sandbox);
	return stats;
}
