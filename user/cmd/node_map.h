/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file behind --node-map. */
#ifndef CP_USER_CMD_NODE_MAP_H
#define CP_USER_CMD_NODE_MAP_H

#include "user/base/err.h"
#include "user/model/nodemap.h"

int read_node_map(const char *path, struct nodemap **ret, struct err *err);

#endif
