/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of containers; see container.h. */
#include "user/model/container.h"

#include <ctype.h>
#include <string.h>

enum {
	ID_DIGITS = 64,
	ID_SHOWN_DIGITS = 12
};

/* A component of the path. */
struct part {
	const char *s;
	size_t len_bytes;
};

static bool begins(struct part p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p.len_bytes > n && !memcmp(p.s, prefix, n);
}

static bool ends(struct part p, const char *suffix)
{
	size_t n = strlen(suffix);

	return p.len_bytes > n && !memcmp(p.s + p.len_bytes - n, suffix, n);
}

static struct part cut(struct part p, const char *prefix, const char *suffix)
{
	size_t n = strlen(prefix);

	return (struct part){ p.s + n, p.len_bytes - n - strlen(suffix) };
}

/* systemd writes other bytes than its own as \xHH. */
static void put_unescaped(struct buf *out, struct part p)
{
	for (size_t i = 0; i < p.len_bytes; i++) {
		unsigned int byte = 0;

		if (p.len_bytes - i < 4 || p.s[i] != '\\' || p.s[i + 1] != 'x' ||
		    !isxdigit((unsigned char)p.s[i + 2]) || !isxdigit((unsigned char)p.s[i + 3])) {
			buf_putc(out, p.s[i]);
			continue;
		}
		for (int digit = 2; digit < 4; digit++) {
			int c = tolower((unsigned char)p.s[i + (size_t)digit]);

			byte = byte << 4 | (unsigned int)(isdigit(c) ? c - '0' : c - 'a' + 10);
		}
		buf_putc(out, (char)byte);
		i += 3;
	}
}

/* 64 hexadecimal digits at the end, alone or behind "RUNTIME-". */
static bool put_id(struct buf *out, struct part p)
{
	const char *id;

	if (ends(p, ".scope"))
		p = cut(p, "", ".scope");
	if (p.len_bytes < ID_DIGITS)
		return false;
	id = p.s + p.len_bytes - ID_DIGITS;
	for (int i = 0; i < ID_DIGITS; i++)
		if (!isxdigit((unsigned char)id[i]))
			return false;
	if (id != p.s && id[-1] != '-')
		return false;
	if (begins(p, "libpod-conmon-") || begins(p, "crio-conmon-")) /* watches one, is none */
		return false;
	buf_append(out, id, ID_SHOWN_DIGITS);
	return true;
}

static bool put_named(struct buf *out, struct part p, struct part above)
{
	static const struct {
		const char *prefix, *suffix;
	} forms[] = {
		{ "lxc.payload.", "" },
		{ "machine-", ".scope" },
		{ "systemd-nspawn@", ".service" },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (begins(p, forms[i].prefix) && ends(p, forms[i].suffix) &&
		    p.len_bytes > strlen(forms[i].prefix) + strlen(forms[i].suffix)) {
			put_unescaped(out, cut(p, forms[i].prefix, forms[i].suffix));
			return true;
		}
	if (!p.len_bytes || above.len_bytes != 3 || memcmp(above.s, "lxc", 3))
		return false;
	put_unescaped(out, p);
	return true;
}

/* The component before the one that begins at p.s. */
static struct part part_before(const char *path, const char *at)
{
	const char *end = at > path ? at - 1 : path, *start = end;

	while (start > path && start[-1] != '/')
		start--;
	return (struct part){ start, (size_t)(end - start) };
}

bool container_name(const char *cgroup_path, struct buf *out)
{
	const char *end = cgroup_path + strlen(cgroup_path);
	struct part unit = { 0 }, p;

	for (const char *at = end + 1; at > cgroup_path + 1; at = p.s) {
		p = part_before(cgroup_path, at);
		if (put_id(out, p) || put_named(out, p, part_before(cgroup_path, p.s)))
			return true;
		if (!unit.len_bytes && (ends(p, ".service") || ends(p, ".scope")))
			unit = p;
	}
	if (unit.len_bytes)
		put_unescaped(out, unit);
	else
		buf_puts(out, cgroup_path);
	return false;
}
