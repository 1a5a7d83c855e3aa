/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding and checking the separate debug file of a module: candidates are opened below the target's root
 * and then below ours, and taken only if their build-id (or, where there is none, the CRC of the debuglink)
 * says that they belong to the module. */
#ifndef CP_SYMBOLIZE_DEBUGFILE_H
#define CP_SYMBOLIZE_DEBUGFILE_H

#include "symbolize/module.h"

/* Fills m->debug_fd and m->debug, or leaves them; appends what was tried to m->trail. */
void debugfile_find(struct module *m, const struct module_env *env);
/* The file that dwz moved shared debug data of e to: a descriptor owned by the caller, or -1. */
int debugfile_find_alt(struct module *m, const struct module_env *env, const struct elf *e);

#endif
