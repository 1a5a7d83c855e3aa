/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where importers put their samples: units, kinds of frames by their names, and rounding are here, once.
 *
 * Values become whole nanoseconds (or whole units where the unit is no time). Fractions are added up
 * exactly, to 1e-9 of a unit, for each stack, and rounded once, half up: a stack's total is off by at most
 * half a unit, however many lines it came in. */
#ifndef CP_USER_EXCHANGE_INTAKE_H
#define CP_USER_EXCHANGE_INTAKE_H

#include <stddef.h>
#include <stdint.h>

#include "user/base/buf.h"
#include "user/base/foldtext.h"
#include "user/exchange/exchange.h"

struct intake {
	struct profile *profile;
	const struct import_options *opts;
	struct import_report *report;
	uint64_t unit_ns;    /* nanoseconds of one unit of the values; 0 = not a time */
	uint64_t period_num; /* a value of 1 stands for num / den nanoseconds or units */
	uint64_t period_den;
	uint32_t *fractions; /* by sum, in 1e-9 of what sums hold; NULL = all are whole */
	size_t fractions_cap;
	struct index process_index;
	struct buf text;
	uint64_t next_progress_bytes;
};

/* default_unit: what the values are where opts->unit is NULL. Sets the profile's unit. */
int intake_init(struct intake *k, struct profile *p, const struct import_options *opts,
		struct import_report *report, struct err *err);
int intake_set_unit(struct intake *k, const char *default_unit, struct err *err);
void intake_finish(struct intake *k); /* rounds, frees */

/* A frame by its name as tools print it: "_[k]", "_[i]", "_[j]", "_[p]" at the end become kind and flags. */
uint32_t intake_frame(struct intake *k, const char *name, size_t len_bytes);
/* The same with a source file, a line and a module ("" and 0 = unknown). */
uint32_t intake_frame_at(struct intake *k, const char *name, const char *file, uint64_t line,
			 const char *module);
/* The kind that a leaf frame "[running]", "[sleep]", ... stands for, or KIND_NONE. */
int intake_leaf_kind(const char *name, size_t len_bytes);

int intake_kind_by_name(const char *name); /* "sleep"; KIND_NONE if unknown */
/* What a value type of pprof or OTLP says about the threads: "cpu" ran, "off_cpu" and "delay" waited. */
int intake_kind_of_type(const char *type);
/* The process with this name and number, added if new; 0 if it has neither. */
uint32_t intake_process(struct intake *k, const char *comm, size_t comm_bytes, uint32_t pid);
/* The last part of a module's path; "[kernel.kallsyms]" stays. */
const char *intake_base_name(const char *path);
/* FRAME_KERNEL, FRAME_JIT or FRAME_USER by the name of the module. */
int intake_module_kind(const char *base_name);

struct intake_key {
	uint32_t stack, process, thread;
	int kind; /* KIND_NONE: opts->kind, or none */
};

/* Adds a value; events is what cnt grows by (0 = unknown). */
void intake_add(struct intake *k, const struct intake_key *key, const struct foldtext_count *value,
		uint64_t events);
void intake_add_u64(struct intake *k, const struct intake_key *key, uint64_t value,
		    uint64_t events);

void intake_reject(struct intake *k, uint64_t number, const char *why);
void intake_ignore(struct intake *k, const char *why);
void intake_progress(struct intake *k,
		     const struct input *in); /* cheap: calls back once a mebibyte */

/* ns of "ns", "us", "ms", "s" and their long names ("nanoseconds", ...); 0 for everything else. */
uint64_t unit_ns(const char *unit);

#endif
