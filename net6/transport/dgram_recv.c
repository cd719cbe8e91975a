// SPDX-License-Identifier: GPL-2.0
/* recvmsg() of datagram sockets. */
#include <linux/udp.h>

#include "../compat/bpf_cgroup.h"
#include "dgram.h"

/* Copy a datagram out, verifying its checksum on the way if nobody has yet. Returns 0,
 * -EFAULT, or -EBADMSG for a wrong checksum.
 */
static int net6_dgram_copy(struct sk_buff *skb, int off, struct msghdr *msg, int copied,
			   int flags)
{
	int err;

	/* Where several are in one packet, all were right. */
	if (!skb_csum_unnecessary(skb)) {
		if (!off && copied == skb->len && !(flags & MSG_PEEK)) {
			err = skb_copy_and_csum_datagram_msg(skb, 0, msg);
			return err == -EINVAL ? -EBADMSG : err;
		}
		if (__skb_checksum_complete(skb))
			return -EBADMSG;
	}
	if (likely(!skb_is_nonlinear(skb)))
		return copy_to_iter(skb->data + off, copied, &msg->msg_iter) == copied ?
			0 : -EFAULT;
	return skb_copy_datagram_msg(skb, off, msg, copied);
}

static void net6_dgram_name(struct sock *sk, struct msghdr *msg, struct sk_buff *skb,
			    int *addr_len)
{
	struct sockaddr_in6 *sin6 = msg->msg_name;

	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = net6_sk_is_udp(sk) ? udp_hdr(skb)->source : 0;
	sin6->sin6_flowinfo = 0;
	if (unlikely(skb->protocol == htons(ETH_P_IP)))
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &sin6->sin6_addr);
	else
		sin6->sin6_addr = ipv6_hdr(skb)->saddr;
	sin6->sin6_scope_id = net6_zone(&sin6->sin6_addr, net6_rx_cb(skb)->ifindex);
	*addr_len = sizeof(*sin6);
	if (net6_sk_is_udp(sk))
		net6_bpf_udp_recvmsg(sk, (struct sockaddr *)sin6, addr_len);
}

static void net6_dgram_move_peek_off(struct sock *sk, int val)
{
	bool slow = lock_sock_fast(sk);

	sk_peek_offset_bwd(sk, val);
	unlock_sock_fast(sk, slow);
}

static void net6_dgram_count_bad(struct sock *sk, struct sk_buff *skb, int flags)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));

	if (net6_dgram_drop_bad(sk, skb, flags)) {
		kfree_skb(skb);
		return;
	}
	NET6_INC(nn, Udp6InCsumErrors);
	NET6_INC(nn, Udp6InErrors);
	net6_drop(nn, skb, NET6_DROP_UDP_CSUM);
}

/**
 * net6_dgram_recvmsg() - struct proto's recvmsg of UDP and ping
 * @sk: socket
 * @msg: where it goes
 * @len: room
 * @flags: MSG_PEEK, MSG_TRUNC, MSG_DONTWAIT, MSG_ERRQUEUE
 * @addr_len: set to the length of the name if one is filled in
 *
 * Context: process. Return: bytes copied (with MSG_TRUNC the datagram's length) or
 * -errno.
 */
int net6_dgram_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags,
		       int *addr_len)
{
	struct ipv6_pinfo *np = net6_np(sk);
	bool peek = flags & MSG_PEEK;
	struct net6_dgram_span span;
	int copied, err, gso;
	struct sk_buff *skb;

	/* UDP ignores it, as everywhere. */
	if (unlikely(flags & MSG_OOB) && !net6_sk_is_udp(sk))
		return -EOPNOTSUPP;
	if (unlikely(flags & MSG_ERRQUEUE))
		return net6_recv_error(sk, msg, len, addr_len);
	if (unlikely(np->rxopt.bits.rxpmtu && READ_ONCE(np->rxpmtu)))
		return net6_recv_path_mtu(sk, msg, addr_len);
again:
	span.off = sk_peek_offset(sk, flags);
	skb = net6_dgram_dequeue(sk, flags, &span, &err);
	if (!skb)
		return err;

	copied = min_t(size_t, len, span.len - span.off);
	if (copied < span.len - span.off)
		msg->msg_flags |= MSG_TRUNC;
	err = net6_dgram_copy(skb, span.start + span.off, msg, copied, flags);
	if (unlikely(err)) {
		if (err == -EBADMSG) {
			net6_dgram_count_bad(sk, skb, flags);
			msg->msg_flags &= ~MSG_TRUNC;
			cond_resched();
			goto again;
		}
		if (!peek)
			atomic_inc(&sk->sk_drops);
		kfree_skb(skb);
		return err;
	}
	if (!peek && net6_sk_is_udp(sk))
		NET6_INC(net6_pernet(sock_net(sk)), Udp6InDatagrams);

	sock_recv_cmsgs(msg, sk, skb);
	if (msg->msg_name)
		net6_dgram_name(sk, msg, skb, addr_len);
	gso = skb_shinfo(skb)->gso_size;
	if (unlikely(gso && net6_dgram_sk(sk)->gro && !net6_dgram_cb(skb)->cut &&
		     !(skb_shinfo(skb)->gso_type & SKB_GSO_UDP)))
		put_cmsg(msg, SOL_UDP, UDP_GRO, sizeof(gso), &gso);
	if (np->rxopt.all)
		net6_cmsg_recv(sk, msg, skb, net6_rx_cb(skb)->ifindex);

	err = flags & MSG_TRUNC ? span.len : copied;
	if (unlikely(READ_ONCE(sk->sk_peek_off) >= 0))
		net6_dgram_move_peek_off(sk, peek ? -err : err);
	consume_skb(skb);
	return err;
}
