/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small repeatable generator for tests (splitmix64). Not for anything else. */
#ifndef CP_TESTS_UNIT_RNG_H
#define CP_TESTS_UNIT_RNG_H

#include <math.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_u64(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline double rng_unit(struct rng *r) /* (0, 1) */
{
	return ((double)(rng_u64(r) >> 11) + 0.5) / 9007199254740992.0;
}

static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(rng_unit(r) * n);
}

static inline double rng_exp(struct rng *r, double mean)
{
	return -mean * log(rng_unit(r));
}

static inline double rng_gauss(struct rng *r)
{
	double u = rng_unit(r);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * rng_unit(r));
}

#endif
