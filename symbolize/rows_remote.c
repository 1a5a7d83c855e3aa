/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reply is the table's struct (its pointers mean nothing), the rows, the blocks. */
#include "symbolize/rows_remote.h"

#include <errno.h>
#include <string.h>

#include "user/base/mem.h"

int rows_sandbox_handler(struct sandbox_job *job, struct err *err)
{
	struct row_table t;
	int rc;

	if (job->fd_cnt != 1)
		return err_set(err, -EINVAL, "one file at a time");
	rc = rows_compile_fd(job->fds[0], &t, err);
	if (rc)
		return rc;
	buf_append(&job->reply, &t, sizeof(t));
	buf_append(&job->reply, t.rows, (size_t)t.row_cnt * sizeof(*t.rows));
	if (t.row_cnt)
		buf_append(&job->reply, t.blocks, ((size_t)t.block_cnt + 1) * sizeof(*t.blocks));
	return 0;
}

static int unpack(const struct sandbox_reply *r, struct row_table *ret, struct err *err)
{
	size_t rows_bytes, blocks_bytes;
	struct row_table t;

	if (r->len_bytes < sizeof(t))
		return err_set(err, -EPROTO, "a table of rows is cut off");
	memcpy(&t, r->data, sizeof(t));
	rows_bytes = (size_t)t.row_cnt * sizeof(*t.rows);
	blocks_bytes = t.row_cnt ? ((size_t)t.block_cnt + 1) * sizeof(*t.blocks) : 0;
	if (rows_bytes + blocks_bytes != r->len_bytes - sizeof(t))
		return err_set(err, -EPROTO, "a table of rows has another size than it says");
	t.rows = NULL;
	t.blocks = NULL;
	if (t.row_cnt) {
		t.rows = memcpy(xmalloc(rows_bytes), r->data + sizeof(t), rows_bytes);
		t.blocks = memcpy(xmalloc(blocks_bytes), r->data + sizeof(t) + rows_bytes,
				  blocks_bytes);
	}
	if (rows_check(&t, err)) {
		rows_free(&t);
		return -EPROTO;
	}
	*ret = t;
	return 0;
}

int rows_compile_remote(struct sandbox *s, int fd, struct row_table *ret, struct err *err)
{
	const struct sandbox_request req = { .kind = SANDBOX_ROWS, .fds = &fd, .fd_cnt = 1 };
	struct sandbox_reply reply;
	int rc = sandbox_run(s, &req, &reply, err);

	*ret = (struct row_table){ 0 };
	if (rc)
		return rc;
	rc = unpack(&reply, ret, err);
	sandbox_reply_free(&reply);
	return rc;
}
