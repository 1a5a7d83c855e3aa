/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel side of a capture; see kernel.h. */
#include "user/capture/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "gen/causeprof.skel.h"
#include "user/base/mem.h"
#include "user/capture/capability.h"
#include "user/capture/grace.h"
#include "user/capture/resume.h"
#include "user/capture/ring.h"
#include "user/capture/sampler.h"
#include "user/capture/sum_maps.h"
#include "user/model/kinds.h"

enum {
	/* while a file is compiled nobody reads, and stacks are copied */
	RING_DEFAULT_BYTES = 8 << 20,
	RING_WAKE_BYTES = 1 << 20,
	RING_INTERVALS_BYTES = 32 << 20,
	STACKS_DEFAULT = 1 << 18,
	ITERATOR_READ_BYTES = 64 << 10,
	FAMILIES = 2, /* of programs that use the walker; as in bpf/walk.bpf.h */
	PIDS_MAX = 65536,
	NO_GRACE_US = 100000, /* longer than a program takes, where it cannot be waited for */
};

_Static_assert((int)ACCOUNT_RUNNING == (int)KIND_RUNNING, "kinds");
_Static_assert((int)ACCOUNT_WOKEN == (int)KIND_WOKEN, "kinds");
_Static_assert((int)ACCOUNT_SLEEP == (int)KIND_SLEEP, "kinds");
_Static_assert((int)ACCOUNT_IDLE == (int)KIND_IDLE, "kinds");
_Static_assert((int)ACCOUNT_CUT_START == (int)PART_CUT_START, "flags");
_Static_assert((int)ACCOUNT_THROUGHOUT == (int)PART_ASLEEP_THROUGHOUT, "flags");
_Static_assert((int)CP_SUM_FILTERED == (int)PART_FILTERED, "flags");
_Static_assert((int)CP_SUM_NOT_SAMPLED == (int)PART_NOT_SAMPLED, "flags");
_Static_assert((int)CP_STOP_IO_WORKER == (int)STOP_IO_WORKER, "stops");
_Static_assert((int)CP_STOP_COPY_SHORT == (int)STOP_COPY_SHORT, "stops");
_Static_assert((int)CP_STOP_EXITING == (int)STOP_EXITING, "stops");
_Static_assert((int)CP_STOP_EXEC == (int)STOP_EXEC, "stops");

struct kernel {
	struct causeprof_bpf *skel;
	struct ring ring;
	struct sampler *sampler;
	struct resume resume;
	struct spaces_sizes sizes;
	void *maps[3]; /* rows, blocks, mappings */
	size_t map_bytes[3];
	int cpu_cnt;
	bool has_symbols;
};

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static uint32_t round_up(uint64_t bytes)
{
	uint32_t size_bytes = 4096;

	while (size_bytes < bytes && size_bytes < 1U << 30)
		size_bytes *= 2;
	return size_bytes;
}

static void configure(struct kernel *k, const struct capture_opts *opts)
{
	struct cp_config *c = &k->skel->rodata->cp_config;
	uint64_t ring_bytes = opts->ring_bytes;

	if (!ring_bytes)
		ring_bytes = opts->sink == SINK_SUMS && !opts->raw_events ? RING_DEFAULT_BYTES :
									    RING_INTERVALS_BYTES;
	ring_bytes = round_up(ring_bytes);
	*c = (struct cp_config){
		.min_ns = opts->min_ns,
		.max_ns = opts->max_ns,
		.kind_mask = opts->kind_mask,
		.all = opts->all,
		.user_threads = opts->user_threads,
		.kernel_threads = opts->kernel_threads,
		.cgroups = opts->cgroup_cnt,
		.whole_processes = !opts->tid_cnt,
		.sums = opts->sink != SINK_INTERVALS,
		.intervals = opts->sink != SINK_SUMS,
		.per_thread = opts->per_thread,
		.raw = opts->raw_events,
		.user_stacks = opts->user_stacks,
		.kernel_stacks = opts->kernel_stacks,
		.dwarf = !opts->frame_pointers,
		.row_mask = k->sizes.row_cnt - 1,
		.block_mask = k->sizes.block_cnt - 1,
		.mapping_mask = k->sizes.mapping_cnt - 1,
		.check_recalled = opts->sink == SINK_BOTH,
		.census_scratch = (uint32_t)(k->cpu_cnt * FAMILIES),
		.wake_bytes = ring_bytes / 4 < RING_WAKE_BYTES ? (uint32_t)ring_bytes / 4 :
								 RING_WAKE_BYTES,
		.copy_bytes = (uint32_t)(ring_bytes / 2),
		.finish = k->resume.way != RESUME_NOT,
	};
	bpf_map__set_max_entries(k->skel->maps.cp_ring, (uint32_t)ring_bytes);
	bpf_map__set_max_entries(k->skel->maps.cp_scratch, (uint32_t)(k->cpu_cnt * FAMILIES + 1));
	bpf_map__set_max_entries(k->skel->maps.cp_kernel_memory, (uint32_t)k->cpu_cnt);
	bpf_map__set_value_size(k->skel->maps.cp_rows, k->sizes.row_cnt * 8);
	bpf_map__set_value_size(k->skel->maps.cp_blocks, k->sizes.block_cnt * 4);
	bpf_map__set_value_size(k->skel->maps.cp_mappings,
				k->sizes.mapping_cnt * (uint32_t)sizeof(struct cp_mapping));
	if (opts->process_cnt_max) {
		bpf_map__set_max_entries(k->skel->maps.cp_processes,
					 (uint32_t)opts->process_cnt_max);
		bpf_map__set_max_entries(k->skel->maps.cp_ranges, (uint32_t)opts->process_cnt_max);
	}
	if (opts->stack_cnt_max) {
		bpf_map__set_max_entries(k->skel->maps.cp_stacks, (uint32_t)opts->stack_cnt_max);
		bpf_map__set_max_entries(k->skel->maps.cp_sums, (uint32_t)opts->stack_cnt_max * 4);
	}
}

/* Where libbpf looks for the types of the running kernel, without which no program attaches: a file of types, ours or
 * --btf's, says where fields are and not what the kernel calls its tracepoints. */
static bool has_kernel_types(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	btf__free(btf);
	return btf;
}

static int load_error(int rc, const struct capture_opts *opts, struct err *err)
{
	const char *lacking = capability_lacking();

	if (!has_kernel_types())
		return err_set(
			err, rc,
			"no BTF: the types of this kernel are not in /sys/kernel/btf/vmlinux: mount sysfs on "
			"/sys, or run a kernel with CONFIG_DEBUG_INFO_BTF%s",
			opts->btf_path ? " (--btf does not stand in for it)" : "");
	if (opts->btf_path)
		return err_set(
			err, rc,
			"the programs cannot be loaded with the types of %s (--btf): is it the "
			"BTF of this kernel?",
			opts->btf_path);
	if ((rc == -EPERM || rc == -EACCES) && lacking)
		return err_set(
			err, rc,
			"the kernel refuses the programs for want of %s: run as root, or add "
			"what is missing (causeprof doctor tells how)",
			lacking);
	if (rc == -EPERM) /* -EACCES is the verifier, when no capability is missing */
		return err_set(
			err, rc,
			"the kernel refuses the programs in spite of CAP_BPF and CAP_PERFMON: "
			"a container, seccomp or lockdown (causeprof doctor tells which)");
	if (rc == -ENOMEM)
		return err_set(err, rc, "no memory for the kernel's maps (locked memory limit?)");
	return err_set(
		err, rc,
		"the kernel refuses the programs: %s (causeprof doctor tells what is missing)",
		strerror(-rc));
}

static int set_targets(struct kernel *k, const uint32_t *ids, size_t cnt, uint32_t how,
		       struct err *err)
{
	int fd = bpf_map__fd(k->skel->maps.cp_targets);

	for (size_t i = 0; i < cnt; i++)
		if (bpf_map_update_elem(fd, &ids[i], &how, BPF_ANY))
			return err_errno(err, "cannot note target %u", ids[i]);
	return 0;
}

static int set_cgroups(struct kernel *k, const struct capture_opts *opts, struct err *err)
{
	int fd = bpf_map__fd(k->skel->maps.cp_cgroups);
	uint32_t one = 1;

	for (size_t i = 0; i < opts->cgroup_cnt; i++)
		if (bpf_map_update_elem(fd, &opts->cgroups[i].id, &one, BPF_ANY))
			return err_errno(err, "cannot note cgroup %s", opts->cgroups[i].dir);
	return 0;
}

/* PIDs are those of the namespace that we live in; only the kernel knows which that is. */
static int note_viewer(struct kernel *k, struct err *err)
{
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_prog_test_run_opts(bpf_program__fd(k->skel->progs.cp_viewer), &opts))
		return err_errno(err, "cannot run a program to learn the PID namespace");
	return 0;
}

/* Of the programs for the thread that resumes only the one that this kernel has a place for is loaded; of a function that
 * fentry names, also the kprobe's, since fentry takes more than a name. */
static void choose_resume(struct kernel *k)
{
	bpf_program__set_autoload(k->skel->progs.cp_resume_exit,
				  k->resume.way == RESUME_SCHED_EXIT);
	bpf_program__set_autoload(k->skel->progs.cp_resume_fentry, k->resume.way == RESUME_FENTRY);
	bpf_program__set_autoload(k->skel->progs.cp_resume_kprobe,
				  k->resume.way == RESUME_FENTRY || k->resume.way == RESUME_KPROBE);
}

static int try_load(struct kernel *k, const struct capture_opts *opts, bool symbols)
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, open_opts, .btf_custom_path = opts->btf_path);

	causeprof_bpf__destroy(k->skel);
	k->skel = causeprof_bpf__open_opts(&open_opts);
	if (!k->skel)
		return -errno;
	choose_resume(k);
	configure(k, opts);
	k->has_symbols = symbols;
	if (!symbols)
		bpf_program__set_autoload(k->skel->progs.cp_ksym, false);
	return causeprof_bpf__load(k->skel);
}

static int load(struct kernel *k, const struct capture_opts *opts, struct err *err)
{
	int rc = opts->hook_finish ?
			 resume_find(opts->btf_path, "/proc/kallsyms", &k->resume, err) :
			 0;

	if (rc)
		return rc;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(quiet);
	rc = try_load(k, opts, opts->kernel_stacks);
	if (rc && k->has_symbols) /* kernels before 6.0 have no iterator of symbols */
		rc = try_load(k, opts, false);
	if (rc)
		return load_error(rc, opts, err);
	/* libbpf tries whether maps can be shared; if even that fails it goes on without */
	if (!k->skel->data || !k->skel->bss)
		return err_set(err, -ENOMEM,
			       "the kernel does not share the memory of its maps with this process "
			       "(out of memory, or a locked memory limit?)");
	rc = set_targets(k, opts->pids, opts->pid_cnt, 1, err);
	if (!rc)
		rc = set_targets(k, opts->tids, opts->tid_cnt, 2, err);
	if (!rc)
		rc = set_cgroups(k, opts, err);
	return rc ? rc : note_viewer(k, err);
}

static int attach_resume(struct kernel *k, struct err *err)
{
	if (k->resume.way == RESUME_NOT)
		return 0;
	if (k->resume.way == RESUME_SCHED_EXIT)
		k->skel->links.cp_resume_exit = bpf_program__attach(k->skel->progs.cp_resume_exit);
	if (k->resume.way == RESUME_FENTRY)
		k->skel->links.cp_resume_fentry =
			bpf_program__attach(k->skel->progs.cp_resume_fentry);
	if (k->skel->links.cp_resume_exit || k->skel->links.cp_resume_fentry)
		return 0;
	if (k->resume.way == RESUME_FENTRY)
		k->resume.way = RESUME_KPROBE;
	if (k->resume.way == RESUME_KPROBE)
		k->skel->links.cp_resume_kprobe = bpf_program__attach_kprobe(
			k->skel->progs.cp_resume_kprobe, false, k->resume.function);
	if (k->skel->links.cp_resume_kprobe)
		return 0;
	return err_errno(err, "--hook finish: cannot attach to %s (use --hook switch)",
			 k->resume.way == RESUME_KPROBE ? k->resume.function : "sched_exit_tp");
}

static int attach_tracepoints(struct kernel *k, struct err *err)
{
	struct bpf_program *const programs[] = {
		k->skel->progs.cp_switch,	 k->skel->progs.cp_wakeup,
		k->skel->progs.cp_wakeup_new,	 k->skel->progs.cp_newtask,
		k->skel->progs.cp_exec,		 k->skel->progs.cp_mmap_unlock,
		k->skel->progs.cp_free,		 k->skel->progs.cp_cgroup_mkdir,
		k->skel->progs.cp_cgroup_attach,
	};
	struct bpf_link **const links[] = {
		&k->skel->links.cp_switch,	  &k->skel->links.cp_wakeup,
		&k->skel->links.cp_wakeup_new,	  &k->skel->links.cp_newtask,
		&k->skel->links.cp_exec,	  &k->skel->links.cp_mmap_unlock,
		&k->skel->links.cp_free,	  &k->skel->links.cp_cgroup_mkdir,
		&k->skel->links.cp_cgroup_attach,
	};

	for (size_t i = 0; i < ARRAY_CNT(programs); i++) {
		*links[i] = bpf_program__attach(programs[i]);
		if (!*links[i])
			return err_errno(err, "cannot attach %s to its tracepoint",
					 bpf_program__name(programs[i]));
	}
	return 0;
}

int kernel__open(const struct capture_opts *opts, const struct spaces_sizes *sizes,
		 struct kernel **ret, struct err *err)
{
	struct kernel *k = xzalloc(sizeof(*k));
	int rc;

	k->sizes = *sizes;
	k->cpu_cnt = libbpf_num_possible_cpus();
	rc = load(k, opts, err);
	if (!rc) /* first, so that no switch is without it */
		rc = attach_resume(k, err);
	if (!rc)
		rc = attach_tracepoints(k, err);
	if (!rc)
		rc = sampler__open(bpf_program__fd(k->skel->progs.cp_sample), opts, &k->sampler,
				   err);
	if (rc) {
		kernel__close(k);
		return rc;
	}
	*ret = k;
	return 0;
}

void kernel__close(struct kernel *k)
{
	if (!k)
		return;
	ring_close(&k->ring);
	sampler__close(k->sampler);
	for (size_t i = 0; i < ARRAY_CNT(k->maps); i++)
		if (k->maps[i])
			munmap(k->maps[i], k->map_bytes[i]);
	causeprof_bpf__destroy(k->skel);
	free(k);
}

static void *map_array(struct kernel *k, size_t i, const struct bpf_map *map)
{
	void *p;

	k->map_bytes[i] = (bpf_map__value_size(map) + 4095UL) & ~4095UL;
	p = mmap(NULL, k->map_bytes[i], PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, k->map_bytes[i], MADV_DONTFORK); /* no sandbox may write to it */
	return k->maps[i] = p;
}

int kernel__mappings(struct kernel *k, uint64_t **rows, uint32_t **blocks,
		     struct cp_mapping **mappings, struct err *err)
{
	*rows = map_array(k, 0, k->skel->maps.cp_rows);
	*blocks = map_array(k, 1, k->skel->maps.cp_blocks);
	*mappings = map_array(k, 2, k->skel->maps.cp_mappings);
	if (!*rows || !*blocks || !*mappings)
		return err_errno(err, "cannot map the unwind tables");
	return 0;
}

int kernel__publish(struct kernel *k, uint32_t space, const struct cp_range *range, struct err *err)
{
	/* what the arrays hold must be there before the range that points to it */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.cp_ranges), &space, range, BPF_ANY))
		return err_errno(err, "cannot publish unwind rows");
	return 0;
}

void kernel__unpublish(struct kernel *k, uint32_t space)
{
	bpf_map_delete_elem(bpf_map__fd(k->skel->maps.cp_ranges), &space);
	bpf_map_delete_elem(bpf_map__fd(k->skel->maps.cp_pythons), &space);
}

int kernel__publish_python(struct kernel *k, uint32_t space, const struct cp_python *python,
			   struct err *err)
{
	if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.cp_pythons), &space, python, BPF_ANY))
		return err_errno(err, "cannot publish a Python interpreter");
	return 0;
}

/* What it writes is appended to *out; NULL: it writes nothing. */
static int run_iterator(struct bpf_program *program, struct buf *out, struct err *err)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd = -1, rc = 0;
	struct buf nothing = { 0 };
	ssize_t n;

	if (!out)
		out = &nothing;

	if (!link)
		return err_errno(err, "cannot start the task iterator");
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		rc = err_errno(err, "cannot start the task iterator");
	while (!rc) {
		buf_reserve(out, ITERATOR_READ_BYTES);
		n = read(fd, out->data + out->len_bytes, ITERATOR_READ_BYTES);
		if (!n)
			break;
		if (n > 0)
			out->len_bytes += (size_t)n;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			rc = err_errno(err, "the task iterator failed");
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	buf_free(&nothing);
	return rc;
}

int kernel__census(struct kernel *k, enum census census, struct err *err)
{
	k->skel->bss->cp_census_blind = census == CENSUS_BLIND;
	switch (census) {
	case CENSUS_FIND:
		return run_iterator(k->skel->progs.cp_census_find, NULL, err);
	case CENSUS_OPEN:
	case CENSUS_BLIND:
		return run_iterator(k->skel->progs.cp_census_open, NULL, err);
	case CENSUS_CLOSE:
		return run_iterator(k->skel->progs.cp_census_close, NULL, err);
	}
	return -EINVAL;
}

int kernel__symbols(struct kernel *k, const uint64_t *wanted, size_t cnt, struct buf *records)
{
	uint32_t zero = 0;
	uint64_t *all;
	int rc;

	if (!k->has_symbols)
		return -ENOTSUP;
	if (cnt > CP_KSYM_WANTED_MAX)
		return -E2BIG;
	all = xcalloc(CP_KSYM_WANTED_MAX, sizeof(*all));
	memcpy(all, wanted, cnt * sizeof(*wanted));
	rc = bpf_map_update_elem(bpf_map__fd(k->skel->maps.cp_ksym_wanted), &zero, all, BPF_ANY);
	free(all);
	k->skel->bss->cp_ksym_cnt = (uint32_t)cnt;
	return rc ? -errno : run_iterator(k->skel->progs.cp_ksym, records, NULL);
}

void kernel__set_window(struct kernel *k, const struct account_window *w)
{
	struct account_window *shared = &k->skel->data->cp_window;

	/* the end first: until the start is there nothing lies inside */
	__atomic_store_n(&shared->end_ns, w->end_ns, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shared->start_ns, w->start_ns, __ATOMIC_SEQ_CST);
}

int kernel__listen(struct kernel *k, kernel_event_fn fn, void *ctx, struct err *err)
{
	const struct bpf_map *map = k->skel->maps.cp_ring;

	return ring_open(&k->ring, bpf_map__fd(map), bpf_map__max_entries(map), fn, ctx, err);
}

int kernel__event_fd(const struct kernel *k)
{
	return ring_fd(&k->ring);
}

int kernel__consume(struct kernel *k, struct err *err)
{
	return ring_consume(&k->ring, err);
}

void kernel__fill(const struct kernel *k, struct kernel_fill *ret)
{
	*ret = (struct kernel_fill){
		.sum_cnt = __atomic_load_n(&k->skel->bss->cp_sum_cnt, __ATOMIC_RELAXED),
		.sum_cnt_max = bpf_map__max_entries(k->skel->maps.cp_sums),
		.stack_cnt = __atomic_load_n(&k->skel->bss->cp_next_stack, __ATOMIC_RELAXED),
		.stack_cnt_max = bpf_map__max_entries(k->skel->maps.cp_stacks),
	};
}

int kernel__take_sums(struct kernel *k, struct cp_sum_key **keys, struct cp_sum **values,
		      size_t *cnt, struct err *err)
{
	uint32_t side = k->skel->bss->cp_side;

	__atomic_store_n(&k->skel->bss->cp_side, side ^ CP_SUM_SIDE, __ATOMIC_SEQ_CST);
	if (!grace_period())
		usleep(NO_GRACE_US);
	return sum_maps__take(bpf_map__fd(k->skel->maps.cp_sums), side, keys, values, cnt, err);
}

int kernel__forget_stacks(struct kernel *k, struct err *err)
{
	return sum_maps__forget_stacks(bpf_map__fd(k->skel->maps.cp_stacks), err);
}

int kernel__sums(struct kernel *k, struct cp_sum_key **keys, struct cp_sum **values, size_t *cnt,
		 struct err *err)
{
	return sum_maps__read(bpf_map__fd(k->skel->maps.cp_sums), keys, values, cnt, err);
}

void kernel__losses(const struct kernel *k, struct cp_loss *losses, size_t cnt)
{
	struct bpf_program *p;

	for (size_t i = 0; i < cnt; i++)
		losses[i] = i < ARRAY_CNT(k->skel->bss->cp_loss) ? k->skel->bss->cp_loss[i] :
								   (struct cp_loss){ 0 };
	bpf_object__for_each_program(p, k->skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t len_bytes = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len_bytes))
			losses[LOSS_RECURSION].events += info.recursion_misses;
	}
}

void kernel__cost(const struct kernel *k, struct cp_cost *total)
{
	struct cp_cost *cpus = xcalloc((size_t)k->cpu_cnt, sizeof(*cpus));
	uint32_t zero = 0;

	*total = (struct cp_cost){ 0 };
	if (!bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.cp_costs), &zero, cpus)) {
		for (int i = 0; i < k->cpu_cnt; i++) {
			total->switches += cpus[i].switches;
			total->target_switches += cpus[i].target_switches;
			total->calls += cpus[i].calls;
			total->timed_calls += cpus[i].timed_calls;
			total->timed_ns += cpus[i].timed_ns;
			total->samples += cpus[i].samples;
			total->recalled += cpus[i].recalled;
			total->recalled_wrong += cpus[i].recalled_wrong;
		}
	}
	free(cpus);
}

/* The kernel says it of each map in fdinfo. */
static uint64_t memlock_bytes(int fd)
{
	char *path = xasprintf("/proc/self/fdinfo/%d", fd), line[256];
	unsigned long long bytes = 0;
	FILE *f = fopen(path, "re");

	free(path);
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	fclose(f);
	return bytes;
}

uint64_t kernel__map_bytes(const struct kernel *k)
{
	uint64_t bytes = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, k->skel->obj) bytes += memlock_bytes(bpf_map__fd(map));
	return bytes;
}

const char *kernel__hook(const struct kernel *k, char *text, size_t size_bytes)
{
	return resume_words(&k->resume, text, size_bytes);
}

const char *kernel__sampling(const struct kernel *k)
{
	return sampler__name(k->sampler);
}

uint64_t kernel__sample_period_ns(const struct kernel *k)
{
	return sampler__period_ns(k->sampler);
}
