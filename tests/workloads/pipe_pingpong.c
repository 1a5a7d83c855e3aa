/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two processes on one CPU that pass a byte back and forth through pipes: nearly nothing but switches. Counts round
 * trips in a shared file that the benchmark reads. usage: pipe_pingpong CPU COUNTER_FILE; until SIGTERM */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int there[2], back[2], fd;
	volatile uint64_t *counter;
	cpu_set_t set;
	char byte = 0;

	if (argc != 3 || pipe(there) || pipe(back))
		return 2;
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	sched_setaffinity(0, sizeof(set), &set);
	fd = open(argv[2], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counter == MAP_FAILED)
		return 1;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		++*counter;
	return 1;
}
