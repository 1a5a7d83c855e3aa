/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof's protobuf, as an output: two values a sample, events and the profile's own; the process and what the
 * thread did as labels. A frame and those inlined into it become one location. Values above 2^63 - 1 are cut
 * to that, since pprof's are signed. The result is compressed with gzip, without a time stamp. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "gen/pprof.pb-c.h"
#include "user/base/arena.h"
#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/exchange/pprof.h"
#include "user/exchange/sink.h"
#include "user/model/nametree.h"

/* A growing table of pointers to messages. */
struct table {
	void **items;
	size_t cnt, cap;
	struct index index;
};

struct location_key {
	const uint32_t *frames; /* a frame and what is inlined into it, in the arena */
	size_t cnt;
};

struct writer {
	const struct profile *p;
	struct arena arena;
	struct strtab strings;
	struct table samples, mappings, locations, functions;
	struct location_key *keys; /* by place in locations */
	size_t keys_cap;
	uint32_t *mapping_of_module; /* by string of the profile: id, 0 = none yet */
	struct buf text;
};

static void push(struct table *t, void *item)
{
	if (t->cnt == t->cap)
		t->items = xgrow(t->items, &t->cap, t->cnt + 1, sizeof(*t->items));
	t->items[t->cnt++] = item;
}

static int64_t string(struct writer *w, const char *s)
{
	return strtab_add(&w->strings, s);
}

#define NEW(w, type, init)                                                  \
	({                                                                  \
		type *new_message = arena_alloc(&(w)->arena, sizeof(type)); \
		init(new_message);                                          \
		new_message;                                                \
	})

static void put_build_id(struct writer *w, const struct mapping *m, struct buf *out)
{
	(void)w;
	for (uint32_t i = 0; i < m->build_id_bytes && i < BUILD_ID_MAX_BYTES; i++)
		buf_printf(out, "%02x", m->build_id[i]);
}

/* The profile's own mappings, with their numbers as ids. */
static void add_mappings(struct writer *w)
{
	for (size_t i = 1; i < w->p->mappings.cnt; i++) {
		const struct mapping *m = &w->p->mappings.items[i];
		Pprof__Mapping *out = NEW(w, Pprof__Mapping, pprof__mapping__init);

		buf_reset(&w->text);
		put_build_id(w, m, &w->text);
		out->id = i;
		out->memory_start = m->start;
		out->memory_limit = m->end;
		out->file_offset = m->off_bytes;
		out->filename = string(w, profile__str(w->p, m->path_sid));
		out->build_id = string(w, buf_str(&w->text));
		out->has_functions = 1;
		push(&w->mappings, out);
	}
}

/* Frames that came from text know their module, not where it was mapped. */
static uint64_t mapping_of(struct writer *w, const struct frame *f)
{
	const char *module = profile__str(w->p, f->module_sid);
	Pprof__Mapping *out;

	if (f->mapping)
		return f->mapping;
	if (!*module)
		module = f->kind == FRAME_KERNEL ? "[kernel.kallsyms]" :
			 f->kind == FRAME_JIT	 ? "[JIT]" :
						   "";
	if (!*module)
		return 0;
	for (size_t i = w->p->mappings.cnt - 1; i < w->mappings.cnt && !f->module_sid; i++) {
		out = w->mappings.items[i];
		if (out->filename == string(w, module))
			return out->id;
	}
	if (f->module_sid && w->mapping_of_module[f->module_sid])
		return w->mapping_of_module[f->module_sid];
	out = NEW(w, Pprof__Mapping, pprof__mapping__init);
	out->id = w->mappings.cnt + 1;
	out->filename = string(w, module);
	out->has_functions = 1;
	push(&w->mappings, out);
	if (f->module_sid)
		w->mapping_of_module[f->module_sid] = (uint32_t)out->id;
	return out->id;
}

static uint64_t function_of(struct writer *w, uint32_t frame)
{
	const struct frame *f = &w->p->frames.items[frame];
	int64_t name, file = string(w, profile__str(w->p, f->file_sid));
	Pprof__Function *out;
	struct index_iter it;
	uint64_t hash;

	buf_reset(&w->text);
	frame_label(w->p, frame, 0, &w->text);
	name = string(w, buf_str(&w->text));
	hash = hash_pair((uint64_t)name, (uint64_t)file);
	it = index_find(&w->functions.index, hash);
	for (; index_hit(&w->functions.index, &it); index_next(&w->functions.index, &it)) {
		out = w->functions.items[it.elem];
		if (out->name == name && out->filename == file)
			return out->id;
	}
	out = NEW(w, Pprof__Function, pprof__function__init);
	out->id = w->functions.cnt + 1;
	out->name = out->system_name = name;
	out->filename = file;
	index_add(&w->functions.index, hash, (uint32_t)w->functions.cnt);
	push(&w->functions, out);
	return out->id;
}

/* An address without a name stays one: pprof or its user may know the name. */
static bool is_bare(const struct frame *f)
{
	return f->addr && f->reason != NAME_OK && f->kind != FRAME_MARK;
}

static Pprof__Location *make_location(struct writer *w, const struct location_key *k)
{
	const struct frame *outer = &w->p->frames.items[k->frames[0]];
	Pprof__Location *l = NEW(w, Pprof__Location, pprof__location__init);

	l->id = w->locations.cnt + 1;
	l->address = outer->addr;
	l->mapping_id = mapping_of(w, outer);
	if (k->cnt == 1 && is_bare(outer))
		return l;
	l->n_line = k->cnt;
	l->line = arena_alloc(&w->arena, k->cnt * sizeof(*l->line));
	for (size_t i = 0; i < k->cnt; i++) {
		Pprof__Line *line = NEW(w, Pprof__Line, pprof__line__init);

		line->function_id = function_of(w, k->frames[i]);
		line->line = w->p->frames.items[k->frames[i]].line;
		l->line[k->cnt - 1 - i] = line; /* innermost first */
	}
	return l;
}

static uint64_t location_of(struct writer *w, const uint32_t *frames, size_t cnt)
{
	uint64_t hash = hash_bytes(frames, cnt * sizeof(*frames));
	struct index_iter it = index_find(&w->locations.index, hash);
	struct location_key key = { .cnt = cnt };
	uint32_t *copy;
	Pprof__Location *l;

	for (; index_hit(&w->locations.index, &it); index_next(&w->locations.index, &it)) {
		const struct location_key *k = &w->keys[it.elem];

		if (k->cnt == cnt && !memcmp(k->frames, frames, cnt * sizeof(*frames)))
			return it.elem + UINT64_C(1);
	}
	copy = arena_alloc(&w->arena, cnt * sizeof(*copy));
	memcpy(copy, frames, cnt * sizeof(*copy));
	key.frames = copy;
	l = make_location(w, &key);
	if (w->locations.cnt >= w->keys_cap)
		w->keys = xgrow(w->keys, &w->keys_cap, w->locations.cnt + 1, sizeof(*w->keys));
	w->keys[w->locations.cnt] = key;
	index_add(&w->locations.index, hash, (uint32_t)w->locations.cnt);
	push(&w->locations, l);
	return l->id;
}

static void add_label(struct writer *w, Pprof__Sample *s, const char *key, const char *str,
		      uint64_t num)
{
	Pprof__Label *l = NEW(w, Pprof__Label, pprof__label__init);

	l->key = string(w, key);
	l->str = string(w, str);
	l->num = (int64_t)num;
	s->label[s->n_label++] = l;
}

static void add_labels(struct writer *w, const struct sum *sum, Pprof__Sample *s, bool kinds)
{
	const struct process *pr = &w->p->processes.items[sum->process];
	const char *comm = profile__str(w->p, pr->comm_sid);

	s->label = arena_alloc(&w->arena, 3 * sizeof(*s->label));
	if (*comm)
		add_label(w, s, "process", comm, 0);
	if (pr->pid)
		add_label(w, s, "pid", "", pr->pid);
	if (kinds && sum->kind)
		add_label(w, s, "kind", model_kind_name(sum->kind), 0);
}

static int64_t signed_value(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static void add_samples(struct writer *w, bool kinds)
{
	uint32_t *frames = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < w->p->sums.cnt; i++) {
		const struct sum *sum = &w->p->sums.items[i];
		Pprof__Sample *s = NEW(w, Pprof__Sample, pprof__sample__init);
		size_t cnt = profile__frames(w->p, sum->stack, &frames, &cap), at = 0, n = 0;

		s->location_id = arena_alloc(&w->arena, (cnt + 1) * sizeof(*s->location_id));
		while (at < cnt) {
			size_t end = at + 1;

			while (end < cnt && w->p->frames.items[frames[end]].flags & FRAME_INLINED)
				end++;
			s->location_id[n++] = location_of(w, frames + at, end - at);
			at = end;
		}
		for (size_t j = 0; j < n / 2; j++) { /* leaf first */
			uint64_t t = s->location_id[j];

			s->location_id[j] = s->location_id[n - 1 - j];
			s->location_id[n - 1 - j] = t;
		}
		s->n_location_id = n;
		s->n_value = 2;
		s->value = arena_alloc(&w->arena, 2 * sizeof(*s->value));
		s->value[0] = signed_value(sum->cnt);
		s->value[1] = signed_value(sum->ns);
		add_labels(w, sum, s, kinds);
		push(&w->samples, s);
	}
	free(frames);
}

static Pprof__ValueType *value_type(struct writer *w, const char *type, const char *unit)
{
	Pprof__ValueType *t = NEW(w, Pprof__ValueType, pprof__value_type__init);

	t->type = string(w, type);
	t->unit = string(w, unit);
	return t;
}

static void set_types(struct writer *w, Pprof__Profile *f)
{
	const char *unit = profile__str(w->p, w->p->header.unit_sid);
	const struct header *h = &w->p->header;

	f->n_sample_type = 2;
	f->sample_type = arena_alloc(&w->arena, 2 * sizeof(*f->sample_type));
	f->sample_type[0] = value_type(w, "events", "count");
	if (!*unit || !strcmp(unit, "ns"))
		f->sample_type[1] = value_type(w, "time", "nanoseconds");
	else
		f->sample_type[1] = value_type(w, unit, strcmp(unit, "bytes") ? "count" : "bytes");
	f->default_sample_type = f->sample_type[1]->type;
	f->time_nanos = signed_value(h->realtime_ns);
	f->duration_nanos = signed_value(h->window_end_ns - h->window_start_ns);
	if (h->sample_period_ns) {
		f->period_type = value_type(w, "cpu", "nanoseconds");
		f->period = signed_value(h->sample_period_ns);
	}
}

static void set_strings(struct writer *w, Pprof__Profile *f)
{
	f->n_string_table = w->strings.cnt;
	f->string_table = arena_alloc(&w->arena, w->strings.cnt * sizeof(*f->string_table));
	for (size_t i = 0; i < w->strings.cnt; i++)
		f->string_table[i] = (ProtobufCBinaryData){ .len = w->strings.lens_bytes[i],
							    .data = (uint8_t *)w->strings.strs[i] };
}

static int put_gzip(const uint8_t *data, size_t len_bytes, struct sink *out)
{
	z_stream z = { .next_in = (uint8_t *)data };
	int rc = deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	char piece[64 * 1024];

	if (rc != Z_OK)
		return err_set(out->err, -ENOMEM, "cannot start gzip");
	while (rc != Z_STREAM_END) {
		if (!z.avail_in) {
			z.avail_in = len_bytes > 1U << 30 ? 1U << 30 : (unsigned int)len_bytes;
			len_bytes -= z.avail_in;
		}
		z.next_out = (uint8_t *)piece;
		z.avail_out = sizeof(piece);
		rc = deflate(&z, len_bytes ? Z_NO_FLUSH : Z_FINISH);
		buf_append(&out->buf, piece, sizeof(piece) - z.avail_out);
		sink_flush_if_full(out);
	}
	deflateEnd(&z);
	return 0;
}

static int pack(const Pprof__Profile *f, struct sink *out)
{
	size_t len_bytes = pprof__profile__get_packed_size(f);
	uint8_t *data = xmalloc(len_bytes + 1);
	int rc;

	pprof__profile__pack(f, data);
	rc = put_gzip(data, len_bytes, out);
	free(data);
	return rc;
}

static void free_writer(struct writer *w)
{
	struct table *const tables[] = { &w->samples, &w->mappings, &w->locations, &w->functions };

	for (size_t i = 0; i < ARRAY_CNT(tables); i++) {
		free(tables[i]->items);
		index_free(&tables[i]->index);
	}
	free(w->keys);
	free(w->mapping_of_module);
	strtab_free(&w->strings);
	arena_free(&w->arena);
	buf_free(&w->text);
}

int pprof_export(const struct profile *p, const struct export_options *opts, struct export_sink *to,
		 struct err *err)
{
	struct writer w = { .p = p };
	struct sink out = { .to = to, .err = err };
	Pprof__Profile f = PPROF__PROFILE__INIT;
	int rc, finish_rc;

	strtab_add(&w.strings, "");
	w.mapping_of_module = xcalloc(p->strings.cnt + 1, sizeof(*w.mapping_of_module));
	set_types(&w, &f);
	add_mappings(&w);
	add_samples(&w, opts->kinds);
	f.n_sample = w.samples.cnt;
	f.sample = (Pprof__Sample **)w.samples.items;
	f.n_mapping = w.mappings.cnt;
	f.mapping = (Pprof__Mapping **)w.mappings.items;
	f.n_location = w.locations.cnt;
	f.location = (Pprof__Location **)w.locations.items;
	f.n_function = w.functions.cnt;
	f.function = (Pprof__Function **)w.functions.items;
	set_strings(&w, &f);
	rc = pack(&f, &out);
	free_writer(&w);
	finish_rc = sink_finish(&out);
	return rc ? rc : finish_rc;
}
