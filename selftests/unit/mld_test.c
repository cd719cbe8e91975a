// SPDX-License-Identifier: GPL-2.0
/* MLD's messages, and what is told of a group when members come, go and change their
 * filters: RFC 3810 sections 4.2, 5.1, 6.1 and 6.3.
 */
#include "unit.h"
#include "../../net6/core/mld_msg.c"
#include "../../net6/core/mld_group.c"

static struct in6_addr source(u8 n)
{
	struct in6_addr addr = { .s6_addr = { 0x20, 0x01, [15] = n } };

	return addr;
}

/* A filter of sources with these numbers, ended by 0. Good until the next three. */
static const struct net6_mld_filter *filter(enum net6_mld_mode mode, const char *numbers)
{
	static struct in6_addr sources[4][NET6_MLD_SOURCES_MAX + 1];
	static struct net6_mld_filter filters[4];
	static unsigned int turn;
	struct net6_mld_filter *f = &filters[turn];
	unsigned int n;

	for (n = 0; numbers[n]; n++)
		sources[turn][n] = source(numbers[n]);
	*f = (struct net6_mld_filter){ .mode = mode, .n = n, .sources = sources[turn] };
	turn = (turn + 1) % 4;
	return f;
}

#define IN(numbers)	filter(NET6_MLD_INCLUDE, numbers)
#define EX(numbers)	filter(NET6_MLD_EXCLUDE, numbers)

static struct net6_mld_group *group_new(void)
{
	return calloc(1, sizeof(struct net6_mld_group));
}

/* "TO_EX 1 2; ALLOW 3" of what a report says. */
static char *text(const u8 *buf, unsigned int len)
{
	static const char *const names[] = {
		"", "IS_IN", "IS_EX", "TO_IN", "TO_EX", "ALLOW", "BLOCK"
	};
	static char out[512];
	char *to = out;

	*to = 0;
	while (len >= NET6_MLD_RECORD_LEN) {
		unsigned int i, n = buf[2] << 8 | buf[3];

		to += sprintf(to, "%s%s", to == out ? "" : "; ", names[buf[0]]);
		for (i = 0; i < n; i++)
			to += sprintf(to, " %u", buf[NET6_MLD_RECORD_LEN + 16 * i + 15]);
		len -= NET6_MLD_RECORD_LEN + 16 * n;
		buf += NET6_MLD_RECORD_LEN + 16 * n;
	}
	return out;
}

static char *change(struct net6_mld_group *group)
{
	unsigned int records = 0;
	bool full = false;
	u8 buf[1400];

	return text(buf, net6_mld_put_change(group, buf, sizeof(buf), &records, &full));
}

static char *current(struct net6_mld_group *group)
{
	unsigned int records = 0;
	bool full = false;
	u8 buf[1400];

	return text(buf, net6_mld_put_current(group, buf, sizeof(buf), &records, &full));
}

static void settled(struct net6_mld_group *group)
{
	while (net6_mld_group_pending(group))
		change(group);
}

TEST(decode__numbers_and_floats)
{
	EXPECT_EQ(net6_mld_decode(32767, 12), 32767);
	EXPECT_EQ(net6_mld_decode(0x8000, 12), 32768);
	EXPECT_EQ(net6_mld_decode(0xffff, 12), (0xfff | 0x1000) << 10);
	EXPECT_EQ(net6_mld_decode(127, 4), 127);
	EXPECT_EQ(net6_mld_decode(0x80, 4), 128);
	EXPECT_EQ(net6_mld_decode(0xff, 4), (0xf | 0x10) << 10);
}

TEST(query_parse__lengths)
{
	u8 msg[64] = { NET6_MLD_QUERY, [4] = 0x27, [5] = 0x10, [24] = 0xfb, [25] = 125 };
	struct net6_mld_query q;

	EXPECT_EQ(net6_mld_query_parse(msg, 23, &q), -EINVAL);
	EXPECT_EQ(net6_mld_query_parse(msg, 24, &q), 0);
	EXPECT_EQ(q.v1, true);
	EXPECT_EQ(q.delay_ms, 10000);
	EXPECT_EQ(net6_mld_query_parse(msg, 26, &q), -EINVAL);
	EXPECT_EQ(net6_mld_query_parse(msg, 28, &q), 0);
	EXPECT_EQ(q.v1, false);
	EXPECT_EQ(q.robustness, 3);
	EXPECT_EQ(q.interval, 125);
	msg[27] = 2;
	EXPECT_EQ(net6_mld_query_parse(msg, 59, &q), -EINVAL);
	EXPECT_EQ(net6_mld_query_parse(msg, 60, &q), 0);
	EXPECT_EQ(q.n_sources, 2);
	/* "additional data beyond the fields described here MUST be ignored" (5.1.12) */
	EXPECT_EQ(net6_mld_query_parse(msg, 64, &q), 0);
}

TEST(change__join_and_leave_are_told_twice)
{
	struct net6_mld_group *g = group_new();

	EXPECT_EQ(net6_mld_group_change(g, NULL, EX(""), 2), 0);
	EXPECT_STR(change(g), "TO_EX");
	EXPECT_STR(change(g), "TO_EX");
	EXPECT_EQ(net6_mld_group_pending(g), false);
	net6_mld_group_change(g, NULL, EX(""), 2);
	EXPECT_EQ(net6_mld_group_pending(g), false);
	net6_mld_group_change(g, EX(""), NULL, 2);
	EXPECT_EQ(net6_mld_group_pending(g), false);
	net6_mld_group_change(g, EX(""), NULL, 2);
	EXPECT_EQ(net6_mld_group_joined(g), false);
	EXPECT_STR(change(g), "TO_IN");
	EXPECT_STR(change(g), "TO_IN");
	EXPECT_EQ(net6_mld_group_pending(g), false);
	net6_mld_group_destroy(g);
}

TEST(change__sources_of_include_members_add_up)
{
	struct net6_mld_group *g = group_new();

	net6_mld_group_change(g, NULL, IN("\1\2"), 1);
	EXPECT_STR(change(g), "ALLOW 1 2");
	net6_mld_group_change(g, NULL, IN("\2\3"), 1);
	EXPECT_STR(change(g), "ALLOW 3");
	net6_mld_group_change(g, IN("\1\2"), IN("\2"), 1);
	EXPECT_STR(change(g), "BLOCK 1");
	net6_mld_group_change(g, IN("\2"), IN("\5"), 1);
	EXPECT_STR(change(g), "ALLOW 5");
	net6_mld_group_change(g, IN("\2\3"), NULL, 1);
	EXPECT_STR(change(g), "BLOCK 2 3");
	net6_mld_group_change(g, IN("\5"), IN("\6"), 1);
	EXPECT_STR(change(g), "ALLOW 6; BLOCK 5");
	net6_mld_group_destroy(g);
}

/* RFC 3810 4.2: exclude what all exclude and nobody includes. */
TEST(change__merge_of_exclude_and_include_members)
{
	struct net6_mld_group *g = group_new();

	net6_mld_group_change(g, NULL, EX("\1\2\3\4"), 1);
	EXPECT_STR(change(g), "TO_EX 1 2 3 4");
	net6_mld_group_change(g, NULL, EX("\2\3\4\5"), 1);
	EXPECT_STR(change(g), "ALLOW 1");
	net6_mld_group_change(g, NULL, IN("\4\6"), 1);
	EXPECT_STR(change(g), "ALLOW 4");
	g->asked = true;
	EXPECT_STR(current(g), "IS_EX 2 3");
	net6_mld_group_change(g, EX("\1\2\3\4"), NULL, 1);
	EXPECT_STR(change(g), "BLOCK 5");
	net6_mld_group_change(g, EX("\2\3\4\5"), NULL, 1);
	EXPECT_STR(change(g), "TO_IN 4 6");
	net6_mld_group_destroy(g);
}

/* RFC 3810 6.1: a change of mode goes first, with the list as it is by then. */
TEST(change__source_changes_during_a_mode_change)
{
	struct net6_mld_group *g = group_new();

	net6_mld_group_change(g, NULL, EX("\1"), 2);
	EXPECT_STR(change(g), "TO_EX 1");
	net6_mld_group_change(g, EX("\1"), EX("\2"), 2);
	EXPECT_STR(change(g), "TO_EX 2");
	EXPECT_STR(change(g), "ALLOW 1; BLOCK 2");
	EXPECT_STR(change(g), "ALLOW 1; BLOCK 2");
	EXPECT_EQ(net6_mld_group_pending(g), false);
	EXPECT_EQ(g->n_sources, 1);
	net6_mld_group_destroy(g);
}

TEST(change__bounded_sources)
{
	struct net6_mld_group *g = group_new();
	struct in6_addr many[NET6_MLD_SOURCES_MAX];
	struct net6_mld_filter all = { NET6_MLD_INCLUDE, NET6_MLD_SOURCES_MAX, many };
	unsigned int i;

	for (i = 0; i < NET6_MLD_SOURCES_MAX; i++)
		many[i] = source(i + 1);
	EXPECT_EQ(net6_mld_group_change(g, NULL, &all, 2), 0);
	EXPECT_EQ(net6_mld_group_change(g, NULL, IN("\300"), 2), -ENOBUFS);
	EXPECT_EQ(g->users[NET6_MLD_INCLUDE], 1);
	EXPECT_EQ(g->n_sources, NET6_MLD_SOURCES_MAX);
	settled(g);
	net6_mld_group_change(g, &all, NULL, 1);
	EXPECT_EQ(net6_mld_group_change(g, NULL, IN("\300"), 1), -ENOBUFS);
	settled(g);
	EXPECT_EQ(net6_mld_group_change(g, NULL, IN("\300"), 1), 0);
	EXPECT_STR(change(g), "ALLOW 192");
	net6_mld_group_destroy(g);
}

TEST(current__answers_to_queries)
{
	struct net6_mld_group *g = group_new();
	struct in6_addr asked[3] = { source(1), source(2), source(9) };

	net6_mld_group_change(g, NULL, EX("\1"), 1);
	settled(g);
	net6_mld_group_ask(g, (u8 *)asked, 3);
	EXPECT_STR(current(g), "IS_IN 2 9");
	EXPECT_EQ(g->asked, false);
	net6_mld_group_ask(g, (u8 *)asked, 1);
	EXPECT_STR(current(g), "");
	/* rule 4: asked for as such beats sources, whichever comes first */
	net6_mld_group_ask(g, (u8 *)asked, 2);
	net6_mld_group_ask(g, NULL, 0);
	EXPECT_STR(current(g), "IS_EX 1");
	net6_mld_group_ask(g, NULL, 0);
	net6_mld_group_ask(g, (u8 *)asked, 2);
	EXPECT_STR(current(g), "IS_EX 1");
	/* rule 5: sources add up */
	net6_mld_group_ask(g, (u8 *)(asked + 1), 1);
	net6_mld_group_ask(g, (u8 *)(asked + 1), 2);
	EXPECT_STR(current(g), "IS_IN 2 9");

	net6_mld_group_change(g, EX("\1"), IN("\2\3"), 1);
	settled(g);
	net6_mld_group_ask(g, (u8 *)asked, 3);
	EXPECT_STR(current(g), "IS_IN 2");
	net6_mld_group_ask(g, NULL, 0);
	EXPECT_STR(current(g), "IS_IN 2 3");
	net6_mld_group_destroy(g);
}

TEST(put__nothing_is_lost_when_the_report_is_full)
{
	struct net6_mld_group *g = group_new();
	unsigned int records = 0;
	bool full = false;
	u8 buf[40];

	net6_mld_group_change(g, NULL, EX("\1\2"), 1);
	EXPECT_EQ(net6_mld_put_change(g, buf, sizeof(buf), &records, &full), 0);
	EXPECT_EQ(full, true);
	EXPECT_EQ(records, 0);
	EXPECT_EQ(net6_mld_group_pending(g), true);
	EXPECT_STR(change(g), "TO_EX 1 2");
	net6_mld_group_destroy(g);
}
