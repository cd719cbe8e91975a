// SPDX-License-Identifier: GPL-2.0
/* Metrics of a route, in the words of ip-route(8). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

enum how {
	HOW_NUMBER,
	HOW_TIME,	/* milliseconds, in fractions of one */
	HOW_FEATURES,
	HOW_NAME,
};

/**
 * struct word - a metric
 * @name: what it is called
 * @attr: NET6_A_METRICS_*
 * @how: how its value is written
 * @fraction: of a millisecond that the kernel counts in
 * @lock: "lock" may stand before the value; without that a time is locked anyhow
 */
static const struct word {
	const char	*name;
	uint16_t	attr;
	enum how	how;
	unsigned int	fraction;
	bool		lock;
} words[] = {
	{ "mtu", NET6_A_METRICS_MTU, HOW_NUMBER, 0, true },
	{ "window", NET6_A_METRICS_WINDOW, HOW_NUMBER, 0, true },
	{ "rtt", NET6_A_METRICS_RTT, HOW_TIME, 8, true },
	{ "rttvar", NET6_A_METRICS_RTTVAR, HOW_TIME, 4, true },
	{ "ssthresh", NET6_A_METRICS_SSTHRESH, HOW_NUMBER, 0, true },
	{ "cwnd", NET6_A_METRICS_CWND, HOW_NUMBER, 0, true },
	{ "advmss", NET6_A_METRICS_ADVMSS, HOW_NUMBER, 0, true },
	{ "reordering", NET6_A_METRICS_REORDERING, HOW_NUMBER, 0, true },
	{ "hoplimit", NET6_A_METRICS_HOPLIMIT, HOW_NUMBER, 0, false },
	{ "initcwnd", NET6_A_METRICS_INITCWND, HOW_NUMBER, 0, false },
	{ "features", NET6_A_METRICS_FEATURES, HOW_FEATURES, 0, false },
	{ "rto_min", NET6_A_METRICS_RTO_MIN, HOW_TIME, 1, false },
	{ "initrwnd", NET6_A_METRICS_INITRWND, HOW_NUMBER, 0, false },
	{ "quickack", NET6_A_METRICS_QUICKACK, HOW_NUMBER, 0, false },
	{ "congctl", NET6_A_METRICS_CC_ALGO, HOW_NAME, 0, true },
	{ "fastopen_no_cookie", NET6_A_METRICS_FASTOPEN_NO_COOKIE, HOW_NUMBER, 0, false },
};

static const struct word *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(name, words[i].name))
			return &words[i];
	return NULL;
}

/* N, Nms or Ns */
static uint32_t milliseconds(const char *text, const struct word *word)
{
	char *end;
	double value = strtod(text, &end);

	if (!strcmp(end, "s") || !strcmp(end, "sec") || !strcmp(end, "secs"))
		value *= 1000;
	else if (*end && strcmp(end, "ms") && strcmp(end, "msec") && strcmp(end, "msecs"))
		end = (char *)text;
	if (end == text || value < 0 || value * word->fraction > UINT32_MAX)
		die("%s: '%s' is no time", word->name, text);
	return value * word->fraction;
}

static uint32_t value_of(const struct word *word, const char *text)
{
	if (word->how == HOW_TIME)
		return milliseconds(text, word);
	if (word->how == HOW_NUMBER)
		return number(text, word->name);
	if (strcmp(text, "ecn"))
		die("of features there is ecn, not '%s'", text);
	return 1;
}

/* Takes the metrics out of the words; returns how many words are left. */
int metrics_take(int argc, char **argv, struct metrics *m)
{
	const struct word *word;
	int from = 0, to = 0;

	memset(m, 0, sizeof(*m));
	while (from < argc) {
		word = find(argv[from]);
		if (!word || to % 2) {
			argv[to++] = argv[from++];
			continue;
		}
		from++;
		if (word->lock && from < argc && !strcmp(argv[from], "lock")) {
			m->value[NET6_A_METRICS_LOCK] |= 1U << word->attr;
			from++;
		} else if (word->attr == NET6_A_METRICS_RTO_MIN) {
			m->value[NET6_A_METRICS_LOCK] |= 1U << word->attr;
		}
		if (from == argc)
			die("what %s?", word->name);
		m->any = true;
		if (word->how == HOW_NAME)
			m->congctl = argv[from++];
		else
			m->value[word->attr] = value_of(word, argv[from++]);
	}
	return to;
}

void metrics_put(struct nlmsghdr *nlh, uint16_t type, const struct metrics *m)
{
	struct nlattr *nest;
	uint16_t i;

	if (!m->any)
		return;
	nest = mnl_attr_nest_start(nlh, type);
	for (i = 1; i <= NET6_A_METRICS_MAX; i++)
		if (m->value[i])
			mnl_attr_put_u32(nlh, i, m->value[i]);
	if (m->congctl)
		mnl_attr_put_strz(nlh, NET6_A_METRICS_CC_ALGO, m->congctl);
	mnl_attr_nest_end(nlh, nest);
}

static void say(FILE *to, const struct word *word, const struct nlattr *attr)
{
	uint32_t value = ctl_u32(attr);

	if (word->how == HOW_NAME)
		fprintf(to, "%.*s", (int)mnl_attr_get_payload_len(attr),
			(const char *)mnl_attr_get_payload(attr));
	else if (word->how == HOW_FEATURES && value == 1)
		fputs("ecn", to);
	else if (word->how == HOW_TIME && value % word->fraction)
		fprintf(to, "%.3fms", (double)value / word->fraction);
	else if (word->how == HOW_TIME)
		fprintf(to, "%ums", value / word->fraction);
	else
		fprintf(to, "%u", value);
}

/* The words that metrics_take() understands. */
void metrics_text(FILE *to, const struct nlattr *nest)
{
	const struct nlattr *attr, *found[NET6_A_METRICS_MAX + 1] = { NULL };
	const char *between = "";
	uint32_t lock;
	size_t i;

	if (!nest)
		return;
	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) <= NET6_A_METRICS_MAX)
			found[mnl_attr_get_type(attr)] = attr;
	lock = ctl_u32(found[NET6_A_METRICS_LOCK]);
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!found[words[i].attr])
			continue;
		fprintf(to, "%s%s ", between, words[i].name);
		if (words[i].lock && lock & (1U << words[i].attr))
			fputs("lock ", to);
		say(to, &words[i], found[words[i].attr]);
		between = " ";
	}
}
