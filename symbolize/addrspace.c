/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbolize/addrspace.h"
#include "symbolize/perfmap_file.h"
#include "symbolize/text.h"
#include "user/base/mem.h"

struct addrspace *addrspace__new(uint64_t key, pid_t pid)
{
	struct addrspace *a = xzalloc(sizeof(*a));

	a->key = key;
	a->pid = a->ns_pid = pid;
	a->root_fd = -1;
	return a;
}

void addrspace__free(struct addrspace *a)
{
	if (!a)
		return;
	free(a->regions);
	perfmap_file__free(a->perfmap);
	free(a);
}

const struct region *addrspace__find(const struct addrspace *a, uint64_t addr)
{
	size_t low = 0, high = a->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->regions[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->cnt && a->regions[low].start <= addr ? &a->regions[low] : NULL;
}

void addrspace__reserve(struct addrspace *a, size_t cnt)
{
	a->regions = cnt ? xcalloc(cnt, sizeof(*a->regions)) : NULL;
	a->cap = cnt;
}

struct region *addrspace__add(struct addrspace *a, const struct region *r)
{
	assert(a->cnt < a->cap);
	a->regions[a->cnt] = *r;
	return &a->regions[a->cnt++];
}

static void read_proc(struct buf *out, pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	text_read_fd(fd, 1 << 20, out);
	close(fd);
}

static bool starts_with(const struct text *line, const char *word)
{
	size_t len_bytes = strlen(word);

	return text_len(*line) >= len_bytes && !memcmp(line->at, word, len_bytes);
}

/* "Uid: real effective saved file", "NSpid: outermost ... innermost". */
static void parse_status(struct addrspace *a, const struct buf *status)
{
	struct text rest = { status->data, status->data + status->len_bytes }, line;
	uint64_t v;

	while (text_line(&rest, &line)) {
		bool uid = starts_with(&line, "Uid:"), pid = starts_with(&line, "NSpid:");
		int field = 0;

		if (!uid && !pid)
			continue;
		text_word(&line);
		for (text_skip_blanks(&line); text_dec(&line, &v); text_skip_blanks(&line)) {
			if (pid)
				a->ns_pid = (pid_t)v;
			else if (field++ == 1)
				a->uid = (uid_t)v;
		}
	}
}

/* Field 22 of stat: clock ticks from boot to the process's start. */
static uint64_t start_ticks(pid_t pid)
{
	struct buf stat = { 0 };
	const char *name_end;
	uint64_t ticks = 0;
	struct text t;

	read_proc(&stat, pid, "stat");
	name_end = strrchr(buf_str(&stat), ')'); /* the name may hold anything */
	if (name_end) {
		t = (struct text){ name_end + 1, stat.data + stat.len_bytes };
		for (int field = 2; field < 21; field++) {
			text_skip_blanks(&t);
			text_word(&t);
		}
		text_skip_blanks(&t);
		if (!text_dec(&t, &ticks))
			ticks = 0;
	}
	buf_free(&stat);
	return ticks;
}

/* The clock that counts from boot and the wall clock, read together, give the moment of boot. */
static uint64_t boot_seconds(void)
{
	struct timespec boot, wall;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (uint64_t)(wall.tv_sec - boot.tv_sec);
}

void addrspace__read_status(struct addrspace *a)
{
	struct buf status = { 0 };
	uint64_t ticks;

	read_proc(&status, a->pid, "status");
	if (status.len_bytes)
		parse_status(a, &status);
	buf_free(&status);
	ticks = start_ticks(a->pid);
	if (ticks)
		a->start_s = boot_seconds() + ticks / (uint64_t)sysconf(_SC_CLK_TCK);
}

const char *addrspace__jit_name(struct addrspace *a, uint64_t addr)
{
	if (!a->pid)
		return NULL;
	if (!a->perfmap)
		a->perfmap = perfmap_file__open(a);
	return perfmap_file__find(a->perfmap, addr);
}

void addrspace__why_jit(const struct addrspace *a, struct buf *out)
{
	if (a->perfmap)
		perfmap_file__why(a->perfmap, out);
}
