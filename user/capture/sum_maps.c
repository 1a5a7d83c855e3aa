/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/sum_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "user/base/mem.h"

enum {
	BATCH_CNT =
		16384, /* a batch takes whole buckets; one of more keys than this would be -ENOSPC */
};

static int read_sums(int fd, struct cp_sum_key **keys, struct cp_sum **values, size_t *cnt,
		     struct err *err)
{
	DECLARE_LIBBPF_OPTS(bpf_map_batch_opts, opts);
	size_t key_cap = 0, value_cap = 0;
	uint32_t batch, next, n;
	void *in = NULL;
	int rc;

	*keys = NULL;
	*values = NULL;
	*cnt = 0;
	do {
		n = BATCH_CNT;
		*keys = xgrow(*keys, &key_cap, *cnt + n, sizeof(**keys));
		*values = xgrow(*values, &value_cap, *cnt + n, sizeof(**values));
		rc = bpf_map_lookup_batch(fd, in, &next, *keys + *cnt, *values + *cnt, &n, &opts);
		if (rc && rc != -ENOENT)
			return err_set(err, rc, "reading the sums: %s", strerror(-rc));
		*cnt += n;
		batch = next;
		in = &batch;
	} while (!rc);
	return 0;
}

/* Of both sides: n of them have the one that was left. */
static size_t sort_sides(struct cp_sum_key *keys, struct cp_sum *values, size_t cnt, uint32_t side)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		if ((keys[i].flags & CP_SUM_SIDE) != side)
			continue;
		keys[n] = keys[i];
		values[n++] = values[i];
	}
	return n;
}

static void without_side(struct cp_sum_key *keys, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		keys[i].flags &= (uint8_t)~CP_SUM_SIDE;
}

int sum_maps__take(int fd, uint32_t side, struct cp_sum_key **keys, struct cp_sum **values,
		   size_t *cnt, struct err *err)
{
	DECLARE_LIBBPF_OPTS(bpf_map_batch_opts, opts);
	int rc = read_sums(fd, keys, values, cnt, err);
	uint32_t n;

	if (rc)
		return rc;
	*cnt = sort_sides(*keys, *values, *cnt, side);
	for (size_t at = 0; at < *cnt; at += n) {
		n = (uint32_t)(*cnt - at);
		rc = bpf_map_delete_batch(fd, *keys + at, &n, &opts);
		if (rc)
			return err_set(err, rc, "taking out the sums: %s", strerror(-rc));
	}
	without_side(*keys, *cnt);
	return 0;
}

int sum_maps__read(int fd, struct cp_sum_key **keys, struct cp_sum **values, size_t *cnt,
		   struct err *err)
{
	int rc = read_sums(fd, keys, values, cnt, err);

	if (!rc)
		without_side(*keys, *cnt);
	return rc;
}

int sum_maps__forget_stacks(int fd, struct err *err)
{
	DECLARE_LIBBPF_OPTS(bpf_map_batch_opts, opts);
	struct cp_stack_key *keys = xcalloc(BATCH_CNT, sizeof(*keys));
	uint32_t *ids = xcalloc(BATCH_CNT, sizeof(*ids)), batch, n;
	void *in = NULL;
	int rc;

	do {
		n = BATCH_CNT;
		rc = bpf_map_lookup_and_delete_batch(fd, in, &batch, keys, ids, &n, &opts);
		in = &batch;
	} while (!rc);
	free(keys);
	free(ids);
	return rc == -ENOENT ? 0 : err_set(err, rc, "forgetting stacks: %s", strerror(-rc));
}
