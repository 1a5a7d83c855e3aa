/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trained anomaly detector as bytes; see anomaly_model.h. */
#include "user/analysis/anomaly_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/mem.h"

static void put_string(struct buf *out, const char *s)
{
	wire_put_text(out, s ? s : "", s ? strlen(s) : 0);
}

void anomaly_model__encode(const struct anomaly_model *m, struct buf *out)
{
	const struct ccct *c = &m->vectorizer.dict;
	size_t start = out->len_bytes;

	buf_puts(out, ANOMALY_MAGIC);
	wire_put_u64(out, m->vectorizer.kind);
	put_string(out, m->service);
	put_string(out, m->operation);
	wire_put_u64(out, c->frame_cnt);
	for (size_t i = 0; i < c->frame_cnt; i++) {
		put_string(out, strtab_get(&c->strings, c->frames[i].service_sid));
		put_string(out, strtab_get(&c->strings, c->frames[i].operation_sid));
	}
	wire_put_u64(out, c->path_cnt);
	for (size_t i = 0; i < c->path_cnt; i++) {
		wire_put_u64(out, c->paths[i].parent == SPAN_NONE ? 0 : c->paths[i].parent + 1u);
		wire_put_u64(out, c->paths[i].frame);
	}
	detector__put(&m->detector, out);
	wire_seal(out, start);
}

static char *get_string(struct wire *w)
{
	size_t len;
	const char *text = wire_text(w, &len);

	return xstrndup(text, len);
}

static void get_dict(struct wire *w, struct ccct *c)
{
	uint32_t cnt = wire_count(w);

	for (uint32_t i = 0; i < cnt && !w->bad; i++) {
		char *service = get_string(w), *operation = get_string(w);

		w->bad |= ccct__frame(c, service, operation) != i;
		free(service);
		free(operation);
	}
	cnt = wire_count(w);
	for (uint32_t i = 0; i < cnt && !w->bad; i++) {
		uint32_t parent = wire_below(w, (uint64_t)i + 1);
		uint32_t frame = wire_below(w, c->frame_cnt);

		w->bad |= ccct__path(c, parent ? parent - 1 : SPAN_NONE, frame) != i;
	}
}

int anomaly_model__decode(const void *data, size_t len_bytes, struct anomaly_model *m,
			  struct err *err)
{
	struct wire w;
	int rc = wire_open(data, len_bytes, ANOMALY_MAGIC, &w, err);

	if (rc)
		return rc;
	m->vectorizer.kind = wire_below(&w, VECTOR_KIND_MAX);
	m->service = get_string(&w);
	m->operation = get_string(&w);
	get_dict(&w, &m->vectorizer.dict);
	if (!w.bad)
		detector__get(&m->detector, &w);
	if (w.bad || w.at != w.end || m->detector.columns != m->vectorizer.dict.path_cnt)
		return err_set(err, -EINVAL, "inconsistent: not written by this version");
	return 0;
}

void anomaly_model__free(struct anomaly_model *m)
{
	vectorizer__free(&m->vectorizer);
	detector__free(&m->detector);
	free(m->service);
	free(m->operation);
	*m = (struct anomaly_model){ 0 };
}
