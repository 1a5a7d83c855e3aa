/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of "perf script": for each sample a header and, from leaf to root, its frames, then a blank line.
 *
 *	java 24636/25607 [000] 94564.109216:     250000 cpu-clock:u:
 *	            7f89 Ljava/io/PrintStream;::println+0x1f (/tmp/perf-24636.map)
 *
 * Which fields a header has depends on perf's version and on -F; thread names hold blanks and digits. So the
 * time stamp ("digits.digits:") is found first and the fields before it are read from right to left. perf
 * without a time stamp is read as stackcollapse-perf.pl does: the first whole number is the thread.
 *
 * Functions repeat, so the frame of a line is remembered in a table of fixed size, by its name and module. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"
#include "user/exchange/formats.h"
#include "user/exchange/intake.h"
#include "user/exchange/perf_line.h"

enum {
	CACHE_SLOTS = 1 << 14,
	CACHE_TEXT_BYTES = 120
};

struct cache_slot {
	uint16_t name_bytes, module_bytes; /* 0 = free */
	uint32_t frame;
	char text[CACHE_TEXT_BYTES]; /* name, module */
};

struct perf_reader {
	struct intake intake;
	struct cache_slot *cache;
	uint32_t *frames; /* of the open sample, leaf first */
	size_t frame_cnt, frames_cap;
	uint32_t *last_frames, *last_stacks; /* of the sample before, root first */
	size_t last_cnt, last_frames_cap, last_stacks_cap;
	bool in_sample, skip_sample;
	uint64_t weight;
	uint32_t process;
	char event[64];
	bool has_event;
	struct buf text;
};

/* Samples that follow each other share their roots: what is equal is not looked up again. */
static uint32_t place_stack(struct perf_reader *r)
{
	size_t cnt = r->frame_cnt, at = 0;
	uint32_t stack;

	while (at < cnt && at < r->last_cnt && r->last_frames[at] == r->frames[cnt - 1 - at])
		at++;
	stack = at ? r->last_stacks[at - 1] : 0;
	if (cnt > r->last_frames_cap)
		r->last_frames = xgrow(r->last_frames, &r->last_frames_cap, cnt, sizeof(uint32_t));
	if (cnt > r->last_stacks_cap)
		r->last_stacks = xgrow(r->last_stacks, &r->last_stacks_cap, cnt, sizeof(uint32_t));
	for (; at < cnt; at++) {
		r->last_frames[at] = r->frames[cnt - 1 - at];
		stack = profile__add_stack(r->intake.profile, stack, r->last_frames[at]);
		r->last_stacks[at] = stack;
	}
	r->last_cnt = cnt;
	return stack;
}

static void end_sample(struct perf_reader *r)
{
	struct intake_key key = { .process = r->process };

	if (r->in_sample && !r->skip_sample) {
		key.stack = place_stack(r);
		intake_add_u64(&r->intake, &key, r->weight, 1);
	}
	r->in_sample = r->skip_sample = false;
	r->frame_cnt = 0;
}

static bool event_is(const struct perf_reader *r, const char *name)
{
	return !strcmp(r->event, name);
}

/* The first wanted sample decides what the values are. */
static int choose_event(struct perf_reader *r, const struct perf_header *h, struct err *err)
{
	size_t n = perf_event_base_bytes(h->event, h->event_bytes);
	const char *unit = "samples";

	snprintf(r->event, sizeof(r->event), "%.*s", (int)n, h->event);
	r->has_event = true;
	if (h->has_period &&
	    (event_is(r, "cpu-clock") || event_is(r, "task-clock") || event_is(r, "offcpu-time")))
		unit = "ns";
	else if (h->has_period && n && n < 60)
		unit = r->event;
	return intake_set_unit(&r->intake, unit, err);
}

static bool is_wanted(const struct perf_reader *r, const struct perf_header *h)
{
	const char *want = r->intake.opts->event ? r->intake.opts->event : r->event;
	size_t n = perf_event_base_bytes(h->event, h->event_bytes), want_bytes = strlen(want);

	if (!n || !want_bytes || !strcmp(want, "all"))
		return true;
	if (want_bytes == h->event_bytes && !memcmp(want, h->event, want_bytes))
		return true;
	n = n < sizeof(r->event) ? n : sizeof(r->event) - 1;
	return want_bytes == n && !memcmp(want, h->event, n);
}

static void push_frame(struct perf_reader *r, uint32_t frame)
{
	if (r->frame_cnt == r->frames_cap)
		r->frames = xgrow(r->frames, &r->frames_cap, r->frame_cnt + 1, sizeof(*r->frames));
	r->frames[r->frame_cnt++] = frame;
}

static uint32_t make_frame(struct perf_reader *r, const struct perf_frame *f, const char *name,
			   size_t name_bytes)
{
	struct profile *p = r->intake.profile;
	struct frame out = { .kind = (uint8_t)f->kind, .flags = f->is_inlined ? FRAME_INLINED : 0 };

	buf_reset(&r->text);
	perf_frame_name(f, name, name_bytes, r->intake.opts->tidy, &r->text);
	out.name_sid = strtab_add(&p->strings, buf_str(&r->text));
	out.module_sid = strtab_addn(&p->strings, f->module, strnlen(f->module, f->module_bytes));
	return profile__add_frame(p, &out);
}

/* A compiler that inlines names a compiled function "outer->inner->innermost". */
static void push_jit_frames(struct perf_reader *r, struct perf_frame *f)
{
	const char *end = f->name + f->name_bytes;

	while (end > f->name) {
		const char *start = end;

		while (start > f->name &&
		       !(start - f->name >= 2 && start[-1] == '>' && start[-2] == '-'))
			start--;
		f->is_inlined = start > f->name;
		push_frame(r, make_frame(r, f, start, (size_t)(end - start)));
		end = start > f->name ? start - 2 : start;
	}
}

/* What decides the frame of a line: all but the address in front and the offset before the module. */
struct line_key {
	const char *name, *module;
	size_t name_bytes, module_bytes;
};

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Where "+0x1f" begins if that stands before end, else end. */
static const char *offset_start(const char *start, const char *end)
{
	const char *hex = end;

	while (hex > start && is_hex(hex[-1]))
		hex--;
	return hex < end && hex - start > 3 && !memcmp(hex - 3, "+0x", 3) ? hex - 3 : end;
}

static bool make_key(const char *line, size_t len_bytes, struct line_key *k)
{
	const char *s = line, *end = line + len_bytes;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	while (s < end && is_hex(*s))
		s++;
	if (s == end || *s != ' ')
		return false;
	k->name = s;
	k->module = memrchr(s, '(', (size_t)(end - s));
	if (!k->module || k->module - s < 2)
		return false;
	k->module_bytes = (size_t)(end - k->module);
	k->name_bytes = (size_t)(offset_start(s, k->module - 1) - s);
	return k->name_bytes + k->module_bytes <= CACHE_TEXT_BYTES;
}

static struct cache_slot *slot_of(struct perf_reader *r, const struct line_key *k, bool *is_hit)
{
	/* the module seldom differs for one name; where it does, the two take turns */
	struct cache_slot *slot = &r->cache[hash_bytes(k->name, k->name_bytes) % CACHE_SLOTS];

	*is_hit = slot->name_bytes == k->name_bytes && slot->module_bytes == k->module_bytes &&
		  !memcmp(slot->text, k->name, k->name_bytes) &&
		  !memcmp(slot->text + k->name_bytes, k->module, k->module_bytes);
	return slot;
}

static void fill_slot(struct cache_slot *slot, const struct line_key *k, uint32_t frame)
{
	slot->name_bytes = (uint16_t)k->name_bytes;
	slot->module_bytes = (uint16_t)k->module_bytes;
	slot->frame = frame;
	memcpy(slot->text, k->name, k->name_bytes);
	memcpy(slot->text + k->name_bytes, k->module, k->module_bytes);
}

static bool add_frame(struct perf_reader *r, const char *line, size_t len_bytes)
{
	struct cache_slot *slot = NULL;
	struct line_key key;
	struct perf_frame f;
	bool is_hit = false;

	if (make_key(line, len_bytes, &key))
		slot = slot_of(r, &key, &is_hit);
	if (is_hit) {
		push_frame(r, slot->frame);
		return true;
	}
	if (!perf_parse_frame(line, len_bytes, &f))
		return false;
	if (f.is_process_name)
		return true;
	if (f.kind == FRAME_JIT && memmem(f.name, f.name_bytes, "->", 2)) {
		push_jit_frames(r, &f);
		return true;
	}
	push_frame(r, make_frame(r, &f, f.name, f.name_bytes));
	if (slot)
		fill_slot(slot, &key, r->frames[r->frame_cnt - 1]);
	return true;
}

static int begin_sample(struct perf_reader *r, const struct perf_header *h, struct err *err)
{
	int rc = 0;

	end_sample(r);
	if (!r->has_event && (!r->intake.opts->event || is_wanted(r, h)))
		rc = choose_event(r, h, err);
	r->in_sample = true;
	r->skip_sample = !is_wanted(r, h);
	if (r->skip_sample)
		intake_ignore(&r->intake, "samples of other events; --event takes them");
	else
		r->process = intake_process(&r->intake, h->comm, h->comm_bytes, (uint32_t)h->pid);
	r->weight = h->has_period && r->intake.opts->samples_hz <= 0 ? h->period : 1;
	if (h->rest_bytes && add_frame(r, h->rest, h->rest_bytes))
		end_sample(r); /* the whole sample stood on one line */
	return rc;
}

static int read_line(struct perf_reader *r, const char *line, size_t len_bytes, uint64_t line_no,
		     struct err *err)
{
	struct perf_header h;

	if (!len_bytes) {
		end_sample(r);
		return 0;
	}
	if (line[0] == '#' && !r->in_sample)
		return 0;
	if (r->in_sample && r->skip_sample && isspace((unsigned char)line[0]))
		return 0;
	if (r->in_sample && add_frame(r, line, len_bytes))
		return 0;
	if (perf_parse_header(line, len_bytes, &h))
		return begin_sample(r, &h, err);
	intake_reject(&r->intake, line_no,
		      r->in_sample ? "neither a frame nor a new sample" : "no sample begins here");
	return 0;
}

static int import_perf(struct input *in, const struct import_options *opts, struct profile *p,
		       struct import_report *report, struct err *err)
{
	struct perf_reader r = { .in_sample = false };
	char *line;
	size_t len_bytes;
	int rc = intake_init(&r.intake, p, opts, report, err);

	r.cache = xcalloc(CACHE_SLOTS, sizeof(*r.cache));
	while (!rc && (rc = input_line(in, IMPORT_LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		rc = read_line(&r, line, len_bytes, input_line_no(in), err);
		intake_progress(&r.intake, in);
	}
	if (!rc)
		end_sample(&r);
	intake_finish(&r.intake);
	buf_free(&r.text);
	free(r.frames);
	free(r.last_frames);
	free(r.last_stacks);
	free(r.cache);
	return rc;
}

static bool sniff_perf(const char *head, size_t len_bytes)
{
	const char *end = head + len_bytes;
	struct perf_header h;

	for (int i = 0; i < 60 && head < end; i++) {
		const char *nl = memchr(head, '\n', (size_t)(end - head)), *stop = nl ? nl : end;

		if (stop > head && stop[-1] == '\r')
			stop--;
		if (stop > head && *head != '#')
			return perf_parse_header(head, (size_t)(stop - head), &h) &&
			       (h.event_bytes || h.has_time);
		if (!nl)
			break;
		head = nl + 1;
	}
	return false;
}

const struct exchange_format format_perf_script = {
	.name = "perf",
	.extensions = ".perf .perf.txt",
	.summary = "the text of perf script",
	.sniff = sniff_perf,
	.import = import_perf,
};
