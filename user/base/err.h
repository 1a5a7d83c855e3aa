/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of the outside world: one clear line for a human, filled by the lowest function that knows the
 * names of things, printed once by user/cmd. Functions return 0 (or a count) or a negative errno. */
#ifndef CP_USER_BASE_ERR_H
#define CP_USER_BASE_ERR_H

#define ERR_MSG_MAX_BYTES 1024

struct err {
	int code;		     /* 0, or the negative errno returned with the message */
	char msg[ERR_MSG_MAX_BYTES]; /* no newline at the end; cut at the limit */
};

/* Each fills *err (which may be NULL) unless it already holds a message, and returns the code, so that
 * a failing call reads: return err_set(err, -EINVAL, "..."). code must be negative. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Appends ": strerror(errno)" and returns -errno. */
int err_errno(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts text (and ": ") in front of a message that is already there, to name the file it is about. */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
