/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces and their rows; see spaces.h. */
#include "user/capture/spaces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolize/maps.h"
#include "user/base/hash.h"
#include "user/base/index.h"
#include "user/base/mem.h"
#include "user/base/slots.h"
#include "user/capture/grace.h"
#include "user/capture/row_files.h"
#include "user/capture/mapped_file.h"
#include "user/capture/pythons.h"

enum {
	ROWS_MIN = 1 << 20,
	BLOCKS_MIN = 1 << 19,
	MAPPINGS_MIN = 1 << 14,
	/* rows and blocks are handed out in units of so many, as powers of two */
	ROWS_UNIT_SHIFT = 6,
	BLOCKS_UNIT_SHIFT = 4,
	QUIET_NS = 1000000000,
	PLACE_AGAIN_NS = 100000000, /* after a search for room that found none */
};

/* An address space whose range the kernel may have. */
struct space {
	uint32_t number;
	uint32_t process_cnt; /* 0: ended, at ended_ns */
	uint64_t ended_ns;
	uint32_t mapping, mapping_cnt;
	uint32_t *files;
	size_t file_cnt, file_cap;
};

struct spaces {
	struct row_files *files;
	struct spaces_sizes sizes;
	uint64_t *rows;
	uint32_t *blocks;
	struct cp_mapping *mappings;
	struct slots row_slots, block_slots, mapping_slots;
	struct space *list; /* in order of publication, without those that were reclaimed */
	size_t cnt, cap;
	struct index space_index; /* by number */
	size_t ended_cnt;
	uint32_t ended_mapping_cnt; /* of ended spaces, not yet free */
	uint64_t prepared_mapping_cnt;
	uint64_t full_ns; /* when there was no room for rows */
	uint64_t full_mappings_ns;
	bool without_rows;
	struct pythons *pythons;
	struct spaces_stats stats;
};

struct spaces *spaces__new(void)
{
	struct spaces *s = xzalloc(sizeof(*s));

	s->files = row_files__new();
	s->pythons = pythons__new();
	return s;
}

void spaces__free(struct spaces *s)
{
	if (!s)
		return;
	row_files__free(s->files);
	pythons__free(s->pythons);
	for (size_t i = 0; i < s->cnt; i++)
		free(s->list[i].files);
	free(s->list);
	index_free(&s->space_index);
	slots_fini(&s->row_slots);
	slots_fini(&s->block_slots);
	slots_fini(&s->mapping_slots);
	free(s);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void spaces__without_rows(struct spaces *s)
{
	s->without_rows = true;
}

void spaces__together(struct spaces *s)
{
	row_files__together(s->files);
}

void spaces__prepare(struct spaces *s, pid_t pid)
{
	struct maps maps = { 0 };

	if (maps_read(&maps, pid, NULL))
		return;
	row_files__prepare(s->files, true);
	for (size_t i = 0; i < maps.cnt; i++) {
		if (!(maps.entries[i].perms & MAPS_EXEC))
			continue;
		row_files__of(s->files, pid, &maps.entries[i]);
		s->prepared_mapping_cnt++;
	}
	row_files__prepare(s->files, false);
	maps_free(&maps);
}

static uint32_t power_of_two(uint64_t need, uint32_t least)
{
	uint32_t cnt = least;

	while (cnt < need && cnt < 1U << 31)
		cnt *= 2;
	return cnt;
}

struct spaces_sizes spaces__sizes(const struct spaces *s, uint32_t process_cnt_max)
{
	uint64_t row_cnt, block_cnt;

	row_files__count(s->files, &row_cnt, &block_cnt);
	return (struct spaces_sizes){
		.row_cnt = power_of_two(row_cnt + ROWS_MIN / 2, ROWS_MIN),
		.block_cnt = power_of_two(block_cnt + BLOCKS_MIN / 2, BLOCKS_MIN),
		.mapping_cnt = power_of_two(s->prepared_mapping_cnt * 2,
					    process_cnt_max ? power_of_two(process_cnt_max, 1) :
							      MAPPINGS_MIN),
	};
}

bool spaces__settle(struct spaces *s, const struct spaces_sizes *sizes)
{
	uint64_t row_cnt, block_cnt;

	row_files__settle(s->files);
	row_files__count(s->files, &row_cnt, &block_cnt);
	/* and for code that comes later */
	return row_cnt + ROWS_MIN / 4 <= sizes->row_cnt &&
	       block_cnt + BLOCKS_MIN / 4 <= sizes->block_cnt;
}

void spaces__use(struct spaces *s, const struct spaces_sizes *sizes, uint64_t *rows,
		 uint32_t *blocks, struct cp_mapping *mappings)
{
	s->sizes = *sizes;
	s->rows = rows;
	s->blocks = blocks;
	s->mappings = mappings;
	slots_init(&s->row_slots, sizes->row_cnt >> ROWS_UNIT_SHIFT);
	slots_init(&s->block_slots, sizes->block_cnt >> BLOCKS_UNIT_SHIFT);
	slots_init(&s->mapping_slots, sizes->mapping_cnt);
}

static uint32_t units(uint32_t cnt, uint32_t shift)
{
	return (uint32_t)(((uint64_t)cnt + (1U << shift) - 1) >> shift);
}

/* Copies a file's rows into the arrays. */
static int place(struct spaces *s, struct rows_file *f)
{
	struct row_table *t = &f->table;
	uint32_t row_units = units(t->row_cnt, ROWS_UNIT_SHIFT), row, block;

	if (f->placed || f->failed || !t->row_cnt)
		return 0;
	if (!slots_take(&s->row_slots, row_units, &row))
		return -ENOSPC;
	if (!slots_take(&s->block_slots, units(t->block_cnt + 1, BLOCKS_UNIT_SHIFT), &block)) {
		slots_give(&s->row_slots, row, row_units);
		return -ENOSPC;
	}
	f->row = row << ROWS_UNIT_SHIFT;
	f->block = block << BLOCKS_UNIT_SHIFT;
	memcpy(s->rows + f->row, t->rows, t->row_cnt * sizeof(*t->rows));
	memcpy(s->blocks + f->block, t->blocks, (t->block_cnt + 1) * sizeof(*t->blocks));
	s->stats.row_cnt += t->row_cnt;
	free(t->rows);
	free(t->blocks);
	t->rows = NULL;
	t->blocks = NULL;
	f->placed = true;
	return 0;
}

/* A file that no space points to leaves the arrays. */
static void evict_files(struct spaces *s)
{
	struct rows_file *f;

	for (size_t i = 0; (f = row_files__at(s->files, i)); i++) {
		if (!f->placed || f->space_cnt)
			continue;
		slots_give(&s->row_slots, f->row >> ROWS_UNIT_SHIFT,
			   units(f->table.row_cnt, ROWS_UNIT_SHIFT));
		slots_give(&s->block_slots, f->block >> BLOCKS_UNIT_SHIFT,
			   units(f->table.block_cnt + 1, BLOCKS_UNIT_SHIFT));
		s->stats.row_cnt -= f->table.row_cnt;
		row_files__evict(s->files, i);
	}
}

static struct space *find_space(const struct spaces *s, uint32_t number)
{
	struct index_iter it = index_find(&s->space_index, hash_u64(number));

	for (; index_hit(&s->space_index, &it); index_next(&s->space_index, &it))
		if (s->list[it.elem].number == number)
			return &s->list[it.elem];
	return NULL;
}

static struct cp_range range_of(const struct space *space)
{
	return (struct cp_range){ .mapping = space->mapping, .mapping_cnt = space->mapping_cnt };
}

bool spaces__hold(struct spaces *s, uint32_t number, struct cp_range *ret)
{
	struct space *space = find_space(s, number);

	if (!space || space->process_cnt++)
		return false;
	s->ended_cnt--;
	s->ended_mapping_cnt -= space->mapping_cnt;
	*ret = range_of(space);
	ret->python = pythons__layout(s->pythons, number) != NULL;
	return true;
}

bool spaces__drop(struct spaces *s, uint32_t number)
{
	struct space *space = find_space(s, number);

	if (!space || !space->process_cnt || --space->process_cnt)
		return false;
	space->ended_ns = now_ns();
	s->ended_cnt++;
	s->ended_mapping_cnt += space->mapping_cnt;
	return true;
}

static void free_space(struct spaces *s, struct space *space)
{
	slots_give(&s->mapping_slots, space->mapping, space->mapping_cnt);
	for (size_t i = 0; i < space->file_cnt; i++)
		row_files__at(s->files, space->files[i])->space_cnt--;
	free(space->files);
	s->ended_cnt--;
	s->ended_mapping_cnt -= space->mapping_cnt;
}

/* What ended spaces had becomes free. No range points to it any more, but a walk that began before may still be
 * on its way. Where waiting for it is refused, a second is longer than any walk. */
static void reclaim(struct spaces *s)
{
	uint64_t now = now_ns();
	bool quiet;
	size_t kept = 0;

	if (!s->ended_cnt)
		return;
	quiet = grace_period();
	index_reset(&s->space_index);
	for (size_t i = 0; i < s->cnt; i++) {
		struct space *space = &s->list[i];

		if (!space->process_cnt && (quiet || now - space->ended_ns >= QUIET_NS)) {
			free_space(s, space);
			continue;
		}
		s->list[kept] = *space;
		index_add(&s->space_index, hash_u64(space->number), (uint32_t)kept++);
	}
	s->cnt = kept;
}

static int place_somehow(struct spaces *s, struct rows_file *f)
{
	int rc = place(s, f);
	uint64_t now = rc ? now_ns() : 0;

	if (!rc || now - s->full_ns < PLACE_AGAIN_NS)
		return rc;
	reclaim(s);
	evict_files(s);
	rc = place(s, f);
	if (rc)
		s->full_ns = now;
	return rc;
}

/* Finds where the file lies in the process: false if no executable segment covers the mapping's offset. */
static bool set_base(const struct row_table *t, const struct maps_entry *e, struct cp_mapping *m)
{
	bool vdso = !e->inode;

	for (uint32_t i = 0; i < t->segment_cnt; i++) {
		const struct rows_segment *g = &t->segments[i];
		uint64_t first = g->off_bytes & ~4095ULL;

		if (!vdso && (e->off_bytes < first || e->off_bytes >= g->off_bytes + g->size_bytes))
			continue;
		m->base = e->start - ((g->vaddr & ~4095ULL) + (e->off_bytes - (vdso ? 0 : first))) +
			  t->base_vaddr;
		return true;
	}
	return false;
}

static void point_to_file(struct space *space, struct rows_file *f, uint32_t file)
{
	if (f->last_space == space->number)
		return;
	f->last_space = space->number;
	space->files =
		xgrow(space->files, &space->file_cap, space->file_cnt + 1, sizeof(*space->files));
	space->files[space->file_cnt++] = file;
	f->space_cnt++;
}

/* Code of a file without room has no rows; the rest of the process keeps its own. */
static struct cp_mapping make_mapping(struct spaces *s, struct space *space, pid_t pid,
				      const struct maps_entry *e)
{
	struct cp_mapping m = { .start = e->start, .end = e->end };
	int64_t file = row_files__of(s->files, pid, e);
	struct rows_file *f = file < 0 ? NULL : row_files__at(s->files, (size_t)file);

	if (!f)
		return m;
	if (place_somehow(s, f))
		s->stats.no_room_cnt++;
	if (!f->placed || !set_base(&f->table, e, &m))
		return m;
	point_to_file(space, f, (uint32_t)file);
	m.row = f->row;
	m.row_cnt = f->table.row_cnt;
	m.block = f->block;
	m.block_cnt = f->table.block_cnt;
	return m;
}

/* The page of vsyscalls lies in the kernel's half, where find_mapping (bpf/rows.bpf.h) cannot compare; the kernel
 * answers them by itself, so that nothing ever runs there. */
static bool is_code(const struct maps_entry *e)
{
	return (e->perms & MAPS_EXEC) && !(e->start >> 63);
}

static uint32_t executable_cnt(const struct spaces *s, const struct maps *maps)
{
	uint32_t cnt = 0;

	for (size_t i = 0; i < maps->cnt && !s->without_rows; i++)
		cnt += is_code(&maps->entries[i]);
	return cnt;
}

/* Ended spaces are reclaimed many at a time, since each time costs the wait for the kernel. */
static bool take_mappings(struct spaces *s, uint32_t cnt, uint32_t *ret_first)
{
	if (s->mapping_slots.free_cnt < s->sizes.mapping_cnt / 4 &&
	    s->ended_mapping_cnt > s->sizes.mapping_cnt / 8)
		reclaim(s);
	if (slots_take(&s->mapping_slots, cnt, ret_first))
		return true;
	if (now_ns() - s->full_mappings_ns < PLACE_AGAIN_NS)
		return false;
	reclaim(s);
	if (slots_take(&s->mapping_slots, cnt, ret_first))
		return true;
	s->full_mappings_ns = now_ns();
	return false;
}

static void fill_space(struct spaces *s, struct space *space, pid_t pid, const struct maps *maps)
{
	struct cp_mapping *at = s->mappings + space->mapping;

	for (size_t i = 0; i < maps->cnt && space->mapping_cnt; i++)
		if (is_code(&maps->entries[i]))
			*at++ = make_mapping(s, space, pid, &maps->entries[i]);
}

int spaces__publish(struct spaces *s, uint32_t number, pid_t pid, const struct maps *maps,
		    struct symbolizer *sym, struct cp_range *ret, struct err *err)
{
	struct space space = { .number = number, .process_cnt = 1 };
	int rc = 0;

	space.mapping_cnt = executable_cnt(s, maps);
	if (!take_mappings(s, space.mapping_cnt, &space.mapping)) {
		space.mapping_cnt = 0;
		rc = err_set(err, -ENOSPC, "no room for the mappings of process %d", (int)pid);
	}
	fill_space(s, &space, pid, maps);
	s->list = xgrow(s->list, &s->cap, s->cnt + 1, sizeof(*s->list));
	index_add(&s->space_index, hash_u64(number), (uint32_t)s->cnt);
	s->list[s->cnt++] = space;
	symbolizer__add_process(sym, number, pid, maps, NULL);
	*ret = range_of(&space);
	ret->python = pythons__add(s->pythons, row_files__sandbox(s->files), number, pid, maps);
	s->stats.publish_cnt++;
	return rc;
}

bool spaces__view(const struct spaces *s, uint32_t number, struct spaces_view *ret)
{
	const struct space *space = find_space(s, number);

	if (!space)
		return false;
	*ret = (struct spaces_view){ .mappings = s->mappings + space->mapping,
				     .mapping_cnt = space->mapping_cnt,
				     .rows = s->rows,
				     .blocks = s->blocks };
	return true;
}

const struct python_layout *spaces__python(const struct spaces *s, uint32_t space)
{
	return pythons__layout(s->pythons, space);
}

struct spaces_stats spaces__stats(const struct spaces *s)
{
	struct spaces_stats stats = s->stats;

	stats.files = row_files__stats(s->files);
	stats.mapping_cnt = s->mapping_slots.cnt - s->mapping_slots.free_cnt;
	return stats;
}
