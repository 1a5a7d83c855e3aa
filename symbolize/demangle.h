/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the linker's names to the programmer's: Itanium C++ ABI, Rust (legacy and v0). D, Go and others keep
 * their names. */
#ifndef CP_SYMBOLIZE_DEMANGLE_H
#define CP_SYMBOLIZE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/buf.h"

enum {
	DEMANGLE_INPUT_MAX_BYTES = 4 << 10,   /* longer names stay as they are */
	DEMANGLE_OUTPUT_MAX_BYTES = 16 << 10, /* names that grow beyond stay as they are */
};

/* Appends the readable form of a name, or the name itself if it is not mangled, or not within the limits.
 * Compilers' suffixes (".isra.0", ".cold") after a mangled name become " [clone .isra.0]", as binutils
 * prints them, or vanish if strip_suffixes. Time and memory are bounded. */
void demangle(struct buf *out, const char *name, bool strip_suffixes);

/* Whether it looks like a mangled name; others need no parser. */
bool demangle_is_mangled(const char *name);
/* The length of a name without the suffixes that compilers give to clones: .isra.N .part.N .constprop.N
 * .cold .cold.N .llvm.N .lto_priv.N, in any order and number. */
size_t demangle_stem_bytes(const char *name);

#endif
