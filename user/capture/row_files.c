/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and the compilation of their rows; see row_files.h. */
#include "user/capture/row_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "symbolize/elf.h"
#include "symbolize/python_layout.h"
#include "symbolize/rows_remote.h"
#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/capture/mapped_file.h"

enum {
	BATCHES_MAX = 16,     /* requests under way; each holds descriptors */
	ROW_UNWIND_BYTES = 5, /* of .eh_frame for a row: 4.7 to 12 in Debian's libraries */
};

/* Files that one worker compiles: a request under way. */
struct batch {
	struct sandbox_ticket ticket;
	uint32_t cnt;
	int fds[SANDBOX_FD_MAX];
	uint32_t files[SANDBOX_FD_MAX];
	bool started;
};

struct row_files {
	struct sandbox *sandbox; /* where files are parsed; NULL if there is none */
	struct rows_file *files;
	size_t file_cnt, file_cap;
	uint32_t *evicted; /* elements of files that can hold another */
	size_t evicted_cnt, evicted_cap;
	struct index file_index;
	struct index mapped_index; /* by device and inode of /proc/PID/maps */
	struct batch batches
		[BATCHES_MAX]; /* in the order of their starts; the last one may be gathering */
	size_t batch_cnt;
	uint32_t batch_files_max;
	bool preparing;
	struct row_files_stats stats;
};

static const sandbox_handler handlers[SANDBOX_KIND_MAX] = {
	[SANDBOX_ROWS] = rows_sandbox_handler, [SANDBOX_PYTHON] = python_sandbox_handler
};

struct row_files *row_files__new(void)
{
	struct row_files *s = xzalloc(sizeof(*s));

	s->batch_files_max = 1;
	if (sandbox_open(handlers, &s->sandbox, NULL))
		s->sandbox = NULL; /* files then have no rows, which the statistics show */
	return s;
}

/* A sandbox that could not be made is tried again with each file. */
static int compile(struct row_files *s, int fd, struct row_table *ret)
{
	int rc = s->sandbox ? 0 : sandbox_open(handlers, &s->sandbox, NULL);

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

static void take_table(struct row_files *s, struct rows_file *f, int rc, const struct row_table *t)
{
	if (!rc)
		f->table = *t;
	f->failed = rc != 0;
	f->pending = false;
	s->stats.failed_file_cnt += f->failed;
}

/* One by one: the worker did not survive all of them together, or its sandbox is gone. */
static void compile_again(struct row_files *s, const struct batch *b)
{
	for (uint32_t i = 0; i < b->cnt; i++) {
		struct row_table t = { 0 };
		int rc = compile(s, b->fds[i], &t);

		take_table(s, &s->files[b->files[i]], rc, &t);
	}
}

static int finish(struct row_files *s, struct batch *b)
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

static void start_last(struct row_files *s)
{
	struct batch *b = s->batch_cnt ? &s->batches[s->batch_cnt - 1] : NULL;

	if (b && !b->started && s->sandbox)
		b->started = !rows_remote_start(s->sandbox, b->fds, b->cnt, &b->ticket, NULL);
}

/* Takes what was started, in that order, before the sandbox is asked for anything else. */
static void settle_all(struct row_files *s)
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
static void put_in_batch(struct row_files *s, uint32_t file, int fd)
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

static void compile_now(struct row_files *s, struct rows_file *f, int fd)
{
	struct row_table t = { 0 };
	int rc;

	if (fd >= 0)
		settle_all(s);
	rc = fd < 0 ? rows_compile_vdso(&t, NULL) : compile(s, fd, &t);
	take_table(s, f, rc, &t);
}

/* An element for a new file: one that an evicted file had, or another. */
static uint32_t file_element(struct row_files *s)
{
	if (s->evicted_cnt)
		return s->evicted[--s->evicted_cnt];
	s->files = xgrow(s->files, &s->file_cap, s->file_cnt + 1, sizeof(*s->files));
	return (uint32_t)s->file_cnt++;
}

static uint32_t add_file(struct row_files *s, const struct stat *st, int fd, uint64_t hash)
{
	uint64_t started_ns = now_ns();
	uint32_t at = file_element(s);
	struct rows_file *f = &s->files[at];
	int kept_fd;

	*f = (struct rows_file){ .dev = st->st_dev, .inode = st->st_ino };
	f->size_bytes = (uint64_t)st->st_size;
	f->mtime_ns = st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	kept_fd = fd >= 0 && s->preparing ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (kept_fd >= 0)
		put_in_batch(s, at, kept_fd);
	else
		compile_now(s, f, fd);
	s->stats.file_cnt++;
	s->stats.compile_ns += now_ns() - started_ns;
	index_add(&s->file_index, hash, at);
	return at;
}

static uint32_t find_file(struct row_files *s, const struct stat *st, int fd)
{
	int64_t mtime_ns = st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	uint64_t hash = hash_pair(st->st_dev, st->st_ino);
	struct index_iter it = index_find(&s->file_index, hash);

	for (; index_hit(&s->file_index, &it); index_next(&s->file_index, &it)) {
		const struct rows_file *f = &s->files[it.elem];

		if (!f->evicted && f->dev == st->st_dev && f->inode == st->st_ino &&
		    f->mtime_ns == mtime_ns && f->size_bytes == (uint64_t)st->st_size)
			return it.elem;
	}
	return add_file(s, st, fd, hash);
}

/* One file may be shown under two pairs of numbers in turn: it is found by the last one, and has one element for each. */
static void note_mapped(struct row_files *s, uint32_t file, const struct maps_entry *e)
{
	struct rows_file *f = &s->files[file];
	uint64_t dev = makedev(e->dev_major, e->dev_minor), hash = hash_pair(dev, e->inode);
	struct index_iter it;

	if (f->mapped_dev == dev && f->mapped_inode == e->inode)
		return;
	f->mapped_dev = dev;
	f->mapped_inode = e->inode;
	for (it = index_find(&s->mapped_index, hash); index_hit(&s->mapped_index, &it);
	     index_next(&s->mapped_index, &it))
		if (it.elem == file)
			return;
	index_add(&s->mapped_index, hash, file);
}

static int64_t find_mapped(const struct row_files *s, const struct maps_entry *e)
{
	uint64_t dev = makedev(e->dev_major, e->dev_minor);
	struct index_iter it = index_find(&s->mapped_index, hash_pair(dev, e->inode));
	int64_t newest = -1;

	for (; index_hit(&s->mapped_index, &it); index_next(&s->mapped_index, &it)) {
		const struct rows_file *f = &s->files[it.elem];

		if (f->evicted || f->mapped_dev != dev || f->mapped_inode != e->inode)
			continue;
		if (newest < 0 || f->mtime_ns > s->files[newest].mtime_ns)
			newest = it.elem;
	}
	return newest;
}

int64_t row_files__of(struct row_files *s, pid_t pid, const struct maps_entry *e)
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
		return find_mapped(s, e);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		file = find_file(s, &st, fd);
		note_mapped(s, (uint32_t)file, e);
	}
	close(fd);
	return file;
}

struct rows_file *row_files__at(struct row_files *s, size_t i)
{
	return i < s->file_cnt ? &s->files[i] : NULL;
}

void row_files__evict(struct row_files *s, size_t i)
{
	s->stats.evicted_file_cnt++;
	rows_free(&s->files[i].table);
	s->files[i] = (struct rows_file){ .evicted = true };
	s->evicted = xgrow(s->evicted, &s->evicted_cap, s->evicted_cnt + 1, sizeof(*s->evicted));
	s->evicted[s->evicted_cnt++] = (uint32_t)i;
}

void row_files__together(struct row_files *s)
{
	s->batch_files_max = SANDBOX_FD_MAX;
}

void row_files__prepare(struct row_files *s, bool preparing)
{
	s->preparing = preparing;
	if (!preparing)
		start_last(s);
}

void row_files__settle(struct row_files *s)
{
	settle_all(s);
}

void row_files__count(const struct row_files *s, uint64_t *row_cnt, uint64_t *block_cnt)
{
	*row_cnt = *block_cnt = 0;
	for (size_t i = 0; i < s->file_cnt; i++) {
		const struct rows_file *f = &s->files[i];

		*row_cnt += f->pending ? f->row_guess_cnt : f->table.row_cnt;
		*block_cnt += (f->pending ? f->block_guess_cnt : f->table.block_cnt) + 1;
	}
}

struct sandbox *row_files__sandbox(struct row_files *s)
{
	settle_all(s);
	return s->sandbox;
}

struct row_files_stats row_files__stats(const struct row_files *s)
{
	struct row_files_stats stats = s->stats;

	stats.helper_cpu_ns = sandbox_cpu_ns(s->sandbox);
	return stats;
}

void row_files__free(struct row_files *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->batch_cnt; i++) {
		close_fds(&s->batches[i]);
		if (s->batches[i].started)
			sandbox_give_up(s->sandbox, &s->batches[i].ticket);
	}
	sandbox_close(s->sandbox);
	for (size_t i = 0; i < s->file_cnt; i++)
		rows_free(&s->files[i].table);
	free(s->files);
	free(s->evicted);
	index_free(&s->file_index);
	index_free(&s->mapped_index);
	free(s);
}
