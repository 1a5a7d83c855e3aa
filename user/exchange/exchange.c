/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of foreign formats; see exchange.h. */
#include "user/exchange/exchange.h"

#include <errno.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/exchange/formats.h"

/* Sniffing asks in this order, so what accepts nearly everything comes last. */
static const struct exchange_format *const *all_formats(void)
{
	static const struct exchange_format *const all[] = {
		&format_pprof,	    &format_otlp,
		&format_speedscope, &format_firefox,
		&format_chrome,	    &format_bpftrace,
		&format_bcc,	    &format_perf_script,
		&format_folded,	    NULL
	};

	return all;
}

const struct exchange_format *exchange_format_at(size_t i)
{
	return all_formats()[i];
}

const struct exchange_format *exchange_find(const char *name)
{
	for (const struct exchange_format *const *f = all_formats(); *f; f++)
		if (!strcmp((*f)->name, name))
			return *f;
	return NULL;
}

/* The length of the extension in a blank-separated list that ends path, or 0. */
static size_t matching_extension(const char *list, const char *path)
{
	size_t best = 0, path_bytes = strlen(path);

	while (*list) {
		size_t n = strcspn(list, " ");

		if (n < path_bytes && n > best && !memcmp(path + path_bytes - n, list, n))
			best = n;
		list += n + (list[n] == ' ');
	}
	return best;
}

const struct exchange_format *exchange_by_extension(const char *path)
{
	const struct exchange_format *best = NULL;
	size_t best_bytes = 0;

	for (const struct exchange_format *const *f = all_formats(); *f; f++) {
		size_t n = matching_extension((*f)->extensions, path);

		if (n > best_bytes) {
			best = *f;
			best_bytes = n;
		}
	}
	return best;
}

static bool is_utf16(const char *head, size_t len_bytes)
{
	size_t zero_cnt = 0, look = len_bytes < 64 ? len_bytes : 64;

	if (len_bytes >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
		return true;
	for (size_t i = 0; i < look; i++)
		zero_cnt += head[i] == '\0';
	return look >= 8 && zero_cnt * 5 > look * 2 && (!head[0] != !head[1]);
}

const struct exchange_format *exchange_sniff(struct input *in, struct err *err)
{
	const char *head;
	ssize_t n = input_peek(in, IMPORT_PEEK_BYTES, &head, err);
	size_t skip;

	if (n < 0)
		return NULL;
	if (!n) {
		err_set(err, -ENODATA, "%s is empty: there is no profile in it", input_path(in));
		return NULL;
	}
	if (is_utf16(head, (size_t)n)) {
		err_set(err, -EILSEQ, "%s is UTF-16 text; convert it: iconv -f utf-16 -t utf-8",
			input_path(in));
		return NULL;
	}
	skip = n >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
	for (const struct exchange_format *const *f = all_formats(); *f; f++)
		if ((*f)->import && (*f)->sniff && (*f)->sniff(head + skip, (size_t)n - skip))
			return *f;
	err_set(err, -EINVAL, "%s: cannot tell the format from its first bytes; say --from FORMAT",
		input_path(in));
	return NULL;
}

int exchange_import(struct input *in, const struct exchange_format *format,
		    const struct import_options *opts, struct profile *p,
		    struct import_report *report, struct err *err)
{
	int rc;

	if (!format)
		format = exchange_sniff(in, err);
	if (!format)
		return err->code;
	if (!format->import)
		return err_set(err, -ENOTSUP, "%s can be written but not read", format->name);
	rc = format->import(in, opts, p, report, err);
	if (!rc && !p->sums.cnt && !p->intervals.cnt)
		rc = err_set(err, -ENODATA, "%s: no samples in this %s input%s%s", input_path(in),
			     format->name,
			     report->rejected_cnt ? "; the first line was refused: " : "",
			     report->first_why);
	if (rc)
		return rc;
	return profile__check(p, err);
}
