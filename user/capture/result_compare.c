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

static struct keyed *sorted(const struct cp_sum_key *keys, const struct cp_sum *values, size_t cnt)
{
	struct keyed *all = xcalloc(cnt, sizeof(*all));

	for (size_t i = 0; i < cnt; i++)
		all[i] = (struct keyed){ keys[i], values[i] };
	qsort(all, cnt, sizeof(*all), compare_keys);
	return all;
}

int result_compare(const struct result_input *in, const struct interval_sums *sums, struct err *err)
{
	const struct cp_sum_key *keys;
	const struct cp_sum *values;
	size_t cnt = interval_sums__get(sums, &keys, &values), i;
	struct keyed *a = sorted(in->keys, in->values, in->sum_cnt), *b = sorted(keys, values, cnt);
	int rc = 0;

	for (i = 0; i < cnt && i < in->sum_cnt; i++)
		if (memcmp(&a[i], &b[i], sizeof(a[i])))
			break;
	if (i < cnt || i < in->sum_cnt)
		rc = err_set(err, -EINVAL,
			     "the two sinks differ at sum %zu of %zu and %zu: stack %u kind %u has "
			     "%" PRIu64 " ns by sums, stack %u kind %u %" PRIu64 " ns by intervals",
			     i, in->sum_cnt, cnt, i < in->sum_cnt ? a[i].key.stack : 0,
			     i < in->sum_cnt ? a[i].key.kind : 0,
			     (uint64_t)(i < in->sum_cnt ? a[i].value.ns : 0),
			     i < cnt ? b[i].key.stack : 0, i < cnt ? b[i].key.kind : 0,
			     (uint64_t)(i < cnt ? b[i].value.ns : 0));
	free(a);
	free(b);
	return rc;
}
