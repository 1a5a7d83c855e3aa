/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof in the table of formats. */
#include "user/exchange/pprof.h"

#include "user/exchange/formats.h"

struct cursor {
	const unsigned char *at, *end;
};

static bool take_varint(struct cursor *c, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
		unsigned char byte = *c->at++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool is_value_type(const struct cursor *c, uint64_t len_bytes)
{
	return len_bytes <= 24 && (uint64_t)(c->end - c->at) > len_bytes && len_bytes > 0 &&
	       (*c->at == 0x08 || *c->at == 0x10);
}

/* The fields in any order: known numbers with the wire types that they have, and a sample type (a short
 * message of two small numbers) among those that are seen. */
static bool sniff_pprof(const char *head, size_t len_bytes)
{
	static const char wire_types[] =
		"-222222000020200"; /* by field number: 0 varint, 2 bytes */
	struct cursor c = { (const unsigned char *)head, (const unsigned char *)head + len_bytes };
	bool has_type = false;

	while (c.at < c.end) {
		uint64_t tag, value;

		if (!take_varint(&c, &tag))
			return has_type;
		if (tag >> 3 == 0 || tag >> 3 >= sizeof(wire_types) - 1 ||
		    (wire_types[tag >> 3] - '0' != (int)(tag & 7) && tag >> 3 != 13))
			return false;
		if (!take_varint(&c, &value))
			return has_type;
		has_type = has_type || (tag >> 3 == 1 && is_value_type(&c, value));
		if ((tag & 7) == 2)
			c.at = value > (uint64_t)(c.end - c.at) ? c.end : c.at + value;
	}
	return has_type;
}

const struct exchange_format format_pprof = {
	.name = "pprof",
	.extensions = ".pb.gz .pb .pprof .prof",
	.summary = "pprof's compressed protobuf",
	.sniff = sniff_pprof,
	.import = pprof_import,
	.export = pprof_export,
};
