// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv6, sending (RFC 2473): the outer header, the encapsulation limit, where to and
 * what fits. GSO packets go through as they are.
 */
#include <net/dsfield.h>
#include <net/icmp.h>
#include <net/inet_ecn.h>
#include <net/ip6_route.h>
#include <net/ip_tunnels.h>
#include <net/ipv6.h>

#include "../compat/gso.h"
#include "../core/addr.h"
#include "../core/dest.h"
#include "../core/icmp.h"
#include "ip6tnl.h"

/* How often a packet may be wrapped on its way down, whatever its limit. */
#define NET6_IP6TNL_NEST_MAX	4

static DEFINE_PER_CPU(unsigned int, net6_ip6tnl_depth);

/**
 * struct net6_ip6tnl_outer - what the header in front of a packet is to have
 * @flowinfo: traffic class and flow label
 * @mark: what rules look at
 * @limit: how many more tunnels may be entered, -1: it does not say
 * @proto: what is inside
 * @tos: traffic class octet of the inner packet
 * @hops: hop limit or time to live of the inner packet
 */
struct net6_ip6tnl_outer {
	__be32	flowinfo;
	u32	mark;
	int	limit;
	u8	proto;
	u8	tos;
	u8	hops;
};

static void net6_ip6tnl_unreachable(struct net6_ip6tnl *t, struct sk_buff *skb,
				    enum net6_drop_reason reason)
{
	struct net6_iface *iface = net6_link_iface(t->dev);

	if (skb->protocol == htons(ETH_P_IP))
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, 0);
	else if (iface)
		net6_link_unreachable(iface, skb);
	net6_ip6tnl_drop(t, skb, reason, true);
}

/**
 * net6_ip6tnl_lookup() - where outer packets go
 * @nn: namespace
 * @p: the tunnel's
 * @flowinfo: of them
 * @mark: alike
 *
 * Context: RCU read lock held. Return: referenced destination, whose source is theirs if @p has no
 * address for our end; or ERR_PTR, as net6_dest_lookup_flow().
 */
struct net6_dest *net6_ip6tnl_lookup(struct net6_net *nn, const struct net6_ip6tnl_parms *p,
				     __be32 flowinfo, u32 mark)
{
	const struct in6_addr *local = &p->ends.local;
	const struct net6_flow flow = {
		.protocol	= net6_ip6tnl_limited(p) ? IPPROTO_DSTOPTS : p->proto,
		.label		= flowinfo,
		.mark		= mark,
	};

	if (!ipv6_addr_any(local) && !net6_addr_usable(nn, local, p->link))
		return ERR_PTR(-EADDRNOTAVAIL);
	return net6_dest_lookup_flow(nn, local, &p->ends.remote, p->link, &flow);
}

/**
 * net6_ip6tnl_forget() - forget where a tunnel's packets go
 * @t: tunnel that sends no more
 *
 * Context: process.
 */
void net6_ip6tnl_forget(struct net6_ip6tnl *t)
{
	struct net6_ip6tnl_way *way;
	int cpu;

	for_each_possible_cpu(cpu) {
		way = per_cpu_ptr(t->ways, cpu);
		if (way->dest)
			net6_dest_put(way->dest);
		way->dest = NULL;
	}
}

/* By what this CPU knows, unless packets say more than the tunnel. Returns a reference. */
static struct net6_dest *net6_ip6tnl_dest(struct net6_ip6tnl *t, const struct net6_ip6tnl_parms *p,
					  const struct net6_ip6tnl_outer *o)
{
	const u32 by_packet = IP6_TNL_F_USE_ORIG_TCLASS | IP6_TNL_F_USE_ORIG_FLOWLABEL |
			      IP6_TNL_F_USE_ORIG_FWMARK;
	struct net6_net *nn = net6_pernet(dev_net(t->dev));
	struct net6_ip6tnl_way *way = this_cpu_ptr(t->ways);
	struct net6_dest *dest;

	if (unlikely(p->flags & by_packet && net6_rules_on(nn)))
		return net6_ip6tnl_lookup(nn, p, o->flowinfo, o->mark);
	if (likely(way->dest && way->gen == p->gen && net6_dest_valid(way->dest)))
		return net6_dest_hold(way->dest);
	dest = net6_ip6tnl_lookup(nn, p, p->flowinfo, p->mark);
	if (IS_ERR(dest))
		return dest;
	if (way->dest)
		net6_dest_put(way->dest);
	way->dest = net6_dest_hold(dest);
	way->gen = p->gen;
	return dest;
}

/* May it go on? RFC 2473 7.1 (b) and 7.2 (b): what must not be refused goes in fragments of tunnel
 * packets.
 */
static bool net6_ip6tnl_fits(struct net6_ip6tnl *t, struct sk_buff *skb, u32 mtu)
{
	bool v4 = skb->protocol == htons(ETH_P_IP);
	struct net6_iface *iface;

	if (likely(skb->len <= mtu ||
		   (skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu))))
		return true;
	if (v4 ? !(ip_hdr(skb)->frag_off & htons(IP_DF)) : skb->len <= NET6_MIN_MTU)
		return true;
	if (v4) {
		skb_dst_update_pmtu_no_confirm(skb, mtu);
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
	} else {
		iface = net6_link_iface(t->dev);
		if (iface)
			net6_link_too_big(iface, skb, max_t(u32, mtu, NET6_MIN_MTU));
	}
	net6_ip6tnl_drop(t, skb, NET6_DROP_OUT_TOO_BIG, true);
	return false;
}

static void net6_ip6tnl_push_header(struct sk_buff *skb, const struct net6_ip6tnl_parms *p,
				    const struct net6_ip6tnl_outer *o, struct net6_dest *dest)
{
	u8 proto = o->proto;
	struct ipv6hdr *h;

	if (o->limit >= 0) {
		net6_ip6tnl_write_limit(skb_push(skb, NET6_IP6TNL_LIMIT_HEADER), proto, o->limit);
		proto = IPPROTO_DSTOPTS;
	}
	skb_set_transport_header(skb, 0);
	h = skb_push(skb, sizeof(*h));
	skb_reset_network_header(skb);
	*(__be32 *)h = htonl(0x60000000) | o->flowinfo;
	h->payload_len = htons(skb->len - sizeof(*h));
	h->nexthdr = proto;
	h->hop_limit = p->hop_limit ?: o->hops;
	h->saddr = ipv6_addr_any(&p->ends.local) ? dest->saddr : p->ends.local;
	h->daddr = p->ends.remote;
	skb->protocol = htons(ETH_P_IPV6);
}

/* Consumes @skb. */
static void net6_ip6tnl_wrap(struct net6_ip6tnl *t, const struct net6_ip6tnl_parms *p,
			     const struct net6_ip6tnl_outer *o, struct sk_buff *skb,
			     struct net6_dest *dest)
{
	unsigned int room = LL_RESERVED_SPACE(dest->iface->dev) + sizeof(struct ipv6hdr) +
			    NET6_IP6TNL_LIMIT_HEADER;
	unsigned int len = skb->len;

	if (!net6_ip6tnl_fits(t, skb, net6_ip6tnl_mtu(net6_dest_mtu(dest), o->limit >= 0)))
		return;
	if (skb_cow_head(skb, room) || iptunnel_handle_offloads(skb, SKB_GSO_IPXIP6)) {
		net6_ip6tnl_drop(t, skb, NET6_DROP_NO_MEMORY, true);
		return;
	}
	skb_scrub_packet(skb, false);
	skb_set_inner_ipproto(skb, o->proto);
	skb->skb_iif = 0;
	skb->ignore_df = 1;	/* see net6_ip6tnl_fits() */
	net6_ip6tnl_push_header(skb, p, o, dest);
	iptunnel_xmit_stats(t->dev, net6_output_outer(skb, dest) < 0 ? -1 : (int)len);
}

static void net6_ip6tnl_output(struct net6_ip6tnl *t, const struct net6_ip6tnl_parms *p,
			       const struct net6_ip6tnl_outer *o, struct sk_buff *skb)
{
	struct net6_dest *dest = net6_ip6tnl_dest(t, p, o);

	if (IS_ERR(dest)) {
		net6_ip6tnl_unreachable(t, skb, NET6_DROP_TUNNEL_NO_ROUTE);
		return;
	}
	if (unlikely(dest->iface->dev == t->dev ||
		     (dest->flags & NET6_DEST_LOCAL &&
		      !(p->flags & IP6_TNL_F_ALLOW_LOCAL_REMOTE))))
		net6_ip6tnl_unreachable(t, skb, NET6_DROP_TUNNEL_LOOP);
	else
		net6_ip6tnl_wrap(t, p, o, skb, dest);
	net6_dest_put(dest);
}

/* RFC 2473 4.1.1: a packet's own limit comes before the tunnel's. Returns whether it may enter one
 * more; else it is consumed, "and an ICMP Parameter Problem message is returned".
 */
static bool net6_ip6tnl_may_enter(struct net6_ip6tnl *t, struct sk_buff *skb, int *limit)
{
	unsigned int look = min_t(unsigned int, skb->len, NET6_IP6TNL_LOOK), at;
	struct net6_iface *iface;

	if (!ipv6_ext_hdr(ipv6_hdr(skb)->nexthdr))
		return true;
	if (!pskb_may_pull(skb, look)) {
		net6_ip6tnl_drop(t, skb, NET6_DROP_NO_MEMORY, true);
		return false;
	}
	at = net6_ip6tnl_find_limit(skb->data, look);
	if (!at)
		return true;
	if (skb->data[at]) {
		*limit = skb->data[at] - 1;
		return true;
	}
	iface = net6_link_iface(t->dev);
	if (iface)
		net6_link_problem(iface, skb, at);
	net6_ip6tnl_drop(t, skb, NET6_DROP_TUNNEL_LIMIT, true);
	return false;
}

static bool net6_ip6tnl_read_v4(struct sk_buff *skb, struct net6_ip6tnl_outer *o)
{
	if (!pskb_may_pull(skb, sizeof(struct iphdr)))
		return false;
	o->proto = IPPROTO_IPIP;
	o->tos = ip_hdr(skb)->tos;
	o->hops = ip_hdr(skb)->ttl;
	return ip_hdr(skb)->version == 4;
}

static bool net6_ip6tnl_read_v6(struct sk_buff *skb, const struct net6_ip6tnl_parms *p,
				struct net6_ip6tnl_outer *o)
{
	if (!pskb_may_pull(skb, sizeof(struct ipv6hdr)))
		return false;
	o->proto = IPPROTO_IPV6;
	o->tos = ipv6_get_dsfield(ipv6_hdr(skb));
	o->hops = ipv6_hdr(skb)->hop_limit;
	if (p->flags & IP6_TNL_F_USE_ORIG_FLOWLABEL)
		o->flowinfo = (o->flowinfo & ~IPV6_FLOWLABEL_MASK) | ip6_flowlabel(ipv6_hdr(skb));
	return ipv6_hdr(skb)->version == 6;
}

/* What the outer header takes from the packet. Returns whether the tunnel carries it. */
static bool net6_ip6tnl_read(struct sk_buff *skb, const struct net6_ip6tnl_parms *p,
			     struct net6_ip6tnl_outer *o)
{
	u8 tclass;

	skb_reset_network_header(skb);
	if (skb->protocol == htons(ETH_P_IP) ? !net6_ip6tnl_read_v4(skb, o) :
	    skb->protocol != htons(ETH_P_IPV6) || !net6_ip6tnl_read_v6(skb, p, o))
		return false;
	if (p->proto && p->proto != o->proto)
		return false;
	tclass = p->flags & IP6_TNL_F_USE_ORIG_TCLASS ? o->tos :
		 ip6_tclass(p->flowinfo & IPV6_TCLASS_MASK);
	o->flowinfo = ip6_make_flowinfo(INET_ECN_encapsulate(tclass, o->tos),
					o->flowinfo & IPV6_FLOWLABEL_MASK);
	return true;
}

/**
 * net6_ip6tnl_xmit() - a packet that has come to a tunnel's device
 * @skb: data at its IPv6 or IPv4 header; consumed
 * @dev: tunnel
 *
 * Context: BH disabled. Return: NETDEV_TX_OK.
 */
netdev_tx_t net6_ip6tnl_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct net6_ip6tnl *t = netdev_priv(dev);
	const struct net6_ip6tnl_parms *p;
	struct net6_ip6tnl_outer o;

	rcu_read_lock();
	p = rcu_dereference(t->parms);
	o = (struct net6_ip6tnl_outer) {
		.flowinfo	= p->flowinfo,
		.mark		= p->flags & IP6_TNL_F_USE_ORIG_FWMARK ? skb->mark : p->mark,
		.limit		= net6_ip6tnl_limited(p) ? p->encap_limit : -1,
	};
	if (unlikely(!net6_ip6tnl_read(skb, p, &o))) {
		net6_ip6tnl_drop(t, skb, NET6_DROP_TUNNEL_DEST, true);
	} else if (unlikely(__this_cpu_read(net6_ip6tnl_depth) >= NET6_IP6TNL_NEST_MAX)) {
		net6_ip6tnl_drop(t, skb, NET6_DROP_TUNNEL_NESTED, true);
	} else if (o.proto == IPPROTO_IPIP || net6_ip6tnl_may_enter(t, skb, &o.limit)) {
		__this_cpu_inc(net6_ip6tnl_depth);
		net6_ip6tnl_output(t, p, &o, skb);
		__this_cpu_dec(net6_ip6tnl_depth);
	}
	rcu_read_unlock();
	return NETDEV_TX_OK;
}
