/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps: entries come out sorted, disjoint and with paths that end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	struct maps m;

	maps_parse(&m, (const char *)data, len_bytes);
	for (size_t i = 0; i < m.cnt; i++) {
		const struct maps_entry *e = &m.entries[i];

		if (e->start >= e->end || (i && e->start < m.entries[i - 1].end) ||
		    strlen(e->path) > len_bytes || maps_find(&m, e->start) != e ||
		    maps_find(&m, e->end - 1) != e)
			abort();
	}
	maps_free(&m);
	return 0;
}
