/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of one correlation by the number of quanta S: S, CPU ms through the transform, CPU ms directly. A message
 * every fourth quantum, 1,000 lags. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "user/analysis/xcorr.h"
#include "user/base/mem.h"

static double ms(const struct signal *s, enum xcorr_engine engine)
{
	struct timespec a, b;
	double c[1000], best = INFINITY;

	for (int round = 0; round < 3; round++) {
		double t;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		xcorr(s, s, 1, 0, 1000, engine, c);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		t = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
		best = t < best ? t : best;
	}
	return best;
}

int main(void)
{
	for (size_t quanta = 1 << 16; quanta <= 1 << 24; quanta *= 4) {
		size_t cnt = quanta / 4;
		int64_t *at = xcalloc(cnt, sizeof(*at));
		struct signal s;

		for (size_t i = 0; i < cnt; i++)
			at[i] = (int64_t)i * 4;
		s = signal_make(at, cnt, 0, 1);
		printf("%zu\t%.1f\t%.1f\n", quanta, ms(&s, XCORR_FFT), ms(&s, XCORR_DIRECT));
		signal_free(&s);
		free(at);
	}
	return 0;
}
