// SPDX-License-Identifier: GPL-2.0
/* So many a second, and so many at once. */
#include "unit.h"
#include "../../khttpd/http/rate.h"

#define MS	1000000ULL

/* How many of @tries succeed at @now? */
static unsigned int take(u64 *due, u64 now, u32 rate, u32 burst, unsigned int tries)
{
	unsigned int n = 0;

	while (tries--)
		n += khttpd_rate_take(due, now, rate, burst);
	return n;
}

TEST(burst_then_rate)
{
	u64 due = 0, now = 12345 * MS;
	unsigned int n = 0, i;

	EXPECT_EQ(take(&due, now, 10, 5, 100), 5);
	EXPECT_EQ(take(&due, now + 99 * MS, 10, 5, 100), 0);
	EXPECT_EQ(take(&due, now + 101 * MS, 10, 5, 100), 1);
	EXPECT_EQ(take(&due, now + 401 * MS, 10, 5, 100), 3);
	/* Asking all the time gives the rate. */
	for (i = 0; i < 10000; i++)
		n += khttpd_rate_take(&due, now + 401 * MS + i * MS, 10, 5);
	EXPECT_TRUE(n >= 99 && n <= 101);
	/* A long pause gives no more than the burst. */
	EXPECT_EQ(take(&due, now + 100000 * MS, 10, 5, 100), 5);
}

TEST(one_at_a_time)
{
	u64 due = 0;

	EXPECT_EQ(take(&due, MS, 1000, 1, 10), 1);
	EXPECT_EQ(take(&due, 3 * MS, 1000, 1, 10), 1);
}

TEST(limits_change)
{
	u64 due = 0, now = 5 * MS;

	EXPECT_EQ(take(&due, now, 1, 1000, 2000), 1000);
	/* The new burst, not what was owed by the old one. */
	EXPECT_EQ(take(&due, now, 1, 2, 10), 0);
	EXPECT_EQ(take(&due, now + 1001 * MS, 1, 2, 10), 1);
	now += 1001 * MS;
	EXPECT_TRUE(khttpd_rate_take(&due, now + 1002 * MS, 1, 1000));
	EXPECT_EQ(take(&due, now + 1002 * MS, 4000000000u, 4000000000u, 1000), 1000);
}

TEST(undone)
{
	u64 due = 0, now = 5 * MS;
	int i;

	EXPECT_EQ(take(&due, now, 10, 5, 100), 5);
	khttpd_rate_undo(&due, 10);
	EXPECT_EQ(take(&due, now, 10, 5, 100), 1);
	for (i = 0; i < 1000; i++) {
		EXPECT_TRUE(khttpd_rate_take(&due, now + 1000 * MS, 10, 5));
		khttpd_rate_undo(&due, 10);
	}
	/* More than was taken is nothing. */
	for (i = 0; i < 100; i++)
		khttpd_rate_undo(&due, 10);
	EXPECT_EQ(take(&due, now + 1000 * MS, 10, 5, 100), 5);
}

TEST(forgotten)
{
	u64 due = 0;

	EXPECT_TRUE(khttpd_rate_rested(due, 1));
	EXPECT_TRUE(khttpd_rate_take(&due, 10 * MS, 10, 5));
	EXPECT_FALSE(khttpd_rate_rested(due, 10 * MS));
	EXPECT_FALSE(khttpd_rate_rested(due, 100 * MS));
	EXPECT_TRUE(khttpd_rate_rested(due, 111 * MS));
}
