/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From mappings to regions with open files. */
#ifndef CP_SYMBOLIZE_MAPPING_H
#define CP_SYMBOLIZE_MAPPING_H

#include "symbolize/addrspace.h"
#include "symbolize/catalog.h"

/* Opens the files behind a's executable mappings. Anonymous code that takes the place of a part of a file
 * (programs that copy their text to huge pages) keeps that file: the neighbouring mapping's load bias puts
 * it inside of an executable segment. O(n log n). */
void mapping_open_all(struct addrspace *a, const struct maps *maps, struct catalog *c,
		      struct strtab *names);
/* The same from a profile: a file is taken by its path if its build-id is the one recorded. */
void mapping_open_stored(struct addrspace *a, const struct sym_mapping *maps, size_t cnt,
			 struct catalog *c, struct strtab *names);

#endif
