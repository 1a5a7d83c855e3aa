/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of /proc/PID/maps:
 *	7f2c4a628000-7f2c4a77d000 r-xp 00028000 fe:00 1234    /usr/lib/libc.so.6 (deleted)
 * The path is the rest of the line; the kernel writes a newline inside it as "\012" and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/maps.h"
#include "symbolize/text.h"
#include "user/base/buf.h"
#include "user/base/mem.h"

#define MAPS_TEXT_MAX_BYTES ((size_t)512 << 20)

static const char deleted_suffix[] = " (deleted)";

static bool parse_perms(struct text *line, uint32_t *perms)
{
	struct text w = text_word(line);

	if (text_len(w) != 4)
		return false;
	*perms = (w.at[0] == 'r' ? MAPS_READ : 0u) | (w.at[1] == 'w' ? MAPS_WRITE : 0u) |
		 (w.at[2] == 'x' ? MAPS_EXEC : 0u) | (w.at[3] == 's' ? MAPS_SHARED : 0u);
	return true;
}

static bool parse_numbers(struct text *line, struct maps_entry *e)
{
	uint64_t major, minor;

	if (!text_hex(line, &e->start) || !text_char(line, '-') || !text_hex(line, &e->end) ||
	    !text_char(line, ' ') || !parse_perms(line, &e->perms) || !text_char(line, ' ') ||
	    !text_hex(line, &e->off_bytes) || !text_char(line, ' ') || !text_hex(line, &major) ||
	    !text_char(line, ':') || !text_hex(line, &minor) || !text_char(line, ' ') ||
	    !text_dec(line, &e->inode))
		return false;
	e->dev_major = (uint32_t)major;
	e->dev_minor = (uint32_t)minor;
	return e->start < e->end && e->off_bytes + (e->end - e->start) >= e->off_bytes;
}

/* Ends the path with a NUL in place and undoes the kernel's escape of newlines. */
static void parse_path(struct text *line, struct maps_entry *e, char *text)
{
	size_t suffix_bytes = sizeof(deleted_suffix) - 1;
	char *path, *to;

	text_skip_blanks(line);
	path = text + (line->at - text);
	if (e->inode && text_len(*line) > suffix_bytes &&
	    !memcmp(line->end - suffix_bytes, deleted_suffix, suffix_bytes)) {
		e->deleted = true;
		line->end -= suffix_bytes;
	}
	to = path;
	for (const char *from = path; from < line->end; from++, to++) {
		bool newline = line->end - from >= 4 && !memcmp(from, "\\012", 4);

		*to = *from;
		if (newline) {
			*to = '\n';
			from += 3;
		}
	}
	*to = '\0';
	e->path = path;
}

static int compare_start(const void *a, const void *b)
{
	const struct maps_entry *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_and_drop_overlaps(struct maps *m)
{
	size_t kept = 0;

	if (!m->cnt)
		return;
	qsort(m->entries, m->cnt, sizeof(*m->entries), compare_start);
	for (size_t i = 0; i < m->cnt; i++) {
		if (kept && m->entries[i].start < m->entries[kept - 1].end)
			m->skipped_cnt++;
		else
			m->entries[kept++] = m->entries[i];
	}
	m->cnt = kept;
}

void maps_parse(struct maps *m, const char *text, size_t len_bytes)
{
	struct text rest, line;

	memset(m, 0, sizeof(*m));
	m->text = xmalloc(len_bytes + 1);
	memcpy(m->text, text, len_bytes);
	m->text[len_bytes] = '\0';
	rest = (struct text){ m->text, m->text + len_bytes };
	while (text_line(&rest, &line)) {
		struct maps_entry e = { 0 };

		if (!parse_numbers(&line, &e) || m->cnt >= MAPS_ENTRIES_MAX) {
			m->skipped_cnt++;
			continue;
		}
		parse_path(&line, &e, m->text);
		m->entries = xgrow(m->entries, &m->cap, m->cnt + 1, sizeof(*m->entries));
		m->entries[m->cnt++] = e;
	}
	sort_and_drop_overlaps(m);
}

int maps_read(struct maps *m, pid_t pid, struct err *err)
{
	struct buf text = { 0 };
	char path[64];
	int fd, rc;

	memset(m, 0, sizeof(*m));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT)
			return err_set(err, -ESRCH, "process %d does not exist (any more)",
				       (int)pid);
		return err_errno(err, "read %s", path);
	}
	rc = text_read_fd(fd, MAPS_TEXT_MAX_BYTES, &text);
	close(fd);
	if (!rc)
		maps_parse(m, buf_str(&text), text.len_bytes);
	buf_free(&text);
	return rc ? err_set(err, rc, "read %s: %s", path, strerror(-rc)) : 0;
}

const struct maps_entry *maps_find(const struct maps *m, uint64_t addr)
{
	size_t low = 0, high = m->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->entries[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->cnt && m->entries[low].start <= addr ? &m->entries[low] : NULL;
}

void maps_free(struct maps *m)
{
	free(m->entries);
	free(m->text);
	memset(m, 0, sizeof(*m));
}
