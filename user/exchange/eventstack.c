/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and closing of frames in time; see eventstack.h. */
#include "user/exchange/eventstack.h"

#include <stdlib.h>

#include "user/base/mem.h"

event_time event_time_of(const struct foldtext_count *c)
{
	event_time t = (event_time)c->whole * FOLDTEXT_NANO + c->nano;

	return c->is_negative ? -t : t;
}

static uint64_t to_ns(const struct eventstack *s, event_time t)
{
	event_time ns = t * (event_time)s->intake->unit_ns / FOLDTEXT_NANO;

	return ns < 0 ? 0 : ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static void add_interval(struct eventstack *s, event_time start, event_time end)
{
	const struct interval iv = { .start_ns = to_ns(s, start),
				     .end_ns = to_ns(s, end),
				     .thread = s->key.thread,
				     .stack = s->key.stack,
				     .kind = (uint8_t)s->key.kind };

	if (iv.end_ns > iv.start_ns)
		profile__add_interval(s->intake->profile, &iv);
}

bool eventstack_advance(struct eventstack *s, event_time at)
{
	event_time passed = s->has_time ? at - s->now : 0;

	if (passed < 0)
		return false;
	s->now = at;
	s->has_time = true;
	if (passed && s->depth) {
		const struct foldtext_count c = { .whole = passed / FOLDTEXT_NANO > UINT64_MAX ?
								   UINT64_MAX :
								   (uint64_t)(passed /
									      FOLDTEXT_NANO),
						  .nano = (uint32_t)(passed % FOLDTEXT_NANO) };

		s->key.stack = s->stacks[s->depth - 1];
		intake_add(s->intake, &s->key, &c, 0);
		if (s->keep_intervals && s->intake->unit_ns)
			add_interval(s, s->now - passed, at);
	}
	return true;
}

void eventstack_open(struct eventstack *s, uint32_t frame, uint64_t tag)
{
	uint32_t parent = s->depth ? s->stacks[s->depth - 1] : 0;

	if (s->depth == s->cap)
		s->stacks = xgrow(s->stacks, &s->cap, s->depth + 1, sizeof(*s->stacks));
	if (s->depth == s->tags_cap)
		s->tags = xgrow(s->tags, &s->tags_cap, s->depth + 1, sizeof(*s->tags));
	s->tags[s->depth] = tag;
	s->stacks[s->depth++] = profile__add_stack(s->intake->profile, parent, frame);
}

bool eventstack_close(struct eventstack *s)
{
	if (!s->depth)
		return false;
	s->depth--;
	return true;
}

uint64_t eventstack_tag(const struct eventstack *s)
{
	return s->depth ? s->tags[s->depth - 1] : UINT64_MAX;
}

void eventstack_free(struct eventstack *s)
{
	free(s->stacks);
	free(s->tags);
}
