/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Valid profiles made of random numbers, the same for the same seed: for tests of whatever must keep all
 * of a profile. Every field of every record gets values from its whole range. */
#ifndef CP_TESTS_UNIT_RANDOM_PROFILE_H
#define CP_TESTS_UNIT_RANDOM_PROFILE_H

#include <stdint.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/store/schema.h"

struct dice {
	uint64_t state;
};

static inline uint64_t roll(struct dice *d)
{
	return hash_u64(d->state++);
}

/* Small, large and extreme numbers of the width. */
static inline uint64_t roll_number(struct dice *d, size_t width_bytes)
{
	uint64_t kind = roll(d) % 8, v = roll(d);

	v = kind == 0 ? UINT64_MAX : kind < 4 ? v % 100 : kind < 6 ? 0 : v;
	return width_bytes >= 8 ? v : v & ((UINT64_C(1) << (8 * width_bytes)) - 1);
}

static inline void roll_string(struct dice *d, struct profile *p)
{
	static const char *const pieces[] = { "main", " ", "\"", "\\", "\n", "\x01", "\xff",
					      ";",    "é", "µ",	 "x=", "a",  "\x7f", "operator<" };
	char text[64] = "";
	size_t cnt = roll(d) % 5;

	for (size_t i = 0; i < cnt; i++)
		strcat(text, pieces[roll(d) % ARRAY_CNT(pieces)]);
	strtab_addn(&p->strings, text, strlen(text) + roll(d) % 2); /* some with a NUL */
}

static inline void roll_record(struct dice *d, const struct profile *p,
			       const struct schema_table *t, char *record)
{
	memset(record, 0, t->record_bytes);
	for (size_t i = 0; i < t->field_cnt; i++) {
		const struct schema_field *f = &t->fields[i];
		uint64_t v = roll_number(d, f->width_bytes);

		if (f->type == FIELD_BYTES) {
			for (size_t k = 0; k < f->width_bytes; k++)
				record[f->off_bytes + k] = (char)roll(d);
			continue;
		}
		if (f->type == FIELD_STRING)
			v = roll(d) % p->strings.cnt;
		else if (f->coding == CODING_SPAN && v < schema_get(record, f - 1))
			v = schema_get(record, f - 1);
		schema_set(record, f, v);
	}
}

static inline uint32_t pick(struct dice *d, size_t cnt)
{
	return (uint32_t)(roll(d) % cnt);
}

/* References must hit something. */
static inline void fix_record(struct dice *d, const struct profile *p, enum section section,
			      void *record)
{
	struct mapping *m = record;
	struct frame *f = record;
	struct stack *s = record;
	struct thread *t = record;
	struct sum *sum = record;
	struct interval *iv = record;
	struct request *r = record;
	struct message *msg = record;
	struct loss_record *loss = record;

	switch (section) {
	case SECTION_MAPPINGS:
		m->process = pick(d, p->processes.cnt);
		m->build_id_bytes = pick(d, BUILD_ID_MAX_BYTES + 1);
		break;
	case SECTION_FRAMES:
		f->mapping = pick(d, p->mappings.cnt);
		break;
	case SECTION_STACKS:
		s->parent = pick(d, p->stacks.cnt);
		s->frame = 1 + pick(d, p->frames.cnt - 1);
		break;
	case SECTION_THREADS:
		t->process = pick(d, p->processes.cnt);
		break;
	case SECTION_SUMS:
		sum->stack = pick(d, p->stacks.cnt);
		sum->process = pick(d, p->processes.cnt);
		sum->thread = pick(d, p->threads.cnt);
		break;
	case SECTION_INTERVALS:
		iv->thread = pick(d, p->threads.cnt);
		iv->stack = pick(d, p->stacks.cnt);
		iv->waker = pick(d, p->threads.cnt);
		iv->waker_stack = pick(d, p->stacks.cnt);
		iv->request = pick(d, p->requests.cnt + 1);
		break;
	case SECTION_REQUESTS:
		r->thread = pick(d, p->threads.cnt);
		break;
	case SECTION_MESSAGES:
		msg->thread = pick(d, p->threads.cnt);
		if (msg->call_ns > msg->time_ns)
			msg->call_ns = msg->time_ns;
		break;
	case SECTION_LOSS:
		loss->cause %= LOSS_SLOTS_CNT;
		break;
	default:
		break;
	}
}

static inline struct profile *random_profile(uint64_t seed, size_t size)
{
	struct profile *p = profile__new();
	struct dice d = { seed * 1000003 };
	_Alignas(16) char record[256];

	for (size_t i = 0; i < size; i++)
		roll_string(&d, p);
	for (size_t i = 0; i < schema_fact_cnt; i++)
		schema_set(&p->header, &schema_facts[i],
			   schema_facts[i].type == FIELD_STRING ?
				   roll(&d) % p->strings.cnt :
				   roll_number(&d, schema_facts[i].width_bytes));
	if (p->header.window_end_ns < p->header.window_start_ns)
		p->header.window_end_ns = p->header.window_start_ns;
	for (size_t i = 0; i < schema_table_cnt; i++) {
		const struct schema_table *t = &schema_tables[i];
		size_t cnt = size ? roll(&d) % (size + 1) + 1 : 0;

		for (size_t k = 0; k < cnt; k++) {
			roll_record(&d, p, t, record);
			fix_record(&d, p, t->section, record);
			t->add(p, record); /* what exists already is refused */
		}
	}
	return p;
}

#endif
