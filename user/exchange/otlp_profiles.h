/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two halves of OTLP profiles. */
#ifndef CP_USER_EXCHANGE_OTLP_PROFILES_H
#define CP_USER_EXCHANGE_OTLP_PROFILES_H

#include "user/exchange/exchange.h"

int otlp_profiles_import(struct input *in, const struct import_options *opts, struct profile *p,
			 struct import_report *report, struct err *err);
int otlp_profiles_export(const struct profile *p, const struct export_options *opts,
			 struct export_sink *to, struct err *err);

#endif
