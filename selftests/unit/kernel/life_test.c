// SPDX-License-Identifier: GPL-2.0
/* Lifetimes against RFC 4861 6.3.4 and RFC 4862 5.5.3: what is left of them at every
 * moment, in which order things end, and the two-hour rule. The worst: of many that live for ever
 * or long a few end, and many end at once.
 */
#include "../unit.h"
#include "../../../net6/core/life.c"
#include "kernel.h"

#define MANY		4000

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

static struct rb_root_cached ends = RB_ROOT_CACHED;
static unsigned int ended;
static u64 last;

static void end(struct net6_life *life)
{
	EXPECT_EQ(net6_life_left(life), 0);
	EXPECT_TRUE(life->until >= last);
	last = life->until;
	net6_life_forget(&ends, life);
	ended++;
}

static unsigned long expire(void)
{
	ended = 0;
	last = 0;
	return net6_life_expire(&ends, end);
}

TEST(left__of_a_life)
{
	struct net6_life life;

	jiffies = 1000;
	net6_life_begin(&ends, &life, NET6_LIFE_ROUTE, 10);
	EXPECT_EQ(life.of, NET6_LIFE_ROUTE);
	EXPECT_EQ(net6_life_left(&life), 10);
	jiffies = 1000 + HZ - 1;
	EXPECT_EQ(net6_life_left(&life), 10);
	jiffies = 1000 + HZ;
	EXPECT_EQ(net6_life_left(&life), 9);
	jiffies = 1000 + 10 * HZ - 1;
	EXPECT_EQ(net6_life_left(&life), 1);
	jiffies = 1000 + 10 * HZ;
	EXPECT_EQ(net6_life_left(&life), 0);
	net6_life_set(&ends, &life, INFINITE - 1);
	EXPECT_EQ(net6_life_left(&life), INFINITE - 1);
	net6_life_set(&ends, &life, INFINITE);
	EXPECT_EQ(net6_life_left(&life), INFINITE);
	EXPECT_TRUE(RB_EMPTY_NODE(&life.node));
}

TEST(expire__ends_what_is_over_and_tells_the_next)
{
	struct net6_life lives[4];
	unsigned int i;

	jiffies = 0;
	EXPECT_EQ(expire(), NET6_LIFE_NEVER);
	for (i = 0; i < 4; i++)
		net6_life_begin(&ends, &lives[i], NET6_LIFE_TOLD, i == 3 ? INFINITE : 10 * (i + 1));
	EXPECT_EQ(expire(), 10UL * HZ);
	jiffies = 10 * HZ;
	EXPECT_EQ(expire(), 10UL * HZ);
	EXPECT_EQ(ended, 1);
	net6_life_set(&ends, &lives[1], 100);
	jiffies = 30 * HZ;
	EXPECT_EQ(expire(), 80UL * HZ);
	EXPECT_EQ(ended, 1);
	jiffies = 1000000UL * HZ;
	EXPECT_EQ(expire(), NET6_LIFE_NEVER);
	EXPECT_EQ(ended, 1);
}

TEST(expire__only_those_that_end_are_visited)
{
	static struct net6_life lives[MANY], few[2];
	unsigned int i;

	jiffies = 0;
	/* Who is visited too soon fails in end(); who ends later is in no order. */
	for (i = 0; i < MANY; i++)
		net6_life_begin(&ends, &lives[i], NET6_LIFE_ROUTE,
				i % 2 ? INFINITE : 100 + i * 7919 % MANY);
	net6_life_begin(&ends, &few[0], NET6_LIFE_ROUTE, 2);
	net6_life_begin(&ends, &few[1], NET6_LIFE_ROUTE, 1);
	jiffies = 2 * HZ;
	EXPECT_EQ(expire(), 98UL * HZ);
	EXPECT_EQ(ended, 2);
	for (i = 0; i < MANY; i++)
		net6_life_forget(&ends, &lives[i]);
	EXPECT_TRUE(RB_EMPTY_ROOT(&ends.rb_root));
}

TEST(expire__many_at_once_in_turns)
{
	static struct net6_life lives[MANY];
	unsigned int i, n = 0;

	jiffies = 0;
	for (i = 0; i < MANY; i++)
		net6_life_begin(&ends, &lives[i], NET6_LIFE_TOLD, 1 + i % 5);
	jiffies = 5 * HZ;
	while (expire() != NET6_LIFE_NEVER) {
		EXPECT_EQ(ended, NET6_LIFE_ENDS);
		n += ended;
	}
	EXPECT_EQ(n + ended, MANY);
}

TEST(delay__is_early_for_what_is_far_off)
{
	EXPECT_EQ(net6_life_delay(0), 0);
	EXPECT_EQ(net6_life_delay(8 * HZ), 8 * HZ);
	EXPECT_EQ(net6_life_delay(80 * HZ), 70 * HZ);
}
