/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/image.h"
#include "user/base/mem.h"

int image_from_fd(struct image *img, int fd)
{
	struct stat st;

	*img = (struct image){ .fd = fd };
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	img->size_bytes = (uint64_t)st.st_size;
	return 0;
}

void image_from_mem(struct image *img, const void *data, uint64_t size_bytes)
{
	*img = (struct image){ .fd = -1, .mem = data, .size_bytes = size_bytes };
}

bool image_read(const struct image *img, uint64_t off_bytes, void *dst, size_t len_bytes)
{
	uint8_t *to = dst;

	if (off_bytes > img->size_bytes || len_bytes > img->size_bytes - off_bytes)
		return false;
	if (img->fd < 0) {
		if (len_bytes)
			memcpy(dst, img->mem + off_bytes, len_bytes);
		return true;
	}
	while (len_bytes) {
		ssize_t n = pread(img->fd, to, len_bytes, (off_t)off_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		off_bytes += (uint64_t)n;
		len_bytes -= (size_t)n;
	}
	return true;
}

void *image_copy(const struct image *img, uint64_t off_bytes, uint64_t len_bytes,
		 uint64_t max_bytes)
{
	char *data;

	if (len_bytes > max_bytes || off_bytes > img->size_bytes ||
	    len_bytes > img->size_bytes - off_bytes)
		return NULL;
	data = xmalloc((size_t)len_bytes + 1);
	data[len_bytes] = '\0';
	if (image_read(img, off_bytes, data, (size_t)len_bytes))
		return data;
	free(data);
	return NULL;
}
