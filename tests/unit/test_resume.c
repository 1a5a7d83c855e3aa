/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which place of a kernel --hook finish takes, told by made-up types and symbols. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <cmocka.h>
#include <linux/btf.h>

#include "user/base/mem.h"
#include "user/capture/resume.h"

static char btf_path[] = "/tmp/causeprof-resume-btf.XXXXXX";
static char kallsyms_path[] = "/tmp/causeprof-resume-syms.XXXXXX";

static void put(const char *path, const void *data, size_t len_bytes)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len_bytes, f), len_bytes);
	assert_int_equal(fclose(f), 0);
}

/* Types of a kernel that has a function of that name (NULL: none), and perhaps the tracepoint. */
static void put_types(const char *function, bool tracepoint)
{
	struct btf *btf = btf__new_empty();
	int proto = btf__add_func_proto(btf, 0), pointer = btf__add_ptr(btf, proto);
	const void *data;
	uint32_t len_bytes;

	if (function)
		assert_true(btf__add_func(btf, function, BTF_FUNC_STATIC, proto) > 0);
	if (tracepoint)
		assert_true(btf__add_typedef(btf, "btf_trace_sched_exit_tp", pointer) > 0);
	data = btf__raw_data(btf, &len_bytes);
	put(btf_path, data, len_bytes);
	btf__free(btf);
}

static void test_names(void **state)
{
	static const char *const yes[] = { "finish_task_switch", "finish_task_switch.isra.0",
					   "finish_task_switch.constprop.12",
					   "finish_task_switch.isra.0.constprop.3",
					   "finish_task_switch.llvm.4711" };
	static const char *const no[] = { "finish_task_switch.cold",
					  "finish_task_switch.isra.0.cold",
					  "finish_task_switch.part.0",
					  "finish_task_switched",
					  "finish_task",
					  "__pfx_finish_task_switch",
					  "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(yes); i++)
		assert_true(resume_is_function(yes[i]));
	for (size_t i = 0; i < ARRAY_CNT(no); i++)
		assert_false(resume_is_function(no[i]));
}

static void test_ways(void **state)
{
	static const struct {
		const char *type;
		bool tracepoint;
		const char *symbols;
		const char *words; /* NULL: no way */
	} cases[] = {
		{ "finish_task_switch", true, "", "finish (sched_exit_tp)" },
		{ "finish_task_switch", false, "ffffffff81000000 t finish_task_switch\n",
		  "finish (fentry finish_task_switch)" },
		{ "finish_task_switch", false,
		  "0000000000000000 t finish_task_switch.isra.0.cold\n"
		  "0000000000000000 t finish_task_switch.isra.0\n"
		  "0000000000000000 d finish_task_switch\n",
		  "finish (kprobe finish_task_switch.isra.0)" },
		{ NULL, false, "ffffffff81000000 T finish_task_switch\n",
		  "finish (kprobe finish_task_switch)" },
		{ "finish_task_switch", false, "ffffffff81000000 t finish_task_switch\t[module]\n",
		  NULL },
		{ "finish_task_switch", false,
		  "1 t finish_task_switch.isra.0\n2 t finish_task_switch.constprop.0\n", NULL },
		{ "schedule", false, "1 t schedule\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(cases); i++) {
		struct resume r;
		struct err err = { 0 };
		char words[RESUME_NAME_BYTES + 32];
		int rc;

		put_types(cases[i].type, cases[i].tracepoint);
		put(kallsyms_path, cases[i].symbols, strlen(cases[i].symbols));
		rc = resume_find(btf_path, kallsyms_path, &r, &err);
		assert_int_equal(rc, cases[i].words ? 0 : -ENOENT);
		if (rc)
			assert_non_null(strstr(err.msg, "use --hook switch"));
		else
			assert_string_equal(resume_words(&r, words, sizeof(words)), cases[i].words);
	}
}

static void test_no_types(void **state)
{
	struct err err = { 0 };
	struct resume r;

	(void)state;
	assert_true(resume_find("/nonexistent", kallsyms_path, &r, &err) < 0);
	assert_non_null(strstr(err.msg, "BTF"));
}

static void test_switch(void **state)
{
	struct resume r = { 0 };
	char words[RESUME_NAME_BYTES];

	(void)state;
	assert_string_equal(resume_words(&r, words, sizeof(words)), "switch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_no_types),
		cmocka_unit_test(test_switch),
	};
	int failed;

	close(mkstemp(btf_path));
	close(mkstemp(kallsyms_path));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(btf_path);
	unlink(kallsyms_path);
	return failed;
}
