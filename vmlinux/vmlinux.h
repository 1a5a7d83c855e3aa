/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel types that bpf/ touches, with only the members that it touches: CO-RE finds their real places
 * when a program is loaded. Written by hand; scripts/check-vmlinux compares it with a kernel's BTF. */
#ifndef CP_VMLINUX_VMLINUX_H
#define CP_VMLINUX_VMLINUX_H

#include <linux/types.h>
#include <linux/bpf.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef _Bool bool;
#define true 1
#define false 0

#define CORE __attribute__((preserve_access_index))

struct sched_entity {
	u64 sum_exec_runtime;
	unsigned char sched_delayed; /* 6.12 and later */
} CORE;

struct sched_info {
	unsigned long long run_delay;
} CORE;

struct xol_area {
	unsigned long vaddr;
} CORE;

struct uprobes_state {
	struct xol_area *xol_area;
} CORE;

struct return_instance {
	unsigned long stack;
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
} CORE;

struct thread_info {
	unsigned long flags;
} CORE;

struct uprobe;

struct uprobe_task {
	struct return_instance *return_instances;
	struct uprobe *active_uprobe;
} CORE;

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
} CORE;

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
} CORE;

struct maple_tree {
	void *ma_root;
} CORE;

struct super_block {
	u32 s_dev;
} CORE;

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
} CORE;

struct file {
	struct inode *f_inode;
} CORE;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
} CORE;

/* x86-64 */
typedef struct {
	void *vdso;
} CORE mm_context_t;

struct mm_struct {
	struct {
		struct maple_tree mm_mt;
		mm_context_t context;
		unsigned long exec_vm;
		struct uprobes_state uprobes_state;
	} CORE;
} CORE;

struct pid_namespace {
	unsigned int level;
} CORE;

struct upid {
	int nr;
	struct pid_namespace *ns;
} CORE;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} CORE;

struct kernfs_node {
	u64 id;
} CORE;

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} CORE;

struct cgroup_root {
	int hierarchy_id; /* 0 = v2 */
} CORE;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
} CORE;

struct css_set {
	struct cgroup *dfl_cgrp;
} CORE;

/* x86-64 */
struct thread_struct {
	unsigned long fsbase;
} CORE;

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	struct sched_entity se;
	struct mm_struct *mm;
	int exit_state;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	unsigned long nvcsw;
	unsigned long nivcsw;
	u64 start_boottime;
	char comm[16];
	struct sched_info sched_info;
	struct thread_info thread_info;
	struct uprobe_task *utask;
	struct thread_struct thread;
	struct css_set *cgroups;
} CORE;

struct linux_binprm {
	const char *interp; /* the file that is mapped: of a script its interpreter */
} CORE;

#ifdef __TARGET_ARCH_arm64
struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
} CORE;
#else
/* x86-64 */
struct pt_regs {
	unsigned long r15, r14, r13, r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip;
	union {
		unsigned short cs;
		u64 csx;
	};
	unsigned long flags;
	unsigned long sp;
} CORE;
#endif

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} CORE;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} CORE;

struct kallsym_iter {
	unsigned long value;
	char type;
	char name[512]; /* shorter before 6.1 */
	char module_name[56];
	int exported;
	int show_value;
} CORE;

struct bpf_iter__ksym {
	struct bpf_iter_meta *meta;
	struct kallsym_iter *ksym;
} CORE;

struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

#endif
