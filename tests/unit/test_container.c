/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of containers out of the paths that runtimes and systemd make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "user/model/container.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define IE "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const struct {
	const char *path, *name;
	bool container;
} cases[] = {
	{ "/docker/" ID, "0123456789ab", true },
	{ "/system.slice/docker-" ID ".scope", "0123456789ab", true },
	{ "/machine.slice/libpod-" ID ".scope", "0123456789ab", true },
	{ "/machine.slice/libpod-" ID ".scope/container", "0123456789ab", true },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope", false },
	{ "/kubepods/besteffort/pod1b2c/" ID, "0123456789ab", true },
	{ "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", "0123456789ab", true },
	{ "/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope", "0123456789ab", true },
	{ "/ecs/task/" ID, "0123456789ab", true },
	/* a service in a container, a container in a container */
	{ "/docker/" ID "/system.slice/nginx.service", "0123456789ab", true },
	{ "/docker/" ID "/docker/" IE, "fedcba987654", true },
	{ "/lxc.payload.web", "web", true },
	{ "/lxc.payload.web/init.scope", "web", true },
	{ "/lxc/db", "db", true },
	{ "/machine.slice/machine-lxc\\x2d7\\x2dmail.scope", "lxc-7-mail", true },
	{ "/machine.slice/systemd-nspawn@build.service/payload", "build", true },
	{ "/system.slice/nginx.service", "nginx.service", false },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", false },
	{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope", false },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope", "app-x.scope",
	  false },
	{ "/mine/inner", "/mine/inner", false },
	{ "/", "/", false },
	{ "", "", false },
	/* nearly */
	{ "/docker/0123456789abcdef", "/docker/0123456789abcdef", false },
	{ "/x" ID, "/x" ID, false },
	{ "/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	  "/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", false },
	{ ".scope", ".scope", false },
	{ "//", "//", false },
	{ "/lxc/", "/lxc/", false },
	{ "/machine-.scope", "machine-.scope", false },
	{ "/a\\x2.service", "a\\x2.service", false },
};

static void names_are_found(void **state)
{
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&out);
		assert_int_equal(container_name(cases[i].path, &out), cases[i].container);
		assert_string_equal(buf_str(&out), cases[i].name);
	}
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names_are_found) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
