// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv4, receiving: protocol 41 and ICMPv4 errors about it. IPv4 has checked the
 * outer header and put its fragments together. Packets in no tunnel of ours are left to the
 * kernel's own.
 */
#include <linux/icmp.h>
#include <linux/module.h>
#include <net/dsfield.h>
#include <net/ip_tunnels.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "../core/addr.h"
#include "../core/icmp.h"
#include "../observe/note.h"
#include "tunnel.h"
#include "tunnel4.h"

/* The kernel's tunnels have 1 and 2, and take what we do not. */
#define NET6_TUNNEL_PRIORITY	0

static struct net6_tunnel_inner net6_tunnel_addrs(const struct iphdr *outer,
						  const struct ipv6hdr *inner)
{
	return (struct net6_tunnel_inner) {
		.osaddr	= outer->saddr,
		.odaddr	= outer->daddr,
		.saddr	= inner->saddr.s6_addr,
		.daddr	= inner->daddr.s6_addr,
	};
}

/* The tunnel between these ends whose packets go to @daddr. */
static struct net6_tunnel *net6_tunnel_match(struct net6_net *nn, __be32 remote, __be32 local,
					     const struct in6_addr *daddr)
{
	struct net6_tunnel *t;
	__be32 v4;

	t = net6_tunnel_find(nn, remote, local) ?: net6_tunnel_find(nn, remote, 0);
	if (t)
		return t;
	t = READ_ONCE(nn->tunnels->automatic);
	if (t && net6_tunnel_v4_compatible(daddr->s6_addr, &v4))
		return t;
	return net6_tunnel_find(nn, 0, local);
}

static enum net6_tunnel_counter net6_tunnel_counter_of(enum net6_tunnel_verdict verdict)
{
	switch (verdict) {
	case NET6_TUNNEL_OUTER:
		return NET6_TUNNEL_RX_OUTER;
	case NET6_TUNNEL_INNER_SOURCE:
		return NET6_TUNNEL_RX_INNER_SOURCE;
	case NET6_TUNNEL_INNER_DEST:
		return NET6_TUNNEL_RX_INNER_DEST;
	case NET6_TUNNEL_ECN:
		return NET6_TUNNEL_RX_ECN;
	default:
		return NET6_TUNNEL_RX_SHORT;
	}
}

static enum net6_tunnel_verdict net6_tunnel_verdict(const struct net6_tunnel *t,
						    const struct iphdr *outer,
						    const struct ipv6hdr *inner, int *tclass)
{
	struct net6_tunnel_inner in = net6_tunnel_addrs(outer, inner);
	enum net6_tunnel_verdict verdict;

	if (inner->version != 6)
		return NET6_TUNNEL_SHORT;
	verdict = net6_tunnel_check(t->kind, &in);
	if (verdict != NET6_TUNNEL_GOOD)
		return verdict;
	*tclass = net6_tunnel_ecn_in(outer->tos, ipv6_get_dsfield(inner));
	return *tclass < 0 ? NET6_TUNNEL_ECN : NET6_TUNNEL_GOOD;
}

/* A congestion mark of the outer header goes into the inner one, RFC 6040 4.2. */
static int net6_tunnel_mark(struct sk_buff *skb, u8 tclass)
{
	if (ipv6_get_dsfield(ipv6_hdr(skb)) == tclass)
		return 0;
	if (skb_ensure_writable(skb, sizeof(struct ipv6hdr)))
		return -ENOMEM;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	ipv6_change_dsfield(ipv6_hdr(skb), 0, tclass);
	return 0;
}

/* @skb: network header at the outer header, data at the inner one, 40 bytes linear. */
static void net6_tunnel_receive(struct net6_tunnel *t, struct sk_buff *skb)
{
	bool group = ipv4_is_multicast(ip_hdr(skb)->daddr);
	enum net6_tunnel_verdict verdict;
	int tclass;

	verdict = net6_tunnel_verdict(t, ip_hdr(skb), (const struct ipv6hdr *)skb->data, &tclass);
	if (unlikely(verdict != NET6_TUNNEL_GOOD)) {
		net6_tunnel_drop(t, skb, net6_tunnel_counter_of(verdict));
		return;
	}
	if (iptunnel_pull_header(skb, 0, htons(ETH_P_IPV6), false))
		goto no_memory;
	skb_reset_network_header(skb);
	if (net6_tunnel_mark(skb, tclass))
		goto no_memory;
	/* The last four bytes of the outer header are what a tunnel has for a link
	 * header: where the packet was sent to.
	 */
	skb_set_mac_header(skb, -NET6_TUNNEL_HEADER);
	skb->pkt_type = group ? PACKET_MULTICAST : PACKET_HOST;
	skb->dev = t->dev;
	dev_sw_netstats_rx_add(t->dev, skb->len);
	netif_receive_skb(skb);
	return;

no_memory:
	net6_drop(net6_tunnel_nn(t), skb, NET6_DROP_NO_MEMORY);
}

/* Our own multicast, which IPv4 brings back if it has waited in a qdisc of the
 * interface. Who heard it would find its own probes for duplicates.
 */
static int net6_tunnel_rcv_own(struct net6_net *nn, struct sk_buff *skb)
{
	struct net6_tunnel *t = net6_tunnel_find(nn, 0, ip_hdr(skb)->saddr);

	if (!t)
		return -ENOENT;
	net6_tunnel_count(t, NET6_TUNNEL_RX_OWN);
	consume_skb(skb);
	return 0;
}

/* Each 6over4 interface on the device that the packet came in on hears it. There are
 * NET6_TRANSITION_MAX in a namespace.
 */
static int net6_tunnel_rcv_group(struct net6_net *nn, struct sk_buff *skb)
{
	int link = skb->dev->ifindex;
	struct net6_tunnel *t, *last = NULL;
	struct sk_buff *clone;

	if (skb->pkt_type == PACKET_LOOPBACK)
		return net6_tunnel_rcv_own(nn, skb);
	list_for_each_entry_rcu(t, &nn->tunnels->sixover4, sixover4) {
		if (t->parms.link != link)
			continue;
		if (last) {
			clone = skb_clone(skb, GFP_ATOMIC);
			if (clone)
				net6_tunnel_receive(last, clone);
		}
		last = t;
	}
	if (!last)
		return -ENOENT;
	net6_tunnel_receive(last, skb);
	return 0;
}

/* In no tunnel of ours. If it is for an address of ours all the same, we have no tunnel with its
 * outer source (RFC 4213 3.6: "silently discard").
 */
static int net6_tunnel_rcv_stranger(struct net6_net *nn, struct sk_buff *skb)
{
	const struct ipv6hdr *inner = (const struct ipv6hdr *)skb->data;
	struct net6_iface *loopback = READ_ONCE(nn->loopback);

	if (inner->version != 6 || ipv6_addr_is_multicast(&inner->daddr) || !loopback ||
	    ipv6_addr_loopback(&inner->daddr) ||
	    !net6_accept_find(nn, &inner->daddr, loopback))
		return -ENOENT;
	net6_note_tunnel_drop(skb->dev->ifindex, NET6_DROP_TUNNEL_SOURCE);
	net6_drop(nn, skb, NET6_DROP_TUNNEL_SOURCE);
	return 0;
}

/* Softirq, RCU read lock held. The caller has made 40 bytes linear. */
static int net6_tunnel_rcv(struct sk_buff *skb)
{
	struct net6_net *nn = net6_pernet(dev_net(skb->dev));
	const struct iphdr *outer = ip_hdr(skb);
	struct net6_tunnel *t;

	if (ipv4_is_multicast(outer->daddr))
		return net6_tunnel_rcv_group(nn, skb);
	t = net6_tunnel_match(nn, outer->saddr, outer->daddr,
			      &((const struct ipv6hdr *)skb->data)->daddr);
	if (!t)
		return net6_tunnel_rcv_stranger(nn, skb);
	net6_tunnel_receive(t, skb);
	return 0;
}

/* Tell who sent the quoted packet. Returns false if the quotation is too short or does
 * not name an address of ours.
 */
static bool net6_tunnel_translate(struct net6_tunnel *t, struct sk_buff *skb,
				  unsigned int offset, enum net6_tunnel_error error, u32 mtu)
{
	struct net6_iface *iface = net6_link_iface(t->dev);
	const struct net6_accept *accept;
	struct sk_buff *quoted;
	bool told = false;

	if (!iface)
		return true;
	quoted = skb_clone(skb, GFP_ATOMIC);
	if (!quoted)
		return true;
	skb_dst_drop(quoted);
	if (!pskb_may_pull(quoted, offset + sizeof(struct ipv6hdr) + 8))
		goto free;
	__skb_pull(quoted, offset);
	skb_reset_network_header(quoted);
	quoted->pkt_type = PACKET_HOST;
	accept = net6_accept_find(iface->nn, &ipv6_hdr(quoted)->saddr, iface);
	if (ipv6_hdr(quoted)->version != 6 || !accept || accept->type != NET6_ACCEPT_UNICAST)
		goto free;
	if (error == NET6_TUNNEL_ERR_TOO_BIG)
		net6_link_too_big(iface, quoted, mtu);
	else
		net6_link_unreachable(iface, quoted);
	told = true;
free:
	consume_skb(quoted);
	return told;
}

static struct net6_tunnel *net6_tunnel_of_error(struct net6_net *nn, const struct sk_buff *skb)
{
	const struct iphdr *outer = (const struct iphdr *)skb->data;
	const struct ipv6hdr *inner;
	struct ipv6hdr buf;

	inner = skb_header_pointer(skb, outer->ihl * 4, sizeof(buf), &buf);
	return net6_tunnel_match(nn, outer->daddr, outer->saddr,
				 inner ? &inner->daddr : &in6addr_any);
}

/* An ICMPv4 error, RFC 4213 3.4. Softirq; data at the quoted IPv4 header, which is
 * linear. Returns 0 if it was about a packet of ours.
 */
static int net6_tunnel_err(struct sk_buff *skb, u32 info)
{
	unsigned int offset = ((const struct iphdr *)skb->data)->ihl * 4;
	const struct icmphdr *icmp = icmp_hdr(skb);
	struct net *net = dev_net(skb->dev);
	enum net6_tunnel_error error;
	struct net6_tunnel_fit fit;
	struct net6_tunnel *t;

	t = net6_tunnel_of_error(net6_pernet(net), skb);
	if (!t)
		return -ENOENT;
	error = net6_tunnel_error(icmp->type, icmp->code);
	net6_note_tunnel_error(t->dev->ifindex, icmp->type, icmp->code, info);
	switch (error) {
	case NET6_TUNNEL_ERR_TOO_BIG:
		/* IPv4 keeps the path MTU; our own sends will see it there. */
		net6_tunnel_count(t, NET6_TUNNEL_ICMP_TOO_BIG);
		ipv4_update_pmtu(skb, net, info, 0, IPPROTO_IPV6);
		fit = net6_tunnel_fit(info, true, READ_ONCE(t->dev->mtu));
		if (READ_ONCE(t->parms.pmtu))
			net6_tunnel_translate(t, skb, offset, error, fit.mtu);
		break;
	case NET6_TUNNEL_ERR_UNREACHABLE:
		net6_tunnel_count(t, NET6_TUNNEL_ICMP_UNREACHABLE);
		if (!net6_tunnel_translate(t, skb, offset, error, 0))
			WRITE_ONCE(t->error_at, jiffies ?: 1);
		break;
	case NET6_TUNNEL_ERR_REDIRECT:
		ipv4_redirect(skb, net, 0, IPPROTO_IPV6);
		break;
	case NET6_TUNNEL_ERR_IGNORE:
		break;
	}
	return 0;
}

static struct xfrm_tunnel net6_tunnel_handler __read_mostly = {
	.handler	= net6_tunnel_rcv,
	.err_handler	= net6_tunnel_err,
	.priority	= NET6_TUNNEL_PRIORITY,
};

/* Set by the first tunnel. Both are under net6_tunnel_rcv_lock. */
static void (*net6_tunnel_rcv_undo)(struct xfrm_tunnel *handler);
static bool net6_tunnel_rcv_over;
static DEFINE_MUTEX(net6_tunnel_rcv_lock);

static int net6_tunnel_rcv_start(void)
{
	int (*take)(struct xfrm_tunnel *handler) = symbol_request(net6_tunnel4_register);
	int err;

	if (!take)
		return -EOPNOTSUPP;
	/* The same module's, which the first one holds. */
	net6_tunnel_rcv_undo = symbol_get(net6_tunnel4_deregister);
	err = take(&net6_tunnel_handler);
	if (err) {
		symbol_put(net6_tunnel4_deregister);
		net6_tunnel_rcv_undo = NULL;
	}
	/* One reference is enough. */
	symbol_put(net6_tunnel4_register);
	return err;
}

/**
 * net6_tunnel_rcv_get() - take packets of protocol 41, if not done yet
 *
 * Loads net6_tunnel4, and tunnel4 with it, when it is installed.
 * Context: process, sleeps, no RTNL. Return: 0; -EOPNOTSUPP without the module; -EEXIST.
 */
int net6_tunnel_rcv_get(void)
{
	int err = 0;

	mutex_lock(&net6_tunnel_rcv_lock);
	if (net6_tunnel_rcv_over)
		err = -EOPNOTSUPP;
	else if (!net6_tunnel_rcv_undo)
		err = net6_tunnel_rcv_start();
	mutex_unlock(&net6_tunnel_rcv_lock);
	return err;
}

/**
 * net6_tunnel_rcv_exit() - take them no more; no CPU is doing so when this returns
 *
 * Context: process, sleeps.
 */
void net6_tunnel_rcv_exit(void)
{
	mutex_lock(&net6_tunnel_rcv_lock);
	net6_tunnel_rcv_over = true;
	if (net6_tunnel_rcv_undo) {
		net6_tunnel_rcv_undo(&net6_tunnel_handler);
		symbol_put(net6_tunnel4_deregister);
	}
	mutex_unlock(&net6_tunnel_rcv_lock);
}
