// SPDX-License-Identifier: GPL-2.0
/* Multicast Listener Discovery as a listener: RFC 3810, falling back to RFC 2710 where
 * the querier speaks that. A lightweight querier (RFC 5790) needs nothing else. When to
 * tell is decided here and in mld_query.c, and kept in mld_plan.c; what to tell in mld_group.c.
 * mld_report.c tells it. No querier.
 */
#include <linux/slab.h>
#include <net/ipv6.h>

#include "../compat/timer.h"
#include "addr.h"
#include "mld.h"

/* Groups per interface that are only kept for the reports that say they are left. */
#define NET6_MLD_LEFT_MAX		256

const struct net6_mld_filter net6_mld_any = { .mode = NET6_MLD_EXCLUDE };

/**
 * net6_mld_runs() - are routers told of its groups?
 * @iface: interface
 *
 * Context: any.
 */
bool net6_mld_runs(const struct net6_iface *iface)
{
	return (iface->ops->flags & NET6_LINK_MULTICAST) && !net6_iface_is_loopback(iface);
}

/**
 * net6_mld_robustness() - the Robustness Variable (RFC 3810 9.1)
 * @iface: interface
 *
 * Context: nn->lock held. Return: the querier's, or the administrator's if it tells none.
 */
u8 net6_mld_robustness(const struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	return iface->mld.robustness ?: READ_ONCE(iface->nn->settings.mld_qrv);
}

/* RFC 3810 section 6: nothing is told about ff02::1, and about groups that no router forwards to
 * (scopes 0 and 1).
 */
static bool net6_mld_told_of(const struct in6_addr *addr)
{
	return !ipv6_addr_equal(addr, &in6addr_linklocal_allnodes) &&
	       IPV6_ADDR_MC_SCOPE(addr) > IPV6_ADDR_SCOPE_NODELOCAL;
}

/**
 * net6_mld_find_group() - a group that somebody is a member of
 * @iface: interface
 * @addr: the group
 *
 * Context: nn->lock held. Return: NULL if there is none.
 */
struct net6_mld_group *net6_mld_find_group(struct net6_iface *iface, const struct in6_addr *addr)
	__must_hold(&iface->nn->lock)
{
	const struct net6_accept *accept = net6_accept_own(iface, addr, NET6_ACCEPT_MULTICAST);

	return accept ? accept->mld : NULL;
}

/**
 * net6_mld_drop_group() - forget a group
 * @mld: the interface's
 * @group: freed
 *
 * Context: nn->lock held.
 */
void net6_mld_drop_group(struct net6_mld *mld, struct net6_mld_group *group)
	__must_hold(&mld->iface->nn->lock)
{
	if (net6_mld_group_joined(group))
		net6_mld_plan_done(mld, group);
	else if (!RB_EMPTY_NODE(&group->node))
		net6_mld_plan_del_left(mld, group);
	list_del(&group->list);
	net6_mld_group_destroy(group);
}

/**
 * net6_mld_arm() - set the timer to the next time at which there is something to do
 * @iface: interface
 *
 * Context: nn->lock held.
 */
void net6_mld_arm(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group;
	unsigned long next = 0;
	bool any = false;

	lockdep_assert_held(&iface->nn->lock);
	if (!list_empty(&mld->due) || !list_empty(&mld->changing)) {
		next = list_empty(&mld->due) ? mld->change_at : jiffies;
		any = true;
	}
	if (mld->asked && (!any || time_before(mld->answer_at, next))) {
		next = mld->answer_at;
		any = true;
	}
	group = net6_mld_plan_first(mld);
	if (group && (!any || time_before(net6_mld_respond_at(group), next))) {
		next = net6_mld_respond_at(group);
		any = true;
	}
	if (any && net6_iface_usable(iface) && !test_bit(NET6_IFACE_DEAD, &iface->flags))
		mod_timer(&mld->timer, time_after(next, jiffies) ? next : jiffies + 1);
}

/**
 * net6_mld_arm_at() - there is something to do
 * @iface: interface
 * @at: jiffies, with the next tick at the soonest
 *
 * All that is planned besides is in the timer already, so no group is looked at.
 * Context: nn->lock held.
 */
void net6_mld_arm_at(struct net6_iface *iface, unsigned long at)
	__must_hold(&iface->nn->lock)
{
	if (net6_iface_usable(iface) && !test_bit(NET6_IFACE_DEAD, &iface->flags))
		timer_reduce(&iface->mld.timer, time_after(at, jiffies) ? at : jiffies + 1);
}

static void net6_mld_tell_soon(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	iface->mld.change_at = jiffies;
	net6_mld_arm_at(iface, jiffies);
}

/* All responses and retransmissions that are planned. */
static void net6_mld_forget(struct net6_mld *mld)
	__must_hold(&mld->iface->nn->lock)
{
	struct net6_mld_group *group, *next;
	unsigned int i;

	mld->asked = false;
	net6_mld_plan_gather(mld);
	list_for_each_entry_safe(group, next, &mld->groups, list) {
		if (!net6_mld_group_joined(group)) {
			net6_mld_drop_group(mld, group);
			continue;
		}
		net6_mld_plan_done(mld, group);
		group->mode_left = 0;
		for (i = 0; i < group->n_sources; i++)
			group->sources[i].left = 0;
		net6_mld_group_settle(group);
	}
}

/**
 * net6_mld_set_version() - the querier speaks MLDv1, or does not
 * @mld: the interface's
 * @v1: it does
 *
 * RFC 3810 8.2.1, RFC 2710: the querier's version is believed for a time. A change
 * of it "cancels all its pending responses and retransmission timers".
 * Context: nn->lock held.
 */
void net6_mld_set_version(struct net6_mld *mld, bool v1)
	__must_hold(&mld->iface->nn->lock)
{
	if (mld->v1 == v1)
		return;
	mld->v1 = v1;
	net6_mld_forget(mld);
}

/**
 * net6_mld_check_version() - is the version still the one to speak?
 * @iface: interface
 *
 * Context: nn->lock held.
 */
void net6_mld_check_version(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	s32 force = net6_conf(iface, NET6_PARAM_FORCE_MLD_VERSION);

	if (force == 1)
		net6_mld_set_version(&iface->mld, true);
	else if (iface->mld.v1 && (force || time_after_eq(jiffies, iface->mld.v1_until)))
		net6_mld_set_version(&iface->mld, false);
}

/**
 * net6_mld_force_version() - speak one version, whatever the querier does
 * @iface: interface
 * @version: 1 or 2; 0: the querier's again
 *
 * Context: nn->lock held.
 */
void net6_mld_force_version(struct net6_iface *iface, u8 version)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	if (net6_conf(iface, NET6_PARAM_FORCE_MLD_VERSION) == 1)
		iface->mld.v1_until = jiffies;
	WRITE_ONCE(iface->conf[NET6_PARAM_FORCE_MLD_VERSION], version);
	net6_mld_check_version(iface);
}

/* Its number of members has changed. nn->lock held. */
static void net6_mld_place(struct net6_mld *mld, struct net6_accept *accept,
			   struct net6_mld_group *group, bool was_joined)
	__must_hold(&mld->iface->nn->lock)
{
	bool joined = net6_mld_group_joined(group);

	accept->mld = joined ? group : NULL;
	if (joined && !was_joined && !RB_EMPTY_NODE(&group->node)) {
		net6_mld_plan_del_left(mld, group);
	} else if (!joined && was_joined) {
		net6_mld_plan_done(mld, group);
		net6_mld_plan_add_left(mld, group);
	}
}

static struct net6_mld_group *net6_mld_new_group(struct net6_mld *mld,
						 const struct in6_addr *addr)
	__must_hold(&mld->iface->nn->lock)
{
	struct net6_mld_group *group = kzalloc(sizeof(*group), GFP_ATOMIC | __GFP_ACCOUNT);

	if (!group)
		return NULL;
	group->addr = *addr;
	RB_CLEAR_NODE(&group->node);
	list_add_tail(&group->list, &mld->groups);
	return group;
}

/**
 * net6_mld_change() - a member comes to a group, goes, or changes its filter
 * @iface: interface
 * @accept: the interface's entry of the group
 * @old: what it wanted till now, NULL if it joins
 * @new: what it wants, NULL if it leaves
 *
 * Context: nn->lock held.
 * Return: 0, -ENOMEM, -ENOBUFS (too many sources); then nothing has changed.
 */
int net6_mld_change(struct net6_iface *iface, struct net6_accept *accept,
		    const struct net6_mld_filter *old, const struct net6_mld_filter *new)
	__must_hold(&iface->nn->lock)
{
	const struct in6_addr *addr = &accept->addr;
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group;
	bool joined;
	int err;

	lockdep_assert_held(&iface->nn->lock);
	if (!net6_mld_runs(iface) || !net6_mld_told_of(addr))
		return 0;
	net6_mld_check_version(iface);
	group = accept->mld ?: net6_mld_plan_find_left(mld, addr);
	if (!group && !new)
		return 0;
	if (!group)
		group = net6_mld_new_group(mld, addr);
	if (!group)
		return -ENOMEM;
	joined = net6_mld_group_joined(group);
	err = net6_mld_group_change(group, old, new, net6_mld_robustness(iface));
	net6_mld_place(mld, accept, group, joined);
	/* MLDv1 tells that, whatever the filter is. */
	if (mld->v1 && net6_mld_group_joined(group) && !joined)
		group->mode_left = net6_mld_robustness(iface);

	if (!net6_mld_group_joined(group) &&
	    (!net6_iface_usable(iface) || mld->n_left > NET6_MLD_LEFT_MAX ||
	     !net6_mld_group_pending(group))) {
		if (mld->n_left > NET6_MLD_LEFT_MAX)
			NET6_INC(iface->nn, MldLeaveLimit);
		net6_mld_drop_group(mld, group);
		return err;
	}
	if (net6_mld_group_pending(group)) {
		if (!group->due)
			list_move_tail(&group->list, &mld->changing);
		net6_mld_tell_soon(iface);
	}
	return err;
}

static void net6_mld_tell_anew(const struct list_head *groups, u8 robustness)
{
	struct net6_mld_group *group;

	list_for_each_entry(group, groups, list)
		if (net6_mld_group_joined(group))
			group->mode_left = robustness;
}

/**
 * net6_mld_announce() - tell routers and switches of all groups anew
 * @iface: interface that has come up, has got its link-local address, or is elsewhere now
 *
 * RFC 3810 5.2.13: reports from the unspecified address, sent before that, are for
 * snooping switches only; routers ignore them.
 * Context: nn->lock held.
 */
void net6_mld_announce(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;

	lockdep_assert_held(&iface->nn->lock);
	if (!net6_mld_runs(iface))
		return;
	net6_mld_check_version(iface);
	list_splice_tail_init(&mld->groups, &mld->changing);
	net6_mld_tell_anew(&mld->changing, net6_mld_robustness(iface));
	net6_mld_tell_anew(&mld->due, net6_mld_robustness(iface));
	if (!list_empty(&mld->changing))
		net6_mld_tell_soon(iface);
}

/**
 * net6_mld_iface_down() - forget what was to be told, and what the querier said
 * @iface: interface, not usable
 *
 * Context: nn->lock held.
 */
void net6_mld_iface_down(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;

	lockdep_assert_held(&iface->nn->lock);
	net6_mld_forget(mld);
	mld->v1 = false;
	mld->robustness = 0;
	mld->interval = NET6_MLD_QUERY_INTERVAL;
	timer_delete(&mld->timer);
}

static void net6_mld_timer_fn(struct timer_list *t)
{
	struct net6_mld *mld = timer_container_of(mld, t, timer);

	rcu_read_lock();
	net6_mld_run(container_of(mld, struct net6_iface, mld));
	rcu_read_unlock();
}

/**
 * net6_mld_iface_init() - an interface without groups
 * @iface: interface being made
 *
 * Context: process.
 */
void net6_mld_iface_init(struct net6_iface *iface)
{
	INIT_LIST_HEAD(&iface->mld.groups);
	INIT_LIST_HEAD(&iface->mld.changing);
	INIT_LIST_HEAD(&iface->mld.due);
	iface->mld.answers = RB_ROOT_CACHED;
	iface->mld.left = RB_ROOT;
	timer_setup(&iface->mld.timer, net6_mld_timer_fn, 0);
	iface->mld.interval = NET6_MLD_QUERY_INTERVAL;
}

/**
 * net6_mld_iface_exit() - end of all groups
 * @iface: DEAD, so that no group comes and no timer starts any more
 *
 * Context: process, sleeps.
 */
void net6_mld_iface_exit(struct net6_iface *iface)
{
	struct net6_mld_group *group, *next;

	timer_delete_sync(&iface->mld.timer);
	spin_lock_bh(&iface->nn->lock);
	net6_mld_plan_gather(&iface->mld);
	list_for_each_entry_safe(group, next, &iface->mld.groups, list)
		net6_mld_drop_group(&iface->mld, group);
	spin_unlock_bh(&iface->nn->lock);
}
