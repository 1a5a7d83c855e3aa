/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OTLP profiles in the table of formats. Nothing in the first bytes tells them from other OTLP messages for
 * sure, so that the name or the extension must. */
#include "user/exchange/otlp_profiles.h"

#include "user/exchange/formats.h"

const struct exchange_format format_otlp = {
	.name = "otlp",
	.extensions = ".otlp .otlp.pb",
	.summary = "OpenTelemetry profiles, protobuf",
	.import = otlp_profiles_import,
	.export = otlp_profiles_export,
};
