/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profile -> .cprof file. The same profile gives the same bytes (with the same libzstd).
 *
 * A capture that has more intervals than memory opens the file early and puts them as they come:
 *	writer__open, writer__put_intervals ..., writer__finish, writer__close
 * All others call writer__save. The file appears under its name only when it is whole. */
#ifndef CP_USER_STORE_WRITER_H
#define CP_USER_STORE_WRITER_H

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/outfile.h"
#include "user/model/profile.h"

struct writer;

int writer__save(const struct profile *p, const char *path, enum outfile_mode mode,
		 struct err *err);
/* The bytes of the file, appended to out. */
void writer__encode(const struct profile *p, struct buf *out);

int writer__open(const char *path, enum outfile_mode mode, struct writer **ret, struct err *err);
/* Their thread, stack and request numbers are those of the profile given to writer__finish. */
int writer__put_intervals(struct writer *w, const struct interval *intervals, size_t cnt,
			  struct err *err);
/* Writes all tables of p (its intervals come after those put before), completes the file, moves it into
 * place. */
int writer__finish(struct writer *w, const struct profile *p, struct err *err);
void writer__close(struct writer *w); /* NULL is fine; an unfinished file vanishes */

#endif
