/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libiberty does the work through its streaming interface, which keeps everything on the stack: so a name
 * whose readable form grows without end (substitutions that double) is left by longjmp at the limit. */
#include <setjmp.h>
#include <string.h>

/* libiberty's header declares its own basename() unless the C library's is announced */
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include "symbolize/demangle.h"
#include "user/base/mem.h"

struct output {
	struct buf *buf;
	size_t limit_bytes; /* length of buf at which to give up */
	jmp_buf too_long;
};

static void put(const char *text, size_t len_bytes, void *opaque)
{
	struct output *o = opaque;

	if (len_bytes > o->limit_bytes - o->buf->len_bytes)
		longjmp(o->too_long, 1);
	buf_append(o->buf, text, len_bytes);
}

bool demangle_is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Rust's older names look like those of C++, and end in "17h" and 16 hexadecimal digits. */
static bool may_be_rust(const char *name)
{
	return name[1] == 'R' || strstr(name, "17h");
}

static bool try_demangle(struct output *o, const char *name)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(o->too_long))
		return false;
	return (may_be_rust(name) && rust_demangle_callback(name, options, put, o)) ||
	       (name[1] == 'Z' && cplus_demangle_v3_callback(name, options, put, o));
}

static bool is_number(const char *s, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return len_bytes > 0;
}

static bool is_clone_word(const char *word, size_t len_bytes)
{
	static const char *const words[] = { ".isra", ".part", ".constprop",
					     ".cold", ".llvm", ".lto_priv" };

	for (size_t i = 0; i < ARRAY_CNT(words); i++)
		if (strlen(words[i]) == len_bytes && !memcmp(words[i], word, len_bytes))
			return true;
	return false;
}

/* The length of name[0..len) without its last suffix, or len. */
static size_t without_suffix(const char *name, size_t len_bytes)
{
	const char *end = name + len_bytes;
	const char *dot = memrchr(name, '.', len_bytes), *word;

	if (!dot || dot == name)
		return len_bytes;
	if (!is_number(dot + 1, (size_t)(end - dot - 1)))
		return end - dot == 5 && !memcmp(dot, ".cold", 5) ? (size_t)(dot - name) :
								    len_bytes;
	word = memrchr(name, '.', (size_t)(dot - name));
	if (word && word > name && is_clone_word(word, (size_t)(dot - word)))
		return (size_t)(word - name);
	return len_bytes;
}

size_t demangle_stem_bytes(const char *name)
{
	size_t len_bytes = strlen(name), shorter;

	while ((shorter = without_suffix(name, len_bytes)) < len_bytes)
		len_bytes = shorter;
	return len_bytes;
}

void demangle(struct buf *out, const char *name, bool strip_suffixes)
{
	size_t start = out->len_bytes, len_bytes = strlen(name);
	struct output o = { .buf = out, .limit_bytes = start + DEMANGLE_OUTPUT_MAX_BYTES };

	if (strip_suffixes)
		len_bytes = demangle_stem_bytes(name);
	if (demangle_is_mangled(name) && len_bytes <= DEMANGLE_INPUT_MAX_BYTES) {
		char copy[DEMANGLE_INPUT_MAX_BYTES + 1];

		memcpy(copy, name, len_bytes);
		copy[len_bytes] = '\0';
		if (try_demangle(&o, copy))
			return;
	}
	out->len_bytes = start;
	buf_append(out, name, len_bytes);
}
