/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times the compiler of unwind rows on files: directly, in the sandbox, and libdw answering the same questions
 * (CFA, rbp, return address at the start of each row). Interleaved; medians of CPU time, for the sandbox the best
 * of the wall time (its work is done by other processes).
 * usage: rows_bench REPEAT FILE... */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "symbolize/rows_remote.h"
#include "user/base/mem.h"

enum {
	REPEAT_MAX = 101,
};

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct timing {
	double ms[REPEAT_MAX];
	int cnt;
};

static double quantile(struct timing *t, double q)
{
	qsort(t->ms, (size_t)t->cnt, sizeof(t->ms[0]), double_cmp);
	return t->ms[(int)(q * (t->cnt - 1) + 0.5)];
}

/* libdw's answers for each row; 0 if it cannot read the file. */
static uint64_t ask_libdw(int fd, const struct row_table *t)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	uint64_t answer_cnt = 0;

	for (uint32_t i = 0; cfi && i < t->row_cnt; i++) {
		Dwarf_Op mem[3], *ops;
		Dwarf_Frame *frame;
		size_t cnt;

		if (row_kind(t->rows[i]) == ROW_GAP ||
		    dwarf_cfi_addrframe(cfi, t->base_vaddr + row_pc(t->rows[i]), &frame))
			continue;
		dwarf_frame_cfa(frame, &ops, &cnt);
		dwarf_frame_register(frame, 6, mem, &ops, &cnt);
		dwarf_frame_register(frame, 16, mem, &ops, &cnt);
		free(frame);
		answer_cnt++;
	}
	if (cfi)
		dwarf_cfi_end(cfi);
	elf_end(elf);
	return answer_cnt;
}

static void bench_file(struct sandbox *s, const char *path, int repeat, double *total_ms)
{
	struct timing own = { .cnt = repeat }, remote = { .cnt = repeat },
		      libdw = { .cnt = repeat };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct row_table t = { 0 }, far;
	struct err err = { 0 };
	const char *name = path;

	if (fd < 0 || rows_compile_fd(fd, &t, &err)) {
		printf("%-28s %s\n", path, fd < 0 ? "not installed" : err.msg);
		close(fd);
		return;
	}
	for (int i = 0; i < repeat; i++) {
		double start = now_ms(CLOCK_THREAD_CPUTIME_ID);

		rows_free(&t);
		rows_compile_fd(fd, &t, &err);
		own.ms[i] = now_ms(CLOCK_THREAD_CPUTIME_ID) - start;
		start = now_ms(CLOCK_MONOTONIC);
		if (rows_compile_remote(s, fd, &far, &err))
			printf("%s: %s\n", path, err.msg);
		remote.ms[i] = now_ms(CLOCK_MONOTONIC) - start;
		rows_free(&far);
		start = now_ms(CLOCK_THREAD_CPUTIME_ID);
		ask_libdw(fd, &t);
		libdw.ms[i] = now_ms(CLOCK_THREAD_CPUTIME_ID) - start;
	}
	for (const char *p = path; *p; p++)
		if (*p == '/')
			name = p + 1;
	*total_ms += quantile(&remote, 0);
	printf("%-28s %8u %9u %8.0f %8.2f %7.2f-%-7.2f %8.2f %9.2f %6.1fx\n", name, t.stats.fde_cnt,
	       t.row_cnt, (t.row_cnt * 8.0 + t.block_cnt * 4.0) / 1024, quantile(&own, 0.5),
	       quantile(&own, 0.25), quantile(&own, 0.75), quantile(&remote, 0),
	       quantile(&libdw, 0.5), quantile(&libdw, 0.5) / quantile(&own, 0.5));
	rows_free(&t);
	close(fd);
}

int main(int argc, char **argv)
{
	static const sandbox_handler handlers[SANDBOX_KIND_MAX] = { [SANDBOX_ROWS] =
									    rows_sandbox_handler };
	int repeat = argc > 2 ? atoi(argv[1]) : 0;
	struct err err = { 0 };
	struct sandbox *s;
	struct rusage ru;
	double total_ms = 0;

	if (repeat < 1 || repeat > REPEAT_MAX || sandbox_open(handlers, &s, &err)) {
		fprintf(stderr, "usage: rows_bench REPEAT FILE...\n");
		return 2;
	}
	elf_version(EV_CURRENT);
	printf("%-28s %8s %9s %8s %8s %15s %8s %9s %7s\n", "file", "FDEs", "rows", "KiB", "ms",
	       "quartiles", "sandbox", "libdw", "ratio");
	for (int i = 2; i < argc; i++)
		bench_file(s, argv[i], repeat, &total_ms);
	sandbox_close(s);
	getrusage(RUSAGE_CHILDREN, &ru);
	printf("all %d files in the sandbox: %.1f ms; largest worker: %.1f MiB\n", argc - 2,
	       total_ms, (double)ru.ru_maxrss / 1024);
	return 0;
}
