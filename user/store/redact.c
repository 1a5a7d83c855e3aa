/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Redaction; see redact.h. */
#include "user/store/redact.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/store/schema.h"

struct redactor {
	const struct profile *from;
	struct profile *to;
	uint64_t key[2];
};

static uint32_t hashed(struct redactor *r, uint32_t sid)
{
	size_t len_bytes = strtab_len_bytes(&r->from->strings, sid);
	char text[17];

	if (!len_bytes)
		return 0;
	snprintf(text, sizeof(text), "%016" PRIx64,
		 hash_keyed(r->key, profile__str(r->from, sid), len_bytes));
	return profile__string(r->to, text);
}

static uint32_t kept(struct redactor *r, uint32_t sid)
{
	return strtab_addn(&r->to->strings, profile__str(r->from, sid),
			   strtab_len_bytes(&r->from->strings, sid));
}

static void redact_header(struct redactor *r)
{
	struct header *h = &r->to->header;

	*h = r->from->header;
	h->kernel_sid = kept(r, h->kernel_sid);
	h->machine_sid = kept(r, h->machine_sid);
	h->version_sid = kept(r, h->version_sid);
	h->hook_sid = kept(r, h->hook_sid);
	h->sampling_sid = kept(r, h->sampling_sid);
	h->unit_sid = kept(r, h->unit_sid);
	h->command_sid = hashed(r, h->command_sid);
	h->filter_sid = hashed(r, h->filter_sid);
}

/* What a record tells beside its strings. number is its own. */
static void redact_numbers(const struct redactor *r, enum section section, uint32_t number,
			   void *record)
{
	struct mapping *m = record;
	struct frame *f = record;

	if (section == SECTION_MAPPINGS) {
		m->start = m->end = m->off_bytes = 0;
		m->build_id_bytes = 0;
		memset(m->build_id, 0, sizeof(m->build_id));
	} else if (section == SECTION_FRAMES) {
		f->addr = f->addr ? number : 0; /* frames that differed still do */
		if (f->function)		/* and equal functions are still equal */
			f->function =
				hash_keyed(r->key, (const char *)&f->function, sizeof(f->function));
	}
}

static bool is_mark(enum section section, const void *record)
{
	return section == SECTION_FRAMES && ((const struct frame *)record)->kind == FRAME_MARK;
}

static void redact_table(struct redactor *r, const struct schema_table *t)
{
	struct loss_record losses[LOSS_SLOTS_CNT];
	_Alignas(16) char record[256];
	size_t cnt;
	const char *records = schema_records(t, r->from, losses, &cnt);

	assert(t->record_bytes <= sizeof(record));
	for (size_t i = 0; i < cnt; i++) {
		bool keep;
		int rc;

		memcpy(record, records + i * t->record_bytes, t->record_bytes);
		keep = is_mark(t->section, record);
		for (size_t k = 0; k < t->field_cnt; k++) {
			const struct schema_field *f = &t->fields[k];
			uint32_t sid =
				f->type == FIELD_STRING ? (uint32_t)schema_get(record, f) : 0;

			if (f->type == FIELD_STRING)
				schema_set(record, f, keep ? kept(r, sid) : hashed(r, sid));
		}
		redact_numbers(r, t->section, (uint32_t)(t->first + i), record);
		rc = t->add(r->to, record);
		assert(!rc); /* what differed still differs */
	}
}

struct profile *profile__redact(const struct profile *p, const char *key)
{
	static const uint64_t halves[2][2] = { { 0, 0 }, { 1, 0 } };
	struct redactor r = { .from = p, .to = profile__new() };

	if (*key)
		for (size_t i = 0; i < 2; i++)
			r.key[i] = hash_keyed(halves[i], key, strlen(key));
	redact_header(&r);
	for (size_t i = 0; i < schema_table_cnt; i++)
		redact_table(&r, &schema_tables[i]);
	return r.to;
}
