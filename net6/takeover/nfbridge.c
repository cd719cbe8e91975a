// SPDX-License-Identifier: GPL-2.0
/* br_netfilter in takeover mode: the IPv6 frames that a bridge passes on go through rules for IPv6.
 * br_netfilter calls the hooks itself. Of native it wants a route for what a rule has translated,
 * and pieces of what does not fit a port. It finds both in nf_ipv6_ops, which native has left
 * null.
 *
 * Limits: what was translated to a host of the same bridge is routed to it and not bridged, so
 * forwarding must be on. Pieces are of plain frames only, not of those with a VLAN's or PPPoE's
 * header in them.
 */
#include <linux/netfilter_ipv6.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>

#include "../compat/ipv6_stubs.h"
#include "../core/dest.h"
#include "../core/ip.h"
#include "../core/nfhook.h"
#include "takeover.h"

#if defined(NET6_COMPAT_HAS_STUBS) && IS_ENABLED(CONFIG_NETFILTER) && IS_BUILTIN(CONFIG_IPV6)

/* RCU read lock held, skb->dev is the bridge. The caller compares the route's device with it: where
 * they differ the packet is for IP.
 */
static void net6_nfbridge_route_input(struct sk_buff *skb)
{
	struct net6_net *nn = net6_pernet(dev_net(skb->dev));
	const struct ipv6hdr *h = ipv6_hdr(skb);
	const struct net6_dest_key key = { .daddr = h->daddr };
	const struct flowi6 fl6 = {
		.daddr		= h->daddr,
		.saddr		= h->saddr,
		.flowi6_iif	= skb->dev->ifindex,
		.flowi6_mark	= skb->mark,
	};
	struct net6_iface *loopback = READ_ONCE(nn->loopback);
	struct net6_nexthop nh;

	if (!loopback || net6_route_nexthop(nn, &key, &fl6, &nh) < 0)
		skb_dst_set_noref(skb, &nn->net->ipv6.ip6_null_entry->dst);
	else if (nh.iface->dev == skb->dev)
		skb_dst_set_noref(skb, &loopback->rt->dst);
	else
		skb_dst_set_noref(skb, &nh.iface->rt->dst);
}

/* What connection tracking has put together leaves as it came: no piece is larger than the largest
 * was.
 */
static int net6_nfbridge_fragment(struct net *net, struct sock *sk, struct sk_buff *skb,
				  int (*output)(struct net *net, struct sock *sk,
						struct sk_buff *skb))
{
	unsigned int largest = IP6CB(skb)->frag_max_size, mtu = skb->dev->mtu;
	struct sk_buff *next;
	int err = -EMSGSIZE;

	if (skb_network_offset(skb))
		goto drop;
	if (largest)
		mtu = min(mtu, max_t(unsigned int, largest, NET6_MIN_MTU));
	err = net6_frag_split(skb, mtu);
	if (err)
		goto drop;
	for (; skb && !err; skb = next) {
		next = skb->next;
		skb_mark_not_on_list(skb);
		err = output(net, sk, skb);
	}
	kfree_skb_list(skb);
	return err;

drop:
	net6_drop(net6_pernet(net), skb, err == -ENOMEM ? NET6_DROP_NO_MEMORY :
		  NET6_DROP_OUT_TOO_BIG);
	return err;
}

/* What a program gave back is looked up again anyhow. */
static int net6_nfbridge_reroute(struct sk_buff *skb, const struct nf_queue_entry *entry)
{
	return 0;
}

static const struct nf_ipv6_ops net6_nfbridge_ops = {
	.route_input	= net6_nfbridge_route_input,
	.fragment	= net6_nfbridge_fragment,
	.reroute	= net6_nfbridge_reroute,
};

/**
 * net6_nfbridge_init() - bridges find net6 where they look for native IPv6
 *
 * Context: process, before the first bridge is told that there is IPv6 (divert.c).
 */
void net6_nfbridge_init(void)
{
	rcu_assign_pointer(nf_ipv6_ops, &net6_nfbridge_ops);
}

/**
 * net6_nfbridge_exit() - undo net6_nfbridge_init()
 *
 * Context: process; a grace period follows.
 */
void net6_nfbridge_exit(void)
{
	RCU_INIT_POINTER(nf_ipv6_ops, NULL);
}

#else

void net6_nfbridge_init(void)
{
}

void net6_nfbridge_exit(void)
{
}

#endif
