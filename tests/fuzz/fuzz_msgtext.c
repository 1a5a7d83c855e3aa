/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Message text, span tables, truth files and node maps; and nesting over whatever came out of them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/analysis/callpairs.h"
#include "user/analysis/nesting.h"
#include "user/analysis/pathgraph.h"
#include "user/analysis/pathreport.h"
#include "user/analysis/paths.h"
#include "user/exchange/msgtext.h"
#include "user/exchange/msgtruth.h"
#include "user/exchange/spantable.h"
#include "user/model/nodemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static void analyse(struct msgtrace *t)
{
	struct nesting_opts o = nesting_opts_default();
	struct pathreport_opts r = { .top_cnt = 3, .window_ns = 1000000000 };
	struct nesting_stats nested;
	struct callpairs_stats pairs;
	struct buf out = { 0 };
	struct paths *p;

	callpairs_find(t, CALLPAIRS_NUMBER, 0, &pairs);
	o.window_ns = t->call_cnt % 2 ? 1000 : 0;
	nesting_infer(t, &o, &nested);
	if (msgtrace__check(t, NULL))
		abort();
	p = paths__new(t, t->call_cnt % 3 ? PATHS_UNORDERED : 0);
	pathreport_text(p, &r, &out);
	pathgraph_dot(p, &r, &out);
	pathgraph_folded(p, &out);
	paths__free(p);
	buf_free(&out);
}

static void read_messages(struct input *in)
{
	struct msgtext_opts o = { .skip_bad = true };
	struct msgtext_stats stats;
	struct msgtrace *t = msgtrace__new();

	msgtext_read(in, &o, t, &stats, NULL);
	analyse(t);
	msgtrace__free(t);
}

static void read_span_table(struct input *in)
{
	struct msgtrace *t = msgtrace__new();

	spantable_read(in, t, NULL);
	msgtrace__sort_calls(t);
	analyse(t);
	msgtrace__free(t);
}

static void read_truth(struct input *in)
{
	struct msgtruth truth;

	msgtruth_read(in, &truth, NULL);
	msgtruth_free(&truth);
}

static void read_map(struct input *in)
{
	struct nodemap *map = NULL;
	struct buf name = { 0 };

	if (!nodemap__read(in, &map, NULL))
		nodemap__name(map, "192.0.2.1:80", &name);
	nodemap__free(map);
	buf_free(&name);
}

/* The first byte says what the rest is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct input *in;

	if (!len_bytes || input_open_mem(data + 1, len_bytes - 1, &in, NULL))
		return 0;
	switch (data[0]) {
	case 's':
		read_span_table(in);
		break;
	case 't':
		read_truth(in);
		break;
	case 'n':
		if (len_bytes <
		    200) /* the C library's regular expressions take any time and memory */
			read_map(in);
		break;
	default:
		read_messages(in);
	}
	input_close(in);
	return 0;
}
