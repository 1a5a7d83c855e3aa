/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people call a control group. Container runtimes and systemd put their names into its path, each in its own
 * way; a path that none of them made is its own name:
 *	/docker/ID, /system.slice/docker-ID.scope, /machine.slice/libpod-ID.scope/container,
 *	/kubepods.slice/.../cri-containerd-ID.scope, /ecs/TASK/ID	the first 12 digits of ID, as docker ps has them
 *	/lxc.payload.NAME, /lxc/NAME, /machine.slice/machine-NAME.scope, .../systemd-nspawn@NAME.service	NAME
 *	/system.slice/NAME.service, /user.slice/.../NAME.scope	the unit, NAME.service
 * The innermost container wins over those around it, and any container over units. */
#ifndef CP_USER_MODEL_CONTAINER_H
#define CP_USER_MODEL_CONTAINER_H

#include <stdbool.h>

#include "user/base/buf.h"

/* Appends the name; "" stays "". Returns true if it is a container's. O(length). */
bool container_name(const char *cgroup_path, struct buf *out);

#endif
