// SPDX-License-Identifier: GPL-2.0
/* Datagram sockets that use IPv4. A native UDP socket beside ours sends for it. Its datagrams are
 * put in our queue, so that there is one queue, one buffer and one poll().
 *
 * Limits: of ancillary data IPV6_PKTINFO goes both ways. IPv4 groups cannot be joined. While
 * connected to an IPv6 peer, IPv4 datagrams to our port are dropped without an answer.
 */
#include <net/icmp.h>
#include <net/inet_common.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "../compat/inet_sock.h"
#include "../compat/sock.h"
#include "../compat/udp_tunnel.h"
#include "mapped.h"

/* Any value that is not 0 makes receiving the business of encap_rcv. */
#define NET6_MAPPED_ENCAP	UDP_ENCAP_RXRPC

/* Softirq, RCU read lock held; the checksum has been verified. Consumes; returns 0. */
static int net6_mapped_dgram_rcv(struct sock *inner, struct sk_buff *skb)
{
	struct sock *sk = rcu_dereference_sk_user_data(inner);
	int ifindex = inet_iif(skb);
	int bound = sk ? READ_ONCE(sk->sk_bound_dev_if) : 0;

	/* The inner socket does not know what was set since the last datagram was sent. */
	if (unlikely(!sk || (bound && bound != ifindex && bound != inet_sdif(skb)) ||
		     (sk->sk_state == TCP_ESTABLISHED &&
		      !ipv6_addr_v4mapped(&sk->sk_v6_daddr)))) {
		kfree_skb(skb);
		return 0;
	}
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	memset(net6_rx_cb(skb), 0, sizeof(struct net6_rx_cb));
	net6_rx_cb(skb)->ifindex = ifindex;
	return sk->sk_backlog_rcv(sk, skb);
}

/* The (negative) errno of an ICMP error, as in udp_err(), which has dropped those that no program
 * is told of. @hard: it is told to a program that has not asked for errors, too; @info: ee_info.
 */
static int net6_mapped_icmp_errno(const struct icmphdr *icmp, bool *hard, u32 *info)
{
	*hard = false;
	*info = 0;
	switch (icmp->type) {
	case ICMP_PARAMETERPROB:
		*hard = true;
		*info = ntohl(icmp->un.gateway) >> 24;
		return -EPROTO;
	case ICMP_DEST_UNREACH:
		if (icmp->code > NR_ICMP_UNREACH)
			break;
		*hard = icmp_err_convert[icmp->code].fatal;
		if (icmp->code == ICMP_FRAG_NEEDED) {
			*hard = true;
			*info = ntohs(icmp->un.frag.mtu);
		}
		return -icmp_err_convert[icmp->code].errno;
	}
	return -EHOSTUNREACH;
}

/* Softirq, RCU read lock held. RFC 1122 4.1.3.3: connected sockets, and IP_RECVERR. */
static void net6_mapped_dgram_error(struct sock *inner, struct sk_buff *skb,
				    NET6_COMPAT_ENCAP_ERR_PARAMS)
{
	struct sock *sk = rcu_dereference_sk_user_data(inner);
	bool connected, hard;
	u32 info;
	int err;

	if (!sk)
		return;
	connected = sk->sk_state == TCP_ESTABLISHED;
	if (connected && !ipv6_addr_v4mapped(&sk->sk_v6_daddr))
		return;
	err = -net6_mapped_icmp_errno(icmp_hdr(skb), &hard, &info);
	if (net6_opt(sk, RECVERR))
		net6_queue_icmp4_error(sk, skb, err, info,
				       NET6_COMPAT_ENCAP_ERR_OFFSET(skb));
	else if (!hard || !connected)
		return;
	WRITE_ONCE(sk->sk_err, err);
	sk_error_report(sk);
}

/* Errors of sending that wait in the inner socket's queue: the program reads ours. */
static void net6_mapped_dgram_report(struct sock *inner)
{
	struct sk_buff *skb;
	struct sock *sk;

	rcu_read_lock();
	sk = rcu_dereference_sk_user_data(inner);
	while (sk && (skb = skb_dequeue(&inner->sk_error_queue)) != NULL)
		if (sock_queue_err_skb(sk, skb))
			kfree_skb(skb);
	rcu_read_unlock();
}

/**
 * net6_mapped_dgram_setup() - let what an inner UDP socket receives come to ours
 * @sk: our socket, owned; freed a grace period after the inner one is released
 * @inner: new UDP socket
 *
 * Context: process.
 */
void net6_mapped_dgram_setup(struct sock *sk, struct sock *inner)
{
	struct udp_sock *up = udp_sk(inner);
	int cork = net6_dgram_sk(sk)->cork;

	inner->sk_sndbuf = sk->sk_sndbuf;
	up->gso_size = net6_dgram_sk(sk)->gso_size;
	up->encap_rcv = net6_mapped_dgram_rcv;
	up->encap_err_rcv = net6_mapped_dgram_error;
	up->encap_type = NET6_MAPPED_ENCAP;
	inner->sk_error_report = net6_mapped_dgram_report;
	inner->sk_prot->setsockopt(inner, SOL_UDP, UDP_CORK, KERNEL_SOCKPTR(&cork), sizeof(cork));
	/* Whoever receives for the inner one finds ours without a reference, bound or not. */
	sock_set_flag(sk, SOCK_RCU_FREE);
	rcu_assign_sk_user_data(inner, sk);
	udp_tunnel_encap_enable(inner);
}

static int net6_mapped_dgram_port(struct sock *sk, struct sock *inner)
{
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(inet_sk(sk)->inet_num),
	};
	int err;

	err = net6_mapped_bind(inner, &sin, false);
	if (err == -EADDRINUSE && !(sk->sk_userlocks & SOCK_BINDPORT_LOCK)) {
		/* Nobody has asked for this port. */
		sin.sin_port = 0;
		err = net6_mapped_bind(inner, &sin, false);
	}
	return err;
}

/* The inner socket, made if need be, with a port. sk owned. */
static struct sock *net6_mapped_dgram_inner(struct sock *sk)
{
	struct sock *inner = net6_sk(sk)->inner;
	int err;

	if (inner && inet_sk(inner)->inet_num)
		return inner;
	/* Bound to an IPv6 address: no IPv4 packet can come from there. */
	if ((sk->sk_userlocks & SOCK_BINDADDR_LOCK) &&
	    !ipv6_addr_v4mapped(&sk->sk_v6_rcv_saddr))
		return ERR_PTR(-ENETUNREACH);
	if (!inner) {
		inner = net6_mapped_create(sk);
		if (IS_ERR(inner))
			return inner;
	}
	err = net6_mapped_dgram_port(sk, inner);
	if (!net6_sk(sk)->inner) {
		if (err)
			sock_release(inner->sk_socket);
		else
			net6_mapped_publish(sk, inner);
	}
	return err ? ERR_PTR(err) : inner;
}

/**
 * net6_mapped_dgram_bind() - bind to an IPv4 address
 * @sk: socket, owned, not bound; stays out of our own table of ports
 * @addr: mapped address
 *
 * Context: process. Return: 0 or -errno of socket() and bind().
 */
int net6_mapped_dgram_bind(struct sock *sk, const struct sockaddr_in6 *addr)
{
	struct inet_sock *inet = inet_sk(sk);
	struct sock *inner = net6_sk(sk)->inner;
	struct sockaddr_in sin;
	int err;

	if (!inner)
		inner = net6_mapped_create(sk);
	if (IS_ERR(inner))
		return PTR_ERR(inner);
	net6_mapped_to_in(addr, &sin);
	err = net6_mapped_bind(inner, &sin, true);
	if (err) {
		if (!net6_sk(sk)->inner)
			sock_release(inner->sk_socket);
		return err;
	}
	sk->sk_v6_rcv_saddr = addr->sin6_addr;
	net6_np(sk)->saddr = addr->sin6_addr;
	inet->inet_num = inet_sk(inner)->inet_num;
	inet->inet_sport = htons(inet->inet_num);
	/* It keeps its port, even one that it has not asked for. */
	inner->sk_userlocks |= SOCK_BINDADDR_LOCK | SOCK_BINDPORT_LOCK;
	sk->sk_userlocks |= SOCK_BINDADDR_LOCK | SOCK_BINDPORT_LOCK;
	if (!net6_sk(sk)->inner)
		net6_mapped_publish(sk, inner);
	return 0;
}

/* Options of SOL_SOCKET with which datagrams are sent may have changed. */
static void net6_mapped_dgram_sync(const struct sock *sk, struct sock *inner)
{
	if (READ_ONCE(sk->sk_sndbuf) == inner->sk_sndbuf &&
	    READ_ONCE(sk->sk_priority) == inner->sk_priority &&
	    READ_ONCE(sk->sk_mark) == inner->sk_mark &&
	    READ_ONCE(sk->sk_bound_dev_if) == inner->sk_bound_dev_if &&
	    READ_ONCE(sk->sk_sndtimeo) == inner->sk_sndtimeo &&
	    sk->sk_allocation == inner->sk_allocation &&
	    net6_compat_task_frag(sk) == net6_compat_task_frag(inner) &&
	    sock_flag(sk, SOCK_BROADCAST) == sock_flag(inner, SOCK_BROADCAST))
		return;
	net6_mapped_sync(sk, inner);
	WRITE_ONCE(inner->sk_sndbuf, READ_ONCE(sk->sk_sndbuf));
}

/**
 * net6_mapped_dgram_connect() - connect to an IPv4 address
 * @sk: socket, owned
 * @addr: mapped address, or AF_INET's
 * @len: its length
 *
 * Context: process. Return: 0 or -errno; the old peer stays on error.
 */
int net6_mapped_dgram_connect(struct sock *sk, const struct sockaddr_in6 *addr, int len)
{
	struct sock *inner = net6_mapped_dgram_inner(sk);
	struct ipv6_pinfo *np = net6_np(sk);
	struct sockaddr_in sin;
	int err;

	if (IS_ERR(inner))
		return PTR_ERR(inner);
	net6_mapped_dgram_sync(sk, inner);
	net6_mapped_to_in(addr, &sin);
	/* BPF programs: IPv6's have been asked about an address of IPv6's. */
	if (addr->sin6_family == AF_INET6)
		err = inner->sk_prot->connect(inner, (struct sockaddr_unsized *)&sin, sizeof(sin));
	else
		err = inet_dgram_connect(inner->sk_socket, (struct sockaddr_unsized *)&sin,
					 sizeof(sin), 0);
	if (err)
		return err;
	np->flow_label = 0;
	ipv6_addr_set_v4mapped(inet_sk(inner)->inet_daddr, &sk->sk_v6_daddr);
	inet_sk(sk)->inet_dport = inet_sk(inner)->inet_dport;
	ipv6_addr_set_v4mapped(inet_sk(inner)->inet_saddr, &np->saddr);
	sk->sk_v6_rcv_saddr = np->saddr;
	sk->sk_state = TCP_ESTABLISHED;
	net6_dgram_moved(sk);
	net6_sk_dest_reset(sk);
	return 0;
}

/**
 * net6_mapped_dgram_disconnect() - connect() with AF_UNSPEC
 * @sk: socket, owned
 *
 * Context: process.
 */
void net6_mapped_dgram_disconnect(struct sock *sk)
{
	struct sockaddr addr = { .sa_family = AF_UNSPEC };
	struct sock *inner = net6_sk(sk)->inner;

	if (likely(!inner))
		return;
	/* A port that it was given goes, and the next one may be another. */
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		inner->sk_userlocks &= ~SOCK_BINDPORT_LOCK;
	inet_dgram_connect(inner->sk_socket, (struct sockaddr_unsized *)&addr, sizeof(addr), 0);
}

/**
 * net6_mapped_dgram_mtu() - the path MTU of a socket that is connected to an IPv4 address
 * @sk: socket
 *
 * Context: process. Return: bytes with the IPv4 header, 0 if it is not known any more.
 */
u32 net6_mapped_dgram_mtu(const struct sock *sk)
{
	struct sock *inner = net6_mapped_inner(sk);
	struct dst_entry *dst;
	u32 mtu = 0;

	rcu_read_lock();
	dst = inner ? __sk_dst_get(inner) : NULL;
	if (dst)
		mtu = dst_mtu(dst);
	rcu_read_unlock();
	return mtu;
}

/* IPv6's ancillary data in IPv4's words. Data for which there are none is left out, as on Linux.
 * @msg's control data is in kernel memory; *buf is to be freed.
 */
static int net6_mapped_cmsg(const struct sock *sk, struct msghdr *msg, void **buf)
{
	struct in_pktinfo info = {};
	const struct in6_pktinfo *info6;
	struct cmsghdr *cmsg, *out;
	size_t used = 0;

	*buf = kzalloc(CMSG_ALIGN(msg->msg_controllen), sk->sk_allocation);
	if (!*buf)
		return -ENOMEM;
	for_each_cmsghdr(cmsg, msg) {
		if (!CMSG_OK(msg, cmsg))
			return -EINVAL;
		out = *buf + used;
		if (cmsg->cmsg_level != SOL_IPV6) {
			memcpy(out, cmsg, cmsg->cmsg_len);
			used += CMSG_ALIGN(cmsg->cmsg_len);
			continue;
		}
		if (cmsg->cmsg_type != IPV6_PKTINFO && cmsg->cmsg_type != IPV6_2292PKTINFO)
			continue;
		info6 = CMSG_DATA(cmsg);
		if (cmsg->cmsg_len < CMSG_LEN(sizeof(*info6)) ||
		    !ipv6_addr_v4mapped(&info6->ipi6_addr))
			return -EINVAL;
		info.ipi_ifindex = info6->ipi6_ifindex;
		info.ipi_spec_dst.s_addr = info6->ipi6_addr.s6_addr32[3];
		out->cmsg_level = SOL_IP;
		out->cmsg_type = IP_PKTINFO;
		out->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(out), &info, sizeof(info));
		used += CMSG_SPACE(sizeof(info));
	}
	msg->msg_control = *buf;
	msg->msg_controllen = used;
	return 0;
}

/* The name in the call, if there is one. */
static int net6_mapped_dgram_name(struct sock *sk, struct msghdr *msg, struct sockaddr_in *sin)
{
	const struct sockaddr_in6 *sin6 = msg->msg_name;
	int len = msg->msg_namelen;

	msg->msg_name = NULL;
	msg->msg_namelen = 0;
	if (!sin6 || sin6->sin6_family == AF_UNSPEC)
		return sk->sk_state == TCP_ESTABLISHED && ipv6_addr_v4mapped(&sk->sk_v6_daddr) ?
			0 : -ENETUNREACH;
	if (sk->sk_ipv6only)
		return -ENETUNREACH;
	if (!net6_mapped_addr(sk, sin6, len))
		return sin6->sin6_family == AF_INET && len < sizeof(*sin) ? -EINVAL : -ENETUNREACH;
	net6_mapped_to_in(sin6, sin);
	msg->msg_name = sin;
	msg->msg_namelen = sizeof(*sin);
	return 0;
}

/**
 * net6_mapped_dgram_sendmsg() - send to an IPv4 address, or to the IPv4 peer
 * @sk: socket with a local port
 * @msg: the program's call
 * @len: bytes of payload
 *
 * Context: process. Return: @len or -errno.
 */
int net6_mapped_dgram_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct msghdr m = *msg;
	struct sockaddr_in sin;
	struct sock *inner;
	void *buf = NULL;
	int err;

	err = net6_mapped_dgram_name(sk, &m, &sin);
	if (err)
		return err;
	inner = net6_mapped_inner(sk);
	if (unlikely(!inner || !inet_sk(inner)->inet_num)) {
		lock_sock(sk);
		inner = net6_mapped_dgram_inner(sk);
		release_sock(sk);
		if (IS_ERR(inner))
			return PTR_ERR(inner);
	}
	net6_mapped_dgram_sync(sk, inner);
	if (m.msg_controllen)
		err = net6_mapped_cmsg(sk, &m, &buf);
	/* Notifications would come to the inner socket's error queue. */
	m.msg_flags &= ~MSG_ZEROCOPY;
	if (!err)
		err = inner->sk_prot->sendmsg(inner, &m, len);
	kfree(buf);
	msg->msg_iter = m.msg_iter;
	return err;
}

/**
 * net6_mapped_dgram_poll() - it can be written to when both sockets can
 * @inner: inner socket
 * @mask: what poll() says of ours
 *
 * Context: process. Return: EPOLL* bits.
 */
__poll_t net6_mapped_dgram_poll(struct sock *inner, __poll_t mask)
{
	if (sock_writeable(inner))
		return mask;
	set_bit(SOCK_NOSPACE, &inner->sk_socket->flags);
	/* As in datagram_poll(): it may have become so before the bit was seen. */
	smp_mb__after_atomic();
	if (!sock_writeable(inner))
		mask &= ~(EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	return mask;
}
