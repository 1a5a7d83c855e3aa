/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof symbolize: names for addresses that come from elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/handlers.h"
#include "symbolize/perfmap.h"
#include "symbolize/remote.h"
#include "symbolize/symbolizer.h"
#include "symbolize/text.h"
#include "user/base/escape.h"
#include "user/base/input.h"
#include "user/base/json.h"
#include "user/base/mem.h"
#include "user/base/num.h"
#include "user/cmd/address_names.h"
#include "user/cmd/address_text.h"
#include "user/cmd/command.h"
#include "user/cmd/symbolize_profile.h"
#include "user/store/reader.h"
#include "user/store/writer.h"

#define LINE_MAX_BYTES	((size_t)1 << 20)
#define FLUSH_BYTES	((size_t)64 << 10)
#define PROCESS_KEY	1
#define RECENT_CNT	8192
#define TEXTS_MAX_BYTES ((size_t)64 << 20)
#define QUESTIONS_MAX	65536 /* answered together: each process of the sandbox costs about 1 ms */

struct question {
	uint32_t text_bytes;
	uint32_t addr; /* index in addrs */
};

struct symbolize {
	uint64_t pid;
	const char *elf, *kallsyms, *perf_map, *out_path;
	bool kernel, demangle, returns, lines, json, why, force;
	struct sym_opts opts;
	/* working state */
	struct symbolizer *symbolizer;
	struct sandbox *sandbox;
	struct buf texts; /* of the questions: addresses as they were written, each with a NUL */
	struct question *questions;
	size_t cnt, cap;
	uint64_t *addrs; /* different ones, as far as recent[] knows */
	size_t addr_cnt, addr_cap;
	uint32_t recent[RECENT_CNT]; /* by address: index in addrs of one seen lately */
	struct buf answers;	     /* lines without the address, one for each of addrs */
	uint32_t *answer_ends;
	struct symtab jit;
	struct sym_frame frame;
	struct buf out;
	struct json writer;
	bool hidden; /* the kernel hides its addresses */
};

#define AT(field) offsetof(struct symbolize, field)
static const struct opt options[] = {
	{ "pid", 'p', OPT_U64, AT(pid), "PID", "Addresses of this process", 1, 4194304, NULL },
	{ "elf", 'e', OPT_STRING, AT(elf), "FILE",
	  "Addresses as this ELF file counts, what nm prints", 0, 0, NULL },
	{ "kernel", 0, OPT_FLAG, AT(kernel), NULL, "Addresses of the kernel", 0, 0, NULL },
	{ "kallsyms", 0, OPT_STRING, AT(kallsyms), "FILE",
	  "Read kernel symbols from here instead of /proc/kallsyms; implies --kernel", 0, 0, NULL },
	{ "perf-map", 0, OPT_STRING, AT(perf_map), "FILE",
	  "Addresses of code that a just-in-time compiler named in this file", 0, 0, NULL },
	{ "demangle", 0, OPT_FLAG, AT(demangle), NULL,
	  "Read names instead of addresses and print them as the programmer wrote them", 0, 0,
	  NULL },
	{ "return", 'r', OPT_FLAG, AT(returns), NULL,
	  "Addresses are return addresses: the call before each is meant", 0, 0, NULL },
	{ "inlined", 'i', OPT_FLAG, AT(opts.lines), NULL,
	  "Inlined functions too, from debug information", 0, 0, NULL },
	{ "lines", 'l', OPT_FLAG, AT(lines), NULL, "Source files and lines too; implies --inlined",
	  0, 0, NULL },
	{ "output", 'o', OPT_STRING, AT(out_path), "FILE.cprof",
	  "Where the profile with names goes (with a profile as operand)", 0, 0, NULL },
	{ "force", 0, OPT_FLAG, AT(force), NULL, "Replace FILE.cprof if it exists", 0, 0, NULL },
	{ "keep-suffixes", 0, OPT_FLAG, AT(opts.keep_suffixes), NULL,
	  "Keep .isra.0, .part.1, .constprop.2, .cold", 0, 0, NULL },
	{ "mangled", 0, OPT_FLAG, AT(opts.no_demangle), NULL, "Names as they stand in the file", 0,
	  0, NULL },
	{ "debug-dirs", 0, OPT_STRING, AT(opts.debug_dirs), "DIRS",
	  "Colon-separated places of separate debug files (default /usr/lib/debug)", 0, 0, NULL },
	{ "debuginfod", 0, OPT_FLAG, AT(opts.debuginfod), NULL,
	  "Ask the servers of $DEBUGINFOD_URLS for debug files (default: if it is set)", 0, 0,
	  NULL },
	{ "why", 0, OPT_FLAG, AT(why), NULL, "Tell for each address what was tried", 0, 0, NULL },
	{ "json", 0, OPT_FLAG, AT(json), NULL, "Print JSON", 0, 0, NULL },
	{ 0 },
};

static void resolve_jit(struct symbolize *c, uint64_t addr, struct sym_result *ret)
{
	const struct range *r = symtab_find(&c->jit, addr);

	c->frame = (struct sym_frame){ .name = r ? symtab_name(&c->jit, r) : "", .file = "" };
	c->frame.jit = r;
	*ret = (struct sym_result){
		.frames = &c->frame,
		.cnt = 1,
		.reason = r ? SYM_OK : SYM_ANONYMOUS,
		.module = c->perf_map,
	};
}

static enum sym_pc pc_of(const struct symbolize *c)
{
	return c->returns ? SYM_PC_RETURN : SYM_PC_EXACT;
}

static void resolve(struct symbolize *c, uint64_t addr, struct sym_result *ret)
{
	enum sym_pc pc = pc_of(c);

	if (c->perf_map)
		resolve_jit(c, addr - c->returns, ret);
	else if (c->kernel)
		symbolizer__resolve_kernel(c->symbolizer, addr, pc, ret);
	else if (c->elf)
		symbolizer__resolve_file(c->symbolizer, c->elf, addr, pc, ret);
	else
		symbolizer__resolve_user(c->symbolizer, PROCESS_KEY, addr, pc, ret);
	c->hidden |= ret->reason == SYM_KPTR;
}

static void put_frame(struct symbolize *c, const struct sym_frame *f)
{
	address_text_put_name(&c->answers, f->name);
	if (!c->lines || !*f->file)
		return;
	buf_puts(&c->answers, " (");
	address_text_put_name(&c->answers, f->file);
	buf_putc(&c->answers, ':');
	buf_put_u64(&c->answers, f->line);
	buf_putc(&c->answers, ')');
}

/* " outer;inner" */
static void put_answer(struct symbolize *c, uint64_t addr, const struct sym_result *r)
{
	struct buf *out = &c->answers;

	buf_putc(out, ' ');
	if (r->reason) {
		address_text_put_hex(out, addr);
		buf_putc(out, ' ');
		buf_puts(out, sym_reason_name(r->reason));
	}
	for (size_t i = r->cnt; !r->reason && i > 0; i--) {
		put_frame(c, &r->frames[i - 1]);
		if (i > 1)
			buf_putc(out, ';');
	}
	if (c->kernel && !r->reason && strcmp(r->module, "[kernel]")) {
		buf_putc(out, ' ');
		address_text_put_name(out, r->module);
	}
	buf_putc(out, '\n');
}

static void print_json(struct symbolize *c, const char *text, const struct sym_result *r)
{
	json_begin_object(&c->writer, NULL);
	json_str(&c->writer, "address", text);
	json_str(&c->writer, "module", r->module);
	json_u64(&c->writer, "file_address", r->file_addr);
	json_str(&c->writer, "reason", r->reason ? sym_reason_name(r->reason) : NULL);
	json_begin_array(&c->writer, "frames");
	for (size_t i = 0; !r->reason && i < r->cnt; i++) {
		const struct sym_frame *f = &r->frames[i];

		json_begin_object(&c->writer, NULL);
		json_str(&c->writer, "name", f->name);
		json_str(&c->writer, "file", *f->file ? f->file : NULL);
		json_u64(&c->writer, "line", f->line);
		json_bool(&c->writer, "inlined", f->inlined);
		json_bool(&c->writer, "jit", f->jit);
		json_end_object(&c->writer);
	}
	json_end_array(&c->writer);
	json_end_object(&c->writer);
}

static void put_indented(struct buf *out, const struct buf *text)
{
	const char *rest;

	for (const char *line = buf_str(text); *line; line = rest) {
		size_t len_bytes = strcspn(line, "\n");

		rest = line + len_bytes + (line[len_bytes] == '\n');
		buf_puts(out, "    ");
		escape_terminal(out, line, len_bytes);
		buf_putc(out, '\n');
	}
}

static void put_why(struct symbolize *c, uint64_t addr)
{
	struct buf why = { 0 };

	if (c->perf_map)
		return;
	if (c->kernel)
		symbolizer__why_kernel(c->symbolizer, addr, &why);
	else if (c->elf)
		symbolizer__why_file(c->symbolizer, c->elf, addr, &why);
	else
		symbolizer__why_user(c->symbolizer, PROCESS_KEY, addr, &why);
	put_indented(&c->answers, &why);
	buf_free(&why);
}

static void flush(struct symbolize *c, size_t at_least_bytes)
{
	if (c->out.len_bytes < at_least_bytes)
		return;
	fwrite(buf_str(&c->out), 1, c->out.len_bytes, stdout);
	buf_reset(&c->out);
}

/* "0x" may be left out, as addr2line allows. */
static int parse_addr(const char *text, size_t len_bytes, uint64_t *addr, struct err *err)
{
	size_t prefix_bytes = len_bytes > 2 && !memcmp(text, "0x", 2) ? 2 : 0;
	struct text t = { text + prefix_bytes, text + len_bytes };

	if (text_hex(&t, addr) && t.at == t.end)
		return 0;
	return err_set(err, -EINVAL, "'%s' is not a hexadecimal address", text);
}

static void prepare(struct symbolize *c)
{
	enum sym_pc pc = pc_of(c);
	struct sym_query *queries;

	if (c->elf)
		symbolizer__prepare_file(c->symbolizer, c->elf, c->addrs, c->addr_cnt, pc);
	if (!c->pid)
		return;
	queries = xcalloc(c->addr_cnt + 1, sizeof(*queries));
	for (size_t i = 0; i < c->addr_cnt; i++)
		queries[i] = (struct sym_query){ PROCESS_KEY, c->addrs[i], pc };
	symbolizer__prepare_user(c->symbolizer, queries, c->addr_cnt);
	free(queries);
}

/* Names instead of addresses. */
static void answer_names(struct symbolize *c)
{
	const struct remote_style style = { .keep_suffixes = c->opts.keep_suffixes };
	struct buf out = { 0 };

	if (remote_names_or_here(c->sandbox, &style, &c->texts, c->cnt, &out))
		buf_append(&out, c->texts.data, c->texts.len_bytes);
	for (size_t i = 0; i < out.len_bytes; i++)
		if (!out.data[i])
			out.data[i] = '\n';
	buf_append(&c->out, out.data, out.len_bytes);
	buf_free(&out);
}

static void print_json_answers(struct symbolize *c)
{
	const char *text = c->texts.data;

	for (size_t i = 0; i < c->cnt; text += c->questions[i++].text_bytes + 1) {
		struct sym_result r;

		resolve(c, c->addrs[c->questions[i].addr], &r);
		print_json(c, text, &r);
		flush(c, FLUSH_BYTES);
	}
}

/* An answer is made once for each address. */
static void make_answers(struct symbolize *c)
{
	c->answer_ends = xreallocarray(c->answer_ends, c->addr_cnt + 1, sizeof(*c->answer_ends));
	buf_reset(&c->answers);
	for (size_t i = 0; i < c->addr_cnt; i++) {
		struct sym_result r;

		resolve(c, c->addrs[i], &r);
		put_answer(c, c->addrs[i], &r);
		if (c->why)
			put_why(c, c->addrs[i]);
		c->answer_ends[i] = (uint32_t)c->answers.len_bytes;
	}
}

static void print_folded_answers(struct symbolize *c)
{
	const char *text = c->texts.data;

	make_answers(c);
	for (size_t i = 0; i < c->cnt; i++) {
		const struct question *q = &c->questions[i];
		uint32_t start = q->addr ? c->answer_ends[q->addr - 1] : 0;

		buf_append(&c->out, text, q->text_bytes);
		buf_append(&c->out, c->answers.data + start, c->answer_ends[q->addr] - start);
		text += q->text_bytes + 1;
		flush(c, FLUSH_BYTES);
	}
}

static void answer_addrs(struct symbolize *c)
{
	prepare(c);
	if (c->json)
		print_json_answers(c);
	else
		print_folded_answers(c);
}

static void answer(struct symbolize *c)
{
	if (c->cnt && c->demangle)
		answer_names(c);
	else if (c->cnt)
		answer_addrs(c);
	flush(c, FLUSH_BYTES);
	buf_reset(&c->texts);
	c->cnt = c->addr_cnt = 0;
}

/* Profiles ask about the same addresses again and again. */
static uint32_t remember(struct symbolize *c, uint64_t addr)
{
	uint32_t *recent = &c->recent[(addr ^ addr >> 13) % RECENT_CNT];

	if (*recent < c->addr_cnt && c->addrs[*recent] == addr)
		return *recent;
	c->addrs = xgrow(c->addrs, &c->addr_cap, c->addr_cnt + 1, sizeof(*c->addrs));
	c->addrs[c->addr_cnt] = addr;
	*recent = (uint32_t)c->addr_cnt++;
	return *recent;
}

static int take_question(struct symbolize *c, const char *text, size_t len_bytes, struct err *err)
{
	struct question q = { .text_bytes = (uint32_t)len_bytes };
	uint64_t addr = 0;

	if (!c->demangle && parse_addr(text, len_bytes, &addr, err))
		return err->code;
	q.addr = remember(c, addr);
	c->questions = xgrow(c->questions, &c->cap, c->cnt + 1, sizeof(*c->questions));
	c->questions[c->cnt++] = q;
	buf_append(&c->texts, text, len_bytes + 1);
	if (c->cnt >= QUESTIONS_MAX || c->texts.len_bytes >= TEXTS_MAX_BYTES)
		answer(c);
	return 0;
}

static int read_input(struct symbolize *c, struct err *err)
{
	struct input *in = NULL;
	size_t len_bytes;
	char *line;
	int rc = input_open("-", &in, err);

	if (!rc && c->elf && !c->opts.lines && !c->json && !c->why) {
		rc = address_names_answer(c->symbolizer, c->elf, pc_of(c), in, err);
		input_close(in);
		return rc;
	}
	while (!rc && (rc = input_line(in, LINE_MAX_BYTES, &line, &len_bytes, err)) > 0) {
		rc = take_question(c, line, strlen(line), err);
		if (rc)
			err_prefix(err, "standard input, line %" PRIu64, input_line_no(in));
	}
	input_close(in);
	return rc;
}

static int answer_all(struct symbolize *c, const struct opt_operands *operands, struct err *err)
{
	int rc = 0;

	if (c->json) {
		json_init(&c->writer, &c->out);
		json_begin_array(&c->writer, NULL);
	}
	for (int i = 0; !rc && i < operands->argc; i++)
		rc = take_question(c, operands->argv[i], strlen(operands->argv[i]), err);
	if (!operands->argc)
		rc = read_input(c, err);
	answer(c);
	if (c->json) {
		json_end_array(&c->writer);
		buf_putc(&c->out, '\n');
	}
	flush(c, 0);
	if (c->hidden)
		fputs("causeprof: the kernel hides its addresses (kptr_restrict): run as root, or "
		      "lower /proc/sys/kernel/kptr_restrict\n",
		      stderr);
	return rc;
}

static int check_mode(struct symbolize *c, const struct opt_operands *operands, struct err *err)
{
	int modes = (c->pid > 0) + (c->perf_map != NULL) + (c->elf != NULL) +
		    (c->kernel || c->kallsyms) + c->demangle;
	uint64_t addr;

	c->kernel |= c->kallsyms != NULL;
	c->opts.lines |= c->lines;
	if (!modes && operands->argc == 1 && c->out_path)
		return 0;
	if (modes != 1)
		return err_set(
			err, -EINVAL,
			"give a profile and -o FILE, or say whose addresses they are: one of "
			"-p PID, --elf FILE, --kernel, --perf-map FILE (or --demangle for "
			"names)");
	if (c->out_path)
		return err_set(err, -EINVAL,
			       "-o goes with a profile; addresses are answered on "
			       "standard output");
	for (int i = 0; !c->demangle && i < operands->argc; i++)
		if (parse_addr(operands->argv[i], strlen(operands->argv[i]), &addr, err))
			return err->code;
	return 0;
}

static void print_counts(struct symbolize *c, const struct symbolize_counts *n)
{
	buf_printf(&c->out, "%zu frames of programs, %zu without a name, %zu of these named now",
		   n->frame_cnt, n->unnamed_cnt, n->named_cnt);
	if (c->opts.lines)
		buf_printf(&c->out, "; %zu with a source line", n->lined_cnt);
	buf_putc(&c->out, '\n');
	for (int i = 1; i < SYM_REASON_MAX; i++)
		if (n->left_cnt[i])
			buf_printf(&c->out, "%8zu %s\n", n->left_cnt[i], sym_reason_name(i));
}

static void print_json_counts(struct symbolize *c, const struct symbolize_counts *n)
{
	json_init(&c->writer, &c->out);
	json_begin_object(&c->writer, NULL);
	json_u64(&c->writer, "frames", n->frame_cnt);
	json_u64(&c->writer, "unnamed", n->unnamed_cnt);
	json_u64(&c->writer, "named", n->named_cnt);
	json_u64(&c->writer, "with_lines", n->lined_cnt);
	json_begin_object(&c->writer, "left");
	for (int i = 1; i < SYM_REASON_MAX; i++)
		if (n->left_cnt[i])
			json_u64(&c->writer, sym_reason_name(i), n->left_cnt[i]);
	json_end_object(&c->writer);
	json_end_object(&c->writer);
	buf_putc(&c->out, '\n');
}

static int name_profile(struct symbolize *c, const char *path, struct err *err)
{
	struct symbolize_counts counts;
	struct profile *p = NULL;
	struct buf why = { 0 };
	int rc = reader__load(path, &p, err);

	if (rc)
		return rc;
	symbolize_profile(p, c->symbolizer, c->opts.lines, &counts, c->why ? &why : NULL);
	rc = writer__save(p, c->out_path, c->force ? OUTFILE_REPLACE : OUTFILE_NEW, err);
	if (!rc && c->json) {
		print_json_counts(c, &counts);
	} else if (!rc) {
		print_counts(c, &counts);
		put_indented(&c->out, &why);
	}
	flush(c, 0);
	buf_free(&why);
	profile__free(p);
	return rc;
}

static int read_perf_map(struct symbolize *c, struct err *err)
{
	struct buf text = { 0 };
	size_t skipped_cnt;
	int fd = open(c->perf_map, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return err_errno(err, "open %s", c->perf_map);
	rc = text_read_fd(fd, PERFMAP_TEXT_MAX_BYTES, &text);
	if (!rc)
		perfmap_parse(&c->jit, buf_str(&text), text.len_bytes, &skipped_cnt);
	close(fd);
	buf_free(&text);
	return rc ? err_set(err, rc, "read %s: %s", c->perf_map, strerror(-rc)) : 0;
}

static int open_subject(struct symbolize *c, struct err *err)
{
	if (c->pid)
		return symbolizer__add_process(c->symbolizer, PROCESS_KEY, (pid_t)c->pid, NULL,
					       err);
	if (c->elf && access(c->elf, R_OK))
		return err_errno(err, "open %s", c->elf);
	if (c->kallsyms && access(c->kallsyms, R_OK))
		return err_errno(err, "open %s", c->kallsyms);
	return c->perf_map ? read_perf_map(c, err) : 0;
}

static int run(int argc, char **argv, struct err *err)
{
	struct symbolize c = { .opts.debuginfod = true };
	struct opt_operands operands;
	int rc;

	if (opt_parse(options, argc, argv, &c, &operands, err) || check_mode(&c, &operands, err))
		return STATUS_USAGE;
	rc = sandbox_open(symbolize_handlers, &c.sandbox, err);
	if (rc)
		return STATUS_FAILED;
	c.opts.kallsyms = c.kallsyms;
	c.opts.sandbox = c.sandbox;
	c.symbolizer = symbolizer__new(&c.opts);
	rc = open_subject(&c, err);
	if (!rc)
		rc = c.out_path ? name_profile(&c, operands.argv[0], err) :
				  answer_all(&c, &operands, err);
	symbolizer__free(c.symbolizer);
	sandbox_close(c.sandbox);
	symtab_free(&c.jit);
	buf_free(&c.texts);
	free(c.addrs);
	free(c.questions);
	free(c.answer_ends);
	buf_free(&c.answers);
	buf_free(&c.out);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

const struct command command_symbolize = {
	.name = "symbolize",
	.usage = "[OPTIONS] FILE.cprof -o FILE.cprof | [OPTIONS] [ADDRESS...]",
	.summary = "Names for a profile, or for addresses of a process, a file or the kernel",
	.details =
		"A profile's unnamed frames are looked up in the files at their paths, which must have\n"
		"the build-ids that were recorded; the result is a new profile.\n\n"
		"Addresses are hexadecimal, one a line on standard input unless they are given as\n"
		"operands. Each is answered by one line: the address, and its functions from the\n"
		"outermost to the innermost inlined one, separated by semicolons; or the address\n"
		"and the reason why there is no name.",
	.options = options,
	.run = run,
};
