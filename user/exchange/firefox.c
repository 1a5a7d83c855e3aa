/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Firefox Profiler's format in the table of formats. */
#include "user/exchange/firefox.h"

#include <string.h>

#include "user/exchange/formats.h"

static bool sniff_firefox(const char *head, size_t len_bytes)
{
	return memmem(head, len_bytes, "\"preprocessedProfileVersion\"", 28) ||
	       (memmem(head, len_bytes, "\"meta\"", 6) &&
		memmem(head, len_bytes, "\"stackwalk\"", 11));
}

const struct exchange_format format_firefox = {
	.name = "firefox",
	.extensions = ".firefox.json .profile.json",
	.summary = "the Firefox Profiler's processed JSON, also of samply",
	.sniff = sniff_firefox,
	.import = firefox_import,
	.export = firefox_export,
};
