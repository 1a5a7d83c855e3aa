/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a partial result of critical, and as a model. The checksum is put right first, so that the
 * fuzzer gets behind it; what decodes must survive merging and encoding, and encode to something that decodes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/anomaly_model.h"
#include "user/analysis/ccct_encode.h"
#include "user/base/hash.h"

static void fix_checksum(uint8_t *data, size_t size)
{
	uint64_t sum;

	if (size < 8)
		return;
	sum = hash_bytes(data, size - 8);
	for (int i = 0; i < 8; i++)
		data[size - 8 + i] = (uint8_t)(sum >> 8 * i);
}

static void try_ccct(const uint8_t *data, size_t size)
{
	struct ccct part = { 0 }, sum = { 0 }, again = { 0 };
	struct buf bytes = { 0 };
	struct err err = { 0 };

	if (!ccct_decode(data, size, &part, &err)) {
		ccct__merge(&sum, &part);
		ccct__merge(&sum, &part);
		ccct__finish(&sum);
		ccct_encode(&sum, &bytes);
		if (ccct_decode(bytes.data, bytes.len_bytes, &again, &err))
			abort();
	}
	ccct__free(&part);
	ccct__free(&sum);
	ccct__free(&again);
	buf_free(&bytes);
}

static void try_model(const uint8_t *data, size_t size)
{
	struct anomaly_model model = { 0 };
	struct path_vector none = { 0 };
	struct detector_reason reasons[DETECTOR_REASONS];
	struct err err = { 0 };
	size_t cnt;

	if (!anomaly_model__decode(data, size, &model, &err))
		detector__score(&model.detector, &none, reasons, &cnt);
	anomaly_model__free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	fix_checksum(copy, size);
	try_ccct(copy, size);
	try_model(copy, size);
	free(copy);
	return 0;
}
