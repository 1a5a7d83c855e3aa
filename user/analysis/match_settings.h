/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every number that the matching method was given by hand, in one place. They were chosen on synthetic
 * traces (tests/bench/match_sim.c) or by argument, never on the evaluation sets. */
#ifndef CP_USER_ANALYSIS_MATCH_SETTINGS_H
#define CP_USER_ANALYSIS_MATCH_SETTINGS_H

/* Rounds of "match every endpoint, then learn the delays again"; ends early when no link changes. */
#define MATCH_ROUNDS 10
/* Rounds of learning from samples, and how many samples (one exchange tried per call) each takes. */
#define MATCH_SAMPLE_ROUNDS 20
#define MATCH_SAMPLE_SWEEPS 8
/* Samples taken while the temperature falls from 1 to 0. */
#define MATCH_COOLING_SWEEPS 80
/* Samples from which the probability of a link is counted. */
#define MATCH_POSTERIOR_SWEEPS 100
/* Links in the order of a queue are not considered if more than this share of the calls would not fit. */
#define MATCH_ORDER_MISFITS 0.002
/* A node with more calls learns from so many, in stretches of the trace; samples of the rest. */
#define MATCH_LEARN_CALLS 16000
#define MATCH_SLICES	  4
#define MATCH_LONG_SWEEPS 30
/* Share of steps that exchange all later calls too, or a run of calls; and, of those that exchange a
 * single call, of those that give it for nothing. */
#define MATCH_TAIL_SHARE 0.3
#define MATCH_RUN_SHARE	 0.3
#define MATCH_GIVE_SHARE 0.2
/* Share of tails and runs that are cut at one time, not at calls of one kind. */
#define MATCH_BY_TIME_SHARE 0.25
/* Share of exchanges offered to any candidate, not to those that were seen to take the call; and the
 * weight of the newest sample in what was seen. */
#define MATCH_OFFER_ANY	 0.25
#define MATCH_SEEN_SHARE 0.08
/* What it costs, in nats, to say that a call was caused by no request at all. */
#define MATCH_NONE_COST 60.0
/* Calls of one request to one endpoint are told apart up to this ordinal; later ones share the last. */
#define MATCH_ORDINALS 3
/* A call has at most this many candidate requests: those that started last. */
#define MATCH_CANDIDATES_MAX 256
/* Calls may outlive their requests by what this share of those that outlive all requests do. */
#define MATCH_SLACK_SHARE 0.9
/* A request has at most this many calls. */
#define MATCH_KIDS_MAX 256
/* Kinds of delay per node above which requests are no longer told apart by their caller. */
#define MATCH_KEYS_MAX 400000

/* Weight, in samples, of a delay's broader relatives: the same delay over all callers, the same call
 * after any predecessor, and a delay of any length whatever. */
#define MATCH_PRIOR_CLASS 4.0
#define MATCH_PRIOR_FROM  3.0
#define MATCH_PRIOR_ANY	  0.5
/* Pseudo-count of everything that a request may do next. */
#define MATCH_PRIOR_FOLLOW 1.0
/* Pseudo-count of each trigger of a call. */
#define MATCH_PRIOR_MIX 1.0
/* Pseudo-count of each number of calls that a request may make to an endpoint. */
#define MATCH_PRIOR_COUNT 0.2

/* A link whose probability is below this is flagged as doubtful (specs D.4). */
#define MATCH_DOUBTFUL 0.6

#endif
