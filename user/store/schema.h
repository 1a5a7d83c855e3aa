/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a profile as data: which fields a record has, how wide each is on disk, how text writes it.
 * The binary format, the lossless text and the redaction all walk these tables, so that a new field is one
 * line in schema.c. Append only: the position of a field is its column in the file. */
#ifndef CP_USER_STORE_SCHEMA_H
#define CP_USER_STORE_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "user/model/profile.h"
#include "user/store/format.h"

enum field_type {
	FIELD_NUMBER,
	FIELD_HEX,    /* a number that text writes in hexadecimal */
	FIELD_STRING, /* a string id */
	FIELD_ENUM,
	FIELD_FLAGS,
	FIELD_BYTES, /* as they are; text writes hexadecimal digits */
};

/* How the values of a column differ from those of the record. */
enum field_coding {
	CODING_PLAIN,
	CODING_DELTA, /* minus the value of the record before (0 before the first), modulo 2^width */
	CODING_SPAN,  /* minus the field to the left in the same record, modulo 2^width */
};

struct schema_field {
	const char *name;
	uint16_t off_bytes; /* in the C record */
	uint8_t width_bytes;
	uint8_t type;
	uint8_t coding;
	const char *(*value_name)(int value); /* of FIELD_ENUM; "?" = has none */
	const char *const *flag_names;	      /* of FIELD_FLAGS, by bit; NULL ends */
};

struct schema_table {
	enum section section;
	const char *name;	  /* of one record, as text writes it */
	const char *section_name; /* of the section, as errors and the document name it */
	const struct schema_field *fields;
	size_t field_cnt;
	size_t record_bytes; /* of the C record */
	size_t first;	     /* number of the first record written: 1 where entry 0 means none */
	const void *(*items)(const struct profile *p,
			     size_t *cnt); /* entry 0 included; NULL: loss */
	/* Appends one: 0, -EEXIST if the profile holds an equal one, -ERANGE for an impossible value. */
	int (*add)(struct profile *p, const void *record);
};

/* A cause that lost something; the loss table in records of its own. */
struct loss_record {
	uint32_t cause;
	uint32_t pad;
	uint64_t events, ns;
};

/* All tables of records, in the order in which they are written; strings and facts are not among them. */
extern const struct schema_table schema_tables[];
extern const size_t schema_table_cnt;
/* The fields of struct header; a fact's number in the file is its position here + 1. */
extern const struct schema_field schema_facts[];
extern const size_t schema_fact_cnt;

const struct schema_table *schema_find(uint32_t section); /* NULL = unknown */
const struct schema_table *schema_find_name(const char *name);
size_t schema_disk_bytes(const struct schema_table *t); /* of one record in the file */
/* The records to write and their count, without entry 0; borrowed from p, or put into losses. */
const void *schema_records(const struct schema_table *t, const struct profile *p,
			   struct loss_record losses[LOSS_SLOTS_CNT], size_t *cnt);

uint64_t schema_get(const void *record, const struct schema_field *f); /* not for FIELD_BYTES */
void schema_set(void *record, const struct schema_field *f, uint64_t value);

#endif
