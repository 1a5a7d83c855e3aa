/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a file that nobody vouches for: a descriptor or memory, read piece by piece with checked
 * bounds. Descriptors are read with pread, never mapped: a file that shrinks gives a short read, not a
 * SIGBUS. */
#ifndef CP_SYMBOLIZE_IMAGE_H
#define CP_SYMBOLIZE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image {
	int fd;		    /* borrowed; -1 = memory */
	const uint8_t *mem; /* borrowed */
	uint64_t size_bytes;
};

int image_from_fd(struct image *img, int fd); /* 0, or -errno; only regular files */
void image_from_mem(struct image *img, const void *data, uint64_t size_bytes);
/* All of it or nothing. */
bool image_read(const struct image *img, uint64_t off_bytes, void *dst, size_t len_bytes);
/* The same into new memory with a NUL behind it, owned by the caller; NULL if out of the image or larger
 * than max_bytes. */
void *image_copy(const struct image *img, uint64_t off_bytes, uint64_t len_bytes,
		 uint64_t max_bytes);

#endif
