/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OTLP profiles, as an input. Tables shared by all profiles of the message hold strings, functions, locations
 * and stacks; a profile has one value type. Profiles of the first one's unit are added up, others are left out
 * and counted ("cpu" and "off_cpu" in nanoseconds are one unit, so that both come in). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/otlp_profiles.pb-c.h"
#include "user/base/mem.h"
#include "user/exchange/intake.h"
#include "user/exchange/otlp_profiles.h"
#include "user/exchange/wholeinput.h"

enum {
	OTLP_MAX_BYTES = 256 << 20,
	INLINE_MAX = 1000,
	DEPTH_MAX = 1 << 20,
};

struct reader {
	struct intake intake;
	struct input *in;
	const OtlpProfiles__Dictionary *d;
	uint32_t *frames; /* of all locations, root to leaf */
	size_t frame_cnt, frames_cap;
	size_t *frames_at; /* by location; one more at the end */
	uint32_t *stacks;  /* by entry of stack_table: 1 + stack; 0 = not made yet */
	char unit[64];
	struct err *err;
};

static int bad(struct reader *r, const char *what, size_t number, const char *why)
{
	return err_set(r->err, -EINVAL, "%s: OTLP %s %zu: %s", input_path(r->in), what, number,
		       why);
}

static const char *string_at(const struct reader *r, int32_t at)
{
	return at >= 0 && (size_t)at < r->d->n_string_table ?
		       (const char *)r->d->string_table[at].data :
		       "";
}

static void end_strings(OtlpProfiles__Dictionary *d)
{
	for (size_t i = 0; i < d->n_string_table; i++) {
		ProtobufCBinaryData *s = &d->string_table[i];

		s->data = xrealloc(s->data, s->len + 1);
		s->data[s->len] = '\0';
	}
}

static void push_frame(struct reader *r, const struct frame *f)
{
	if (r->frame_cnt == r->frames_cap)
		r->frames = xgrow(r->frames, &r->frames_cap, r->frame_cnt + 1, sizeof(*r->frames));
	r->frames[r->frame_cnt++] = profile__add_frame(r->intake.profile, f);
}

static struct frame bare_frame(struct reader *r, const OtlpProfiles__Location *l)
{
	struct frame f = { .addr = l->address, .flags = FRAME_EXACT_PC };
	const char *file;

	if (l->mapping_index > 0 && (size_t)l->mapping_index < r->d->n_mapping_table) {
		file = string_at(r, r->d->mapping_table[l->mapping_index]->filename_strindex);
		file = intake_base_name(file);
		f.kind = (uint8_t)intake_module_kind(file);
		f.module_sid = profile__string(r->intake.profile, file);
	}
	return f;
}

static int read_location(struct reader *r, size_t number)
{
	const OtlpProfiles__Location *l = r->d->location_table[number];
	struct frame f = bare_frame(r, l);

	if (l->n_lines > INLINE_MAX)
		return bad(r, "location", number, "more than 1,000 functions at one address");
	for (size_t i = l->n_lines; i-- > 0;) {
		const OtlpProfiles__Line *line = l->lines[i];
		const OtlpProfiles__Function *fn;

		if (line->function_index < 0 ||
		    (size_t)line->function_index >= r->d->n_function_table)
			return bad(r, "location", number, "a function that is not there");
		fn = r->d->function_table[line->function_index];
		f.name_sid = profile__string(r->intake.profile, string_at(r, fn->name_strindex));
		f.file_sid =
			profile__string(r->intake.profile, string_at(r, fn->filename_strindex));
		f.line = line->line > 0 && line->line <= UINT32_MAX ? (uint32_t)line->line : 0;
		f.addr = i + 1 == l->n_lines ? l->address : 0;
		f.flags = i + 1 < l->n_lines ? FRAME_INLINED : f.addr ? FRAME_EXACT_PC : 0;
		push_frame(r, &f);
	}
	if (!l->n_lines && number) {
		f.reason = f.module_sid ? NAME_PENDING : NAME_NO_MAPPING;
		push_frame(r, &f);
	}
	return 0;
}

static int read_locations(struct reader *r)
{
	int rc = 0;

	r->frames_at = xcalloc(r->d->n_location_table + 1, sizeof(*r->frames_at));
	r->stacks = xcalloc(r->d->n_stack_table + 1, sizeof(*r->stacks));
	for (size_t i = 0; i < r->d->n_location_table && !rc; i++) {
		r->frames_at[i] = r->frame_cnt;
		rc = read_location(r, i);
	}
	r->frames_at[r->d->n_location_table] = r->frame_cnt;
	return rc;
}

/* Each stack of the table is placed once, so that the work is bounded by the message. */
static int stack_of(struct reader *r, size_t number, uint32_t *ret)
{
	const OtlpProfiles__Stack *s = r->d->stack_table[number];
	uint32_t stack = 0;

	if (r->stacks[number]) {
		*ret = r->stacks[number] - 1;
		return 0;
	}
	if (s->n_location_indices > DEPTH_MAX)
		return bad(r, "stack", number, "deeper than 1,048,576 frames");
	for (size_t i = s->n_location_indices; i-- > 0;) {
		int32_t at = s->location_indices[i];

		if (at < 0 || (size_t)at >= r->d->n_location_table)
			return bad(r, "stack", number, "a location that is not there");
		for (size_t f = r->frames_at[at]; f < r->frames_at[at + 1]; f++)
			stack = profile__add_stack(r->intake.profile, stack, r->frames[f]);
	}
	r->stacks[number] = stack + 1;
	*ret = stack;
	return 0;
}

static void read_attributes(struct reader *r, const OtlpProfiles__Sample *s, struct intake_key *key)
{
	const char *comm = "";
	int64_t pid = 0;

	for (size_t i = 0; i < s->n_attribute_indices; i++) {
		int32_t at = s->attribute_indices[i];
		const OtlpProfiles__KeyValueAndUnit *a;
		const char *name;

		if (at < 0 || (size_t)at >= r->d->n_attribute_table)
			continue;
		a = r->d->attribute_table[at];
		name = string_at(r, a->key_strindex);
		if (!a->value)
			continue;
		if (a->value->value_case == OTLP_PROFILES__ANY_VALUE__VALUE_INT_VALUE &&
		    !strcmp(name, "process.pid"))
			pid = a->value->int_value;
		if (a->value->value_case != OTLP_PROFILES__ANY_VALUE__VALUE_STRING_VALUE)
			continue;
		if (!strcmp(name, "process.executable.name"))
			comm = a->value->string_value;
		else if (!strcmp(name, "causeprof.kind"))
			key->kind = intake_kind_by_name(a->value->string_value);
	}
	key->process = intake_process(&r->intake, comm, strlen(comm),
				      pid > 0 && pid <= UINT32_MAX ? (uint32_t)pid : 0);
}

static int read_sample(struct reader *r, const OtlpProfiles__Sample *s, size_t number, int kind)
{
	struct intake_key key = { .kind = kind };
	int rc;

	if (s->stack_index < 0 || (size_t)s->stack_index >= r->d->n_stack_table)
		return bad(r, "sample", number, "a stack that is not there");
	rc = stack_of(r, (size_t)s->stack_index, &key.stack);
	if (rc)
		return rc;
	read_attributes(r, s, &key);
	if (!s->n_values) { /* then each time stamp counts as one */
		intake_add_u64(&r->intake, &key, s->n_timestamps_unix_nano,
			       s->n_timestamps_unix_nano);
		return 0;
	}
	for (size_t i = 0; i < s->n_values; i++)
		if (s->values[i] < 0)
			intake_reject(&r->intake, number + 1, "a profile holds no negative values");
		else
			intake_add_u64(&r->intake, &key, (uint64_t)s->values[i],
				       r->intake.unit_ns ? 0 : (uint64_t)s->values[i]);
	return 0;
}

static int read_profile(struct reader *r, const OtlpProfiles__Profile *f)
{
	const char *unit = f->sample_type ? string_at(r, f->sample_type->unit_strindex) : "";
	const char *type = f->sample_type ? string_at(r, f->sample_type->type_strindex) : "";
	int kind = unit_ns(unit) ? intake_kind_of_type(type) : KIND_NONE, rc = 0;

	if (!*unit || !strcmp(unit, "count"))
		unit = *type ? type : "samples";
	if (!*r->unit) {
		snprintf(r->unit, sizeof(r->unit), "%s", unit);
		rc = intake_set_unit(&r->intake, unit, r->err);
	} else if (strncmp(unit, r->unit, sizeof(r->unit) - 1)) {
		intake_ignore(&r->intake, "profiles in another unit than the first one");
		return 0;
	}
	for (size_t i = 0; i < f->n_samples && !rc; i++)
		rc = read_sample(r, f->samples[i], i, kind);
	if (f->time_unix_nano && !r->intake.profile->header.realtime_ns)
		r->intake.profile->header.realtime_ns = f->time_unix_nano;
	if (f->duration_nano > r->intake.profile->header.window_end_ns &&
	    f->duration_nano <= INT64_MAX)
		r->intake.profile->header.window_end_ns = f->duration_nano;
	return rc;
}

static int read_message(struct reader *r, const OtlpProfiles__ProfilesData *f)
{
	int rc = read_locations(r);

	for (size_t i = 0; i < f->n_resource_profiles && !rc; i++)
		for (size_t j = 0; j < f->resource_profiles[i]->n_scope_profiles && !rc; j++) {
			const OtlpProfiles__ScopeProfiles *s =
				f->resource_profiles[i]->scope_profiles[j];

			for (size_t k = 0; k < s->n_profiles && !rc; k++)
				rc = read_profile(r, s->profiles[k]);
		}
	return rc;
}

int otlp_profiles_import(struct input *in, const struct import_options *opts, struct profile *p,
			 struct import_report *report, struct err *err)
{
	struct reader r = { .in = in, .err = err };
	struct buf all = { 0 };
	OtlpProfiles__ProfilesData *f = NULL;
	int rc = intake_init(&r.intake, p, opts, report, err);

	if (!rc)
		rc = input_read_all(in, OTLP_MAX_BYTES, &all, err);
	if (!rc) {
		f = otlp_profiles__profiles_data__unpack(NULL, all.len_bytes,
							 (const uint8_t *)all.data);
		if (!f || !f->dictionary)
			rc = err_set(err, -EINVAL,
				     "%s: no OTLP profiles with a dictionary, or a damaged message",
				     input_path(in));
	}
	buf_free(&all);
	if (!rc) {
		end_strings(f->dictionary);
		r.d = f->dictionary;
		rc = read_message(&r, f);
	}
	intake_finish(&r.intake);
	free(r.frames);
	free(r.frames_at);
	free(r.stacks);
	otlp_profiles__profiles_data__free_unpacked(f, NULL);
	return rc;
}
