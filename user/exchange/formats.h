/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of the table in exchange.c; each is defined in the file of its name. */
#ifndef CP_USER_EXCHANGE_FORMATS_H
#define CP_USER_EXCHANGE_FORMATS_H

#include "user/exchange/exchange.h"

extern const struct exchange_format format_folded, format_perf_script, format_speedscope,
	format_pprof, format_otlp, format_bpftrace, format_bcc, format_chrome, format_firefox;

#endif
