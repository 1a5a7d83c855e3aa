/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Announced processes; see processes.h. */
#include "user/capture/processes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/mem.h"

void processes_init(struct processes *w, struct kernel *kernel, struct spaces *spaces,
		    struct symbolizer *symbolizer, struct cgroups *cgroups)
{
	*w = (struct processes){ .kernel = kernel,
				 .spaces = spaces,
				 .symbolizer = symbolizer,
				 .cgroups = cgroups,
				 .vma_maps = vma_maps__new() };
}

void processes_fini(struct processes *w)
{
	vma_maps__free(w->vma_maps);
	w->vma_maps = NULL;
}

static uint32_t read_exe(struct strtab *strings, uint32_t pid)
{
	char *path = xasprintf("/proc/%u/exe", pid), target[4096];
	ssize_t n = readlink(path, target, sizeof(target));

	free(path);
	return n > 0 ? strtab_addn(strings, target, (size_t)n) : 0;
}

/* Of a program that is over, when /proc has the next one's. 0 = not known. */
static uint32_t exe_of_exec(struct strtab *strings, const struct cp_told *told)
{
	size_t len_bytes = strnlen(told->exe, sizeof(told->exe));

	return told->exe[0] == '/' ? strtab_addn(strings, told->exe, len_bytes) : 0;
}

static uint32_t exe_of(struct strtab *strings, const struct event_process *p,
		       const struct event_process *before)
{
	if (before && p->event.why != CP_PROCESS_EXEC)
		return before->exe_sid;
	return read_exe(strings, p->event.tgid);
}

void processes_leave(struct processes *w, struct event_process *p)
{
	if (p->left)
		return;
	p->left = true;
	if (spaces__drop(w->spaces, p->space))
		kernel__unpublish(w->kernel, p->space);
}

/* Tells the kernel. Without room for its interpreter a process still has native stacks. */
static int publish(struct processes *w, uint32_t space, struct cp_range *range)
{
	if (range->python &&
	    kernel__publish_python(w->kernel, space, &spaces__python(w->spaces, space)->kernel,
				   NULL))
		range->python = 0;
	return kernel__publish(w->kernel, space, range, NULL);
}

/* The mappings are those of the generation before: the parent's, or its own in another cgroup. */
static void share_space(struct processes *w, struct event_process *p, struct event_process *before)
{
	struct cp_range range;

	if (!before)
		return;
	p->space = before->space;
	if (spaces__hold(w->spaces, p->space, &range))
		w->unpublished_cnt += publish(w, p->space, &range) != 0;
	if (p->event.why == CP_PROCESS_CGROUP)
		processes_leave(w, before);
}

void processes_seen(struct processes *w, struct events *ev, struct event_process *p,
		    const struct cp_told *told)
{
	struct event_process *before = events_process(ev, p->event.before);
	struct cp_range range;
	struct maps maps;
	int rc;

	p->cgroup_sid =
		strtab_add(&ev->strings, cgroups__path(w->cgroups, p->event.cgroup, p->event.tgid));
	if (p->event.kernel)
		return;
	p->exe_sid = exe_of(&ev->strings, p, before);
	if (p->event.why == CP_PROCESS_FORK || p->event.why == CP_PROCESS_CGROUP) {
		share_space(w, p, before);
		return;
	}
	if (before)
		processes_leave(w, before);
	rc = vma_maps__read(w->vma_maps, (pid_t)p->event.tgid, told, p->event.vma_cnt, &maps, NULL);
	if (rc) { /* gone already: its stacks say so themselves */
		symbolizer__add_process(w->symbolizer, p->space, (pid_t)p->event.tgid, NULL, NULL);
		return;
	}
	if (p->event.why == CP_PROCESS_EXEC && told &&
	    ((maps.cnt && maps.entries[0].past) ||
	     read_exe(&ev->strings, p->event.tgid) != p->exe_sid)) /* it went on meanwhile */
		p->exe_sid = exe_of_exec(&ev->strings, told);
	rc = spaces__publish(w->spaces, p->space, (pid_t)p->event.tgid, &maps, w->symbolizer,
			     &range, NULL);
	maps_free(&maps);
	if (publish(w, p->space, &range) || rc)
		w->unpublished_cnt++;
}
