/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/cmd/node_map.h"

int read_node_map(const char *path, struct nodemap **ret, struct err *err)
{
	struct input *in;
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	rc = nodemap__read(in, ret, err);
	input_close(in);
	return rc;
}
