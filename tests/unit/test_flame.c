/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded text, the tree, its layout and the picture. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flamegraph/class.h"
#include "flamegraph/folded.h"
#include "flamegraph/layout.h"
#include "flamegraph/metrics.h"
#include "flamegraph/palette.h"
#include "flamegraph/picture.h"
#include "flamegraph/tree.h"
#include "user/base/mem.h"

/* Reads text; writes what came out as "frame|frame value[,value]" lines. */
static char *read_back(const char *text, size_t len_bytes, struct folded_stats *stats)
{
	struct input *in = NULL;
	struct folded *f = NULL;
	struct folded_line line;
	struct buf out = { 0 };

	assert_int_equal(input_open_mem(text, len_bytes, &in, NULL), 0);
	assert_int_equal(folded_open(in, FOLDED_DETECT, false, &f, NULL), 0);
	while (folded_next(f, &line, NULL) > 0) {
		for (size_t i = 0; i < line.frame_cnt; i++) {
			if (i)
				buf_putc(&out, '|');
			buf_append(&out, line.frames[i].s, line.frames[i].len_bytes);
		}
		buf_printf(&out, " %.17g", line.values[0]);
		if (folded_stats(f)->two_counts)
			buf_printf(&out, ",%.17g", line.values[1]);
		buf_putc(&out, '\n');
	}
	if (stats)
		*stats = *folded_stats(f);
	folded_close(f);
	input_close(in);
	return buf_take(&out);
}

static void check_read(const char *text, const char *want)
{
	char *got = read_back(text, strlen(text), NULL);

	assert_string_equal(got ? got : "", want);
	free(got);
}

static void test_folded_dialects(void **state)
{
	(void)state;
	check_read("a;b;c 12\n", "a|b|c 12\n");
	check_read("a;b 1.5\r\na;c 6.\r\na;d 1e3", "a|b 1.5\na|c 6\na|d 1000\n");
	check_read("\xef\xbb\xbf"
		   "a 1\n",
		   "a 1\n");
	check_read("# comment 3\n\na 1\n", "a 1\n");
	check_read("fn(int, char) 4\nstep 12 6\n", "fn(int, char) 4\nstep 12 6\n");
	check_read("a\\x3bb;c\\d 2\n", "a;b|c\\d 2\n");
	check_read("a;&lt;init&gt;;&#39;;R&D;b 2\n", "a|&lt;init&gt;|&#39;|R&D|b 2\n");
	check_read("a;b;; 2\n;x 3\na;;c 4\n", "a|b 2\n|x 3\na||c 4\n");
	check_read("a;b\t5\na; 6\n", "a|b 5\na 6\n");
	check_read("a 18446744073709551616\n", "a 1.8446744073709552e+19\n");
	check_read("a;b 1 2\na 3 4\n", "a|b 1,2\na 3,4\n");
}

static void test_folded_bad_lines(void **state)
{
	const char *text = "x 1\nnone\nneg -5\nhex 0x10\nnan nan\ninf inf\ny 2\n";
	struct folded_stats s;

	(void)state;
	free(read_back(text, strlen(text), &s));
	assert_int_equal(s.good_cnt, 2);
	assert_int_equal(s.bad_cnt, 5);
	assert_int_equal(s.first_bad_line_no, 2);
	assert_string_equal(s.first_bad, "none");
}

static void test_folded_refuses_utf16(void **state)
{
	static const char text[] = "a\0;\0b\0 \0001\0";
	struct input *in = NULL;
	struct folded *f = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(input_open_mem(text, sizeof(text) - 1, &in, NULL), 0);
	assert_int_equal(folded_open(in, FOLDED_DETECT, false, &f, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "UTF-16"));
	input_close(in);
}

static void add(struct flame_tree *t, const char *stack, double value, int cls, int side)
{
	struct flame_weight w = { value, 2, (uint8_t)cls, (uint8_t)side };
	const char *names[16];
	char *copy = xstrdup(stack);
	size_t cnt = 0;

	for (char *s = strtok(copy, ";"); s; s = strtok(NULL, ";"))
		names[cnt++] = s;
	flame_tree__add_names(t, names, cnt, &w, 1);
	free(copy);
}

static void test_tree_sums_and_order(void **state)
{
	struct flame_tree *t = flame_tree__new(FLAME_MERGE_ALL);
	uint32_t a, b;

	(void)state;
	add(t, "z", 5, FLAME_RUNNING, 0);
	add(t, "a;c", 3, FLAME_SLEEP, 0);
	add(t, "a;b", 2, FLAME_RUNNING, 0);
	add(t, "a", 1, FLAME_RUNNING, 0);
	flame_tree__finish(t);
	a = t->nodes[0].first;
	b = t->nodes[a].first;
	assert_string_equal(strtab_get(&t->names, t->nodes[a].name), "a");
	assert_string_equal(strtab_get(&t->names, t->nodes[b].name), "b");
	assert_true(flame_tree__total(t, 0, FLAME_AFTER) == 11);
	assert_true(flame_tree__total(t, a, FLAME_AFTER) == 6);
	assert_true(flame_tree__self(t, a, FLAME_AFTER) == 1);
	assert_true(flame_tree__class_total(t, a, FLAME_AFTER, FLAME_SLEEP) == 3);
	assert_true(flame_tree__class_total(t, a, FLAME_AFTER, FLAME_DISK) == 0);
	flame_tree__free(t);
}

static void test_chart_keeps_order(void **state)
{
	struct flame_tree *t = flame_tree__new(FLAME_MERGE_CHART);
	struct flame_layout l;
	struct flame_opts o;

	(void)state;
	flame_opts_init(&o);
	add(t, "z", 1, 0, 0);
	add(t, "a;b", 2, 0, 0);
	add(t, "a", 3, 0, 0);
	add(t, "z", 4, 0, 0);
	flame_tree__finish(t);
	assert_int_equal(flame_layout__make(&l, t, &o, NULL), 0);
	assert_int_equal(l.box_cnt, 5);
	assert_true(l.boxes[1].start == 0 && l.boxes[1].width == 1);
	assert_true(l.boxes[2].start == 1 && l.boxes[2].width == 5);
	assert_true(l.boxes[3].start == 1 && l.boxes[3].width == 2);
	assert_true(l.boxes[4].start == 6 && l.boxes[4].width == 4);
	flame_layout__fini(&l);
	flame_tree__free(t);
}

static void test_union_shows_what_vanished(void **state)
{
	struct flame_tree *t = flame_tree__new(FLAME_MERGE_ALL);
	struct flame_layout l;
	struct flame_opts o;

	(void)state;
	flame_opts_init(&o);
	add(t, "m;gone", 6, 0, FLAME_BEFORE);
	add(t, "m;kept", 4, 0, FLAME_BEFORE);
	add(t, "m;kept", 5, 0, FLAME_AFTER);
	flame_tree__finish(t);
	assert_int_equal(flame_layout__make(&l, t, &o, NULL), 0);
	assert_int_equal(l.box_cnt, 3);
	flame_layout__fini(&l);
	o.width_by = FLAME_BY_UNION;
	assert_int_equal(flame_layout__make(&l, t, &o, NULL), 0);
	assert_int_equal(l.box_cnt, 4);
	assert_true(l.total == 11);
	flame_layout__fini(&l);
	flame_tree__free(t);
}

static void test_empty_is_refused(void **state)
{
	struct flame_tree *t = flame_tree__new(FLAME_MERGE_ALL);
	struct flame_opts o;
	struct buf out = { 0 };
	struct err err = { 0 };

	(void)state;
	flame_opts_init(&o);
	add(t, "a", 0, 0, 0);
	flame_tree__finish(t);
	assert_int_equal(flame_svg(t, &o, &out, &err), -ENODATA);
	buf_free(&out);
	flame_tree__free(t);
}

/* The data for the script, decoded as the script does. */
static double digits(const char **s)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	double v = 0, unit = 1;

	for (;;) {
		int c = (int)(strchr(alphabet, *(*s)++) - alphabet);

		v += (c & 31) * unit;
		if (c < 32)
			return v;
		unit *= 32;
	}
}

static void test_data_tells_the_boxes(void **state)
{
	struct flame_tree *t = flame_tree__new(FLAME_MERGE_ALL);
	struct flame_opts o;
	struct buf out = { 0 };
	const char *s;
	/* up, name, gap, color, width, self, count, mask, values */
	static const double want[] = {
		0, 0, 0,  -1, 7000000011, 0,	      4, 3, 11,	       7000000000,
		0, 1, 0,  -1, 7000000011, 11,	      4, 3, 11,	       7000000000,
		0, 2, 11, -1, 7000000000, 7000000000, 2, 2, 7000000000
	};

	(void)state;
	flame_opts_init(&o);
	add(t, "m;read", 7000000000, FLAME_SLEEP, 0);
	add(t, "m", 11, FLAME_RUNNING, 0);
	flame_tree__finish(t);
	assert_int_equal(flame_svg(t, &o, &out, NULL), 0);
	s = strstr(buf_str(&out), "<metadata id=\"boxes\">");
	assert_non_null(s);
	s = strchr(s, '>') + 1;
	for (size_t i = 0; i < ARRAY_CNT(want); i++) {
		double v = digits(&s);

		if (want[i] >= 0)
			assert_true(v == want[i]);
	}
	assert_int_equal(*s, '<');
	assert_non_null(strstr(buf_str(&out), "<metadata id=\"names\">all\nm\nread</metadata>"));
	buf_free(&out);
	flame_tree__free(t);
}

static void test_text_fits(void **state)
{
	struct flame_opts o;

	(void)state;
	flame_opts_init(&o);
	for (int px = 0; px < 200; px++) {
		static const char name[] = "mysql_execute_command<WWW>";
		struct buf out = { 0 };

		flame_put_fitting(&out, name, strlen(name), px, &o);
		if (out.len_bytes && !strchr(buf_str(&out), '&'))
			assert_true(flame_text_px(buf_str(&out), out.len_bytes, &o) <=
				    px - 6 + 1e-9);
		buf_free(&out);
	}
}

static void test_names_without_annotation(void **state)
{
	(void)state;
	assert_int_equal(flame_name_len("read_[k]", 8), 4);
	assert_int_equal(flame_name_len("read_[x]", 8), 8);
	assert_int_equal(flame_name_len("_[k]", 4), 0);
	assert_int_equal(flame_name_len("[k]", 3), 3);
}

static void test_classes(void **state)
{
	(void)state;
	for (int c = 1; c < FLAME_CLASS_MAX; c++) {
		const char *leaf = flame_class_leaf(c);

		assert_int_equal(flame_class_of_leaf(leaf, strlen(leaf)), c);
	}
	assert_int_equal(flame_class_of_leaf("[unknown]", 9), FLAME_NONE);
	assert_int_equal(flame_class_of_word("sleep"), FLAME_SLEEP);
	assert_int_equal(flame_class_of_word("D"), FLAME_DISK);
	assert_int_equal(flame_class_of_word("nonsense"), -1);
}

static double luminance(uint32_t rgb)
{
	return 0.2126 * (rgb >> 16 & 255) + 0.7152 * (rgb >> 8 & 255) + 0.0722 * (rgb & 255);
}

/* What eyes without the red or the green cones see (Viénot, Brettel and Mollon 1999, in linear light; the
 * test does with the plain values, which suffices for telling colours apart). */
static void without_cones(uint32_t rgb, int which, double out[3])
{
	static const double m[2][9] = {
		{ 0.11238, 0.88762, 0, 0.11238, 0.88762, 0, 0.00401, -0.00401, 1 },
		{ 0.29275, 0.70725, 0, 0.29275, 0.70725, 0, -0.02234, 0.02234, 1 }
	};
	double c[3] = { rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255 };

	for (int i = 0; i < 3; i++)
		out[i] = m[which][3 * i] * c[0] + m[which][3 * i + 1] * c[1] +
			 m[which][3 * i + 2] * c[2];
}

static void test_classes_for_the_colour_blind(void **state)
{
	static const int classes[] = { FLAME_RUNNING, FLAME_PREEMPTED, FLAME_SLEEP, FLAME_DISK };

	(void)state;
	for (int which = 0; which < 2; which++)
		for (size_t i = 0; i < ARRAY_CNT(classes); i++)
			for (size_t j = 0; j < i; j++) {
				double a[3], b[3], d = 0;

				without_cones(flame_class_rgb(classes[i]), which, a);
				without_cones(flame_class_rgb(classes[j]), which, b);
				for (int k = 0; k < 3; k++)
					d += (a[k] - b[k]) * (a[k] - b[k]);
				assert_true(d > 30 * 30);
			}
	assert_true(luminance(flame_class_rgb(FLAME_RUNNING)) >
		    luminance(flame_class_rgb(FLAME_PREEMPTED)) + 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded_dialects),
		cmocka_unit_test(test_folded_bad_lines),
		cmocka_unit_test(test_folded_refuses_utf16),
		cmocka_unit_test(test_tree_sums_and_order),
		cmocka_unit_test(test_chart_keeps_order),
		cmocka_unit_test(test_union_shows_what_vanished),
		cmocka_unit_test(test_empty_is_refused),
		cmocka_unit_test(test_data_tells_the_boxes),
		cmocka_unit_test(test_text_fits),
		cmocka_unit_test(test_names_without_annotation),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_classes_for_the_colour_blind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
