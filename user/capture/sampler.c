/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of the samples; see sampler.h. Events are per CPU, never inherited per task: those cost every
 * switch of the machine 0.4 us. */
#include "user/capture/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "user/base/mem.h"

enum {
	HZ_LEAST = 99,
	HZ_MOST = 4999,
	SAMPLES_WANTED = 1000
};

struct sampler {
	const char *name;
	uint64_t period_ns;
	int *fds; /* by CPU; -1 where the CPU is offline */
	int cpu_cnt;
};

uint64_t sampler_default_hz(uint64_t duration_ns)
{
	uint64_t hz;

	if (!duration_ns)
		return HZ_LEAST;
	hz = (uint64_t)SAMPLES_WANTED * 1000000000 / duration_ns;
	return hz < HZ_LEAST ? HZ_LEAST : hz > HZ_MOST ? HZ_MOST : hz;
}

static int open_event(const struct perf_event_attr *attr, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr make_attr(const struct sampler *s, bool hardware)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .exclude_idle = 1 };

	if (hardware) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = 1000000000 / s->period_ns;
	} else {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.sample_period = s->period_ns;
	}
	return attr;
}

static int open_events(struct sampler *s, const struct perf_event_attr *attr)
{
	int opened_cnt = 0, rc = -ENODEV;

	for (int cpu = 0; cpu < s->cpu_cnt; cpu++) {
		s->fds[cpu] = open_event(attr, cpu);
		if (s->fds[cpu] >= 0)
			opened_cnt++;
		else if (errno != ENODEV) /* an offline CPU */
			rc = -errno;
	}
	return opened_cnt ? 0 : rc;
}

static int attach(struct sampler *s, int program_fd, struct err *err)
{
	for (int cpu = 0; cpu < s->cpu_cnt; cpu++) {
		if (s->fds[cpu] < 0)
			continue;
		if (ioctl(s->fds[cpu], PERF_EVENT_IOC_SET_BPF, program_fd) ||
		    ioctl(s->fds[cpu], PERF_EVENT_IOC_ENABLE, 0))
			return err_errno(err, "cannot attach the sampling program");
	}
	return 0;
}

int sampler__open(int program_fd, const struct capture_opts *opts, struct sampler **ret,
		  struct err *err)
{
	uint64_t hz = opts->sample_hz ? opts->sample_hz : sampler_default_hz(opts->duration_ns);
	struct sampler *s = xzalloc(sizeof(*s));
	struct perf_event_attr attr;
	int rc;

	s->period_ns = 1000000000 / hz;
	s->cpu_cnt = libbpf_num_possible_cpus();
	s->fds = xcalloc((size_t)s->cpu_cnt, sizeof(*s->fds));
	for (int i = 0; i < s->cpu_cnt; i++)
		s->fds[i] = -1;
	attr = make_attr(s, true);
	s->name = "cycles";
	rc = open_events(s, &attr);
	if (rc) {
		attr = make_attr(s, false);
		s->name = "cpu-clock";
		rc = open_events(s, &attr);
	}
	if (rc)
		err_set(err, rc, "cannot open sampling events: %s%s", strerror(-rc),
			rc == -EACCES ? " (CAP_PERFMON is needed)" : "");
	else
		rc = attach(s, program_fd, err);
	if (rc) {
		sampler__close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void sampler__close(struct sampler *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->cpu_cnt; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	free(s->fds);
	free(s);
}

const char *sampler__name(const struct sampler *s)
{
	return s ? s->name : "";
}

uint64_t sampler__period_ns(const struct sampler *s)
{
	return s ? s->period_ns : 0;
}
