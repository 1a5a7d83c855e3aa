/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as people write and read them; see num.h. */
#include "user/base/num.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

struct unit {
	const char *name;
	double factor;
};

int parse_u64(const char *text, uint64_t *ret, struct err *err)
{
	char *end = NULL;
	unsigned long long v;

	if (!isdigit((unsigned char)text[0]))
		return err_set(err, -EINVAL, "'%s' is not a whole number", text);
	errno = 0;
	v = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if (errno == ERANGE)
		return err_set(err, -ERANGE, "'%s' is too large", text);
	if (*end)
		return err_set(err, -EINVAL, "'%s' is not a whole number", text);
	*ret = v;
	return 0;
}

static int split_f64(const char *text, double *ret, const char **rest)
{
	char *end = NULL;
	const char *digits = text + (text[0] == '-' || text[0] == '+');

	/* strtod also takes "inf", "nan" and hexadecimal */
	if (!isdigit((unsigned char)digits[0]) && digits[0] != '.')
		return -EINVAL;
	if (digits[0] == '0' && (digits[1] | 32) == 'x')
		return -EINVAL;
	errno = 0;
	*ret = strtod(text, &end);
	*rest = end;
	if (end == text)
		return -EINVAL;
	return isfinite(*ret) ? 0 : -ERANGE;
}

int parse_f64(const char *text, double *ret, struct err *err)
{
	const char *rest = "";
	int rc = split_f64(text, ret, &rest);

	if (!rc && *rest)
		rc = -EINVAL;
	return rc ? err_set(err, rc, "'%s' is not a number", text) : 0;
}

static const struct unit *find_unit(const struct unit *units, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

static int parse_scaled(const char *text, const struct unit *units, size_t cnt, uint64_t *ret,
			const char *what, struct err *err)
{
	const struct unit *unit;
	const char *rest = "";
	double v;

	if (split_f64(text, &v, &rest))
		return err_set(err, -EINVAL, "'%s' is not a %s", text, what);
	while (*rest == ' ')
		rest++;
	unit = find_unit(units, cnt, rest);
	if (!unit)
		return err_set(err, -EINVAL, "'%s' is not a %s: unknown unit '%s'", text, what,
			       rest);
	v *= unit->factor;
	if (v < 0)
		return err_set(err, -EINVAL, "'%s' is negative", text);
	if (v >= 9.2e18)
		return err_set(err, -ERANGE, "'%s' is too large", text);
	*ret = (uint64_t)(v + 0.5);
	return 0;
}

int parse_duration_ns(const char *text, uint64_t bare_unit_ns, uint64_t *ret, struct err *err)
{
	const struct unit units[] = {
		{ "", (double)bare_unit_ns },
		{ "ns", 1 },
		{ "us", 1e3 },
		{ "µs", 1e3 },
		{ "ms", 1e6 },
		{ "s", 1e9 },
		{ "m", 60e9 },
		{ "min", 60e9 },
		{ "h", 3600e9 },
	};

	return parse_scaled(text, units, ARRAY_CNT(units), ret, "duration", err);
}

int parse_size_bytes(const char *text, uint64_t *ret, struct err *err)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "K", 1024.0 },
		{ "KiB", 1024.0 },
		{ "M", 1048576.0 },
		{ "MiB", 1048576.0 },
		{ "G", 1073741824.0 },
		{ "GiB", 1073741824.0 },
	};

	return parse_scaled(text, units, ARRAY_CNT(units), ret, "size", err);
}

static void put_scaled(struct buf *b, double v, const struct unit *units, size_t cnt)
{
	size_t i = 0;

	/* 999.5 would print as "1e+03" with three digits: step up just before */
	while (i + 1 < cnt && v / units[i].factor >= 999.5)
		i++;
	v /= units[i].factor;
	buf_printf(b, "%.*f %s",
		   v >= 99.95 || units[i].factor <= 1 ? 0 :
		   v >= 9.995			      ? 1 :
							2,
		   v, units[i].name);
}

void buf_put_duration(struct buf *b, uint64_t ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }
	};

	put_scaled(b, (double)ns, units, ARRAY_CNT(units));
}

void buf_put_size(struct buf *b, uint64_t bytes)
{
	static const struct unit units[] = {
		{ "B", 1 }, { "KiB", 1024.0 }, { "MiB", 1048576.0 }, { "GiB", 1073741824.0 }
	};

	put_scaled(b, (double)bytes, units, ARRAY_CNT(units));
}

void buf_put_grouped(struct buf *b, uint64_t v)
{
	if (v < 1000) {
		buf_put_u64(b, v);
		return;
	}
	buf_put_grouped(b, v / 1000);
	buf_printf(b, ",%03u", (unsigned int)(v % 1000));
}
