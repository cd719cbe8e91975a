// SPDX-License-Identifier: GPL-2.0
/* Multicast Listener Discovery: which groups have something to do. Those that are asked for are in
 * a tree by time, those that were left in one by address, and those with a change to be told of in
 * a list. So nothing here goes through the groups that rest.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/random.h>

#include "mld.h"

#define NET6_MLD_DELAY_MAX_MS		(3600 * 1000U)	/* an answer later than that is none */

/**
 * net6_mld_plan_random() - a time at random
 * @ms: milliseconds, at most
 *
 * Context: any. Return: jiffies.
 */
unsigned long net6_mld_plan_random(u32 ms)
{
	return get_random_u32_below(msecs_to_jiffies(min(ms, NET6_MLD_DELAY_MAX_MS)) + 1);
}

static bool net6_mld_sooner(struct rb_node *a, const struct rb_node *b)
{
	return (s32)(rb_entry(a, struct net6_mld_group, node)->respond_at -
		     rb_entry(b, struct net6_mld_group, node)->respond_at) < 0;
}

/**
 * net6_mld_plan_done() - nobody asks for a group any more
 * @mld: the interface's
 * @group: joined, or left just now
 *
 * Context: nn->lock held.
 */
void net6_mld_plan_done(struct net6_mld *mld, struct net6_mld_group *group)
	__must_hold(&mld->iface->nn->lock)
{
	if (!RB_EMPTY_NODE(&group->node)) {
		rb_erase_cached(&group->node, &mld->answers);
		RB_CLEAR_NODE(&group->node);
	}
	group->asked = false;
	group->n_asked = 0;
}

/**
 * net6_mld_plan() - a group is asked for
 * @mld: the interface's
 * @group: joined
 * @at: jiffies when to answer, or sooner if that was planned (RFC 3810 6.2, rules 3 to 5)
 *
 * Context: nn->lock held.
 */
void net6_mld_plan(struct net6_mld *mld, struct net6_mld_group *group, unsigned long at)
	__must_hold(&mld->iface->nn->lock)
{
	group->asked = true;
	if (!RB_EMPTY_NODE(&group->node)) {
		if (!time_before(at, net6_mld_respond_at(group)))
			return;
		rb_erase_cached(&group->node, &mld->answers);
	}
	group->respond_at = at;
	rb_add_cached(&group->node, &mld->answers, net6_mld_sooner);
}

/**
 * net6_mld_plan_first() - the group that is to be answered for next
 * @mld: the interface's
 *
 * Context: nn->lock held. Return: NULL if none is asked for.
 */
struct net6_mld_group *net6_mld_plan_first(const struct net6_mld *mld)
	__must_hold(&mld->iface->nn->lock)
{
	return rb_entry_safe(rb_first_cached(&mld->answers), struct net6_mld_group, node);
}

/* In an order that takes few instructions: most groups differ in their last word. */
static int net6_mld_cmp(const void *key, const struct rb_node *node)
{
	const struct in6_addr *b = &rb_entry(node, struct net6_mld_group, node)->addr, *a = key;
	int i;

	for (i = 3; i >= 0; i--)
		if (a->s6_addr32[i] != b->s6_addr32[i])
			return (__force u32)a->s6_addr32[i] < (__force u32)b->s6_addr32[i] ? -1 : 1;
	return 0;
}

static bool net6_mld_less(struct rb_node *a, const struct rb_node *b)
{
	return net6_mld_cmp(&rb_entry(a, struct net6_mld_group, node)->addr, b) < 0;
}

/**
 * net6_mld_plan_find_left() - a group that nobody is a member of, but that is still told of
 * @mld: the interface's
 * @addr: the group
 *
 * Context: nn->lock held. Return: NULL if there is none.
 */
struct net6_mld_group *net6_mld_plan_find_left(const struct net6_mld *mld,
					       const struct in6_addr *addr)
	__must_hold(&mld->iface->nn->lock)
{
	return rb_entry_safe(rb_find(addr, &mld->left, net6_mld_cmp), struct net6_mld_group, node);
}

/**
 * net6_mld_plan_add_left() - a group has no member any more
 * @mld: the interface's
 * @group: nobody asks for it
 *
 * Context: nn->lock held.
 */
void net6_mld_plan_add_left(struct net6_mld *mld, struct net6_mld_group *group)
	__must_hold(&mld->iface->nn->lock)
{
	rb_add(&group->node, &mld->left, net6_mld_less);
	mld->n_left++;
}

/**
 * net6_mld_plan_del_left() - such a group has a member again, or goes
 * @mld: the interface's
 * @group: of net6_mld_plan_add_left()
 *
 * Context: nn->lock held.
 */
void net6_mld_plan_del_left(struct net6_mld *mld, struct net6_mld_group *group)
	__must_hold(&mld->iface->nn->lock)
{
	rb_erase(&group->node, &mld->left);
	RB_CLEAR_NODE(&group->node);
	mld->n_left--;
}

/**
 * net6_mld_plan_gather() - all groups into one list
 * @mld: the interface's
 *
 * None of them is being told of then. Context: nn->lock held.
 */
void net6_mld_plan_gather(struct net6_mld *mld)
	__must_hold(&mld->iface->nn->lock)
{
	struct net6_mld_group *group;

	list_for_each_entry(group, &mld->due, list)
		group->due = false;
	list_splice_tail_init(&mld->due, &mld->groups);
	list_splice_tail_init(&mld->changing, &mld->groups);
}
