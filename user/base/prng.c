/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers that are the same on every machine; see prng.h. */
#include "user/base/prng.h"

typedef unsigned __int128 u128;

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

void prng_init(struct prng *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = splitmix(&seed) ^ splitmix(&stream) * 0xd1342543de82ef95;

	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&x);
}

uint64_t prng_u64(struct prng *r)
{
	uint64_t result = rotate(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotate(r->s[3], 45);
	return result;
}

uint64_t prng_below(struct prng *r, uint64_t bound)
{
	uint64_t reject = -bound % bound; /* 2^64 mod bound */
	u128 product;

	do
		product = (u128)prng_u64(r) * bound;
	while ((uint64_t)product < reject);
	return (uint64_t)(product >> 64);
}

int64_t prng_between(struct prng *r, int64_t low, int64_t high)
{
	uint64_t range = (uint64_t)high - (uint64_t)low;

	if (range == UINT64_MAX)
		return (int64_t)prng_u64(r);
	return (int64_t)((uint64_t)low + prng_below(r, range + 1));
}

/* -log2(v / 2^62) in units of 2^-32, for 0 < v < 2^62: each squaring of a mantissa in [1, 2) gives a bit. */
static uint64_t minus_log2(uint64_t v)
{
	int high = 63 - __builtin_clzll(v);
	uint64_t mantissa = v << (62 - high); /* [1, 2) in units of 2^-62 */
	uint64_t fraction = 0;

	for (int i = 0; i < 32; i++) {
		u128 square = (u128)mantissa * mantissa >> 62;

		fraction <<= 1;
		if (square >> 63) {
			fraction |= 1;
			square >>= 1;
		}
		mantissa = (uint64_t)square;
	}
	return ((uint64_t)(62 - high) << 32) - fraction;
}

static uint64_t square_root(u128 v)
{
	u128 root = 0, bit = (u128)1 << 126;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint64_t)root;
}

int64_t prng_normal(struct prng *r, int64_t mean, int64_t deviation)
{
	static const uint64_t ln2 = 2977044472; /* ln 2 in units of 2^-32 */
	uint64_t x, s, factor;
	int64_t u, v;
	u128 squared;

	do { /* a point in the unit circle, in units of 2^-31 */
		x = prng_u64(r);
		u = (int64_t)(int32_t)(x >> 32);
		v = (int64_t)(int32_t)x;
		s = (uint64_t)(u * u) + (uint64_t)(v * v);
	} while (s >= (uint64_t)1 << 62 || s < 1 << 20); /* the rest must fit into 128 bits */
	/* -2 ln s / s with s in units of 2^-62: (units 2^-32 * 2^-32) / 2^-62, times 2^62 for 2^-60 */
	squared = (u128)(2 * minus_log2(s)) * ln2;
	squared = (squared << 32) / s << 26; /* units of 2^-60 */
	factor = square_root(squared);	     /* units of 2^-30 */
	/* Z = u * factor in units of 2^-61 */
	return mean + (int64_t)(((__int128)u * (__int128)factor >> 31) * deviation >> 30);
}
