/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet captures as message traces; see pcap.h. */
#include "user/exchange/pcap.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/pcapconv.h"
#include "user/exchange/pcapframe.h"
#include "user/exchange/pcapng.h"

enum {
	TICK_FRAMES = 1 << 14,
};

struct source {
	struct input *in;
	struct err read_err;
	pcap_t *pcap; /* one of these two */
	struct pcapng *pcapng;
	bool has_frame;
	struct pcapng_frame frame; /* at hand */
	bool cut;		   /* by read_err */
};

struct counts {
	uint64_t frames, other, fragments, malformed, cut;
};

bool pcap_detect(const char *head, size_t len_bytes)
{
	static const unsigned char magics[][4] = {
		{ 0xa1, 0xb2, 0xc3, 0xd4 }, { 0xd4, 0xc3, 0xb2, 0xa1 }, { 0xa1, 0xb2, 0x3c, 0x4d },
		{ 0x4d, 0x3c, 0xb2, 0xa1 }, { 0x0a, 0x0d, 0x0d, 0x0a }, { 0xa1, 0xb2, 0xcd, 0x34 },
		{ 0x34, 0xcd, 0xb2, 0xa1 },
	};

	for (size_t i = 0; i < ARRAY_CNT(magics); i++)
		if (len_bytes >= 4 && !memcmp(head, magics[i], 4))
			return true;
	return false;
}

/* A FILE of an input, for libpcap: so compressed captures and standard input work too. */
static ssize_t cookie_read(void *cookie, char *data, size_t cap_bytes)
{
	struct source *s = cookie;
	size_t got = 0;

	while (got < cap_bytes) {
		ssize_t n = input_read(s->in, data + got, cap_bytes - got, &s->read_err);

		if (n < 0)
			return got ? (ssize_t)got : -1;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int next_pcap(struct source *s)
{
	struct pcap_pkthdr *header;
	int rc = pcap_next_ex(s->pcap, &header, &s->frame.data);
	int64_t sec, max = INT64_MAX / 2000000000 - 1;

	if (rc != 1) {
		if (rc == PCAP_ERROR && !s->read_err.code)
			err_set(&s->read_err, -EIO, "%s", pcap_geterr(s->pcap));
		return rc == PCAP_ERROR ? -EIO : 0;
	}
	/* libpcap gives nanoseconds in tv_usec when asked for; both may be anything */
	sec = header->ts.tv_sec;
	sec = sec > max ? max : sec < -max ? -max : sec;
	s->frame.time_ns = sec * 1000000000 + header->ts.tv_usec % 1000000000;
	s->frame.len_bytes = header->caplen;
	return 1;
}

static void next_frame(struct source *s)
{
	int rc = s->pcapng ? pcapng__next(s->pcapng, &s->frame, &s->read_err) : next_pcap(s);

	s->has_frame = rc > 0;
	s->cut = rc < 0;
}

static int open_pcap(struct source *s, struct err *err)
{
	cookie_io_functions_t io = { .read = cookie_read };
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *file = fopencookie(s, "r", io);
	const char *name;

	if (!file)
		return err_errno(err, "%s", input_path(s->in));
	s->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!s->pcap) {
		fclose(file);
		return err_set(err, -EINVAL, "%s: not a capture that can be read: %s",
			       input_path(s->in), s->read_err.code ? s->read_err.msg : why);
	}
	s->frame.link_type = pcap_datalink(s->pcap);
	if (pcapframe_knows(s->frame.link_type))
		return 0;
	name = pcap_datalink_val_to_name(s->frame.link_type);
	return err_set(err, -EINVAL,
		       "%s: link type %d (%s) is not understood; Ethernet, Linux cooked, loopback "
		       "and raw IP are",
		       input_path(s->in), s->frame.link_type, name ? name : "unknown");
}

static int open_source(struct source *s, struct input *in, struct err *err)
{
	static const unsigned char pcapng_magic[] = { 0x0a, 0x0d, 0x0d, 0x0a };
	const char *head;
	ssize_t n = input_peek(in, sizeof(pcapng_magic), &head, err);
	int rc = 0;

	s->in = in;
	if (n < 0)
		return (int)n;
	if ((size_t)n >= sizeof(pcapng_magic) && !memcmp(head, pcapng_magic, sizeof(pcapng_magic)))
		s->pcapng = pcapng__new(in);
	else
		rc = open_pcap(s, err);
	if (!rc)
		next_frame(s);
	return rc;
}

static struct source *earliest(struct source *sources, size_t cnt)
{
	struct source *best = NULL;

	for (size_t i = 0; i < cnt; i++)
		if (sources[i].has_frame &&
		    (!best || sources[i].frame.time_ns < best->frame.time_ns))
			best = &sources[i];
	return best;
}

static void take_frame(struct source *s, struct pcapconv *conv, struct counts *n)
{
	struct pcapframe f;

	n->frames++;
	switch (pcapframe_decode(s->frame.link_type, s->frame.data, s->frame.len_bytes, &f)) {
	case PCAPFRAME_OK:
		pcapconv__frame(conv, s->frame.time_ns, &f);
		break;
	case PCAPFRAME_OTHER:
		n->other++;
		break;
	case PCAPFRAME_FRAGMENT:
		n->fragments++;
		break;
	case PCAPFRAME_MALFORMED:
		n->malformed++;
		break;
	case PCAPFRAME_CUT:
		n->cut++;
		break;
	}
}

static void note(struct buf *notes, uint64_t cnt, const char *what)
{
	if (cnt)
		buf_printf(notes, "%llu %s\n", (unsigned long long)cnt, what);
}

static void put_notes(const struct source *sources, size_t cnt, const struct counts *n,
		      const struct pcapconv_stats *s, struct buf *notes)
{
	for (size_t i = 0; i < cnt; i++)
		if (sources[i].cut)
			buf_printf(notes,
				   "%s: cut off or corrupt: %s; what came before it counts\n",
				   input_path(sources[i].in), sources[i].read_err.msg);
	buf_printf(notes, "%llu frames, %llu TCP connections, %llu UDP datagrams, %llu requests\n",
		   (unsigned long long)n->frames, (unsigned long long)s->connection_cnt,
		   (unsigned long long)s->datagram_cnt, (unsigned long long)s->call_cnt);
	note(notes, s->repeated_cnt, "frames retransmitted or captured twice, dropped");
	if (s->hole_cnt)
		buf_printf(notes, "%llu gaps: %llu bytes lost by the capture\n",
			   (unsigned long long)s->hole_cnt, (unsigned long long)s->hole_bytes);
	note(notes, s->cut_cnt, "segments captured in part only (snap length)");
	note(notes, s->stray_reply_cnt, "replies without request");
	note(notes, s->unanswered_cnt, "requests without reply");
	note(notes, s->guessed_cnt,
	     "connections already open: the higher port is taken for the client");
	note(notes, n->other, "frames neither TCP nor UDP over IP, left out");
	note(notes, n->fragments, "IP fragments left out");
	note(notes, n->malformed, "malformed frames left out");
	note(notes, n->cut, "frames captured too short for their headers, left out");
}

int pcap_read(struct input *const *inputs, size_t cnt, const struct pcap_opts *opts,
	      struct msgtrace *t, struct buf *notes, struct err *err)
{
	struct source *sources = xcalloc(cnt, sizeof(*sources)), *s;
	struct pcapconv *conv = pcapconv__new(t, opts->ports, opts->map);
	struct pcapconv_stats stats;
	struct counts n = { 0 };
	int rc = 0;

	for (size_t i = 0; i < cnt && !rc; i++)
		rc = open_source(&sources[i], inputs[i], err);
	while (!rc && (s = earliest(sources, cnt))) {
		take_frame(s, conv, &n);
		next_frame(s);
		if (n.frames % TICK_FRAMES == 0)
			progress_tick(opts->progress, "reading", input_raw_bytes(s->in),
				      input_total_bytes(s->in));
	}
	if (!rc) {
		pcapconv__finish(conv, &stats);
		put_notes(sources, cnt, &n, &stats, notes);
	}
	pcapconv__free(conv);
	for (size_t i = 0; i < cnt; i++) {
		if (sources[i].pcap)
			pcap_close(sources[i].pcap);
		pcapng__free(sources[i].pcapng);
	}
	free(sources);
	return rc;
}
