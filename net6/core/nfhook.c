// SPDX-License-Identifier: GPL-2.0
/* netfilter's five hooks in takeover mode, at the places where native IPv6 calls them. A hook may
 * accept a packet, drop it, or keep it for later (NF_QUEUE). Then it goes on in one of the
 * functions that are named *_ok here, which look everything up again.
 *
 * Hooks see whole packets only. Fragments are put together before the first hook. A router does
 * so too, and sends them on in fragments of 1280 octets.
 */
#include <linux/netfilter_ipv6.h>
#include <net/dst.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "addr.h"
#include "dest.h"
#include "exthdr.h"
#include "forward.h"
#include "l3mdev.h"
#include "nfhook.h"
#include "proxy.h"

DEFINE_STATIC_KEY_FALSE(net6_nf_key);
static const struct net6_nf_route_ops *net6_nf_routes;

/* A piece of a packet with more headers in front of its Fragment header is dropped. */
#define NET6_NF_HEADERS	8

/**
 * enum net6_nf_kind - what nf_defrag_ipv6 would make of a packet
 * @NET6_NF_WHOLE: nothing that outlives the call
 * @NET6_NF_PIECE: it would wait for the other fragments
 * @NET6_NF_BAD: it would wait, and need not be put together
 */
enum net6_nf_kind {
	NET6_NF_WHOLE,
	NET6_NF_PIECE,
	NET6_NF_BAD,
};

/* A Fragment header: its offset, and that of the octet that names it. */
struct net6_nf_fragment {
	unsigned int	offset;
	unsigned int	nhoff;
};

/* A packet in a hook's hands has native's control block. */
static void net6_nf_cb_init(struct sk_buff *skb, int ifindex, bool reassembled)
{
	struct inet6_skb_parm *cb = IP6CB(skb);

	memset(cb, 0, sizeof(*cb));
	cb->iif = ifindex;
	cb->nhoff = offsetof(struct ipv6hdr, nexthdr);
	if (reassembled)
		cb->flags |= IP6SKB_FRAGMENTED;
}

static bool net6_nf_reassembled(const struct sk_buff *skb)
{
	return IP6CB(skb)->flags & IP6SKB_FRAGMENTED;
}

static struct sock *net6_nf_sk(const struct sk_buff *skb)
{
	return skb->sk && sk_fullsock(skb->sk) ? skb->sk : NULL;
}

/* Returns 1 if the packet may go on, else it is gone: 0, or why a sender is refused. */
static __always_inline int net6_nf_run(const unsigned int hook, struct net6_net *nn,
				       struct sk_buff *skb, struct net_device *in,
				       struct net_device *out,
				       int (*okfn)(struct net *, struct sock *, struct sk_buff *))
{
	int verdict = nf_hook(NFPROTO_IPV6, hook, nn->net, net6_nf_sk(skb), skb, in, out, okfn);

	if (verdict < 0)
		this_cpu_inc(nn->mib->drop[NET6_DROP_NETFILTER]);
	return verdict;
}

/* As native: what a VRF's port has received is the VRF's from routing on. */
static struct net_device *net6_nf_in(const struct net6_iface *iface)
{
	int index = net6_l3mdev_index(iface);
	const struct net6_iface *master = index ? net6_iface_find(iface->nn, index) : NULL;

	return unlikely(master) ? master->dev : iface->dev;
}

/* ---- up ---- */

/* The first Fragment header is to be found wherever nf_defrag_ipv6 finds it, find_prev_fhdr():
 * behind any number of headers, Authentication too.
 */
static bool net6_nf_find_fragment(const struct sk_buff *skb, struct net6_nf_fragment *at,
				  unsigned int *headers)
{
	u8 nexthdr = ipv6_hdr(skb)->nexthdr;
	const struct ipv6_opt_hdr *h;
	struct ipv6_opt_hdr buf;

	at->nhoff = offsetof(struct ipv6hdr, nexthdr);
	at->offset = sizeof(struct ipv6hdr);
	for (*headers = 0; nexthdr != NEXTHDR_FRAGMENT; ++*headers) {
		if (!ipv6_ext_hdr(nexthdr) || nexthdr == NEXTHDR_NONE)
			return false;
		h = skb_header_pointer(skb, at->offset, sizeof(buf), &buf);
		if (!h)
			return false;
		at->nhoff = at->offset;
		at->offset += nexthdr == NEXTHDR_AUTH ? ipv6_authlen(h) : ipv6_optlen(h);
		nexthdr = h->nexthdr;
	}
	return true;
}

static enum net6_nf_kind net6_nf_kind(const struct sk_buff *skb, struct net6_nf_fragment *at)
{
	const struct frag_hdr *fh;
	unsigned int headers;
	struct frag_hdr buf;

	if (!net6_nf_find_fragment(skb, at, &headers))
		return NET6_NF_WHOLE;
	fh = skb_header_pointer(skb, at->offset, sizeof(buf), &buf);
	if (!fh)
		return NET6_NF_WHOLE;
	if (fh->frag_off & htons(IP6_OFFSET | IP6_MF))
		return headers <= NET6_NF_HEADERS ? NET6_NF_PIECE : NET6_NF_BAD;
	/* An atomic fragment (RFC 6946) is not waited for, unless it has no data or no length. */
	return ipv6_hdr(skb)->payload_len && at->offset + sizeof(buf) < skb->len ?
	       NET6_NF_WHOLE : NET6_NF_BAD;
}

/* Returns a whole packet, data at its IPv6 header, or NULL if there is none yet. */
static struct sk_buff *net6_nf_reassemble(struct net6_iface *iface, struct sk_buff *skb,
					  const struct net6_nf_fragment *at)
{
	struct net6_rx_cb *cb = net6_rx_cb(skb);

	if (!pskb_may_pull(skb, at->offset)) {
		net6_drop(iface->nn, skb, NET6_DROP_NO_MEMORY);
		return NULL;
	}
	*cb = (struct net6_rx_cb) {
		.iface		= iface,
		.ifindex	= net6_rcv_ifindex(iface, skb),
		.nhoff		= at->nhoff,
		.nexthdr	= NEXTHDR_FRAGMENT,
	};
	skb_pull_rcsum(skb, at->offset);
	skb = net6_reasm_rcv(skb);
	if (skb)
		__skb_push(skb, -skb_network_offset(skb));
	return skb;
}

static int net6_nf_rcv_ok(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct net6_net *nn = net6_pernet(net);
	struct net6_iface *iface = net6_iface_find(nn, IP6CB(skb)->iif);

	skb_dst_drop(skb);
	if (iface && net6_iface_usable(iface))
		net6_rcv_route(iface, skb, net6_nf_reassembled(skb));
	else
		net6_drop(nn, skb, NET6_DROP_IFACE_DOWN);
	return 0;
}

/**
 * net6_nf_rcv() - receive a packet through NF_INET_PRE_ROUTING
 * @iface: interface it came in on
 * @skb: not shared, network header set, the IPv6 header linear; consumed
 *
 * Context: softirq or BH disabled, RCU read lock held.
 */
void net6_nf_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_net *nn = iface->nn;
	struct net6_nf_fragment at;
	enum net6_nf_kind kind;
	bool reassembled;

	/* A packet that is not in order is counted and dropped where it always is. */
	if (net6_rcv_check(skb, skb->pkt_type == PACKET_LOOPBACK) != NET6_DROP_MAX) {
		net6_rcv_route(iface, skb, false);
		return;
	}
	skb_orphan(skb);
	skb_dst_drop(skb);
	kind = net6_nf_kind(skb, &at);
	reassembled = kind == NET6_NF_PIECE;
	if (reassembled) {
		skb = net6_nf_reassemble(iface, skb, &at);
		if (!skb)
			return;
		kind = net6_nf_kind(skb, &at);
	}
	/* Not twice: RFC 8200 section 4.1 has each header "at most once". */
	if (kind != NET6_NF_WHOLE) {
		net6_drop(nn, skb, NET6_DROP_FRAG_INVALID);
		return;
	}
	skb_set_transport_header(skb, sizeof(struct ipv6hdr));
	net6_nf_cb_init(skb, iface->ifindex, reassembled);
	if (net6_nf_run(NF_INET_PRE_ROUTING, nn, skb, skb->dev, NULL, net6_nf_rcv_ok) == 1)
		net6_nf_rcv_ok(nn->net, NULL, skb);
}

static int net6_nf_local_in_ok(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct net6_net *nn = net6_pernet(net);
	struct net6_iface *iface = net6_iface_find(nn, IP6CB(skb)->iif);
	const struct net6_accept *accept;
	int reason;

	skb_dst_drop(skb);
	if (!iface || !net6_iface_usable(iface)) {
		net6_drop(nn, skb, NET6_DROP_IFACE_DOWN);
		return 0;
	}
	/* A program had it in its hands. */
	reason = net6_rcv_check(skb, skb->pkt_type == PACKET_LOOPBACK);
	if (reason != NET6_DROP_MAX) {
		net6_drop(nn, skb, reason);
		return 0;
	}
	accept = net6_accept_find(nn, &ipv6_hdr(skb)->daddr, iface) ?:
		 net6_proxy_accept(iface, skb);
	if (accept)
		net6_rcv_deliver(iface, skb, accept, net6_nf_reassembled(skb));
	else
		net6_drop(nn, skb, NET6_DROP_NOT_OURS);
	return 0;
}

/**
 * net6_nf_local_in() - NF_INET_LOCAL_IN for a packet that is ours
 * @iface: interface it came in on
 * @skb: in order, data at the IPv6 header
 * @reassembled: it came in fragments
 *
 * Context: softirq or BH disabled, RCU read lock held.
 * Return: whether it may be delivered; else it is consumed.
 */
bool net6_nf_local_in(struct net6_iface *iface, struct sk_buff *skb, bool reassembled)
{
	net6_nf_cb_init(skb, iface->ifindex, reassembled);
	skb_dst_set_noref(skb, &iface->rt->dst);
	if (net6_nf_run(NF_INET_LOCAL_IN, iface->nn, skb, net6_nf_in(iface), NULL,
			net6_nf_local_in_ok) != 1)
		return false;
	skb_dst_drop(skb);
	return true;
}

/* ---- down ---- */

/* Rules are asked about the packet as it is now. */
static struct net6_dest *net6_nf_lookup(struct net6_net *nn, struct sk_buff *skb, int oif)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct net6_flow flow;

	if (!net6_rules_on(nn))
		return net6_dest_lookup_from(nn, &h->saddr, &h->daddr, oif);
	net6_rules_flow(nn, skb, IP6CB(skb)->iif, &flow);
	return net6_dest_lookup_flow(nn, &h->saddr, &h->daddr, oif, &flow);
}

/* Has a chain of type route looked for a route again? It has set one with a reference. */
static bool net6_nf_rerouted(const struct net6_net *nn, const struct sk_buff *skb)
{
	return net6_rules_on(nn) && !skb_dst_is_noref(skb);
}

/* The destination of a packet that comes back from a hook. If it would not leave by the interface
 * that it was to leave by, its sender insisted on that one, or a rule chose it.
 */
static struct net6_dest *net6_nf_dest(struct net6_net *nn, struct sk_buff *skb)
{
	const struct net_device *out = skb_dst(skb)->dev;
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct net6_dest *dest;

	if (!(ipv6_addr_type(&h->daddr) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL))) {
		dest = net6_nf_lookup(nn, skb, net6_l3mdev_of_ifindex(nn, out->ifindex));
		if ((out->flags & IFF_LOOPBACK) ||
		    (!IS_ERR(dest) && (dest->iface->dev == out || dest->flags & NET6_DEST_LOCAL)))
			return dest;
		if (!IS_ERR(dest))
			net6_dest_put(dest);
	}
	return net6_nf_lookup(nn, skb, out->ifindex);
}

/* Who comes back may have another destination now. Consumes @skb without one. */
static struct net6_dest *net6_nf_usable_dest(struct net6_net *nn, struct sk_buff *skb)
{
	struct net6_dest *dest = net6_nf_dest(nn, skb);

	if (IS_ERR(dest)) {
		net6_drop(nn, skb, NET6_DROP_NO_ROUTE);
		return dest;
	}
	if (!net6_iface_usable(dest->iface)) {
		net6_dest_put(dest);
		net6_drop(nn, skb, NET6_DROP_IFACE_DOWN);
		return ERR_PTR(-ENETDOWN);
	}
	return dest;
}

static int net6_nf_post_ok(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct net6_dest *dest = net6_nf_usable_dest(net6_pernet(net), skb);
	int err;

	if (IS_ERR(dest))
		return PTR_ERR(dest);
	skb_dst_drop(skb);
	skb->dev = dest->iface->dev;
	if (net6_nf_reassembled(skb) && !(dest->flags & NET6_DEST_LOCAL))
		err = net6_forward_finish(dest->neigh, skb, true);
	else
		err = net6_output_finish(skb, dest);
	net6_dest_put(dest);
	return err;
}

/**
 * net6_nf_post() - NF_INET_POST_ROUTING
 * @iface: interface that the packet is to leave by
 * @skb: complete, data at the IPv6 header, with a route and native's control block
 * @in: device that it came in on, NULL if it is ours
 * @err: set to what the sender is told if false is returned, else to 0
 *
 * Context: BH disabled, RCU read lock held.
 * Return: whether it may go on, without a route; else it is consumed.
 */
bool net6_nf_post(struct net6_iface *iface, struct sk_buff *skb, struct net_device *in, int *err)
{
	skb->dev = iface->dev;
	if (net6_nf_on(NF_INET_POST_ROUTING)) {
		*err = net6_nf_run(NF_INET_POST_ROUTING, iface->nn, skb, in, iface->dev,
				   net6_nf_post_ok);
		if (*err != 1)
			return false;
	}
	skb_dst_drop(skb);
	*err = 0;
	return true;
}

/**
 * net6_nf_post_again() - NF_INET_POST_ROUTING for a packet that a VRF has routed once more
 * @iface: interface that it is to leave by
 * @skb: data at the IPv6 header
 * @err: as net6_nf_post()'s
 *
 * A fragment is not shown: the packet was, where it was whole. Context: as there.
 * Return: as there.
 */
bool net6_nf_post_again(struct net6_iface *iface, struct sk_buff *skb, int *err)
{
	struct net6_nf_fragment at;

	if (net6_nf_kind(skb, &at) != NET6_NF_WHOLE)
		return true;
	net6_nf_cb_init(skb, skb->skb_iif, false);
	skb_dst_drop(skb);
	skb_dst_set_noref(skb, &iface->rt->dst);
	return net6_nf_post(iface, skb, NULL, err);
}

/**
 * net6_nf_dst_output() - send a packet of ours that has passed NF_INET_LOCAL_OUT
 * @net: namespace
 * @sk: not used
 * @skb: data at the IPv6 header, with a route of nfroute.c; consumed
 *
 * Also the output function of these routes. Context: BH disabled or process.
 * Return: as net6_output().
 */
int net6_nf_dst_output(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct net6_dest *dest;
	int err;

	rcu_read_lock_bh();
	dest = net6_nf_usable_dest(net6_pernet(net), skb);
	if (IS_ERR(dest)) {
		err = PTR_ERR(dest);
		goto out;
	}
	skb_dst_drop(skb);
	skb_dst_set_noref(skb, &dest->iface->rt->dst);
	if (net6_nf_post(dest->iface, skb, NULL, &err))
		err = net6_output_finish(skb, dest);
	net6_dest_put(dest);
out:
	rcu_read_unlock_bh();
	return err;
}

/**
 * net6_nf_output() - NF_INET_LOCAL_OUT and NF_INET_POST_ROUTING for a packet of ours
 * @iface: interface that it is to leave by
 * @skb: complete, data at the IPv6 header, whole
 * @err: set to what the sender is told if false is returned
 *
 * Context: BH disabled, RCU read lock held.
 * Return: whether it may go on as it was meant to; else it is consumed, or on another way.
 */
bool net6_nf_output(struct net6_iface *iface, struct sk_buff *skb, int *err)
{
	struct in6_addr daddr = ipv6_hdr(skb)->daddr;
	struct net6_net *nn = iface->nn;
	struct net6_nf_fragment at;

	/* A fragment that a program wrote itself: see the head of this file. */
	if (net6_nf_kind(skb, &at) != NET6_NF_WHOLE) {
		net6_drop(nn, skb, NET6_DROP_NETFILTER);
		*err = -EPERM;
		return false;
	}
	net6_nf_cb_init(skb, 0, false);
	skb_dst_set_noref(skb, &iface->rt->dst);
	if (net6_nf_on(NF_INET_LOCAL_OUT)) {
		*err = net6_nf_run(NF_INET_LOCAL_OUT, nn, skb, NULL, iface->dev,
				   net6_nf_dst_output);
		if (*err != 1)
			return false;
		if (!ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &daddr) ||
		    net6_nf_rerouted(nn, skb)) {
			*err = net6_nf_dst_output(nn->net, NULL, skb);
			return false;
		}
	}
	return net6_nf_post(iface, skb, NULL, err);
}

/* ---- through ---- */

static int net6_nf_forward_ok(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct net6_dest *dest = net6_nf_usable_dest(net6_pernet(net), skb);
	bool reassembled;
	int err;

	if (IS_ERR(dest))
		return PTR_ERR(dest);
	reassembled = net6_nf_reassembled(skb);
	skb_dst_drop(skb);
	skb_dst_set_noref(skb, &dest->iface->rt->dst);
	if (dest->flags & NET6_DEST_LOCAL)
		net6_drop(dest->nn, skb, NET6_DROP_NOT_OURS);
	else if (net6_nf_post(dest->iface, skb, skb->dev, &err))
		net6_forward_finish(dest->neigh, skb, reassembled);
	net6_dest_put(dest);
	return 0;
}

/**
 * net6_nf_forward() - NF_INET_FORWARD and NF_INET_POST_ROUTING for others' packets
 * @iface: interface that it came in on
 * @skb: one hop further, data at the IPv6 header
 * @out: interface that it is to leave by
 * @reassembled: it came in fragments
 *
 * Context: BH disabled, RCU read lock held.
 * Return: whether it may go on; else it is consumed.
 */
bool net6_nf_forward(struct net6_iface *iface, struct sk_buff *skb, struct net6_iface *out,
		     bool reassembled)
{
	struct net_device *in = net6_nf_in(iface);
	int err;

	net6_nf_cb_init(skb, iface->ifindex, reassembled);
	skb_dst_set_noref(skb, &out->rt->dst);
	if (net6_nf_on(NF_INET_FORWARD) &&
	    net6_nf_run(NF_INET_FORWARD, iface->nn, skb, in, out->dev, net6_nf_forward_ok) != 1)
		return false;
	return net6_nf_post(out, skb, in, &err);
}

/* ---- routes ---- */

/**
 * net6_nf_enable() - hooks are called from now on
 * @ops: constant until net6_nf_disable()
 *
 * Context: process; there is no interface yet.
 */
void net6_nf_enable(const struct net6_nf_route_ops *ops)
{
	net6_nf_routes = ops;
	static_branch_enable(&net6_nf_key);
}

/**
 * net6_nf_disable() - hooks are called no more
 *
 * Context: process; there is no interface any more.
 */
void net6_nf_disable(void)
{
	static_branch_disable(&net6_nf_key);
}

/**
 * net6_nf_iface_init() - make the route that an interface's packets have in hooks
 * @iface: being attached
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_nf_iface_init(struct net6_iface *iface)
{
	if (!static_branch_unlikely(&net6_nf_key))
		return 0;
	return net6_nf_routes->init(iface);
}

/**
 * net6_nf_iface_exit() - take it away again
 * @iface: on no packet's way any more; a queued packet may still have the route
 *
 * Context: process.
 */
void net6_nf_iface_exit(struct net6_iface *iface)
{
	if (iface->rt)
		net6_nf_routes->exit(iface);
}

/**
 * net6_nf_attach() - let a tunnel say how much it carries to a destination
 * @skb: packet of ours, data at the IPv6 header, without a route
 * @dest: where it goes, by an interface that net6_iface_keeps_dst()
 *
 * A route holds the module until the device has let it go, so only a socket's packet has one: its
 * socket holds the module as well. Few of them have, as it costs an allocation.
 * Context: BH disabled, RCU read lock held.
 */
void net6_nf_attach(struct sk_buff *skb, struct net6_dest *dest)
{
	unsigned long asked = READ_ONCE(dest->asked);

	if (skb->len <= NET6_MIN_MTU || !skb->sk || !sk_fullsock(skb->sk) ||
	    time_before(jiffies, asked + NET6_DEST_ASK))
		return;
	WRITE_ONCE(dest->asked, jiffies);
	net6_nf_routes->attach(skb, dest);
}
