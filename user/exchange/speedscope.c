/* SPDX-License-Identifier: GPL-2.0-or-later */
/* speedscope's own JSON (https://www.speedscope.app/file-format-schema.json): a shared table of frames, and
 * profiles that are either samples with weights or frames that open and close in time. Profiles of different
 * units cannot be added: the first one's unit is taken, the others are left out and counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/json.h"
#include "user/base/mem.h"
#include "user/exchange/eventstack.h"
#include "user/exchange/formats.h"
#include "user/exchange/jsontree.h"
#include "user/exchange/sink.h"
#include "user/model/nametree.h"

struct reader {
	struct intake intake;
	struct input *in;
	uint32_t *frames; /* by their number in the file */
	size_t frame_cnt;
	char unit[64];
	const char *profile_name;
	struct err *err;
};

static int bad(struct reader *r, size_t number, const char *what, const char *why)
{
	return err_set(r->err, -EINVAL, "%s: profile '%.200s', %s %zu: %s", input_path(r->in),
		       r->profile_name, what, number, why);
}

static void read_frames(struct reader *r, const struct jsonnode *root)
{
	size_t cnt;
	const struct jsonnode **list =
		jsontree_elements(jsontree_get(jsontree_get(root, "shared"), "frames"), &cnt);

	r->frames = xcalloc(cnt + 1, sizeof(*r->frames));
	for (size_t i = 0; i < cnt; i++) {
		uint64_t line = 0;

		jsontree_index(jsontree_get(list[i], "line"), UINT32_MAX, &line);
		r->frames[i] =
			intake_frame_at(&r->intake, jsontree_text(jsontree_get(list[i], "name")),
					jsontree_text(jsontree_get(list[i], "file")), line, "");
	}
	r->frame_cnt = cnt;
	free(list);
}

static int sample_stack(struct reader *r, const struct jsonnode *sample, size_t number,
			struct intake_key *key)
{
	for (const struct jsonnode *n = sample->first; n; n = n->next) {
		uint64_t frame;
		const char *name;
		size_t name_bytes;

		if (!r->frame_cnt || !jsontree_index(n, r->frame_cnt - 1, &frame))
			return bad(r, number, "sample",
				   "a frame number that shared.frames has not");
		name = profile__str(r->intake.profile,
				    r->intake.profile->frames.items[r->frames[frame]].name_sid);
		name_bytes = strlen(name);
		if (!n->next && key->stack)
			key->kind = intake_leaf_kind(name, name_bytes);
		if (!key->kind)
			key->stack =
				profile__add_stack(r->intake.profile, key->stack, r->frames[frame]);
	}
	return 0;
}

static int read_sampled(struct reader *r, const struct jsonnode *profile, uint32_t process)
{
	const struct jsonnode *samples = jsontree_get(profile, "samples"),
			      *weights = jsontree_get(profile, "weights"), *s, *w;
	size_t number = 0;

	if (!jsontree_is(samples, JSONTREE_ARRAY) || !jsontree_is(weights, JSONTREE_ARRAY))
		return bad(r, 0, "sample", "samples or weights are missing");
	if (samples->child_cnt != weights->child_cnt)
		return bad(r,
			   weights->child_cnt < samples->child_cnt ? weights->child_cnt :
								     samples->child_cnt,
			   "sample", "there are not as many weights as samples");
	for (s = samples->first, w = weights->first; s; s = s->next, w = w->next, number++) {
		struct intake_key key = { .process = process };
		struct foldtext_count weight;
		int rc;

		if (!jsontree_is(s, JSONTREE_ARRAY) || !jsontree_number(w, &weight) ||
		    (weight.is_negative && event_time_of(&weight)))
			return bad(r, number, "sample", "no stack, or a weight that is no count");
		rc = sample_stack(r, s, number, &key);
		if (rc)
			return rc;
		if (weight.whole || weight.nano)
			intake_add(&r->intake, &key, &weight,
				   r->intake.unit_ns || strcmp(r->unit, "samples") ? 0 :
										     weight.whole);
	}
	return 0;
}

static int read_event(struct reader *r, struct eventstack *stack, const struct jsonnode *event,
		      size_t number)
{
	const char *type = jsontree_text(jsontree_get(event, "type"));
	struct foldtext_count at;
	uint64_t frame;

	if (!jsontree_number(jsontree_get(event, "at"), &at))
		return bad(r, number, "event", "no time");
	if (!r->frame_cnt ||
	    !jsontree_index(jsontree_get(event, "frame"), r->frame_cnt - 1, &frame))
		return bad(r, number, "event", "a frame number that shared.frames has not");
	if (!eventstack_advance(stack, event_time_of(&at)))
		return bad(r, number, "event", "its time lies before that of the event before");
	if (!strcmp(type, "O")) {
		eventstack_open(stack, r->frames[frame], frame);
		return 0;
	}
	if (strcmp(type, "C"))
		return bad(r, number, "event", "neither opens (O) nor closes (C)");
	if (eventstack_tag(stack) != frame)
		return bad(r, number, "event", "closes a frame that is not the innermost open one");
	eventstack_close(stack);
	return 0;
}

static int read_evented(struct reader *r, const struct jsonnode *profile, uint32_t process)
{
	struct eventstack stack = { .intake = &r->intake, .key = { .process = process } };
	const struct jsonnode *events = jsontree_get(profile, "events");
	struct foldtext_count end;
	size_t number = 0;
	int rc = 0;

	if (!jsontree_is(events, JSONTREE_ARRAY))
		return bad(r, 0, "event", "events are missing");
	for (const struct jsonnode *e = events->first; e && !rc; e = e->next)
		rc = read_event(r, &stack, e, number++);
	if (!rc && stack.depth &&
	    (!jsontree_number(jsontree_get(profile, "endValue"), &end) ||
	     !eventstack_advance(&stack, event_time_of(&end))))
		rc = bad(r, number, "event",
			 "frames are open at the end, and endValue does not close them");
	eventstack_free(&stack);
	return rc;
}

static const char *unit_name(const char *unit)
{
	return !*unit || !strcmp(unit, "none") ? "samples" : unit;
}

static int read_profile(struct reader *r, const struct jsonnode *profile, bool is_one_of_many)
{
	const char *type = jsontree_text(jsontree_get(profile, "type"));
	const char *unit = unit_name(jsontree_text(jsontree_get(profile, "unit")));
	uint32_t process = 0;
	int rc = 0;

	r->profile_name = jsontree_text(jsontree_get(profile, "name"));
	if (!*r->unit) {
		snprintf(r->unit, sizeof(r->unit), "%s", unit);
		rc = intake_set_unit(&r->intake, unit, r->err);
	} else if (unit_ns(unit) != unit_ns(r->unit) || (!unit_ns(unit) && strcmp(unit, r->unit))) {
		intake_ignore(&r->intake, "profiles in another unit than the first one");
		return 0;
	}
	if (rc)
		return rc;
	if (is_one_of_many && *r->profile_name)
		process = profile__add_process(
			r->intake.profile,
			&(struct process){
				.comm_sid = profile__string(r->intake.profile, r->profile_name) });
	if (!strcmp(type, "sampled"))
		return read_sampled(r, profile, process);
	if (!strcmp(type, "evented"))
		return read_evented(r, profile, process);
	return bad(r, 0, "type", "neither sampled nor evented");
}

static int import_speedscope(struct input *in, const struct import_options *opts, struct profile *p,
			     struct import_report *report, struct err *err)
{
	struct reader r = { .in = in, .err = err };
	struct jsontree t;
	const struct jsonnode *profiles;
	int rc = intake_init(&r.intake, p, opts, report, err);

	if (rc)
		return rc;
	rc = jsontree_read(&t, in, false, err);
	if (!rc) {
		profiles = jsontree_get(t.root, "profiles");
		if (!jsontree_is(profiles, JSONTREE_ARRAY))
			rc = err_set(err, -EINVAL,
				     "%s: no list of profiles in this speedscope file",
				     input_path(in));
		else
			read_frames(&r, t.root);
		for (const struct jsonnode *n = rc ? NULL : profiles->first; n && !rc; n = n->next)
			rc = read_profile(&r, n, profiles->child_cnt > 1);
	}
	intake_finish(&r.intake);
	jsontree_free(&t);
	free(r.frames);
	return rc;
}

static bool sniff_speedscope(const char *head, size_t len_bytes)
{
	return memmem(head, len_bytes, "speedscope.app/file-format-schema", 33) != NULL ||
	       (memmem(head, len_bytes, "\"shared\"", 8) &&
		memmem(head, len_bytes, "\"frames\"", 8));
}

/* Frames of the file: those of the profile (number - 1), then the kinds, then the process names. */
struct writer {
	const struct profile *p;
	const struct export_options *opts;
	struct sink out;
	struct json json;
	struct buf text;
};

static void put_frame(struct writer *w, uint32_t frame)
{
	const struct frame *f = &w->p->frames.items[frame];
	const char *file = profile__str(w->p, f->file_sid);

	buf_reset(&w->text);
	frame_label(w->p, frame, w->opts->suffixes ? NAMETREE_SUFFIXES : 0, &w->text);
	json_begin_object(&w->json, NULL);
	json_str(&w->json, "name", buf_str(&w->text));
	if (*file)
		json_str(&w->json, "file", file);
	if (f->line)
		json_u64(&w->json, "line", f->line);
	json_end_object(&w->json);
	sink_flush_if_full(&w->out);
}

static void put_named_frame(struct writer *w, const char *name)
{
	json_begin_object(&w->json, NULL);
	json_str(&w->json, "name", name);
	json_end_object(&w->json);
}

static void put_frames(struct writer *w)
{
	char name[32];

	json_begin_object(&w->json, "shared");
	json_begin_array(&w->json, "frames");
	for (uint32_t i = 1; i < w->p->frames.cnt; i++)
		put_frame(w, i);
	for (int kind = 0; kind < KIND_MAX; kind++) {
		snprintf(name, sizeof(name), "[%s]", model_kind_name(kind));
		put_named_frame(w, name);
	}
	for (size_t i = 1; i < w->p->processes.cnt; i++)
		put_named_frame(w, profile__str(w->p, w->p->processes.items[i].comm_sid));
	json_end_array(&w->json);
	json_end_object(&w->json);
}

static void put_samples(struct writer *w)
{
	uint64_t kinds_at = w->p->frames.cnt - 1, processes_at = kinds_at + KIND_MAX;
	uint32_t *frames = NULL;
	size_t cap = 0;

	json_begin_array(&w->json, "samples");
	for (size_t i = 0; i < w->p->sums.cnt; i++) {
		const struct sum *s = &w->p->sums.items[i];
		size_t cnt = profile__frames(w->p, s->stack, &frames, &cap);

		json_begin_array(&w->json, NULL);
		if (*profile__str(w->p, w->p->processes.items[s->process].comm_sid))
			json_u64(&w->json, NULL, processes_at + s->process - 1);
		for (size_t f = 0; f < cnt; f++)
			json_u64(&w->json, NULL, frames[f] - 1);
		if (w->opts->kinds && s->kind && s->kind < KIND_MAX)
			json_u64(&w->json, NULL, kinds_at + s->kind);
		json_end_array(&w->json);
		sink_flush_if_full(&w->out);
	}
	json_end_array(&w->json);
	free(frames);
}

static void put_profile(struct writer *w, const char *unit)
{
	uint64_t total = 0;

	for (size_t i = 0; i < w->p->sums.cnt; i++)
		total += w->p->sums.items[i].ns;
	json_begin_array(&w->json, "profiles");
	json_begin_object(&w->json, NULL);
	json_str(&w->json, "type", "sampled");
	json_str(&w->json, "name", "causeprof");
	json_str(&w->json, "unit", unit);
	json_u64(&w->json, "startValue", 0);
	json_u64(&w->json, "endValue", total);
	put_samples(w);
	json_begin_array(&w->json, "weights");
	for (size_t i = 0; i < w->p->sums.cnt; i++)
		json_u64(&w->json, NULL, w->p->sums.items[i].ns);
	json_end_array(&w->json);
	json_end_object(&w->json);
	json_end_array(&w->json);
}

static int export_speedscope(const struct profile *p, const struct export_options *opts,
			     struct export_sink *to, struct err *err)
{
	struct writer w = { .p = p, .opts = opts, .out = { .to = to, .err = err } };
	const char *unit = profile__str(p, p->header.unit_sid);

	unit = !*unit || !strcmp(unit, "ns") ? "nanoseconds" :
	       !strcmp(unit, "bytes")	     ? unit :
					       "none";
	json_init(&w.json, &w.out.buf);
	json_begin_object(&w.json, NULL);
	json_str(&w.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_str(&w.json, "exporter", "causeprof");
	put_frames(&w);
	put_profile(&w, unit);
	json_end_object(&w.json);
	buf_free(&w.text);
	return sink_finish(&w.out);
}

const struct exchange_format format_speedscope = {
	.name = "speedscope",
	.extensions = ".speedscope.json",
	.summary = "speedscope's JSON",
	.sniff = sniff_speedscope,
	.import = import_speedscope,
	.export = export_speedscope,
};
