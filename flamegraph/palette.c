/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours; see palette.h. */
#include "flamegraph/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flamegraph/metrics.h"
#include "user/base/hash.h"
#include "user/base/mem.h"

const char *const flame_palette_words[] = { "hot",    "mem",	"io",	  "wakeup", "chain", "java",
					    "js",     "perl",	"red",	  "green",  "blue",  "aqua",
					    "yellow", "purple", "orange", NULL };

enum {
	SHADES = 24,
	CLASS_SHADES = 8,
	LOOKUP_CAP = 2 * FLAME_COLOR_MAX,
};

int flame_palette_of_word(const char *word)
{
	for (int i = 0; flame_palette_words[i]; i++)
		if (!strcmp(flame_palette_words[i], word))
			return i;
	return -1;
}

/* A line through the colour cube: from + v * span, v in 0..1; v2 moves the second span. */
struct ramp {
	short from[3], span[3], span2[3];
};

static const struct ramp ramps[FLAME_PALETTE_MAX] = {
	[FLAME_HOT] = { { 212, 40, 20 }, { 40, 185, 40 }, { 0, 0, 0 } },
	[FLAME_MEM] = { { 20, 190, 20 }, { 0, 0, 190 }, { 0, 50, 0 } },
	[FLAME_IO] = { { 85, 85, 195 }, { 60, 60, 0 }, { 0, 0, 55 } },
	[FLAME_RED] = { { 200, 60, 60 }, { 55, 80, 80 }, { 0, 0, 0 } },
	[FLAME_GREEN] = { { 60, 195, 60 }, { 60, 55, 60 }, { 0, 0, 0 } },
	[FLAME_BLUE] = { { 90, 90, 205 }, { 60, 60, 50 }, { 0, 0, 0 } },
	[FLAME_YELLOW] = { { 175, 175, 50 }, { 55, 55, 20 }, { 0, 0, 0 } },
	[FLAME_PURPLE] = { { 190, 80, 190 }, { 65, 60, 65 }, { 0, 0, 0 } },
	[FLAME_AQUA] = { { 55, 165, 165 }, { 60, 55, 55 }, { 0, 0, 0 } },
	[FLAME_ORANGE] = { { 190, 90, 10 }, { 65, 65, 0 }, { 0, 0, 0 } },
};

static const struct ramp class_ramps[FLAME_CLASS_MAX] = {
	[FLAME_RUNNING] = { { 238, 118, 44 }, { 14, 80, 28 }, { 0, 0, 0 } },
	[FLAME_PREEMPTED] = { { 30, 144, 110 }, { 26, 20, 24 }, { 0, 0, 0 } },
	[FLAME_WOKEN] = { { 94, 190, 152 }, { 30, 18, 26 }, { 0, 0, 0 } },
	[FLAME_SLEEP] = { { 108, 158, 214 }, { 42, 32, 22 }, { 0, 0, 0 } },
	[FLAME_DISK] = { { 148, 108, 196 }, { 34, 34, 24 }, { 0, 0, 0 } },
	[FLAME_STOPPED] = { { 122, 122, 156 }, { 22, 22, 20 }, { 0, 0, 0 } },
	[FLAME_TRACED] = { { 160, 132, 152 }, { 22, 22, 20 }, { 0, 0, 0 } },
	[FLAME_PARKED] = { { 168, 176, 196 }, { 20, 18, 14 }, { 0, 0, 0 } },
	[FLAME_IDLE] = { { 186, 192, 204 }, { 18, 16, 14 }, { 0, 0, 0 } },
	[FLAME_ASLEEP] = { { 196, 196, 198 }, { 14, 14, 14 }, { 0, 0, 0 } },
};

static uint32_t pack(const double c[3])
{
	uint32_t rgb = 0;

	for (int i = 0; i < 3; i++) {
		double v = c[i] < 0 ? 0 : c[i] > 255 ? 255 : c[i];

		rgb = rgb << 8 | (uint32_t)(v + 0.5);
	}
	return rgb;
}

static uint32_t on_ramp(const struct ramp *r, double v, double v2)
{
	double c[3];

	for (int i = 0; i < 3; i++)
		c[i] = r->from[i] + v * r->span[i] + v2 * r->span2[i];
	return pack(c);
}

uint32_t flame_class_rgb(int cls)
{
	return on_ramp(&class_ramps[cls], 0.35, 0);
}

/* A number in 0..1 from the name, in a few steps. */
static double shade_of(const char *name, size_t len_bytes, int steps)
{
	return (double)(hash_bytes(name, len_bytes) >> 33) / (double)(1U << 31) * steps >= steps ?
		       1 :
		       floor((double)(hash_bytes(name, len_bytes) >> 33) / (double)(1U << 31) *
			     steps) /
			       (steps - 1);
}

/* Names that begin alike come out alike: the first characters weigh most. */
static double prefix_shade(const char *name, size_t len_bytes)
{
	double sum = 0, max = 0, weight = 1;

	for (size_t i = 0; i < len_bytes && i < 4; i++, weight *= 0.6) {
		sum += weight * ((unsigned char)name[i] % 16) / 15.0;
		max += weight;
	}
	return max > 0 ? floor(sum / max * SHADES) / SHADES : 0;
}

static bool ends_in(const char *s, size_t len_bytes, const char *tail)
{
	size_t tail_bytes = strlen(tail);

	return len_bytes >= tail_bytes && !memcmp(s + len_bytes - tail_bytes, tail, tail_bytes);
}

static bool holds(const char *s, size_t len_bytes, const char *part)
{
	return memmem(s, len_bytes, part, strlen(part)) != NULL;
}

static bool java_name(const char *s, size_t len_bytes)
{
	static const char *const roots[] = { "java/", "javax/", "jdk/", "net/",
					     "org/",  "com/",	"io/",	"sun/" };

	if (len_bytes && s[0] == 'L') {
		s++;
		len_bytes--;
	}
	for (size_t i = 0; i < ARRAY_CNT(roots); i++)
		if (len_bytes > strlen(roots[i]) && !memcmp(s, roots[i], strlen(roots[i])))
			return true;
	return holds(s, len_bytes, ":::");
}

static enum flame_palette java_palette(const char *s, size_t len_bytes)
{
	if (ends_in(s, len_bytes, "_[j]"))
		return FLAME_GREEN;
	if (ends_in(s, len_bytes, "_[i]"))
		return FLAME_AQUA;
	if (java_name(s, len_bytes))
		return FLAME_GREEN;
	if (holds(s, len_bytes, "::"))
		return FLAME_YELLOW;
	return ends_in(s, len_bytes, "_[k]") ? FLAME_ORANGE : FLAME_RED;
}

static enum flame_palette js_palette(const char *s, size_t len_bytes)
{
	const char *slash = memchr(s, '/', len_bytes);

	if (ends_in(s, len_bytes, "_[j]"))
		return slash ? FLAME_GREEN : FLAME_AQUA;
	if (holds(s, len_bytes, "::"))
		return FLAME_YELLOW;
	if (slash && holds(slash, len_bytes - (size_t)(slash - s), ".js"))
		return FLAME_GREEN;
	if (memchr(s, ':', len_bytes))
		return FLAME_AQUA;
	if (len_bytes == 1 && s[0] == ' ')
		return FLAME_GREEN;
	return holds(s, len_bytes, "_[k]") ? FLAME_ORANGE : FLAME_RED;
}

static enum flame_palette perl_palette(const char *s, size_t len_bytes)
{
	if (holds(s, len_bytes, "::"))
		return FLAME_YELLOW;
	if (holds(s, len_bytes, "Perl") || holds(s, len_bytes, ".pl"))
		return FLAME_GREEN;
	return ends_in(s, len_bytes, "_[k]") ? FLAME_ORANGE : FLAME_RED;
}

/* The palettes for languages pick one by the name. */
static enum flame_palette plain_palette(enum flame_palette p, const char *s, size_t len_bytes)
{
	switch (p) {
	case FLAME_JAVA:
		return java_palette(s, len_bytes);
	case FLAME_JS:
		return js_palette(s, len_bytes);
	case FLAME_PERL:
		return perl_palette(s, len_bytes);
	case FLAME_WAKEUP:
		return FLAME_AQUA;
	case FLAME_CHAIN:
		return holds(s, len_bytes, "_[w]") ? FLAME_AQUA : FLAME_BLUE;
	default:
		return p;
	}
}

static bool is_delimiter(const char *s, size_t len_bytes)
{
	return len_bytes == 2 && !memcmp(s, "--", 2);
}

static uint32_t name_rgb(const char *s, size_t len_bytes, bool waker, const struct flame_opts *o)
{
	enum flame_palette p = plain_palette(o->palette, s, len_bytes);
	const struct ramp *r = &ramps[waker && o->palette == FLAME_CHAIN ? FLAME_AQUA : p];
	double v, v2;

	if (is_delimiter(s, len_bytes))
		return 0xa0a0a0;
	if (len_bytes == 1 && s[0] == '-')
		return 0xc8c8c8;
	v = o->hash ? prefix_shade(s, len_bytes) : shade_of(s, len_bytes, SHADES);
	v2 = o->random ? shade_of(s, len_bytes, 7) : v;
	return on_ramp(r, v, v2);
}

/* Functions of Python are lighter than native ones, in the same hue. */
static uint32_t lighten(uint32_t rgb)
{
	double c[3];

	for (int i = 0; i < 3; i++)
		c[i] = (rgb >> (16 - 8 * i) & 255) * 0.6 + 255 * 0.4;
	return pack(c);
}

/* Mixed frames: the mean of the classes' colours, paler the less one class prevails, so that full colours
 * stand out as answers. (A wait nearly always ends in a little runnable time: that must not fade it.) */
static uint32_t native_class_rgb(const struct flame_tree *t, uint32_t node, bool waker,
				 const struct flame_opts *o)
{
	const char *s = strtab_get(&t->names, t->nodes[node].name);
	size_t len_bytes = strtab_len_bytes(&t->names, t->nodes[node].name);
	enum flame_side side = o->width_by == FLAME_BY_BEFORE ? FLAME_BEFORE : FLAME_AFTER;
	static const double paper[3] = { 246, 243, 238 };
	double c[3] = { 0 }, total = flame_tree__total(t, node, side), top = 0;
	double shade = shade_of(s, len_bytes, CLASS_SHADES), strength;
	int top_cls = FLAME_NONE;

	for (int cls = 0; cls < FLAME_CLASS_MAX; cls++) {
		double part = flame_tree__class_total(t, node, side, cls);
		uint32_t rgb = cls ? flame_class_rgb(cls) : 0xd0d0d0;

		if (part > top) {
			top = part;
			top_cls = cls;
		}
		for (int i = 0; i < 3 && part > 0; i++)
			c[i] += part / total * (rgb >> (16 - 8 * i) & 255);
	}
	if (top_cls == FLAME_NONE || is_delimiter(s, len_bytes))
		return name_rgb(s, len_bytes, false, o);
	if (waker)
		return on_ramp(&ramps[FLAME_AQUA], shade, 0);
	if (top >= 0.995 * total)
		return on_ramp(&class_ramps[top_cls], shade, 0);
	strength = 0.5 + 0.5 * (top / total - 0.6) / 0.3;
	strength = strength < 0.5 ? 0.5 : strength > 1 ? 1 : round(strength * 10) / 10;
	for (int i = 0; i < 3; i++) {
		c[i] = round(c[i] / 12) * 12; /* few enough colours for a table */
		c[i] = paper[i] + strength * (c[i] - paper[i]) - 6 * shade;
	}
	return pack(c);
}

static uint32_t class_rgb(const struct flame_tree *t, uint32_t node, bool waker,
			  const struct flame_opts *o)
{
	uint32_t rgb = native_class_rgb(t, node, waker, o);
	const char *s = strtab_get(&t->names, t->nodes[node].name);

	return ends_in(s, strtab_len_bytes(&t->names, t->nodes[node].name), "_[p]") ? lighten(rgb) :
										      rgb;
}

uint32_t flame_change_rgb(double share, bool negate)
{
	static const double pale[2][3] = { { 250, 228, 224 }, { 224, 233, 250 } };
	static const double full[2][3] = { { 226, 70, 58 }, { 66, 120, 212 } };
	int hue = (share < 0) != negate;
	double depth = round(pow(fabs(share), 0.6) * 20) / 20; /* few colours, small changes seen */
	double c[3];

	if (!(fabs(share) > 0))
		return FLAME_RGB_UNCHANGED;
	for (int i = 0; i < 3; i++)
		c[i] = pale[hue][i] + depth * (full[hue][i] - pale[hue][i]);
	return pack(c);
}

static double self_change(const struct flame_tree *t, uint32_t node)
{
	return flame_tree__self(t, node, FLAME_AFTER) - flame_tree__self(t, node, FLAME_BEFORE);
}

static double subtree_change(const struct flame_tree *t, uint32_t node)
{
	return flame_tree__total(t, node, FLAME_AFTER) - flame_tree__total(t, node, FLAME_BEFORE);
}

static double max_change(const struct flame_tree *t,
			 double (*change)(const struct flame_tree *t, uint32_t node))
{
	double max = 0;

	for (size_t n = 0; n < t->node_cnt; n++)
		if (fabs(change(t, (uint32_t)n)) > max)
			max = fabs(change(t, (uint32_t)n));
	return max;
}

static uint32_t change_rgb(const struct flame_tree *t, uint32_t node, const struct flame_opts *o,
			   double max)
{
	double d = self_change(t, node);

	if (o->mask.self && (node >= o->mask.node_cnt || !o->mask.self[node]))
		return FLAME_RGB_INSIGNIFICANT;
	return flame_change_rgb(max > 0 ? d / max : 0, o->negate);
}

static uint16_t color_index(struct flame_colors *c, uint32_t rgb)
{
	size_t at = hash_u64(rgb) & (LOOKUP_CAP - 1);

	for (; c->lookup[at]; at = (at + 1) & (LOOKUP_CAP - 1))
		if (c->rgb[c->lookup[at] - 1] == rgb)
			return (uint16_t)(c->lookup[at] - 1);
	if (c->rgb_cnt == FLAME_COLOR_MAX) /* quantisation keeps pictures far below */
		return 0;
	c->rgb = xgrow(c->rgb, &c->rgb_cap, c->rgb_cnt + 1, sizeof(*c->rgb));
	c->rgb[c->rgb_cnt] = rgb;
	c->lookup[at] = (uint16_t)++c->rgb_cnt;
	return (uint16_t)(c->rgb_cnt - 1);
}

/* What happened to a frame with all above it; frames without children say it by their own colour. */
static void make_bars(struct flame_colors *c, const struct flame_tree *t,
		      const struct flame_layout *l, const struct flame_opts *o)
{
	double max = max_change(t, subtree_change);

	c->bar = xcalloc(l->box_cnt, sizeof(*c->bar));
	for (size_t i = 0; i < l->box_cnt; i++) {
		uint32_t node = l->boxes[i].node;
		double d = subtree_change(t, node);

		if (!t->nodes[node].first || !(fabs(d) > 0) ||
		    (o->mask.subtree && (node >= o->mask.node_cnt || !o->mask.subtree[node])))
			continue;
		c->bar[i] = (uint16_t)(1 + color_index(c, flame_change_rgb(d / max, o->negate)));
	}
}

void flame_colors__make(struct flame_colors *c, const struct flame_tree *t,
			const struct flame_layout *l, const struct flame_opts *o)
{
	bool classes = flame_tree__has_classes(t);
	bool change = flame_tree__has_side(t, FLAME_BEFORE);
	double max = change ? max_change(t, self_change) : 0;
	bool *waker; /* per depth: above a "--" */

	*c = (struct flame_colors){ 0 };
	c->of_box = xcalloc(l->box_cnt, sizeof(*c->of_box));
	c->lookup = xcalloc(LOOKUP_CAP, sizeof(*c->lookup));
	waker = xcalloc(l->depth_max + 2, sizeof(*waker));
	for (size_t i = 0; i < l->box_cnt; i++) {
		uint32_t node = l->boxes[i].node, depth = l->boxes[i].depth;
		uint32_t name = t->nodes[node].name;
		const char *s = strtab_get(&t->names, name);
		size_t len_bytes = strtab_len_bytes(&t->names, name);
		uint32_t rgb = change  ? change_rgb(t, node, o, max) :
			       classes ? class_rgb(t, node, waker[depth], o) :
					 name_rgb(s, len_bytes, waker[depth], o);

		c->of_box[i] = color_index(c, rgb);
		waker[depth + 1] = waker[depth] || is_delimiter(s, len_bytes);
	}
	free(waker);
	if (change)
		make_bars(c, t, l, o);
}

void flame_colors__fini(struct flame_colors *c)
{
	free(c->rgb);
	free(c->of_box);
	free(c->bar);
	free(c->lookup);
	*c = (struct flame_colors){ 0 };
}
