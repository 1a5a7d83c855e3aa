/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Python interpreters of watched processes: which address spaces have one, and where it keeps what the kernel's
 * walker and the reader of names want. Files are looked at once, in the sandbox, whoever maps them. */
#ifndef CP_USER_CAPTURE_PYTHONS_H
#define CP_USER_CAPTURE_PYTHONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolize/maps.h"
#include "symbolize/python_layout.h"

struct pythons;

struct pythons *pythons__new(void);    /* owned by the caller */
void pythons__free(struct pythons *p); /* NULL is fine */

/* Looks for an interpreter among the mappings of pid, which are those of address space number space. Costs nothing
 * but a look at the names of files where there is none. sandbox may be NULL: nothing is found. */
bool pythons__add(struct pythons *p, struct sandbox *sandbox, uint32_t space, pid_t pid,
		  const struct maps *maps);
/* With the addresses of that space; borrowed until the next pythons__add; NULL: there is none. */
const struct python_layout *pythons__layout(const struct pythons *p, uint32_t space);

#endif
