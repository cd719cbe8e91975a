// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv6, receiving (RFC 2473): protocols 41 and 4, and ICMPv6 errors about them.
 * Packets go up through the device's NAPI, so those in packets in packets need no stack.
 */
#include <net/dsfield.h>
#include <net/icmp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip_tunnels.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "../core/dest.h"
#include "../core/icmp.h"
#include "../core/proto.h"
#include "ip6tnl.h"

/* The tunnel between these ends, if it is up and carries what is inside. */
static struct net6_ip6tnl *net6_ip6tnl_match(struct net6_net *nn, const struct in6_addr *remote,
					     const struct in6_addr *local, u8 proto)
{
	const struct net6_ip6tnl_parms *p = net6_ip6tnl_find(nn, remote, local) ?:
					    net6_ip6tnl_find(nn, remote, &in6addr_any);

	if (!p || (p->proto && p->proto != proto) || !(READ_ONCE(p->tunnel->dev->flags) & IFF_UP))
		return NULL;
	return p->tunnel;
}

/* Length of the header inside, 0 if there is none. Data at it. */
static unsigned int net6_ip6tnl_inner(struct sk_buff *skb, u8 proto)
{
	unsigned int len = proto == IPPROTO_IPV6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u8 version = proto == IPPROTO_IPV6 ? 6 : 4;

	return pskb_may_pull(skb, len) && skb->data[0] >> 4 == version ? len : 0;
}

static u8 net6_ip6tnl_dsfield(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IPV6) ? ipv6_get_dsfield(ipv6_hdr(skb)) :
						    ipv4_get_dsfield(ip_hdr(skb));
}

/* RFC 6040 4.2, and the whole octet where the administrator wants it (RFC 2983). Returns 0, -EINVAL
 * for a congestion mark that cannot be told, -ENOMEM.
 */
static int net6_ip6tnl_mark(struct sk_buff *skb, u8 outer, unsigned int len, bool copy)
{
	u8 inner = net6_ip6tnl_dsfield(skb), field = inner;
	bool congested = false;

	if (__INET_ECN_decapsulate(outer, inner, &congested) > 1)
		return -EINVAL;
	if (copy)
		field = (outer & ~INET_ECN_MASK) | (inner & INET_ECN_MASK);
	if (congested)
		field |= INET_ECN_CE;
	if (field == inner)
		return 0;
	if (skb_ensure_writable(skb, len))
		return -ENOMEM;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	if (skb->protocol == htons(ETH_P_IPV6))
		ipv6_change_dsfield(ipv6_hdr(skb), 0, field);
	else
		ipv4_change_dsfield(ip_hdr(skb), 0, field);
	return 0;
}

/* @len: of the header inside, which is linear; data at it, network header at the outer one. */
static void net6_ip6tnl_receive(struct net6_ip6tnl *t, struct sk_buff *skb, u8 proto,
				unsigned int len)
{
	u8 outer = ipv6_get_dsfield(ipv6_hdr(skb));
	const struct net6_ip6tnl_parms *p = rcu_dereference(t->parms);
	int err;

	if (iptunnel_pull_header(skb, 0, htons(proto == IPPROTO_IPV6 ? ETH_P_IPV6 : ETH_P_IP),
				 false)) {
		net6_ip6tnl_drop(t, skb, NET6_DROP_NO_MEMORY, false);
		return;
	}
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	err = net6_ip6tnl_mark(skb, outer, len, p->flags & IP6_TNL_F_RCV_DSCP_COPY);
	if (unlikely(err)) {
		net6_ip6tnl_drop(t, skb, err == -EINVAL ? NET6_DROP_TUNNEL_ECN :
							  NET6_DROP_NO_MEMORY, false);
		return;
	}
	skb->dev = t->dev;
	skb->pkt_type = PACKET_HOST;
	dev_sw_netstats_rx_add(t->dev, skb->len);
	gro_cells_receive(&t->cells, skb);
}

static void net6_ip6tnl_rcv(struct sk_buff *skb, u8 proto)
{
	struct net6_net *nn = net6_pernet(dev_net(skb->dev));
	struct net6_ip6tnl *t = net6_ip6tnl_match(nn, &ipv6_hdr(skb)->saddr,
						  &ipv6_hdr(skb)->daddr, proto);
	unsigned int len;

	/* As native's. */
	if (!t) {
		net6_icmp_send(skb, ICMPV6_DEST_UNREACH, ICMPV6_PORT_UNREACH, 0);
		net6_drop(nn, skb, NET6_DROP_NO_SOCKET);
		return;
	}
	len = net6_ip6tnl_inner(skb, proto);
	if (len)
		net6_ip6tnl_receive(t, skb, proto, len);
	else
		net6_ip6tnl_drop(t, skb, NET6_DROP_TUNNEL_SHORT, false);
}

static void net6_ip6tnl_rcv_v6(struct sk_buff *skb)
{
	net6_ip6tnl_rcv(skb, IPPROTO_IPV6);
}

static void net6_ip6tnl_rcv_v4(struct sk_buff *skb)
{
	net6_ip6tnl_rcv(skb, IPPROTO_IPIP);
}

/* ---- errors ---- */

/* To who has sent the IPv6 packet that is quoted, data at its header. */
static void net6_ip6tnl_tell_v6(struct net6_ip6tnl *t, struct sk_buff *quoted,
				enum net6_ip6tnl_error error, u32 mtu)
{
	struct net6_iface *iface = net6_link_iface(t->dev);

	if (!iface)
		return;
	if (error == NET6_IP6TNL_ERR_UNREACHABLE)
		net6_link_unreachable(iface, quoted);
	else if (sizeof(struct ipv6hdr) + ntohs(ipv6_hdr(quoted)->payload_len) > mtu)
		net6_link_too_big(iface, quoted, max_t(u32, mtu, NET6_MIN_MTU));
}

/* The same of IPv4, by the route that the packet had. */
static void net6_ip6tnl_tell_v4(struct net6_ip6tnl *t, struct sk_buff *quoted,
				enum net6_ip6tnl_error error, u32 mtu)
{
	const struct iphdr *h = ip_hdr(quoted);
	struct flowi4 fl4 = { .daddr = h->daddr };
	struct rtable *rt = ip_route_output_key(dev_net(t->dev), &fl4);

	if (IS_ERR(rt))
		return;
	skb_dst_set(quoted, &rt->dst);
	quoted->dev = t->dev;
	quoted->protocol = htons(ETH_P_IP);
	if (error == NET6_IP6TNL_ERR_UNREACHABLE)
		icmp_send(quoted, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, 0);
	else if ((h->frag_off & htons(IP_DF)) && ntohs(h->tot_len) > mtu)
		icmp_send(quoted, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
}

/* RFC 2473 section 8: the error is told to the sender of what is inside. */
static void net6_ip6tnl_relay(struct net6_ip6tnl *t, struct sk_buff *skb, u8 proto,
			      unsigned int offset, enum net6_ip6tnl_error error, u32 mtu)
{
	struct sk_buff *quoted = skb_clone(skb, GFP_ATOMIC);

	if (!quoted)
		return;
	skb_dst_drop(quoted);
	/* Its first octets behind the header, too: ports are there. */
	if (!pskb_may_pull(quoted, offset + sizeof(struct iphdr) + 8))
		goto free;
	__skb_pull(quoted, offset);
	if (!net6_ip6tnl_inner(quoted, proto))
		goto free;
	skb_reset_network_header(quoted);
	quoted->pkt_type = PACKET_HOST;
	memset(quoted->cb, 0, sizeof(quoted->cb));
	if (proto == IPPROTO_IPV6)
		net6_ip6tnl_tell_v6(t, quoted, error, mtu);
	else
		net6_ip6tnl_tell_v4(t, quoted, error, mtu);
free:
	consume_skb(quoted);
}

static void net6_ip6tnl_too_big(struct net6_ip6tnl *t, const struct net6_icmp_error *err)
{
	const struct net6_ip6tnl_parms *p = rcu_dereference(t->parms);
	const struct net6_flow flow = {
		.protocol	= net6_ip6tnl_limited(p) ? IPPROTO_DSTOPTS : p->proto,
		.label		= p->flowinfo,
		.mark		= p->mark,
	};

	net6_dest_update_pmtu(net6_pernet(dev_net(t->dev)), err, &flow);
}

static void net6_ip6tnl_err(struct sk_buff *skb, const struct net6_icmp_error *err, u8 proto)
{
	struct net6_net *nn = net6_pernet(dev_net(skb->dev));
	struct net6_ip6tnl *t = net6_ip6tnl_match(nn, err->daddr, err->saddr, proto);
	const unsigned int quoted = sizeof(struct icmp6hdr);
	unsigned int headers = err->offset - quoted, limit;
	enum net6_ip6tnl_error error;

	if (!t)
		return;
	limit = net6_ip6tnl_find_limit(skb->data + quoted,
				       min_t(unsigned int, headers, skb_headlen(skb) - quoted));
	error = net6_ip6tnl_error(err->type, err->code, err->info, limit);
	/* RFC 8201 section 4: a smaller MTU "MUST" be ignored. */
	if (error == NET6_IP6TNL_ERR_IGNORE ||
	    (error == NET6_IP6TNL_ERR_TOO_BIG && err->info < NET6_MIN_MTU))
		return;
	if (error == NET6_IP6TNL_ERR_TOO_BIG)
		net6_ip6tnl_too_big(t, err);
	net6_ip6tnl_relay(t, skb, proto, err->offset, error,
			  err->info - min(err->info, headers));
}

static void net6_ip6tnl_err_v6(struct sk_buff *skb, const struct net6_icmp_error *err)
{
	net6_ip6tnl_err(skb, err, IPPROTO_IPV6);
}

static void net6_ip6tnl_err_v4(struct sk_buff *skb, const struct net6_icmp_error *err)
{
	net6_ip6tnl_err(skb, err, IPPROTO_IPIP);
}

static const struct net6_proto net6_ip6tnl_proto_v6 = {
	.rcv	= net6_ip6tnl_rcv_v6,
	.error	= net6_ip6tnl_err_v6,
};

static const struct net6_proto net6_ip6tnl_proto_v4 = {
	.rcv	= net6_ip6tnl_rcv_v4,
	.error	= net6_ip6tnl_err_v4,
};

/* Under RTNL. */
static bool net6_ip6tnl_registered;

/**
 * net6_ip6tnl_rcv_get() - take packets in packets, from the first tunnel on
 *
 * Context: process, RTNL held. Return: 0; -EEXIST: another module takes them.
 */
int net6_ip6tnl_rcv_get(void)
{
	int err;

	if (net6_ip6tnl_registered)
		return 0;
	err = net6_proto_register(IPPROTO_IPV6, &net6_ip6tnl_proto_v6);
	if (err)
		return err;
	err = net6_proto_register(IPPROTO_IPIP, &net6_ip6tnl_proto_v4);
	if (err) {
		net6_proto_unregister(IPPROTO_IPV6, &net6_ip6tnl_proto_v6);
		return err;
	}
	net6_ip6tnl_registered = true;
	return 0;
}

/**
 * net6_ip6tnl_rcv_exit() - take them no more
 *
 * Context: process, sleeps; no tunnel can be made any more.
 */
void net6_ip6tnl_rcv_exit(void)
{
	if (!net6_ip6tnl_registered)
		return;
	net6_proto_unregister(IPPROTO_IPV6, &net6_ip6tnl_proto_v6);
	net6_proto_unregister(IPPROTO_IPIP, &net6_ip6tnl_proto_v4);
}
