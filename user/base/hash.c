/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashing; see hash.h. */
#include "user/base/hash.h"

#include <xxhash.h>

uint64_t hash_bytes(const void *data, size_t len_bytes)
{
	return XXH3_64bits(data, len_bytes);
}

uint64_t hash_u64(uint64_t v)
{
	/* the finaliser of MurmurHash3: a bijection that spreads every bit */
	v ^= v >> 33;
	v *= 0xff51afd7ed558ccdULL;
	v ^= v >> 33;
	v *= 0xc4ceb9fe1a85ec53ULL;
	return v ^ v >> 33;
}

uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a ^ hash_u64(b + 0x9e3779b97f4a7c15ULL));
}
