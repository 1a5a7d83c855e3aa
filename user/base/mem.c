/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that cannot fail. The only place in the libraries that may end the program. */
#include "user/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *must(void *p, size_t size_bytes)
{
	static const char msg[] =
		"causeprof: out of memory: watch less, read a smaller file, or raise the limit\n";

	if (p || !size_bytes)
		return p;
	(void)!write(STDERR_FILENO, msg, sizeof(msg) - 1);
	abort();
}

void *xmalloc(size_t size_bytes)
{
	return must(malloc(size_bytes ? size_bytes : 1), 1);
}

void *xzalloc(size_t size_bytes)
{
	return xcalloc(1, size_bytes);
}

void *xcalloc(size_t cnt, size_t size_bytes)
{
	return must(calloc(cnt ? cnt : 1, size_bytes ? size_bytes : 1), 1);
}

void *xrealloc(void *p, size_t size_bytes)
{
	return must(realloc(p, size_bytes ? size_bytes : 1), 1);
}

void *xreallocarray(void *p, size_t cnt, size_t size_bytes)
{
	size_t total_bytes;

	if (__builtin_mul_overflow(cnt, size_bytes, &total_bytes))
		return must(NULL, 1);
	return xrealloc(p, total_bytes);
}

char *xstrndup(const char *s, size_t len_bytes)
{
	char *copy = xmalloc(len_bytes + 1);

	memcpy(copy, s, len_bytes);
	copy[len_bytes] = '\0';
	return copy;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;
	int len_bytes;

	va_start(ap, fmt);
	len_bytes = vasprintf(&s, fmt, ap);
	va_end(ap);
	return must(len_bytes < 0 ? NULL : s, 1);
}

void *xgrow(void *array, size_t *cap, size_t need_cnt, size_t elem_bytes)
{
	size_t new_cap = *cap + *cap / 2;

	if (need_cnt <= *cap)
		return array;
	if (new_cap < need_cnt)
		new_cap = need_cnt;
	if (new_cap < 16)
		new_cap = 16;
	*cap = new_cap;
	return xreallocarray(array, new_cap, elem_bytes);
}
