/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: finds the verb, runs it, prints its error. A first argument that is no verb but an
 * option means "record", so that "causeprof -p PID" works. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/escape.h"
#include "user/base/mem.h"
#include "user/cmd/command.h"
#include "gen/version.h"

#define COMMAND(name) extern const struct command command_##name;
#include "gen/commands.inc"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "gen/commands.inc"
#undef COMMAND
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_CNT(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int print_overview(void)
{
	puts("causeprof: where the time of threads and requests went, and why\n\n"
	     "usage: causeprof VERB [OPTIONS] ...\n"
	     "       causeprof -p PID [DURATION]      the same as: causeprof record -p PID [DURATION]\n");
	for (size_t i = 0; i < ARRAY_CNT(commands); i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\ncauseprof VERB --help tells the options of a verb.");
	return STATUS_DONE;
}

static int print_help(const struct command *c)
{
	struct buf text = { 0 };

	buf_printf(&text, "usage: causeprof %s %s\n\n%s.\n\n", c->name, c->usage, c->summary);
	if (c->details)
		buf_printf(&text, "%s\n\n", c->details);
	opt_help(c->options, &text);
	fputs(buf_str(&text), stdout);
	buf_free(&text);
	return STATUS_DONE;
}

/* The tables as text, for the scripts that make the man page and the completion. One line a fact, fields
 * separated by tabs: "verb NAME USAGE SUMMARY", "details LINE" (as often as needed), "option --NAME
 * LETTER ARG CHOICES HELP"; a field without a value is "-". */
static void dump_command(const struct command *c, struct buf *out)
{
	buf_printf(out, "verb\t%s\t%s\t%s\n", c->name, c->usage[0] ? c->usage : "-", c->summary);
	for (const char *line = c->details; line && *line;) {
		size_t len_bytes = strcspn(line, "\n");

		buf_printf(out, "details\t%.*s\n", (int)len_bytes, line);
		line += len_bytes + (line[len_bytes] == '\n');
	}
	for (const struct opt *o = c->options; o->name; o++) {
		buf_printf(out, "option\t--%s\t%c\t%s\t", o->name, o->letter ? o->letter : '-',
			   o->arg ? o->arg : "-");
		if (!o->choices)
			buf_putc(out, '-');
		for (int i = 0; o->choices && o->choices[i]; i++)
			buf_printf(out, "%s%s", i ? " " : "", o->choices[i]);
		buf_printf(out, "\t%s\n", o->help);
	}
}

static int dump_options(void)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < ARRAY_CNT(commands); i++)
		dump_command(commands[i], &out);
	fputs(buf_str(&out), stdout);
	buf_free(&out);
	return STATUS_DONE;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || (i == 1 && !strcmp(argv[i], "-h")))
			return true;
	return false;
}

/* Messages quote names and contents of files, which may hold anything. */
static void complain(const char *message)
{
	struct buf line = { 0 };

	escape_terminal(&line, message, strlen(message));
	fprintf(stderr, "causeprof: %s\n", buf_str(&line));
	buf_free(&line);
}

/* A file opened as number 1 would get what is printed: descriptors that the caller has closed stay unusable. */
static void keep_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	struct err err = { 0 };
	int status;

	if (wants_help(argc, argv))
		return print_help(c);
	status = c->run(argc, argv, &err);
	if (!err.code)
		return status;
	complain(err.msg);
	if (status == STATUS_USAGE)
		fprintf(stderr, "causeprof %s --help tells the options.\n", c->name);
	return status;
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;
	struct err err = { 0 };

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help"))
		return print_overview();
	if (!strcmp(argv[1], "--version")) {
		puts("causeprof " CAUSEPROF_VERSION);
		return STATUS_DONE;
	}
	if (!strcmp(argv[1], "--dump-options"))
		return dump_options();
	c = find_command(argv[1]);
	if (c)
		return run_command(c, argc - 1, argv + 1);
	c = argv[1][0] == '-' ? find_command("record") : NULL;
	if (c)
		return run_command(c, argc, argv);
	err_set(&err, -EINVAL, "unknown verb '%s'; causeprof --help lists them", argv[1]);
	complain(err.msg);
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	int status;

	keep_standard_descriptors();
	signal(SIGXFSZ, SIG_IGN); /* a file limit becomes an error like a full disk */
	status = dispatch(argc, argv);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	complain("cannot write to standard output");
	return status ? status : STATUS_FAILED;
}
