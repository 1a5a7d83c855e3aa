/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile that can be shown to strangers: every name, path, label, command line, cgroup and endpoint
 * becomes 16 hexadecimal digits (SipHash-2-4 of the text); addresses and build ids go. Shapes, times,
 * counts, pids, lines, the kernel's release and the marks in brackets stay. Equal names stay equal, also
 * between two profiles redacted with the same key. Without a key, whoever guesses a name can check the
 * guess; with one, only who has the key. */
#ifndef CP_USER_STORE_REDACT_H
#define CP_USER_STORE_REDACT_H

#include "user/model/profile.h"

/* The result is owned by the caller. key is a text of any length; "" is no key. O(size). */
struct profile *profile__redact(const struct profile *p, const char *key);

#endif
