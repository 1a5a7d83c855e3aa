/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .cprof file -> profile. The file may come from anybody: every length is checked before it is used, every
 * size is bounded before memory is taken, and a file that is truncated, damaged or inconsistent is refused
 * with one line that names the section and its offset. What reader__load gives has passed profile__check. */
#ifndef CP_USER_STORE_READER_H
#define CP_USER_STORE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/err.h"
#include "user/model/profile.h"

/* Bytes of all sections together after decompression: what no profile on this side of absurd needs. */
#define READER_TOTAL_MAX_BYTES (UINT64_C(8) << 30)

/* Which bound reader__load sets to a file of so many bytes: a file of zeros is to cost no more memory than it is worth.
 * Profiles above 1 MB that were looked at grow 5 to 18 times, but those of threads that sleep through thousands of
 * slices hundreds of times. */
uint64_t reader__bound_bytes(uint64_t file_bytes);

/* path may be "-". *ret is owned by the caller. */
int reader__load(const char *path, struct profile **ret, struct err *err);
/* The same from memory, with a bound of the caller's choice. */
int reader__parse(const void *data, size_t len_bytes, uint64_t total_max_bytes,
		  struct profile **ret, struct err *err);

#endif
