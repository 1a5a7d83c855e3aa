/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searching and checking tables of rows; see rows.h. */
#include "symbolize/rows.h"

#include <errno.h>

uint64_t rows_find(const struct row_table *t, uint64_t vaddr)
{
	uint64_t off = vaddr - t->base_vaddr;
	uint32_t lo, hi;

	if (off >> ROW_BLOCK_SHIFT >= t->block_cnt)
		return row_make(ROW_GAP, 0, 0, 0);
	lo = t->blocks[off >> ROW_BLOCK_SHIFT];
	hi = t->blocks[(off >> ROW_BLOCK_SHIFT) + 1];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo + 1) / 2;

		if (row_pc(t->rows[mid]) <= off)
			lo = mid;
		else
			hi = mid - 1;
	}
	return t->rows[lo];
}

/* The loader maps whole pages, so that a mapping starts up to a page below its segment. */
bool rows_bias(const struct row_table *t, uint64_t map_start, uint64_t map_off_bytes,
	       uint64_t *bias)
{
	const uint64_t page_bytes = 4096;

	for (uint32_t i = 0; i < t->segment_cnt; i++) {
		const struct rows_segment *seg = &t->segments[i];

		if (map_off_bytes < (seg->off_bytes & ~(page_bytes - 1)) ||
		    map_off_bytes >= seg->off_bytes + seg->size_bytes)
			continue;
		*bias = map_start - (seg->vaddr - seg->off_bytes + map_off_bytes);
		return true;
	}
	return false;
}

static int check_blocks(const struct row_table *t, struct err *err)
{
	uint32_t want = 0;

	for (uint32_t i = 0; i <= t->block_cnt; i++) {
		while (want + 1 < t->row_cnt &&
		       row_pc(t->rows[want + 1]) <= (uint64_t)i << ROW_BLOCK_SHIFT)
			want++;
		if (t->blocks[i] != want)
			return err_set(err, -EINVAL,
				       "block %u of a row table leads to row %u, not %u", i,
				       t->blocks[i], want);
	}
	return 0;
}

int rows_check(const struct row_table *t, struct err *err)
{
	if (t->segment_cnt > ROWS_SEGMENT_MAX)
		return err_set(err, -EINVAL, "a row table has %u segments", t->segment_cnt);
	if (!t->row_cnt && !t->block_cnt)
		return 0;
	if (!t->row_cnt || t->row_cnt > ROWS_MAX || row_pc(t->rows[0]) != 0 ||
	    t->base_vaddr % (1 << ROW_BLOCK_SHIFT) != 0)
		return err_set(err, -EINVAL, "a row table does not start at its base");
	for (uint32_t i = 1; i < t->row_cnt; i++)
		if (row_pc(t->rows[i]) <= row_pc(t->rows[i - 1]))
			return err_set(err, -EINVAL, "row %u of a table is not sorted", i);
	if (row_pc(t->rows[t->row_cnt - 1]) > ROWS_SPAN_MAX_BYTES ||
	    row_kind(t->rows[t->row_cnt - 1]) != ROW_GAP ||
	    t->block_cnt != (row_pc(t->rows[t->row_cnt - 1]) >> ROW_BLOCK_SHIFT) + 1)
		return err_set(err, -EINVAL, "a row table has no proper end");
	return check_blocks(t, err);
}
