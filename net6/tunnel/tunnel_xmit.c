// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv4, sending: the outer header, its route, path MTU and ECN. GSO packets
 * go through as they are; IPv4 or the device cuts them.
 */
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ip_tunnels.h>
#include <net/ipv6.h>

#include "../compat/gso.h"
#include "../compat/ip_tunnels.h"
#include "tunnel.h"

/* How often a packet may be wrapped on its way down. A tunnel of ours carries IPv6
 * only and its own packets are IPv4, so it takes a tunnel of somebody else to come back.
 */
#define NET6_TUNNEL_NEST_MAX	3

static DEFINE_PER_CPU(unsigned int, net6_tunnel_depth);

/* How long an ICMPv4 error that named no sender is worth telling. */
#define NET6_TUNNEL_ERROR_TIME	(30 * HZ)	/* as the kernel's IPTUNNEL_ERR_TIMEO */

static struct rtable *net6_tunnel_lookup(struct net6_tunnel *t, __be32 daddr, u8 tos,
					 __be32 *saddr)
{
	bool group = ipv4_is_multicast(daddr);
	struct flowi4 fl4 = {
		.daddr		= daddr,
		.saddr		= *saddr,
		.flowi4_oif	= group ? t->parms.link : 0,
		.flowi4_proto	= IPPROTO_IPV6,
	};
	struct rtable *rt;

	net6_compat_set_tos(&fl4, tos);
	rt = ip_route_output_flow(dev_net(t->dev), &fl4, NULL);
	if (IS_ERR(rt))
		return rt;
	/* A broadcast is no tunnel's end; an address of our own would be a loop. */
	if (rt->rt_type != (group ? RTN_MULTICAST : RTN_UNICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-EHOSTUNREACH);
	}
	*saddr = fl4.saddr;
	return rt;
}

/**
 * net6_tunnel_route() - the IPv4 route of an outer packet
 * @t: tunnel
 * @daddr: outer destination
 * @tos: its type of service
 * @saddr: outer source that is wanted, 0 for whatever the route says; filled in
 *
 * Context: BH disabled. Return: referenced route or ERR_PTR.
 */
struct rtable *net6_tunnel_route(struct net6_tunnel *t, __be32 daddr, u8 tos, __be32 *saddr)
{
	bool cached = t->kind == NET6_TUNNEL_CONFIGURED;
	struct rtable *rt = NULL;

	if (cached)
		rt = dst_cache_get_ip4(&t->dst_cache, saddr);
	if (rt)
		return rt;
	rt = net6_tunnel_lookup(t, daddr, tos, saddr);
	if (cached && !IS_ERR(rt))
		dst_cache_set_ip4(&t->dst_cache, &rt->dst, *saddr);
	return rt;
}

static void net6_tunnel_unreachable(struct net6_tunnel *t, struct sk_buff *skb,
				    enum net6_tunnel_counter counter)
{
	struct net6_iface *iface = net6_link_iface(t->dev);

	if (iface)
		net6_link_unreachable(iface, skb);
	net6_tunnel_drop(t, skb, counter);
}

/* An ICMPv4 error that was too short to say whose packet it was about. */
static void net6_tunnel_late_error(struct net6_tunnel *t, struct sk_buff *skb)
{
	unsigned long at = READ_ONCE(t->error_at);
	struct net6_iface *iface = net6_link_iface(t->dev);

	WRITE_ONCE(t->error_at, 0);
	if (iface && time_before(jiffies, at + NET6_TUNNEL_ERROR_TIME))
		net6_link_unreachable(iface, skb);
}

static bool net6_tunnel_fits(const struct sk_buff *skb, u32 mtu)
{
	if (skb->len <= mtu)
		return true;
	return skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu);
}

/* Consumes @skb and @rt. */
static void net6_tunnel_wrap(struct net6_tunnel *t, struct sk_buff *skb, struct rtable *rt,
			     __be32 saddr, __be32 daddr, u8 tos)
{
	struct net6_tunnel_fit fit = net6_tunnel_fit(dst_mtu(&rt->dst), READ_ONCE(t->parms.pmtu),
						     READ_ONCE(t->dev->mtu));
	unsigned int room = LL_RESERVED_SPACE(rt->dst.dev) + sizeof(struct iphdr) +
			    rt->dst.header_len;

	if (unlikely(!net6_tunnel_fits(skb, fit.mtu))) {
		struct net6_iface *iface = net6_link_iface(t->dev);

		if (iface)
			net6_link_too_big(iface, skb, fit.mtu);
		ip_rt_put(rt);
		net6_tunnel_drop(t, skb, NET6_TUNNEL_TX_TOO_BIG);
		return;
	}
	if (skb_cow_head(skb, room) || iptunnel_handle_offloads(skb, SKB_GSO_IPXIP4)) {
		ip_rt_put(rt);
		net6_drop(net6_tunnel_nn(t), skb, NET6_DROP_NO_MEMORY);
		return;
	}
	skb_set_inner_ipproto(skb, IPPROTO_IPV6);
	net6_compat_iptunnel_xmit(NULL, rt, skb, saddr, daddr, IPPROTO_IPV6, tos,
				  READ_ONCE(t->parms.ttl), fit.df ? htons(IP_DF) : 0, false);
}

/* RFC 2893 section 5: an automatic tunnel's inner addresses name the outer ones, which
 * the other end checks; a host may have several.
 */
static __be32 net6_tunnel_source(const struct net6_tunnel *t, const struct sk_buff *skb)
{
	__be32 v4;

	if (t->kind == NET6_TUNNEL_AUTOMATIC &&
	    net6_tunnel_v4_compatible(ipv6_hdr(skb)->saddr.s6_addr, &v4))
		return v4;
	return READ_ONCE(t->parms.local);
}

static void net6_tunnel_output(struct net6_tunnel *t, struct sk_buff *skb, __be32 daddr)
{
	u8 inner = ipv6_get_dsfield(ipv6_hdr(skb));
	u8 tos = READ_ONCE(t->parms.tos);
	struct rtable *rt;
	__be32 saddr;

	if (unlikely(!net6_tunnel_v4_unicast(daddr) &&
		     !(t->kind == NET6_TUNNEL_6OVER4 && ipv4_is_multicast(daddr)))) {
		net6_tunnel_unreachable(t, skb, NET6_TUNNEL_TX_DEST);
		return;
	}
	tos = net6_tunnel_ecn_out(tos == NET6_TUNNEL_TOS_INHERIT ? inner : tos, inner);
	saddr = net6_tunnel_source(t, skb);
	rt = net6_tunnel_route(t, daddr, tos, &saddr);
	if (IS_ERR(rt)) {
		net6_tunnel_unreachable(t, skb, NET6_TUNNEL_TX_NO_ROUTE);
		return;
	}
	if (unlikely(rt->dst.dev == t->dev)) {
		ip_rt_put(rt);
		net6_tunnel_unreachable(t, skb, NET6_TUNNEL_TX_LOOP);
		return;
	}
	if (unlikely(READ_ONCE(t->error_at)))
		net6_tunnel_late_error(t, skb);
	net6_tunnel_wrap(t, skb, rt, saddr, daddr, tos);
}

/**
 * net6_tunnel_xmit() - a packet that has come to a tunnel's device
 * @skb: data at the link-layer header, the IPv4 address that it goes to; consumed
 * @dev: tunnel
 *
 * Context: BH disabled. Return: NETDEV_TX_OK.
 */
netdev_tx_t net6_tunnel_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct net6_tunnel *t = netdev_priv(dev);
	__be32 daddr;

	if (skb->protocol != htons(ETH_P_IPV6) ||
	    !pskb_may_pull(skb, NET6_TUNNEL_HEADER + sizeof(struct ipv6hdr)))
		goto no_ipv6;
	memcpy(&daddr, skb->data, sizeof(daddr));
	__skb_pull(skb, NET6_TUNNEL_HEADER);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	/* Packet sockets and redirecting filters send what they like. */
	if (unlikely(ipv6_hdr(skb)->version != 6))
		goto no_ipv6;
	if (t->kind == NET6_TUNNEL_CONFIGURED)
		daddr = READ_ONCE(t->parms.remote);

	if (unlikely(__this_cpu_read(net6_tunnel_depth) >= NET6_TUNNEL_NEST_MAX)) {
		net6_tunnel_drop(t, skb, NET6_TUNNEL_TX_NESTED);
		return NETDEV_TX_OK;
	}
	__this_cpu_inc(net6_tunnel_depth);
	net6_tunnel_output(t, skb, daddr);
	__this_cpu_dec(net6_tunnel_depth);
	return NETDEV_TX_OK;

no_ipv6:
	net6_tunnel_drop(t, skb, NET6_TUNNEL_TX_DEST);
	return NETDEV_TX_OK;
}
