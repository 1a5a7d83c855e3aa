/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof's two halves. */
#ifndef CP_USER_EXCHANGE_PPROF_H
#define CP_USER_EXCHANGE_PPROF_H

#include "user/exchange/exchange.h"

int pprof_import(struct input *in, const struct import_options *opts, struct profile *p,
		 struct import_report *report, struct err *err);
int pprof_export(const struct profile *p, const struct export_options *opts, struct export_sink *to,
		 struct err *err);

#endif
