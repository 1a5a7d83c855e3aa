/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/capture/resume.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>
#include <linux/btf.h>

#include "user/base/mem.h"

static const char function[] = "finish_task_switch";

bool resume_is_function(const char *symbol)
{
	/* of the whole function; what is split off has other names */
	static const char *const copies[] = { "isra.", "constprop.", "llvm.", "lto_priv." };
	const char *at = symbol + strlen(function);

	if (strncmp(symbol, function, strlen(function)))
		return false;
	while (*at) {
		size_t i = 0;

		if (*at++ != '.')
			return false;
		while (i < ARRAY_CNT(copies) && strncmp(at, copies[i], strlen(copies[i])))
			i++;
		if (i == ARRAY_CNT(copies))
			return false;
		at += strlen(copies[i]);
		at += strspn(at, "0123456789");
	}
	return true;
}

/* The kernel's own symbol of the function; a second copy would see only some of the threads. */
static int find_symbol(const char *path, struct resume *r, struct err *err)
{
	FILE *f = fopen(path, "re");
	char line[512], name[RESUME_NAME_BYTES], type;
	int cnt = 0;

	if (!f)
		return err_errno(err, "cannot read %s", path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*x %c %127s", &type, name) != 2 || strchr(line, '[') ||
		    !strchr("tT", type) || !resume_is_function(name))
			continue;
		cnt++;
		memcpy(r->function, name, sizeof(name));
	}
	fclose(f);
	if (cnt == 1)
		return 0;
	return err_set(
		err, -ENOENT, "--hook finish: this kernel has %s: use --hook switch",
		cnt ? "several copies of the function finish_task_switch" :
		      "neither the tracepoint sched_exit_tp nor the function finish_task_switch");
}

int resume_find(const char *btf_path, const char *kallsyms_path, struct resume *r, struct err *err)
{
	struct btf *btf = btf_path ? btf__parse(btf_path, NULL) : btf__load_vmlinux_btf();
	bool tracepoint, typed;
	int rc;

	memset(r, 0, sizeof(*r));
	if (!btf)
		return err_errno(err, "--hook finish: cannot read the kernel's types (BTF)");
	tracepoint = btf__find_by_name_kind(btf, "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF) > 0;
	typed = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) > 0;
	btf__free(btf);
	if (tracepoint) {
		r->way = RESUME_SCHED_EXIT;
		return 0;
	}
	rc = find_symbol(kallsyms_path, r, err);
	if (!rc)
		r->way = typed && !strcmp(r->function, function) ? RESUME_FENTRY : RESUME_KPROBE;
	return rc;
}

const char *resume_words(const struct resume *r, char *text, size_t size_bytes)
{
	switch (r->way) {
	case RESUME_NOT:
		snprintf(text, size_bytes, "switch");
		break;
	case RESUME_SCHED_EXIT:
		snprintf(text, size_bytes, "finish (sched_exit_tp)");
		break;
	case RESUME_FENTRY:
		snprintf(text, size_bytes, "finish (fentry %s)", r->function);
		break;
	case RESUME_KPROBE:
		snprintf(text, size_bytes, "finish (kprobe %s)", r->function);
		break;
	}
	return text;
}
