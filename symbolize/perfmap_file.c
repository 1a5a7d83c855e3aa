/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/addrspace.h"
#include "symbolize/locate.h"
#include "symbolize/perfmap.h"
#include "symbolize/perfmap_file.h"
#include "symbolize/text.h"
#include "user/base/mem.h"

struct perfmap_file {
	int fd;		     /* -1 = none */
	uint64_t size_bytes; /* when it was read */
	struct symtab table;
	size_t skipped_cnt;
	int read_cnt;
	char path[64];
	char outcome[128];
};

static void refuse(struct perfmap_file *p, const char *why)
{
	snprintf(p->outcome, sizeof(p->outcome), "%s", why);
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

static void check_owner_and_age(struct perfmap_file *p, const struct addrspace *a)
{
	struct stat st;

	if (fstat(p->fd, &st))
		refuse(p, "cannot be examined");
	else if (st.st_uid != a->uid && st.st_uid != 0)
		refuse(p, "not believed: it belongs to another user than the process");
	else if (a->start_s && (uint64_t)st.st_mtime + 1 < a->start_s)
		refuse(p, "not believed: it is older than the process");
}

static void read_map(struct perfmap_file *p)
{
	struct buf text = { 0 };

	p->read_cnt++;
	if (lseek(p->fd, 0, SEEK_SET) || text_read_fd(p->fd, PERFMAP_TEXT_MAX_BYTES, &text)) {
		buf_free(&text);
		refuse(p, "cannot be read, or is too large");
		return;
	}
	symtab_free(&p->table);
	perfmap_parse(&p->table, buf_str(&text), text.len_bytes, &p->skipped_cnt);
	p->size_bytes = text.len_bytes;
	buf_free(&text);
	snprintf(p->outcome, sizeof(p->outcome), "%zu ranges, %zu lines not understood",
		 p->table.ranges.cnt, p->skipped_cnt);
}

struct perfmap_file *perfmap_file__open(const struct addrspace *a)
{
	struct perfmap_file *p = xzalloc(sizeof(*p));

	snprintf(p->path, sizeof(p->path), "/tmp/perf-%d.map", (int)a->ns_pid);
	p->fd = a->root_fd < 0 ? -ENOENT : locate_open_in_root_nofollow(a->root_fd, p->path);
	if (p->fd < 0)
		refuse(p, strerror(-p->fd));
	else
		check_owner_and_age(p, a);
	if (p->fd >= 0)
		read_map(p);
	return p;
}

void perfmap_file__free(struct perfmap_file *p)
{
	if (!p)
		return;
	symtab_free(&p->table);
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

/* A busy compiler writes all the time: a few readings are free, further ones wait until the file has grown
 * by a sixteenth, so that all readings together stay linear in its final size. */
static bool has_grown(const struct perfmap_file *p)
{
	struct stat st;
	uint64_t enough_bytes = p->read_cnt < 8 ? 1 : p->size_bytes / 16 + 1;

	return p->fd >= 0 && !fstat(p->fd, &st) &&
	       (uint64_t)st.st_size >= p->size_bytes + enough_bytes;
}

const char *perfmap_file__find(struct perfmap_file *p, uint64_t addr)
{
	const struct range *r = symtab_find(&p->table, addr);

	if (!r && has_grown(p)) {
		read_map(p);
		r = symtab_find(&p->table, addr);
	}
	return r ? symtab_name(&p->table, r) : NULL;
}

void perfmap_file__why(const struct perfmap_file *p, struct buf *out)
{
	buf_printf(out, "perf map %s in the process's root: %s\n", p->path, p->outcome);
}
