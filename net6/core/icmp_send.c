// SPDX-License-Identifier: GPL-2.0
/* ICMPv6 messages that we send: errors about received packets, with their rules and
 * rate limits (RFC 4443 section 2.4), and what Neighbor Discovery has written.
 */
#include <linux/slab.h>
#include <net/ipv6.h>

#include "addr.h"
#include "dest.h"
#include "icmp.h"
#include "l3mdev.h"
#include "nfhook.h"
#include "srcaddr_rules.h"

/* RFC 4443 2.4 (f), a token bucket: errors at once to one destination, and how many
 * more each second. The namespace's rate is limits.icmp_rate, its burst a tenth of it.
 */
#define NET6_ICMP_DEST_BURST	10
#define NET6_ICMP_DEST_RATE	10

/* Tokens are counted in units of 1/HZ errors, so that one jiffy adds the rate. */
#define NET6_ICMP_TOKEN		HZ

/**
 * struct net6_icmp_net - a namespace's token bucket
 * @lock: also for the buckets of its destinations
 * @tokens: in 1/HZ errors
 * @stamp: jiffies when they were counted
 */
struct net6_icmp_net {
	spinlock_t	lock;
	u32		tokens;
	unsigned long	stamp;
};

/* Count the tokens that time has brought. Return: is there one? */
static bool net6_icmp_fill(u32 *tokens, unsigned long *stamp, u32 rate, u32 burst)
{
	unsigned long now = jiffies;
	u64 have = *tokens + (u64)(now - *stamp) * rate;

	*stamp = now;
	*tokens = min_t(u64, have, (u64)burst * NET6_ICMP_TOKEN);
	return *tokens >= NET6_ICMP_TOKEN;
}

/* The namespace's bucket; its lock held. */
static bool net6_icmp_fill_net(struct net6_net *nn)
	__must_hold(&nn->icmp->lock)
{
	u32 rate = min_t(u32, READ_ONCE(nn->limits.icmp_rate), U32_MAX / HZ / 2);

	return net6_icmp_fill(&nn->icmp->tokens, &nn->icmp->stamp, rate,
			      max_t(u32, rate / 10, rate ? 1 : 0));
}

/* May one more error be sent, wherever it would go? Takes no token. */
static bool net6_icmp_allowed_any(struct net6_net *nn)
{
	bool ok;

	spin_lock_bh(&nn->icmp->lock);
	ok = net6_icmp_fill_net(nn);
	spin_unlock_bh(&nn->icmp->lock);
	return ok;
}

/**
 * net6_icmp_allowed() - may one more error or Redirect be sent?
 * @nn: namespace
 * @dest: where it would go; what we are told ourselves has the namespace's limit alone
 *
 * Context: BH disabled or process. Return: false if a rate limit (RFC 4443 2.4 (f)) is
 * reached.
 */
bool net6_icmp_allowed(struct net6_net *nn, struct net6_dest *dest)
{
	bool ok = true;

	spin_lock_bh(&nn->icmp->lock);
	if (!(dest->flags & NET6_DEST_LOCAL)) {
		ok = net6_icmp_fill(&dest->icmp_tokens, &dest->icmp_stamp, NET6_ICMP_DEST_RATE,
				    NET6_ICMP_DEST_BURST);
		if (ok)
			dest->icmp_tokens -= NET6_ICMP_TOKEN;
	}
	if (ok)
		ok = net6_icmp_fill_net(nn);
	if (ok)
		nn->icmp->tokens -= NET6_ICMP_TOKEN;
	spin_unlock_bh(&nn->icmp->lock);
	return ok;
}

/* RFC 4443 2.4 (e.1), (e.2): is it an ICMPv6 error or a Redirect, or may it be one? */
static bool net6_icmp_about_error(const struct sk_buff *skb, int nhoff)
{
	u8 nexthdr = ipv6_hdr(skb)->nexthdr;
	const u8 *type;
	__be16 frag_off;
	u8 buf;
	int at;

	at = ipv6_skip_exthdr(skb, nhoff + sizeof(struct ipv6hdr), &nexthdr, &frag_off);
	if (at < 0 || nexthdr != IPPROTO_ICMPV6)
		return false;
	if (frag_off & htons(IP6_OFFSET))
		return true;
	type = skb_header_pointer(skb, at, sizeof(buf), &buf);
	return !type || !(*type & ICMPV6_INFOMSG_MASK) || *type == NDISC_REDIRECT;
}

/* RFC 4443 2.4 (e) */
static bool net6_icmp_may_answer(const struct sk_buff *skb, int nhoff, u8 type, u8 code)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	/* (e.3) to (e.5) with their exceptions: Packet Too Big, and Parameter Problem
	 * with code 2, answer a group's packets too.
	 */
	bool groups = type == ICMPV6_PKT_TOOBIG ||
		      (type == ICMPV6_PARAMPROB && code == ICMPV6_UNK_OPTION);
	int stype = ipv6_addr_type(&h->saddr);

	/* (e.6): the source must name one node. */
	if (stype == IPV6_ADDR_ANY || (stype & IPV6_ADDR_MULTICAST))
		return false;
	if (!groups && (ipv6_addr_is_multicast(&h->daddr) || skb->pkt_type == PACKET_MULTICAST ||
			skb->pkt_type == PACKET_BROADCAST))
		return false;
	return !net6_icmp_about_error(skb, nhoff);
}

/* The packet's way and the error's are different ones: an address of the link that the packet came
 * in by tells more, to traceroute say. As native; a route may have asked for another.
 */
static bool net6_icmp_source_of_link(const struct sk_buff *skb, const struct net6_dest *dest,
				     struct in6_addr *own)
{
	const struct in6_addr *daddr = &dest->key.daddr;
	struct net6_iface *iface = net6_iface_find(dest->nn, skb->skb_iif);

	return iface && dest->iface != iface &&
	       !(dest->flags & (NET6_DEST_SOURCED | NET6_DEST_LOCAL)) &&
	       !net6_srcaddr_on(iface, daddr, own) &&
	       net6_srcaddr_scope(own) >= net6_srcaddr_scope(daddr);
}

/* RFC 4443 2.2: an error about a packet to an address of ours comes from that one. Else it "MAY be
 * selected [...] if this would lead to a more informative choice". Returns NULL when there is no
 * source address. @own is room for one.
 */
static const struct in6_addr *net6_icmp_source(struct net6_iface *iface, const struct sk_buff *skb,
					       struct net6_dest *dest, struct in6_addr *own)
{
	const struct net6_accept *accept;

	accept = net6_accept_find(iface->nn, &ipv6_hdr(skb)->daddr, iface);
	if (accept && accept->type == NET6_ACCEPT_UNICAST)
		return &accept->addr;
	if (net6_icmp_source_of_link(skb, dest, own))
		return own;
	return net6_dest_choose_saddr(dest) ? NULL : &dest->saddr;
}

static __sum16 net6_icmp_checksum(const struct sk_buff *skb, const struct in6_addr *saddr,
				  const struct in6_addr *daddr)
{
	return csum_ipv6_magic(saddr, daddr, skb->len, IPPROTO_ICMPV6,
			       skb_checksum(skb, 0, skb->len, 0));
}

static struct sk_buff *net6_icmp_make_error(const struct sk_buff *skb, int nhoff, u8 type,
					    u8 code, u32 info)
{
	/* RFC 4443 2.4 (c): "as much of the IPv6 offending (invoking) packet [...] as
	 * possible without making the error message packet exceed the minimum IPv6 MTU"
	 */
	unsigned int len = min_t(unsigned int, skb->len - nhoff,
				 NET6_MIN_MTU - sizeof(struct ipv6hdr) - sizeof(struct icmp6hdr));
	struct sk_buff *error = net6_icmp_alloc(sizeof(struct icmp6hdr) + len);
	struct icmp6hdr *h;

	if (!error)
		return NULL;
	h = skb_put_zero(error, sizeof(*h));
	h->icmp6_type = type;
	h->icmp6_code = code;
	h->icmp6_mtu = htonl(info);
	if (skb_copy_bits(skb, nhoff, skb_put(error, len), len)) {
		kfree_skb(error);
		return NULL;
	}
	return error;
}

static void net6_icmp_count(const struct net6_iface *iface, u8 type)
{
	NET6_INC_IFACE(iface, Icmp6OutMsgs);
	switch (type) {
	case ICMPV6_DEST_UNREACH:
		NET6_INC_IFACE(iface, Icmp6OutDestUnreachs);
		break;
	case ICMPV6_PKT_TOOBIG:
		NET6_INC_IFACE(iface, Icmp6OutPktTooBigs);
		break;
	case ICMPV6_TIME_EXCEED:
		NET6_INC_IFACE(iface, Icmp6OutTimeExcds);
		break;
	case ICMPV6_PARAMPROB:
		NET6_INC_IFACE(iface, Icmp6OutParmProblems);
		break;
	case ICMPV6_ECHO_REPLY:
		NET6_INC_IFACE(iface, Icmp6OutEchoReplies);
		break;
	case ICMPV6_MGM_REPORT:
		NET6_INC_IFACE(iface, Icmp6OutGroupMembResponses);
		break;
	case ICMPV6_MGM_REDUCTION:
		NET6_INC_IFACE(iface, Icmp6OutGroupMembReductions);
		break;
	case ICMPV6_MLD2_REPORT:
		NET6_INC_IFACE(iface, Icmp6OutMLDv2Reports);
		break;
	}
}

/**
 * net6_icmp_output() - send an ICMPv6 message by way of the destination cache
 * @skb: data at the ICMPv6 header, whose checksum is filled in here unless it is
 *	right already; consumed
 * @dest: where to
 * @saddr: source
 * @daddr: destination
 * @tclass: traffic class
 * @checksum: fill the checksum in
 *
 * Context: BH disabled, RCU read lock held.
 */
void net6_icmp_output(struct sk_buff *skb, struct net6_dest *dest, const struct in6_addr *saddr,
		      const struct in6_addr *daddr, u8 tclass, bool checksum)
{
	struct icmp6hdr *h = (struct icmp6hdr *)skb->data;

	if (checksum) {
		h->icmp6_cksum = 0;
		h->icmp6_cksum = net6_icmp_checksum(skb, saddr, daddr);
	}
	skb_reset_transport_header(skb);
	net6_icmp_count(dest->iface, h->icmp6_type);
	skb->ip_summed = CHECKSUM_NONE;
	skb->ignore_df = 1;
	net6_push_header(skb, saddr, daddr, IPPROTO_ICMPV6, net6_dest_hop_limit(dest),
			 htonl(tclass << 20));
	net6_output(skb, dest);
}

const struct net6_flow *net6_icmp_flow(const struct net6_net *nn)
{
	static const struct net6_flow flow = { .protocol = IPPROTO_ICMPV6 };

	return net6_rules_on(nn) ? &flow : NULL;
}

/**
 * net6_icmp_reply_dest() - where an answer to a received packet goes
 * @nn: namespace
 * @ifindex: interface that it came in on
 * @saddr: its destination if that may be the answer's source; with :: the entry has a source
 * @daddr: its source
 *
 * Context: BH disabled, RCU read lock held. Return: as net6_dest_lookup_key().
 */
struct net6_dest *net6_icmp_reply_dest(struct net6_net *nn, int ifindex,
				       const struct in6_addr *saddr,
				       const struct in6_addr *daddr)
{
	bool scoped = ipv6_addr_type(daddr) & IPV6_ADDR_LINKLOCAL;
	int oif = scoped ? ifindex : net6_l3mdev_of_ifindex(nn, ifindex);

	return net6_dest_lookup_flow(nn, saddr, daddr, oif, net6_icmp_flow(nn));
}

void net6_icmp_send(struct sk_buff *skb, u8 type, u8 code, u32 info)
{
	struct net6_net *nn = net6_pernet(dev_net(skb->dev));
	struct net6_iface *iface = net6_iface_find(nn, skb->dev->ifindex);
	struct in6_addr daddr = ipv6_hdr(skb)->saddr;
	const struct in6_addr *saddr;
	struct in6_addr own;
	/* RFC 4443 2.4 (f) is for "the bandwidth and forwarding costs", which this has not. */
	bool looped = skb->pkt_type == PACKET_LOOPBACK;
	int nhoff = skb_network_offset(skb);
	struct net6_dest *dest;
	struct sk_buff *error;

	if (!iface || !net6_icmp_may_answer(skb, nhoff, type, code))
		return;
	/* Asked first: what is not answered makes no destination. */
	if (!looped && !net6_icmp_allowed_any(nn)) {
		NET6_INC_IFACE(iface, Icmp6OutRateLimited);
		return;
	}
	dest = net6_icmp_reply_dest(nn, net6_rcv_ifindex(iface, skb), &ipv6_hdr(skb)->daddr,
				    &daddr);
	if (IS_ERR(dest))
		return;
	if (!looped && !net6_icmp_allowed(nn, dest)) {
		NET6_INC_IFACE(iface, Icmp6OutRateLimited);
		goto put;
	}
	saddr = net6_icmp_source(iface, skb, dest, &own);
	if (!saddr)
		goto put;
	error = net6_icmp_make_error(skb, nhoff, type, code, info);
	if (!error)
		goto put;
	/* If that is us, who is bound to the interface is to hear of it. */
	if (!looped)
		error->skb_iif = iface->ifindex;
	net6_icmp_output(error, dest, saddr, &daddr, 0, true);
put:
	net6_dest_put(dest);
}

/* The link's word on a packet of ours, told as a router would have told it. */
static void net6_icmp_from_link(struct net6_iface *iface, struct sk_buff *skb, u8 type, u8 code,
				u32 info)
{
	struct net_device *dev = skb->dev;

	skb->dev = iface->dev;
	net6_icmp_send(skb, type, code, info);
	skb->dev = dev;
}

void net6_link_too_big(struct net6_iface *iface, struct sk_buff *skb, u32 mtu)
{
	net6_icmp_from_link(iface, skb, ICMPV6_PKT_TOOBIG, 0, mtu);
}
EXPORT_SYMBOL_GPL(net6_link_too_big);

void net6_link_unreachable(struct net6_iface *iface, struct sk_buff *skb)
{
	net6_icmp_from_link(iface, skb, ICMPV6_DEST_UNREACH, ICMPV6_ADDR_UNREACH, 0);
}
EXPORT_SYMBOL_GPL(net6_link_unreachable);

void net6_link_problem(struct net6_iface *iface, struct sk_buff *skb, u32 pointer)
{
	net6_icmp_from_link(iface, skb, ICMPV6_PARAMPROB, ICMPV6_HDR_FIELD, pointer);
}
EXPORT_SYMBOL_GPL(net6_link_problem);

/* Everything but the headers in front. Returns false if the packet was dropped. */
static bool net6_icmp_finish(struct net6_iface *iface, struct sk_buff *skb,
			     const struct in6_addr *saddr, const struct in6_addr *daddr)
{
	struct icmp6hdr *h = (struct icmp6hdr *)skb->data;
	struct net6_net *nn = iface->nn;

	if (!net6_iface_usable(iface)) {
		net6_drop(nn, skb, NET6_DROP_IFACE_DOWN);
		return false;
	}
	h->icmp6_cksum = net6_icmp_checksum(skb, saddr, daddr);
	net6_icmp_count(iface, h->icmp6_type);
	NET6_INC_IFACE(iface, Ip6OutRequests);
	skb_reset_transport_header(skb);
	skb->dev = iface->dev;
	skb->priority = TC_PRIO_CONTROL;
	return true;
}

static void net6_icmp_to_group(struct net6_iface *iface, struct sk_buff *skb,
			       const struct in6_addr *daddr)
{
	u8 group[MAX_ADDR_LEN] = {};

	NET6_INC_IFACE(iface, Ip6OutMcastPkts);
	iface->ops->map_multicast(iface, daddr, group);
	iface->ops->send(iface, skb, group);
}

void net6_icmp_xmit(struct net6_iface *iface, struct sk_buff *skb, const struct in6_addr *saddr,
		    const struct in6_addr *daddr, u8 hop_limit, const u8 *lladdr)
{
	struct net6_neigh *neigh;
	int err;

	if (!net6_icmp_finish(iface, skb, saddr, daddr))
		return;
	net6_push_header(skb, saddr, daddr, IPPROTO_ICMPV6, hop_limit,
			 htonl(net6_conf(iface, NET6_PARAM_NDISC_TCLASS) << 20));
	NET6_ADD_IFACE(iface, Ip6OutOctets, skb->len);
	if (net6_nf_out_on() && !net6_nf_output(iface, skb, &err))
		return;
	if (lladdr) {
		iface->ops->send(iface, skb, lladdr);
		return;
	}
	/* On a raw link all is the other end's. */
	if (ipv6_addr_is_multicast(daddr) || (iface->ops->flags & NET6_LINK_RAW)) {
		net6_icmp_to_group(iface, skb, daddr);
		return;
	}
	neigh = net6_neigh_get_or_create(iface, daddr);
	if (!neigh) {
		net6_drop(iface->nn, skb, NET6_DROP_NO_MEMORY);
		return;
	}
	net6_neigh_output(neigh, skb);
	net6_neigh_put(neigh);
}

void net6_icmp_xmit_alert(struct net6_iface *iface, struct sk_buff *skb,
			  const struct in6_addr *saddr, const struct in6_addr *daddr)
{
	/* RFC 2711 2.1: value 0, "Datagram contains a Multicast Listener Discovery message";
	 * PadN of two octets
	 */
	static const u8 alert[NET6_ICMP_ALERT_LEN] = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 };
	int err;

	if (!net6_icmp_finish(iface, skb, saddr, daddr))
		return;
	memcpy(skb_push(skb, sizeof(alert)), alert, sizeof(alert));
	net6_push_header(skb, saddr, daddr, NEXTHDR_HOP, 1, 0);
	NET6_ADD_IFACE(iface, Ip6OutOctets, skb->len);
	if (!net6_nf_out_on() || net6_nf_output(iface, skb, &err))
		net6_icmp_to_group(iface, skb, daddr);
}

/**
 * net6_icmp_alloc() - a packet to write an ICMPv6 message into
 * @len: bytes of the message, its header included
 *
 * Context: any. Return: empty, with NET6_HEADROOM in front; NULL without memory.
 */
struct sk_buff *net6_icmp_alloc(unsigned int len)
{
	struct sk_buff *skb = alloc_skb(NET6_HEADROOM + len, GFP_ATOMIC);

	if (skb)
		skb_reserve(skb, NET6_HEADROOM);
	return skb;
}

/**
 * net6_icmp_net_init() - a namespace's rate limit
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_icmp_net_init(struct net6_net *nn)
{
	nn->icmp = kzalloc(sizeof(*nn->icmp), GFP_KERNEL_ACCOUNT);
	if (!nn->icmp)
		return -ENOMEM;
	spin_lock_init(&nn->icmp->lock);
	nn->icmp->tokens = nn->limits.icmp_rate / 10 * NET6_ICMP_TOKEN;
	nn->icmp->stamp = jiffies;
	return 0;
}

/**
 * net6_icmp_net_exit() - end of a namespace's rate limit
 * @nn: namespace that sends no more
 *
 * Context: process.
 */
void net6_icmp_net_exit(struct net6_net *nn)
{
	kfree(nn->icmp);
}
