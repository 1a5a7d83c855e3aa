/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as lossless text: one record a line, for people who want to look, and for tests written by
 * hand. Loading what was dumped gives a profile whose .cprof file has the same bytes.
 *
 *	causeprof-text 1
 *	string "main"				(optional: strings are numbered as they first occur)
 *	header window_end_ns=100000000 unit="ns"
 *	process 1 pid=10 comm="server"		(the number is optional; it must be the next one)
 *	frame 1 name="main"
 *	stack 1 frame=1
 *	sum stack=1 process=1 kind=sleep ns=5000 cnt=2
 *	sum stack="main;read;vfs_read_[k]" process=1 kind=sleep ns=70 cnt=1
 *
 * Fields that are 0 are left out. A stack given as a string is made of frames with these names, root
 * first; _[k], _[j], _[p], _[i] make them kernel, JIT, Python, inlined frames, brackets around a name a mark.
 * "#" starts a comment line. */
#ifndef CP_USER_STORE_TEXT_H
#define CP_USER_STORE_TEXT_H

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/input.h"
#include "user/model/profile.h"

void text__dump(const struct profile *p, struct buf *out);
/* *ret is owned by the caller. Errors name the line. */
int text__load(struct input *in, struct profile **ret, struct err *err);

#endif
