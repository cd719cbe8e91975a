// SPDX-License-Identifier: GPL-2.0
/* Shares of several next hops are as their weights, and few flows move when one goes. */
#include "../unit.h"
#include "../../../net6/core/spread.c"
#include "kernel.h"

#define STEP	BIT(16)	/* 2^15 hashes of 2^31 */

static void weigh(struct net6_spread_all *all, const unsigned int *weights, unsigned int n)
{
	unsigned int i;

	memset(all, 0, sizeof(*all));
	for (i = 0; i < n; i++) {
		struct net6_route_attrs attrs = { .hops = weights[i] - 1 };

		net6_spread_add(all, &attrs, 100 + i);
	}
	net6_spread_shares(all);
}

static unsigned int way(const struct net6_spread_all *all, u32 hash)
{
	return net6_spread_choose(all->hop, all->n, hash) - 100;
}

TEST(shares__as_weights)
{
	static const unsigned int weights[] = { 1, 2, 5, 256, 1 };
	unsigned int seen[5] = { 0 }, i;
	struct net6_spread_all all;
	u32 hash;

	weigh(&all, weights, 5);
	for (hash = 0; hash < BIT(31); hash += STEP)
		seen[way(&all, hash)]++;
	for (i = 0; i < 5; i++) {
		unsigned int wanted = weights[i] * (BIT(31) / STEP) / 265;

		EXPECT_GE(seen[i] + 1, wanted);
		EXPECT_LE(seen[i], wanted + 1);
	}
}

TEST(shares__no_hash_is_left_out)
{
	unsigned int weights[NET6_SPREAD_MAX], i;
	struct net6_spread_all all;

	for (i = 0; i < NET6_SPREAD_MAX; i++)
		weights[i] = 256;
	weigh(&all, weights, NET6_SPREAD_MAX);
	EXPECT_EQ(way(&all, 0), 0U);
	EXPECT_EQ(way(&all, BIT(31) - 1), NET6_SPREAD_MAX - 1);
	EXPECT_EQ(all.hop[NET6_SPREAD_MAX - 1].end, BIT(31));
}

TEST(shares__half_of_the_flows_stay)
{
	static const unsigned int weights[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct net6_spread_all eight, seven;
	unsigned int moved = 0;
	u32 hash;

	/* RFC 2992 section 3: when the last of N goes, (N^2 - N) / 2N(N - 1) of the others move. */
	weigh(&eight, weights, 8);
	weigh(&seven, weights, 7);
	for (hash = 0; hash < BIT(31); hash += STEP)
		moved += way(&eight, hash) != way(&seven, hash);
	EXPECT_LE(moved, BIT(31) / STEP / 2 + 8);
}
