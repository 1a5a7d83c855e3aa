/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libunwind over a remote address space; see unwind.h and libunwind-dynamic(3).
 *
 * libunwind asks for procedure information by address; the answer is the search table of .eh_frame_hdr in
 * the target's memory, from which it reads on by itself through access_mem. Where there is no information
 * libunwind would guess by rbp; it is not let. */
#include "symbolize/unwind.h"

#include <errno.h>
#include <libunwind.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

/* Part of libunwind's library, not of its headers; perf, too, depends on it. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
				       unw_proc_info_t *pi, int need_unwind_info, void *arg);

struct libunwind {
	const struct walk_space *space;
	const struct walk_regs *regs;
	unw_addr_space_t as;
	enum walk_stop failed; /* why the last step cannot have been right */
};

static const struct walk_mapping *find_mapping(const struct walk_space *s, uint64_t addr)
{
	for (size_t i = 0; i < s->mapping_cnt; i++)
		if (addr >= s->mappings[i].start && addr < s->mappings[i].end)
			return &s->mappings[i];
	return NULL;
}

static int read_word(struct libunwind *u, uint64_t addr, uint64_t *word)
{
	if (u->failed) /* what it reads now would serve a guess */
		return -UNW_EINVAL;
	if (!u->space->read(u->space->ctx, addr, word))
		return 0;
	u->failed = WALK_UNREADABLE;
	return -UNW_EINVAL;
}

/* .eh_frame_hdr: version, encodings (all 4 bytes, relative to their place or the header), the address of
 * .eh_frame, the number of entries, the entries: pairs of 4-byte numbers. */
static int describe_table(struct libunwind *u, const struct walk_mapping *m, unw_dyn_info_t *di)
{
	uint64_t hdr = m->bias + m->table->eh_frame_hdr_vaddr, words[2];
	uint8_t bytes[16];

	if (!m->table->eh_frame_hdr_vaddr)
		return -UNW_ENOINFO;
	if (read_word(u, hdr, &words[0]) || read_word(u, hdr + 8, &words[1]))
		return -UNW_EINVAL;
	memcpy(bytes, words, sizeof(bytes));
	if (memcmp(bytes, "\x01\x1b\x03\x3b", 4) != 0)
		return -UNW_ENOINFO;
	*di = (unw_dyn_info_t){ .format = UNW_INFO_FORMAT_REMOTE_TABLE,
				.start_ip = m->start,
				.end_ip = m->end };
	di->u.rti.segbase = hdr;
	di->u.rti.table_data = hdr + 12;
	di->u.rti.table_len = (uint32_t)words[1] * 8ULL / sizeof(unw_word_t);
	return 0;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi,
			  int need_unwind_info, void *arg)
{
	struct libunwind *u = arg;
	const struct walk_mapping *m = find_mapping(u->space, ip);
	unw_dyn_info_t di;
	int rc;

	rc = m && m->table ? describe_table(u, m, &di) : -UNW_ENOINFO;
	if (!rc)
		rc = UNW_OBJ(dwarf_search_unwind_table)(as, ip, &di, pi, need_unwind_info, arg);
	if (rc && !u->failed)
		u->failed = m ? WALK_NO_ROW : WALK_NO_MAPPING;
	return rc;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	(void)as;
	(void)addr;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *word, int is_write,
		      void *arg)
{
	uint64_t v;
	int rc;

	(void)as;
	if (is_write)
		return -UNW_EINVAL;
	rc = read_word(arg, addr, &v);
	if (!rc)
		*word = v;
	return rc;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *word, int is_write,
		      void *arg)
{
	const struct libunwind *u = arg;

	(void)as;
	if (is_write)
		return -UNW_EREADONLYREG;
	if (reg < 0 || reg >= WALK_REG_CNT)
		return -UNW_EBADREG;
	*word = u->regs->r[reg]; /* libunwind numbers them as DWARF does */
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int is_write,
			void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)is_write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t addr, char *name, size_t cap_bytes,
			 unw_word_t *off, void *arg)
{
	(void)as;
	(void)addr;
	(void)name;
	(void)cap_bytes;
	(void)off;
	(void)arg;
	return -UNW_ENOINFO;
}

static int libunwind_open(const struct walk_space *space, void **state, struct err *err)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct libunwind *u = xzalloc(sizeof(*u));

	u->space = space;
	u->as = unw_create_addr_space(&accessors, 0);
	if (!u->as) {
		free(u);
		return err_set(err, -ENOMEM, "libunwind gives no address space");
	}
	unw_set_caching_policy(u->as, UNW_CACHE_GLOBAL);
	*state = u;
	return 0;
}

static void libunwind_walk(void *state, const struct walk_regs *regs, struct walk_stack *ret)
{
	struct libunwind *u = state;
	bool is_exact = true;
	unw_cursor_t cursor;
	int rc;

	*ret = (struct walk_stack){ .stop = WALK_DEPTH };
	u->regs = regs;
	u->failed = WALK_NONE;
	if (unw_init_remote(&cursor, u->as, u)) {
		ret->stop = WALK_UNSUPPORTED;
		return;
	}
	while (ret->frame_cnt < WALK_FRAME_MAX) {
		struct walk_frame *f = &ret->frames[ret->frame_cnt++];
		unw_word_t ip;

		if (unw_get_reg(&cursor, UNW_REG_IP, &ip))
			ip = 0;
		*f = (struct walk_frame){ .addr = ip, .flags = is_exact ? WALK_EXACT_PC : 0 };
		is_exact = unw_is_signal_frame(&cursor) > 0;
		if (is_exact)
			f->flags |= WALK_SIGNAL;
		rc = unw_step(&cursor);
		if (rc <= 0 || u->failed) {
			ret->stop = u->failed ? u->failed : rc ? WALK_UNSUPPORTED : WALK_ROOT;
			return;
		}
	}
}

static void libunwind_close(void *state)
{
	struct libunwind *u = state;

	if (!u)
		return;
	unw_destroy_addr_space(u->as);
	free(u);
}

const struct unwinder unwinder_libunwind = {
	.name = "libunwind",
	.open = libunwind_open,
	.walk = libunwind_walk,
	.close = libunwind_close,
};
