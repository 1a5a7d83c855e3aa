/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/prepare.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "user/capture/cgroups.h"

static void prepare_all(struct spaces *spaces)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	if (!proc)
		return;
	while ((e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]))
			spaces__prepare(spaces, atoi(e->d_name));
	closedir(proc);
}

static void prepare_cgroups(struct spaces *spaces, const struct capture_opts *o)
{
	uint32_t *pids = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < o->cgroup_cnt; i++)
		cgroups_list(o->cgroups[i].dir, &pids, &cnt);
	for (size_t i = 0; i < cnt; i++)
		spaces__prepare(spaces, (pid_t)pids[i]);
	free(pids);
}

bool prepare_is_one_process(const struct capture_opts *o)
{
	return !o->all && o->pid_cnt == 1 && !o->tid_cnt;
}

void prepare_spaces(struct spaces *spaces, const struct capture_opts *o)
{
	if (o->frame_pointers || !o->user_stacks) {
		spaces__without_rows(spaces);
		return;
	}
	if (o->all)
		prepare_all(spaces);
	prepare_cgroups(spaces, o);
	if (prepare_is_one_process(o))
		spaces__together(spaces);
	for (size_t i = 0; i < o->pid_cnt; i++)
		spaces__prepare(spaces, (pid_t)o->pids[i]);
	for (size_t i = 0; i < o->tid_cnt; i++)
		spaces__prepare(spaces, (pid_t)o->tids[i]);
}
