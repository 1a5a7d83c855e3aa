/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a profile as data; see schema.h. Fields are appended, never moved: their order is on disk. */
#include "user/store/schema.h"

#include <errno.h>
#include <string.h>

#include "user/base/mem.h"

#define FIELD(record, member, field_type, ...)                                                  \
	{                                                                                       \
		.name = #member, .off_bytes = offsetof(record, member),                         \
		.width_bytes = sizeof(((record *)0)->member), .type = (field_type), __VA_ARGS__ \
	}
#define NUMBER(record, member)	     FIELD(record, member, FIELD_NUMBER, .coding = CODING_PLAIN)
#define HEX(record, member)	     FIELD(record, member, FIELD_HEX, .coding = CODING_PLAIN)
#define CODED(record, member, how)   FIELD(record, member, FIELD_NUMBER, .coding = (how))
#define ENUM(record, member, names)  FIELD(record, member, FIELD_ENUM, .value_name = (names))
#define FLAGS(record, member, names) FIELD(record, member, FIELD_FLAGS, .flag_names = (names))
#define STRING(record, member, text)                                               \
	{                                                                          \
		.name = (text), .off_bytes = offsetof(record, member),             \
		.width_bytes = sizeof(((record *)0)->member), .type = FIELD_STRING \
	}

static const char *frame_kind_name(int kind)
{
	static const char *const names[FRAME_KIND_MAX] = {
		[FRAME_USER] = "user", [FRAME_KERNEL] = "kernel",	    [FRAME_MARK] = "mark",
		[FRAME_JIT] = "jit",   [FRAME_INTERPRETED] = "interpreted",
	};

	return kind >= 0 && kind < FRAME_KIND_MAX ? names[kind] : "?";
}

static const char *name_reason_name(int reason)
{
	return reason == NAME_OK ? "ok" : model_name_reason(reason);
}

static const char *direction_name(int direction)
{
	return direction == 0 ? "sent" : direction == 1 ? "received" : "?";
}

static const char *const frame_flags[] = { "inlined", "by_fp", "signal", "exact_pc", NULL };
static const char *const part_flags[] = { "cut_start", "cut_end",     "asleep_throughout",
					  "filtered",  "not_sampled", NULL };
static const char *const thread_flags[] = { "kernel", "born",	    "died", "asleep_throughout",
					    "idle",   "no_witness", NULL };
static const char *const header_flags[] = { "has_intervals", "interrupted", "imported", NULL };

const struct schema_field schema_facts[] = {
	NUMBER(struct header, window_start_ns),
	NUMBER(struct header, window_end_ns),
	NUMBER(struct header, realtime_ns),
	NUMBER(struct header, sample_period_ns),
	NUMBER(struct header, slice_ns),
	NUMBER(struct header, switch_cnt),
	NUMBER(struct header, target_switch_cnt),
	NUMBER(struct header, bpf_ns),
	NUMBER(struct header, bpf_sampled_cnt),
	NUMBER(struct header, user_cpu_ns),
	NUMBER(struct header, attach_ns),
	NUMBER(struct header, map_bytes),
	NUMBER(struct header, peak_rss_bytes),
	NUMBER(struct header, cpu_cnt),
	STRING(struct header, kernel_sid, "kernel"),
	STRING(struct header, machine_sid, "machine"),
	STRING(struct header, command_sid, "command"),
	STRING(struct header, version_sid, "version"),
	STRING(struct header, hook_sid, "hook"),
	STRING(struct header, filter_sid, "filter"),
	STRING(struct header, sampling_sid, "sampling"),
	STRING(struct header, unit_sid, "unit"),
	FLAGS(struct header, flags, header_flags),
	NUMBER(struct header, recalled_cnt),
	NUMBER(struct header, stolen_ns),
};
const size_t schema_fact_cnt = ARRAY_CNT(schema_facts);

static const struct schema_field mapping_fields[] = {
	HEX(struct mapping, start),
	FIELD(struct mapping, end, FIELD_HEX, .coding = CODING_SPAN),
	HEX(struct mapping, off_bytes),
	STRING(struct mapping, path_sid, "path"),
	NUMBER(struct mapping, build_id_bytes),
	FIELD(struct mapping, build_id, FIELD_BYTES, .coding = CODING_PLAIN),
	NUMBER(struct mapping, process),
	STRING(struct mapping, tried_sid, "tried"),
};

static const struct schema_field frame_fields[] = {
	HEX(struct frame, addr),
	NUMBER(struct frame, mapping),
	STRING(struct frame, name_sid, "name"),
	STRING(struct frame, module_sid, "module"),
	STRING(struct frame, file_sid, "file"),
	NUMBER(struct frame, line),
	ENUM(struct frame, kind, frame_kind_name),
	FLAGS(struct frame, flags, frame_flags),
	ENUM(struct frame, reason, name_reason_name),
	HEX(struct frame, function),
};

static const struct schema_field stack_fields[] = {
	NUMBER(struct stack, parent),
	NUMBER(struct stack, frame),
};

static const struct schema_field process_fields[] = {
	NUMBER(struct process, pid),
	NUMBER(struct process, ns_pid),
	NUMBER(struct process, parent_pid),
	NUMBER(struct process, generation),
	NUMBER(struct process, start_ns),
	STRING(struct process, comm_sid, "comm"),
	STRING(struct process, exe_sid, "exe"),
	STRING(struct process, cgroup_sid, "cgroup"),
};

static const struct schema_field thread_fields[] = {
	NUMBER(struct thread, tid),
	NUMBER(struct thread, ns_tid),
	NUMBER(struct thread, process),
	STRING(struct thread, comm_sid, "comm"),
	NUMBER(struct thread, first_ns),
	CODED(struct thread, last_ns, CODING_SPAN),
	NUMBER(struct thread, running_ns),
	NUMBER(struct thread, runnable_ns),
	NUMBER(struct thread, blocked_ns),
	NUMBER(struct thread, kernel_running_ns),
	NUMBER(struct thread, kernel_runnable_ns),
	NUMBER(struct thread, voluntary_cnt),
	NUMBER(struct thread, involuntary_cnt),
	NUMBER(struct thread, sample_cnt),
	FLAGS(struct thread, flags, thread_flags),
};

static const struct schema_field sum_fields[] = {
	NUMBER(struct sum, stack),
	NUMBER(struct sum, process),
	NUMBER(struct sum, thread),
	NUMBER(struct sum, slice),
	STRING(struct sum, gate, "gate"),
	ENUM(struct sum, kind, model_kind_name),
	FLAGS(struct sum, flags, part_flags),
	NUMBER(struct sum, latency_class),
	NUMBER(struct sum, ns),
	NUMBER(struct sum, cnt),
};

static const struct schema_field interval_fields[] = {
	CODED(struct interval, start_ns, CODING_DELTA),
	CODED(struct interval, end_ns, CODING_SPAN),
	NUMBER(struct interval, thread),
	NUMBER(struct interval, stack),
	NUMBER(struct interval, waker),
	NUMBER(struct interval, waker_stack),
	NUMBER(struct interval, request),
	ENUM(struct interval, kind, model_kind_name),
	FLAGS(struct interval, flags, part_flags),
};

static const struct schema_field request_fields[] = {
	CODED(struct request, start_ns, CODING_DELTA),
	CODED(struct request, end_ns, CODING_SPAN),
	NUMBER(struct request, thread),
	STRING(struct request, gate, "gate"),
	STRING(struct request, label_sid, "label"),
};

static const struct schema_field message_fields[] = {
	CODED(struct message, time_ns, CODING_DELTA),
	NUMBER(struct message, call_ns),
	NUMBER(struct message, stream_pos),
	NUMBER(struct message, thread),
	STRING(struct message, endpoint, "endpoint"),
	NUMBER(struct message, bytes),
	ENUM(struct message, direction, direction_name),
};

static const struct schema_field loss_fields[] = {
	ENUM(struct loss_record, cause, model_loss_cause),
	NUMBER(struct loss_record, events),
	NUMBER(struct loss_record, ns),
};

static const struct schema_field label_fields[] = {
	STRING(struct label, key_sid, "key"),
	STRING(struct label, value_sid, "value"),
};

/* How to reach a table: its records, and how to append one. */
#define ACCESS(table, type, add_call)                                          \
	static const void *table##_items(const struct profile *p, size_t *cnt) \
	{                                                                      \
		*cnt = p->table.cnt;                                           \
		return p->table.items;                                         \
	}                                                                      \
	static int table##_add(struct profile *p, const void *record)          \
	{                                                                      \
		const struct type *r = record;                                 \
		size_t before = p->table.cnt;                                  \
                                                                               \
		add_call;                                                      \
		return p->table.cnt > before ? 0 : -EEXIST;                    \
	}

/* By id, not by text: the ids are checked later, and a string may hold NUL bytes. */
static void append_label(struct profile *p, const struct label *l)
{
	p->labels.items = xgrow(p->labels.items, &p->labels.cap, p->labels.cnt + 1, sizeof(*l));
	p->labels.items[p->labels.cnt++] = *l;
}

ACCESS(mappings, mapping, profile__add_mapping(p, r))
ACCESS(frames, frame, profile__add_frame(p, r))
ACCESS(stacks, stack, profile__add_stack(p, r->parent, r->frame))
ACCESS(processes, process, profile__add_process(p, r))
ACCESS(threads, thread, profile__add_thread(p, r))
ACCESS(sums, sum, profile__add_sum(p, r))
ACCESS(intervals, interval, profile__add_interval(p, r))
ACCESS(requests, request, profile__add_request(p, r))
ACCESS(messages, message, profile__add_message(p, r))
ACCESS(labels, label, append_label(p, r))

static int loss_add(struct profile *p, const void *record)
{
	const struct loss_record *r = record;

	if (r->cause >= LOSS_SLOTS_CNT)
		return -ERANGE;
	if (p->losses[r->cause].events || p->losses[r->cause].ns)
		return -EEXIST;
	profile__add_loss(p, (enum loss_cause)r->cause, r->events, r->ns);
	return 0;
}

#define TABLE(number, table, singular, type, first_no)                                            \
	{                                                                                         \
		.section = (number), .name = #singular, .section_name = #table,                   \
		.fields = singular##_fields, .field_cnt = ARRAY_CNT(singular##_fields),           \
		.record_bytes = sizeof(struct type), .first = (first_no), .items = table##_items, \
		.add = table##_add,                                                               \
	}

const struct schema_table schema_tables[] = {
	TABLE(SECTION_PROCESSES, processes, process, process, 1),
	TABLE(SECTION_THREADS, threads, thread, thread, 1),
	TABLE(SECTION_MAPPINGS, mappings, mapping, mapping, 1),
	TABLE(SECTION_FRAMES, frames, frame, frame, 1),
	TABLE(SECTION_STACKS, stacks, stack, stack, 1),
	TABLE(SECTION_SUMS, sums, sum, sum, 0),
	TABLE(SECTION_INTERVALS, intervals, interval, interval, 0),
	TABLE(SECTION_REQUESTS, requests, request, request, 0),
	TABLE(SECTION_MESSAGES, messages, message, message, 0),
	TABLE(SECTION_LABELS, labels, label, label, 0),
	{ SECTION_LOSS, "loss", "loss", loss_fields, ARRAY_CNT(loss_fields),
	  sizeof(struct loss_record), 0, NULL, loss_add },
};
const size_t schema_table_cnt = ARRAY_CNT(schema_tables);

const struct schema_table *schema_find(uint32_t section)
{
	for (size_t i = 0; i < schema_table_cnt; i++)
		if (schema_tables[i].section == section)
			return &schema_tables[i];
	return NULL;
}

const struct schema_table *schema_find_name(const char *name)
{
	for (size_t i = 0; i < schema_table_cnt; i++)
		if (!strcmp(schema_tables[i].name, name))
			return &schema_tables[i];
	return NULL;
}

size_t schema_disk_bytes(const struct schema_table *t)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->field_cnt; i++)
		sum += t->fields[i].width_bytes;
	return sum;
}

const void *schema_records(const struct schema_table *t, const struct profile *p,
			   struct loss_record losses[LOSS_SLOTS_CNT], size_t *cnt)
{
	const char *items;

	if (t->items) {
		items = t->items(p, cnt);
		*cnt -= t->first;
		return items ? items + t->first * t->record_bytes : NULL;
	}
	*cnt = 0;
	for (uint32_t i = 0; i < LOSS_SLOTS_CNT; i++)
		if (p->losses[i].events || p->losses[i].ns)
			losses[(*cnt)++] =
				(struct loss_record){ i, 0, p->losses[i].events, p->losses[i].ns };
	return losses;
}

uint64_t schema_get(const void *record, const struct schema_field *f)
{
	const char *at = (const char *)record + f->off_bytes;
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (f->width_bytes) {
	case 8:
		memcpy(&v8, at, 8);
		return v8;
	case 4:
		memcpy(&v4, at, 4);
		return v4;
	case 2:
		memcpy(&v2, at, 2);
		return v2;
	default:
		return (uint8_t)*at;
	}
}

void schema_set(void *record, const struct schema_field *f, uint64_t value)
{
	char *at = (char *)record + f->off_bytes;
	uint32_t v4 = (uint32_t)value;
	uint16_t v2 = (uint16_t)value;

	switch (f->width_bytes) {
	case 8:
		memcpy(at, &value, 8);
		break;
	case 4:
		memcpy(at, &v4, 4);
		break;
	case 2:
		memcpy(at, &v2, 2);
		break;
	default:
		*at = (char)value;
	}
}
