/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads one library, calls it, unloads it, loads the other, which then lies at the same address; until
 * SIGTERM. Says on standard output once that the addresses were equal. usage: dlopen_pair ONE TWO */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

/* Calls the library's function; returns its address. */
static uintptr_t use(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*fn)(void);
	uintptr_t address;

	if (!lib)
		return 0;
	*(void **)&fn = dlsym(lib, "library_work");
	address = (uintptr_t)fn;
	if (fn)
		fn();
	dlclose(lib);
	return address;
}

int main(int argc, char **argv)
{
	unsigned long equal = 0, rounds = 0;

	if (argc != 3)
		return 2;
	signal(SIGTERM, on_term);
	while (!stop) {
		uintptr_t one = use(argv[1]), two = use(argv[2]);

		if (!one || !two)
			return 1;
		equal += one == two;
		rounds++;
	}
	printf("%lu of %lu\n", equal, rounds);
	return 0;
}
