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

static uint64_t rotate(uint64_t v, unsigned int bits)
{
	return v << bits | v >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int cnt)
{
	while (cnt--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t hash_keyed(const uint64_t key[2], const void *data, size_t len_bytes)
{
	uint64_t v[4] = { key[0] ^ UINT64_C(0x736f6d6570736575),
			  key[1] ^ UINT64_C(0x646f72616e646f6d),
			  key[0] ^ UINT64_C(0x6c7967656e657261),
			  key[1] ^ UINT64_C(0x7465646279746573) };
	const unsigned char *at = data;

	/* words of eight bytes; the last one holds what is left and the length */
	for (size_t done = 0; done <= len_bytes; done += 8) {
		size_t now = len_bytes - done < 8 ? len_bytes - done : 8;
		uint64_t word = now < 8 ? (uint64_t)len_bytes << 56 : 0;

		for (size_t i = 0; i < now; i++)
			word |= (uint64_t)at[done + i] << (8 * i);
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
