/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message trace from whatever a file holds; see msginput.h. */
#include "user/exchange/msginput.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/msgspans.h"
#include "user/exchange/msgtext.h"
#include "user/exchange/pcap.h"
#include "user/exchange/spantable.h"

enum {
	PEEK_BYTES = 4096
};

static int load_text(struct input *in, const struct msginput_opts *opts, struct msgtrace *t,
		     struct buf *notes, struct err *err)
{
	struct msgtext_opts o = { opts->skip_bad, opts->progress };
	struct msgtext_stats stats;
	int rc = msgtext_read(in, &o, t, &stats, err);

	if (!rc && stats.bad_cnt)
		buf_printf(notes, "%s: %llu malformed lines left out, the first: %s\n",
			   input_path(in), (unsigned long long)stats.bad_cnt, stats.first_bad);
	return rc;
}

/* Reads one input unless it is a capture; those wait for each other. */
static int load_one(struct input *in, const struct msginput_opts *opts, struct msgtrace *t,
		    bool *is_capture, struct buf *notes, struct err *err)
{
	const char *head;
	ssize_t n = input_peek(in, PEEK_BYTES, &head, err);

	*is_capture = false;
	if (n < 0)
		return (int)n;
	*is_capture = pcap_detect(head, (size_t)n);
	if (*is_capture)
		return 0;
	if (spantable_detect(head, (size_t)n))
		return spantable_read(in, t, err);
	if (msgspans_detect(head, (size_t)n))
		return msgspans_read(in, t, notes, err);
	return load_text(in, opts, t, notes, err);
}

int msginput_load(char *const *paths, size_t cnt, const struct msginput_opts *opts,
		  struct msgtrace *t, struct buf *notes, struct err *err)
{
	struct pcap_opts pcap = { opts->ports, opts->map, opts->progress };
	struct input **captures = xcalloc(cnt, sizeof(*captures));
	size_t capture_cnt = 0;
	int rc = 0;

	for (size_t i = 0; i < cnt && !rc; i++) {
		struct input *in;
		bool is_capture = false;

		rc = input_open(paths[i], &in, err);
		if (rc)
			break;
		rc = load_one(in, opts, t, &is_capture, notes, err);
		if (is_capture && capture_cnt == PCAP_FILES_MAX)
			rc = err_set(err, -E2BIG, "more than %d captures at once", PCAP_FILES_MAX);
		if (is_capture && !rc)
			captures[capture_cnt++] = in;
		else
			input_close(in);
	}
	if (!rc && opts->map)
		nodemap__apply(opts->map, t);
	if (!rc && capture_cnt)
		rc = pcap_read(captures, capture_cnt, &pcap, t, notes, err);
	for (size_t i = 0; i < capture_cnt; i++)
		input_close(captures[i]);
	free(captures);
	return rc;
}
