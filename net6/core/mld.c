// SPDX-License-Identifier: GPL-2.0
/* Multicast Listener Discovery as a listener: RFC 3810, falling back to RFC 2710 where
 * the querier speaks that. A lightweight querier (RFC 5790) needs nothing else. When to
 * tell is decided here, what to tell in mld_group.c. No querier.
 */
#include <linux/if_ether.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "addr.h"
#include "icmp.h"
#include "mld.h"

/* RFC 3810 section 9, RFC 2710 section 7 */
#define NET6_MLD_QUERY_INTERVAL		125		/* seconds */
#define NET6_MLD_DELAY_MAX_MS		(3600 * 1000U)	/* an answer later than that is none */

/* Groups per interface that are only kept for the reports that say they are left. */
#define NET6_MLD_LEFT_MAX		256

/* Messages that are written at a time: with many groups the rest follows a tick later. */
#define NET6_MLD_BURST			64

/* RFC 3810 5.2.14 */
static const struct in6_addr net6_mld_routers = {
	.s6_addr = { 0xff, 0x02, [15] = 0x16 }
};

const struct net6_mld_filter net6_mld_any = { .mode = NET6_MLD_EXCLUDE };

static bool net6_mld_runs(const struct net6_iface *iface)
{
	return (iface->ops->flags & NET6_LINK_MULTICAST) && !net6_iface_is_loopback(iface);
}

/* RFC 3810 9.1: the querier's, or the administrator's if it tells none. */
static u8 net6_mld_robustness(const struct net6_iface *iface)
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

static unsigned long net6_mld_random(u32 ms)
{
	return get_random_u32_below(msecs_to_jiffies(min(ms, NET6_MLD_DELAY_MAX_MS)) + 1);
}

/* A group that somebody is a member of; nn->lock held. */
static struct net6_mld_group *net6_mld_find_group(struct net6_iface *iface,
						  const struct in6_addr *addr)
	__must_hold(&iface->nn->lock)
{
	const struct net6_accept *accept = net6_accept_own(iface, addr, NET6_ACCEPT_MULTICAST);

	return accept ? accept->mld : NULL;
}

/* One that was left, of the few that are still told of. nn->lock held. */
static struct net6_mld_group *net6_mld_find_left(const struct net6_mld *mld,
						 const struct in6_addr *addr)
	__must_hold(&mld->iface->nn->lock)
{
	struct net6_mld_group *group;

	list_for_each_entry(group, &mld->groups, list) {
		if (net6_mld_group_joined(group))
			break;
		if (ipv6_addr_equal(&group->addr, addr))
			return group;
	}
	return NULL;
}

static void net6_mld_drop_group(struct net6_mld *mld, struct net6_mld_group *group)
{
	if (!net6_mld_group_joined(group))
		mld->n_left--;
	list_del(&group->list);
	net6_mld_group_destroy(group);
}

/* nn->lock held. Sets the timer to the next time at which there is something to do. */
static void net6_mld_arm(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group;
	unsigned long next = 0;
	bool any = false;

	lockdep_assert_held(&iface->nn->lock);
	if (mld->telling || mld->changed) {
		next = mld->telling ? jiffies : mld->change_at;
		any = true;
	}
	if (mld->asked && (!any || time_before(mld->answer_at, next))) {
		next = mld->answer_at;
		any = true;
	}
	list_for_each_entry(group, &mld->groups, list) {
		if (!group->asked || (any && !time_before(group->respond_at, next)))
			continue;
		next = group->respond_at;
		any = true;
	}
	if (any && net6_iface_usable(iface) && !test_bit(NET6_IFACE_DEAD, &iface->flags))
		mod_timer(&mld->timer, time_after(next, jiffies) ? next : jiffies + 1);
}

/* There is something to do at @at, with the next tick at the soonest. All that is planned besides
 * is in the timer already, so no group is looked at.
 */
static void net6_mld_arm_at(struct net6_iface *iface, unsigned long at)
	__must_hold(&iface->nn->lock)
{
	if (net6_iface_usable(iface) && !test_bit(NET6_IFACE_DEAD, &iface->flags))
		timer_reduce(&iface->mld.timer, time_after(at, jiffies) ? at : jiffies + 1);
}

static void net6_mld_tell_soon(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	iface->mld.changed = true;
	iface->mld.change_at = jiffies;
	net6_mld_arm_at(iface, jiffies);
}

/* All responses and retransmissions that are planned. */
static void net6_mld_forget(struct net6_mld *mld)
{
	struct net6_mld_group *group, *next;
	unsigned int i;

	mld->changed = false;
	mld->telling = false;
	mld->asked = false;
	list_for_each_entry_safe(group, next, &mld->groups, list) {
		if (!net6_mld_group_joined(group)) {
			net6_mld_drop_group(mld, group);
			continue;
		}
		group->mode_left = 0;
		group->due = false;
		group->asked = false;
		group->n_asked = 0;
		for (i = 0; i < group->n_sources; i++)
			group->sources[i].left = 0;
		net6_mld_group_settle(group);
	}
}

/* RFC 3810 8.2.1, RFC 2710: the querier's version is believed for a time. A change
 * of it "cancels all its pending responses and retransmission timers".
 */
static void net6_mld_set_version(struct net6_mld *mld, bool v1)
{
	if (mld->v1 == v1)
		return;
	mld->v1 = v1;
	net6_mld_forget(mld);
}

static void net6_mld_check_version(struct net6_iface *iface)
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
	if (joined == was_joined)
		return;
	if (joined)
		list_move_tail(&group->list, &mld->groups);
	else
		list_move(&group->list, &mld->groups);
	mld->n_left += was_joined - joined;
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
	group = accept->mld ?: net6_mld_find_left(mld, addr);
	if (!group && !new)
		return 0;
	if (!group) {
		group = kzalloc(sizeof(*group), GFP_ATOMIC | __GFP_ACCOUNT);
		if (!group)
			return -ENOMEM;
		group->addr = *addr;
		list_add(&group->list, &mld->groups);
		mld->n_left++;
	}
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
	if (net6_mld_group_pending(group))
		net6_mld_tell_soon(iface);
	return err;
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
	struct net6_mld_group *group;

	lockdep_assert_held(&iface->nn->lock);
	if (!net6_mld_runs(iface) || list_empty(&iface->mld.groups))
		return;
	net6_mld_check_version(iface);
	list_for_each_entry(group, &iface->mld.groups, list)
		if (net6_mld_group_joined(group))
			group->mode_left = net6_mld_robustness(iface);
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
	del_timer(&mld->timer);
}

/* A Report that is being written. */
struct net6_mld_writer {
	struct net6_iface	*iface;
	struct sk_buff_head	*out;
	struct sk_buff		*skb;
	unsigned int		len;
	unsigned int		records;
};

static struct sk_buff *net6_mld_begin(struct net6_mld_writer *w)
{
	struct icmp6hdr *h;

	w->records = 0;
	w->len = min_t(u32, READ_ONCE(w->iface->mtu), ETH_DATA_LEN) -
		 sizeof(struct ipv6hdr) - NET6_ICMP_ALERT_LEN;
	w->skb = net6_icmp_alloc(w->len);
	if (!w->skb)
		return NULL;
	h = skb_put_zero(w->skb, NET6_MLD_REPORT_LEN);
	h->icmp6_type = NET6_MLD_REPORT;
	return w->skb;
}

static void net6_mld_end(struct net6_mld_writer *w)
{
	struct icmp6hdr *h;

	if (!w->skb)
		return;
	h = (struct icmp6hdr *)w->skb->data;
	h->icmp6_dataun.un_data16[1] = htons(w->records);
	if (w->records)
		__skb_queue_tail(w->out, w->skb);
	else
		kfree_skb(w->skb);
	w->skb = NULL;
}

/* Writes a group's records, in a new Report if the one at hand is full. A report that finds no
 * memory is not sent this time.
 */
static void net6_mld_write(struct net6_mld_writer *w, struct net6_mld_group *group,
			   unsigned int (*put)(struct net6_mld_group *group, u8 *buf,
					       unsigned int room, unsigned int *records,
					       bool *full))
{
	int tries = 2;
	bool full;

	while (tries--) {
		if (!w->skb && !net6_mld_begin(w))
			return;
		full = false;
		skb_put(w->skb, put(group, skb_tail_pointer(w->skb), w->len - w->skb->len,
				    &w->records, &full));
		if (!full)
			return;
		net6_mld_end(w);
	}
}

static void net6_mld_write_v1(struct net6_iface *iface, struct net6_mld_group *group, u8 type,
			      struct sk_buff_head *out)
{
	struct sk_buff *skb = net6_icmp_alloc(NET6_MLD_V1_LEN);
	struct icmp6hdr *h;

	if (!skb)
		return;
	h = skb_put_zero(skb, sizeof(*h));
	h->icmp6_type = type;
	skb_put_data(skb, &group->addr, sizeof(group->addr));
	__skb_queue_tail(out, skb);
	group->reporter = type == NET6_MLD_V1_REPORT;
}

/* RFC 2710 section 4: Reports when a group is joined, a Done when the last member
 * leaves that has reported last. Sources cannot be told.
 */
static void net6_mld_change_v1(struct net6_iface *iface, struct net6_mld_group *group,
			       struct sk_buff_head *out)
{
	unsigned int i;

	for (i = 0; i < group->n_sources; i++)
		group->sources[i].left = 0;
	if (!net6_mld_group_joined(group)) {
		if (group->reporter)
			net6_mld_write_v1(iface, group, NET6_MLD_V1_DONE, out);
		group->mode_left = 0;
	} else if (group->mode_left) {
		net6_mld_write_v1(iface, group, NET6_MLD_V1_REPORT, out);
		group->mode_left--;
	}
	net6_mld_group_settle(group);
}

static bool net6_mld_burst(const struct net6_mld_writer *w)
{
	return skb_queue_len(w->out) >= NET6_MLD_BURST;
}

/* All changes are to be told of, from now on. */
static void net6_mld_begin_changes(struct net6_mld *mld)
{
	struct net6_mld_group *group;

	mld->changed = false;
	mld->telling = true;
	list_for_each_entry(group, &mld->groups, list)
		group->due = net6_mld_group_pending(group);
}

/* RFC 3810 6.1: a State Change Report now, the next after a random time. */
static void net6_mld_tell_changes(struct net6_iface *iface, struct net6_mld_writer *w)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group, *next;

	mld->telling = false;
	list_for_each_entry_safe(group, next, &mld->groups, list) {
		if (!group->due)
			continue;
		if (net6_mld_burst(w)) {
			mld->telling = true;
			break;
		}
		group->due = false;
		if (mld->v1)
			net6_mld_change_v1(iface, group, w->out);
		else
			net6_mld_write(w, group, net6_mld_put_change);
		if (net6_mld_group_pending(group))
			mld->changed = true;
		else if (!net6_mld_group_joined(group))
			net6_mld_drop_group(mld, group);
	}
	mld->change_at = jiffies + 1 +
			 net6_mld_random(net6_conf(iface, mld->v1 ?
						   NET6_PARAM_MLDV1_UNSOLICITED_REPORT_INTERVAL :
						   NET6_PARAM_MLDV2_UNSOLICITED_REPORT_INTERVAL));
}

static bool net6_mld_due(bool set, unsigned long at)
{
	return set && time_after_eq(jiffies, at);
}

/* A group is asked for: answer at @at, or sooner if that was planned (rules 3 to 5). */
static void net6_mld_plan(struct net6_mld_group *group, unsigned long at)
{
	if (!group->asked || time_before(at, group->respond_at))
		group->respond_at = at;
}

/* A General Query is to be answered now; in MLDv1 "a timer for each group" is set (RFC 2710 4). */
static void net6_mld_ask_all(struct net6_mld *mld)
{
	struct net6_mld_group *group;

	mld->asked = false;
	list_for_each_entry(group, &mld->groups, list) {
		if (!net6_mld_group_joined(group) || (mld->v1 && group->heard == mld->queries))
			continue;
		net6_mld_plan(group, jiffies + (mld->v1 ? net6_mld_random(mld->delay_ms) : 0));
		group->asked = true;
		group->n_asked = 0;
	}
}

static void net6_mld_answer(struct net6_iface *iface, struct net6_mld_writer *w)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group;

	if (net6_mld_due(mld->asked, mld->answer_at))
		net6_mld_ask_all(mld);
	list_for_each_entry(group, &mld->groups, list) {
		if (!net6_mld_group_joined(group) ||
		    !net6_mld_due(group->asked, group->respond_at))
			continue;
		if (net6_mld_burst(w))
			break;
		if (mld->v1) {
			group->asked = false;
			net6_mld_write_v1(iface, group, NET6_MLD_V1_REPORT, w->out);
			continue;
		}
		net6_mld_write(w, group, net6_mld_put_current);
		/* Also when there was no memory. */
		group->asked = false;
		group->n_asked = 0;
	}
}

static void net6_mld_send(struct net6_iface *iface, struct sk_buff *skb)
{
	u8 type = skb->data[0];
	struct in6_addr daddr = net6_mld_routers, saddr;

	if (type == NET6_MLD_V1_REPORT)
		memcpy(&daddr, skb->data + 8, sizeof(daddr));
	else if (type == NET6_MLD_V1_DONE)
		daddr = in6addr_linklocal_allrouters;
	if (!net6_addr_linklocal(iface, &saddr))
		saddr = in6addr_any;
	net6_icmp_xmit_alert(iface, skb, &saddr, &daddr);
}

void net6_mld_run(struct net6_iface *iface)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_writer w = { .iface = iface };
	struct sk_buff_head out;
	struct sk_buff *skb;

	__skb_queue_head_init(&out);
	w.out = &out;
	spin_lock_bh(&iface->nn->lock);
	if (net6_iface_usable(iface) && !test_bit(NET6_IFACE_DEAD, &iface->flags)) {
		net6_mld_check_version(iface);
		if (net6_mld_due(mld->changed, mld->change_at))
			net6_mld_begin_changes(mld);
		if (mld->telling)
			net6_mld_tell_changes(iface, &w);
		net6_mld_end(&w);
		net6_mld_answer(iface, &w);
		net6_mld_end(&w);
		net6_mld_arm(iface);
	}
	spin_unlock_bh(&iface->nn->lock);
	while ((skb = __skb_dequeue(&out)))
		net6_mld_send(iface, skb);
}

static void net6_mld_timer_fn(struct timer_list *t)
{
	struct net6_mld *mld = from_timer(mld, t, timer);

	rcu_read_lock();
	net6_mld_run(container_of(mld, struct net6_iface, mld));
	rcu_read_unlock();
}

/* RFC 3810 6.2: "the Hop-by-Hop Options header includes the Router Alert option", "a
 * valid link-local address as its source", hop limit 1; the same in RFC 2710 and 3590.
 */
static bool net6_mld_valid(struct net6_iface *iface, struct sk_buff *skb)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);

	if (h->hop_limit == 1 && (net6_rx_cb(skb)->flags & NET6_RX_ROUTER_ALERT) &&
	    (ipv6_addr_type(&h->saddr) & IPV6_ADDR_LINKLOCAL))
		return true;
	net6_drop(iface->nn, skb, NET6_DROP_MLD_HEADER);
	return false;
}

static void net6_mld_asked_v1(struct net6_iface *iface, const struct in6_addr *addr, u32 delay_ms)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group;

	/* The groups have their timers set with the next tick: many queries cost what one does. */
	if (ipv6_addr_any(addr)) {
		mld->queries++;
		mld->delay_ms = mld->asked ? min(mld->delay_ms, delay_ms) : delay_ms;
		mld->asked = true;
		mld->answer_at = jiffies;
		net6_mld_arm_at(iface, jiffies);
		return;
	}
	group = net6_mld_find_group(iface, addr);
	if (!group)
		return;
	net6_mld_plan(group, jiffies + net6_mld_random(delay_ms));
	group->asked = true;
	net6_mld_arm_at(iface, group->respond_at);
}

static void net6_mld_asked(struct net6_iface *iface, const struct in6_addr *addr,
			   const struct net6_mld_query *query)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	unsigned long at = jiffies + net6_mld_random(query->delay_ms);
	struct net6_mld_group *group;

	/* RFC 3810 6.2, rule 1 */
	if (mld->asked && time_before_eq(mld->answer_at, at))
		return;
	if (ipv6_addr_any(addr)) {
		mld->asked = true;
		mld->answer_at = at;
		net6_mld_arm_at(iface, at);
		return;
	}
	group = net6_mld_find_group(iface, addr);
	if (!group)
		return;
	net6_mld_plan(group, at);
	net6_mld_group_ask(group, query->sources, query->n_sources);
	net6_mld_arm_at(iface, group->respond_at);
}

/* nn->lock held. */
static void net6_mld_query(struct net6_iface *iface, const struct net6_mld_query *query)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	struct in6_addr addr;

	memcpy(&addr, query->group, sizeof(addr));
	if (query->v1 && net6_conf(iface, NET6_PARAM_FORCE_MLD_VERSION) == 2)
		return;
	if (query->v1) {
		/* RFC 3810 9.12: Older Version Querier Present Timeout */
		net6_mld_set_version(mld, true);
		mld->v1_until = jiffies + msecs_to_jiffies(query->delay_ms) +
				(unsigned long)net6_mld_robustness(iface) * mld->interval * HZ;
	} else {
		net6_mld_check_version(iface);
		mld->robustness = query->robustness;
		mld->interval = query->interval ?: NET6_MLD_QUERY_INTERVAL;
	}
	if (mld->v1)
		net6_mld_asked_v1(iface, &addr, query->delay_ms);
	else
		net6_mld_asked(iface, &addr, query);
}

static void net6_mld_query_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_mld_query query;

	NET6_INC_IFACE(iface, Icmp6InGroupMembQueries);
	if (!net6_mld_valid(iface, skb))
		return;
	if (skb_linearize(skb)) {
		net6_drop(iface->nn, skb, NET6_DROP_NO_MEMORY);
		return;
	}
	if (net6_mld_query_parse(skb->data, skb->len, &query)) {
		net6_drop(iface->nn, skb, NET6_DROP_MLD_SHORT);
		return;
	}
	spin_lock_bh(&iface->nn->lock);
	if (net6_mld_runs(iface) && net6_iface_usable(iface))
		net6_mld_query(iface, &query);
	spin_unlock_bh(&iface->nn->lock);
	consume_skb(skb);
}

/* RFC 2710 section 4: another member reports, so we need not. In MLDv2 everybody
 * reports.
 */
static void net6_mld_report_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_mld_group *group;
	struct in6_addr addr;

	NET6_INC_IFACE(iface, Icmp6InGroupMembResponses);
	if (!net6_mld_valid(iface, skb))
		return;
	if (!pskb_may_pull(skb, NET6_MLD_V1_LEN)) {
		net6_drop(iface->nn, skb, NET6_DROP_MLD_SHORT);
		return;
	}
	memcpy(&addr, skb->data + 8, sizeof(addr));
	spin_lock_bh(&iface->nn->lock);
	net6_mld_check_version(iface);
	group = iface->mld.v1 ? net6_mld_find_group(iface, &addr) : NULL;
	if (group) {
		group->asked = false;
		group->reporter = false;
		group->heard = iface->mld.queries;
	}
	spin_unlock_bh(&iface->nn->lock);
	consume_skb(skb);
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

	del_timer_sync(&iface->mld.timer);
	spin_lock_bh(&iface->nn->lock);
	list_for_each_entry_safe(group, next, &iface->mld.groups, list)
		net6_mld_drop_group(&iface->mld, group);
	spin_unlock_bh(&iface->nn->lock);
}

/**
 * net6_mld_init() - take the messages that listeners hear
 *
 * Context: process.
 */
void net6_mld_init(void)
{
	net6_icmp_handle(NET6_MLD_QUERY, net6_mld_query_rcv);
	net6_icmp_handle(NET6_MLD_V1_REPORT, net6_mld_report_rcv);
}

/**
 * net6_mld_exit() - undo net6_mld_init()
 *
 * Context: process; no interface is left.
 */
void net6_mld_exit(void)
{
	net6_icmp_handle(NET6_MLD_V1_REPORT, NULL);
	net6_icmp_handle(NET6_MLD_QUERY, NULL);
}
