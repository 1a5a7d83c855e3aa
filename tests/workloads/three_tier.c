/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A service of three processes for the demo: a shop front that asks an inventory that asks a store, over Unix
 * sockets, with a client that keeps it busy. Where the time goes is known: the front renders (CPU), the
 * inventory has one lock that is held while it computes prices, the store sleeps as a slow disk would.
 *
 * usage: three_tier SECONDS; prints the PIDs of front, inventory and store, then serves. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum {
	WORKERS = 4
};

static void spin_us(unsigned int us)
{
	struct timespec ts;
	uint64_t now_ns, until_ns = 0;
	volatile unsigned long x = 1;

	do {
		for (int i = 0; i < 500; i++)
			x = x * 3 + 1;
		clock_gettime(CLOCK_MONOTONIC, &ts);
		now_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
		if (!until_ns)
			until_ns = now_ns + us * 1000ULL;
	} while (now_ns < until_ns);
}

static void sleep_us(unsigned int us)
{
	struct timespec ts = { 0, (long)us * 1000 };

	nanosleep(&ts, NULL);
}

/* store */
NOINLINE static void read_from_slow_disk(int item)
{
	sleep_us(item % 16 ? 300 : 6000); /* one in sixteen is not cached */
	asm volatile("");
}

NOINLINE static void parse_record(void)
{
	spin_us(60);
	asm volatile("");
}

static void store_answer(int fd, int next_fd, int item)
{
	(void)fd;
	(void)next_fd;
	read_from_slow_disk(item);
	parse_record();
}

/* inventory */
static pthread_mutex_t price_lock = PTHREAD_MUTEX_INITIALIZER;

static int ask(int fd, int item)
{
	if (write(fd, &item, sizeof(item)) != sizeof(item) ||
	    read(fd, &item, sizeof(item)) != sizeof(item))
		_exit(0);
	return item;
}

NOINLINE static void compute_price_under_lock(int item)
{
	pthread_mutex_lock(&price_lock);
	spin_us(item % 8 ? 150 : 600);
	pthread_mutex_unlock(&price_lock);
}

static void inventory_answer(int fd, int next_fd, int item)
{
	(void)fd;
	ask(next_fd, item);
	compute_price_under_lock(item);
}

/* front */
NOINLINE static void render_page(void)
{
	spin_us(200);
	asm volatile("");
}

static void front_answer(int fd, int next_fd, int item)
{
	(void)fd;
	ask(next_fd, item);
	render_page();
}

struct worker {
	void (*answer)(int fd, int next_fd, int item);
	int fd, next_fd;
};

NOINLINE static void serve(struct worker *w)
{
	int item;

	while (read(w->fd, &item, sizeof(item)) == sizeof(item)) {
		w->answer(w->fd, w->next_fd, item);
		if (write(w->fd, &item, sizeof(item)) != sizeof(item))
			break;
	}
}

static void *worker_main(void *arg)
{
	serve(arg);
	return NULL;
}

/* One connection a worker between each two tiers: [tier][worker][end]. */
static int links[3][WORKERS][2];

static pid_t start_tier(const char *name, int tier, void (*answer)(int, int, int))
{
	struct worker workers[WORKERS];
	pthread_t threads[WORKERS];
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){ answer, links[tier][i][1],
					      tier < 2 ? links[tier + 1][i][0] : -1 };
		pthread_create(&threads[i], NULL, worker_main, &workers[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

struct client {
	int fd;
	uint64_t end_s;
};

static void *client_main(void *arg)
{
	struct client *c = arg;

	for (int item = c->fd; (uint64_t)time(NULL) < c->end_s; item++) {
		ask(c->fd, item);
		sleep_us(1500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "front", "inventory", "store" };
	void (*const answers[])(int, int, int) = { front_answer, inventory_answer, store_answer };
	struct client clients[WORKERS];
	pthread_t threads[WORKERS];
	pid_t pids[3];

	if (argc != 2)
		return 2;
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < WORKERS; i++)
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, links[t][i]))
				return 1;
	for (int t = 2; t >= 0; t--)
		pids[t] = start_tier(names[t], t, answers[t]);
	printf("%d %d %d\n", (int)pids[0], (int)pids[1], (int)pids[2]);
	fflush(stdout);
	for (int i = 0; i < WORKERS; i++) {
		clients[i] = (struct client){ links[0][i][0],
					      (uint64_t)time(NULL) + (uint64_t)atoi(argv[1]) };
		pthread_create(&threads[i], NULL, client_main, &clients[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int t = 0; t < 3; t++)
		kill(pids[t], SIGTERM);
	for (int t = 0; t < 3; t++)
		waitpid(pids[t], NULL, 0);
	return 0;
}
