/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A message trace from whatever a file holds; see msginput.h. */
#include "user/exchange/msginput.h"

#include <string.h>

#include "user/exchange/msgtext.h"
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

static enum msginput_kind detect(const char *head, size_t len_bytes)
{
	if (spantable_detect(head, len_bytes))
		return MSGINPUT_SPAN_TABLE;
	return MSGINPUT_TEXT;
}

int msginput_load(const char *path, const struct msginput_opts *opts, struct msgtrace *t,
		  enum msginput_kind *kind, struct buf *notes, struct err *err)
{
	struct input *in;
	const char *head;
	ssize_t n;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	n = input_peek(in, PEEK_BYTES, &head, err);
	if (n < 0) {
		rc = (int)n;
		goto out;
	}
	*kind = detect(head, (size_t)n);
	if (*kind == MSGINPUT_SPAN_TABLE)
		rc = spantable_read(in, t, err);
	else
		rc = load_text(in, opts, t, notes, err);
out:
	input_close(in);
	return rc;
}
