/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations of synthetic traces; small ones are run. */
#include <stdint.h>

#include "user/analysis/maketrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct maketrace_config c = { 0 };
	struct input *in;

	if (len_bytes > 4096 || input_open_mem(data, len_bytes, &in, NULL))
		return 0;
	maketrace_config_read(&c, in, NULL);
	input_close(in);
	maketrace_config_free(&c);
	return 0;
}
