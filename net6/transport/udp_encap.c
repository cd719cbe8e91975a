// SPDX-License-Identifier: GPL-2.0
/* UDP sockets of the kernel's tunnels (udp_sock.encap_rcv): WireGuard, VXLAN, GENEVE, bareudp,
 * L2TP, TIPC, RxRPC. They take what comes to them here, and are told of ICMPv6 errors. What they
 * send goes by a route of takeover/dst.c, or by sendmsg().
 *
 * Limit: no datagram is another protocol's packet in disguise (FOU). Such a one is dropped.
 */
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/udp.h>

#include "../compat/udp_tunnel.h"
#include "../core/icmp.h"
#include "dgram.h"

/**
 * net6_udp_encap_rcv() - give a datagram to the tunnel that a socket is of
 * @sk: such a socket
 * @skb: data at the UDP header
 *
 * Context: softirq, RCU read lock held.
 * Return: whether it is for the socket's queue, as the tunnel says; else it is consumed.
 */
bool net6_udp_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	int (*rcv)(struct sock *sk, struct sk_buff *skb) = READ_ONCE(udp_sk(sk)->encap_rcv);
	struct net6_net *nn = net6_pernet(sock_net(sk));
	struct net6_rx_cb cb = *net6_rx_cb(skb);
	int ret;

	if (!rcv)
		return true;
	if (inet_get_convert_csum(sk) && udp_hdr(skb)->check)
		skb_checksum_try_convert(skb, IPPROTO_UDP, ip6_compute_pseudo);
	if (!skb_csum_unnecessary(skb) && __skb_checksum_complete(skb)) {
		net6_udp_bad_checksum(nn, skb);
		return false;
	}
	nf_reset_ct(skb);
	/* Native's control block is there. */
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	IP6CB(skb)->iif = cb.ifindex;
	ret = rcv(sk, skb);
	if (ret > 0) {
		*net6_rx_cb(skb) = cb;
		return true;
	}
	NET6_INC(nn, Udp6InDatagrams);
	if (ret < 0)
		net6_drop(nn, skb, NET6_DROP_NEXTHDR_UNKNOWN);
	return false;
}

/* A tunnel looks at what is quoted, from the UDP header on. Data at the quoted IPv6 header. It may
 * move the data. Both offsets are put back: the headers are those of the error itself.
 */
static bool net6_udp_encap_sent(struct sock *sk, struct sk_buff *skb, unsigned int offset)
{
	int (*lookup)(struct sock *sk, struct sk_buff *skb);
	int network = skb_network_offset(skb), transport = skb_transport_offset(skb);
	bool sent;

	lookup = READ_ONCE(udp_sk(sk)->encap_err_lookup);
	if (!lookup)
		return true;
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, offset);
	sent = !lookup(sk, skb);
	skb_set_network_header(skb, network);
	skb_set_transport_header(skb, transport);
	return sent;
}

/* The tunnel that sent it. Its socket has the source port, or, as tunnels choose source ports by
 * what is inside, the port that they all have: the destination's.
 */
static struct sock *net6_udp_encap_sender(struct sock *sk, struct sk_buff *skb,
					  const struct net6_icmp_error *icmp, __be16 sport,
					  __be16 dport, unsigned int offset)
{
	if (!sk) {
		sk = net6_dgram_lookup_sender(skb, icmp, IPPROTO_UDP, ntohs(dport), sport);
		if (!sk || !READ_ONCE(udp_sk(sk)->encap_type) ||
		    !READ_ONCE(udp_sk(sk)->encap_err_lookup))
			return NULL;
	}
	return net6_udp_encap_sent(sk, skb, offset) ? sk : NULL;
}

/**
 * net6_udp_encap_error() - an ICMPv6 error about a datagram that a tunnel may have sent
 * @sk: the tunnel's socket if it has the source port, else NULL
 * @skb: data at the ICMPv6 header; what is quoted is linear up to the UDP header's end
 * @icmp: what it says
 *
 * Tunnels learn the path MTU with their route. Context: softirq, RCU read lock held.
 */
void net6_udp_encap_error(struct sock *sk, struct sk_buff *skb, const struct net6_icmp_error *icmp)
{
	const struct udphdr *uh = (struct udphdr *)(skb->data + icmp->offset);
	unsigned int offset = icmp->offset - sizeof(struct icmp6hdr);
	struct in6_addr saddr = *icmp->saddr, daddr = *icmp->daddr;
	__be16 sport = uh->source, dport = uh->dest;
	struct net6_icmp_error copy = *icmp;
	int err;

	copy.saddr = &saddr;
	copy.daddr = &daddr;
	__skb_pull(skb, sizeof(struct icmp6hdr));
	sk = net6_udp_encap_sender(sk, skb, &copy, sport, dport, offset);
	if (!sk)
		goto out;
	if (copy.type == ICMPV6_PKT_TOOBIG) {
		if (!ip6_sk_accept_pmtu(sk))
			goto out;
		copy.from = &ipv6_hdr(skb)->saddr;
		net6_sk_update_pmtu(sk, &copy, dport);
	}
	net6_icmp_errno(copy.type, copy.code, &err);
	net6_compat_encap_err(sk, skb, err, dport, copy.info, offset);
out:
	__skb_push(skb, sizeof(struct icmp6hdr));
}

/**
 * net6_udp_encap_close() - a tunnel's socket is being closed
 * @sk: UDP socket
 *
 * Context: process.
 */
void net6_udp_encap_close(struct sock *sk)
{
	void (*destroy)(struct sock *sk) = READ_ONCE(udp_sk(sk)->encap_destroy);

	if (destroy)
		destroy(sk);
	/* Once by the socket, once by ipv6_stub's entry. */
	if (net6_compat_encap_enabled(sk)) {
		udp_encap_disable();
		udp_encap_disable();
	}
}
