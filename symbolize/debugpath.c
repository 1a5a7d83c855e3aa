/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "symbolize/debugpath.h"

static size_t end_path(struct buf *out)
{
	buf_append(out, "", 1);
	return 1;
}

/* Takes the next directory off a colon-separated list. */
static size_t next_dir(const char **dirs, const char **dir)
{
	size_t len_bytes = strcspn(*dirs, ":");

	*dir = *dirs;
	*dirs += len_bytes + ((*dirs)[len_bytes] == ':');
	return len_bytes;
}

static size_t by_build_id(const struct debugpath_query *q, struct buf *out)
{
	const char *dirs = q->dirs, *dir;
	size_t cnt = 0, len_bytes;

	if (q->build_id_bytes < 2)
		return 0;
	for (int n = 0; *dirs && n < DEBUGPATH_DIRS_MAX; n++) {
		len_bytes = next_dir(&dirs, &dir);
		if (!len_bytes)
			continue;
		buf_append(out, dir, len_bytes);
		buf_printf(out, "/.build-id/%02x/", q->build_id[0]);
		for (size_t i = 1; i < q->build_id_bytes; i++)
			buf_printf(out, "%02x", q->build_id[i]);
		buf_puts(out, ".debug");
		cnt += end_path(out);
	}
	return cnt;
}

static size_t put_path(struct buf *out, const char *dir, size_t dir_bytes, const char *folder,
		       size_t folder_bytes, const char *name)
{
	buf_append(out, dir, dir_bytes);
	buf_append(out, folder, folder_bytes);
	buf_puts(out, name);
	return end_path(out);
}

static size_t by_link(const struct debugpath_query *q, struct buf *out)
{
	const char *slash = strrchr(q->path, '/'), *dirs = q->dirs, *dir;
	size_t folder_bytes = slash ? (size_t)(slash + 1 - q->path) : 0, cnt = 0;

	if (!q->debuglink || strchr(q->debuglink, '/') || !folder_bytes)
		return 0;
	cnt += put_path(out, "", 0, q->path, folder_bytes, q->debuglink);
	buf_append(out, q->path, folder_bytes);
	cnt += put_path(out, ".debug/", 7, "", 0, q->debuglink);
	for (int n = 0; *dirs && n < DEBUGPATH_DIRS_MAX; n++) {
		size_t len_bytes = next_dir(&dirs, &dir);

		if (len_bytes)
			cnt += put_path(out, dir, len_bytes, q->path, folder_bytes, q->debuglink);
	}
	return cnt;
}

static size_t by_path(const struct debugpath_query *q, struct buf *out)
{
	const char *dirs = q->dirs, *dir;
	size_t cnt = 0;

	if (q->path[0] != '/')
		return 0;
	for (int n = 0; *dirs && n < DEBUGPATH_DIRS_MAX; n++) {
		size_t len_bytes = next_dir(&dirs, &dir);

		if (!len_bytes)
			continue;
		cnt += put_path(out, dir, len_bytes, q->path, strlen(q->path), ".debug");
		cnt += put_path(out, dir, len_bytes, q->path, strlen(q->path), "");
	}
	return cnt;
}

size_t debugpath_candidates(const struct debugpath_query *q, struct buf *out)
{
	return by_build_id(q, out) + by_link(q, out) + by_path(q, out);
}
