// SPDX-License-Identifier: GPL-2.0
/* Ancillary data of RFC 3542: what a program gives with a datagram and what it is told
 * about one. Extension headers that are sent: sticky.c.
 */
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ipv6.h>

#include "../compat/inet_sock.h"
#include "../core/addr.h"
#include "../core/l3mdev.h"
#include "sock.h"

static int net6_cmsg_int(const struct cmsghdr *cmsg, int min, int max, int *val)
{
	int v;

	if (cmsg->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EINVAL;
	v = *(int *)CMSG_DATA(cmsg);
	if (v < min || v > max)
		return -EINVAL;
	*val = v;
	return 0;
}

/* RFC 3542 6.1: interface and source address; either may be unspecified. */
static int net6_cmsg_pktinfo(struct sock *sk, const struct cmsghdr *cmsg, struct net6_tx *tx)
{
	const struct in6_pktinfo *info = (struct in6_pktinfo *)CMSG_DATA(cmsg);
	struct net *net = sock_net(sk);
	int ifindex, type, err = 0;

	if (cmsg->cmsg_len < CMSG_LEN(sizeof(*info)))
		return -EINVAL;
	ifindex = info->ipi6_ifindex;
	type = ipv6_addr_type(&info->ipi6_addr);
	rcu_read_lock();
	if (!net6_l3mdev_reaches(net6_pernet(net), tx->oif, ifindex)) {
		rcu_read_unlock();
		return -EINVAL;
	}
	tx->oif = ifindex ?: tx->oif;
	if (tx->oif && !dev_get_by_index_rcu(net, tx->oif))
		err = -ENODEV;
	else if (!tx->oif && (type & IPV6_ADDR_LINKLOCAL))
		err = -EINVAL;
	else if (type == IPV6_ADDR_ANY)
		err = 0;
	else if (net6_opt(sk, FREEBIND) || net6_opt(sk, TRANSPARENT) ||
		 READ_ONCE(net6_pernet(net)->settings.ip_nonlocal_bind) ||
		 net6_addr_usable(net6_pernet(net), &info->ipi6_addr, tx->oif))
		tx->saddr = info->ipi6_addr;
	else
		err = -EINVAL;
	rcu_read_unlock();
	return err;
}

static int net6_cmsg_ipv6(struct sock *sk, const struct cmsghdr *cmsg, struct net6_tx *tx)
{
	switch (cmsg->cmsg_type) {
	case IPV6_PKTINFO:
	case IPV6_2292PKTINFO:
		return net6_cmsg_pktinfo(sk, cmsg, tx);
	case IPV6_HOPLIMIT:
	case IPV6_2292HOPLIMIT:
		return net6_cmsg_int(cmsg, -1, 0xff, &tx->hop_limit);
	case IPV6_TCLASS:
		return net6_cmsg_int(cmsg, -1, 0xff, &tx->tclass);
	case IPV6_DONTFRAG:
		return net6_cmsg_int(cmsg, 0, 1, &tx->dontfrag);
	case IPV6_FLOWINFO:
		if (cmsg->cmsg_len < CMSG_LEN(sizeof(__be32)))
			return -EINVAL;
		tx->flowinfo = *(__be32 *)CMSG_DATA(cmsg) & IPV6_FLOWINFO_MASK;
		return 0;
	case IPV6_HOPOPTS:
	case IPV6_2292HOPOPTS:
	case IPV6_RTHDRDSTOPTS:
	case IPV6_RTHDR:
	case IPV6_2292RTHDR:
	case IPV6_DSTOPTS:
	case IPV6_2292DSTOPTS:
		return net6_cmsg_exthdr(sk, cmsg, tx);
	default:
		return -EINVAL;
	}
}

/**
 * net6_cmsg_send() - read the ancillary data of a sendmsg()
 * @sk: datagram socket
 * @msg: message, control data in kernel memory
 * @tx: filled in before with the socket's settings, changed here
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_cmsg_send(struct sock *sk, struct msghdr *msg, struct net6_tx *tx)
{
	struct cmsghdr *cmsg;
	int err;

	err = sock_cmsg_send(sk, msg, &tx->sockc);
	if (err)
		return err;
	for_each_cmsghdr(cmsg, msg) {
		if (!CMSG_OK(msg, cmsg))
			return -EINVAL;
		if (cmsg->cmsg_level == SOL_UDP && net6_sk_is_udp(sk)) {
			if (cmsg->cmsg_type != UDP_SEGMENT ||
			    cmsg->cmsg_len != CMSG_LEN(sizeof(u16)))
				return -EINVAL;
			tx->gso_size = *(u16 *)CMSG_DATA(cmsg);
		} else if (cmsg->cmsg_level == SOL_IPV6) {
			err = net6_cmsg_ipv6(sk, cmsg, tx);
			if (err)
				return err;
		}
	}
	return 0;
}

/* Extension headers of a received packet, from behind the IPv6 header to the transport header.
 * The core has pulled and checked them, so they are linear.
 */
static void net6_cmsg_recv_exthdrs(struct sock *sk, struct msghdr *msg, struct sk_buff *skb)
{
	const struct ipv6_pinfo *np = net6_np(sk);
	u8 *ptr = skb_network_header(skb) + sizeof(struct ipv6hdr);
	u8 *end = skb_transport_header(skb);
	u8 nexthdr = ipv6_hdr(skb)->nexthdr;
	unsigned int len;

	for (; end - ptr >= 8; ptr += len) {
		len = ipv6_optlen((struct ipv6_opt_hdr *)ptr);
		if (nexthdr == NEXTHDR_FRAGMENT)
			len = sizeof(struct frag_hdr);
		if (len > end - ptr)
			return;
		switch (nexthdr) {
		case NEXTHDR_HOP:
			if (np->rxopt.bits.hopopts)
				put_cmsg(msg, SOL_IPV6, IPV6_HOPOPTS, len, ptr);
			if (np->rxopt.bits.ohopopts)
				put_cmsg(msg, SOL_IPV6, IPV6_2292HOPOPTS, len, ptr);
			break;
		case NEXTHDR_ROUTING:
			if (np->rxopt.bits.srcrt)
				put_cmsg(msg, SOL_IPV6, IPV6_RTHDR, len, ptr);
			if (np->rxopt.bits.osrcrt)
				put_cmsg(msg, SOL_IPV6, IPV6_2292RTHDR, len, ptr);
			break;
		case NEXTHDR_DEST:
			if (np->rxopt.bits.dstopts)
				put_cmsg(msg, SOL_IPV6, IPV6_DSTOPTS, len, ptr);
			if (np->rxopt.bits.odstopts)
				put_cmsg(msg, SOL_IPV6, IPV6_2292DSTOPTS, len, ptr);
			break;
		case NEXTHDR_FRAGMENT:
			break;
		default:
			return;
		}
		nexthdr = *ptr;
	}
}

static void net6_cmsg_recv_origdst(struct msghdr *msg, struct sk_buff *skb, int ifindex)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };

	/* Source and destination port, the first four bytes of every such protocol. */
	if (skb_transport_header(skb) + 4 > skb_tail_pointer(skb))
		return;
	sin6.sin6_addr = ipv6_hdr(skb)->daddr;
	sin6.sin6_port = ((__be16 *)skb_transport_header(skb))[1];
	sin6.sin6_scope_id = net6_zone(&sin6.sin6_addr, ifindex);
	put_cmsg(msg, SOL_IPV6, IPV6_ORIGDSTADDR, sizeof(sin6), &sin6);
}

/* Of an IPv4 packet there is only its destination to tell, as on Linux. */
static void net6_cmsg_recv_ipv4(const struct ipv6_pinfo *np, struct msghdr *msg,
				struct sk_buff *skb, int ifindex)
{
	struct in6_pktinfo info = { .ipi6_ifindex = ifindex };

	ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &info.ipi6_addr);
	if (np->rxopt.bits.rxinfo)
		put_cmsg(msg, SOL_IPV6, IPV6_PKTINFO, sizeof(info), &info);
}

/**
 * net6_cmsg_recv() - tell a program what it asked to know about a packet
 * @sk: datagram socket with at least one bit of rxopt set
 * @msg: where the control data goes
 * @skb: packet; network and transport header set
 * @ifindex: interface it came in on
 *
 * Context: process.
 */
void net6_cmsg_recv(struct sock *sk, struct msghdr *msg, struct sk_buff *skb, int ifindex)
{
	const struct ipv6_pinfo *np = net6_np(sk);
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct in6_pktinfo info;
	__be32 flowinfo;
	int val;

	if (unlikely(skb->protocol == htons(ETH_P_IP))) {
		net6_cmsg_recv_ipv4(np, msg, skb, ifindex);
		return;
	}
	if (np->rxopt.bits.rxinfo || np->rxopt.bits.rxoinfo) {
		info.ipi6_ifindex = ifindex;
		info.ipi6_addr = h->daddr;
		if (np->rxopt.bits.rxinfo)
			put_cmsg(msg, SOL_IPV6, IPV6_PKTINFO, sizeof(info), &info);
		if (np->rxopt.bits.rxoinfo)
			put_cmsg(msg, SOL_IPV6, IPV6_2292PKTINFO, sizeof(info), &info);
	}
	val = h->hop_limit;
	if (np->rxopt.bits.rxhlim)
		put_cmsg(msg, SOL_IPV6, IPV6_HOPLIMIT, sizeof(val), &val);
	if (np->rxopt.bits.rxohlim)
		put_cmsg(msg, SOL_IPV6, IPV6_2292HOPLIMIT, sizeof(val), &val);
	if (np->rxopt.bits.rxtclass) {
		val = ipv6_get_dsfield(h);
		put_cmsg(msg, SOL_IPV6, IPV6_TCLASS, sizeof(val), &val);
	}
	flowinfo = ip6_flowinfo(h);
	if (np->rxopt.bits.rxflow && flowinfo)
		put_cmsg(msg, SOL_IPV6, IPV6_FLOWINFO, sizeof(flowinfo), &flowinfo);
	if (np->rxopt.bits.hopopts || np->rxopt.bits.srcrt || np->rxopt.bits.dstopts ||
	    np->rxopt.bits.ohopopts || np->rxopt.bits.osrcrt || np->rxopt.bits.odstopts)
		net6_cmsg_recv_exthdrs(sk, msg, skb);
	if (np->rxopt.bits.rxorigdstaddr)
		net6_cmsg_recv_origdst(msg, skb, ifindex);
}
