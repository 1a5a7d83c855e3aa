/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: the import of firefox. */
#include "tests/fuzz/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	return fuzz_format(data, len_bytes, "firefox");
}
