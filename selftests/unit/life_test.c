// SPDX-License-Identifier: GPL-2.0
/* Lifetimes against RFC 4861 6.3.4 and RFC 4862 5.5.3: what is left of them at every
 * moment, in which order things end, and the two-hour rule.
 */
#include "unit.h"
#include <linux/array_size.h>
#include "../../net6/core/life.c"

#define INFINITE	NET6_LIFETIME_INFINITE
#define TWO_HOURS	7200

static const struct {
	const char *name;
	u32 left, told, renewed;
} rows[] = {
	{ "longer than two hours is taken", 100, 7201, 7201 },
	{ "longer than two hours is taken, though shorter than what is left", 90000, 7201, 7201 },
	{ "longer than what is left is taken", 100, 101, 101 },
	{ "two hours are longer than what is left", 7199, 7200, 7200 },
	{ "for ever is taken", 100, INFINITE, INFINITE },
	{ "what is left is told again", 100, 100, 100 },
	{ "shorter than what is left, below two hours: kept", 7000, 6999, 7000 },
	{ "zero does not end what has minutes left", 600, 0, 600 },
	{ "zero does not end what has two hours left", 7200, 0, 7200 },
	{ "zero leaves two hours of more", 7201, 0, 7200 },
	{ "a minute leaves two hours of a day", 86400, 60, 7200 },
	{ "two hours leave two hours of a day", 86400, 7200, 7200 },
	{ "zero leaves two hours of for ever", INFINITE, 0, 7200 },
	{ "for ever stays so", INFINITE, INFINITE, INFINITE },
	{ "nothing is left and nothing told", 0, 0, 0 },
	{ "nothing is left: any is taken", 0, 1, 1 },
};

TEST(renewed__rows_of_rfc_4862)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		unit_case(rows[i].name);
		EXPECT_EQ(net6_lifetime_renewed(rows[i].left, rows[i].told), rows[i].renewed);
	}
}

/* Who is not authenticated can neither end an address within two hours nor keep one from
 * living as long as a router tells.
 */
TEST(renewed__never_below_the_lesser_of_two_hours_and_what_is_left)
{
	static const u32 values[] = { 0, 1, 59, 3600, 7199, 7200, 7201, 7202, 86400,
				      0x7fffffff, 0x80000000, INFINITE - 1, INFINITE };
	unsigned int i, j, n = ARRAY_SIZE(values);

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++) {
			u32 left = values[i], told = values[j];
			u32 renewed = net6_lifetime_renewed(left, told);

			EXPECT_TRUE(renewed >= told);
			EXPECT_TRUE(renewed >= (left < TWO_HOURS ? left : TWO_HOURS));
			EXPECT_TRUE(renewed == told || renewed <= TWO_HOURS);
		}
}

TEST(left__counts_whole_seconds_down_to_zero)
{
	jiffies = 1000;
	EXPECT_EQ(net6_lifetime_left(10, 1000), 10);
	jiffies = 1000 + HZ - 1;
	EXPECT_EQ(net6_lifetime_left(10, 1000), 10);
	jiffies = 1000 + HZ;
	EXPECT_EQ(net6_lifetime_left(10, 1000), 9);
	jiffies = 1000 + 10 * HZ - 1;
	EXPECT_EQ(net6_lifetime_left(10, 1000), 1);
	jiffies = 1000 + 10 * HZ;
	EXPECT_EQ(net6_lifetime_left(10, 1000), 0);
	jiffies = 1000 + 1000000UL * HZ;
	EXPECT_EQ(net6_lifetime_left(10, 1000), 0);
	EXPECT_EQ(net6_lifetime_left(INFINITE, 1000), INFINITE);
	EXPECT_EQ(net6_lifetime_left(INFINITE - 1, 1000), INFINITE - 1 - 1000000);
}

TEST(left__the_clock_may_wrap)
{
	jiffies = 5 * HZ;
	EXPECT_EQ(net6_lifetime_left(10, -2UL * HZ), 3);
}

static unsigned int ended;

static void end(struct net6_life *life)
{
	list_del(&life->list);
	ended++;
}

TEST(expire__ends_what_is_over_and_tells_the_next)
{
	struct net6_life lives[4] = {};
	struct list_head head;
	unsigned int i;

	INIT_LIST_HEAD(&head);
	jiffies = 0;
	ended = 0;
	EXPECT_EQ(net6_life_expire(&head, end), NET6_LIFE_NEVER);
	for (i = 0; i < 4; i++) {
		net6_life_set(&lives[i], i == 3 ? INFINITE : 10 * (i + 1));
		list_add_tail(&lives[i].list, &head);
	}
	EXPECT_EQ(net6_life_expire(&head, end), 10UL * HZ + 1);
	jiffies = 10 * HZ + 1;
	EXPECT_EQ(net6_life_expire(&head, end), 10UL * HZ + 1);
	EXPECT_EQ(ended, 1);
	net6_life_set(&lives[1], 100);
	jiffies = 30 * HZ + 2;
	EXPECT_EQ(net6_life_expire(&head, end), 80UL * HZ + 1);
	EXPECT_EQ(ended, 2);
	jiffies = 1000000UL * HZ;
	EXPECT_EQ(net6_life_expire(&head, end), NET6_LIFE_NEVER);
	EXPECT_EQ(ended, 3);
}

TEST(delay__is_early_for_what_is_far_off)
{
	EXPECT_EQ(net6_life_delay(0), 0);
	EXPECT_EQ(net6_life_delay(8 * HZ), 8 * HZ);
	EXPECT_EQ(net6_life_delay(80 * HZ), 70 * HZ);
}
