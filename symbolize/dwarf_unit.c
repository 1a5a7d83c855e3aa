/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/dwarf_unit.h"
#include "user/base/mem.h"

/* An entry whose children are being walked. */
struct level {
	Dwarf_Die die;
	uint32_t function; /* the innermost one around it */
};

struct walk {
	struct dwarf_unit *unit;
	struct level levels[DWARF_UNIT_DEPTH_MAX];
	int depth;
};

static uint32_t number(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!dwarf_attr(die, attribute, &a) || dwarf_formudata(&a, &v) || v > UINT32_MAX)
		return 0;
	return (uint32_t)v;
}

static uint32_t add_function(struct walk *w, Dwarf_Die *die, uint32_t parent, bool inlined)
{
	struct dwarf_unit *u = w->unit;
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;
	size_t before = u->ranges.cnt;

	if (u->cnt >= DWARF_UNIT_FUNCTIONS_MAX)
		return parent;
	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0)
		ranges_add(&u->ranges, start, end, (uint32_t)u->cnt, (uint32_t)w->depth);
	if (u->ranges.cnt == before)
		return parent;
	u->functions = xgrow(u->functions, &u->cap, u->cnt + 1, sizeof(*u->functions));
	u->functions[u->cnt] = (struct dwarf_function){
		.die = *die,
		.parent = inlined ? parent : UINT32_MAX,
		.call_line = inlined ? number(die, DW_AT_call_line) : 0,
		.call_file = inlined ? number(die, DW_AT_call_file) : 0,
		.inlined = inlined,
	};
	return (uint32_t)u->cnt++;
}

/* Whether code can hang below an entry. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* Handles one entry and goes down to its children; true if there are any worth a walk. */
static bool enter(struct walk *w, Dwarf_Die *die, uint32_t function, Dwarf_Die *child)
{
	int tag = dwarf_tag(die);

	if (!may_hold_code(tag))
		return false;
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
		function = add_function(w, die, function, tag == DW_TAG_inlined_subroutine);
	if (w->depth >= DWARF_UNIT_DEPTH_MAX || dwarf_child(die, child))
		return false;
	w->levels[w->depth++] = (struct level){ *die, function };
	return true;
}

/* Depth first, with an own stack: hostile files nest deeply. */
static void walk_unit(struct walk *w, Dwarf_Die *root)
{
	Dwarf_Die at, next;

	if (dwarf_child(root, &at))
		return;
	w->levels[w->depth++] = (struct level){ *root, UINT32_MAX };
	while (w->depth) {
		if (enter(w, &at, w->levels[w->depth - 1].function, &next)) {
			at = next;
			continue;
		}
		while (w->depth && dwarf_siblingof(&at, &next)) {
			at = w->levels[--w->depth].die;
			if (!w->depth)
				return;
		}
		at = next;
	}
}

void dwarf_unit_load(struct dwarf_unit *u)
{
	struct walk *w;
	Dwarf_Die skeleton, split = { 0 };
	uint8_t type = 0;

	if (u->loaded)
		return;
	u->loaded = true;
	u->code = u->die;
	if (!dwarf_cu_info(u->die.cu, NULL, &type, &skeleton, &split, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton) {
		u->split_missing = !split.addr;
		if (split.addr)
			u->code = split;
	}
	w = xzalloc(sizeof(*w));
	w->unit = u;
	walk_unit(w, &u->code);
	free(w);
	ranges_sort(&u->ranges);
	ranges_flatten(&u->ranges);
	ranges_index(&u->ranges);
}

void dwarf_unit_fini(struct dwarf_unit *u)
{
	free(u->functions);
	ranges_free(&u->ranges);
	memset(u, 0, sizeof(*u));
}
