/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of "perf script"; see perf_line.h. */
#include "user/exchange/perf_line.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"
#include "user/model/kinds.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && is_blank(*s))
		s++;
	return s;
}

static const char *skip_word(const char *s, const char *end)
{
	while (s < end && !is_blank(*s))
		s++;
	return s;
}

/* "digits.digits:" at s; returns its end or NULL. */
static const char *time_stamp(const char *s, const char *end)
{
	const char *start = s;

	while (s < end && is_digit(*s))
		s++;
	if (s == start || s == end || *s != '.')
		return NULL;
	start = ++s;
	while (s < end && is_digit(*s))
		s++;
	return s > start && s < end && *s == ':' && (s + 1 == end || is_blank(s[1])) ? s + 1 : NULL;
}

/* The first word from s on that is a time stamp and has something before it. */
static const char *find_time(const char *s, const char *end, const char **after)
{
	while (s < end) {
		const char *word = skip_blanks(s, end);

		*after = word > s ? time_stamp(word, end) : NULL;
		if (*after)
			return word;
		s = skip_word(word, end);
	}
	return NULL;
}

static const char *scan_int(const char *s, const char *end, int64_t *ret)
{
	bool is_negative = s < end && *s == '-';
	int64_t v = 0;
	const char *start = s += is_negative;

	for (; s < end && is_digit(*s) && v < INT64_MAX / 100; s++)
		v = v * 10 + (*s - '0');
	*ret = is_negative ? -v : v;
	return s > start ? s : NULL;
}

/* "PID", "TID" or "PID/TID", the whole word. */
static bool scan_ids(const char *s, const char *end, struct perf_header *h)
{
	s = scan_int(s, end, &h->pid);
	if (!s)
		return false;
	h->tid = h->pid;
	if (s < end && *s == '/')
		s = scan_int(s + 1, end, &h->tid);
	return s == end;
}

static const char *last_word(const char *start, const char **end)
{
	const char *s;

	while (*end > start && is_blank((*end)[-1]))
		(*end)--;
	for (s = *end; s > start && !is_blank(s[-1]);)
		s--;
	return s;
}

static bool is_cpu(const char *s, const char *end)
{
	if (end - s < 3 || *s != '[' || end[-1] != ']')
		return false;
	for (s++; s < end - 1; s++)
		if (!is_digit(*s))
			return false;
	return true;
}

static bool set_comm(struct perf_header *h, const char *start, const char *end)
{
	while (end > start && is_blank(end[-1]))
		end--;
	start = skip_blanks(start, end);
	h->comm = start;
	h->comm_bytes = (size_t)(end - start);
	return end > start;
}

/* Everything before the time stamp: comm, ids, and maybe a CPU (and flags that newer versions print). */
static bool before_time(const char *start, const char *end, struct perf_header *h)
{
	const char *word = last_word(start, &end);

	if (is_cpu(word, end) && word > start) {
		end = word;
		word = last_word(start, &end);
	}
	return word > start && scan_ids(word, end, h) && set_comm(h, start, word);
}

/* No time stamp: the first whole number behind a blank is the thread. */
static const char *first_ids(const char *start, const char *end, struct perf_header *h)
{
	const char *s = skip_word(start, end);

	while (s < end) {
		const char *word = skip_blanks(s, end), *stop = skip_word(word, end);

		if (stop > word && scan_ids(word, stop, h) && set_comm(h, start, word)) {
			s = skip_blanks(stop, end);
			stop = skip_word(s, end);
			return is_cpu(s, stop) ? stop : s;
		}
		s = stop;
	}
	return NULL;
}

static void after_time(const char *s, const char *end, struct perf_header *h)
{
	int64_t period;
	const char *word, *stop;

	s = skip_blanks(s, end);
	stop = skip_word(s, end);
	word = scan_int(s, stop, &period);
	if (word == stop && stop > s && period >= 0) {
		h->has_period = true;
		h->period = (uint64_t)period;
		s = skip_blanks(stop, end);
		stop = skip_word(s, end);
	}
	if (stop > s + 1 && stop[-1] == ':') {
		h->event = s;
		h->event_bytes = (size_t)(stop - 1 - s);
		s = stop;
	}
	s = skip_blanks(s, end);
	h->rest = s;
	h->rest_bytes = (size_t)(end - s);
}

bool perf_parse_header(const char *line, size_t len_bytes, struct perf_header *ret)
{
	const char *start, *end = line + len_bytes, *time, *after;

	*ret = (struct perf_header){ 0 };
	start = skip_blanks(line, end);
	time = find_time(start, end, &after);
	if (time) {
		ret->has_time = true;
		if (!before_time(start, time, ret))
			return false;
		after_time(after, end, ret);
		return true;
	}
	after = start == line ? first_ids(start, end, ret) : NULL;
	if (!after)
		return false;
	after_time(after, end, ret);
	return true;
}

/* "cycles:u" is "cycles"; "sched:sched_switch" stays. */
size_t perf_event_base_bytes(const char *event, size_t event_bytes)
{
	size_t n = event_bytes;

	while (n && event[n - 1] && strchr("ukhGHSpPDeIW", event[n - 1]))
		n--;
	return n && event[n - 1] == ':' ? n - 1 : event_bytes;
}

/* The start of the last balanced "(...)" when the line ends in one that has a blank before it. */
static const char *module_start(const char *start, const char *end)
{
	int depth = 0;

	if (end == start || end[-1] != ')')
		return NULL;
	for (const char *s = end - 1; s > start; s--) {
		depth += *s == ')';
		depth -= *s == '(';
		if (!depth)
			return is_blank(s[-1]) ? s : NULL;
	}
	return NULL;
}

static bool starts_with(const char *s, size_t n, const char *prefix)
{
	size_t p = strlen(prefix);

	return n >= p && !memcmp(s, prefix, p);
}

static bool ends_with(const char *s, size_t n, const char *suffix)
{
	size_t x = strlen(suffix);

	return n >= x && !memcmp(s + n - x, suffix, x);
}

/* What is in brackets and is not the kernel or one of its modules. */
static bool is_user_area(const char *m, size_t n)
{
	static const char *const areas[] = { "[unknown]", "[vdso]", "[vsyscall]", "[heap]",
					     "[stack",	  "[anon",  "[uprobes]" };

	for (size_t i = 0; i < ARRAY_CNT(areas); i++)
		if (starts_with(m, n, areas[i]))
			return true;
	return false;
}

static int module_kind(const char *m, size_t n)
{
	if (starts_with(m, n, "[JIT") || (starts_with(m, n, "perf-") && ends_with(m, n, ".map")) ||
	    starts_with(m, n, "jitted-"))
		return FRAME_JIT;
	if (n && m[0] == '[')
		return is_user_area(m, n) ? FRAME_USER : FRAME_KERNEL;
	if (starts_with(m, n, "vmlinux") || starts_with(m, n, "bpf_prog_") ||
	    ends_with(m, n, ".ko") || ends_with(m, n, ".ko.xz") || ends_with(m, n, ".ko.zst") ||
	    ends_with(m, n, ".ko.gz"))
		return FRAME_KERNEL;
	return FRAME_USER;
}

static void set_module(struct perf_frame *f, const char *start, const char *end)
{
	const char *slash = memrchr(start, '/', (size_t)(end - start));

	if (slash && *start != '[')
		start = slash + 1;
	if (ends_with(start, (size_t)(end - start), " (deleted)"))
		end -= strlen(" (deleted)");
	f->module = start;
	f->module_bytes = (size_t)(end - start);
	f->kind = module_kind(start, f->module_bytes);
	f->is_inlined = f->module_bytes == 7 && !memcmp(start, "inlined", 7);
}

/* "+0x1f" at the end goes. */
static const char *without_offset(const char *start, const char *end)
{
	const char *s = end;

	while (s > start && is_hex(s[-1]))
		s--;
	return s < end && s - start > 3 && s[-1] == 'x' && s[-2] == '0' && s[-3] == '+' ? s - 3 :
											  end;
}

bool perf_parse_frame(const char *line, size_t len_bytes, struct perf_frame *ret)
{
	const char *s = skip_blanks(line, line + len_bytes), *end = line + len_bytes, *word = s,
		   *module;

	*ret = (struct perf_frame){ .module = "", .kind = FRAME_USER };
	while (end > s && is_blank(end[-1]))
		end--;
	while (s < end && is_hex(*s))
		s++;
	if (s == word || s == end || !is_blank(*s))
		return false;
	s = skip_blanks(s, end);
	module = module_start(s, end);
	if (module) {
		set_module(ret, module + 1, end - 1);
		end = module;
	}
	while (end > s && is_blank(end[-1]))
		end--;
	end = without_offset(s, end);
	ret->name = s;
	ret->name_bytes = (size_t)(end - s);
	ret->is_process_name =
		s < end && *s == '(' && !starts_with(s, ret->name_bytes, "(anonymous namespace)");
	return end > s;
}

/* The start of the argument list that ends the name: "f(int)", "f(int) const"; but not all of "(x)::f", and
 * not the receiver of a Go method, "(*T).f". */
static size_t without_arguments(const char *name, size_t n)
{
	size_t end = n;
	int depth = 0;

	if (ends_with(name, end, " const"))
		end -= 6;
	if (!end || name[end - 1] != ')')
		return n;
	for (size_t i = end; i-- > 1;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (depth)
			continue;
		return starts_with(name + i, end - i, "(anonymous namespace)") ? n : i;
	}
	return n;
}

/* What rustc writes for bytes that symbols may not hold: "$LT$" and others, "$u7b$". Returns the byte and
 * how long its code is, or 0. */
static char rust_byte(const char *s, size_t n, size_t *used_bytes)
{
	static const struct {
		const char *code;
		char byte;
	} codes[] = { { "$LT$", '<' }, { "$GT$", '>' }, { "$RF$", '&' }, { "$BP$", '*' },
		      { "$LP$", '(' }, { "$RP$", ')' }, { "$SP$", '@' }, { "$C$", ',' } };

	for (size_t i = 0; i < ARRAY_CNT(codes); i++) {
		if (!starts_with(s, n, codes[i].code))
			continue;
		*used_bytes = strlen(codes[i].code);
		return codes[i].byte;
	}
	if (n < 5 || s[0] != '$' || s[1] != 'u' || !is_hex(s[2]) || !is_hex(s[3]) || s[4] != '$')
		return 0;
	*used_bytes = 5;
	return (char)strtoul((const char[]){ s[2], s[3], '\0' }, NULL, 16);
}

/* "::h" and 16 hexadecimal digits at the end of Rust's names tell compilations apart, not functions. */
static size_t without_rust_hash(const char *name, size_t n)
{
	if (n < 20 || memcmp(name + n - 19, "::h", 3))
		return n;
	for (size_t i = n - 16; i < n; i++)
		if (!is_hex(name[i]))
			return n;
	return n - 19;
}

static void put_tidy(const char *name, size_t n, struct buf *out)
{
	bool is_java = n > 2 && name[0] == 'L' && memchr(name, '/', n) && memchr(name, ';', n);

	n = without_rust_hash(name, without_arguments(name, n));
	for (size_t i = is_java ? 1 : 0; i < n; i++) {
		size_t used_bytes;
		char c = name[i] == '$' ? rust_byte(name + i, n - i, &used_bytes) : 0;

		if (c) {
			buf_putc(out, c);
			i += used_bytes - 1;
		} else if (name[i] == ';') {
			buf_putc(out, ':');
		} else if (name[i] != '"' && name[i] != '\'') {
			buf_putc(out, name[i]);
		}
	}
}

void perf_frame_name(const struct perf_frame *f, const char *name, size_t name_bytes, bool tidy,
		     struct buf *out)
{
	bool is_unknown = name_bytes == 9 && !memcmp(name, "[unknown]", 9);
	bool has_module = f->module_bytes && !starts_with(f->module, f->module_bytes, "[unknown]");

	if (is_unknown && has_module) {
		buf_putc(out, '[');
		buf_append(out, f->module, f->module_bytes);
		buf_putc(out, ']');
	} else if (tidy) {
		put_tidy(name, name_bytes, out);
	} else {
		buf_append(out, name, name_bytes);
	}
}
