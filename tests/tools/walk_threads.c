/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the stacks of a process's threads as rows and as libunwind see them, one line a thread:
 *   TID rows STOP pc pc ...
 *   TID libunwind STOP pc pc ...
 * usage: walk_threads PID. Exit status 1 if the two differ where both have frames. */
#include "symbolize/unwind.h"
#include "tests/tools/target.h"

static void print_stack(pid_t tid, const char *name, const struct walk_stack *s)
{
	const char *stop = target_stop_name(s->stop);

	printf("%d %s ", tid, name);
	for (; *stop; stop++)
		putchar(*stop == ' ' ? '_' : *stop);
	for (uint32_t i = 0; i < s->frame_cnt; i++)
		printf(" %" PRIx64, s->frames[i].addr);
	putchar('\n');
}

static bool walk_thread(struct target *t, pid_t tid)
{
	struct walk_stack ours, theirs;
	struct walk_regs regs;
	struct err err = { 0 };
	bool same = true;
	void *oracle;
	int status;

	if (ptrace(PTRACE_ATTACH, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid) {
		fprintf(stderr, "cannot stop thread %d\n", tid);
		return false;
	}
	t->moment++;
	if (!target_regs(tid, &regs) || unwinder_libunwind.open(&t->space, &oracle, &err))
		return false;
	walk_rows(&t->space, &regs, &ours);
	unwinder_libunwind.walk(oracle, &regs, &theirs);
	unwinder_libunwind.close(oracle);
	print_stack(tid, "rows", &ours);
	print_stack(tid, "libunwind", &theirs);
	for (uint32_t i = 0; i < ours.frame_cnt && i < theirs.frame_cnt; i++)
		same &= ours.frames[i].addr == theirs.frames[i].addr;
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return same;
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	struct target *t;
	struct dirent *e;
	char path[64];
	bool same = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (pid <= 0 || !dir) {
		fprintf(stderr, "usage: walk_threads PID\n");
		return 2;
	}
	t = target_open(pid);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			same &= walk_thread(t, (pid_t)strtol(e->d_name, NULL, 10));
	closedir(dir);
	target_close(t);
	return same ? 0 : 1;
}
