/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The question is a struct question, for each file a struct file_question and its addresses; the answer has for each file a
 * struct file_answer, names, strings, ranges. */
#include "symbolize/remote_symbols.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/demangle.h"
#include "symbolize/text.h"
#include "user/base/mem.h"

#define QUESTION_MAX_BYTES ((size_t)256 << 20)
#define STRINGS_MAX_BYTES  ((size_t)384 << 20)
#define NAME_MAX_BYTES	   ((size_t)16 << 10) /* longer names are cut */
#define AHEAD_CNT	   8		      /* names fetched before they are read */

struct question {
	struct remote_style style;
	uint32_t file_cnt;
};

struct file_question {
	uint32_t has_debug, pad;
	uint64_t addr_cnt, expected_cnt;
};

struct file_answer {
	int64_t rc;
	struct symfile_counts counts;
	uint64_t readable, range_cnt, strings_bytes, name_cnt, names_bytes;
};

/* Bytes that are taken one after the other. */
struct bytes {
	const uint8_t *at;
	size_t left_bytes;
};

static const void *take(struct bytes *b, size_t len_bytes)
{
	const uint8_t *at = b->at;

	if (b->left_bytes < len_bytes)
		return NULL;
	b->at += len_bytes;
	b->left_bytes -= len_bytes;
	return at;
}

int remote_symbols_start(struct sandbox *s, const struct remote_symbols_file *files, size_t cnt,
			 const struct remote_style *style, struct sandbox_ticket *ret,
			 struct err *err)
{
	struct question q = { .style = *style, .file_cnt = (uint32_t)cnt };
	int fds[SANDBOX_FD_MAX], rc;
	struct buf text = { 0 };
	struct sandbox_request request = { .kind = SANDBOX_SYMBOLS, .fds = fds, .fd_cnt = 1 };

	if (cnt > REMOTE_SYMBOLS_FILES_MAX)
		return err_set(err, -EINVAL, "too many files at once");
	buf_append(&text, &q, sizeof(q));
	for (size_t i = 0; i < cnt; i++) {
		const struct remote_symbols_file *f = &files[i];
		struct file_question fq = { .has_debug = f->debug_fd >= 0,
					    .addr_cnt = f->addr_cnt,
					    .expected_cnt = f->expected_cnt };

		buf_append(&text, &fq, sizeof(fq));
		if (f->addr_cnt)
			buf_append(&text, f->addrs, f->addr_cnt * sizeof(*f->addrs));
		fds[request.fd_cnt++] = f->fd;
		if (f->debug_fd >= 0)
			fds[request.fd_cnt++] = f->debug_fd;
	}
	rc = fds[0] = remote_question(text.data, text.len_bytes, err);
	buf_free(&text);
	if (rc < 0)
		return rc;
	rc = sandbox_start(s, &request, ret, err);
	close(fds[0]);
	return rc;
}

static int open_elf(int fd, struct elf *e)
{
	struct image image;
	int rc = image_from_fd(&image, fd);

	memset(e, 0, sizeof(*e));
	return rc ? rc : elf_open(e, &image);
}

static void put_name(struct buf *out, const char *raw, const struct remote_style *style)
{
	if (demangle_is_mangled(raw) && !style->no_demangle)
		demangle(out, raw, !style->keep_suffixes);
	else
		buf_append(out, raw, style->keep_suffixes ? strlen(raw) : demangle_stem_bytes(raw));
	buf_append(out, "", 1);
}

static void put_raw(struct buf *out, const char *raw)
{
	buf_append(out, raw, strnlen(raw, NAME_MAX_BYTES));
	buf_append(out, "", 1);
}

/* The names that the ranges have, each where they then refer to, and nothing else; as they are wanted, or as they stand in
 * the file. Returns their size. */
static size_t put_strings(struct symtab *t, const struct remote_style *style, bool readable,
			  struct symfile_counts *counts, struct buf *out)
{
	size_t start = out->len_bytes, cnt = t->ranges.cnt;

	for (size_t i = 0; i < cnt; i++) {
		struct range *r = &t->ranges.items[i];
		const char *raw = symtab_name(t, r);

		if (i + AHEAD_CNT <
		    cnt) /* they come in another order than they stand in the file */
			__builtin_prefetch(symtab_name(t, r + AHEAD_CNT));
		if (out->len_bytes - start >= STRINGS_MAX_BYTES) {
			counts->dropped_cnt += cnt - i;
			t->ranges.cnt = i;
			break;
		}
		r->id = (uint32_t)(out->len_bytes - start);
		if (readable)
			put_name(out, raw, style);
		else
			put_raw(out, raw);
	}
	return out->len_bytes - start;
}

/* Of the addresses that are wanted, as far as they are sorted: of each range once. */
static void put_wanted(const struct symtab *t, const struct remote_style *style,
		       const struct file_question *fq, const uint8_t *addrs,
		       struct file_answer *answer, struct buf *out)
{
	const struct range *last = NULL;
	size_t start = out->len_bytes;

	for (size_t i = 0; i < fq->addr_cnt; i++) {
		const struct range *r;
		uint64_t addr;

		memcpy(&addr, addrs + i * sizeof(addr), sizeof(addr));
		r = symtab_find(t, addr);
		if (!r || r == last)
			continue;
		last = r;
		answer->name_cnt++;
		put_name(out, symtab_name(t, r), style);
	}
	answer->names_bytes = out->len_bytes - start;
}

/* Everything is put where the answer will stand. */
static void put_file(const struct remote_style *style, const int *fds, size_t fd_cnt,
		     const struct file_question *fq, const uint8_t *addrs, struct buf *out)
{
	struct file_answer answer = { 0 };
	struct elf main = { 0 }, debug = { 0 };
	struct symtab t = { 0 };
	size_t start = out->len_bytes;

	answer.rc = open_elf(fds[0], &main);
	if (!answer.rc && fd_cnt > 1)
		answer.rc = open_elf(fds[1], &debug);
	if (!answer.rc)
		symfile_read(&main, fd_cnt > 1 ? &debug : NULL, &t, &answer.counts);
	buf_append(out, &answer, sizeof(answer));
	if (!answer.rc) {
		answer.readable = t.ranges.cnt / REMOTE_SYMBOLS_PER_ADDR < fq->expected_cnt;
		put_wanted(&t, style, fq, addrs, &answer, out);
		answer.strings_bytes = put_strings(&t, style, answer.readable, &answer.counts, out);
		answer.range_cnt = t.ranges.cnt;
		buf_append(out, t.ranges.items, t.ranges.cnt * sizeof(*t.ranges.items));
	}
	memcpy(out->data + start, &answer, sizeof(answer));
	symtab_free(&t);
	elf_close(&main);
	elf_close(&debug);
}

int remote_symbols_handler(struct sandbox_job *job, struct err *err)
{
	struct buf text = { 0 };
	struct bytes in = { 0 };
	struct question q;
	size_t fd = 1;
	const void *at;

	if (job->fd_cnt < 1 || text_read_fd(job->fds[0], QUESTION_MAX_BYTES, &text))
		return err_set(err, -EINVAL, "no question");
	in = (struct bytes){ (const uint8_t *)text.data, text.len_bytes };
	at = take(&in, sizeof(q));
	if (!at)
		return err_set(err, -EINVAL, "no question");
	memcpy(&q, at, sizeof(q));
	for (uint32_t i = 0; i < q.file_cnt; i++) {
		struct file_question fq;
		const uint8_t *addrs;
		size_t fd_cnt;

		at = take(&in, sizeof(fq));
		if (!at)
			return err_set(err, -EINVAL, "half a question");
		memcpy(&fq, at, sizeof(fq));
		fd_cnt = fq.has_debug ? 2 : 1;
		addrs = take(&in, fq.addr_cnt * sizeof(uint64_t));
		if (!addrs || fd_cnt > job->fd_cnt - fd)
			return err_set(err, -EINVAL, "half a question");
		put_file(&q.style, job->fds + fd, fd_cnt, &fq, addrs, &job->reply);
		fd += fd_cnt;
	}
	return 0;
}

/* As many names as it says, the last one ended. */
static bool take_names(const struct file_answer *a, struct bytes *left, struct remote_symbols *ret)
{
	const void *at = take(left, a->names_bytes);

	if (!at)
		return false;
	buf_append(&ret->names, at, a->names_bytes);
	ret->name_cnt = a->name_cnt;
	return remote_nul_cnt(ret->names.data, a->names_bytes) == a->name_cnt &&
	       (!a->names_bytes || !ret->names.data[a->names_bytes - 1]);
}

static bool take_file(struct bytes *left, struct remote_symbols *ret)
{
	const void *at = take(left, sizeof(struct file_answer)), *strings;
	struct file_answer a;

	if (!at)
		return false;
	memcpy(&a, at, sizeof(a));
	if (!take_names(&a, left, ret) || a.range_cnt > left->left_bytes / sizeof(struct range))
		return false;
	strings = take(left, a.strings_bytes);
	at = take(left, a.range_cnt * sizeof(struct range));
	if (!at || !strings)
		return false;
	ret->rc = a.rc < 0 && a.rc >= -4095 ? (int)a.rc : a.rc ? -EPROTO : 0;
	ret->counts = a.counts;
	ret->readable = a.readable;
	ret->table.ranges.items = xmalloc(a.range_cnt * sizeof(struct range) + 1);
	ret->table.ranges.cnt = ret->table.ranges.cap = a.range_cnt;
	memcpy(ret->table.ranges.items, at, a.range_cnt * sizeof(struct range));
	buf_append(&ret->table.strings, strings, a.strings_bytes);
	if (!symtab_check(&ret->table))
		return false;
	ranges_index(&ret->table.ranges);
	return true;
}

int remote_symbols_finish(struct sandbox *s, const struct sandbox_ticket *t,
			  struct remote_symbols *results, size_t cnt, struct err *err)
{
	struct sandbox_reply reply;
	struct bytes left;
	int rc = sandbox_finish(s, t, &reply, err);
	bool good = true;

	memset(results, 0, cnt * sizeof(*results));
	if (rc)
		return rc;
	left = (struct bytes){ reply.data, reply.len_bytes };
	for (size_t i = 0; i < cnt && good; i++)
		good = take_file(&left, &results[i]);
	sandbox_reply_free(&reply);
	if (good && !left.left_bytes)
		return 0;
	for (size_t i = 0; i < cnt; i++)
		remote_symbols_free(&results[i]);
	return err_set(err, -EPROTO, "the answer makes no sense");
}

void remote_symbols_free(struct remote_symbols *r)
{
	symtab_free(&r->table);
	buf_free(&r->names);
}
