/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sandbox with handlers that do what a taken-over parser would do, and with rows. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "symbolize/rows_remote.h"
#include "user/base/mem.h"

enum {
	MISBEHAVE = 5, /* kinds of requests beside those of the product */
	ECHO = 6,
	ASK = 7,
};

enum misdeed {
	CRASH,
	SPIN,
	SLEEP,
	EAT_MEMORY,
	TALK,
	OPEN_FILE,
	MAKE_SOCKET,
	FORK,
	MAP_CODE,
	KILL_OTHERS,
	BLOCK_SIGNALS,
	RETURN_ERROR,
	EXIT_QUIETLY,
	EXIT_ONCE, /* the second worker does well */
};

static int misbehave(struct sandbox_job *job, struct err *err)
{
	volatile int *nowhere = NULL;
	sigset_t all;
	int fds[2];

	switch ((enum misdeed)job->args[0]) {
	case CRASH:
		*nowhere = 1; /* cppcheck-suppress nullPointer */
		break;
	case SPIN:
		for (volatile int i = 0;; i++)
			;
	case SLEEP:
		(void)!read(job->channel, fds, sizeof(fds)); /* nobody writes */
		break;
	case EAT_MEMORY:
		for (size_t i = 0;; i++)
			memset(xmalloc(1 << 20), 1, 1 << 20);
	case TALK:
		buf_reserve(&job->reply, 4 << 20);
		memset(job->reply.data, 0, 4 << 20);
		job->reply.len_bytes = 4 << 20;
		break;
	case OPEN_FILE:
		(void)open("/etc/passwd", O_RDONLY);
		break;
	case MAKE_SOCKET:
		(void)socket(AF_INET, SOCK_STREAM, 0);
		break;
	case FORK:
		(void)fork();
		break;
	case MAP_CODE:
		(void)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case KILL_OTHERS:
		(void)kill(1, SIGKILL);
		break;
	case BLOCK_SIGNALS:
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		break;
	case RETURN_ERROR:
		return err_set(err, -ENOEXEC, "not an ELF file \x1b[31m");
	case EXIT_QUIETLY:
		_exit(0);
	case EXIT_ONCE:
		if (lseek(job->fds[0], 1, SEEK_CUR) == 1) /* the position is everybody's */
			_exit(0);
		buf_append(&job->reply, "well", 4);
		break;
	}
	return 0;
}

static int echo(struct sandbox_job *job, struct err *err)
{
	char text[64] = "";

	(void)err;
	buf_append(&job->reply, job->args, job->args_bytes);
	for (size_t i = 0; i < job->fd_cnt; i++) {
		ssize_t n = pread(job->fds[i], text, 4, 0);

		buf_append(&job->reply, text, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

static int ask(struct sandbox_job *job, struct err *err)
{
	char text[64] = "";
	int fd = sandbox_ask(job, job->args, job->args_bytes);
	ssize_t n;

	if (fd < 0)
		return err_set(err, fd, "not given");
	n = pread(fd, text, sizeof(text), 0);
	buf_append(&job->reply, text, n > 0 ? (size_t)n : 0);
	return 0;
}

static const sandbox_handler handlers[SANDBOX_KIND_MAX] = {
	[SANDBOX_ROWS] = rows_sandbox_handler,
	[MISBEHAVE] = misbehave,
	[ECHO] = echo,
	[ASK] = ask,
};

static const struct sandbox_limits tight = {
	.memory_bytes = 64 << 20,
	.reply_bytes = 1 << 20,
	.cpu_s = 10,
	.wall_ms = 20000,
};
static const struct sandbox_limits hasty = {
	.memory_bytes = 64 << 20,
	.reply_bytes = 1 << 20,
	.cpu_s = 10,
	.wall_ms = 200,
};
static const struct sandbox_limits lazy = {
	.memory_bytes = 64 << 20,
	.reply_bytes = 1 << 20,
	.cpu_s = 1,
	.wall_ms = 60000,
};

/* As in a program that takes its signals from a descriptor: blocked. */
static int setup(void **state)
{
	struct err err = { 0 };
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	rc = sandbox_open(handlers, (struct sandbox **)state, &err);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static int teardown(void **state)
{
	sandbox_close(*state);
	return 0;
}

static size_t open_fd_cnt(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t cnt = 0;

	while (d && readdir(d))
		cnt++;
	closedir(d);
	return cnt;
}

static void expect_echo(struct sandbox *s)
{
	struct sandbox_request req = { .kind = ECHO, .args = "hello", .args_bytes = 5 };
	struct sandbox_reply reply;
	struct err err = { 0 };

	assert_int_equal(sandbox_run(s, &req, &reply, &err), 0);
	assert_int_equal(reply.len_bytes, 5);
	assert_memory_equal(reply.data, "hello", 5);
	sandbox_reply_free(&reply);
}

static void test_echo(void **state)
{
	int fds[2] = { open("/proc/self/exe", O_RDONLY), open("/proc/self/exe", O_RDONLY) };
	struct sandbox_request req = {
		.kind = ECHO, .fds = fds, .fd_cnt = 2, .args = "x", .args_bytes = 1
	};
	size_t before = open_fd_cnt();
	struct sandbox_reply reply;
	struct err err = { 0 };

	for (int i = 0; i < 20; i++) {
		assert_int_equal(sandbox_run(*state, &req, &reply, &err), 0);
		assert_int_equal(reply.len_bytes, 9);
		assert_memory_equal(reply.data, "x\177ELF\177ELF", 9);
		sandbox_reply_free(&reply);
	}
	assert_int_equal(open_fd_cnt(), before);
	req.kind = 4; /* nobody handles it */
	assert_int_equal(sandbox_run(*state, &req, &reply, &err), -EAGAIN);
	close(fds[0]);
	close(fds[1]);
	expect_echo(*state);
}

/* Whatever a worker does, the caller learns what it was, and the next request is served. */
static void test_misdeeds(void **state)
{
	static const struct {
		enum misdeed deed;
		int code;
		const char *says;
		const struct sandbox_limits *limits;
	} cases[] = {
#ifndef __SANITIZE_ADDRESS__ /* which reports a crash, and takes any amount of memory */
		{ CRASH, -EPROTO, "crashed", &tight },
		{ EAT_MEMORY, -EPROTO, "ran out of memory", &tight },
#endif
		{ SPIN, -EPROTO, "used too much CPU time", &lazy },
		{ SLEEP, -EAGAIN, "took too long", &hasty },
		{ TALK, -EPROTO, "had too much to say", &tight },
		{ OPEN_FILE, -EPROTO, "tried what it may not do", &tight },
		{ MAKE_SOCKET, -EPROTO, "tried what it may not do", &tight },
		{ FORK, -EPROTO, "tried what it may not do", &tight },
		{ MAP_CODE, -EPROTO, "tried what it may not do", &tight },
		{ KILL_OTHERS, -EPROTO, "tried what it may not do", &tight },
		{ BLOCK_SIGNALS, -EPROTO, "tried what it may not do", &tight },
		{ RETURN_ERROR, -ENOEXEC, "not an ELF file ?[31m", &tight },
		{ EXIT_QUIETLY, -EAGAIN, "ended without an answer", &tight },
	};

	for (size_t i = 0; i < ARRAY_CNT(cases); i++) {
		uint8_t deed = (uint8_t)cases[i].deed;
		struct sandbox_request req = {
			.kind = MISBEHAVE, .args = &deed, .args_bytes = 1, .limits = cases[i].limits
		};
		struct sandbox_reply reply;
		struct err err = { 0 };

		assert_int_equal(sandbox_run(*state, &req, &reply, &err), cases[i].code);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("misdeed %zu: \"%s\", not \"%s\"", i, err.msg, cases[i].says);
		assert_null(reply.data);
		expect_echo(*state);
	}
}

static int answer(void *ctx, const void *question, size_t len_bytes)
{
	(*(int *)ctx)++;
	if (len_bytes == 3 && !memcmp(question, "exe", 3))
		return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	return -EACCES;
}

static void test_ask(void **state)
{
	int asked_cnt = 0;
	struct sandbox_request req = {
		.kind = ASK, .args = "exe", .args_bytes = 3, .answer = answer, .ctx = &asked_cnt
	};
	size_t before = open_fd_cnt();
	struct sandbox_reply reply;
	struct err err = { 0 };

	assert_int_equal(sandbox_run(*state, &req, &reply, &err), 0);
	assert_memory_equal(reply.data, "\177ELF", 4);
	sandbox_reply_free(&reply);
	req.args = "/etc/shadow";
	req.args_bytes = 11;
	assert_int_equal(sandbox_run(*state, &req, &reply, &err), -EACCES);
	req.answer = NULL;
	assert_int_equal(sandbox_run(*state, &req, &reply, &err), -ENOENT);
	assert_int_equal(asked_cnt, 2);
	assert_int_equal(open_fd_cnt(), before);
}

/* Requests that were started wait for their turn, whatever becomes of those before them. */
static void test_start_and_finish(void **state)
{
	static const uint8_t deed = EXIT_QUIETLY;
	const struct sandbox_request reqs[] = {
		{ .kind = ECHO, .args = "one", .args_bytes = 3 },
		{ .kind = MISBEHAVE, .args = &deed, .args_bytes = 1, .limits = &tight },
		{ .kind = ECHO, .args = "three", .args_bytes = 5 },
	};
	struct sandbox_ticket tickets[ARRAY_CNT(reqs)];
	size_t before = open_fd_cnt();
	struct sandbox_reply reply;
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_CNT(reqs); i++)
		assert_int_equal(sandbox_start(*state, &reqs[i], &tickets[i], &err), 0);
	assert_int_equal(sandbox_finish(*state, &tickets[1], &reply, &err), -EINVAL);
	assert_int_equal(sandbox_finish(*state, &tickets[0], &reply, &err), 0);
	assert_memory_equal(reply.data, "one", 3);
	sandbox_reply_free(&reply);
	assert_int_equal(sandbox_finish(*state, &tickets[1], &reply, &err), -EAGAIN);
	assert_int_equal(sandbox_finish(*state, &tickets[2], &reply, &err), 0);
	assert_int_equal(reply.len_bytes, 5);
	assert_memory_equal(reply.data, "three", 5);
	sandbox_reply_free(&reply);
	assert_int_equal(open_fd_cnt(), before);
	expect_echo(*state);
}

static void test_give_up(void **state)
{
	static const uint8_t deed = SPIN;
	const struct sandbox_request slow = {
		.kind = MISBEHAVE, .args = &deed, .args_bytes = 1, .limits = &lazy
	};
	const struct sandbox_request echo = { .kind = ECHO, .args = "new", .args_bytes = 3 };
	struct sandbox_ticket given_up, lost, next;
	size_t before = open_fd_cnt();
	struct sandbox_reply reply;
	struct err err = { 0 };

	assert_int_equal(sandbox_start(*state, &slow, &given_up, &err), 0);
	assert_int_equal(sandbox_start(*state, &echo, &lost, &err), 0);
	sandbox_give_up(*state, &given_up);
	assert_int_equal(sandbox_start(*state, &echo, &next, &err), 0);
	/* what the keeper before had to do is lost, and not taken for what the new one does */
	assert_int_equal(sandbox_finish(*state, &lost, &reply, &err), -EPIPE);
	assert_int_equal(sandbox_finish(*state, &next, &reply, &err), 0);
	assert_memory_equal(reply.data, "new", 3);
	sandbox_reply_free(&reply);
	assert_int_equal(open_fd_cnt(), before);
	expect_echo(*state);
}

static void test_rows(void **state)
{
	struct row_table near, far;
	struct err err = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY), null = open("/dev/null", O_RDONLY);

	assert_int_equal(rows_compile_fd(fd, &near, &err), 0);
	if (rows_compile_remote(*state, fd, &far, &err))
		fail_msg("%s", err.msg);
	assert_true(near.row_cnt > 100);
	assert_int_equal(near.row_cnt, far.row_cnt);
	assert_int_equal(near.block_cnt, far.block_cnt);
	assert_memory_equal(near.rows, far.rows, near.row_cnt * sizeof(*near.rows));
	assert_memory_equal(near.blocks, far.blocks, near.block_cnt * sizeof(*near.blocks));
	assert_memory_equal(&near.stats, &far.stats, sizeof(near.stats));
	rows_free(&near);
	rows_free(&far);
	assert_int_equal(rows_compile_remote(*state, null, &far, &err), -ENOEXEC);
	assert_string_equal(err.msg, "not a regular file");
	close(fd);
	close(null);
}

/* Each file of a request has its own result. */
static void test_rows_of_several_files(void **state)
{
	int fds[3] = { open("/proc/self/exe", O_RDONLY), open("/dev/null", O_RDONLY),
		       open("/proc/self/exe", O_RDONLY) };
	struct rows_file_result files[3];
	struct sandbox_ticket ticket;
	struct row_table near;
	struct err err = { 0 };

	assert_int_equal(rows_compile_fd(fds[0], &near, &err), 0);
	assert_int_equal(rows_remote_start(*state, fds, 3, &ticket, &err), 0);
	if (rows_remote_finish(*state, &ticket, files, 3, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(files[1].rc, -ENOEXEC);
	for (size_t i = 0; i < 3; i += 2) {
		assert_int_equal(files[i].rc, 0);
		assert_int_equal(files[i].table.row_cnt, near.row_cnt);
		assert_memory_equal(files[i].table.rows, near.rows,
				    near.row_cnt * sizeof(*near.rows));
	}
	for (size_t i = 0; i < 3; i++) {
		rows_free(&files[i].table);
		close(fds[i]);
	}
	rows_free(&near);
}

/* The keeper as others see it: nobody's process, without capabilities, one descriptor of ours. */
static void test_rights(void **state)
{
	char path[64], line[256], children[64] = "";
	bool no_new_privs = false, no_caps = false, nobody = geteuid() != 0;
	FILE *f;

	expect_echo(*state);
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (!f || !fgets(children, sizeof(children), f))
		skip();
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/status", atoi(children));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		no_new_privs |= !strcmp(line, "NoNewPrivs:\t1\n");
		no_caps |= !strcmp(line, "CapPrm:\t0000000000000000\n");
		nobody |= !strncmp(line, "Uid:\t65534\t65534\t65534", 21);
	}
	fclose(f);
	assert_true(no_new_privs && no_caps && nobody);
}

static void test_keeper_dies(void **state)
{
	char path[64], children[64] = "";
	struct sandbox_request req = { .kind = ECHO };
	struct sandbox_reply reply;
	struct err err = { 0 };
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (!f || !fgets(children, sizeof(children), f))
		skip();
	fclose(f);
	kill(atoi(children), SIGKILL);
	/* there is another one */
	assert_int_equal(sandbox_run(*state, &req, &reply, &err), 0);
	sandbox_reply_free(&reply);
	expect_echo(*state);
}

/* A worker that could not do its work through no fault of the file is replaced, once. */
static void test_second_try(void **state)
{
	uint8_t deed = EXIT_ONCE;
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct sandbox_request req = {
		.kind = MISBEHAVE, .args = &deed, .args_bytes = 1, .fds = &fd, .fd_cnt = 1
	};
	struct sandbox_reply reply;
	struct err err = { 0 };

	assert_int_equal(sandbox_run(*state, &req, &reply, &err), 0);
	assert_int_equal(reply.len_bytes, 4);
	assert_memory_equal(reply.data, "well", 4);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 2);
	sandbox_reply_free(&reply);
	close(fd);
	assert_true(sandbox_blames_file(-EPROTO));
	assert_true(sandbox_blames_file(-ENOEXEC));
	assert_false(sandbox_blames_file(-EAGAIN));
	assert_false(sandbox_blames_file(-EMFILE));
}

/* A worker that sleeps is not waited for when the descriptor says so; the limits would let it go on. */
static void test_stop(void **state)
{
	uint8_t deed = SLEEP;
	struct sandbox_request req = {
		.kind = MISBEHAVE, .args = &deed, .args_bytes = 1, .limits = &lazy
	};
	struct sandbox_reply reply;
	struct err err = { 0 };
	struct timespec start, end;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	sandbox_stop_at(*state, ends[0]);
	expect_echo(*state);
	if (!fork()) {
		usleep(200000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(sandbox_run(*state, &req, &reply, &err), -ECANCELED);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_in_range(end.tv_sec - start.tv_sec, 0, lazy.wall_ms / 1000 / 2);
	assert_null(reply.data);
	req.kind = ECHO;
	assert_int_equal(sandbox_run(*state, &req, &reply, &err), -ECANCELED);
	wait(NULL);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_echo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_misdeeds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ask, setup, teardown),
		cmocka_unit_test_setup_teardown(test_start_and_finish, setup, teardown),
		cmocka_unit_test_setup_teardown(test_give_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_of_several_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rights, setup, teardown),
		cmocka_unit_test_setup_teardown(test_second_try, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keeper_dies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
