/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups; see cgroups.h. */
#include "user/capture/cgroups.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "user/base/buf.h"
#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/base/strtab.h"

enum {
	DEPTH_MAX = 64,
	KNOWN_MAX = 1 << 20
};

struct known {
	uint64_t id;
	uint32_t path_sid;
};

struct cgroups {
	char *mount; /* of the v2 hierarchy; NULL: there is none */
	struct strtab paths;
	struct known *known;
	size_t known_cnt, known_cap;
	struct index index;
};

/* mountinfo writes blanks as \040. */
static void unescape_octal(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && isdigit((unsigned char)s[1]) && isdigit((unsigned char)s[2]) &&
		    isdigit((unsigned char)s[3])) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static char *find_mount(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *mount = NULL, *at = NULL;
	size_t cap = 0;

	while (f && !mount && getline(&line, &cap, f) > 0) {
		char *rest = line, *field = NULL;

		if (!strstr(line, " - cgroup2 "))
			continue;
		for (int i = 0; i < 5; i++) /* number, parent, device, root, place */
			field = strtok_r(rest, " ", &at), rest = NULL;
		if (field) {
			unescape_octal(field);
			mount = xstrdup(field);
		}
	}
	free(line);
	if (f)
		fclose(f);
	return mount;
}

struct cgroups *cgroups__new(void)
{
	struct cgroups *c = xzalloc(sizeof(*c));

	c->mount = find_mount();
	return c;
}

const char *cgroups__mount(const struct cgroups *c)
{
	return c->mount;
}

void cgroups__free(struct cgroups *c)
{
	if (!c)
		return;
	free(c->mount);
	strtab_free(&c->paths);
	free(c->known);
	index_free(&c->index);
	free(c);
}

static const struct known *lookup(const struct cgroups *c, uint64_t id)
{
	struct index_iter it = index_find(&c->index, hash_u64(id));

	for (; index_hit(&c->index, &it); index_next(&c->index, &it))
		if (c->known[it.elem].id == id)
			return &c->known[it.elem];
	return NULL;
}

void cgroups__learn(struct cgroups *c, uint64_t id, const char *path)
{
	if (lookup(c, id) || c->known_cnt == KNOWN_MAX)
		return;
	c->known = xgrow(c->known, &c->known_cap, c->known_cnt + 1, sizeof(*c->known));
	index_add(&c->index, hash_u64(id), (uint32_t)c->known_cnt);
	c->known[c->known_cnt++] = (struct known){ id, strtab_add(&c->paths, path) };
}

/* Calls visit for a directory and all below it. */
static void walk(const char *dir, int depth, void (*visit)(void *ctx, const char *dir, uint64_t id),
		 void *ctx, uint64_t id)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return;
	visit(ctx, dir, id);
	while (depth < DEPTH_MAX && (e = readdir(d))) {
		char *path;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		walk(path, depth + 1, visit, ctx, e->d_ino);
		free(path);
	}
	closedir(d);
}

static uint64_t inode_of(const char *dir)
{
	struct stat st;

	return stat(dir, &st) ? 0 : st.st_ino;
}

static void learn_dir(void *ctx, const char *dir, uint64_t id)
{
	struct cgroups *c = ctx;
	const char *path = dir + strlen(c->mount);

	cgroups__learn(c, id, *path ? path : "/");
}

static void learn_all(struct cgroups *c)
{
	if (c->mount)
		walk(c->mount, 0, learn_dir, c, inode_of(c->mount));
}

struct listing {
	uint32_t **pids;
	size_t *cnt, cap;
};

static void list_dir(void *ctx, const char *dir, uint64_t id)
{
	struct listing *l = ctx;
	char *path = xasprintf("%s/cgroup.procs", dir);
	FILE *f = fopen(path, "re");
	unsigned int pid;

	(void)id;
	free(path);
	while (f && fscanf(f, "%u", &pid) == 1) {
		*l->pids = xgrow(*l->pids, &l->cap, *l->cnt + 1, sizeof(**l->pids));
		(*l->pids)[(*l->cnt)++] = pid;
	}
	if (f)
		fclose(f);
}

void cgroups_list(const char *dir, uint32_t **pids, size_t *cnt)
{
	struct listing l = { pids, cnt, *cnt };

	walk(dir, 0, list_dir, &l, 0);
}

static int find_number(struct cgroups *c, uint64_t id, char **dir, struct err *err)
{
	const struct known *k = lookup(c, id);

	if (!k) {
		learn_all(c);
		k = lookup(c, id);
	}
	if (!k)
		return err_set(err, -ENOENT,
			       "no cgroup below %s has the number %llu (ls -id tells a "
			       "directory's)",
			       c->mount, (unsigned long long)id);
	*dir = xasprintf("%s%s", c->mount, strtab_get(&c->paths, k->path_sid));
	return 0;
}

int cgroups__find(struct cgroups *c, const char *text, uint64_t *id, char **dir, struct err *err)
{
	size_t mount_bytes = c->mount ? strlen(c->mount) : 0;
	struct statfs fs;

	if (!c->mount)
		return err_set(err, -ENOENT,
			       "no cgroup2 hierarchy is mounted (mount -t cgroup2 none DIR)");
	if (*text && !text[strspn(text, "0123456789")]) {
		int rc = parse_u64(text, id, err);

		return rc ? rc : find_number(c, *id, dir, err);
	}
	if (!strncmp(text, c->mount, mount_bytes) &&
	    (!text[mount_bytes] || text[mount_bytes] == '/'))
		*dir = xstrdup(text);
	else if (!statfs(text, &fs) && *text == '/' && fs.f_type == CGROUP_SUPER_MAGIC)
		return err_set(err, -EINVAL,
			       "%s is a cgroup of version 1; those of version 2 lie below %s", text,
			       c->mount);
	else
		*dir = xasprintf("%s/%s", c->mount, text + strspn(text, "/"));
	*id = inode_of(*dir);
	if (*id && !statfs(*dir, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return 0;
	err_set(err, -ENOENT, "no cgroup %s (there is no directory %s)", text, *dir);
	free(*dir);
	*dir = NULL;
	return -ENOENT;
}

/* The line of /proc/PID/cgroup that begins with "0::". */
static char *path_by_pid(uint32_t pid)
{
	char *path = xasprintf("/proc/%u/cgroup", pid), *line = NULL, *found = NULL;
	FILE *f = fopen(path, "re");
	size_t cap = 0;

	free(path);
	while (f && !found && getline(&line, &cap, f) > 0)
		if (!strncmp(line, "0::", 3)) {
			line[strcspn(line, "\n")] = '\0';
			found = xstrdup(line + 3);
		}
	free(line);
	if (f)
		fclose(f);
	return found;
}

const char *cgroups__path(struct cgroups *c, uint64_t id, uint32_t pid)
{
	const struct known *k = lookup(c, id);
	char *path, *dir;

	if (k)
		return strtab_get(&c->paths, k->path_sid);
	path = path_by_pid(pid);
	dir = xasprintf("%s%s", c->mount ? c->mount : "", path ? path : "");
	if (path && (!c->mount || inode_of(dir) == id)) /* else it has moved on */
		cgroups__learn(c, id, path);
	else
		learn_all(c);
	k = lookup(c, id);
	if (!k) { /* below what is mounted here, or removed: the process's word is the best there is */
		cgroups__learn(c, id, path ? path : "");
		k = lookup(c, id);
	}
	free(path);
	free(dir);
	return k ? strtab_get(&c->paths, k->path_sid) : "";
}
