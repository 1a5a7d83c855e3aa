/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures by graphviz' dot, which need not be installed. */
#ifndef CP_USER_CMD_GRAPHVIZ_H
#define CP_USER_CMD_GRAPHVIZ_H

#include "user/base/buf.h"
#include "user/base/err.h"

/* Runs "dot -Tsvg" on dot_text; appends what it writes. -ENOENT with a way out if there is no dot. */
int graphviz_svg(const struct buf *dot_text, struct buf *svg, struct err *err);

#endif
