/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trained anomaly detector with its vocabulary, as bytes and back. Layout: "CPANOM1\n", kind of vector, entry
 * (service, operation; empty = any), frames, paths (parents first), detector, checksum (wire.h). */
#ifndef CP_USER_ANALYSIS_ANOMALY_MODEL_H
#define CP_USER_ANALYSIS_ANOMALY_MODEL_H

#include "user/analysis/detector.h"

#define ANOMALY_MAGIC "CPANOM1\n"

struct anomaly_model {
	struct vectorizer vectorizer;
	struct detector detector;
	char *service, *operation; /* owned; NULL = any */
};

void anomaly_model__encode(const struct anomaly_model *m, struct buf *out);
/* Into *m, zero-initialised; to be freed in either case. */
int anomaly_model__decode(const void *data, size_t len_bytes, struct anomaly_model *m,
			  struct err *err);
void anomaly_model__free(struct anomaly_model *m);

#endif
