/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two halves of the Trace Event format. */
#ifndef CP_USER_EXCHANGE_CHROME_TRACE_H
#define CP_USER_EXCHANGE_CHROME_TRACE_H

#include "user/exchange/exchange.h"

int chrome_trace_import(struct input *in, const struct import_options *opts, struct profile *p,
			struct import_report *report, struct err *err);
int chrome_trace_export(const struct profile *p, const struct export_options *opts,
			struct export_sink *to, struct err *err);

#endif
