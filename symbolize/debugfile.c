/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "symbolize/debugfile.h"
#include "symbolize/debugpath.h"
#include "symbolize/fetcher.h"
#include "symbolize/locate.h"
#include "user/base/mem.h"

#define CRC_STEP_BYTES ((size_t)256 << 10)
#define CRC_MAX_BYTES  ((uint64_t)4 << 30)

static bool build_ids_equal(const struct elf *e, const uint8_t *id, uint32_t id_bytes)
{
	return id_bytes && e->build_id_bytes == id_bytes && !memcmp(e->build_id, id, id_bytes);
}

static bool crc_matches(int fd, uint64_t size_bytes, uint32_t want)
{
	static const char zero[1];
	struct buf step = { 0 };
	uint32_t crc = (uint32_t)crc32(0, (const Bytef *)zero, 0);
	uint64_t at = 0;
	ssize_t n = 0;

	buf_reserve(&step, CRC_STEP_BYTES);
	while (size_bytes <= CRC_MAX_BYTES && at < size_bytes) {
		n = pread(fd, step.data, CRC_STEP_BYTES, (off_t)at);
		if (n <= 0)
			break;
		crc = (uint32_t)crc32(crc, (const Bytef *)step.data, (uInt)n);
		at += (uint64_t)n;
	}
	buf_free(&step);
	return at == size_bytes && crc == want;
}

/* Whether the open file is the module's debug file; *why says why not. */
static bool belongs(const struct module *m, const struct elf *debug,
		    const struct elf_debug_links *links, const char **why)
{
	bool both = m->elf.build_id_bytes && debug->build_id_bytes;

	*why = "has neither symbols nor debug information";
	if (!elf_has_debug_info(debug) && !elf_section_by_type(debug, SHT_SYMTAB))
		return false;
	*why = "another build-id";
	if (both)
		return build_ids_equal(debug, m->elf.build_id, m->elf.build_id_bytes);
	*why = "another CRC than the debuglink says";
	return links->debuglink &&
	       crc_matches(debug->image.fd, debug->image.size_bytes, links->debuglink_crc);
}

/* Takes fd over: into the module, or closes it. */
static bool try_fd(struct module *m, int fd, const struct elf_debug_links *links, const char *path)
{
	struct image image;
	struct elf debug = { 0 };
	const char *why = "not an ELF file";
	bool ok = !image_from_fd(&image, fd) && !elf_open(&debug, &image) &&
		  belongs(m, &debug, links, &why);

	buf_printf(&m->trail, "debug file %s: %s\n", path, ok ? "used" : why);
	if (ok) {
		m->debug = debug;
		m->debug_fd = fd;
		m->debug_path = xstrdup(path);
	} else {
		elf_close(&debug);
		close(fd);
	}
	return ok;
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool try_path(struct module *m, const struct elf_debug_links *links, int root_fd,
		     const char *path)
{
	int fd = locate_open_in_root(root_fd, path);

	if (fd < 0) {
		buf_printf(&m->trail, "debug file %s: %s\n", path, strerror(-fd));
		return false;
	}
	if (is_same_file(fd, m->fd)) {
		close(fd);
		return false;
	}
	return try_fd(m, fd, links, path);
}

static bool same_root(int a, int b)
{
	return a < 0 || is_same_file(a, b);
}

/* The target's own files come first: they are of its distribution. */
static bool try_candidates(struct module *m, const struct module_env *env,
			   const struct elf_debug_links *links)
{
	struct debugpath_query query = {
		.path = m->path,
		.debuglink = links->debuglink,
		.build_id = m->elf.build_id,
		.build_id_bytes = m->elf.build_id_bytes,
		.dirs = env->opts->debug_dirs,
	};
	int roots[2] = { m->root_fd, env->host_root_fd };
	struct buf paths = { 0 };
	size_t cnt = debugpath_candidates(&query, &paths);
	bool found = false;

	for (int i = same_root(roots[0], roots[1]) ? 1 : 0; i < 2 && !found; i++) {
		const char *path = paths.data;

		for (size_t n = 0; n < cnt && !found; n++, path += strlen(path) + 1)
			found = try_path(m, links, roots[i], path);
	}
	buf_free(&paths);
	return found;
}

static int fetch(struct module *m, const struct module_env *env, const uint8_t *id,
		 uint32_t id_bytes)
{
	int fd;

	if (!env->fetcher || !id_bytes)
		return -1;
	fd = fetcher__debug_file(env->fetcher, id, id_bytes);
	buf_printf(&m->trail, "debuginfod (asked as user %u): %s\n",
		   (unsigned int)fetcher__uid(env->fetcher), fd < 0 ? strerror(-fd) : "fetched");
	return fd;
}

void debugfile_find(struct module *m, const struct module_env *env)
{
	struct elf_debug_links links;
	int fd;

	elf_debug_links(&m->elf, &links);
	if (!try_candidates(m, env, &links)) {
		fd = fetch(m, env, m->elf.build_id, m->elf.build_id_bytes);
		if (fd >= 0)
			try_fd(m, fd, &links, "from debuginfod");
	}
	elf_debug_links_free(&links);
}

/* The name is absolute, or relative to the file that holds it. */
static size_t alt_candidates(const struct module *m, const struct module_env *env,
			     const struct elf *e, const struct elf_debug_links *links,
			     struct buf *paths)
{
	const char *holder = e == &m->debug ? m->debug_path : m->path;
	const char *slash = strrchr(holder, '/');
	struct debugpath_query query = {
		.path = "",
		.build_id = links->altlink_id,
		.build_id_bytes = links->altlink_id_bytes,
		.dirs = env->opts->debug_dirs,
	};

	if (links->altlink[0] != '/' && slash)
		buf_append(paths, holder, (size_t)(slash + 1 - holder));
	buf_append(paths, links->altlink, strlen(links->altlink) + 1);
	return 1 + debugpath_candidates(&query, paths);
}

static bool has_build_id(int fd, const uint8_t *id, uint32_t id_bytes)
{
	struct image image;
	struct elf e = { 0 };
	bool same = !image_from_fd(&image, fd) && !elf_open(&e, &image) &&
		    build_ids_equal(&e, id, id_bytes);

	elf_close(&e);
	return same;
}

static int open_alt(struct module *m, int root_fd, const char *path,
		    const struct elf_debug_links *links)
{
	int fd = locate_open_in_root(root_fd, path);
	const char *outcome = fd < 0 ? strerror(-fd) : "used";

	if (fd >= 0 && !has_build_id(fd, links->altlink_id, links->altlink_id_bytes)) {
		close(fd);
		fd = -1;
		outcome = "another build-id";
	}
	buf_printf(&m->trail, "alternate debug file %s: %s\n", path, outcome);
	return fd;
}

int debugfile_find_alt(struct module *m, const struct module_env *env, const struct elf *e)
{
	int roots[2] = { m->root_fd, env->host_root_fd }, fd = -1;
	struct elf_debug_links links;
	struct buf paths = { 0 };
	size_t cnt;

	elf_debug_links(e, &links);
	cnt = links.altlink ? alt_candidates(m, env, e, &links, &paths) : 0;
	for (int i = same_root(roots[0], roots[1]) ? 1 : 0; i < 2 && fd < 0; i++) {
		const char *path = paths.data;

		for (size_t n = 0; n < cnt && fd < 0; n++, path += strlen(path) + 1)
			fd = open_alt(m, roots[i], path, &links);
	}
	if (cnt && fd < 0)
		fd = fetch(m, env, links.altlink_id, links.altlink_id_bytes);
	if (fd >= 0 && !has_build_id(fd, links.altlink_id, links.altlink_id_bytes)) {
		close(fd);
		fd = -1;
	}
	buf_free(&paths);
	elf_debug_links_free(&links);
	return fd;
}
