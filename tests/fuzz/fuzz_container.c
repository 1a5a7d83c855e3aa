/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of cgroups are made by whoever may make a directory: a name never grows out of its path. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char *path = malloc(len_bytes + 1);
	struct buf name = { 0 };

	if (!path)
		return 0;
	memcpy(path, data, len_bytes);
	path[len_bytes] = '\0';
	container_name(path, &name);
	if (name.len_bytes > strlen(path) || (*path && !name.len_bytes))
		abort();
	buf_free(&name);
	free(path);
	return 0;
}
