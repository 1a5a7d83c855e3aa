/* SPDX-License-Identifier: GPL-2.0-or-later */
/* causeprof messages: message traces from captures, in the form that "paths" reads. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "user/analysis/callpairs.h"
#include "user/analysis/msgdedup.h"
#include "user/base/mem.h"
#include "user/base/outfile.h"
#include "user/cmd/command.h"
#include "user/cmd/node_map.h"
#include "user/cmd/progress_line.h"
#include "user/exchange/msginput.h"
#include "user/exchange/msgtext.h"

enum {
	FLUSH_BYTES = 1 << 20
};

struct messages_opts {
	const char *output, *node_map;
	bool calls, ports, skip_bad;
	uint64_t dedup_ns;
};

#define OFF(field) offsetof(struct messages_opts, field)

static const struct opt options[] = {
	{ "output", 'o', OPT_STRING, OFF(output), "FILE",
	  "write to FILE instead of standard output", 0, 0, NULL },
	{ "calls", 0, OPT_FLAG, OFF(calls), NULL,
	  "write calls instead of messages: client server start end latency, in us", 0, 0, NULL },
	{ "node-map", 0, OPT_STRING, OFF(node_map), "FILE",
	  "rename nodes: lines of REGEX NODE; captures are matched as ADDRESS:PORT", 0, 0, NULL },
	{ "ports", 0, OPT_FLAG, OFF(ports), NULL, "servers in captures are ADDRESS:PORT", 0, 0,
	  NULL },
	{ "dedup", 0, OPT_SECONDS, OFF(dedup_ns), "TIME",
	  "a message like another within TIME before it is the same, seen at the other end", 0, 0,
	  NULL },
	{ "skip-bad", 0, OPT_FLAG, OFF(skip_bad), NULL, "leave malformed lines out and count them",
	  0, 0, NULL },
	{ 0 },
};

static void put_us(struct buf *out, int64_t ns)
{
	buf_put_i64(out, ns / 1000);
	if (ns % 1000)
		buf_printf(out, ".%03d", (int)(ns % 1000 < 0 ? -(ns % 1000) : ns % 1000));
	buf_putc(out, ' ');
}

static void put_call(struct buf *out, const struct msgtrace *t, const struct call *c)
{
	const char *from = msgtrace__node_name(t, c->caller);
	const char *to = msgtrace__node_name(t, c->callee);

	msgtext_put_name(out, from, strlen(from));
	buf_putc(out, ' ');
	msgtext_put_name(out, to, strlen(to));
	buf_putc(out, ' ');
	put_us(out, c->client_start_ns);
	put_us(out, c->client_end_ns);
	put_us(out, c->client_end_ns - c->client_start_ns);
	out->data[out->len_bytes - 1] = '\n';
}

static void flush(struct outfile *f, struct buf *text, size_t above_bytes)
{
	if (text->len_bytes <= above_bytes)
		return;
	outfile_write(f, text->data, text->len_bytes, NULL); /* commit reports errors */
	buf_reset(text);
}

static int write_result(const struct messages_opts *o, const struct msgtrace *t, struct err *err)
{
	struct outfile *f;
	struct buf text = { 0 };
	int rc = outfile_open(o->output ? o->output : "-", OUTFILE_REPLACE, &f, err);

	if (rc)
		return rc;
	for (size_t i = 0; o->calls && i < t->call_cnt; i++) {
		put_call(&text, t, &t->calls[i]);
		flush(f, &text, FLUSH_BYTES);
	}
	for (size_t i = 0; !o->calls && i < t->msg_cnt; i++) {
		msgtext_put(&text, t, msgtrace__msg(t, i),
			    t->msg_witness ? &t->msg_witness[i] : NULL);
		flush(f, &text, FLUSH_BYTES);
	}
	flush(f, &text, 0);
	rc = outfile_commit(f, err);
	outfile_close(f);
	buf_free(&text);
	return rc;
}

static int convert(const struct messages_opts *o, struct opt_operands *files, struct msgtrace *t,
		   struct buf *notes, struct err *err)
{
	struct progress_line line;
	struct nodemap *map = NULL;
	struct msginput_opts in = { o->skip_bad, o->ports, NULL, &line.progress };
	struct callpairs_stats pairs;
	int rc = 0;

	progress_line_init(&line);
	if (o->node_map)
		rc = read_node_map(o->node_map, &map, err);
	in.map = map;
	if (!rc)
		rc = msginput_load(files->argv + 1, (size_t)files->argc - 1, &in, t, notes, err);
	progress_line_end(&line);
	nodemap__free(map);
	if (rc)
		return rc;
	if (t->call_cnt && !o->calls)
		return err_set(err, -EINVAL, "spans are calls, not messages: use --calls");
	msgtrace__sort_msgs(t);
	if (o->dedup_ns) {
		uint64_t cut = msgdedup(t, (int64_t)o->dedup_ns);

		if (cut)
			buf_printf(notes, "%llu messages seen twice, dropped\n",
				   (unsigned long long)cut);
	}
	if (o->calls)
		callpairs_find(t, CALLPAIRS_DROP_MSGS, 0, &pairs);
	return 0;
}

static int import(const struct messages_opts *o, struct opt_operands *files, struct err *err)
{
	struct msgtrace *t = msgtrace__new();
	struct buf notes = { 0 };
	int rc = convert(o, files, t, &notes, err);

	if (!rc)
		rc = write_result(o, t, err);
	fputs(buf_str(&notes), stderr);
	buf_free(&notes);
	msgtrace__free(t);
	return rc ? STATUS_FAILED : STATUS_DONE;
}

static int run(int argc, char **argv, struct err *err)
{
	struct messages_opts o = { 0 };
	struct opt_operands operands;

	if (opt_parse(options, argc, argv, &o, &operands, err))
		return STATUS_USAGE;
	if (operands.argc < 2 || strcmp(operands.argv[0], "import") != 0) {
		err_set(err, -EINVAL, "expected: messages import FILE...");
		return STATUS_USAGE;
	}
	return import(&o, &operands, err);
}

const struct command command_messages = {
	.name = "messages",
	.usage = "import [OPTIONS] FILE...",
	.summary = "Import message traces from packet captures and other forms",
	.details =
		"Captures (pcap, pcapng) of several hosts are merged. Calls are what the client of a "
		"connection sends, returns what comes back; HTTP/1 is understood so far that "
		"pipelined requests pair up.",
	.options = options,
	.run = run,
};
