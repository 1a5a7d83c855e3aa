/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trials of what a capture needs; see doctor.h. Each trial is a function that fills the detail and returns
 * 0 or a negative errno; the table says what that costs. The smallest program there is (return 0) shows
 * whether a kind of program loads and attaches; the last trial takes the real ones. */
#include "user/capture/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "user/base/mem.h"
#include "user/capture/capability.h"
#include "user/capture/cgroups.h"
#include "user/capture/kernel.h"

enum {
	RING_BYTES = 4 << 20,
	/* inode numbers of the first namespaces, fixed by the kernel (include/linux/proc_ns.h) */
	FIRST_USER_NS = 0xEFFFFFFD,
	FIRST_PID_NS = 0xEFFFFFFC,
};

/* Fills the detail with what went wrong and returns rc. */
static int failed(struct buf *detail, const char *what, int rc)
{
	buf_printf(detail, "%s: %s", what, strerror(-rc));
	return rc;
}

static int try_btf(struct buf *detail)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return failed(detail, "/sys/kernel/btf/vmlinux", -errno);
	buf_printf(detail, "%u types", btf__type_cnt(btf) - 1);
	btf__free(btf);
	return 0;
}

static int try_ring(struct buf *detail)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "cp_try", 0, 0, RING_BYTES, NULL);

	if (fd < 0)
		return failed(detail, "a ring of 4 MiB", fd);
	close(fd);
	buf_puts(detail, "made one of 4 MiB");
	return 0;
}

static int try_task_storage(struct buf *detail)
{
	DECLARE_LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	struct btf *btf = btf__new_empty();
	int type = btf ? btf__add_int(btf, "int", 4, BTF_INT_SIGNED) : -ENOMEM, fd = type;

	if (type > 0)
		fd = btf__load_into_kernel(btf);
	if (!fd) {
		opts.btf_fd = (uint32_t)btf__fd(btf);
		opts.btf_key_type_id = opts.btf_value_type_id = (uint32_t)type;
		fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "cp_try", 4, 4, 0, &opts);
	}
	btf__free(btf);
	if (fd < 0)
		return failed(detail, "a map", fd);
	close(fd);
	buf_puts(detail, "made a map");
	return 0;
}

/* Loads "return 0" for a place that BTF names; a descriptor or a negative errno. */
static int load_nothing(const char *place, enum bpf_attach_type how, uint32_t flags)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	DECLARE_LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = how,
			    .prog_flags = flags);
	int id = libbpf_find_vmlinux_btf_id(place, how);

	if (id < 0)
		return id;
	opts.attach_btf_id = (uint32_t)id;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "cp_try", "GPL", insns, ARRAY_CNT(insns),
			     &opts);
}

static int try_tracepoint(struct buf *detail)
{
	int program = load_nothing("sched_switch", BPF_TRACE_RAW_TP, 0), link;

	if (program < 0)
		return failed(detail, "loading for sched_switch", program);
	link = bpf_raw_tracepoint_open(NULL, program);
	close(program);
	if (link < 0)
		return failed(detail, "attaching to sched_switch", link);
	close(link);
	buf_puts(detail, "loaded and attached to sched_switch");
	return 0;
}

static int try_iterator(struct buf *detail)
{
	int program = load_nothing("task", BPF_TRACE_ITER, BPF_F_SLEEPABLE), link, fd;
	char byte;

	if (program < 0)
		return failed(detail, "loading", program);
	link = bpf_link_create(program, 0, BPF_TRACE_ITER, NULL);
	close(program);
	if (link < 0)
		return failed(detail, "attaching", link);
	fd = bpf_iter_create(link);
	close(link);
	if (fd < 0)
		return failed(detail, "starting", fd);
	if (read(fd, &byte, 1) < 0) {
		int rc = -errno;

		close(fd);
		return failed(detail, "running", rc);
	}
	close(fd);
	buf_puts(detail, "walked all tasks, sleepable");
	return 0;
}

static int open_perf(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.sample_period = 1000000000,
		.disabled = 1,
	};
	long fd = -ENODEV;

	/* any CPU that is there will do */
	for (int cpu = 0; fd < 0 && cpu < libbpf_num_possible_cpus(); cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno != ENODEV)
			return -errno;
	}
	return (int)fd;
}

static int try_cycles(struct buf *detail)
{
	int fd = open_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (fd < 0)
		return failed(detail, "cycles", fd);
	close(fd);
	buf_puts(detail, "cycles opened");
	return 0;
}

static int try_cpu_clock(struct buf *detail)
{
	int fd = open_perf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	if (fd < 0)
		return failed(detail, "cpu-clock", fd);
	close(fd);
	buf_puts(detail, "cpu-clock opened");
	return 0;
}

/* First line of a small file without its newline; 0 or a negative errno. */
static int read_line(const char *path, char *line, int size_bytes)
{
	FILE *f = fopen(path, "re");
	bool got;

	if (!f)
		return -errno;
	got = fgets(line, size_bytes, f);
	fclose(f);
	if (!got)
		return -ENODATA;
	line[strcspn(line, "\n")] = 0;
	return 0;
}

static int try_kallsyms(struct buf *detail)
{
	bool shown = capability_kernel_addresses();
	char line[64];

	buf_puts(detail, shown ? "shown" : "hidden");
	if (!read_line("/proc/sys/kernel/kptr_restrict", line, sizeof(line)))
		buf_printf(detail, ", kptr_restrict %s", line);
	return shown ? 0 : -EACCES;
}

static int try_processes(struct buf *detail)
{
	DIR *dir = opendir("/proc");
	unsigned open_cnt = 0, cnt = 0, closed_pid = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (capability_may_look_into(entry->d_name))
			open_cnt++;
		else if (!closed_pid)
			closed_pid = (unsigned)strtoul(entry->d_name, NULL, 10);
		cnt++;
	}
	if (!dir)
		return failed(detail, "/proc", -errno);
	closedir(dir);
	buf_printf(detail, "%u of %u are open to this user", open_cnt, cnt);
	if (closed_pid)
		buf_printf(detail, ", not process %u", closed_pid);
	return closed_pid ? -EACCES : 0;
}

/* The kernel lets CAP_SYS_ADMIN stand for the ones that were split off it. */
static int try_capability(struct buf *detail, enum capability c, bool admin_stands_for_it)
{
	if (capability_held(c)) {
		buf_puts(detail, "held");
		return 0;
	}
	if (admin_stands_for_it && capability_granted(c)) {
		buf_puts(detail, "CAP_SYS_ADMIN stands for it");
		return 0;
	}
	buf_puts(detail, "not held");
	return -EPERM;
}

static int try_cap_bpf(struct buf *detail)
{
	return try_capability(detail, CAPABILITY_BPF, true);
}

static int try_cap_perfmon(struct buf *detail)
{
	return try_capability(detail, CAPABILITY_PERFMON, true);
}

static int try_cap_ptrace(struct buf *detail)
{
	return try_capability(detail, CAPABILITY_SYS_PTRACE, false);
}

static int try_cap_syslog(struct buf *detail)
{
	return try_capability(detail, CAPABILITY_SYSLOG, false);
}

/* Kernels that charge maps to the control group don't look at this limit. */
static int try_memlock(struct buf *detail)
{
	struct rlimit limit;
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "cp_try", 0, 0, RING_BYTES * 8, NULL);

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		limit.rlim_cur = 0;
	if (limit.rlim_cur == RLIM_INFINITY)
		buf_puts(detail, "unlimited");
	else
		buf_printf(detail, "%llu KiB", (unsigned long long)limit.rlim_cur >> 10);
	buf_printf(detail, fd < 0 ? "; a map of 32 MiB: %s" : "; a map of 32 MiB fits",
		   strerror(fd < 0 ? -fd : 0));
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_paranoid(struct buf *detail)
{
	char line[64];
	int rc = read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line));

	if (rc)
		return failed(detail, "/proc/sys/kernel/perf_event_paranoid", rc);
	buf_puts(detail, line);
	if (strtol(line, NULL, 10) <= 0 || capability_granted(CAPABILITY_PERFMON))
		return 0;
	buf_puts(detail, ", without CAP_PERFMON");
	return -EACCES;
}

static int try_lockdown(struct buf *detail)
{
	char line[128];

	if (read_line("/sys/kernel/security/lockdown", line, sizeof(line))) {
		buf_puts(detail, "not in use");
		return 0;
	}
	buf_puts(detail, line);
	return strstr(line, "[confidentiality]") ? -EPERM : 0;
}

static bool in_first_namespace(const char *path, ino_t first)
{
	struct stat st;

	return !stat(path, &st) && st.st_ino == first;
}

static int try_user_namespace(struct buf *detail)
{
	bool first = in_first_namespace("/proc/self/ns/user", FIRST_USER_NS);

	buf_puts(detail, first ? "the machine's" : "one of its own");
	return first ? 0 : -EPERM;
}

static int try_pid_namespace(struct buf *detail)
{
	bool first = in_first_namespace("/proc/self/ns/pid", FIRST_PID_NS);

	buf_puts(detail, first ? "the machine's" : "one of its own, as in a container");
	return first ? 0 : -ENOENT;
}

static int try_seccomp(struct buf *detail)
{
	int mode = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (f)
		fclose(f);
	buf_puts(detail, mode ? "a filter is on" : "no filter");
	return mode ? -EPERM : 0;
}

bool doctor_apparmor_confines(const char *label)
{
	size_t len_bytes = strlen(label);
	const char *mode = " (complain)";
	size_t mode_bytes = strlen(mode);

	return *label && strcmp(label, "unconfined") && strcmp(label, "unconfined (unconfined)") &&
	       (len_bytes < mode_bytes || strcmp(label + len_bytes - mode_bytes, mode));
}

static int try_apparmor(struct buf *detail)
{
	char label[256];
	int rc = read_line("/proc/self/attr/apparmor/current", label, sizeof(label));

	/* before 5.8 the file was shared by all security modules */
	if (rc && !access("/sys/module/apparmor", F_OK))
		rc = read_line("/proc/self/attr/current", label, sizeof(label));
	if (rc) {
		buf_puts(detail, "not in use");
		return 0;
	}
	buf_puts(detail, label);
	return doctor_apparmor_confines(label) ? -EACCES : 0;
}

static int try_cgroups(struct buf *detail)
{
	struct cgroups *c = cgroups__new();
	const char *mount = cgroups__mount(c);

	if (mount)
		buf_printf(detail, "version 2 at %s", mount);
	else
		buf_puts(detail, "no version 2 is mounted");
	cgroups__free(c);
	return mount ? 0 : -ENOENT;
}

static int try_capture(struct buf *detail)
{
	const struct spaces_sizes sizes = { .row_cnt = 4096,
					    .block_cnt = 4096,
					    .mapping_cnt = 4096 };
	const struct capture_opts opts = {
		.duration_ns = 1000000000,
		.kind_mask = ~0U,
		.user_stacks = true,
		.kernel_stacks = true,
	};
	struct kernel *k = NULL;
	struct err err = { 0 };
	int rc = kernel__open(&opts, &sizes, &k, &err);

	if (rc)
		buf_puts(detail, err.msg);
	else
		buf_printf(detail, "all programs loaded and attached, sampling by %s",
			   kernel__sampling(k));
	if (!rc)
		kernel__close(k);
	return rc;
}

static const struct {
	const char *name;
	bool needed, gated; /* gated: by CAP_BPF and CAP_PERFMON */
	int (*try)(struct buf *detail);
	const char *cost, *way_out;
} trials[] = {
	{ "CAP_BPF", true, false, try_cap_bpf, "no program loads",
	  "run as root, or setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep" },
	{ "CAP_PERFMON", true, false, try_cap_perfmon, "no tracing, no sampling",
	  "run as root, or setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep" },
	{ "CAP_SYS_PTRACE", false, false, try_cap_ptrace,
	  "no unwind rows and no names for processes of other users",
	  "run as root, add cap_sys_ptrace, or watch your own processes" },
	{ "CAP_SYSLOG", false, false, try_cap_syslog,
	  "kernel frames without names if addresses are hidden", "run as root or add cap_syslog" },
	{ "user namespace", true, false, try_user_namespace,
	  "capabilities of a container do not count",
	  "run outside, or in a container that shares the machine's user namespace" },
	{ "PID namespace", false, false, try_pid_namespace,
	  "PIDs are those of this container; processes outside cannot be named",
	  "run outside, or with the machine's PID namespace (--pid=host)" },
	{ "seccomp", false, false, try_seccomp, "bpf and perf_event_open may be forbidden",
	  "start the container with a profile that allows both" },
	{ "AppArmor", false, false, try_apparmor,
	  "the profile may forbid bpf, perf_event_open and a look into other processes",
	  "start it unconfined (aa-exec -p unconfined; a container: apparmor=unconfined)" },
	{ "cgroups", false, false, try_cgroups, "no -G, no names of containers",
	  "mount -t cgroup2 none DIR" },
	{ "lockdown", true, false, try_lockdown, "programs may not read kernel memory",
	  "boot with lockdown=integrity or none" },
	{ "BTF", true, false, try_btf, "programs cannot be fitted to this kernel",
	  "sysfs mounted on /sys, a kernel with CONFIG_DEBUG_INFO_BTF" },
	{ "tp_btf", true, true, try_tracepoint, "no account of switches and wake-ups",
	  "a kernel with CONFIG_BPF_EVENTS and CONFIG_DEBUG_INFO_BTF" },
	{ "task storage", true, true, try_task_storage, "no place for the state of threads",
	  "a kernel with CONFIG_BPF_LSM or Linux 5.11 features" },
	{ "ring buffer", true, true, try_ring, "no way from the kernel to here",
	  "Linux 6.1 or later; more memory" },
	{ "task iterator", true, true, try_iterator, "threads that sleep throughout are not seen",
	  "Linux 6.1 or later with CONFIG_DEBUG_INFO_BTF" },
	{ "hardware cycles", false, true, try_cycles,
	  "sampling by cpu-clock: no samples while interrupts are off",
	  "a machine (or virtual machine) with a performance monitoring unit" },
	{ "cpu-clock", true, true, try_cpu_clock, "running time without stacks",
	  "CAP_PERFMON, or perf_event_paranoid 0" },
	{ "perf_event_paranoid", true, true, try_paranoid, "no sampling of a whole CPU",
	  "CAP_PERFMON, or sysctl kernel.perf_event_paranoid=0" },
	{ "kernel addresses", false, false, try_kallsyms, "kernel frames without names",
	  "CAP_SYSLOG and sysctl kernel.kptr_restrict=1" },
	{ "other processes", false, false, try_processes,
	  "no unwind rows and no names for the others",
	  "CAP_SYS_PTRACE; if it is held, a security module or a namespace forbids it" },
	{ "RLIMIT_MEMLOCK", true, true, try_memlock, "maps do not fit", "ulimit -l unlimited" },
	{ "capture", true, false, try_capture, "no capture", "the lines above" },
};

void doctor__examine(struct doctor *d)
{
	bool lacking =
		capability_lacking() || !in_first_namespace("/proc/self/ns/user", FIRST_USER_NS);

	libbpf_set_print(NULL);
	*d = (struct doctor){
		.findings = xcalloc(ARRAY_CNT(trials), sizeof(*d->findings)),
		.cnt = ARRAY_CNT(trials),
	};
	for (size_t i = 0; i < d->cnt; i++) {
		struct doctor_finding *f = &d->findings[i];
		int rc = trials[i].try(&f->detail);

		f->name = trials[i].name;
		f->cost = trials[i].cost;
		f->way_out = trials[i].way_out;
		/* of what the kernel has and does not allow a version or a setting says nothing */
		if (trials[i].gated && lacking && (rc == -EPERM || rc == -EACCES))
			f->way_out = "first what is missing above";
		f->state = !rc ? DOCTOR_OK : trials[i].needed ? DOCTOR_MISSING : DOCTOR_LIMITED;
	}
	/* it is what counts: the single trials only explain it */
	d->capture_possible = d->findings[d->cnt - 1].state == DOCTOR_OK;
}

void doctor__free(struct doctor *d)
{
	for (size_t i = 0; i < d->cnt; i++)
		buf_free(&d->findings[i].detail);
	free(d->findings);
	*d = (struct doctor){ 0 };
}

const char *doctor_state_word(enum doctor_state state)
{
	static const char *const words[] = { "ok", "limited", "missing" };

	return words[state];
}
