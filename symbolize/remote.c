/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/demangle.h"
#include "symbolize/dwarf_names.h"
#include "symbolize/remote.h"
#include "symbolize/text.h"
#include "user/base/mem.h"

#define INPUT_MAX_BYTES ((size_t)256 << 20)

/* Larger than the default: DWARF of large programs is read whole. */
static const struct sandbox_limits lines_limits = {
	.memory_bytes = 6ULL << 30,
	.reply_bytes = 512ULL << 20,
	.cpu_s = 60,
	.wall_ms = 90000,
};

struct lines_head {
	uint64_t addr_cnt, frame_cnt, strings_bytes, unit_cnt, missing_cnt;
};

struct lines_args {
	struct remote_style style;
	bool has_alt;
};

/* A question that is too long for the arguments travels as a file in memory. */
int remote_question(const void *data, size_t len_bytes, struct err *err)
{
	int fd = memfd_create("causeprof-question", MFD_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < len_bytes) {
		ssize_t n = pwrite(fd, (const char *)data + done, len_bytes - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			fd = -1;
			break;
		}
		done += (size_t)n;
	}
	return fd < 0 ? err_errno(err, "cannot make memory for the sandbox") : fd;
}

static void demangle_all(const struct remote_style *style, const struct buf *raw, struct buf *ret)
{
	for (size_t at = 0; at < raw->len_bytes; at += strlen(raw->data + at) + 1) {
		demangle(ret, raw->data + at, !style->keep_suffixes);
		buf_append(ret, "", 1);
	}
}

int remote_names_handler(struct sandbox_job *job, struct err *err)
{
	struct remote_style style;
	struct buf raw = { 0 };
	int rc;

	if (job->fd_cnt != 1 || job->args_bytes != sizeof(style))
		return err_set(err, -EINVAL, "no names");
	memcpy(&style, job->args, sizeof(style));
	rc = text_read_fd(job->fds[0], INPUT_MAX_BYTES, &raw);
	if (rc)
		return err_set(err, rc, "read names");
	demangle_all(&style, &raw, &job->reply);
	return 0;
}

size_t remote_nul_cnt(const void *block, size_t len_bytes)
{
	const char *data = block;
	size_t cnt = 0;

	for (size_t i = 0; i < len_bytes; i++)
		cnt += !data[i];
	return cnt;
}

int remote_names(struct sandbox *s, const struct remote_style *style, const struct buf *raw,
		 size_t cnt, struct buf *ret, struct err *err)
{
	struct sandbox_reply reply;
	int fd = remote_question(raw->data, raw->len_bytes, err), rc;
	const struct sandbox_request request = {
		.kind = SANDBOX_NAMES,
		.fds = &fd,
		.fd_cnt = 1,
		.args = style,
		.args_bytes = sizeof(*style),
	};

	if (fd < 0)
		return fd;
	rc = sandbox_run(s, &request, &reply, err);
	close(fd);
	if (rc)
		return rc;
	if (remote_nul_cnt(reply.data, reply.len_bytes) == cnt &&
	    (!reply.len_bytes || !reply.data[reply.len_bytes - 1]))
		buf_append(ret, reply.data, reply.len_bytes);
	else
		rc = err_set(err, -EPROTO, "the answer makes no sense");
	sandbox_reply_free(&reply);
	return rc;
}

int remote_names_or_here(struct sandbox *s, const struct remote_style *style, const struct buf *raw,
			 size_t cnt, struct buf *ret)
{
	if (s)
		return remote_names(s, style, raw, cnt, ret, NULL);
	demangle_all(style, raw, ret);
	return 0;
}

static void put_frames(struct buf *frames, const struct sym_frame *list, size_t cnt,
		       struct strtab *strings)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct remote_frame f = {
			.name = strtab_add(strings, list[i].name),
			.file = strtab_add(strings, list[i].file),
			.line = list[i].line,
			.inlined = list[i].inlined,
		};

		buf_append(frames, &f, sizeof(f));
	}
}

/* From numbers of strings to their offsets in one block. */
static void put_strings(struct buf *out, const struct strtab *strings, struct buf *frames)
{
	struct remote_frame *f = (struct remote_frame *)frames->data;
	uint32_t *offsets = xcalloc(strings->cnt + 1, sizeof(*offsets));
	size_t base = out->len_bytes;

	buf_append(out, "", 1);
	for (uint32_t id = 1; id < strings->cnt; id++) {
		offsets[id] = (uint32_t)(out->len_bytes - base);
		buf_append(out, strtab_get(strings, id), strtab_len_bytes(strings, id) + 1);
	}
	for (size_t i = 0; i < frames->len_bytes / sizeof(*f); i++) {
		f[i].name = offsets[f[i].name];
		f[i].file = offsets[f[i].file];
	}
	free(offsets);
}

static void put_lines(struct sandbox_job *job, struct dwarf_names *d, const struct buf *addrs,
		      struct strtab *strings)
{
	struct buf starts = { 0 }, frames = { 0 }, text = { 0 };
	struct lines_head head = { .addr_cnt = addrs->len_bytes / sizeof(uint64_t) };
	uint32_t start = 0;

	buf_append(&starts, &start, sizeof(start));
	for (size_t i = 0; i < head.addr_cnt; i++) {
		struct sym_frame *list = NULL;
		uint64_t addr;
		size_t cnt;

		memcpy(&addr, addrs->data + i * sizeof(addr), sizeof(addr));
		cnt = d ? dwarf_names__find(d, addr, &list) : 0;
		put_frames(&frames, list, cnt, strings);
		start += (uint32_t)cnt;
		buf_append(&starts, &start, sizeof(start));
	}
	put_strings(&text, strings, &frames);
	head.frame_cnt = start;
	head.strings_bytes = text.len_bytes;
	if (d)
		dwarf_names__count(d, &head.unit_cnt, &head.missing_cnt);
	buf_append(&job->reply, &head, sizeof(head));
	buf_append(&job->reply, starts.data, starts.len_bytes);
	buf_append(&job->reply, frames.data, frames.len_bytes);
	buf_append(&job->reply, text.data, text.len_bytes);
}

int remote_lines_handler(struct sandbox_job *job, struct err *err)
{
	struct strtab strings = { 0 };
	struct dwarf_names *d;
	struct lines_args args;
	struct buf addrs = { 0 };
	int rc;

	if (job->args_bytes != sizeof(args))
		return err_set(err, -EINVAL, "no arguments");
	memcpy(&args, job->args, sizeof(args));
	if (job->fd_cnt != (args.has_alt ? 3 : 2))
		return err_set(err, -EINVAL, "no files");
	rc = text_read_fd(job->fds[1], INPUT_MAX_BYTES, &addrs);
	if (rc)
		return err_set(err, rc, "read addresses");
	d = dwarf_names__open(job->fds[0], args.has_alt ? job->fds[2] : -1,
			      &(struct dwarf_opts){
				      .no_demangle = args.style.no_demangle,
				      .keep_suffixes = args.style.keep_suffixes,
				      .strings = &strings,
			      });
	strtab_add(&strings, "");
	put_lines(job, d, &addrs, &strings);
	return 0;
}

/* Everything refers to what is there, and the strings end. */
static bool lines_are_whole(const struct remote_lines *l)
{
	if (!l->strings_bytes || l->strings[l->strings_bytes - 1] || l->starts[0])
		return false;
	for (size_t i = 0; i < l->addr_cnt; i++)
		if (l->starts[i] > l->starts[i + 1])
			return false;
	if (l->starts[l->addr_cnt] != l->frame_cnt)
		return false;
	for (size_t i = 0; i < l->frame_cnt; i++)
		if (l->frames[i].name >= l->strings_bytes || l->frames[i].file >= l->strings_bytes)
			return false;
	return true;
}

static int take_lines(struct remote_lines *l, size_t addr_cnt)
{
	const struct lines_head *head = (const void *)l->reply.data;
	size_t left_bytes;

	if (l->reply.len_bytes < sizeof(*head) || head->addr_cnt != addr_cnt)
		return -EPROTO;
	left_bytes = l->reply.len_bytes - sizeof(*head);
	if (left_bytes / sizeof(uint32_t) < addr_cnt + 1)
		return -EPROTO;
	left_bytes -= (addr_cnt + 1) * sizeof(uint32_t);
	if (head->frame_cnt > left_bytes / sizeof(struct remote_frame) ||
	    head->strings_bytes != left_bytes - head->frame_cnt * sizeof(struct remote_frame))
		return -EPROTO;
	l->addr_cnt = addr_cnt;
	l->frame_cnt = head->frame_cnt;
	l->strings_bytes = head->strings_bytes;
	l->unit_cnt = head->unit_cnt;
	l->missing_cnt = head->missing_cnt;
	l->starts = (const uint32_t *)(head + 1);
	l->frames = (const struct remote_frame *)(l->starts + addr_cnt + 1);
	l->strings = (const char *)(l->frames + l->frame_cnt);
	return lines_are_whole(l) ? 0 : -EPROTO;
}

static int answer_open(void *ctx, const void *question, size_t len_bytes)
{
	const struct remote_lines_query *q = ctx;
	char path[SANDBOX_QUESTION_MAX_BYTES + 1];

	if (!q->open_dwo || !len_bytes || len_bytes >= sizeof(path))
		return -EACCES;
	memcpy(path, question, len_bytes);
	path[len_bytes] = '\0';
	return q->open_dwo(q->ctx, path);
}

int remote_lines(struct sandbox *s, const struct remote_lines_query *q, struct remote_lines *ret,
		 struct err *err)
{
	const struct lines_args args = { .style = q->style, .has_alt = q->alt_fd >= 0 };
	int addrs_fd = remote_question(q->addrs, q->cnt * sizeof(*q->addrs), err), rc;
	const int fds[3] = { q->fd, addrs_fd, q->alt_fd };
	const struct sandbox_request request = {
		.kind = SANDBOX_LINES,
		.fds = fds,
		.fd_cnt = args.has_alt ? 3 : 2,
		.args = &args,
		.args_bytes = sizeof(args),
		.limits = &lines_limits,
		.answer = answer_open,
		.ctx = (void *)q,
	};

	memset(ret, 0, sizeof(*ret));
	if (addrs_fd < 0)
		return addrs_fd;
	rc = sandbox_run(s, &request, &ret->reply, err);
	close(addrs_fd);
	if (!rc && take_lines(ret, q->cnt)) {
		remote_lines_free(ret);
		rc = err_set(err, -EPROTO, "the answer makes no sense");
	}
	return rc;
}

void remote_lines_free(struct remote_lines *l)
{
	sandbox_reply_free(&l->reply);
	memset(l, 0, sizeof(*l));
}
