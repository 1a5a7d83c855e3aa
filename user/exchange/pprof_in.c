/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof's protobuf, as an input. A location is an address with the functions inlined there, innermost first;
 * the outermost is the compiled function. A profile has several values a sample: the default one (or the
 * last, as pprof itself takes) is ours, and a value of unit "count" beside it tells how many samples it was.
 *
 * Process and kind travel in labels ("process", "pid", "kind"), which our writer sets and pprof shows as tags. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/pprof.pb-c.h"
#include "user/base/mem.h"
#include "user/exchange/idmap.h"
#include "user/exchange/intake.h"
#include "user/exchange/pprof.h"
#include "user/exchange/wholeinput.h"

enum {
	PPROF_MAX_BYTES = 256 << 20,
	INLINE_MAX = 1000,   /* functions at one address */
	DEPTH_MAX = 1 << 20, /* frames of a stack */
};

struct reader {
	struct intake intake;
	struct input *in;
	const Pprof__Profile *f;
	struct idmap functions, mappings, locations;
	uint32_t *mapping_of; /* by place in f->mapping */
	uint32_t *frames;     /* of all locations, root to leaf */
	size_t frame_cnt, frames_cap;
	size_t *frames_at; /* by place in f->location: where its frames begin; one more at the end */
	size_t value_at;
	size_t count_at; /* SIZE_MAX = none */
	int kind;
	struct err *err;
};

static int bad(struct reader *r, const char *what, size_t number, const char *why)
{
	return err_set(r->err, -EINVAL, "%s: pprof %s %zu: %s", input_path(r->in), what, number,
		       why);
}

static const char *string_at(const struct reader *r, int64_t at)
{
	if (at < 0 || (uint64_t)at >= r->f->n_string_table)
		return "";
	return (const char *)r->f->string_table[at].data; /* ends in NUL: see end_strings */
}

/* protobuf-c gives bytes without an end. Each is copied with one; the message's allocator frees them. */
static void end_strings(Pprof__Profile *f)
{
	for (size_t i = 0; i < f->n_string_table; i++) {
		ProtobufCBinaryData *s = &f->string_table[i];

		s->data = xrealloc(s->data, s->len + 1);
		s->data[s->len] = '\0';
	}
}

static int type_at(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->f->n_sample_type; i++)
		if (!strcmp(string_at(r, r->f->sample_type[i]->type), name))
			return (int)i;
	return -1;
}

/* A value of unit "count" beside ours tells how many samples it was. */
static size_t find_count(const struct reader *r)
{
	for (size_t i = r->f->n_sample_type; i-- > 0;)
		if (i != r->value_at && !strcmp(string_at(r, r->f->sample_type[i]->unit), "count"))
			return i;
	return SIZE_MAX;
}

static int choose_value(struct reader *r)
{
	const char *want = r->intake.opts->event, *unit, *type;
	int at = type_at(r, want ? want : string_at(r, r->f->default_sample_type));

	if (!r->f->n_sample_type)
		return err_set(r->err, -EINVAL, "%s: a pprof profile without sample types",
			       input_path(r->in));
	if (want && at < 0)
		return err_set(r->err, -EINVAL, "%s: no sample type '%.100s' in this pprof profile",
			       input_path(r->in), want);
	r->value_at = at < 0 ? r->f->n_sample_type - 1 : (size_t)at;
	r->count_at = find_count(r);
	type = string_at(r, r->f->sample_type[r->value_at]->type);
	unit = string_at(r, r->f->sample_type[r->value_at]->unit);
	r->kind = unit_ns(unit) ? intake_kind_of_type(type) : KIND_NONE;
	if (!strcmp(unit, "count")) {
		unit = type;
		r->count_at = r->count_at == SIZE_MAX ? r->value_at : r->count_at;
	}
	return intake_set_unit(&r->intake, *unit ? unit : "samples", r->err);
}

static uint8_t hex_value(char c)
{
	return (uint8_t)(c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16);
}

static void set_build_id(struct mapping *m, const char *hex)
{
	while (m->build_id_bytes < BUILD_ID_MAX_BYTES && hex_value(hex[0]) < 16 &&
	       hex_value(hex[1]) < 16) {
		m->build_id[m->build_id_bytes++] =
			(uint8_t)(hex_value(hex[0]) << 4 | hex_value(hex[1]));
		hex += 2;
	}
}

static int read_mappings(struct reader *r)
{
	r->mapping_of = xcalloc(r->f->n_mapping + 1, sizeof(*r->mapping_of));
	for (size_t i = 0; i < r->f->n_mapping; i++) {
		const Pprof__Mapping *f = r->f->mapping[i];
		struct mapping m = { .start = f->memory_start,
				     .end = f->memory_limit,
				     .off_bytes = f->file_offset };

		if (!idmap_add(&r->mappings, f->id, (uint32_t)i))
			return bad(r, "mapping", i, "its id is there twice");
		if (m.end < m.start)
			m.end = m.start;
		m.path_sid = profile__string(r->intake.profile, string_at(r, f->filename));
		set_build_id(&m, string_at(r, f->build_id));
		r->mapping_of[i] = profile__add_mapping(r->intake.profile, &m);
	}
	return 0;
}

static void place_frame(struct reader *r, const Pprof__Location *l, struct frame *f)
{
	uint32_t at;
	const char *file;

	if (!l->mapping_id || !idmap_get(&r->mappings, l->mapping_id, &at))
		return;
	file = intake_base_name(string_at(r, r->f->mapping[at]->filename));
	f->mapping = r->mapping_of[at];
	f->module_sid = profile__string(r->intake.profile, file);
	f->kind = (uint8_t)intake_module_kind(file);
}

static void push_frame(struct reader *r, const struct frame *f)
{
	if (r->frame_cnt == r->frames_cap)
		r->frames = xgrow(r->frames, &r->frames_cap, r->frame_cnt + 1, sizeof(*r->frames));
	r->frames[r->frame_cnt++] = profile__add_frame(r->intake.profile, f);
}

static int read_line(struct reader *r, const Pprof__Location *l, size_t line, size_t number)
{
	struct profile *p = r->intake.profile;
	struct frame f = { .addr = line + 1 == l->n_line ? l->address : 0 };
	uint32_t at;
	const Pprof__Function *fn;

	if (!idmap_get(&r->functions, l->line[line]->function_id, &at))
		return bad(r, "location", number, "a function that is not there");
	fn = r->f->function[at];
	place_frame(r, l, &f);
	f.flags = line + 1 < l->n_line ? FRAME_INLINED : f.addr ? FRAME_EXACT_PC : 0;
	f.name_sid = profile__string(p, string_at(r, fn->name));
	f.file_sid = profile__string(p, string_at(r, fn->filename));
	if (l->line[line]->line > 0 && l->line[line]->line <= UINT32_MAX)
		f.line = (uint32_t)l->line[line]->line;
	push_frame(r, &f);
	return 0;
}

static int read_locations(struct reader *r)
{
	for (size_t i = 0; i < r->f->n_function; i++)
		if (!idmap_add(&r->functions, r->f->function[i]->id, (uint32_t)i))
			return bad(r, "function", i, "its id is there twice");
	r->frames_at = xcalloc(r->f->n_location + 1, sizeof(*r->frames_at));
	for (size_t i = 0; i < r->f->n_location; i++) {
		const Pprof__Location *l = r->f->location[i];
		struct frame bare = { .addr = l->address,
				      .flags = FRAME_EXACT_PC,
				      .reason = NAME_NO_MAPPING };

		r->frames_at[i] = r->frame_cnt;
		if (!idmap_add(&r->locations, l->id, (uint32_t)i))
			return bad(r, "location", i, "its id is there twice");
		if (l->n_line > INLINE_MAX)
			return bad(r, "location", i, "more than 1,000 functions at one address");
		for (size_t line = l->n_line; line-- > 0;) {
			int rc = read_line(r, l, line, i);

			if (rc)
				return rc;
		}
		if (l->n_line)
			continue;
		place_frame(r, l, &bare);
		bare.reason = bare.mapping ? NAME_PENDING : NAME_NO_MAPPING;
		push_frame(r, &bare);
	}
	r->frames_at[r->f->n_location] = r->frame_cnt;
	return 0;
}

static void read_labels(struct reader *r, const Pprof__Sample *s, struct intake_key *key)
{
	const char *comm = "";
	uint64_t pid = 0;

	for (size_t i = 0; i < s->n_label; i++) {
		const char *name = string_at(r, s->label[i]->key);

		if (!strcmp(name, "process"))
			comm = string_at(r, s->label[i]->str);
		else if (!strcmp(name, "pid") && s->label[i]->num > 0)
			pid = (uint64_t)s->label[i]->num;
		else if (!strcmp(name, "kind"))
			key->kind = intake_kind_by_name(string_at(r, s->label[i]->str));
	}
	key->process = intake_process(&r->intake, comm, strlen(comm), (uint32_t)pid);
}

static int read_sample(struct reader *r, size_t number)
{
	const Pprof__Sample *s = r->f->sample[number];
	struct intake_key key = { .kind = r->kind };
	int64_t value, count = 0;

	if (s->n_value != r->f->n_sample_type)
		return bad(r, "sample", number, "not as many values as sample types");
	value = s->value[r->value_at];
	if (r->count_at != SIZE_MAX)
		count = s->value[r->count_at];
	if (value < 0 || count < 0) {
		intake_reject(&r->intake, number + 1, "a profile holds no negative values");
		return 0;
	}
	if (s->n_location_id > DEPTH_MAX)
		return bad(r, "sample", number, "deeper than 1,048,576 frames");
	for (size_t i = s->n_location_id; i-- > 0;) {
		uint32_t at;

		if (!idmap_get(&r->locations, s->location_id[i], &at))
			return bad(r, "sample", number, "a location that is not there");
		for (size_t f = r->frames_at[at]; f < r->frames_at[at + 1]; f++)
			key.stack = profile__add_stack(r->intake.profile, key.stack, r->frames[f]);
	}
	read_labels(r, s, &key);
	if (value || count)
		intake_add_u64(&r->intake, &key, (uint64_t)value, (uint64_t)count);
	return 0;
}

static void read_header(struct reader *r)
{
	struct header *h = &r->intake.profile->header;

	if (r->f->time_nanos > 0)
		h->realtime_ns = (uint64_t)r->f->time_nanos;
	if (r->f->duration_nanos > 0)
		h->window_end_ns = (uint64_t)r->f->duration_nanos;
	if (r->f->period_type && r->f->period > 0 &&
	    !strcmp(string_at(r, r->f->period_type->unit), "nanoseconds"))
		h->sample_period_ns = (uint64_t)r->f->period;
}

static int read_profile(struct reader *r)
{
	int rc = choose_value(r);

	if (!rc)
		rc = read_mappings(r);
	if (!rc)
		rc = read_locations(r);
	for (size_t i = 0; i < r->f->n_sample && !rc; i++)
		rc = read_sample(r, i);
	if (!rc)
		read_header(r);
	return rc;
}

int pprof_import(struct input *in, const struct import_options *opts, struct profile *p,
		 struct import_report *report, struct err *err)
{
	struct reader r = { .in = in, .err = err };
	struct buf all = { 0 };
	Pprof__Profile *f = NULL;
	int rc = intake_init(&r.intake, p, opts, report, err);

	if (!rc)
		rc = input_read_all(in, PPROF_MAX_BYTES, &all, err);
	if (!rc) {
		f = pprof__profile__unpack(NULL, all.len_bytes, (const uint8_t *)all.data);
		if (!f)
			rc = err_set(err, -EINVAL, "%s: no pprof profile, or a damaged one",
				     input_path(in));
	}
	buf_free(&all);
	if (!rc) {
		end_strings(f);
		r.f = f;
		rc = read_profile(&r);
	}
	intake_finish(&r.intake);
	idmap_free(&r.functions);
	idmap_free(&r.mappings);
	idmap_free(&r.locations);
	free(r.mapping_of);
	free(r.frames);
	free(r.frames_at);
	pprof__profile__free_unpacked(f, NULL);
	return rc;
}
