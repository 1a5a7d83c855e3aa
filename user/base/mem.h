/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that cannot fail: out of memory ends the program (SIGABRT, one line on stderr).
 * Sizes that come from input must be bounded by the caller before they get here. */
#ifndef CP_USER_BASE_MEM_H
#define CP_USER_BASE_MEM_H

#include <stddef.h>

/* All results are owned by the caller and released with free(). xzalloc and xcalloc zero them. */
void *xmalloc(size_t size_bytes);
void *xzalloc(size_t size_bytes);
void *xcalloc(size_t cnt, size_t size_bytes);
void *xrealloc(void *p, size_t size_bytes);
void *xreallocarray(void *p, size_t cnt, size_t size_bytes);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len_bytes);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for at least need_cnt elements: grows *cap to at least 1.5 times its old value, so that n
 * appends cost O(n). Returns the (possibly moved) array; new elements are not initialised. */
void *xgrow(void *array, size_t *cap, size_t need_cnt, size_t elem_bytes);

#define ARRAY_CNT(a) (sizeof(a) / sizeof((a)[0]))

#endif
