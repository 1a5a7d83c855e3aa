/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facade on processes: this one, and children that exit, whose files vanish or are replaced. */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "symbolize/locate.h"
#include "symbolize/symbolizer.h"

enum {
	SELF = 7,
	CHILD = 8,
};

static char folder[] = "/tmp/symbolizer-test-XXXXXX";

__attribute__((noinline, noclone)) static int known_function(int x)
{
	__asm__ volatile("");
	return x * 3;
}

static struct symbolizer *symbolizer_of_self(const struct sym_opts *opts)
{
	struct symbolizer *s = symbolizer__new(opts);

	assert_int_equal(symbolizer__add_process(s, SELF, getpid(), NULL, NULL), 0);
	return s;
}

static const char *name_of(struct symbolizer *s, uint64_t key, uint64_t addr, enum sym_pc pc)
{
	struct sym_result r;

	symbolizer__resolve_user(s, key, addr, pc, &r);
	assert_true(r.cnt >= 1);
	return r.reason ? sym_reason_name(r.reason) : r.frames[r.cnt - 1].name;
}

static void own_functions(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer_of_self(&opts);
	uint64_t at = (uintptr_t)known_function;
	struct sym_result r;

	(void)state;
	assert_int_equal(known_function(2), 6);
	assert_string_equal(name_of(s, SELF, at, SYM_PC_EXACT), "known_function");
	assert_string_equal(name_of(s, SELF, at + 1, SYM_PC_RETURN), "known_function");
	assert_string_not_equal(name_of(s, SELF, at, SYM_PC_RETURN), "known_function");
	assert_string_equal(name_of(s, SELF, (uintptr_t)dlsym(RTLD_DEFAULT, "qsort_r"), 0),
			    "qsort_r");
	symbolizer__resolve_user(s, SELF, at, SYM_PC_EXACT, &r);
	assert_non_null(strstr(r.module, "test_symbolizer"));
	assert_true(r.file_addr && r.file_addr <= at);
	symbolizer__free(s);
}

static void unnamed_have_reasons(void **state)
{
	const struct sym_opts opts = { 0 };
	void *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct symbolizer *s = symbolizer_of_self(&opts);
	struct buf why = { 0 };

	(void)state;
	assert_string_equal(name_of(s, SELF, 1, SYM_PC_EXACT), "[no map]");
	assert_string_equal(name_of(s, SELF, 0, SYM_PC_RETURN), "[no map]");
	assert_string_equal(name_of(s, SELF, (uintptr_t)jit + 5, SYM_PC_EXACT), "[anon]");
	assert_string_equal(name_of(s, 99, 1, SYM_PC_EXACT), "[exited]");
	symbolizer__why_user(s, SELF, (uintptr_t)jit + 5, &why);
	assert_non_null(strstr(buf_str(&why), "perf map /tmp/perf-"));
	assert_non_null(strstr(buf_str(&why), "result: [anon]"));
	symbolizer__forget(s, SELF);
	assert_string_equal(name_of(s, SELF, (uintptr_t)known_function, 0), "[exited]");
	assert_int_equal(symbolizer__add_process(s, CHILD, 4194303, NULL, NULL), -3);
	assert_string_equal(name_of(s, CHILD, 1, SYM_PC_EXACT), "[exited]");
	buf_free(&why);
	symbolizer__free(s);
	munmap(jit, 4096);
}

static void vdso(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer_of_self(&opts);
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	int found = 0;

	(void)state;
	for (uint64_t at = base; base && at < base + 8192 && !found; at += 16)
		found = strstr(name_of(s, SELF, at, SYM_PC_EXACT), "clock_gettime") != NULL;
	assert_true(found || !base);
	symbolizer__free(s);
}

static void few_open_files(void **state)
{
	const struct sym_opts opts = { .fd_max = 1 };
	struct symbolizer *s = symbolizer_of_self(&opts);

	(void)state;
	assert_string_equal(name_of(s, SELF, (uintptr_t)known_function, 0), "known_function");
	assert_string_equal(name_of(s, SELF, (uintptr_t)dlsym(RTLD_DEFAULT, "qsort_r"), 0),
			    "qsort_r");
	symbolizer__free(s);
}

/* A capture of everything keeps many thousand processes: of each no more than its regions, the words once for all. */
static void many_processes(void **state)
{
	enum {
		KEY_CNT = 500
	};
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer_of_self(&opts);
	struct sym_mapping m;
	size_t cnt = 0, before_bytes;

	(void)state;
	while (symbolizer__mapping(s, SELF, cnt, &m))
		cnt++;
	before_bytes = mallinfo2().uordblks;
	for (uint64_t key = 1; key <= KEY_CNT; key++)
		assert_int_equal(symbolizer__add_process(s, SELF + key, getpid(), NULL, NULL), 0);
	/* (a sanitizer's allocator tells nothing here) */
	assert_in_range((mallinfo2().uordblks - before_bytes) / KEY_CNT, 0, cnt * 64 + 256);
	symbolizer__free(s);
}

/* Mappings of a process that is gone, under paths that lead nowhere from here, as another mount namespace shows them. */
static void mappings_of_the_past(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer_of_self(&opts), *fresh = symbolizer__new(&opts);
	struct buf why = { 0 };
	struct maps maps;

	(void)state;
	assert_int_equal(maps_read(&maps, getpid(), NULL), 0);
	for (size_t i = 0; i < maps.cnt; i++) {
		maps.entries[i].past = true;
		if (maps.entries[i].inode)
			maps.entries[i].path = "/nowhere/x";
	}
	assert_int_equal(symbolizer__add_process(s, CHILD, 4194303, &maps, NULL), 0);
	assert_string_equal(name_of(s, CHILD, (uintptr_t)known_function, SYM_PC_EXACT),
			    "known_function");
	symbolizer__why_user(s, CHILD, (uintptr_t)known_function, &why);
	assert_non_null(strstr(buf_str(&why), "a file that was opened before"));
	assert_int_equal(symbolizer__add_process(fresh, CHILD, 4194303, &maps, NULL), 0);
	assert_string_equal(name_of(fresh, CHILD, (uintptr_t)known_function, SYM_PC_EXACT),
			    "[exited]");
	maps_free(&maps);
	buf_free(&why);
	symbolizer__free(s);
	symbolizer__free(fresh);
}

static void stored_mappings(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer_of_self(&opts), *later = symbolizer__new(&opts);
	struct sym_mapping copy[64];
	size_t cnt = 0, own = 0;

	(void)state;
	while (cnt < 64 && symbolizer__mapping(s, SELF, cnt, &copy[cnt]))
		cnt++;
	assert_true(cnt > 2 && cnt < 64);
	while (own < cnt && !strstr(copy[own].path, "test_symbolizer"))
		own++;
	assert_true(own < cnt && copy[own].build_id_bytes == 20);
	symbolizer__add_stored(later, SELF, copy, cnt);
	assert_string_equal(name_of(later, SELF, (uintptr_t)known_function, 0), "known_function");
	copy[own].build_id[0] ^= 1;
	symbolizer__add_stored(later, SELF, copy, cnt);
	assert_string_equal(name_of(later, SELF, (uintptr_t)known_function, 0), "[replaced]");
	copy[own].path = "/nowhere/at/all";
	symbolizer__add_stored(later, SELF, copy, cnt);
	assert_string_equal(name_of(later, SELF, (uintptr_t)known_function, 0), "[deleted]");
	symbolizer__free(later);
	symbolizer__free(s);
}

/* A program that prints where FUNCTION is and waits. */
static void build(const char *name, const char *function)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "printf '#include <stdio.h>\\n#include <unistd.h>\\n"
		 "__attribute__((noinline)) int %s(int x) { return x * 3; }\\n"
		 "int main(int c, char **v) { (void)v; printf(\"%%%%lx\\\\n\", (unsigned long)%s); "
		 "fflush(stdout); alarm(60); pause(); return %s(c); }\\n' > %s/t.c && "
		 "gcc -O1 -o %s/%s %s/t.c",
		 function, function, function, folder, folder, name, folder);
	assert_int_equal(system(command), 0);
}

static pid_t start(const char *path, uint64_t *addr)
{
	int ends[2];
	FILE *out;
	unsigned long value = 0;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	out = fdopen(ends[0], "r");
	assert_int_equal(fscanf(out, "%lx", &value), 1);
	fclose(out);
	*addr = value;
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void rename_over(const char *from, const char *to)
{
	char a[256], b[256];

	snprintf(a, sizeof(a), "%s/%s", folder, from);
	snprintf(b, sizeof(b), "%s/%s", folder, to);
	assert_int_equal(rename(a, b), 0);
}

/* "program" runs, has real_function at *addr and is added as CHILD; "other" lies beside it. */
static pid_t start_added(struct symbolizer *s, uint64_t *addr)
{
	char path[256];
	pid_t pid;

	build("program", "real_function");
	build("other", "wrong_function");
	snprintf(path, sizeof(path), "%s/program", folder);
	pid = start(path, addr);
	assert_int_equal(symbolizer__add_process(s, CHILD, pid, NULL, NULL), 0);
	return pid;
}

static void exited_and_replaced(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer__new(&opts);
	struct maps maps;
	uint64_t addr;
	pid_t pid;

	(void)state;
	pid = start_added(s, &addr);
	assert_int_equal(maps_read(&maps, pid, NULL), 0);
	stop(pid);
	rename_over("other", "program");
	/* opened while it lived: named although the process is gone and its path names another file */
	assert_string_equal(name_of(s, CHILD, addr + 1, SYM_PC_EXACT), "real_function");
	/* remembered mappings alone: never the new file's name */
	symbolizer__add_process(s, CHILD + 1, pid, &maps, NULL);
	assert_string_not_equal(name_of(s, CHILD + 1, addr + 1, 0), "wrong_function");
	maps_free(&maps);
	symbolizer__free(s);
}

/* The same inode, but another program in it by the time that names are asked for. */
static void rewritten_since(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer__new(&opts);
	char command[600];
	uint64_t addr;

	(void)state;
	stop(start_added(s, &addr));
	snprintf(command, sizeof(command), "cd %s && cat other > program", folder);
	assert_int_equal(system(command), 0);
	assert_string_equal(name_of(s, CHILD, addr + 1, SYM_PC_EXACT), "[replaced]");
	symbolizer__free(s);
}

static void deleted_while_running(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer__new(&opts);
	char path[256], probe[64];
	uint64_t addr;
	pid_t pid;

	(void)state;
	build("gone", "real_function");
	snprintf(path, sizeof(path), "%s/gone", folder);
	pid = start(path, &addr);
	unlink(path);
	symbolizer__add_process(s, CHILD, pid, NULL, NULL);
	snprintf(probe, sizeof(probe), "/proc/%d/map_files", pid);
	if (geteuid() == 0 && !access(probe, R_OK))
		assert_string_equal(name_of(s, CHILD, addr + 1, 0), "real_function");
	else
		assert_string_equal(name_of(s, CHILD, addr + 1, 0), "[deleted]");
	stop(pid);
	symbolizer__free(s);
}

/* Without /proc/PID/map_files the path must lead to the mapped inode. */
static void path_needs_the_inode(void **state)
{
	struct maps_entry e = { .start = 0x1000, .end = 0x2000 };
	enum sym_reason reason;
	struct buf trail = { 0 };
	char path[256], fifo[256];
	int root = open("/", O_PATH | O_DIRECTORY), fd;
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	e.path = path;
	e.inode = st.st_ino;
	fd = locate_open_mapped(4194303, root, &e, &reason, &trail);
	assert_true(fd >= 0 && reason == SYM_OK);
	close(fd);
	e.inode++;
	assert_int_equal(locate_open_mapped(4194303, root, &e, &reason, &trail), -1);
	assert_int_equal(reason, SYM_REPLACED);
	e.path = fifo;
	assert_int_equal(locate_open_mapped(4194303, root, &e, &reason, &trail), -1);
	assert_int_equal(reason, SYM_UNREADABLE);
	e.path = "/nowhere/at/all";
	assert_int_equal(locate_open_mapped(4194303, root, &e, &reason, &trail), -1);
	assert_int_equal(reason, SYM_DELETED);
	assert_non_null(strstr(buf_str(&trail), "another file than the one that is mapped"));
	buf_free(&trail);
	close(root);
}

/* What is known stays known, what is not stays unknown, and the reason is not that there is no name. */
static void stopped(void **state)
{
	const struct sym_opts opts = { 0 };
	struct symbolizer *s = symbolizer_of_self(&opts);
	uint64_t known = (uintptr_t)known_function,
		 qsort_at = (uintptr_t)dlsym(RTLD_DEFAULT, "qsort_r");
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	symbolizer__stop_at(s, ends[0]);
	assert_string_equal(name_of(s, SELF, known, SYM_PC_EXACT), "known_function");
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_string_equal(name_of(s, SELF, known, SYM_PC_EXACT), "known_function");
	assert_string_equal(name_of(s, SELF, (uintptr_t)stopped, SYM_PC_EXACT), "[pending]");
	assert_string_equal(name_of(s, SELF, qsort_at, SYM_PC_EXACT), "[pending]");
	assert_string_equal(name_of(s, SELF, 1, SYM_PC_EXACT), "[no map]");
	symbolizer__free(s);
	close(ends[0]);
	close(ends[1]);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_functions),
		cmocka_unit_test(unnamed_have_reasons),
		cmocka_unit_test(vdso),
		cmocka_unit_test(few_open_files),
		cmocka_unit_test(many_processes),
		cmocka_unit_test(mappings_of_the_past),
		cmocka_unit_test(stored_mappings),
		cmocka_unit_test(exited_and_replaced),
		cmocka_unit_test(rewritten_since),
		cmocka_unit_test(deleted_while_running),
		cmocka_unit_test(path_needs_the_inode),
		cmocka_unit_test(stopped),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
