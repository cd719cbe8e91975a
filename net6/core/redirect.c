// SPDX-License-Identifier: GPL-2.0
/* Redirects, RFC 4861 section 8: what a host learns of them and when a router sends one.
 */
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "addr.h"
#include "forward.h"
#include "icmp.h"
#include "l3mdev.h"
#include "nd.h"
#include "nd_opts.h"

/* Redirect, RFC 4861 4.5. */
struct net6_redirect_msg {
	struct icmp6hdr	icmp;
	struct in6_addr	target;
	struct in6_addr	dest;
};

/* RFC 4861 8.1: "The IP source address of the Redirect is the same as the current
 * first-hop router for the specified ICMP Destination Address." Returns a reference, or NULL.
 */
static struct net6_dest *net6_redirect_first_hop(struct net6_iface *iface,
						 const struct net6_dest_key *key,
						 const struct in6_addr *router)
{
	struct net6_dest *d = net6_dest_lookup_key(iface->nn, key);

	if (IS_ERR(d))
		return NULL;
	if (d->iface == iface && d->neigh && ipv6_addr_equal(&d->neigh->addr, router))
		return d;
	net6_dest_put(d);
	return NULL;
}

static bool net6_redirect_is_first_hop(struct net6_iface *iface, const struct net6_dest_key *key,
				       const struct in6_addr *router)
{
	struct net6_dest *d = net6_redirect_first_hop(iface, key, router);

	if (d)
		net6_dest_put(d);
	return d;
}

/* Its number if sources may have chosen that router (RFC 8028), else 0. */
static u32 net6_redirect_router(struct net6_iface *iface, const struct in6_addr *addr)
{
	const struct net6_router *router = NULL;

	if (READ_ONCE(iface->nn->n_routers) > 1)
		router = net6_router_find(iface, addr);
	return router ? router->id : 0;
}

/* Where there are rules, it is for what they have nothing to say about. */
static u64 net6_redirect_rule(const struct net6_net *nn, int oif)
{
	const struct net6_dest_key key = { .oif = oif };
	struct flowi6 fl6;

	if (!net6_rules_on(nn))
		return 0;
	net6_rules_ask(nn, &key, &in6addr_any, NULL, &fl6);
	return net6_rules_hash(nn, &fl6);
}

/* For senders that insist on this interface. */
static bool net6_redirect_is_from_first_hop(struct net6_iface *iface, const struct in6_addr *dest,
					    const struct in6_addr *addr)
{
	struct net6_dest_key key = {
		.daddr	= *dest,
		.oif	= iface->ifindex,
		.rule	= net6_redirect_rule(iface->nn, iface->ifindex),
	};

	if (net6_redirect_is_first_hop(iface, &key, addr))
		return true;
	key.first_hop = net6_redirect_router(iface, addr);
	if (!key.first_hop)
		return false;
	if (net6_redirect_is_first_hop(iface, &key, addr))
		return true;
	key.first_hop = NET6_DEST_SETTLED;
	return net6_redirect_is_first_hop(iface, &key, addr);
}

/* For senders that insist on this interface or this router, and for others, if it is theirs. In a
 * VRF the others insist on its device.
 */
static void net6_redirect_take(struct net6_iface *iface, const struct net6_redirect_msg *rd,
			       const struct in6_addr *addr)
{
	const u32 id = net6_redirect_router(iface, addr);
	const int any = net6_l3mdev_index(iface);
	const struct {
		u32	first_hop;
		int	oif;
	} senders[] = {
		{ 0, any }, { 0, iface->ifindex }, { id, any }, { id, iface->ifindex },
		{ NET6_DEST_SETTLED, any }, { NET6_DEST_SETTLED, iface->ifindex },
	};
	struct net6_dest_key key = { .daddr = rd->dest };
	struct net6_dest *d;
	unsigned int i;

	for (i = 0; i < (id ? ARRAY_SIZE(senders) : 2); i++) {
		key.first_hop = senders[i].first_hop;
		key.oif = senders[i].oif;
		key.rule = net6_redirect_rule(iface->nn, key.oif);
		d = net6_redirect_first_hop(iface, &key, addr);
		if (!d)
			continue;
		net6_dest_redirect(d, &rd->target);
		net6_dest_put(d);
	}
}

/* RFC 4861 8.1, behind net6_nd_check(). */
static enum net6_drop_reason net6_redirect_check(struct net6_iface *iface,
						 const struct sk_buff *skb,
						 const struct net6_redirect_msg *rd)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);

	/* "IP Source Address is a link-local address." */
	if (!(ipv6_addr_type(&h->saddr) & IPV6_ADDR_LINKLOCAL))
		return NET6_DROP_ND_SOURCE;
	/* "The ICMP Destination Address field does not contain a multicast address." */
	if (ipv6_addr_is_multicast(&rd->dest) || ipv6_addr_any(&rd->dest) ||
	    ipv6_addr_loopback(&rd->dest))
		return NET6_DROP_ND_DEST;
	/* "The ICMP Target Address is either a link-local address (when redirected to
	 * a router) or the same as the ICMP Destination Address."
	 */
	if ((ipv6_addr_type(&rd->target) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MULTICAST)) !=
	    IPV6_ADDR_LINKLOCAL && !ipv6_addr_equal(&rd->target, &rd->dest))
		return NET6_DROP_ND_TARGET;
	if (!net6_redirect_is_from_first_hop(iface, &rd->dest, &h->saddr))
		return NET6_DROP_ND_SOURCE;
	return NET6_DROP_MAX;
}

/**
 * net6_redirect_rcv() - a Redirect
 * @iface: interface it came in on
 * @skb: data at the ICMPv6 header, checksum good; consumed
 *
 * Context: softirq, RCU read lock held.
 */
void net6_redirect_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_neigh_news news = {
		.event		= NET6_NEIGH_EV_LLADDR,
		.nexthop	= true,
		.create		= true,
	};
	const struct net6_redirect_msg *rd;
	enum net6_drop_reason reason;
	struct net6_nd_opts opts;
	u8 buf[MAX_ADDR_LEN];

	NET6_INC_IFACE(iface, Icmp6InRedirects);
	/* RFC 4861 8.2: "A router MUST NOT update its routing tables upon receipt of a
	 * Redirect."
	 */
	reason = NET6_DROP_ND_IGNORED;
	if (net6_forward_on(iface) || !net6_conf(iface, NET6_PARAM_ACCEPT_REDIRECTS))
		goto drop;
	if (!net6_nd_check(iface, skb, sizeof(*rd), &opts))
		return;
	rd = (const struct net6_redirect_msg *)skb->data;
	reason = net6_redirect_check(iface, skb, rd);
	if (reason != NET6_DROP_MAX)
		goto drop;
	reason = NET6_DROP_ND_OPTION;
	if (!net6_nd_lladdr(iface, opts.tlla, opts.tlla_len, buf, &news.lladdr))
		goto drop;

	/* RFC 4861 8.3: a target that is not the destination is a router. */
	news.is_router = !ipv6_addr_equal(&rd->target, &rd->dest);
	reason = NET6_DROP_ND_LIMIT;
	if (!net6_neigh_learn(iface, &rd->target, &news))
		goto drop;
	net6_redirect_take(iface, rd, &ipv6_hdr(skb)->saddr);
	consume_skb(skb);
	return;

drop:
	net6_drop(iface->nn, skb, reason);
}

/* RFC 4861 8.2: "the Source Address field of the packet identifies a neighbor" */
static bool net6_redirect_from_neighbor(struct net6_iface *iface, const struct in6_addr *saddr)
{
	const struct net6_prefix *prefix;

	if (ipv6_addr_type(saddr) & IPV6_ADDR_LINKLOCAL)
		return true;
	prefix = net6_prefix_match(net6_iface_table(iface), saddr, iface->ifindex);
	return prefix && prefix->iface == iface;
}

/* RFC 4861 4.6.3: "as much as possible of the IP packet that triggered the sending of the
 * Redirect without making the Redirect packet exceed the minimum MTU"
 */
static bool net6_redirect_put_packet(struct sk_buff *rd, const struct sk_buff *skb)
{
	unsigned int room = NET6_MIN_MTU - sizeof(struct ipv6hdr) - rd->len - NET6_ND_RD_HEADER;
	unsigned int len = min(skb->len, room) & ~7U;
	u8 *opt = skb_put_zero(rd, NET6_ND_RD_HEADER);

	opt[0] = NET6_ND_OPT_REDIRECTED;
	opt[1] = (NET6_ND_RD_HEADER + len) / 8;
	return !skb_copy_bits(skb, 0, skb_put(rd, len), len);
}

static struct sk_buff *net6_redirect_make(struct net6_iface *iface, const struct sk_buff *skb,
					  const struct in6_addr *target, struct net6_neigh *neigh)
{
	struct net6_redirect_msg *msg;
	u8 lladdr[MAX_ADDR_LEN];
	struct sk_buff *rd;

	rd = net6_icmp_alloc(NET6_MIN_MTU - sizeof(struct ipv6hdr));
	if (!rd)
		return NULL;
	msg = skb_put_zero(rd, sizeof(*msg));
	msg->icmp.icmp6_type = NDISC_REDIRECT;
	msg->target = *target;
	msg->dest = ipv6_hdr(skb)->daddr;
	if (net6_neigh_lladdr(neigh, lladdr))
		net6_nd_put_lladdr(iface, rd, NET6_ND_OPT_TLLA, lladdr);
	if (net6_redirect_put_packet(rd, skb))
		return rd;
	kfree_skb(rd);
	return NULL;
}

/**
 * net6_redirect_send() - tell a host of a better first hop, RFC 4861 8.2
 * @iface: interface that the packet came in on
 * @skb: the packet, data at its IPv6 header; neither changed nor consumed
 * @hop: where it goes, through @iface too
 *
 * Rate-limited like errors, and left out where a rule of the RFC says so.
 * Context: softirq, RCU read lock held.
 */
void net6_redirect_send(struct net6_iface *iface, const struct sk_buff *skb,
			const struct net6_hop *hop)
{
	const struct in6_addr *saddr = &ipv6_hdr(skb)->saddr;
	const struct in6_addr *target = &hop->neigh->addr;
	struct net6_dest *back;
	struct in6_addr own;
	struct sk_buff *rd;

	if (!(iface->ops->flags & NET6_LINK_ND) || !net6_redirect_from_neighbor(iface, saddr))
		return;
	/* "For redirection to a router: the router's link-local address" */
	if (!(hop->flags & NET6_DEST_ONLINK) &&
	    !(ipv6_addr_type(target) & IPV6_ADDR_LINKLOCAL))
		return;
	if (!net6_addr_linklocal(iface, &own))
		return;
	back = net6_icmp_reply_dest(iface->nn, iface->ifindex, &in6addr_any, saddr);
	if (IS_ERR(back))
		return;
	if (back->iface != iface)
		goto put;
	if (!net6_icmp_allowed(iface->nn, back)) {
		NET6_INC_IFACE(iface, Icmp6OutRateLimited);
		goto put;
	}
	rd = net6_redirect_make(iface, skb, target, hop->neigh);
	if (rd) {
		NET6_INC_IFACE(iface, Icmp6OutRedirects);
		net6_icmp_xmit(iface, rd, &own, saddr, NET6_ND_HOP_LIMIT, NULL);
	}
put:
	net6_dest_put(back);
}
