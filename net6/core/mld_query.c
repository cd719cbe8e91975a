// SPDX-License-Identifier: GPL-2.0
/* Multicast Listener Discovery: what a querier asks for, and what other members report. */
#include <net/ipv6.h>

#include "addr.h"
#include "icmp.h"
#include "mld.h"

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
	net6_mld_plan(mld, group, jiffies + net6_mld_plan_random(delay_ms));
	net6_mld_arm_at(iface, net6_mld_respond_at(group));
}

static void net6_mld_asked(struct net6_iface *iface, const struct in6_addr *addr,
			   const struct net6_mld_query *query)
	__must_hold(&iface->nn->lock)
{
	struct net6_mld *mld = &iface->mld;
	unsigned long at = jiffies + net6_mld_plan_random(query->delay_ms);
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
	net6_mld_group_ask(group, query->sources, query->n_sources);
	net6_mld_plan(mld, group, at);
	net6_mld_arm_at(iface, net6_mld_respond_at(group));
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
		net6_mld_plan_done(&iface->mld, group);
		group->reporter = false;
		group->heard = iface->mld.queries;
	}
	spin_unlock_bh(&iface->nn->lock);
	consume_skb(skb);
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
