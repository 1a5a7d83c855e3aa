/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A JSON writer: commas and escapes are its business. Invalid UTF-8 becomes U+FFFD; numbers are exact for
 * integers and shortest-that-reads-back for doubles. */
#ifndef CP_USER_BASE_JSON_H
#define CP_USER_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "user/base/buf.h"

enum {
	JSON_DEPTH_MAX = 32
};

struct json {
	struct buf *out;
	int depth;
	bool has_items[JSON_DEPTH_MAX];
};

/* key is NULL inside arrays and for the outermost value. */
void json_init(struct json *j, struct buf *out);
void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_end_array(struct json *j);
void json_str(struct json *j, const char *key, const char *value); /* NULL value = null */
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_f64(struct json *j, const char *key, double value); /* NaN and infinities = null */
void json_bool(struct json *j, const char *key, bool value);

#endif
