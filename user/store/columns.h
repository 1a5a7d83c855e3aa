/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records as columns of bytes, the form in which a section is compressed. A column of n values of w bytes
 * is w planes of n bytes: first the lowest byte of every value, then the next. Small numbers leave whole
 * planes zero, which compresses well, and no byte order or struct layout of this machine shows. */
#ifndef CP_USER_STORE_COLUMNS_H
#define CP_USER_STORE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "user/store/schema.h"

void put_le(unsigned char *at, size_t width_bytes, uint64_t value);
uint64_t get_le(const unsigned char *at, size_t width_bytes);

/* cnt records -> cnt * schema_disk_bytes(t) bytes at out. */
void columns_encode(const struct schema_table *t, const void *records, size_t cnt,
		    unsigned char *out);

/* The other way. The file's records have disk_bytes bytes: columns behind the known ones are skipped,
 * missing ones leave their fields as they are in records (zero). Returns 0, or -EINVAL when disk_bytes ends
 * within a column. The caller has checked that in holds cnt * disk_bytes bytes. */
int columns_decode(const struct schema_table *t, const unsigned char *in, size_t cnt,
		   size_t disk_bytes, void *records);

#endif
