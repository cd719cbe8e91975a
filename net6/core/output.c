// SPDX-License-Identifier: GPL-2.0
/* A packet's way down once its IPv6 header is complete: to ourselves, to a group, or to
 * the next hop, in fragments if need be. The usual packet passes three tests.
 */
#include <net/sock.h>

#include "../compat/inet_sock.h"
#include "addr.h"
#include "ip.h"
#include "loopback.h"
#include "nfhook.h"

/* Does the sender want its own datagrams to a group? (RFC 3493 5.2: by default) Neighbor
 * Discovery and MLD, which have no socket and come here from netfilter's queue, do not.
 */
static bool net6_output_wants_loop(const struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	/* In a tunnel it is the sender's of what is inside, which may be of any family. */
	return sk && sk_fullsock(sk) && sk->sk_family == AF_INET6 && sk_mc_loop(sk);
}

/* Returns NULL if the packet must not go to the wire. */
static struct sk_buff *net6_output_multicast(struct sk_buff *skb, struct net6_iface *iface)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct net6_net *nn = iface->nn;
	struct sk_buff *copy;
	bool stays;

	NET6_INC_IFACE(iface, Ip6OutMcastPkts);
	/* RFC 4291 2.7: interface-local scope never leaves the node. */
	stays = IPV6_ADDR_MC_SCOPE(&h->daddr) <= IPV6_ADDR_SCOPE_NODELOCAL || !h->hop_limit ||
		net6_iface_is_loopback(iface);
	if (net6_output_wants_loop(skb) && net6_accept_find(nn, &h->daddr, iface)) {
		copy = skb_clone(skb, GFP_ATOMIC);
		if (copy)
			net6_loopback_queue(iface, iface->ifindex, copy);
		else
			this_cpu_inc(nn->mib->drop[NET6_DROP_NO_MEMORY]);
	}
	if (!stays)
		return skb;
	consume_skb(skb);
	return NULL;
}

static int net6_output_too_big(struct sk_buff *skb, struct net6_dest *dest)
{
	unsigned int mtu = net6_dest_mtu(dest);
	struct net6_iface *iface = dest->iface;

	if (skb->len <= mtu)
		return net6_neigh_output(dest->neigh, skb);
	if (skb->ignore_df)
		return net6_frag_output(skb, dest->neigh, mtu);
	/* A segment made before the path MTU fell: the path's router will say so. */
	if (skb->len <= READ_ONCE(iface->mtu))
		return net6_neigh_output(dest->neigh, skb);
	net6_drop(iface->nn, skb, NET6_DROP_OUT_TOO_BIG);
	return -EMSGSIZE;
}

/**
 * net6_output_ask() - ask the programs of a sender's control group about its packet
 * @nn: namespace
 * @skb: complete, data at the IPv6 header, behind netfilter and not yet in fragments; consumed
 *	if they refuse it
 *
 * A packet without a socket, or of a request's or TIME-WAIT's, is nobody's, as on the native
 * stack. Callers ask by net6_output_egress(). Context: BH disabled, RCU read lock held.
 * Return: 0, NET_XMIT_CN if the sender is to slow down, or why it is refused. That is -EPERM as a
 * rule, and -ENOBUFS if it is to slow down as well.
 */
int net6_output_ask(struct net6_net *nn, struct sk_buff *skb)
{
	struct sock *sk = skb->sk;
	int err = BPF_CGROUP_RUN_PROG_INET_EGRESS(sk, skb);

	if (likely(err == NET_XMIT_SUCCESS || err == NET_XMIT_CN))
		return err;
	net6_drop(nn, skb, NET6_DROP_CGROUP_EGRESS);
	return err > 0 ? -ENOBUFS : err;
}

static __always_inline int net6_output_send(struct sk_buff *skb, struct net6_dest *dest)
{
	if (unlikely(dest->flags & (NET6_DEST_LOCAL | NET6_DEST_MULTICAST | NET6_DEST_TUNNEL))) {
		if (dest->flags & NET6_DEST_LOCAL)
			return net6_loopback_queue(dest->iface, skb->skb_iif ?: dest->ifindex,
						   skb);
		if (dest->flags & NET6_DEST_MULTICAST)
			skb = net6_output_multicast(skb, dest->iface);
		if (!skb)
			return 0;
		if (dest->flags & NET6_DEST_TUNNEL)
			net6_nf_attach(skb, dest);
	}
	if (unlikely(skb->len > READ_ONCE(dest->pmtu) && !skb_is_gso(skb)))
		return net6_output_too_big(skb, dest);
	return net6_neigh_output(dest->neigh, skb);
}

/* A control group somewhere has programs. */
static noinline int net6_output_asked(struct sk_buff *skb, struct net6_dest *dest)
{
	int asked = net6_output_ask(dest->nn, skb);

	return asked < 0 ? asked : net6_output_send(skb, dest) ?: asked;
}

/**
 * net6_output_finish() - send a packet that netfilter has seen
 * @skb: complete, data at the IPv6 header, skb->dev set; consumed. skb->skb_iif is 0, or the
 *	interface that it counts as received on if it is for ourselves
 * @dest: where to, by an interface that is usable
 *
 * Context: BH disabled, RCU read lock held. Return: as net6_output().
 */
int net6_output_finish(struct sk_buff *skb, struct net6_dest *dest)
{
	if (cgroup_bpf_enabled(CGROUP_INET_EGRESS))
		return net6_output_asked(skb, dest);
	return net6_output_send(skb, dest);
}

/**
 * net6_output_routed() - send a packet that came by a route of ours (takeover/dst.c)
 * @skb: as for net6_output(), behind NF_INET_LOCAL_OUT; consumed
 * @dest: where to
 *
 * Programs of control groups are not asked: skb->sk is the sender's of what is inside a tunnel.
 * Context: BH disabled, RCU read lock held. Return: as net6_output().
 */
int net6_output_routed(struct sk_buff *skb, struct net6_dest *dest)
{
	struct net6_iface *iface = dest->iface;
	int err;

	NET6_INC_IFACE(iface, Ip6OutRequests);
	NET6_ADD_IFACE(iface, Ip6OutOctets, skb->len);
	if (unlikely(!net6_iface_usable(iface))) {
		net6_drop(dest->nn, skb, NET6_DROP_IFACE_DOWN);
		return -ENETDOWN;
	}
	/* Where what is inside came in on. */
	skb->skb_iif = 0;
	if (net6_nf_post(iface, skb, NULL, &err))
		err = net6_output_send(skb, dest);
	return err;
}

static __always_inline int net6_output_by(struct sk_buff *skb, struct net6_dest *dest,
					  int (*finish)(struct sk_buff *skb,
							struct net6_dest *dest))
{
	struct net6_iface *iface = dest->iface;
	struct net6_net *nn = dest->nn;
	int err;

	rcu_read_lock_bh();
	NET6_INC_IFACE(iface, Ip6OutRequests);
	NET6_ADD_IFACE(iface, Ip6OutOctets, skb->len);
	if (unlikely(!net6_iface_usable(iface))) {
		net6_drop(nn, skb, NET6_DROP_IFACE_DOWN);
		err = -ENETDOWN;
		goto out;
	}
	skb->dev = iface->dev;
	if (!net6_nf_out_on() || net6_nf_output(iface, skb, &err))
		err = finish(skb, dest);
out:
	rcu_read_unlock_bh();
	return err;
}

int net6_output(struct sk_buff *skb, struct net6_dest *dest)
{
	return net6_output_by(skb, dest, net6_output_finish);
}

/**
 * net6_output_outer() - send a packet that has another one inside
 * @skb: as for net6_output(); consumed
 * @dest: where to
 *
 * Programs of control groups are not asked, see net6_output_routed(). Context: any.
 * Return: as net6_output().
 */
int net6_output_outer(struct sk_buff *skb, struct net6_dest *dest)
{
	return net6_output_by(skb, dest, net6_output_send);
}

/**
 * net6_output_init() - get ready to send
 *
 * Context: process. Return: 0.
 */
int net6_output_init(void)
{
	net6_frag_init();
	return 0;
}

/**
 * net6_output_exit() - end of sending
 *
 * Context: process.
 */
void net6_output_exit(void)
{
}
