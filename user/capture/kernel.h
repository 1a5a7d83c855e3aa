/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel side of a capture: programs loaded and attached, maps created, the censuses run, sums read.
 * The only file that knows the skeleton. */
#ifndef CP_USER_CAPTURE_KERNEL_H
#define CP_USER_CAPTURE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/account.h"
#include "bpf/events.h"
#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/capture/options.h"
#include "user/capture/spaces.h"

struct kernel;

enum census {
	CENSUS_FIND,  /* announces the processes to watch */
	CENSUS_OPEN,  /* starts watching their threads */
	CENSUS_BLIND, /* the same, without a look at their stacks; CENSUS_OPEN is to follow */
	CENSUS_CLOSE, /* accounts what is open when the window has closed */
};

/* Loads and attaches everything; the window is still closed. Errors say which capability or feature is
 * missing. Nothing is pinned: when the process ends, however it ends, the kernel removes it all. */
int kernel__open(const struct capture_opts *opts, const struct spaces_sizes *sizes,
		 struct kernel **ret, struct err *err);
void kernel__close(struct kernel *k); /* NULL is fine */

int kernel__mappings(struct kernel *k, uint64_t **rows, uint32_t **blocks,
		     struct cp_mapping **mappings, struct err *err); /* borrowed */
int kernel__publish(struct kernel *k, uint32_t space, const struct cp_range *range,
		    struct err *err);
/* Before kernel__publish of that space. */
int kernel__publish_python(struct kernel *k, uint32_t space, const struct cp_python *python,
			   struct err *err);
void kernel__unpublish(struct kernel *k, uint32_t space);
int kernel__census(struct kernel *k, enum census census, struct err *err);
void kernel__set_window(struct kernel *k, const struct account_window *w);

typedef int (*kernel_event_fn)(void *ctx, void *data, size_t len_bytes);
int kernel__listen(struct kernel *k, kernel_event_fn fn, void *ctx, struct err *err);
int kernel__event_fd(const struct kernel *k); /* readable when events want to be read soon */
/* Calls fn for what is there, and for no more than the ring can hold: who adds to it may be faster. */
int kernel__consume(struct kernel *k, struct err *err);

/* All sums: arrays owned by the caller, also after an error. A key may come twice. */
int kernel__sums(struct kernel *k, struct cp_sum_key **keys, struct cp_sum **values, size_t *cnt,
		 struct err *err);
/* How many keys ever came into the maps of sums and stacks, and their sizes. */
struct kernel_fill {
	uint32_t sum_cnt, sum_cnt_max;
	uint32_t stack_cnt, stack_cnt_max;
};
void kernel__fill(const struct kernel *k, struct kernel_fill *ret);
/* Takes the sums out that have been added up to now: arrays owned by the caller. What programs add meanwhile stays.
 * Waits for programs on their way. */
int kernel__take_sums(struct kernel *k, struct cp_sum_key **keys, struct cp_sum **values,
		      size_t *cnt, struct err *err);
/* Stacks are sent again from here on, under new numbers; the old numbers stay valid. */
int kernel__forget_stacks(struct kernel *k, struct err *err);
/* The kernel's symbols that lie below one of the wanted addresses (sorted) and near it: a struct cp_ksym each, with
 * its strings, one after the other. -ENOTSUP: this kernel cannot tell; -E2BIG: too many addresses. */
int kernel__symbols(struct kernel *k, const uint64_t *wanted, size_t cnt, struct buf *records);
void kernel__losses(const struct kernel *k, struct cp_loss *losses,
		    size_t cnt); /* by enum loss_cause */
void kernel__cost(const struct kernel *k, struct cp_cost *total);
uint64_t kernel__map_bytes(const struct kernel *k);
const char *kernel__sampling(const struct kernel *k); /* "cycles", "cpu-clock", "" */
/* Which programs follow the switches, in words; the caller's text of size_bytes. */
const char *kernel__hook(const struct kernel *k, char *text, size_t size_bytes);
uint64_t kernel__sample_period_ns(const struct kernel *k);

#endif
