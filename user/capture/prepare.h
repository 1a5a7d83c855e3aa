/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of what is to be watched, found before the kernel programs are there. */
#ifndef CP_USER_CAPTURE_PREPARE_H
#define CP_USER_CAPTURE_PREPARE_H

#include <stdbool.h>

#include "user/capture/options.h"
#include "user/capture/spaces.h"

/* Starts to compile what the targets map; nobody waits for it (spaces__settle). */
void prepare_spaces(struct spaces *spaces, const struct capture_opts *o);
/* Only one process is watched, besides those that it starts. */
bool prepare_is_one_process(const struct capture_opts *o);

#endif
