/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers that are the same on every machine: xoshiro256** (D. Blackman, S. Vigna, "Scrambled linear
 * pseudorandom number generators", 2021), seeded through splitmix64, and whole-number arithmetic from there on:
 * no floating point, so no rounding mode, no fused multiply-add and no libm can change a bit. */
#ifndef CP_USER_BASE_PRNG_H
#define CP_USER_BASE_PRNG_H

#include <stdint.h>

struct prng {
	uint64_t s[4];
};

/* Streams with different numbers of one seed are independent. */
void prng_init(struct prng *r, uint64_t seed, uint64_t stream);
uint64_t prng_u64(struct prng *r);
uint64_t prng_below(struct prng *r, uint64_t bound); /* 0 .. bound - 1; bound > 0; unbiased */
/* Uniform in low..high inclusive; low <= high. */
int64_t prng_between(struct prng *r, int64_t low, int64_t high);
/* mean + deviation * Z, Z standard normal (G. Marsaglia's polar method in fixed point, 2^-30). */
int64_t prng_normal(struct prng *r, int64_t mean, int64_t deviation);

#endif
