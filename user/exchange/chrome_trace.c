/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Trace Event format in the table of formats. */
#include "user/exchange/chrome_trace.h"

#include <string.h>

#include "user/exchange/formats.h"

static bool sniff_chrome(const char *head, size_t len_bytes)
{
	const char *s = head, *end = head + len_bytes;

	while (s < end && strchr(" \t\r\n", *s))
		s++;
	if (s == end || (*s != '{' && *s != '['))
		return false;
	return memmem(head, len_bytes, "\"traceEvents\"", 13) ||
	       (*s == '[' && memmem(head, len_bytes, "\"ph\"", 4));
}

const struct exchange_format format_chrome = {
	.name = "chrome",
	.extensions = ".trace.json .perfetto.json",
	.summary = "Trace Event JSON of Chrome and Perfetto, for time lines",
	.sniff = sniff_chrome,
	.import = chrome_trace_import,
	.export = chrome_trace_export,
};
