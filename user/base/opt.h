/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line options as data. A verb has one const table; parsing, --help, completion and the man page
 * come from it. Values land in the verb's own struct, at the offset that the table gives.
 *
 * Understood: --name value, --name=value, --flag, -x value, -xvalue, clustered flags (-df), "--" (the
 * rest is operands). Names are written out: no prefix matching. */
#ifndef CP_USER_BASE_OPT_H
#define CP_USER_BASE_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/err.h"

enum opt_type {
	OPT_FLAG,	  /* bool: set to true; --no-NAME sets it to false */
	OPT_STRING,	  /* const char *: borrowed from argv */
	OPT_LIST,	  /* struct opt_list: may be given several times */
	OPT_U64,	  /* uint64_t, within min..max where max > 0 */
	OPT_F64,	  /* double, within min..max where max > min */
	OPT_SECONDS,	  /* uint64_t ns; a bare number is seconds */
	OPT_MICROSECONDS, /* uint64_t ns; a bare number is microseconds, as in bcc */
	OPT_SIZE,	  /* uint64_t bytes; K, M, G are powers of 1024 */
	OPT_CHOICE,	  /* int: index of the word in the NULL-terminated list choices */
};

struct opt {
	const char *name; /* without dashes; NULL ends the table */
	char letter;	  /* 0 = none */
	enum opt_type type;
	size_t off_bytes; /* offsetof the value in the verb's struct */
	const char *arg;  /* what the value is called in the help, e.g. "PID"; NULL for flags */
	const char *help; /* one sentence, no full stop */
	double min, max;
	const char *const *choices;
	/* of OPT_STRING and OPT_LIST: whether a text is one that can be used, by whoever uses it later; NULL: any is. So what
	 * is wrong with a command line is said before anything is done. */
	int (*check)(const char *text, struct err *err);
};

struct opt_list {
	const char **items; /* borrowed from argv */
	size_t cnt;
	size_t cap;
};

struct opt_operands {
	char **argv; /* borrowed; points into the caller's argv, which is permuted */
	int argc;
	int after_dashes; /* index of the first operand that stood behind "--", or argc */
};

/* Parses argv[1..argc-1] into *values. Returns 0, or -EINVAL with a message that names the option. */
int opt_parse(const struct opt *table, int argc, char **argv, void *values,
	      struct opt_operands *operands, struct err *err);
void opt_list_free(struct opt_list *list);

/* The option part of --help: one entry an option, wrapped to 80 columns. */
void opt_help(const struct opt *table, struct buf *out);

#endif
