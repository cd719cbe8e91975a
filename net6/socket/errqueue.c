// SPDX-License-Identifier: GPL-2.0
/* Errors told to programs: the queue read with MSG_ERRQUEUE (IPV6_RECVERR), and the path MTU
 * event of IPV6_RECVPATHMTU (RFC 3542 11.3). Of events the last one counts.
 */
#include <linux/errqueue.h>
#include <linux/icmp.h>
#include <net/ipv6.h>

#include "../compat/inet_sock.h"
#include "../core/proto.h"
#include "sock.h"

static void net6_queue_error(struct sock *sk, struct sk_buff *skb,
			     const struct sock_extended_err *ee, __be16 port, u16 addr_offset,
			     int ifindex)
{
	struct sock_exterr_skb *serr = SKB_EXT_ERR(skb);

	memset(serr, 0, sizeof(*serr));
	serr->header.h6.iif = ifindex;
	serr->ee = *ee;
	serr->addr_offset = addr_offset;
	serr->port = port;
	skb_reset_transport_header(skb);
	if (sock_queue_err_skb(sk, skb))
		kfree_skb(skb);
}

/* RFC 4884 section 7: do the extensions at @offset have a checksum that holds, or none, and objects
 * that end where they end? Other versions are not looked into.
 */
static bool net6_error_extensions_hold(const struct sk_buff *skb, int offset)
{
	const struct icmp_extobj_hdr *object;
	const struct icmp_ext_hdr *header;
	struct icmp_extobj_hdr object_buf;
	struct icmp_ext_hdr header_buf;

	header = skb_header_pointer(skb, offset, sizeof(header_buf), &header_buf);
	if (!header)
		return false;
	if (header->version != 2)
		return true;
	if (header->checksum && csum_fold(skb_checksum(skb, offset, skb->len - offset, 0)))
		return false;
	for (offset += sizeof(*header); offset < skb->len; offset += ntohs(object->length)) {
		object = skb_header_pointer(skb, offset, sizeof(object_buf), &object_buf);
		if (!object || ntohs(object->length) < sizeof(*object) ||
		    ntohs(object->length) > skb->len - offset)
			return false;
	}
	return true;
}

/* Where the extensions of an error begin in its payload, which is at skb->data. @header_len: of the
 * ICMP header, at the transport header; @quoted: octets that it says the quoted datagram has.
 */
static void net6_error_quoted(const struct sk_buff *skb, struct sock_ee_data_rfc4884 *out,
			      int header_len, int quoted)
{
	int before = -skb_transport_offset(skb) - header_len;

	/* Section 4: less than 128 octets is no length. */
	if (quoted < 128 || quoted < before ||
	    quoted - before + sizeof(struct icmp_ext_hdr) > skb->len)
		return;
	out->len = quoted - before;
	if (!net6_error_extensions_hold(skb, out->len))
		out->flags |= SO_EE_RFC4884_FLAG_INVALID;
}

/* RFC 4884 section 4.2: these two may say how long the quoted datagram is, in units of 8
 * octets, and have extensions behind it. The program is told where those begin in its
 * payload. @skb: data there, transport header at the ICMPv6 header.
 */
static void net6_error_extensions(const struct sk_buff *skb, const struct net6_icmp_error *icmp,
				  struct sock_ee_data_rfc4884 *out)
{
	if (icmp->type == ICMPV6_DEST_UNREACH || icmp->type == ICMPV6_TIME_EXCEED)
		net6_error_quoted(skb, out, sizeof(struct icmp6hdr),
				  icmp6_hdr(skb)->icmp6_datagram_len * 8);
}

/**
 * net6_queue_icmp_error() - an ICMPv6 error about a datagram of this socket
 * @sk: socket; nothing happens unless IPV6_RECVERR is on
 * @skb: as in net6_proto.error; borrowed, a clone is queued
 * @err: errno it means
 * @port: destination port of the offending datagram, network byte order
 * @icmp: what is known about it
 * @payload: offset from skb->data of what the program sent
 *
 * Context: softirq.
 */
void net6_queue_icmp_error(struct sock *sk, struct sk_buff *skb, int err, __be16 port,
			   const struct net6_icmp_error *icmp, unsigned int payload)
{
	struct sock_extended_err ee = {
		.ee_errno = err,
		.ee_origin = SO_EE_ORIGIN_ICMP6,
		.ee_type = icmp->type,
		.ee_code = icmp->code,
		.ee_info = icmp->info,
	};
	ptrdiff_t offset = (u8 *)icmp->daddr - skb_network_header(skb);

	if (!net6_opt(sk, RECVERR6))
		return;
	/* The quoted destination is what the program is shown: it must be in there. */
	if (offset < 0 || offset + sizeof(struct in6_addr) >
	    skb_tail_pointer(skb) - skb_network_header(skb))
		return;
	skb = skb_clone(skb, GFP_ATOMIC);
	if (!skb)
		return;
	skb->dev = NULL;
	if (!pskb_pull(skb, min(payload, skb->len))) {
		kfree_skb(skb);
		return;
	}
	if (net6_opt(sk, RECVERR6_RFC4884))
		net6_error_extensions(skb, icmp, &ee.ee_rfc4884);
	net6_queue_error(sk, skb, &ee, port, offset, icmp->ifindex);
}

/**
 * net6_queue_icmp4_error() - an ICMP error about an IPv4 datagram of this socket
 * @sk: UDP socket with IP_RECVERR on
 * @skb: data at the quoted IPv4 header, transport header at the ICMP one; borrowed, a clone
 *	is queued
 * @err: errno it means
 * @info: path MTU, or the octet that was a problem
 * @udp_offset: from skb->data to the quoted UDP header
 *
 * Context: softirq.
 */
void net6_queue_icmp4_error(struct sock *sk, struct sk_buff *skb, int err, u32 info,
			    unsigned int udp_offset)
{
	const struct iphdr *h = (struct iphdr *)skb->data;
	const struct udphdr *uh = (struct udphdr *)(skb->data + udp_offset);
	const struct icmphdr *icmp = icmp_hdr(skb);
	struct sock_extended_err ee = {
		.ee_errno = err,
		.ee_origin = SO_EE_ORIGIN_ICMP,
		.ee_type = icmp->type,
		.ee_code = icmp->code,
		.ee_info = info,
	};
	u16 offset = (u8 *)&h->daddr - skb_network_header(skb);

	skb = skb_clone(skb, GFP_ATOMIC);
	if (!skb)
		return;
	skb->dev = NULL;
	if (!skb_pull(skb, udp_offset + sizeof(*uh))) {
		kfree_skb(skb);
		return;
	}
	if (net6_opt(sk, RECVERR_RFC4884) && (icmp->type == ICMP_DEST_UNREACH ||
					      icmp->type == ICMP_TIME_EXCEEDED ||
					      icmp->type == ICMP_PARAMETERPROB))
		net6_error_quoted(skb, &ee.ee_rfc4884, sizeof(*icmp),
				  icmp->un.reserved[1] * 4);
	net6_queue_error(sk, skb, &ee, uh->dest, offset, IPCB(skb)->iif);
}

/**
 * net6_queue_local_error() - we refused to send what a program wanted to
 * @sk: socket; nothing happens unless IPV6_RECVERR is on
 * @err: errno
 * @daddr: destination
 * @port: its port, network byte order
 * @info: path MTU for EMSGSIZE
 *
 * Context: process or softirq.
 */
void net6_queue_local_error(struct sock *sk, int err, const struct in6_addr *daddr,
			    __be16 port, u32 info)
{
	struct sock_extended_err ee = {
		.ee_errno = err,
		.ee_origin = SO_EE_ORIGIN_LOCAL,
		.ee_info = info,
	};
	struct sk_buff *skb;
	struct ipv6hdr *h;

	if (!net6_opt(sk, RECVERR6))
		return;
	skb = alloc_skb(sizeof(*h), GFP_ATOMIC);
	if (!skb)
		return;
	h = skb_put_zero(skb, sizeof(*h));
	skb_reset_network_header(skb);
	h->version = 6;
	h->daddr = *daddr;
	skb->protocol = htons(ETH_P_IPV6);
	__skb_pull(skb, sizeof(*h));
	net6_queue_error(sk, skb, &ee, port, offsetof(struct ipv6hdr, daddr), 0);
}

/* The destination of the offending datagram. */
static void net6_error_name(struct sock *sk, struct sk_buff *skb, struct sockaddr_in6 *sin6)
{
	struct sock_exterr_skb *serr = SKB_EXT_ERR(skb);
	const void *addr = skb_network_header(skb) + serr->addr_offset;
	const struct in6_addr *daddr = addr;
	const struct ipv6hdr *h = container_of(daddr, struct ipv6hdr, daddr);

	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = serr->port;
	/* The kernel's own errors of sending IPv4 name no protocol. */
	if (skb->protocol != htons(ETH_P_IPV6)) {
		sin6->sin6_flowinfo = 0;
		ipv6_addr_set_v4mapped(*(const __be32 *)addr, &sin6->sin6_addr);
		sin6->sin6_scope_id = 0;
		return;
	}
	sin6->sin6_flowinfo = net6_opt(sk, SNDFLOW) ? ip6_flowinfo(h) : 0;
	sin6->sin6_addr = *daddr;
	sin6->sin6_scope_id = net6_zone(daddr, serr->header.h6.iif);
}

/**
 * net6_recv_error() - recvmsg() with MSG_ERRQUEUE
 * @sk: socket
 * @msg: where it goes
 * @len: room for the payload of the offending datagram
 * @addr_len: set when a name was asked for and is known
 *
 * Context: process. Return: bytes copied, or -EAGAIN when the queue is empty.
 */
int net6_recv_error(struct sock *sk, struct msghdr *msg, int len, int *addr_len)
{
	struct {
		struct sock_extended_err ee;
		struct sockaddr_in6 offender;
	} errhdr = {};
	struct sock_exterr_skb *serr;
	struct sk_buff *skb;
	int copied, err;
	bool icmp;

	skb = sock_dequeue_err_skb(sk);
	if (!skb)
		return -EAGAIN;
	copied = skb->len;
	if (copied > len) {
		msg->msg_flags |= MSG_TRUNC;
		copied = len;
	}
	err = skb_copy_datagram_msg(skb, 0, msg, copied);
	if (err) {
		kfree_skb(skb);
		return err;
	}
	sock_recv_timestamp(msg, sk, skb);

	serr = SKB_EXT_ERR(skb);
	errhdr.ee = serr->ee;
	icmp = serr->ee.ee_origin == SO_EE_ORIGIN_ICMP6 ||
	       serr->ee.ee_origin == SO_EE_ORIGIN_ICMP;
	if (msg->msg_name && (icmp || serr->ee.ee_origin == SO_EE_ORIGIN_LOCAL)) {
		net6_error_name(sk, skb, msg->msg_name);
		*addr_len = sizeof(struct sockaddr_in6);
	}
	if (icmp) {
		errhdr.offender.sin6_family = AF_INET6;
		if (skb->protocol == htons(ETH_P_IPV6))
			errhdr.offender.sin6_addr = ipv6_hdr(skb)->saddr;
		else
			ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &errhdr.offender.sin6_addr);
		errhdr.offender.sin6_scope_id =
			net6_zone(&errhdr.offender.sin6_addr, serr->header.h6.iif);
		if (net6_np(sk)->rxopt.all)
			net6_cmsg_recv(sk, msg, skb, serr->header.h6.iif);
	}
	put_cmsg(msg, SOL_IPV6, IPV6_RECVERR, sizeof(errhdr), &errhdr);
	msg->msg_flags |= MSG_ERRQUEUE;
	consume_skb(skb);
	return copied;
}

/**
 * net6_queue_path_mtu() - a datagram was too big for its path
 * @sk: socket; nothing happens unless IPV6_RECVPATHMTU is on
 * @daddr: destination
 * @oif: interface, 0 for any
 * @mtu: path MTU in bytes
 *
 * Context: process.
 */
void net6_queue_path_mtu(struct sock *sk, const struct in6_addr *daddr, int oif, u32 mtu)
{
	struct ipv6_pinfo *np = net6_np(sk);
	struct ip6_mtuinfo *info;
	struct sk_buff *skb;

	if (!np->rxopt.bits.rxpmtu)
		return;
	skb = alloc_skb(0, GFP_ATOMIC);
	if (!skb)
		return;
	BUILD_BUG_ON(sizeof(*info) > sizeof(skb->cb));
	info = IP6CBMTU(skb);
	memset(info, 0, sizeof(*info));
	info->ip6m_mtu = mtu;
	info->ip6m_addr.sin6_family = AF_INET6;
	info->ip6m_addr.sin6_addr = *daddr;
	info->ip6m_addr.sin6_scope_id = oif;
	kfree_skb(xchg(&np->rxpmtu, skb));
}

/**
 * net6_recv_path_mtu() - recvmsg() while a path MTU event waits
 * @sk: socket
 * @msg: where it goes
 * @addr_len: set when a name was asked for
 *
 * Context: process. Return: 0 (no payload), or -EAGAIN when there is no event.
 */
int net6_recv_path_mtu(struct sock *sk, struct msghdr *msg, int *addr_len)
{
	struct sk_buff *skb = xchg(&net6_np(sk)->rxpmtu, NULL);
	struct ip6_mtuinfo info;

	if (!skb)
		return -EAGAIN;
	info = *IP6CBMTU(skb);
	consume_skb(skb);
	if (msg->msg_name) {
		memcpy(msg->msg_name, &info.ip6m_addr, sizeof(info.ip6m_addr));
		*addr_len = sizeof(info.ip6m_addr);
	}
	put_cmsg(msg, SOL_IPV6, IPV6_PATHMTU, sizeof(info), &info);
	return 0;
}
