/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reply has for each file its status, and if that is 0 the table's struct (its pointers mean nothing), the rows,
 * the blocks. */
#include "symbolize/rows_remote.h"

#include <errno.h>
#include <string.h>

#include "user/base/mem.h"

/* Of a file among others; the message of one that stands alone is the request's. */
struct file_head {
	int32_t code;
	uint32_t pad;
};

static size_t blocks_bytes_of(const struct row_table *t)
{
	return t->row_cnt ? ((size_t)t->block_cnt + 1) * sizeof(*t->blocks) : 0;
}

int rows_sandbox_handler(struct sandbox_job *job, struct err *err)
{
	for (size_t i = 0; i < job->fd_cnt; i++) {
		struct file_head head = { 0 };
		struct row_table t;

		head.code = rows_compile_fd(job->fds[i], &t, err);
		if (head.code && job->fd_cnt == 1)
			return head.code;
		buf_append(&job->reply, &head, sizeof(head));
		if (head.code)
			continue;
		buf_append(&job->reply, &t, sizeof(t));
		buf_append(&job->reply, t.rows, (size_t)t.row_cnt * sizeof(*t.rows));
		buf_append(&job->reply, t.blocks, blocks_bytes_of(&t));
		rows_free(&t);
	}
	return 0;
}

/* Takes the next bytes of a reply; NULL if there are not so many left. */
static const uint8_t *take(struct sandbox_reply *left, size_t len_bytes)
{
	const uint8_t *at = left->data;

	if (left->len_bytes < len_bytes)
		return NULL;
	left->data += len_bytes;
	left->len_bytes -= len_bytes;
	return at;
}

static int unpack_table(struct sandbox_reply *left, struct row_table *ret, struct err *err)
{
	const uint8_t *at = take(left, sizeof(struct row_table)), *rows, *blocks;
	size_t rows_bytes, blocks_bytes;
	struct row_table t;

	if (!at)
		return err_set(err, -EPROTO, "a table of rows is cut off");
	memcpy(&t, at, sizeof(t));
	rows_bytes = (size_t)t.row_cnt * sizeof(*t.rows);
	blocks_bytes = blocks_bytes_of(&t);
	rows = take(left, rows_bytes);
	blocks = take(left, blocks_bytes);
	if (!rows || !blocks)
		return err_set(err, -EPROTO, "a table of rows has another size than it says");
	t.rows = NULL;
	t.blocks = NULL;
	if (t.row_cnt) {
		t.rows = memcpy(xmalloc(rows_bytes), rows, rows_bytes);
		t.blocks = memcpy(xmalloc(blocks_bytes), blocks, blocks_bytes);
	}
	if (rows_check(&t, err)) {
		rows_free(&t);
		return -EPROTO;
	}
	*ret = t;
	return 0;
}

static int unpack(const struct sandbox_reply *r, struct rows_file_result *files, size_t cnt,
		  struct err *err)
{
	struct sandbox_reply left = *r;

	for (size_t i = 0; i < cnt; i++) {
		const uint8_t *at = take(&left, sizeof(struct file_head));
		struct file_head head;
		int rc;

		if (!at)
			return err_set(err, -EPROTO, "a table of rows is missing");
		memcpy(&head, at, sizeof(head));
		files[i].rc = head.code < 0 && head.code >= -4095 ? head.code : -EPROTO;
		if (head.code)
			continue;
		rc = unpack_table(&left, &files[i].table, err);
		if (rc)
			return rc;
		files[i].rc = 0;
	}
	return left.len_bytes ? err_set(err, -EPROTO, "more than the tables that were asked for") :
				0;
}

int rows_remote_start(struct sandbox *s, const int *fds, size_t cnt, struct sandbox_ticket *ret,
		      struct err *err)
{
	const struct sandbox_request req = { .kind = SANDBOX_ROWS, .fds = fds, .fd_cnt = cnt };

	return sandbox_start(s, &req, ret, err);
}

int rows_remote_finish(struct sandbox *s, const struct sandbox_ticket *t,
		       struct rows_file_result *files, size_t cnt, struct err *err)
{
	struct sandbox_reply reply;
	int rc = sandbox_finish(s, t, &reply, err);

	memset(files, 0, cnt * sizeof(*files));
	if (rc)
		return rc;
	rc = unpack(&reply, files, cnt, err);
	for (size_t i = 0; i < cnt && rc; i++)
		rows_free(&files[i].table);
	sandbox_reply_free(&reply);
	return rc;
}

static int compile_once(struct sandbox *s, int fd, struct rows_file_result *ret, struct err *err)
{
	struct sandbox_ticket t;
	int rc = rows_remote_start(s, &fd, 1, &t, err);

	return rc ? rc : rows_remote_finish(s, &t, ret, 1, err);
}

int rows_compile_remote(struct sandbox *s, int fd, struct row_table *ret, struct err *err)
{
	struct rows_file_result file;
	int rc = compile_once(s, fd, &file, err);

	if (rc == -EPIPE || rc == -EAGAIN) /* the sandbox's own fault: there is another keeper */
		rc = compile_once(s, fd, &file, err);
	*ret = (struct row_table){ 0 };
	if (rc)
		return rc;
	*ret = file.table;
	return file.rc;
}
