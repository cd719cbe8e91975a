// SPDX-License-Identifier: GPL-2.0
/* Segments that no full socket sends: resets (RFC 9293 3.10.7.1) and acknowledgments
 * on behalf of requests and TIME-WAIT entries. They carry no data.
 */
#include <net/ip6_checksum.h>

#include "../../../compat/unaligned.h"
#include "../../../core/l3mdev.h"
#include "conn.h"
#include "md5.h"

/* The timestamp option as RFC 7323 appendix A aligns it. */
static void net6_tcp_reply_tstamp(u8 *p, u32 tsval, u32 tsecr)
{
	put_unaligned_be32(TCPOPT_NOP << 24 | TCPOPT_NOP << 16 | TCPOPT_TIMESTAMP << 8 |
			   TCPOLEN_TIMESTAMP, p);
	put_unaligned_be32(tsval, p + 4);
	put_unaligned_be32(tsecr, p + 8);
}

/**
 * net6_tcp_reply() - send a segment without data
 * @nn: namespace
 * @r: everything in it, host byte order except ports and addresses
 *
 * Context: any; does not sleep. A failure is as good as a lost segment.
 */
void net6_tcp_reply(struct net6_net *nn, const struct net6_tcp_reply *r)
{
	unsigned int tstamp = r->tstamp_ok ? TCPOLEN_TSTAMP_ALIGNED : 0;
	unsigned int len = sizeof(struct tcphdr) + tstamp +
			   (r->md5 ? NET6_TCPOLEN_MD5_ALIGNED : 0);
	const struct net6_flow flow = {
		.protocol	= IPPROTO_TCP,
		.sport		= r->sport,
		.dport		= r->dport,
		.label		= htonl((u32)r->tclass << 20),
		.mark		= r->mark,
	};
	struct net6_dest *dest;
	struct tcphdr *th;
	struct sk_buff *skb;
	unsigned int room;

	dest = net6_dest_lookup_flow(nn, r->saddr, r->daddr, r->oif, &flow);
	if (IS_ERR(dest))
		return;
	room = net6_tcp_ip_headroom(dest) + len;
	skb = alloc_skb(room, GFP_ATOMIC);
	if (!skb)
		goto out;
	skb_reserve(skb, room);
	th = skb_push(skb, len);
	skb_reset_transport_header(skb);
	memset(th, 0, sizeof(*th));
	th->source = r->sport;
	th->dest = r->dport;
	th->seq = htonl(r->seq);
	th->ack_seq = htonl(r->ack);
	th->doff = len / 4;
	th->window = htons(r->window);
	((u8 *)th)[13] = r->flags;
	if (r->tstamp_ok)
		net6_tcp_reply_tstamp((u8 *)(th + 1), r->tsval, r->tsecr);
	if (unlikely(r->md5))
		net6_tcp_md5_sign(net6_tcp_md5_write((u8 *)(th + 1) + tstamp), r->md5, r->saddr,
				  r->daddr, skb);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
	th->check = ~csum_ipv6_magic(r->saddr, r->daddr, len, IPPROTO_TCP, 0);
	net6_push_header(skb, r->saddr, r->daddr, IPPROTO_TCP, r->hop_limit,
			 htonl((u32)r->tclass << 20));
	skb->mark = r->mark;
	skb->priority = net6_priority(r->priority, r->tclass);
	NET6_INC(nn, TcpOutSegs);
	if (r->flags & TCPHDR_RST)
		NET6_INC(nn, TcpOutRsts);
	net6_output(skb, dest);
out:
	net6_dest_put(dest);
}

/* A reset that answers @skb, RFC 9293 3.5.2 and 3.10.7.1. */
static void net6_tcp_reply_reset(struct net6_net *nn, const struct sock *sk,
				 const struct sk_buff *skb, const struct tcp_md5sig_key *key)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	const struct tcphdr *th = tcp_hdr(skb);
	int iif = TCP_SKB_CB(skb)->header.h6.iif;
	struct net6_tcp_reply r = {
		.saddr		= &h->daddr,
		.daddr		= &h->saddr,
		.sport		= th->dest,
		.dport		= th->source,
		.flags		= TCPHDR_RST,
		.hop_limit	= NET6_DEFAULT_HOP_LIMIT,
		.oif		= iif,
		.md5		= key,
	};

	/* RFC 9293 3.5.2: a reset is never answered with a reset. */
	if (th->rst)
		return;
	/* Only segments to and from single hosts: RFC 9293 3.9.2.3, MUST-57. */
	if (ipv6_addr_is_multicast(&h->daddr) || ipv6_addr_any(&h->saddr))
		return;
	if (th->ack) {
		r.seq = ntohl(th->ack_seq);
	} else {
		r.ack = TCP_SKB_CB(skb)->end_seq;
		r.flags |= TCPHDR_ACK;
	}
	if (sk && sk_fullsock(sk)) {
		r.tclass = net6_np(sk)->tclass;
		r.mark = READ_ONCE(sk->sk_mark);
		r.priority = READ_ONCE(sk->sk_priority);
	} else if (sk && sk->sk_state == TCP_TIME_WAIT) {
		r.tclass = ((struct net6_tcp_tw *)sk)->tclass;
		r.mark = ((struct net6_tcp_tw *)sk)->mark;
		r.priority = ((struct net6_tcp_tw *)sk)->priority;
	}
	if (!(ipv6_addr_type(&h->saddr) & IPV6_ADDR_LINKLOCAL))
		r.oif = (sk ? sk->sk_bound_dev_if : 0) ?: net6_l3mdev_of_ifindex(nn, iif);
	net6_tcp_reply(nn, &r);
}

/**
 * net6_tcp_send_reset() - answer a segment with a socket's reset
 * @nn: namespace; behind a backlog the device that tells it may be gone
 * @sk: socket or TIME-WAIT entry whose traffic class, mark, priority, device and key apply
 * @skb: the segment; borrowed; TCP_SKB_CB filled
 *
 * Context: BH disabled, RCU read lock held.
 */
void net6_tcp_send_reset(struct net6_net *nn, struct sock *sk, struct sk_buff *skb)
{
	struct tcp_md5sig_key *key = NULL;

	if (net6_tcp_md5_on_any())
		key = net6_tcp_md5_reset_key(sk, skb);
	net6_tcp_reply_reset(nn, sk, skb, key);
}

/**
 * net6_tcp_refuse() - answer a segment that is nobody's with a reset
 * @nn: namespace
 * @signer: a listener that may have a key for the sender (RFC 2385), or NULL
 * @skb: the segment; borrowed; data at the TCP header, TCP_SKB_CB filled
 *
 * Context: BH disabled, RCU read lock held.
 */
void net6_tcp_refuse(struct net6_net *nn, const struct sock *signer, struct sk_buff *skb)
{
	struct tcp_md5sig_key *key = NULL;

	if (tcp_hdr(skb)->rst)
		return;
	if (!net6_tcp_md5_on_any() || net6_tcp_md5_strange(signer, skb, &key))
		net6_tcp_reply_reset(nn, NULL, skb, key);
}
