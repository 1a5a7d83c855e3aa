/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet captures (pcap with micro- or nanoseconds, pcapng; plain, gzip or zstd) as message traces. Several
 * captures are merged by their stamps first, so that what two of them saw is one message (pcapconv.h). */
#ifndef CP_USER_EXCHANGE_PCAP_H
#define CP_USER_EXCHANGE_PCAP_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"
#include "user/base/progress.h"
#include "user/model/msgtrace.h"
#include "user/model/nodemap.h"

enum {
	PCAP_FILES_MAX = 64
};

struct pcap_opts {
	bool ports;		   /* servers are ADDRESS:PORT */
	const struct nodemap *map; /* may be NULL */
	const struct progress *progress;
};

bool pcap_detect(const char *head, size_t len_bytes);
/* Appends the messages of the captures to t; what was lost or not understood to notes, a line each. Inputs are
 * read to their ends, or to where they are cut off, which is noted. 0, or a negative errno when an input is no
 * capture or of a link type that is not understood. */
int pcap_read(struct input *const *inputs, size_t cnt, const struct pcap_opts *opts,
	      struct msgtrace *t, struct buf *notes, struct err *err);

#endif
