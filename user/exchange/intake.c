/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units, rounding and naming for importers; see intake.h. */
#include "user/exchange/intake.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

enum {
	HZ_SCALE = 1000 /* rates are kept to a thousandth of a hertz */
};

uint64_t unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },	     { "nanoseconds", 1 },	  { "nanosecond", 1 },
		{ "us", 1000 },	     { "microseconds", 1000 },	  { "microsecond", 1000 },
		{ "ms", 1000000 },   { "milliseconds", 1000000 }, { "millisecond", 1000000 },
		{ "s", 1000000000 }, { "seconds", 1000000000 },	  { "second", 1000000000 },
	};

	for (size_t i = 0; i < ARRAY_CNT(units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return 0;
}

int intake_init(struct intake *k, struct profile *p, const struct import_options *opts,
		struct import_report *report, struct err *err)
{
	*k = (struct intake){ .profile = p, .opts = opts, .report = report };
	k->period_num = k->period_den = 1;
	p->header.flags |= HEADER_IMPORTED;
	if (opts->samples_hz < 0 ||
	    (opts->samples_hz > 0 && (opts->samples_hz * HZ_SCALE < 1 || opts->samples_hz > 1e9)))
		return err_set(err, -ERANGE, "the sampling rate must be 0.001 to 1e9 Hz");
	return intake_set_unit(k, "samples", err);
}

int intake_set_unit(struct intake *k, const char *default_unit, struct err *err)
{
	const char *unit = k->opts->unit ? k->opts->unit : default_unit;
	struct header *h = &k->profile->header;

	if (!*unit || strlen(unit) > 60)
		return err_set(err, -EINVAL, "the unit must be ns, us, ms, s or a short noun");
	k->unit_ns = unit_ns(unit);
	if (k->opts->samples_hz > 0) {
		k->period_num = (uint64_t)1000000000 * HZ_SCALE;
		k->period_den = (uint64_t)llround(k->opts->samples_hz * HZ_SCALE);
		k->unit_ns = 1;
		h->sample_period_ns = (k->period_num + k->period_den / 2) / k->period_den;
	} else {
		k->period_num = k->unit_ns ? k->unit_ns : 1;
		k->period_den = 1;
	}
	h->unit_sid = profile__string(k->profile, k->unit_ns ? "ns" : unit);
	return 0;
}

void intake_finish(struct intake *k)
{
	struct profile *p = k->profile;

	for (size_t i = 0; k->fractions && i < p->sums.cnt && i < k->fractions_cap; i++) {
		if (!k->fractions[i])
			continue;
		k->report->rounded_cnt++;
		if (k->fractions[i] >= FOLDTEXT_NANO / 2 && p->sums.items[i].ns < UINT64_MAX)
			p->sums.items[i].ns++;
	}
	free(k->fractions);
	k->fractions = NULL;
	buf_free(&k->text);
	index_free(&k->process_index);
}

static bool ends_in(const char *name, size_t len_bytes, char letter)
{
	return len_bytes > 4 && name[len_bytes - 4] == '_' && name[len_bytes - 3] == '[' &&
	       name[len_bytes - 2] == letter && name[len_bytes - 1] == ']';
}

/* What the name's suffix says; returns the length without it. */
static size_t take_suffix(struct frame *f, const char *name, size_t len_bytes)
{
	if (ends_in(name, len_bytes, 'k')) {
		f->kind = FRAME_KERNEL;
		len_bytes -= 4;
	} else if (ends_in(name, len_bytes, 'i')) {
		f->flags = FRAME_INLINED;
		len_bytes -= 4;
	} else if (ends_in(name, len_bytes, 'j')) {
		f->kind = FRAME_JIT;
		len_bytes -= 4;
	} else if (ends_in(name, len_bytes, 'p')) {
		f->kind = FRAME_INTERPRETED;
		len_bytes -= 4;
	} else if (len_bytes && len_bytes <= 2 && !memcmp(name, "--", len_bytes)) {
		f->kind = FRAME_MARK;
	}
	return len_bytes;
}

uint32_t intake_frame(struct intake *k, const char *name, size_t len_bytes)
{
	struct frame f = { .kind = FRAME_USER };

	len_bytes = take_suffix(&f, name, len_bytes);
	f.name_sid = strtab_addn(&k->profile->strings, name, strnlen(name, len_bytes));
	return profile__add_frame(k->profile, &f);
}

uint32_t intake_frame_at(struct intake *k, const char *name, const char *file, uint64_t line,
			 const char *module)
{
	struct frame f = { .kind = FRAME_USER };

	f.name_sid = strtab_addn(&k->profile->strings, name, take_suffix(&f, name, strlen(name)));
	f.file_sid = profile__string(k->profile, file);
	f.line = line <= UINT32_MAX ? (uint32_t)line : 0;
	f.module_sid = profile__string(k->profile, module);
	return profile__add_frame(k->profile, &f);
}

int intake_leaf_kind(const char *name, size_t len_bytes)
{
	if (len_bytes < 3 || name[0] != '[' || name[len_bytes - 1] != ']')
		return KIND_NONE;
	for (int kind = KIND_RUNNING; kind < KIND_MAX; kind++) {
		const char *want = model_kind_name(kind);

		if (strlen(want) == len_bytes - 2 && !memcmp(want, name + 1, len_bytes - 2))
			return kind;
	}
	return KIND_NONE;
}

int intake_kind_by_name(const char *name)
{
	for (int kind = KIND_RUNNING; kind < KIND_MAX; kind++)
		if (!strcmp(name, model_kind_name(kind)))
			return kind;
	return KIND_NONE;
}

int intake_kind_of_type(const char *type)
{
	if (!strcmp(type, "cpu"))
		return KIND_RUNNING;
	if (!strcmp(type, "off_cpu") || !strcmp(type, "offcpu") || !strcmp(type, "delay"))
		return KIND_SLEEP;
	return KIND_NONE;
}

uint32_t intake_process(struct intake *k, const char *comm, size_t comm_bytes, uint32_t pid)
{
	struct profile *p = k->profile;
	struct process pr = { .pid = pid, .ns_pid = pid };
	struct index_iter it;
	uint64_t hash;
	uint32_t id;

	if (!comm_bytes && !pid)
		return 0;
	pr.comm_sid = strtab_addn(&p->strings, comm, strnlen(comm, comm_bytes));
	hash = hash_pair(pr.comm_sid, pid);
	it = index_find(&k->process_index, hash);
	for (; index_hit(&k->process_index, &it); index_next(&k->process_index, &it)) {
		const struct process *have = &p->processes.items[it.elem];

		if (have->comm_sid == pr.comm_sid && have->pid == pid)
			return it.elem;
	}
	id = profile__add_process(p, &pr);
	index_add(&k->process_index, hash, id);
	return id;
}

const char *intake_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && *path != '[' ? slash + 1 : path;
}

int intake_module_kind(const char *base_name)
{
	if (!strncmp(base_name, "[kernel", 7) || !strncmp(base_name, "vmlinux", 7))
		return FRAME_KERNEL;
	if (!strncmp(base_name, "[JIT", 4) ||
	    (!strncmp(base_name, "perf-", 5) && strstr(base_name, ".map")))
		return FRAME_JIT;
	return FRAME_USER;
}

static void add_fraction(struct intake *k, uint32_t sum, uint32_t nano)
{
	uint32_t *fraction;

	if (!nano)
		return;
	if (sum >= k->fractions_cap) {
		size_t old = k->fractions_cap;

		k->fractions =
			xgrow(k->fractions, &k->fractions_cap, sum + 1, sizeof(*k->fractions));
		memset(k->fractions + old, 0, (k->fractions_cap - old) * sizeof(*k->fractions));
	}
	fraction = &k->fractions[sum];
	*fraction += nano;
	if (*fraction >= FOLDTEXT_NANO) {
		uint64_t *ns = &k->profile->sums.items[sum].ns;

		*fraction -= FOLDTEXT_NANO;
		*ns += *ns < UINT64_MAX;
	}
}

/* whole + nano / 1e9 times num / den. */
static void scale(struct intake *k, const struct foldtext_count *v, uint64_t *whole, uint32_t *nano)
{
	unsigned __int128 fixed = (unsigned __int128)v->whole * FOLDTEXT_NANO + v->nano;
	const unsigned __int128 limit = ((unsigned __int128)1 << 127) / k->period_num;

	*whole = UINT64_MAX;
	*nano = 0;
	if (v->is_saturated || fixed > limit) {
		k->report->saturated_cnt++;
		return;
	}
	fixed = fixed * k->period_num / k->period_den;
	if (fixed / FOLDTEXT_NANO > UINT64_MAX) {
		k->report->saturated_cnt++;
		return;
	}
	*whole = (uint64_t)(fixed / FOLDTEXT_NANO);
	*nano = (uint32_t)(fixed % FOLDTEXT_NANO);
}

void intake_add(struct intake *k, const struct intake_key *key, const struct foldtext_count *value,
		uint64_t events)
{
	struct sum s = {
		.stack = key->stack, .process = key->process, .thread = key->thread, .cnt = events
	};
	uint32_t nano, id;

	s.kind = (uint8_t)(key->kind ? key->kind : k->opts->kind);
	scale(k, value, &s.ns, &nano);
	id = profile__add_sum(k->profile, &s);
	add_fraction(k, id, nano);
}

void intake_add_u64(struct intake *k, const struct intake_key *key, uint64_t value, uint64_t events)
{
	const struct foldtext_count c = { .whole = value };

	intake_add(k, key, &c, events);
}

void intake_reject(struct intake *k, uint64_t number, const char *why)
{
	if (!k->report->rejected_cnt++) {
		k->report->first_rejected = number;
		snprintf(k->report->first_why, sizeof(k->report->first_why), "%s", why);
	}
}

void intake_ignore(struct intake *k, const char *why)
{
	if (!k->report->ignored_cnt++)
		snprintf(k->report->ignored_why, sizeof(k->report->ignored_why), "%s", why);
}

void intake_progress(struct intake *k, const struct input *in)
{
	uint64_t done = input_raw_bytes(in);

	if (!k->opts->progress || done < k->next_progress_bytes)
		return;
	k->next_progress_bytes = done + (1 << 20);
	k->opts->progress(k->opts->progress_ctx, done, input_total_bytes(in));
}
