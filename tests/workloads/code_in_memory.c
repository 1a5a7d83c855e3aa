/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that does not lie in a file where it was mapped from at first. The first argument chooses:
 *	remap	the program's text is copied to anonymous memory in its place (as for huge pages)
 *	memfd	a library (second argument) is loaded from a memfd
 *	jit	anonymous code with a perf map
 * Prints the address of "known_function" in it and waits. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int known_function(int x);
int known_function(int x)
{
	__asm__ volatile("");
	return x * 3 + 1;
}

static void say_and_wait(uintptr_t addr)
{
	printf("%lx\n", (unsigned long)addr);
	fflush(stdout);
	alarm(60);
	pause();
}

/* mremap moves the copy over the original in one step: the code that does it is inside of it. */
static int remap(void)
{
	uintptr_t page = (uintptr_t)known_function & ~(uintptr_t)4095;
	void *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return 1;
	memcpy(copy, (const void *)page, 4096);
	if (mprotect(copy, 4096, PROT_READ | PROT_EXEC) ||
	    mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)page) == MAP_FAILED)
		return 1;
	say_and_wait((uintptr_t)known_function + 1);
	return known_function(1);
}

static int load_from_memfd(const char *library)
{
	char bytes[65536], path[64];
	int in = open(library, O_RDONLY), out = memfd_create("library", 0);
	void *handle, *function;
	ssize_t n;

	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			return 1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	handle = dlopen(path, RTLD_NOW);
	function = handle ? dlsym(handle, "known_function_of_library") : NULL;
	if (!function)
		return 1;
	say_and_wait((uintptr_t)function + 1);
	return 0;
}

static int jit(void)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx 1000 known_function\n", (unsigned long)code);
	fclose(map);
	say_and_wait((uintptr_t)code + 1);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "remap"))
		return remap();
	if (argc == 3 && !strcmp(argv[1], "memfd"))
		return load_from_memfd(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "jit"))
		return jit();
	fprintf(stderr, "usage: %s remap|jit|memfd LIBRARY\n", argv[0]);
	return 2;
}
