/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes by name; see process_names.h. */
#include "user/capture/process_names.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/mem.h"

static bool name_matches(const char *pid, const char *pattern)
{
	char *path = xasprintf("/proc/%s/comm", pid), name[64];
	FILE *f = fopen(path, "re");
	bool match = false;

	free(path);
	if (!f)
		return false;
	if (fgets(name, sizeof(name), f)) {
		name[strcspn(name, "\n")] = '\0';
		match = !fnmatch(pattern, name, 0);
	}
	fclose(f);
	return match;
}

int process_names_match(const char *pattern, uint32_t **pids, size_t *cnt, struct err *err)
{
	size_t cap = *cnt, before = *cnt;
	DIR *proc = opendir("/proc");
	struct dirent *e;

	if (!proc)
		return err_errno(err, "cannot read /proc");
	while ((e = readdir(proc))) {
		if (!isdigit((unsigned char)e->d_name[0]) || atoi(e->d_name) == getpid() ||
		    !name_matches(e->d_name, pattern))
			continue;
		*pids = xgrow(*pids, &cap, *cnt + 1, sizeof(**pids));
		(*pids)[(*cnt)++] = (uint32_t)atoi(e->d_name);
	}
	closedir(proc);
	if (*cnt == before)
		return err_set(err, -ESRCH,
			       "no process has a name that matches '%s' (a name has at most 15 "
			       "bytes; ps -eo comm lists them)",
			       pattern);
	return 0;
}
