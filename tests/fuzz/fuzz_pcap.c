/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures: the whole way through libpcap, and frames alone for each link type. */
#include <stdint.h>
#include <stdlib.h>

#include "user/analysis/callpairs.h"
#include "user/exchange/pcap.h"
#include "user/exchange/pcapconv.h"
#include "user/exchange/pcapframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static void read_capture(const uint8_t *data, size_t len_bytes)
{
	struct msgtrace *t = msgtrace__new();
	struct pcap_opts o = { 0 };
	struct callpairs_stats stats;
	struct buf notes = { 0 };
	struct input *in;

	if (!input_open_mem(data, len_bytes, &in, NULL)) {
		pcap_read(&in, 1, &o, t, &notes, NULL);
		input_close(in);
	}
	callpairs_find(t, 0, 0, &stats);
	if (msgtrace__check(t, NULL))
		abort();
	buf_free(&notes);
	msgtrace__free(t);
}

/* Frames of one conversation, each behind a byte with its length. */
static void read_frames(const uint8_t *data, size_t len_bytes, int link_type)
{
	struct msgtrace *t = msgtrace__new();
	struct pcapconv *c = pcapconv__new(t, true, NULL);
	struct pcapconv_stats stats;
	int64_t time_ns = 0;

	while (len_bytes) {
		size_t n = data[0] < len_bytes - 1 ? data[0] : len_bytes - 1;
		struct pcapframe f;

		if (!pcapframe_decode(link_type, data + 1, n, &f))
			pcapconv__frame(c, time_ns, &f);
		data += n + 1;
		len_bytes -= n + 1;
		time_ns += 1000000;
	}
	pcapconv__finish(c, &stats);
	pcapconv__free(c);
	msgtrace__free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	static const int links[] = { 1, 12, 113, 276, 0, 108 };

	if (len_bytes > 1 && data[0] < sizeof(links) / sizeof(links[0]))
		read_frames(data + 1, len_bytes - 1, links[data[0]]);
	else
		read_capture(data, len_bytes);
	return 0;
}
