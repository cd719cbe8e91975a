// SPDX-License-Identifier: GPL-2.0
/* Which groups have something to do. The worst: thousands of them are asked for, each at another
 * time, and thousands were left.
 */
#include "../unit.h"
#include "../../../net6/core/mld_plan.c"
#include "kernel.h"

#define MANY	4000

static struct net6_mld mld;
static struct net6_mld_group groups[MANY];

static void begin(void)
{
	unsigned int i;

	memset(&mld, 0, sizeof(mld));
	INIT_LIST_HEAD(&mld.groups);
	INIT_LIST_HEAD(&mld.changing);
	INIT_LIST_HEAD(&mld.due);
	jiffies = INITIAL_JIFFIES;
	for (i = 0; i < MANY; i++) {
		memset(&groups[i], 0, sizeof(groups[i]));
		RB_CLEAR_NODE(&groups[i].node);
		groups[i].addr = unit_addr(i * 7919 % MANY + 1);
		list_add_tail(&groups[i].list, i % 3 ? &mld.groups :
			      i % 2 ? &mld.due : &mld.changing);
	}
}

TEST(size__of_a_group)
{
	EXPECT_TRUE(sizeof(struct net6_mld_group) <= 96);
}

TEST(asked__the_first_in_time_comes_first)
{
	unsigned long last;
	unsigned int i;

	begin();
	EXPECT_TRUE(!net6_mld_plan_first(&mld));
	/* The lower half of jiffies wraps between them. */
	for (i = 0; i < MANY; i++)
		net6_mld_plan(&mld, &groups[i], jiffies + i * 7919 % MANY * HZ);
	last = jiffies;
	for (i = 0; i < MANY; i++) {
		struct net6_mld_group *group = net6_mld_plan_first(&mld);

		EXPECT_EQ(net6_mld_respond_at(group), last);
		EXPECT_TRUE(group->asked);
		net6_mld_plan_done(&mld, group);
		EXPECT_TRUE(!group->asked);
		last += HZ;
	}
	EXPECT_TRUE(!net6_mld_plan_first(&mld));
}

TEST(asked__sooner_only)
{
	begin();
	net6_mld_plan(&mld, &groups[0], jiffies + 10);
	net6_mld_plan(&mld, &groups[1], jiffies + 5);
	EXPECT_TRUE(net6_mld_plan_first(&mld) == &groups[1]);
	net6_mld_plan(&mld, &groups[1], jiffies + 20);
	EXPECT_EQ(net6_mld_respond_at(&groups[1]), jiffies + 5);
	net6_mld_plan(&mld, &groups[0], jiffies + 1);
	EXPECT_TRUE(net6_mld_plan_first(&mld) == &groups[0]);
	/* What was due remains so, however late it is. */
	jiffies += HZ * 3600;
	EXPECT_TRUE(time_before(net6_mld_respond_at(&groups[0]), jiffies));
	net6_mld_plan_done(&mld, &groups[0]);
	net6_mld_plan_done(&mld, &groups[0]);
	EXPECT_TRUE(net6_mld_plan_first(&mld) == &groups[1]);
}

TEST(left__found_by_address)
{
	struct in6_addr none = unit_addr(MANY + 1);
	unsigned int i;

	begin();
	for (i = 0; i < MANY; i++)
		net6_mld_plan_add_left(&mld, &groups[i]);
	EXPECT_EQ(mld.n_left, MANY);
	EXPECT_TRUE(!net6_mld_plan_find_left(&mld, &none));
	for (i = 0; i < MANY; i += 2)
		net6_mld_plan_del_left(&mld, &groups[i]);
	for (i = 0; i < MANY; i++)
		EXPECT_TRUE(net6_mld_plan_find_left(&mld, &groups[i].addr) ==
			    (i % 2 ? &groups[i] : NULL));
	EXPECT_EQ(mld.n_left, MANY / 2);
}

TEST(gather__all_and_none_is_due)
{
	struct net6_mld_group *group;
	unsigned int n = 0;

	begin();
	list_for_each_entry(group, &mld.due, list)
		group->due = true;
	net6_mld_plan_gather(&mld);
	list_for_each_entry(group, &mld.groups, list) {
		EXPECT_TRUE(!group->due);
		n++;
	}
	EXPECT_EQ(n, MANY);
	EXPECT_TRUE(list_empty(&mld.due) && list_empty(&mld.changing));
}
