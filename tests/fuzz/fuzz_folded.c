/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as folded text, through the whole way to a picture. The picture must be free of what only the
 * program may put there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/folded.h"
#include "flamegraph/picture.h"
#include "flamegraph/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

static void add(struct flame_tree *t, const struct folded_line *line, bool two)
{
	struct flame_weight w[2] = { { .value = line->values[two] },
				     { .value = line->values[0], .side = FLAME_BEFORE } };
	size_t cnt = line->frame_cnt;

	if (cnt)
		w[0].cls = w[1].cls = (uint8_t)flame_class_of_leaf(line->frames[cnt - 1].s,
								   line->frames[cnt - 1].len_bytes);
	flame_tree__add(t, line->frames, cnt, w, two ? 2 : 1);
}

static size_t count_of(const struct buf *b, const char *what)
{
	size_t cnt = 0;

	for (const char *s = buf_str(b); (s = strstr(s, what)); s++)
		cnt++;
	return cnt;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct flame_tree *t = flame_tree__new(len_bytes % 5 ? FLAME_MERGE_ALL : FLAME_MERGE_CHART);
	struct input *in = NULL;
	struct folded *f = NULL;
	struct folded_line line;
	struct flame_opts o;
	struct buf out = { 0 };

	flame_opts_init(&o);
	o.inverted = len_bytes % 3 == 0;
	o.plain = len_bytes % 2 == 0;
	if (!input_open_mem(data, len_bytes, &in, NULL) &&
	    !folded_open(in, FOLDED_DETECT, false, &f, NULL)) {
		while (folded_next(f, &line, NULL) > 0)
			add(t, &line, folded_stats(f)->two_counts);
		folded_put_warning(f, &out);
		buf_reset(&out);
	}
	flame_tree__finish(t);
	if (!flame_svg(t, &o, &out, NULL)) {
		if (count_of(&out, "<script") != !o.plain || memchr(out.data, 0, out.len_bytes))
			abort();
	}
	buf_free(&out);
	folded_close(f);
	input_close(in);
	flame_tree__free(t);
	return 0;
}
