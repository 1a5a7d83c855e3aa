/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading of files in bounded memory; see input.h. */
#include "user/base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "user/base/mem.h"

enum {
	INPUT_RAW_BYTES = 128 * 1024,
	INPUT_TEXT_BYTES = 256 * 1024
};

enum packing {
	PACKING_NONE,
	PACKING_GZIP,
	PACKING_ZSTD
};

struct input {
	char *path;
	int fd; /* -1: memory */
	const char *mem;
	size_t mem_bytes;
	bool raw_eof;
	bool frame_open; /* inside a compressed frame: the end of the file would be a truncation */
	enum packing packing;
	z_stream gz;
	ZSTD_DStream *zstd;
	uint64_t raw_total_bytes, file_bytes, line_no;
	size_t raw_at, raw_end;
	char raw[INPUT_RAW_BYTES];
	char *text; /* decompressed bytes for input_line */
	size_t text_at, text_end, text_cap;
};

static ssize_t read_raw(struct input *in, struct err *err)
{
	ssize_t n;

	if (in->fd < 0) {
		n = (ssize_t)(in->mem_bytes < sizeof(in->raw) ? in->mem_bytes : sizeof(in->raw));
		if (n) { /* nothing may be at NULL */
			memcpy(in->raw, in->mem, (size_t)n);
			in->mem += n;
		}
		in->mem_bytes -= (size_t)n;
	} else {
		do
			n = read(in->fd, in->raw + in->raw_end, sizeof(in->raw) - in->raw_end);
		while (n < 0 && errno == EINTR);
	}
	if (n < 0)
		return err_errno(err, "reading %s", in->path);
	in->raw_eof = n == 0;
	in->raw_end += (size_t)n;
	in->raw_total_bytes += (uint64_t)n;
	return n;
}

/* Makes sure that raw bytes are there unless the file has ended. */
static int fill_raw(struct input *in, struct err *err)
{
	ssize_t n;

	if (in->raw_at < in->raw_end || in->raw_eof)
		return 0;
	in->raw_at = in->raw_end = 0;
	n = read_raw(in, err);
	return n < 0 ? (int)n : 0;
}

static int detect(struct input *in, struct err *err)
{
	static const unsigned char gz_magic[] = { 0x1f, 0x8b };
	static const unsigned char zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

	while (in->raw_end < sizeof(zstd_magic) &&
	       !in->raw_eof) { /* a pipe may give one byte at a time */
		ssize_t n = read_raw(in, err);

		if (n < 0)
			return (int)n;
	}
	if (in->raw_end >= 2 && !memcmp(in->raw, gz_magic, 2)) {
		in->packing = PACKING_GZIP;
		if (inflateInit2(&in->gz, 15 + 16) != Z_OK)
			return err_set(err, -ENOMEM, "%s: cannot start gzip", in->path);
	} else if (in->raw_end >= 4 && !memcmp(in->raw, zstd_magic, 4)) {
		in->packing = PACKING_ZSTD;
		in->zstd = ZSTD_createDStream();
		if (!in->zstd)
			return err_set(err, -ENOMEM, "%s: cannot start zstd", in->path);
	}
	return 0;
}

static int open_common(struct input *in, struct input **ret, struct err *err)
{
	int rc = detect(in, err);

	if (rc)
		input_close(in);
	else
		*ret = in;
	return rc;
}

int input_open(const char *path, struct input **ret, struct err *err)
{
	struct input *in = xzalloc(sizeof(*in));
	struct stat st;
	int rc = 0;

	in->path = xstrdup(strcmp(path, "-") ? path : "standard input");
	in->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				     fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (in->fd < 0)
		rc = err_errno(err, "cannot open %s", in->path);
	else if (fstat(in->fd, &st))
		rc = err_errno(err, "cannot read %s", in->path);
	else if (S_ISDIR(st.st_mode))
		rc = err_set(err, -EISDIR, "cannot read %s: it is a directory", in->path);
	if (rc) {
		input_close(in);
		return rc;
	}
	in->file_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return open_common(in, ret, err);
}

int input_open_mem(const void *data, size_t len_bytes, struct input **ret, struct err *err)
{
	struct input *in = xzalloc(sizeof(*in));

	in->path = xstrdup("memory");
	in->fd = -1;
	in->mem = data;
	in->mem_bytes = len_bytes;
	in->file_bytes = len_bytes;
	return open_common(in, ret, err);
}

static int corrupt(struct input *in, const char *what, struct err *err)
{
	return err_set(err, -EIO, "%s: the %s data are %s", in->path, what,
		       in->raw_eof && in->raw_at == in->raw_end ? "cut off" : "corrupt");
}

static ssize_t read_gzip(struct input *in, void *data, size_t cap_bytes, struct err *err)
{
	int rc;

	in->gz.next_in = (unsigned char *)in->raw + in->raw_at;
	in->gz.avail_in = (unsigned int)(in->raw_end - in->raw_at);
	in->gz.next_out = data;
	in->gz.avail_out = (unsigned int)(cap_bytes > 1U << 30 ? 1U << 30 : cap_bytes);
	cap_bytes = in->gz.avail_out;
	rc = inflate(&in->gz, Z_NO_FLUSH);
	in->raw_at = in->raw_end - in->gz.avail_in;
	if (rc == Z_STREAM_END) { /* another member may follow */
		in->frame_open = false;
		inflateReset(&in->gz);
	} else if (rc == Z_OK) {
		in->frame_open = true;
	} else if (rc != Z_BUF_ERROR) {
		return corrupt(in, "gzip", err);
	}
	return (ssize_t)(cap_bytes - in->gz.avail_out);
}

static ssize_t read_zstd(struct input *in, void *data, size_t cap_bytes, struct err *err)
{
	ZSTD_inBuffer src = { in->raw, in->raw_end, in->raw_at };
	ZSTD_outBuffer dst = { data, cap_bytes, 0 };
	size_t rc = ZSTD_decompressStream(in->zstd, &dst, &src);

	in->raw_at = src.pos;
	if (ZSTD_isError(rc))
		return corrupt(in, "zstd", err);
	in->frame_open = rc != 0;
	return (ssize_t)dst.pos;
}

static ssize_t read_unpacked(struct input *in, void *data, size_t cap_bytes, struct err *err)
{
	ssize_t n;

	for (;;) {
		int rc = fill_raw(in, err);
		size_t have_bytes = in->raw_end - in->raw_at;

		if (rc)
			return rc;
		if (in->packing == PACKING_NONE) {
			n = (ssize_t)(have_bytes < cap_bytes ? have_bytes : cap_bytes);
			memcpy(data, in->raw + in->raw_at, (size_t)n);
			in->raw_at += (size_t)n;
			return n;
		}
		if (!have_bytes && !in->frame_open)
			return 0;
		n = in->packing == PACKING_GZIP ? read_gzip(in, data, cap_bytes, err) :
						  read_zstd(in, data, cap_bytes, err);
		if (n)
			return n;
		if (!have_bytes && in->frame_open)
			return corrupt(in, in->packing == PACKING_GZIP ? "gzip" : "zstd", err);
	}
}

/* Moves the unfinished line to the front and reads more behind it. */
static ssize_t more_text(struct input *in, struct err *err)
{
	size_t left_bytes = in->text_end - in->text_at;
	ssize_t n;

	if (in->text_at)
		memmove(in->text, in->text + in->text_at, left_bytes);
	in->text_at = 0;
	in->text_end = left_bytes;
	in->text = xgrow(in->text, &in->text_cap, left_bytes + INPUT_TEXT_BYTES + 1, 1);
	n = read_unpacked(in, in->text + left_bytes, in->text_cap - left_bytes - 1, err);
	if (n > 0)
		in->text_end += (size_t)n;
	return n;
}

ssize_t input_read(struct input *in, void *data, size_t cap_bytes, struct err *err)
{
	size_t have_bytes = in->text_end - in->text_at;

	if (!have_bytes)
		return read_unpacked(in, data, cap_bytes, err);
	if (have_bytes > cap_bytes)
		have_bytes = cap_bytes;
	memcpy(data, in->text + in->text_at, have_bytes); /* what input_peek took */
	in->text_at += have_bytes;
	return (ssize_t)have_bytes;
}

ssize_t input_peek(struct input *in, size_t want_bytes, const char **data, struct err *err)
{
	while (in->text_end - in->text_at < want_bytes) {
		ssize_t n = more_text(in, err);

		if (n < 0)
			return n;
		if (!n)
			break;
	}
	*data = in->text ? in->text + in->text_at : "";
	return (ssize_t)(in->text_end - in->text_at);
}

static int give_line(struct input *in, size_t len_bytes, size_t skip_bytes, char **line,
		     size_t *ret_bytes)
{
	char *start = in->text ? in->text + in->text_at : NULL;

	in->text_at += len_bytes + skip_bytes;
	in->line_no++;
	if (len_bytes && start[len_bytes - 1] == '\r')
		len_bytes--;
	start[len_bytes] = '\0';
	*line = start;
	*ret_bytes = len_bytes;
	return 1;
}

int input_line(struct input *in, size_t max_bytes, char **line, size_t *len_bytes, struct err *err)
{
	size_t searched_bytes = 0;

	for (;;) {
		size_t have_bytes = in->text_end - in->text_at;
		char *start = in->text ? in->text + in->text_at : NULL;
		char *nl = have_bytes > searched_bytes ? memchr(start + searched_bytes, '\n',
								have_bytes - searched_bytes) :
							 NULL;
		ssize_t n;

		if ((nl ? (size_t)(nl - start) : have_bytes) > max_bytes)
			return err_set(err, -E2BIG, "%s:%llu: line is longer than %zu bytes",
				       in->path, (unsigned long long)in->line_no + 1, max_bytes);
		if (nl)
			return give_line(in, (size_t)(nl - start), 1, line, len_bytes);
		searched_bytes = have_bytes;
		n = more_text(in, err);
		if (n < 0)
			return (int)n;
		if (!n)
			return have_bytes ? give_line(in, have_bytes, 0, line, len_bytes) : 0;
	}
}

uint64_t input_line_no(const struct input *in)
{
	return in->line_no;
}

const char *input_path(const struct input *in)
{
	return in->path;
}

uint64_t input_raw_bytes(const struct input *in)
{
	return in->raw_total_bytes - (in->raw_end - in->raw_at);
}

uint64_t input_total_bytes(const struct input *in)
{
	return in->file_bytes;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->packing == PACKING_GZIP)
		inflateEnd(&in->gz);
	ZSTD_freeDStream(in->zstd);
	if (in->fd >= 0)
		close(in->fd);
	free(in->text);
	free(in->path);
	free(in);
}
