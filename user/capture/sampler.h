/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of the samples: one perf event a CPU, on hardware cycles where the machine has them. */
#ifndef CP_USER_CAPTURE_SAMPLER_H
#define CP_USER_CAPTURE_SAMPLER_H

#include <stdint.h>

#include "user/base/err.h"
#include "user/capture/options.h"

struct sampler;

/* Opens the events and attaches the program. */
int sampler__open(int program_fd, const struct capture_opts *opts, struct sampler **ret,
		  struct err *err);
void sampler__close(struct sampler *s);		    /* NULL is fine */
const char *sampler__name(const struct sampler *s); /* "cycles" or "cpu-clock"; "" for NULL */
uint64_t sampler__period_ns(const struct sampler *s);
/* The rate for a capture of this length: at least about 1000 samples a busy CPU, within 99 .. 4999 Hz. */
uint64_t sampler_default_hz(uint64_t duration_ns);

#endif
