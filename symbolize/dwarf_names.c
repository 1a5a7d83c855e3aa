/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"
#include "symbolize/dwarf_names.h"
#include "symbolize/dwarf_unit.h"
#include "user/base/mem.h"

#define UNITS_MAX ((size_t)1 << 20)

struct dwarf_names {
	struct dwarf_opts opts;
	Elf *elf, *alt_elf;
	Dwarf *dwarf, *alt;
	struct dwarf_unit *units;
	size_t unit_cnt, unit_cap;
	struct ranges unit_ranges; /* id = index of the unit */
	size_t missing_cnt;
	struct sym_frame *frames; /* of the last answer */
	size_t frame_cap;
};

static void add_unit(struct dwarf_names *d, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;
	size_t before = d->unit_ranges.cnt;

	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0)
		ranges_add(&d->unit_ranges, start, end, (uint32_t)d->unit_cnt, 0);
	if (d->unit_ranges.cnt == before)
		return;
	d->units = xgrow(d->units, &d->unit_cap, d->unit_cnt + 1, sizeof(*d->units));
	d->units[d->unit_cnt++] = (struct dwarf_unit){ .die = *die };
}

static void read_units(struct dwarf_names *d)
{
	Dwarf_CU *at = NULL, *next;
	Dwarf_Die die;

	/* asking for the split unit here would open every .dwo file */
	while (d->unit_cnt < UNITS_MAX &&
	       !dwarf_get_units(d->dwarf, at, &next, NULL, NULL, &die, NULL)) {
		add_unit(d, &die);
		at = next;
	}
	ranges_sort(&d->unit_ranges);
	ranges_flatten(&d->unit_ranges);
	ranges_index(&d->unit_ranges);
}

struct dwarf_names *dwarf_names__open(int fd, int alt_fd, const struct dwarf_opts *opts)
{
	struct dwarf_names *d = xzalloc(sizeof(*d));

	elf_version(EV_CURRENT);
	d->opts = *opts;
	d->elf = elf_begin(fd, ELF_C_READ, NULL);
	d->dwarf = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
	if (!d->dwarf) {
		dwarf_names__close(d);
		return NULL;
	}
	if (alt_fd >= 0) {
		d->alt_elf = elf_begin(alt_fd, ELF_C_READ, NULL);
		d->alt = d->alt_elf ? dwarf_begin_elf(d->alt_elf, DWARF_C_READ, NULL) : NULL;
		if (d->alt)
			dwarf_setalt(d->dwarf, d->alt);
	}
	read_units(d);
	return d;
}

void dwarf_names__close(struct dwarf_names *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->unit_cnt; i++)
		dwarf_unit_fini(&d->units[i]);
	free(d->units);
	free(d->frames);
	ranges_free(&d->unit_ranges);
	dwarf_end(d->dwarf);
	dwarf_end(d->alt);
	elf_end(d->elf);
	elf_end(d->alt_elf);
	free(d);
}

static const char *keep(struct dwarf_names *d, const char *s)
{
	return strtab_get(d->opts.strings, strtab_add(d->opts.strings, s ? s : ""));
}

static const char *readable(struct dwarf_names *d, const char *name)
{
	struct buf text = { 0 };
	const char *kept;

	if (d->opts.no_demangle)
		return keep(d, name);
	demangle(&text, name, !d->opts.keep_suffixes);
	kept = keep(d, buf_str(&text));
	buf_free(&text);
	return kept;
}

/* The linker's name says more (namespaces, parameters); it may hang at the abstract instance. */
static const char *function_name(struct dwarf_names *d, struct dwarf_function *f)
{
	Dwarf_Attribute a;
	const char *name;

	if (f->name)
		return f->name;
	name = dwarf_attr_integrate(&f->die, DW_AT_linkage_name, &a) ||
			       dwarf_attr_integrate(&f->die, DW_AT_MIPS_linkage_name, &a) ||
			       dwarf_attr_integrate(&f->die, DW_AT_name, &a) ?
		       dwarf_formstring(&a) :
		       NULL;
	f->name = name ? readable(d, name) : "";
	return f->name;
}

static const char *comp_dir(struct dwarf_unit *u)
{
	Dwarf_Attribute a;

	if (!u->comp_dir && dwarf_attr(&u->die, DW_AT_comp_dir, &a))
		u->comp_dir = dwarf_formstring(&a);
	if (!u->comp_dir)
		u->comp_dir = "";
	return u->comp_dir;
}

/* Relative names start at the folder in which the compiler ran. */
static const char *source_file(struct dwarf_names *d, struct dwarf_unit *u, const char *raw)
{
	struct buf text = { 0 };

	if (!raw)
		return "";
	if (raw == u->last_raw)
		return u->last_file;
	if (*raw != '/' && *comp_dir(u))
		buf_printf(&text, "%s/", comp_dir(u));
	buf_puts(&text, raw);
	u->last_raw = raw;
	u->last_file = keep(d, buf_str(&text));
	buf_free(&text);
	return u->last_file;
}

static const char *file_of_call(struct dwarf_names *d, struct dwarf_unit *u, uint32_t file)
{
	Dwarf_Files *files;
	size_t cnt;

	if (dwarf_getsrcfiles(&u->code, &files, &cnt) || file >= cnt)
		return "";
	return source_file(d, u, dwarf_filesrc(files, file, NULL, NULL));
}

static struct sym_frame *push(struct dwarf_names *d, size_t cnt)
{
	d->frames = xgrow(d->frames, &d->frame_cap, cnt + 1, sizeof(*d->frames));
	return &d->frames[cnt];
}

/* The place of the address itself, from the line table. */
static void set_line(struct dwarf_names *d, struct dwarf_unit *u, uint64_t addr,
		     struct sym_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->die, addr);
	int number = 0;

	if (!line)
		return;
	dwarf_lineno(line, &number);
	f->line = number > 0 ? (uint32_t)number : 0;
	f->file = source_file(d, u, dwarf_linesrc(line, NULL, NULL));
}

size_t dwarf_names__find(struct dwarf_names *d, uint64_t addr, struct sym_frame **ret)
{
	const struct range *r = ranges_find(&d->unit_ranges, addr);
	struct dwarf_unit *u = r ? &d->units[r->id] : NULL;
	struct sym_frame place = { .name = "", .file = "" };
	size_t cnt = 0;

	if (!u)
		return 0;
	if (!u->loaded) {
		dwarf_unit_load(u);
		d->missing_cnt += u->split_missing;
	}
	set_line(d, u, addr, &place);
	r = ranges_find(&u->ranges, addr);
	for (uint32_t at = r ? r->id : UINT32_MAX; at != UINT32_MAX;) {
		struct dwarf_function *f = &u->functions[at];

		place.name = function_name(d, f);
		place.inlined = f->inlined && f->parent != UINT32_MAX;
		if (*place.name || !place.inlined)
			*push(d, cnt++) = place;
		place.line = f->call_line;
		place.file = f->inlined ? file_of_call(d, u, f->call_file) : "";
		at = f->parent;
	}
	if (!cnt && place.line)
		*push(d, cnt++) = place; /* a line, but no function */
	*ret = d->frames;
	return cnt;
}

void dwarf_names__count(const struct dwarf_names *d, size_t *unit_cnt, size_t *missing_cnt)
{
	*unit_cnt = d->unit_cnt;
	*missing_cnt = d->missing_cnt;
}
