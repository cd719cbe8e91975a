// SPDX-License-Identifier: GPL-2.0
/* Which destinations that packets of others go to come into the cache. The worst: each packet of a
 * sweep has another one.
 */
#include "../unit.h"
#include "../../../net6/core/dest.c"
#include "kernel.h"

#define MAX_DESTS	4096

/* So many packets a tick, each to a new destination; those that came in, which stay. */
static unsigned int sweep(struct net6_net *nn, unsigned int ticks, unsigned int packets)
{
	unsigned int came = 0, tick, i;

	for (tick = 0; tick < ticks; tick++, jiffies++) {
		for (i = 0; i < packets; i++) {
			if (!net6_dest_admits(nn))
				continue;
			came++;
			if (atomic_read(&nn->dest_count) < MAX_DESTS)
				atomic_inc(&nn->dest_count);
		}
	}
	return came;
}

static void begin(struct net6_net *nn, unsigned int count)
{
	memset(nn, 0, sizeof(*nn));
	nn->limits.max_dests = MAX_DESTS;
	atomic_set(&nn->dest_count, count);
	jiffies = INITIAL_JIFFIES;
}

TEST(a_sweep__a_few_in_each_tick)
{
	static struct net6_net nn;

	/* 10^6 packets: the cache fills, then one a tick. */
	begin(&nn, 0);
	EXPECT_EQ(sweep(&nn, 100, 1000), 100 * NET6_DEST_ADMIT);
	EXPECT_EQ(sweep(&nn, 156, 1000), 156 * NET6_DEST_ADMIT);
	EXPECT_EQ(atomic_read(&nn.dest_count), MAX_DESTS);
	EXPECT_EQ(sweep(&nn, 744, 1000), 744 * NET6_DEST_ADMIT_FULL);
	/* Full in the middle of a tick: no more in it. */
	begin(&nn, MAX_DESTS - 3);
	EXPECT_EQ(sweep(&nn, 1, 1000), 3);
}

TEST(few_packets__all_come_in)
{
	static struct net6_net nn;

	begin(&nn, 0);
	EXPECT_EQ(sweep(&nn, 50, 1), 50);
	EXPECT_EQ(sweep(&nn, 50, NET6_DEST_ADMIT), 50 * NET6_DEST_ADMIT);
	/* Also behind a long time without one, and where ticks begin anew. */
	jiffies += HZ * 3600;
	EXPECT_EQ(sweep(&nn, 1, 100), NET6_DEST_ADMIT);
	jiffies = ULONG_MAX;
	EXPECT_EQ(sweep(&nn, 2, 100), 2 * NET6_DEST_ADMIT);
	begin(&nn, MAX_DESTS);
	EXPECT_EQ(sweep(&nn, 50, 1), 50);
}
