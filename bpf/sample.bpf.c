// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Samples: each stands for all running time of its thread since the last one, so that sums are exact and a
 * lost sample loses no time: it waits for the next. */
#include "bpf/stack.bpf.h"
#include "bpf/sink.bpf.h"
#include "bpf/process.bpf.h"

/* verifier: a global function, so that its branches do not multiply with those of the walk */
__weak u64 cp_account_sample(struct cp_thread *t, u64 now_ns, struct account_piece *running)
{
	if (!t || !running)
		return 0;
	return account_sample(&t->account, &cp_window, now_ns, running);
}

/* Before 6.2 the kernel finds no thread's state while this interrupts anyone on the CPU who is at one. The thread is
 * watched all the same if its process is. */
static __always_inline void count_hidden(struct task_struct *task)
{
	if (cp_config.whole_processes && process_of(task))
		lose(CP_LOSS_SAMPLE_SKIPPED, 0);
}

SEC("perf_event")
int cp_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cp_thread *t = thread_of(task);
	struct account_piece running = {};
	u64 now_ns = bpf_ktime_get_ns(), charged_ns;
	struct cp_process *p;
	struct cp_cost *cost;
	struct account_switch sw = {};
	struct where w = {};
	u32 zero = 0;

	cost = bpf_map_lookup_elem(&cp_costs, &zero);
	if (!cost || !account_in_window(&cp_window, now_ns))
		return 0;
	if (!t) {
		count_hidden(task);
		return 0;
	}
	if (cost->in_switch) { /* from an NMI */
		lose(CP_LOSS_SAMPLE_SKIPPED, 0);
		return 0;
	}
	cost->samples++;
	sw.now_ns = now_ns;
	put_raw(t, CP_RAW_SAMPLE, &sw, 0);
	charged_ns = cp_account_sample(t, now_ns, &running);
	if (!charged_ns)
		return 0;
	p = process_of(task);
	w.tid = t->tid;
	w.process = p ? p->id : t->process;
	w.stack = stack_of_current(ctx, task, 1, p);
	t->running_ns += running.end_ns - running.start_ns;
	t->sample_cnt++;
	t->sample_stack = w.stack;
	t->sample_process = w.process;
	t->sampled = 1;
	if (cp_config.intervals)
		put_interval(&w, &running, running.flags, CP_SAMPLED, charged_ns);
	if (cp_config.sums)
		add_sum(&w, ACCOUNT_RUNNING, 0, charged_ns, 1);
	return 0;
}
