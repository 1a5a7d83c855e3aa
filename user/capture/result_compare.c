/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two sinks of a capture against each other; see result.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/capture/result.h"

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct cp_sum_key));
}

struct keyed {
	struct cp_sum_key key;
	struct cp_sum value;
};

static struct keyed *sorted(const struct sum_table *sums)
{
	struct keyed *all = xcalloc(sums->cnt, sizeof(*all));

	for (size_t i = 0; i < sums->cnt; i++)
		all[i].value = sum_table_get(sums, i, &all[i].key);
	qsort(all, sums->cnt, sizeof(*all), compare_keys);
	return all;
}

int result_compare(const struct sum_table *kernel, const struct sum_table *intervals,
		   struct err *err)
{
	struct keyed *a = sorted(kernel), *b = sorted(intervals);
	size_t a_cnt = kernel->cnt, b_cnt = intervals->cnt, i;
	int rc = 0;

	for (i = 0; i < b_cnt && i < a_cnt; i++)
		if (memcmp(&a[i], &b[i], sizeof(a[i])))
			break;
	if (i < b_cnt || i < a_cnt)
		rc = err_set(err, -EINVAL,
			     "the two sinks differ at sum %zu of %zu and %zu: stack %u kind %u has "
			     "%" PRIu64 " ns by sums, stack %u kind %u %" PRIu64 " ns by intervals",
			     i, a_cnt, b_cnt, i < a_cnt ? a[i].key.stack : 0,
			     i < a_cnt ? a[i].key.kind : 0,
			     (uint64_t)(i < a_cnt ? a[i].value.ns : 0),
			     i < b_cnt ? b[i].key.stack : 0, i < b_cnt ? b[i].key.kind : 0,
			     (uint64_t)(i < b_cnt ? b[i].value.ns : 0));
	free(a);
	free(b);
	return rc;
}
