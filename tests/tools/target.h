/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stopped process as a struct walk_space: its executable mappings with rows, its memory through
 * process_vm_readv. For tests and for tools of tests; prints and exits as it likes. */
#ifndef CP_TESTS_TOOLS_TARGET_H
#define CP_TESTS_TOOLS_TARGET_H

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolize/walk.h"

enum {
	TARGET_MAPPING_MAX = 512,
	TARGET_PAGE_CNT = 1024, /* cached; a power of two */
	TARGET_PAGE_BYTES = 4096,
};

struct target_file {
	uint64_t dev, ino;
	struct row_table table;
};

struct target_page {
	uint64_t addr;
	uint64_t moment; /* target->moment when it was read; UINT64_MAX for pages of files */
	uint8_t bytes[TARGET_PAGE_BYTES];
};

struct target {
	pid_t pid;
	struct walk_space space;
	struct walk_mapping mappings[TARGET_MAPPING_MAX];
	char paths[TARGET_MAPPING_MAX][256];
	uint64_t file_lo[TARGET_MAPPING_MAX * 4], file_hi[TARGET_MAPPING_MAX * 4];
	size_t file_range_cnt; /* read-only mappings of files: memory that does not change */
	struct target_file files[TARGET_MAPPING_MAX];
	size_t file_cnt;
	struct target_page *pages;
	uint64_t moment; /* grows whenever the process ran */
	char *maps;	 /* /proc/PID/maps as it was read */
};

static bool target_is_file(const struct target *t, uint64_t addr)
{
	for (size_t i = 0; i < t->file_range_cnt; i++)
		if (addr >= t->file_lo[i] && addr < t->file_hi[i])
			return true;
	return false;
}

static const uint8_t *target_page(struct target *t, uint64_t addr)
{
	uint64_t start = addr & ~(uint64_t)(TARGET_PAGE_BYTES - 1);
	struct target_page *p = &t->pages[(start / TARGET_PAGE_BYTES) % TARGET_PAGE_CNT];
	struct iovec to = { p->bytes, TARGET_PAGE_BYTES },
		     from = { (void *)start, TARGET_PAGE_BYTES };

	if (p->addr == start && (p->moment == UINT64_MAX || p->moment == t->moment))
		return p->bytes;
	p->addr = 0;
	if (process_vm_readv(t->pid, &to, 1, &from, 1, 0) != TARGET_PAGE_BYTES)
		return NULL;
	p->addr = start;
	p->moment = target_is_file(t, start) ? UINT64_MAX : t->moment;
	return p->bytes;
}

static int target_read(void *ctx, uint64_t addr, uint64_t *word)
{
	struct target *t = ctx;
	uint64_t in_page = addr % TARGET_PAGE_BYTES;
	size_t head = in_page > TARGET_PAGE_BYTES - 8 ? TARGET_PAGE_BYTES - in_page : 8;
	const uint8_t *bytes = target_page(t, addr);

	if (!bytes)
		return -1;
	memcpy(word, bytes + in_page, head);
	if (head == 8)
		return 0;
	bytes = target_page(t, addr + 8);
	if (!bytes)
		return -1;
	memcpy((uint8_t *)word + head, bytes, 8 - head);
	return 0;
}

/* Rows of a mapping's file, compiled once a file; NULL if it has none. */
static const struct row_table *target_table(struct target *t, const char *range, const char *path)
{
	char link[512];
	struct err err = { 0 };
	struct target_file *f = &t->files[t->file_cnt];
	struct stat st;
	int fd, rc;

	if (!strcmp(path, "[vdso]")) {
		t->file_cnt++;
		f->dev = f->ino = 0;
		return rows_compile_vdso(&f->table, &err) ? NULL : &f->table;
	}
	if (path[0] != '/')
		return NULL;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%s", t->pid, range);
	fd = open(link, O_RDONLY);
	if (fd < 0)
		fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return NULL;
	for (size_t i = 0; i < t->file_cnt; i++) {
		if (t->files[i].dev == st.st_dev && t->files[i].ino == st.st_ino) {
			close(fd);
			return t->files[i].table.row_cnt ? &t->files[i].table : NULL;
		}
	}
	rc = rows_compile_fd(fd, &f->table, &err);
	close(fd);
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	t->file_cnt++;
	if (rc)
		fprintf(stderr, "%s: %s\n", path, err.msg);
	return rc || !f->table.row_cnt ? NULL : &f->table;
}

static void target_add_mapping(struct target *t, const char *line)
{
	char range[64], perms[8], path[256] = "";
	struct walk_mapping m = { 0 };
	uint64_t off;

	if (sscanf(line, "%63s %7s %" SCNx64 " %*s %*s %255s", range, perms, &off, path) < 3 ||
	    sscanf(range, "%" SCNx64 "-%" SCNx64, &m.start, &m.end) != 2)
		return;
	if (perms[1] == '-' && (path[0] == '/' || !strcmp(path, "[vdso]")) &&
	    t->file_range_cnt < TARGET_MAPPING_MAX * 4) {
		t->file_lo[t->file_range_cnt] = m.start;
		t->file_hi[t->file_range_cnt++] = m.end;
	}
	if (perms[2] != 'x' || t->space.mapping_cnt == TARGET_MAPPING_MAX ||
	    !strcmp(path, "[vsyscall]"))
		return;
	m.table = target_table(t, range, path);
	if (m.table && !rows_bias(m.table, m.start, off, &m.bias))
		m.table = NULL;
	snprintf(t->paths[t->space.mapping_cnt], sizeof(t->paths[0]), "%s", path);
	t->mappings[t->space.mapping_cnt++] = m;
}

static void target_free_tables(struct target *t)
{
	for (size_t i = 0; i < t->file_cnt; i++)
		rows_free(&t->files[i].table);
	t->file_cnt = 0;
}

static char *target_read_maps(pid_t pid)
{
	enum {
		CAP = 1 << 20
	};
	char name[64], *text = calloc(1, CAP);
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	fd = open(name, O_RDONLY);
	while (fd >= 0 && len < CAP - 1 && (n = read(fd, text + len, CAP - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	return text;
}

static inline bool target_maps_changed(const struct target *t)
{
	char *now = target_read_maps(t->pid);
	bool changed = strcmp(now, t->maps) != 0;

	free(now);
	return changed;
}

/* Reads the mappings (again). */
static void target_refresh(struct target *t)
{
	target_free_tables(t);
	t->space.mapping_cnt = 0;
	t->file_range_cnt = 0;
	t->moment++;
	for (size_t i = 0; i < TARGET_PAGE_CNT; i++)
		t->pages[i].addr = 0;
	free(t->maps);
	t->maps = target_read_maps(t->pid);
	for (const char *line = t->maps; *line;) {
		const char *end = strchr(line, '\n');
		char text[1024];

		if (!end)
			break;
		snprintf(text, sizeof(text), "%.*s", (int)(end - line), line);
		target_add_mapping(t, text);
		line = end + 1;
	}
}

static struct target *target_open(pid_t pid)
{
	struct target *t = calloc(1, sizeof(*t));

	if (!t || !(t->pages = calloc(TARGET_PAGE_CNT, sizeof(*t->pages))))
		abort();
	t->pid = pid;
	t->space.mappings = t->mappings;
	t->space.read = target_read;
	t->space.ctx = t;
	target_refresh(t);
	return t;
}

static inline void target_close(struct target *t)
{
	target_free_tables(t);
	free(t->pages);
	free(t->maps);
	free(t);
}

static void target_regs_of(const struct user_regs_struct *u, struct walk_regs *ret)
{
	*ret = (struct walk_regs){ .r = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp,
					  u->rsp, u->r8, u->r9, u->r10, u->r11, u->r12, u->r13,
					  u->r14, u->r15, u->rip } };
}

/* Registers of a thread that is stopped by ptrace. */
static inline bool target_regs(pid_t tid, struct walk_regs *ret)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, tid, 0, &u))
		return false;
	target_regs_of(&u, ret);
	return true;
}

static inline const char *target_stop_name(enum walk_stop stop)
{
	static const char *const names[] = { "none",	   "root",    "zero",
					     "no mapping", "no row",  "unsupported",
					     "unreadable", "bad cfa", "depth" };

	return (size_t)stop < sizeof(names) / sizeof(names[0]) ? names[stop] : "?";
}

#endif
