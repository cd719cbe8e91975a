// SPDX-License-Identifier: GPL-2.0
/* Multicast Listener Discovery: the reports that are due now are written and sent. When that is,
 * mld.c has planned.
 */
#include <linux/if_ether.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "../compat/in6.h"
#include "addr.h"
#include "icmp.h"
#include "mld.h"

/* Messages that are written at a time: with many groups the rest follows a tick later. */
#define NET6_MLD_BURST			64

/* RFC 3810 5.2.14 */
static const struct in6_addr net6_mld_routers = {
	.s6_addr = { 0xff, 0x02, [15] = 0x16 }
};

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

	list_for_each_entry(group, &mld->changing, list)
		group->due = true;
	list_splice_tail_init(&mld->changing, &mld->due);
}

/* RFC 3810 6.1: a State Change Report now, the next after a random time. */
static void net6_mld_tell_changes(struct net6_iface *iface, struct net6_mld_writer *w)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group, *next;

	list_for_each_entry_safe(group, next, &mld->due, list) {
		if (net6_mld_burst(w))
			break;
		group->due = false;
		if (mld->v1)
			net6_mld_change_v1(iface, group, w->out);
		else
			net6_mld_write(w, group, net6_mld_put_change);
		if (net6_mld_group_pending(group))
			list_move_tail(&group->list, &mld->changing);
		else if (net6_mld_group_joined(group))
			list_move_tail(&group->list, &mld->groups);
		else
			net6_mld_drop_group(mld, group);
	}
	mld->change_at = jiffies + 1 +
			 net6_mld_plan_random(net6_conf(iface, mld->v1 ?
						   NET6_PARAM_MLDV1_UNSOLICITED_REPORT_INTERVAL :
						   NET6_PARAM_MLDV2_UNSOLICITED_REPORT_INTERVAL));
}

static bool net6_mld_due(bool set, unsigned long at)
{
	return set && time_after_eq(jiffies, at);
}

static void net6_mld_ask_each(struct net6_mld *mld, const struct list_head *groups)
	__must_hold(&mld->iface->nn->lock)
{
	struct net6_mld_group *group;

	list_for_each_entry(group, groups, list) {
		if (!net6_mld_group_joined(group) || (mld->v1 && group->heard == mld->queries))
			continue;
		net6_mld_plan(mld, group,
			      jiffies + (mld->v1 ? net6_mld_plan_random(mld->delay_ms) : 0));
		group->n_asked = 0;
	}
}

/* A General Query is to be answered now; in MLDv1 "a timer for each group" is set (RFC 2710 4). */
static void net6_mld_ask_all(struct net6_mld *mld)
	__must_hold(&mld->iface->nn->lock)
{
	mld->asked = false;
	net6_mld_ask_each(mld, &mld->groups);
	net6_mld_ask_each(mld, &mld->changing);
	net6_mld_ask_each(mld, &mld->due);
}

static void net6_mld_answer(struct net6_iface *iface, struct net6_mld_writer *w)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	struct net6_mld_group *group;

	if (net6_mld_due(mld->asked, mld->answer_at))
		net6_mld_ask_all(mld);
	while ((group = net6_mld_plan_first(mld)) &&
	       net6_mld_due(true, net6_mld_respond_at(group)) && !net6_mld_burst(w)) {
		if (mld->v1)
			net6_mld_write_v1(iface, group, NET6_MLD_V1_REPORT, w->out);
		else
			net6_mld_write(w, group, net6_mld_put_current);
		/* Also when there was no memory. */
		net6_mld_plan_done(mld, group);
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

/**
 * net6_mld_run() - tell what is due
 * @iface: interface
 *
 * Context: RCU read lock held, BH disabled; takes nn->lock.
 */
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
		if (net6_mld_due(!list_empty(&mld->changing), mld->change_at))
			net6_mld_begin_changes(mld);
		if (!list_empty(&mld->due))
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
