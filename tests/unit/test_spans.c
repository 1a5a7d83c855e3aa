/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading of Jaeger and OTLP traces, and of JSON by pulling. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "user/base/buf.h"
#include "user/base/jsonpull.h"
#include "user/base/mem.h"
#include "user/exchange/spans.h"

/* What was read, one line a trace and a span. */
static int print_trace(void *ctx, struct trace *t, struct err *err)
{
	struct buf *out = ctx;

	(void)err;
	buf_printf(out, "%s\n", trace__str(t, t->id_sid));
	for (size_t i = 0; i < t->span_cnt; i++) {
		const struct span *s = &t->spans[i];

		buf_printf(out, " %s<%s [%s] %s @%s %s %lld+%lld f%x\n", trace__str(t, s->id_sid),
			   trace__str(t, s->parent_sid), trace__str(t, s->service_sid),
			   trace__str(t, s->operation_sid), trace__str(t, s->host_sid),
			   span_kind_name(s->kind), (long long)s->start_ns,
			   (long long)(s->end_ns - s->start_ns), (unsigned)s->flags);
	}
	return 0;
}

static int read_text(const char *text, size_t window, struct buf *out, struct spans_stats *stats,
		     struct err *err)
{
	struct spans_options o = { .take = print_trace, .ctx = out, .otlp_window_spans = window };
	struct input *in;
	int rc;

	*stats = (struct spans_stats){ 0 };
	*err = (struct err){ 0 };
	buf_reset(out);
	assert_int_equal(input_open_mem(text, strlen(text), &in, err), 0);
	rc = spans_read(in, &o, stats, err);
	input_close(in);
	return rc;
}

static void expect_text(const char *json, const char *want)
{
	struct buf out = { 0 };
	struct spans_stats stats;
	struct err err;

	if (read_text(json, 0, &out, &stats, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(buf_str(&out), want);
	buf_free(&out);
}

static void jaeger_in_any_key_order(void **state)
{
	(void)state;
	expect_text(
		"{\"data\":[{\"traceID\":\"t\",\"spans\":["
		"{\"spanID\":\"a\",\"operationName\":\"op\\n\\u00e9\",\"startTime\":5,"
		"\"duration\":7,\"processID\":\"p\",\"references\":[],\"tags\":["
		"{\"key\":\"span.kind\",\"value\":\"server\"},{\"value\":true,\"key\":\"error\"},"
		"{\"key\":\"x\",\"value\":{\"a\":[1]}}]},"
		"{\"processID\":\"p\",\"references\":[{\"refType\":\"CHILD_OF\",\"spanID\":\"z\"},"
		"{\"spanID\":\"a\",\"refType\":\"CHILD_OF\",\"traceID\":\"t\"},"
		"{\"refType\":\"FOLLOWS_FROM\",\"spanID\":\"q\",\"traceID\":\"t\"},"
		"{\"refType\":\"CHILD_OF\",\"spanID\":\"f\",\"traceID\":\"other\"}],"
		"\"spanID\":\"b\",\"duration\":2,\"startTime\":6}],"
		"\"processes\":{\"p\":{\"tags\":[{\"key\":\"hostname\",\"value\":\"h\"}],"
		"\"serviceName\":\"S\"}}}]}",
		"t\n a< [S] op\n\xc3\xa9 @h server 5000+7000 f2\n b<a [S]  @h  6000+2000 f0\n");
}

static void jaeger_bare_trace_lines_and_arrays(void **state)
{
	const char *bare = "{\"traceID\":\"1\",\"spans\":[{\"spanID\":\"a\",\"startTime\":\"1\","
			   "\"duration\":1.9}]}\n\n{\"data\":{\"traceID\":\"2\",\"spans\":[]}}"
			   "[{\"traceID\":\"3\"}]";

	(void)state;
	expect_text(bare, "1\n a< []  @  1000+1000 f0\n2\n3\n");
}

static void damaged_spans_are_counted(void **state)
{
	struct buf out = { 0 };
	struct spans_stats stats;
	struct err err;

	(void)state;
	assert_int_equal(
		read_text("{\"data\":[{\"traceID\":\"t\",\"spans\":[17,{\"startTime\":1},"
			  "{\"spanID\":\"x\",\"startTime\":\"soon\",\"duration\":1},"
			  "{\"spanID\":\"y\",\"startTime\":9223372036854775807,\"duration\":1},"
			  "{\"spanID\":\"z\",\"startTime\":1,\"duration\":99999999999999999999},"
			  "{\"spanID\":\"n\",\"startTime\":3,\"duration\":-5,\"tags\":\"no\"}]}]}",
			  0, &out, &stats, &err),
		0);
	assert_string_equal(buf_str(&out), "t\n n< []  @  3000+0 f4\n");
	assert_int_equal(stats.flaws[TRACE_SPAN_WITHOUT_ID], 1);
	assert_int_equal(stats.flaws[TRACE_SPAN_WITHOUT_TIME], 3);
	assert_int_equal(stats.flaws[TRACE_WRONG_TYPE], 2);
	assert_int_equal(stats.flaws[TRACE_NO_PROCESS], 1);
	buf_free(&out);
}

#define OTLP_SPAN(trace, id, parent)                                                  \
	"{\"traceId\":\"" trace "\",\"spanId\":\"" id "\",\"parentSpanId\":\"" parent \
	"\",\"name\":\"op\",\"kind\":3,\"startTimeUnixNano\":\"10\",\"endTimeUnixNano\":15}"

static void otlp_groups_spans_by_trace(void **state)
{
	(void)state;
	expect_text(
		"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" OTLP_SPAN("AB", "01", "00") "," OTLP_SPAN(
			"cd", "02",
			"") "]}],"
			    "\"resource\":{\"attributes\":[{\"key\":"
			    "\"service.name\",\"value\":{\"stringValue\":\"S\"}}]}}]}\n"
			    "{\"result\":{\"resource_spans\":[{\"scope_spans\":[{\"spans\":"
			    "[" OTLP_SPAN("ab", "0A", "01") "]}]}]}}",
		"ab\n 01< [S] op @ client 10+5 f0\n 0a<01 [] op @ client 10+5 f0\n"
		"cd\n 02< [S] op @ client 10+5 f0\n");
}

static void otlp_window_bounds_what_is_held(void **state)
{
	const char *text = "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" OTLP_SPAN(
		"a1", "01",
		"") "," OTLP_SPAN("b1", "02",
				  "") "," OTLP_SPAN("b1", "03",
						    "02") "]}]},"
							  "{\"scopeSpans\":[{\"spans\":[" OTLP_SPAN(
								  "a1", "04", "01") "]}]}]}";
	struct buf out = { 0 };
	struct spans_stats stats;
	struct err err;

	(void)state;
	assert_int_equal(read_text(text, 2, &out, &stats, &err), 0);
	assert_int_equal(stats.split_cnt, 1);
	assert_int_equal(stats.trace_cnt, 3);
	assert_int_equal(read_text(text, 0, &out, &stats, &err), 0);
	assert_int_equal(stats.split_cnt, 0);
	assert_int_equal(stats.trace_cnt, 2);
	buf_free(&out);
}

static void syntax_errors_are_one_line(void **state)
{
	static const struct {
		const char *json, *want;
	} cases[] = {
		{ "{\"data\":[{\"traceID\":\"t\"", "byte 23: the file ends too early" },
		{ "{\"data\":[{]}", "byte 10: a key was expected" },
		{ "{\"data\":[1,]}", "byte 11: this is not JSON" },
		{ "{\"a\":\"\\x\"}", "byte 6: an escape that JSON does not have" },
		{ "{\"a\" 1}", "byte 5: a colon was expected" },
		{ "{\"a\":01}", "byte 6: a comma or } was expected" },
		{ "{\"a\":-}", "byte 5: a number that JSON does not have" },
		{ "{\"a\":\"\t\"}", "byte 6: a control character inside a string" },
		{ "42", "neither Jaeger nor OTLP" },
		{ "hello", "byte 0: this is not JSON" },
	};
	struct buf out = { 0 };
	struct spans_stats stats;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_CNT(cases); i++) {
		assert_int_equal(read_text(cases[i].json, 0, &out, &stats, &err), -EINVAL);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("%s: %s", cases[i].json, err.msg);
	}
	buf_free(&out);
}

static void nesting_has_a_limit(void **state)
{
	struct buf text = { 0 }, out = { 0 };
	struct spans_stats stats;
	struct err err;

	(void)state;
	buf_puts(&text, "{\"x\":");
	for (int i = 0; i < JSONPULL_DEPTH_MAX; i++)
		buf_putc(&text, '[');
	assert_int_equal(read_text(buf_str(&text), 0, &out, &stats, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "nested deeper"));
	buf_free(&text);
	buf_free(&out);
}

/* Strings and numbers that lie across the reader's window, at every position around its edge. */
static void tokens_survive_a_refill(void **state)
{
	struct buf text = { 0 }, out = { 0 };
	struct spans_stats stats;
	struct err err;

	(void)state;
	for (int pad = 256 * 1024 - 90; pad < 256 * 1024 + 8; pad++) {
		buf_reset(&text);
		buf_puts(&text, "{\"pad\":\"");
		for (int i = 0; i < pad; i++)
			buf_putc(&text, i % 7 ? 'x' : ' ');
		buf_puts(&text,
			 "\" , \"traceID\" : \"q\\\"\" , \"spans\":[{\"spanID\" : \"s\\u0041\" ,"
			 " \"startTime\" : 1234567 , \"duration\" : 8 }] }");
		assert_int_equal(read_text(buf_str(&text), 0, &out, &stats, &err), 0);
		assert_string_equal(buf_str(&out), "q\"\n sA< []  @  1234567000+8000 f0\n");
	}
	buf_free(&text);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jaeger_in_any_key_order),
		cmocka_unit_test(jaeger_bare_trace_lines_and_arrays),
		cmocka_unit_test(damaged_spans_are_counted),
		cmocka_unit_test(otlp_groups_spans_by_trace),
		cmocka_unit_test(otlp_window_bounds_what_is_held),
		cmocka_unit_test(syntax_errors_are_one_line),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(tokens_survive_a_refill),
	};

	return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
