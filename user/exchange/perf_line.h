/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of "perf script": headers of samples and frames. All pointers are into the line. */
#ifndef CP_USER_EXCHANGE_PERF_LINE_H
#define CP_USER_EXCHANGE_PERF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"

struct perf_header {
	const char *comm;
	size_t comm_bytes;
	int64_t pid, tid; /* pid = tid where only one is printed */
	bool has_time, has_period;
	uint64_t period;
	const char *event; /* without the last colon; event_bytes 0 = none */
	size_t event_bytes;
	const char *rest; /* a frame that stands on the same line */
	size_t rest_bytes;
};

struct perf_frame {
	const char *name; /* without the offset */
	size_t name_bytes;
	const char *module; /* last part of the path */
	size_t module_bytes;
	int kind; /* enum frame_kind */
	bool is_inlined;
	bool is_process_name; /* "(java)": old versions of perf print it as a frame */
};

bool perf_parse_header(const char *line, size_t len_bytes, struct perf_header *ret);
bool perf_parse_frame(const char *line, size_t len_bytes, struct perf_frame *ret);

/* The length of an event's name without its modifiers: "cycles:u" is "cycles". */
size_t perf_event_base_bytes(const char *event, size_t event_bytes);

/* What the frame is called: "[unknown]" becomes the module's name in brackets where that is known; tidy
 * drops an argument list at the end, quotes, Rust's hash and escapes, the L and ; of Java descriptors. */
void perf_frame_name(const struct perf_frame *f, const char *name, size_t name_bytes, bool tidy,
		     struct buf *out);

#endif
