/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors as values; see err.h. */
#include "user/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->code)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

int err_errno(struct err *err, const char *fmt, ...)
{
	int code = errno ? -errno : -EIO;
	size_t len_bytes;
	va_list ap;

	if (!err || err->code)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len_bytes = strlen(err->msg);
	snprintf(err->msg + len_bytes, sizeof(err->msg) - len_bytes, ": %s", strerror(-code));
	return code;
}

void err_prefix(struct err *err, const char *fmt, ...)
{
	char old[ERR_MSG_MAX_BYTES];
	size_t len_bytes;
	va_list ap;

	if (!err || !err->code)
		return;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len_bytes = strlen(err->msg);
	snprintf(err->msg + len_bytes, sizeof(err->msg) - len_bytes, ": %.*s",
		 (int)(sizeof(old) - 1), old);
}
