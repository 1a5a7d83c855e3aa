/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures by graphviz' dot; see graphviz.h. */
#include "user/cmd/graphviz.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* An unnamed file with the text, at its beginning, so that no pipe can fill up on both sides. */
static FILE *text_file(const struct buf *text)
{
	FILE *f = tmpfile();

	if (!f)
		return NULL;
	if (fwrite(text->data, 1, text->len_bytes, f) != text->len_bytes || fflush(f)) {
		fclose(f);
		return NULL;
	}
	rewind(f);
	return f;
}

static int spawn_dot(int in_fd, int out_fd, pid_t *pid)
{
	static char name[] = "dot", format[] = "-Tsvg";
	char *argv[] = { name, format, NULL };
	posix_spawn_file_actions_t actions;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	rc = posix_spawnp(pid, "dot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int graphviz_svg(const struct buf *dot_text, struct buf *svg, struct err *err)
{
	FILE *in = text_file(dot_text), *out = tmpfile();
	char block[4096];
	int status = 0, rc = 0;
	pid_t pid;
	size_t n;

	if (!in || !out) {
		rc = err_errno(err, "a temporary file for dot");
		goto out;
	}
	rc = spawn_dot(fileno(in), fileno(out), &pid);
	if (rc) {
		rc = err_set(err, -rc,
			     "cannot run graphviz' dot (%s); install graphviz, or write .dot",
			     strerror(rc));
		goto out;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status) {
		rc = err_set(err, -EIO,
			     "graphviz' dot failed; write .dot to see what it was given");
		goto out;
	}
	rewind(out);
	while ((n = fread(block, 1, sizeof(block), out)) > 0)
		buf_append(svg, block, n);
out:
	if (in)
		fclose(in);
	if (out)
		fclose(out);
	return rc;
}
