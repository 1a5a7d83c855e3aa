/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OTLP profiles, as an output: a profile for running time ("cpu"), one for all other time ("off_cpu") and one
 * for what has no kind, as far as they have samples. What a thread did exactly, and its process, are attributes
 * of samples. Strings must be UTF-8 in OTLP: what is not becomes U+FFFD. Values above 2^63 - 1 are cut to that;
 * event counts have no place. */
#include <stdlib.h>
#include <string.h>

#include "gen/otlp_profiles.pb-c.h"
#include "user/base/arena.h"
#include "user/base/escape.h"
#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/exchange/otlp_profiles.h"
#include "user/exchange/sink.h"
#include "user/model/nametree.h"

struct table {
	void **items;
	size_t cnt, cap;
};

enum {
	GROUP_CPU,
	GROUP_OFF_CPU,
	GROUP_NONE,
	GROUP_MAX,
};

struct writer {
	const struct profile *p;
	struct arena arena;
	struct strtab strings;
	struct table mappings, locations, functions, attributes, stacks, samples[GROUP_MAX];
	uint32_t *mapping_of_module;	/* by string of the profile */
	uint32_t *attribute_of_process; /* by process: of the name; that of the pid follows */
	uint32_t attribute_of_kind[KIND_MAX];
	struct buf text;
};

static int32_t push(struct table *t, void *item)
{
	if (t->cnt == t->cap)
		t->items = xgrow(t->items, &t->cap, t->cnt + 1, sizeof(*t->items));
	t->items[t->cnt] = item;
	return (int32_t)t->cnt++;
}

#define NEW(w, type, init)                                                  \
	({                                                                  \
		type *new_message = arena_alloc(&(w)->arena, sizeof(type)); \
		init(new_message);                                          \
		new_message;                                                \
	})

static int32_t string(struct writer *w, const char *s)
{
	size_t n = strlen(s), used_bytes;

	buf_reset(&w->text);
	for (size_t i = 0; i < n; i += used_bytes)
		buf_put_utf8(&w->text, utf8_decode(s + i, n - i, &used_bytes));
	return (int32_t)strtab_addn(&w->strings, buf_str(&w->text), w->text.len_bytes);
}

/* Entry 0 of each table means none. */
static void add_empty_entries(struct writer *w)
{
	strtab_add(&w->strings, "");
	push(&w->mappings, NEW(w, OtlpProfiles__Mapping, otlp_profiles__mapping__init));
	push(&w->locations, NEW(w, OtlpProfiles__Location, otlp_profiles__location__init));
	push(&w->functions, NEW(w, OtlpProfiles__Function, otlp_profiles__function__init));
	push(&w->attributes,
	     NEW(w, OtlpProfiles__KeyValueAndUnit, otlp_profiles__key_value_and_unit__init));
	push(&w->stacks, NEW(w, OtlpProfiles__Stack, otlp_profiles__stack__init));
}

static int32_t mapping_of(struct writer *w, const struct frame *f)
{
	const char *module = profile__str(w->p, f->module_sid);
	OtlpProfiles__Mapping *m;

	if (!*module && f->kind != FRAME_KERNEL && f->kind != FRAME_JIT)
		return 0;
	/* String 0 stands for the kernel's frames without a module, the last slot for JIT code. */
	uint32_t *slot = &w->mapping_of_module[*module		    ? f->module_sid :
					       f->kind == FRAME_JIT ? w->p->strings.cnt :
								      0];
	if (*slot)
		return (int32_t)*slot;
	m = NEW(w, OtlpProfiles__Mapping, otlp_profiles__mapping__init);
	m->filename_strindex = string(w, *module	      ? module :
					 f->kind == FRAME_JIT ? "[JIT]" :
								"[kernel.kallsyms]");
	*slot = (uint32_t)push(&w->mappings, m);
	return (int32_t)*slot;
}

/* A location a frame, with the frame's number; inlined frames are lines of a location of their own address in
 * OTLP, which only the frame that they are inlined into has, so each keeps its own location here. */
static void add_locations(struct writer *w)
{
	for (uint32_t i = 1; i < w->p->frames.cnt; i++) {
		const struct frame *f = &w->p->frames.items[i];
		OtlpProfiles__Location *l =
			NEW(w, OtlpProfiles__Location, otlp_profiles__location__init);
		OtlpProfiles__Function *fn =
			NEW(w, OtlpProfiles__Function, otlp_profiles__function__init);
		OtlpProfiles__Line *line = NEW(w, OtlpProfiles__Line, otlp_profiles__line__init);
		struct buf label = { 0 };

		l->mapping_index = mapping_of(w, f);
		l->address = f->addr;
		push(&w->locations, l);
		if (f->addr && f->reason != NAME_OK && f->kind != FRAME_MARK)
			continue;
		frame_label(w->p, i, 0, &label);
		fn->name_strindex = fn->system_name_strindex = string(w, buf_str(&label));
		fn->filename_strindex = string(w, profile__str(w->p, f->file_sid));
		buf_free(&label);
		line->function_index = push(&w->functions, fn);
		line->line = f->line;
		l->n_lines = 1;
		l->lines = arena_alloc(&w->arena, sizeof(*l->lines));
		l->lines[0] = line;
	}
}

static int32_t add_attribute(struct writer *w, const char *key, const char *text, uint64_t number)
{
	OtlpProfiles__KeyValueAndUnit *a =
		NEW(w, OtlpProfiles__KeyValueAndUnit, otlp_profiles__key_value_and_unit__init);
	OtlpProfiles__AnyValue *v = NEW(w, OtlpProfiles__AnyValue, otlp_profiles__any_value__init);

	a->key_strindex = string(w, key);
	a->value = v;
	if (text) {
		string(w, text); /* valid UTF-8 in w->text */
		v->value_case = OTLP_PROFILES__ANY_VALUE__VALUE_STRING_VALUE;
		v->string_value = arena_strndup(&w->arena, buf_str(&w->text), w->text.len_bytes);
	} else {
		v->value_case = OTLP_PROFILES__ANY_VALUE__VALUE_INT_VALUE;
		v->int_value = (int64_t)number;
	}
	return push(&w->attributes, a);
}

static void add_process_attributes(struct writer *w)
{
	w->attribute_of_process = xcalloc(w->p->processes.cnt + 1, sizeof(uint32_t));
	for (size_t i = 1; i < w->p->processes.cnt; i++) {
		const struct process *pr = &w->p->processes.items[i];

		w->attribute_of_process[i] = (uint32_t)add_attribute(
			w, "process.executable.name", profile__str(w->p, pr->comm_sid), 0);
		add_attribute(w, "process.pid", NULL, pr->pid);
	}
}

/* Stacks have the numbers that they have in the profile. */
static void add_stacks(struct writer *w)
{
	uint32_t *frames = NULL;
	size_t cap = 0;
	bool *is_used = xcalloc(w->p->stacks.cnt, sizeof(*is_used));

	for (size_t i = 0; i < w->p->sums.cnt; i++)
		is_used[w->p->sums.items[i].stack] = true;
	for (uint32_t i = 1; i < w->p->stacks.cnt; i++) {
		OtlpProfiles__Stack *s = NEW(w, OtlpProfiles__Stack, otlp_profiles__stack__init);
		size_t cnt = is_used[i] ? profile__frames(w->p, i, &frames, &cap) : 0;

		s->n_location_indices = cnt;
		s->location_indices = arena_alloc(&w->arena, (cnt + 1) * sizeof(int32_t));
		for (size_t f = 0; f < cnt; f++)
			s->location_indices[f] = (int32_t)frames[cnt - 1 - f];
		push(&w->stacks, s);
	}
	free(is_used);
	free(frames);
}

static void add_sample(struct writer *w, const struct sum *sum, bool kinds)
{
	OtlpProfiles__Sample *s = NEW(w, OtlpProfiles__Sample, otlp_profiles__sample__init);
	int group = sum->kind == KIND_NONE    ? GROUP_NONE :
		    sum->kind == KIND_RUNNING ? GROUP_CPU :
						GROUP_OFF_CPU;

	s->stack_index = (int32_t)sum->stack;
	s->values = arena_alloc(&w->arena, sizeof(*s->values));
	s->values[s->n_values++] = sum->ns > INT64_MAX ? INT64_MAX : (int64_t)sum->ns;
	s->attribute_indices = arena_alloc(&w->arena, 3 * sizeof(int32_t));
	if (sum->process) {
		s->attribute_indices[s->n_attribute_indices++] =
			(int32_t)w->attribute_of_process[sum->process];
		s->attribute_indices[s->n_attribute_indices++] =
			(int32_t)w->attribute_of_process[sum->process] + 1;
	}
	if (kinds && group == GROUP_OFF_CPU && sum->kind < KIND_MAX) {
		uint32_t *a = &w->attribute_of_kind[sum->kind];

		if (!*a)
			*a = (uint32_t)add_attribute(w, "causeprof.kind",
						     model_kind_name(sum->kind), 0);
		s->attribute_indices[s->n_attribute_indices++] = (int32_t)*a;
	}
	push(&w->samples[group], s);
}

static OtlpProfiles__ValueType *value_type(struct writer *w, int group)
{
	static const char *const types[] = { "cpu", "off_cpu", "time" };
	const char *unit = profile__str(w->p, w->p->header.unit_sid);
	OtlpProfiles__ValueType *t =
		NEW(w, OtlpProfiles__ValueType, otlp_profiles__value_type__init);
	bool is_time = !*unit || !strcmp(unit, "ns");

	t->type_strindex = string(w, is_time ? types[group] : unit);
	t->unit_strindex = string(w, is_time		   ? "nanoseconds" :
				     strcmp(unit, "bytes") ? "count" :
							     unit);
	return t;
}

static void make_profiles(struct writer *w, OtlpProfiles__ScopeProfiles *scope)
{
	const struct header *h = &w->p->header;

	scope->profiles = arena_alloc(&w->arena, GROUP_MAX * sizeof(*scope->profiles));
	for (int group = 0; group < GROUP_MAX; group++) {
		OtlpProfiles__Profile *f =
			NEW(w, OtlpProfiles__Profile, otlp_profiles__profile__init);

		if (!w->samples[group].cnt)
			continue;
		f->sample_type = value_type(w, group);
		f->n_samples = w->samples[group].cnt;
		f->samples = (OtlpProfiles__Sample **)w->samples[group].items;
		f->time_unix_nano = h->realtime_ns;
		f->duration_nano = h->window_end_ns - h->window_start_ns;
		scope->profiles[scope->n_profiles++] = f;
	}
}

static void make_dictionary(struct writer *w, OtlpProfiles__Dictionary *d)
{
	d->n_mapping_table = w->mappings.cnt;
	d->mapping_table = (OtlpProfiles__Mapping **)w->mappings.items;
	d->n_location_table = w->locations.cnt;
	d->location_table = (OtlpProfiles__Location **)w->locations.items;
	d->n_function_table = w->functions.cnt;
	d->function_table = (OtlpProfiles__Function **)w->functions.items;
	d->n_attribute_table = w->attributes.cnt;
	d->attribute_table = (OtlpProfiles__KeyValueAndUnit **)w->attributes.items;
	d->n_stack_table = w->stacks.cnt;
	d->stack_table = (OtlpProfiles__Stack **)w->stacks.items;
	d->n_link_table = 1;
	d->link_table = arena_alloc(&w->arena, sizeof(*d->link_table));
	d->link_table[0] = NEW(w, OtlpProfiles__Link, otlp_profiles__link__init);
	d->n_string_table = w->strings.cnt;
	d->string_table = arena_alloc(&w->arena, w->strings.cnt * sizeof(*d->string_table));
	for (size_t i = 0; i < w->strings.cnt; i++)
		d->string_table[i] = (ProtobufCBinaryData){ .len = w->strings.lens_bytes[i],
							    .data = (uint8_t *)w->strings.strs[i] };
}

static void pack(struct writer *w, struct buf *out)
{
	OtlpProfiles__ProfilesData f = OTLP_PROFILES__PROFILES_DATA__INIT;
	OtlpProfiles__ResourceProfiles resource = OTLP_PROFILES__RESOURCE_PROFILES__INIT,
				       *resources = &resource;
	OtlpProfiles__ScopeProfiles scope = OTLP_PROFILES__SCOPE_PROFILES__INIT, *scopes = &scope;
	OtlpProfiles__InstrumentationScope name = OTLP_PROFILES__INSTRUMENTATION_SCOPE__INIT;
	OtlpProfiles__Dictionary dictionary = OTLP_PROFILES__DICTIONARY__INIT;
	char causeprof[] = "causeprof";
	size_t len_bytes;

	name.name = causeprof;
	scope.scope = &name;
	make_profiles(w, &scope);
	make_dictionary(w, &dictionary);
	resource.n_scope_profiles = 1;
	resource.scope_profiles = &scopes;
	f.n_resource_profiles = 1;
	f.resource_profiles = &resources;
	f.dictionary = &dictionary;
	len_bytes = otlp_profiles__profiles_data__get_packed_size(&f);
	buf_reserve(out, len_bytes);
	out->len_bytes +=
		otlp_profiles__profiles_data__pack(&f, (uint8_t *)out->data + out->len_bytes);
}

static void free_writer(struct writer *w)
{
	free(w->mappings.items);
	free(w->locations.items);
	free(w->functions.items);
	free(w->attributes.items);
	free(w->stacks.items);
	for (int group = 0; group < GROUP_MAX; group++)
		free(w->samples[group].items);
	free(w->mapping_of_module);
	free(w->attribute_of_process);
	strtab_free(&w->strings);
	arena_free(&w->arena);
	buf_free(&w->text);
}

int otlp_profiles_export(const struct profile *p, const struct export_options *opts,
			 struct export_sink *to, struct err *err)
{
	struct writer w = { .p = p };
	struct sink out = { .to = to, .err = err };

	w.mapping_of_module = xcalloc(p->strings.cnt + 1, sizeof(*w.mapping_of_module));
	add_empty_entries(&w);
	add_locations(&w);
	add_process_attributes(&w);
	add_stacks(&w);
	for (size_t i = 0; i < p->sums.cnt; i++)
		add_sample(&w, &p->sums.items[i], opts->kinds);
	pack(&w, &out.buf);
	free_writer(&w);
	return sink_finish(&out);
}
