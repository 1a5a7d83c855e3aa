/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding profiles; see merge.h. Every table of the source gets a map from its numbers to those of the
 * destination, in the order in which the tables refer to each other. */
#include "user/analysis/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/hash.h"
#include "user/base/mem.h"

struct merging {
	struct profile *dst;
	const struct profile *src;
	uint32_t *string, *mapping, *frame, *stack, *process, *thread;
	uint32_t request_base;
};

static uint32_t *new_map(size_t cnt)
{
	return xcalloc(cnt + 1, sizeof(uint32_t));
}

static void map_strings(struct merging *m)
{
	const struct strtab *from = &m->src->strings;

	m->string = new_map(from->cnt);
	for (size_t i = 0; i < from->cnt; i++)
		m->string[i] = strtab_addn(&m->dst->strings, from->strs[i], from->lens_bytes[i]);
}

static void map_processes(struct merging *m)
{
	struct profile *dst = m->dst;
	struct index have = { 0 };

	m->process = new_map(m->src->processes.cnt);
	for (uint32_t i = 1; i < dst->processes.cnt; i++)
		index_add(&have, hash_bytes(&dst->processes.items[i], sizeof(struct process)), i);
	for (size_t i = 1; i < m->src->processes.cnt; i++) {
		struct process pr = m->src->processes.items[i];
		struct index_iter it;

		pr.comm_sid = m->string[pr.comm_sid];
		pr.exe_sid = m->string[pr.exe_sid];
		pr.cgroup_sid = m->string[pr.cgroup_sid];
		it = index_find(&have, hash_bytes(&pr, sizeof(pr)));
		for (; index_hit(&have, &it); index_next(&have, &it))
			if (!memcmp(&dst->processes.items[it.elem], &pr, sizeof(pr)))
				m->process[i] = it.elem;
		if (!m->process[i])
			m->process[i] = profile__add_process(dst, &pr);
	}
	index_free(&have);
}

static void map_mappings(struct merging *m)
{
	struct profile *dst = m->dst;
	struct index have = { 0 };

	m->mapping = new_map(m->src->mappings.cnt);
	for (uint32_t i = 1; i < dst->mappings.cnt; i++)
		index_add(&have, hash_bytes(&dst->mappings.items[i], sizeof(struct mapping)), i);
	for (size_t i = 1; i < m->src->mappings.cnt; i++) {
		struct mapping mp = m->src->mappings.items[i];
		struct index_iter it;

		mp.path_sid = m->string[mp.path_sid];
		mp.tried_sid = m->string[mp.tried_sid];
		mp.process = m->process[mp.process];
		it = index_find(&have, hash_bytes(&mp, sizeof(mp)));
		for (; index_hit(&have, &it); index_next(&have, &it))
			if (!memcmp(&dst->mappings.items[it.elem], &mp, sizeof(mp)))
				m->mapping[i] = it.elem;
		if (!m->mapping[i])
			m->mapping[i] = profile__add_mapping(dst, &mp);
	}
	index_free(&have);
}

static void map_stacks(struct merging *m)
{
	m->frame = new_map(m->src->frames.cnt);
	for (size_t i = 1; i < m->src->frames.cnt; i++) {
		struct frame f = m->src->frames.items[i];

		f.mapping = m->mapping[f.mapping];
		f.name_sid = m->string[f.name_sid];
		f.module_sid = m->string[f.module_sid];
		f.file_sid = m->string[f.file_sid];
		m->frame[i] = profile__add_frame(m->dst, &f);
	}
	m->stack = new_map(m->src->stacks.cnt);
	for (size_t i = 1; i < m->src->stacks.cnt; i++) {
		const struct stack *s = &m->src->stacks.items[i];

		m->stack[i] = profile__add_stack(m->dst, m->stack[s->parent], m->frame[s->frame]);
	}
}

static void add_threads_and_sums(struct merging *m)
{
	m->thread = new_map(m->src->threads.cnt);
	for (size_t i = 1; i < m->src->threads.cnt; i++) {
		struct thread t = m->src->threads.items[i];

		t.process = m->process[t.process];
		t.comm_sid = m->string[t.comm_sid];
		m->thread[i] = profile__add_thread(m->dst, &t);
	}
	for (size_t i = 0; i < m->src->sums.cnt; i++) {
		struct sum s = m->src->sums.items[i];

		s.stack = m->stack[s.stack];
		s.process = m->process[s.process];
		s.thread = m->thread[s.thread];
		s.gate = m->string[s.gate];
		profile__add_sum(m->dst, &s);
	}
}

static void add_events(struct merging *m)
{
	for (size_t i = 0; i < m->src->requests.cnt; i++) {
		struct request r = m->src->requests.items[i];

		r.thread = m->thread[r.thread];
		r.gate = m->string[r.gate];
		r.label_sid = m->string[r.label_sid];
		profile__add_request(m->dst, &r);
	}
	for (size_t i = 0; i < m->src->intervals.cnt; i++) {
		struct interval iv = m->src->intervals.items[i];

		iv.thread = m->thread[iv.thread];
		iv.stack = m->stack[iv.stack];
		iv.waker = m->thread[iv.waker];
		iv.waker_stack = m->stack[iv.waker_stack];
		iv.request += iv.request ? m->request_base : 0;
		profile__add_interval(m->dst, &iv);
	}
	for (size_t i = 0; i < m->src->messages.cnt; i++) {
		struct message msg = m->src->messages.items[i];

		msg.thread = m->thread[msg.thread];
		msg.endpoint = m->string[msg.endpoint];
		profile__add_message(m->dst, &msg);
	}
	for (int cause = 0; cause < LOSS_SLOTS_CNT; cause++)
		profile__add_loss(m->dst, (enum loss_cause)cause, m->src->losses[cause].events,
				  m->src->losses[cause].ns);
}

/* Labels that hold for both, and those that only one has. */
static void join_labels(struct merging *m, bool dst_is_empty)
{
	struct profile *dst = m->dst;
	size_t had = dst->labels.cnt, kept = 0;

	for (size_t i = 0; i < m->src->labels.cnt; i++) {
		uint32_t key = m->string[m->src->labels.items[i].key_sid];
		uint32_t value = m->string[m->src->labels.items[i].value_sid];
		bool found = false;

		for (size_t j = 0; j < had; j++) {
			struct label *l = &dst->labels.items[j];

			found = found || l->key_sid == key;
			if (l->key_sid == key && l->value_sid != value)
				l->key_sid = 0; /* to go */
		}
		if (!found || dst_is_empty)
			profile__add_label(dst, profile__str(dst, key), profile__str(dst, value));
	}
	for (size_t i = 0; i < dst->labels.cnt; i++)
		if (dst->labels.items[i].key_sid)
			dst->labels.items[kept++] = dst->labels.items[i];
	dst->labels.cnt = kept;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void map_header_strings(struct merging *m, struct header *h)
{
	h->kernel_sid = m->string[h->kernel_sid];
	h->machine_sid = m->string[h->machine_sid];
	h->command_sid = m->string[h->command_sid];
	h->version_sid = m->string[h->version_sid];
	h->hook_sid = m->string[h->hook_sid];
	h->filter_sid = m->string[h->filter_sid];
	h->sampling_sid = m->string[h->sampling_sid];
	h->unit_sid = m->string[h->unit_sid];
}

static void join_headers(struct merging *m, bool dst_is_empty)
{
	struct header *d = &m->dst->header, s = m->src->header;

	map_header_strings(m, &s);
	if (dst_is_empty) {
		*d = s;
		return;
	}
	if (s.window_end_ns && (!d->window_end_ns || s.window_start_ns < d->window_start_ns)) {
		d->window_start_ns = s.window_start_ns;
		d->realtime_ns = s.realtime_ns;
	}
	d->window_end_ns = s.window_end_ns > d->window_end_ns ? s.window_end_ns : d->window_end_ns;
	d->sample_period_ns = d->sample_period_ns ? d->sample_period_ns : s.sample_period_ns;
	d->slice_ns = d->slice_ns ? d->slice_ns : s.slice_ns;
	d->switch_cnt = add_saturating(d->switch_cnt, s.switch_cnt);
	d->target_switch_cnt = add_saturating(d->target_switch_cnt, s.target_switch_cnt);
	d->bpf_ns = add_saturating(d->bpf_ns, s.bpf_ns);
	d->recalled_cnt = add_saturating(d->recalled_cnt, s.recalled_cnt);
	d->stolen_ns = add_saturating(d->stolen_ns, s.stolen_ns);
	d->bpf_sampled_cnt = add_saturating(d->bpf_sampled_cnt, s.bpf_sampled_cnt);
	d->user_cpu_ns = add_saturating(d->user_cpu_ns, s.user_cpu_ns);
	d->attach_ns = add_saturating(d->attach_ns, s.attach_ns);
	d->map_bytes = s.map_bytes > d->map_bytes ? s.map_bytes : d->map_bytes;
	d->peak_rss_bytes =
		s.peak_rss_bytes > d->peak_rss_bytes ? s.peak_rss_bytes : d->peak_rss_bytes;
	d->flags |= s.flags;
}

static const char *unit_of(const struct profile *p)
{
	const char *unit = profile__str(p, p->header.unit_sid);

	return *unit ? unit : "ns";
}

static int check_fit(const struct profile *dst, const struct profile *src, bool dst_is_empty,
		     struct err *err)
{
	if (!dst_is_empty && strcmp(unit_of(dst), unit_of(src)))
		return err_set(
			err, -EINVAL,
			"cannot add %s to %s; import --unit or --hz brings profiles to one unit",
			unit_of(src), unit_of(dst));
	if (dst->header.slice_ns && src->header.slice_ns &&
	    dst->header.slice_ns != src->header.slice_ns)
		return err_set(err, -EINVAL, "the profiles have time slices of different length");
	if (dst->stacks.cnt + src->stacks.cnt > UINT32_MAX / 2 ||
	    dst->frames.cnt + src->frames.cnt > UINT32_MAX / 2 ||
	    dst->sums.cnt + src->sums.cnt > UINT32_MAX / 2)
		return err_set(err, -EOVERFLOW, "the profiles are too large together");
	return 0;
}

int merge_profile(struct profile *dst, const struct profile *src, struct err *err)
{
	struct merging m = { .dst = dst, .src = src };
	bool dst_is_empty = !dst->sums.cnt && !dst->intervals.cnt && !dst->header.unit_sid;
	int rc = check_fit(dst, src, dst_is_empty, err);

	if (rc)
		return rc;
	m.request_base = (uint32_t)dst->requests.cnt;
	map_strings(&m);
	map_processes(&m);
	map_mappings(&m);
	map_stacks(&m);
	add_threads_and_sums(&m);
	add_events(&m);
	join_headers(&m, dst_is_empty);
	join_labels(&m, dst_is_empty);
	free(m.string);
	free(m.mapping);
	free(m.frame);
	free(m.stack);
	free(m.process);
	free(m.thread);
	return 0;
}
