/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities of this process; see capability.h. */
#include "user/capture/capability.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "user/base/mem.h"

_Static_assert((int)CAPABILITY_SYS_PTRACE == CAP_SYS_PTRACE, "capabilities");
_Static_assert((int)CAPABILITY_SYS_ADMIN == CAP_SYS_ADMIN, "capabilities");
_Static_assert((int)CAPABILITY_SYSLOG == CAP_SYSLOG, "capabilities");
_Static_assert((int)CAPABILITY_PERFMON == CAP_PERFMON, "capabilities");
_Static_assert((int)CAPABILITY_BPF == CAP_BPF, "capabilities");

bool capability_held(enum capability c)
{
	unsigned long long set = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &set) == 1)
			break;
	if (f)
		fclose(f);
	return set >> c & 1;
}

bool capability_granted(enum capability c)
{
	return capability_held(c) || capability_held(CAPABILITY_SYS_ADMIN);
}

const char *capability_lacking(void)
{
	bool bpf = capability_granted(CAPABILITY_BPF);
	bool perfmon = capability_granted(CAPABILITY_PERFMON);

	if (!bpf && !perfmon)
		return "CAP_BPF and CAP_PERFMON";
	return !bpf ? "CAP_BPF" : !perfmon ? "CAP_PERFMON" : NULL;
}

bool capability_may_look_into(const char *pid)
{
	char *path = xasprintf("/proc/%s/root", pid), target[8];
	bool refused =
		readlink(path, target, sizeof(target)) < 0 && (errno == EACCES || errno == EPERM);

	free(path);
	return !refused;
}

bool capability_kernel_addresses(void)
{
	unsigned long long addr = 0;
	char line[256];
	FILE *f = fopen("/proc/kallsyms", "re");

	/* symbols of per-CPU data, at 0, come first */
	while (f && !addr && fgets(line, sizeof(line), f))
		addr = strtoull(line, NULL, 16);
	if (f)
		fclose(f);
	return addr;
}

void capability_put_notes(const uint32_t *pids, size_t cnt, bool kernel_frames, struct buf *out)
{
	if (kernel_frames && !capability_kernel_addresses())
		buf_puts(out, "kernel frames will have no names: the kernel hides its addresses "
			      "without CAP_SYSLOG (and kptr_restrict below 2)\n");
	for (size_t i = 0; i < cnt; i++) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%u", pids[i]);
		if (capability_may_look_into(pid))
			continue;
		buf_printf(
			out,
			"process %u is closed to this user %s: its user frames will be missing "
			"or without names\n",
			pids[i],
			capability_held(CAPABILITY_SYS_PTRACE) ?
				"although CAP_SYS_PTRACE is held (a security module or a namespace "
				"forbids it)" :
				"without CAP_SYS_PTRACE");
		return;
	}
}
