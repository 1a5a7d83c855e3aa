/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashing in user space (xxHash). Values are equal on every machine of one byte order. */
#ifndef CP_USER_BASE_HASH_H
#define CP_USER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t len_bytes);
uint64_t hash_u64(uint64_t v);
uint64_t hash_pair(uint64_t a, uint64_t b);
/* A hash that nobody without the key can invert or predict: SipHash-2-4 (Aumasson and Bernstein, 2012). */
uint64_t hash_keyed(const uint64_t key[2], const void *data, size_t len_bytes);

#endif
