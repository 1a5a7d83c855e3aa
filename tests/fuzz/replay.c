/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a fuzz target over the files of a corpus folder, without a fuzzer: for "make check". */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long len_bytes;
	int rc = -1;

	if (!f)
		return -1;
	fseek(f, 0, SEEK_END);
	len_bytes = ftell(f);
	rewind(f);
	data = malloc(len_bytes > 0 ? (size_t)len_bytes : 1);
	if (data && fread(data, 1, (size_t)len_bytes, f) == (size_t)len_bytes)
		rc = LLVMFuzzerTestOneInput(data, (size_t)len_bytes);
	free(data);
	fclose(f);
	return rc;
}

int main(int argc, char **argv)
{
	DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
	struct dirent *e;
	char path[4096];
	int cnt = 0;

	if (!dir) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
		if (replay(path))
			return 1;
		cnt++;
	}
	closedir(dir);
	printf("%s: %d inputs\n", argv[1], cnt);
	return cnt ? 0 : 1;
}
