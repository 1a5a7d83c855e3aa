/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synthetic traces with a known truth (SOSP 2003, section 6.1; specs H). A tracelet is an ordered list of
 * messages; each is sent a normally distributed delay after the one before it. Copies of a tracelet run beside
 * each other, each one instance after the other with a uniform think time between them. docs/CAUSAL.md has the
 * grammar of configurations:
 *
 *	seed 1                                  instances 25315          ids on|off
 *	node WS2 skew=+0.030                    capture rate=400 queue=64
 *	copies 64                               dev 30%                  (for all tracelets; for sweeps)
 *	tracelet buy copies=48 think=0..0.4
 *	  C   -> WS1|WS2   call 0.020 0.002     one of them, at random
 *	  WS* -> AP1|AP2   call 0.020 0.002 extra WS2=0.200    WS*: the one chosen
 *	  parallel {                            blocks begin together; the next message waits for all
 *	    ...
 *	  } {
 *	    ...
 *	  }
 *	  repeat 3 {
 *	    ...
 *	  }
 *
 * Times are whole nanoseconds and random numbers are those of prng.h: a configuration gives the same bytes
 * everywhere. */
#ifndef CP_USER_ANALYSIS_MAKETRACE_H
#define CP_USER_ANALYSIS_MAKETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/arena.h"
#include "user/base/err.h"
#include "user/base/input.h"
#include "user/base/strtab.h"

enum {
	MAKETRACE_CHOICES_MAX = 16,
	MAKETRACE_EXTRAS_MAX = 4,
	MAKETRACE_DEPTH_MAX = 16,
};

enum maketrace_step_kind {
	STEP_MESSAGE,
	STEP_PARALLEL, /* blocks */
	STEP_REPEAT,   /* blocks[0], times */
};

/* A node in a configuration: one of several, or the one of them that was chosen before. */
struct maketrace_end {
	uint32_t nodes[MAKETRACE_CHOICES_MAX];
	uint32_t cnt;	    /* 0: bound */
	const char *prefix; /* of the bound node's name */
};

struct maketrace_step {
	struct maketrace_step *next;
	enum maketrace_step_kind kind;
	uint32_t line_no;
	struct maketrace_end from, to;
	uint8_t op; /* enum msg_op */
	int64_t mean_ns, dev_ns;
	struct {
		uint32_t node;
		int64_t ns;
	} extras[MAKETRACE_EXTRAS_MAX];
	uint32_t extra_cnt;
	struct maketrace_block *blocks;
	uint64_t times;
};

struct maketrace_block {
	struct maketrace_block *next;
	struct maketrace_step *steps;
};

struct maketrace_tracelet {
	struct maketrace_tracelet *next;
	const char *name;
	uint64_t copies;
	int64_t think_low_ns, think_high_ns;
	struct maketrace_block body;
};

struct maketrace_config {
	struct arena arena; /* holds all of the below */
	struct strtab nodes;
	uint64_t seed, instances, rate, queue; /* instances 0: 1,000; rate 0: nothing is lost */
	bool no_ids;
	int64_t *skew_ns; /* by node */
	size_t skew_cap;
	struct maketrace_tracelet *tracelets;
};

/* -EINVAL with "FILE:LINE: ..."; *c may be freed in any case. Zero-initialise it before. Several files add up:
 * what comes later overrides. */
int maketrace_config_read(struct maketrace_config *c, struct input *in, struct err *err);
void maketrace_config_free(struct maketrace_config *c);

struct maketrace_msg {
	int64_t time_ns; /* true time */
	uint32_t sender, receiver;
	uint32_t instance; /* from 1 */
	uint32_t
		cause; /* number in generation of the message that caused it; CALL for a RET; NIL = none */
	uint32_t tracelet; /* from 0 */
	uint8_t op;
	bool lost;
};

struct maketrace_result {
	struct maketrace_msg *msgs; /* in order of true time */
	size_t cnt, lost_cnt;
};

/* -EINVAL with the line of a RET that ends no call, or of a bound node that was never chosen. */
int maketrace_run(const struct maketrace_config *c, struct maketrace_result *ret, struct err *err);
void maketrace_result_free(struct maketrace_result *r);

/* What a message's sender's clock says when it sends it. */
int64_t maketrace_stamp_ns(const struct maketrace_config *c, const struct maketrace_msg *m);
/* The messages that were not lost in order of those stamps (RETs last at equal stamps), cnt - lost_cnt
 * numbers owned by the caller: the trace that a capture would merge. */
uint32_t *maketrace_captured(const struct maketrace_config *c, const struct maketrace_result *r);

#endif
