/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switch rates from /proc, see rate.h. The third number of /proc/PID/task/TID/schedstat counts how often a
 * thread got a CPU. */
#include "user/capture/rate.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/capture/cgroups.h"
#include "user/capture/sampler.h"

/* A switch as tests/bench/bench_switch.py measures it, both stacks walked and booked; a sample walks them
 * too (1.6 us in the kernel's run time statistics), with its interrupt allowed for. */
enum {
	SWITCH_COST_NS = 5000,
	SAMPLE_COST_NS = 4000
};

struct counts {
	uint64_t switches;
	uint32_t thread_cnt;
};

static bool read_thread(const char *path, struct counts *c)
{
	unsigned long long slices;
	FILE *f = fopen(path, "re");
	bool good;

	if (!f)
		return false;
	good = fscanf(f, "%*u %*u %llu", &slices) == 1;
	fclose(f);
	if (good) {
		c->switches += slices;
		c->thread_cnt++;
	}
	return good;
}

static bool read_process(uint32_t pid, struct counts *c)
{
	char *path = xasprintf("/proc/%u/task", pid);
	DIR *dir = opendir(path);
	struct dirent *e;

	free(path);
	if (!dir)
		return false;
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		path = xasprintf("/proc/%u/task/%s/schedstat", pid, e->d_name);
		read_thread(path, c);
		free(path);
	}
	closedir(dir);
	return true;
}

static bool read_machine(struct counts *c)
{
	char line[4096];
	unsigned long long switches;
	FILE *f = fopen("/proc/stat", "re");
	bool good = false;

	if (!f)
		return false;
	while (!good && fgets(line, sizeof(line), f))
		good = sscanf(line, "ctxt %llu", &switches) == 1;
	fclose(f);
	if (good)
		c->switches += switches;
	return good;
}

/* Whoever is there now; it may be nobody. */
static void read_cgroups(const struct capture_opts *opts, struct counts *c)
{
	uint32_t *pids = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < opts->cgroup_cnt; i++)
		cgroups_list(opts->cgroups[i].dir, &pids, &cnt);
	for (size_t i = 0; i < cnt; i++)
		read_process(pids[i], c);
	free(pids);
}

static int read_targets(const struct capture_opts *opts, struct counts *c, struct err *err)
{
	*c = (struct counts){ 0 };
	if (opts->all)
		return read_machine(c) ? 0 : err_set(err, -EIO, "cannot read /proc/stat");
	read_cgroups(opts, c);
	for (size_t i = 0; i < opts->pid_cnt; i++)
		if (!read_process(opts->pids[i], c))
			return err_set(err, -ESRCH, "no process %u", opts->pids[i]);
	for (size_t i = 0; i < opts->tid_cnt; i++) {
		char *path = xasprintf("/proc/%u/schedstat", opts->tids[i]);
		bool good = read_thread(path, c);

		free(path);
		if (!good)
			return err_set(err, -ESRCH, "no thread %u", opts->tids[i]);
	}
	return 0;
}

int rate_measure(const struct capture_opts *opts, uint64_t span_ns, struct rate *ret,
		 struct err *err)
{
	struct timespec span = { (time_t)(span_ns / 1000000000), (long)(span_ns % 1000000000) };
	long cpu_cnt = sysconf(_SC_NPROCESSORS_ONLN);
	struct counts before, after;
	uint64_t hz = opts->sample_hz ? opts->sample_hz : sampler_default_hz(opts->duration_ns);
	int rc = read_targets(opts, &before, err);

	if (rc)
		return rc;
	nanosleep(&span, NULL);
	if (read_targets(opts, &after, NULL))
		after = before; /* gone meanwhile: the capture will say so */
	*ret = (struct rate){ .thread_cnt = after.thread_cnt };
	if (after.switches > before.switches)
		ret->switches_per_s = (uint64_t)((double)(after.switches - before.switches) * 1e9 /
						 (double)span_ns);
	ret->cpu_share = ((double)ret->switches_per_s * SWITCH_COST_NS / (double)cpu_cnt +
			  (double)hz * SAMPLE_COST_NS) /
			 1e9;
	return 0;
}
