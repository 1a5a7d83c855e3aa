/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile in memory: tables that refer to each other by element number. Entry 0 of strings, frames,
 * stacks, mappings, processes and threads means "none" and always exists. Times are nanoseconds of
 * CLOCK_MONOTONIC unless said otherwise. A stack is a chain of frames from leaf to root through parent:
 * stacks[id] = (parent, frame), parent nearer to the root, so that equal callers are stored once.
 *
 * The profile owns everything; pointers into tables are borrowed until the next profile__add of that kind. */
#ifndef CP_USER_MODEL_PROFILE_H
#define CP_USER_MODEL_PROFILE_H

#include <stdint.h>

#include "user/base/err.h"
#include "user/base/index.h"
#include "user/base/strtab.h"
#include "user/model/header.h"
#include "user/model/records.h"

/* One table: items, cnt, cap. */
#define PROFILE_TABLE(type)      \
	struct {                 \
		type *items;     \
		size_t cnt, cap; \
	}

struct profile {
	struct header header;
	struct strtab strings;
	PROFILE_TABLE(struct mapping) mappings;
	PROFILE_TABLE(struct frame) frames;
	PROFILE_TABLE(struct stack) stacks;
	PROFILE_TABLE(struct process) processes;
	PROFILE_TABLE(struct thread) threads;
	PROFILE_TABLE(struct sum) sums;
	PROFILE_TABLE(struct interval) intervals;
	PROFILE_TABLE(struct request) requests;
	PROFILE_TABLE(struct message) messages;
	PROFILE_TABLE(struct label) labels;
	struct loss losses[LOSS_SLOTS_CNT]; /* by enum loss_cause; also causes of newer versions */
	struct index frame_index, stack_index, sum_index;
};

struct profile *profile__new(void);    /* owned by the caller */
void profile__free(struct profile *p); /* NULL is fine */

/* Each returns the element's number. frame, stack and sum are found again if they exist: equal frames and
 * (parent, frame) pairs get equal numbers; equal sum keys add up (ns and cnt saturate). O(1) amortised. */
uint32_t profile__add_mapping(struct profile *p, const struct mapping *m);
uint32_t profile__add_frame(struct profile *p, const struct frame *f);
uint32_t profile__add_stack(struct profile *p, uint32_t parent, uint32_t frame);
uint32_t profile__add_process(struct profile *p, const struct process *pr);
uint32_t profile__add_thread(struct profile *p, const struct thread *t);
uint32_t profile__add_sum(struct profile *p, const struct sum *s);
void profile__add_interval(struct profile *p, const struct interval *iv);
uint32_t profile__add_request(struct profile *p, const struct request *r); /* from 1 */
void profile__add_message(struct profile *p, const struct message *m);
void profile__add_label(struct profile *p, const char *key, const char *value);
void profile__add_loss(struct profile *p, enum loss_cause cause, uint64_t events, uint64_t ns);

uint32_t profile__string(struct profile *p, const char *s);
const char *profile__str(const struct profile *p, uint32_t sid);

/* Frames of a stack in root-to-leaf order; *ret grows as needed (owned by the caller). Returns the count. */
size_t profile__frames(const struct profile *p, uint32_t stack, uint32_t **ret, size_t *cap);

/* All references lie inside their tables, parents precede children, starts precede ends. Enums may hold
 * values that this version does not know: whoever switches over one has a default.
 * 0, or -EINVAL with what is wrong. For the reader, for tests, and inside asserts. O(size). */
int profile__check(const struct profile *p, struct err *err);

#endif
