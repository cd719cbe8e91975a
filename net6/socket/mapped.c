// SPDX-License-Identifier: GPL-2.0
/* IPv4 through IPv6 sockets (RFC 3493 sections 3.7 and 5.3): a native IPv4 socket inside
 * each of ours that needs one, made when it does.
 *
 * A stream socket that connects or binds to a mapped address becomes that IPv4 socket
 * (mapped_stream.c). One that is bound to :: has it beside it, on the same port, and so has a
 * datagram socket (mapped_dgram.c). The socket beside shares our wait queue: its events wake
 * those who wait for us.
 *
 * Limits: options are copied when the inner socket is made. After that those of TCP and UDP are
 * set on both. Those of SOL_SOCKET are copied again when they matter (net6_mapped_sync()), but
 * not the socket filters of streams. Sockets of the kernel's own use IPv6 only.
 */
#include <linux/bpf-cgroup.h>
#include <net/inet_common.h>
#include <net/l3mdev.h>
#include <net/route.h>

#include "../compat/inet_sock.h"
#include "../compat/sock.h"
#include "mapped.h"

/**
 * net6_mapped_addr() - is this an IPv4 address, and may the socket use it?
 * @sk: a socket of ours
 * @addr: at least @len bytes in kernel memory
 * @len: as the program gave it
 *
 * Datagram sockets take AF_INET's addresses as well, as on Linux. Context: any.
 */
bool net6_mapped_addr(const struct sock *sk, const struct sockaddr_in6 *addr, int len)
{
	if (!net6_mapped_allowed(sk))
		return false;
	if (len >= sizeof(struct sockaddr_in) && addr->sin6_family == AF_INET)
		return sk->sk_type == SOCK_DGRAM;
	return len >= SIN6_LEN_RFC2133 && addr->sin6_family == AF_INET6 &&
	       ipv6_addr_v4mapped(&addr->sin6_addr);
}

/**
 * net6_mapped_to_in() - an IPv4 address in IPv6's clothes, undressed
 * @sin6: mapped or unspecified, or in truth a struct sockaddr_in
 * @sin: filled in
 *
 * Context: any.
 */
void net6_mapped_to_in(const struct sockaddr_in6 *sin6, struct sockaddr_in *sin)
{
	if (sin6->sin6_family == AF_INET) {
		*sin = *(const struct sockaddr_in *)sin6;
		return;
	}
	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_port = sin6->sin6_port;
	sin->sin_addr.s_addr = sin6->sin6_addr.s6_addr32[3];
}

/**
 * net6_lock_sock() - lock a socket's sock, which an IPv4 one may replace meanwhile
 * @sock: socket of a program
 *
 * Context: process. Return: the sock, owned; it stays in @sock as long.
 */
struct sock *net6_lock_sock(struct socket *sock)
{
	struct sock *sk;

	for (;;) {
		sk = READ_ONCE(sock->sk);
		lock_sock(sk);
		if (likely(sk == READ_ONCE(sock->sk)))
			return sk;
		release_sock(sk);
	}
}

static void net6_mapped_copy_flag(const struct sock *sk, struct sock *inner, enum sock_flags flag)
{
	sock_valbool_flag(inner, flag, sock_flag(sk, flag));
}

/* What SOL_SOCKET has set before. The inner one is owned or not known to anybody yet. */
static void net6_mapped_copy_sock(const struct sock *sk, struct sock *inner)
{
	u8 locks = sk->sk_userlocks & (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK);

	inner->sk_userlocks |= locks;
	if (locks & SOCK_SNDBUF_LOCK)
		inner->sk_sndbuf = sk->sk_sndbuf;
	if (locks & SOCK_RCVBUF_LOCK)
		inner->sk_rcvbuf = sk->sk_rcvbuf;
	/* A socket by which memory is got back (NFS) must not ask for what does that. */
	inner->sk_allocation = sk->sk_allocation;
	net6_compat_set_task_frag(inner, net6_compat_task_frag(sk));
	inner->sk_uid = sk->sk_uid;
	inner->sk_priority = sk->sk_priority;
	/* Both decide the way. */
	if (inner->sk_mark != sk->sk_mark || inner->sk_bound_dev_if != sk->sk_bound_dev_if)
		sk_dst_reset(inner);
	inner->sk_mark = sk->sk_mark;
	inner->sk_bound_dev_if = sk->sk_bound_dev_if;
	inner->sk_reuse = sk->sk_reuse;
	inner->sk_reuseport = sk->sk_reuseport;
	inner->sk_rcvtimeo = sk->sk_rcvtimeo;
	inner->sk_sndtimeo = sk->sk_sndtimeo;
	inner->sk_rcvlowat = sk->sk_rcvlowat;
	inner->sk_lingertime = sk->sk_lingertime;
	inner->sk_incoming_cpu = sk->sk_incoming_cpu;
	inner->sk_max_pacing_rate = sk->sk_max_pacing_rate;
	net6_mapped_copy_flag(sk, inner, SOCK_LINGER);
	net6_mapped_copy_flag(sk, inner, SOCK_KEEPOPEN);
	net6_mapped_copy_flag(sk, inner, SOCK_URGINLINE);
	net6_mapped_copy_flag(sk, inner, SOCK_BROADCAST);
	net6_mapped_copy_flag(sk, inner, SOCK_LOCALROUTE);
	net6_mapped_copy_flag(sk, inner, SOCK_DBG);
	/* SIGIO goes to those in the list of the wait queue that it shares. */
	sock_set_flag(inner, SOCK_FASYNC);
	inet_sk(inner)->tos = inet_sk(sk)->tos;
	inet_sk(inner)->uc_ttl = inet_sk(sk)->uc_ttl;
	inet_sk(inner)->pmtudisc = inet_sk(sk)->pmtudisc;
	net6_opt_set(inner, FREEBIND, net6_opt(sk, FREEBIND));
	net6_opt_set(inner, TRANSPARENT, net6_opt(sk, TRANSPARENT));
	net6_opt_set(inner, BIND_ADDRESS_NO_PORT, net6_opt(sk, BIND_ADDRESS_NO_PORT));
	net6_opt_set(inner, RECVERR, net6_opt(sk, RECVERR));
	net6_opt_set(inner, RECVERR_RFC4884, net6_opt(sk, RECVERR_RFC4884));
}

/* Our engine keeps TCP's options in the kernel's fields, so they only have to be copied. */
static void net6_mapped_copy_tcp(const struct sock *sk, struct sock *inner)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	char *name = inet_csk(sk)->icsk_ca_ops ? (char *)icsk->icsk_ca_ops->name : "";
	struct socket *sock = inner->sk_socket;
	int on = 1;

	net6_mapped_copy_flag(sk, inner, SOCK_ZEROCOPY);
	if (sock_flag(sk, SOCK_RCVTSTAMP)) {
		sock_setsockopt(sock, SOL_SOCKET, SO_TIMESTAMP_NEW, KERNEL_SOCKPTR(&on),
				sizeof(on));
		net6_mapped_copy_flag(sk, inner, SOCK_RCVTSTAMPNS);
		net6_mapped_copy_flag(sk, inner, SOCK_TSTAMP_NEW);
	}
	tcp_sk(inner)->nonagle = tp->nonagle & (TCP_NAGLE_OFF | TCP_NAGLE_CORK);
	tcp_sk(inner)->keepalive_time = tp->keepalive_time;
	tcp_sk(inner)->keepalive_intvl = tp->keepalive_intvl;
	tcp_sk(inner)->keepalive_probes = tp->keepalive_probes;
	tcp_sk(inner)->rx_opt.user_mss = tp->rx_opt.user_mss;
	tcp_sk(inner)->window_clamp = tp->window_clamp;
	tcp_sk(inner)->notsent_lowat = tp->notsent_lowat;
	tcp_sk(inner)->linger2 = tp->linger2;
	tcp_sk(inner)->save_syn = tp->save_syn;
	tcp_sk(inner)->recvmsg_inq = tp->recvmsg_inq;
	tcp_sk(inner)->thin_lto = tp->thin_lto;
	inet_csk(inner)->icsk_syn_retries = icsk->icsk_syn_retries;
	inet_csk(inner)->icsk_user_timeout = icsk->icsk_user_timeout;
	inet_csk(inner)->icsk_accept_queue.rskq_defer_accept =
		icsk->icsk_accept_queue.rskq_defer_accept;
	/* If it cannot be, IPv4's default has to do. */
	if (*name && strcmp(name, inet_csk(inner)->icsk_ca_ops->name))
		sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR(name),
				      strlen(name));
}

/**
 * net6_mapped_create() - make an inner socket with the options of ours
 * @sk: a socket of ours, owned
 *
 * Context: process. Return: it, not bound, with a struct socket of its own; ERR_PTR(-ENOBUFS)
 * and other errors of socket().
 */
struct sock *net6_mapped_create(struct sock *sk)
{
	struct socket *sock;
	int err;

	sock_owned_by_me(sk);
	err = __sock_create(sock_net(sk), PF_INET, sk->sk_type, sk->sk_protocol, &sock, 0);
	if (err)
		return ERR_PTR(err == -ENFILE ? -ENOBUFS : err);
	net6_mapped_copy_sock(sk, sock->sk);
	if (sk->sk_protocol == IPPROTO_TCP)
		net6_mapped_copy_tcp(sk, sock->sk);
	else
		net6_mapped_dgram_setup(sk, sock->sk);
	return sock->sk;
}

/**
 * net6_mapped_publish() - from now on there is an inner socket beside ours
 * @sk: a socket of ours, owned
 * @inner: of net6_mapped_create()
 *
 * Context: process.
 */
void net6_mapped_publish(struct sock *sk, struct sock *inner)
{
	sock_owned_by_me(sk);
	write_lock_bh(&inner->sk_callback_lock);
	rcu_assign_pointer(inner->sk_wq, &sk->sk_socket->wq);
	write_unlock_bh(&inner->sk_callback_lock);
	/* Pairs with net6_mapped_inner(). */
	smp_store_release(&net6_sk(sk)->inner, inner);
}

/**
 * net6_mapped_sync() - options of SOL_SOCKET may have changed
 * @sk: a socket of ours
 * @inner: beside it
 *
 * The core sets them on our sock and tells nobody. Context: process.
 */
void net6_mapped_sync(const struct sock *sk, struct sock *inner)
{
	lock_sock(inner);
	net6_mapped_copy_sock(sk, inner);
	release_sock(inner);
}

/* An inner socket's address and port. @inner owned. */
static int __net6_mapped_bind(struct sock *inner, const struct sockaddr_in *sin, int type, bool bpf)
{
	struct inet_sock *inet = inet_sk(inner);
	int err;

	if (inner->sk_state != TCP_CLOSE || inet->inet_num)
		return -EINVAL;
	inet->inet_rcv_saddr = sin->sin_addr.s_addr;
	inet->inet_saddr = type == RTN_MULTICAST || type == RTN_BROADCAST ? 0 :
		sin->sin_addr.s_addr;
	if (sin->sin_port || !net6_opt(inner, BIND_ADDRESS_NO_PORT)) {
		err = inner->sk_prot->get_port(inner, ntohs(sin->sin_port));
		if (!err && bpf) {
			err = BPF_CGROUP_RUN_PROG_INET6_POST_BIND(inner);
			if (err)
				inner->sk_prot->put_port(inner);
		}
		if (err) {
			inet->inet_rcv_saddr = 0;
			inet->inet_saddr = 0;
			return err;
		}
	}
	if (inet->inet_rcv_saddr)
		inner->sk_userlocks |= SOCK_BINDADDR_LOCK;
	if (sin->sin_port)
		inner->sk_userlocks |= SOCK_BINDPORT_LOCK;
	inet->inet_sport = htons(inet->inet_num);
	sk_dst_reset(inner);
	return 0;
}

/**
 * net6_mapped_bind() - bind an inner socket
 * @inner: it
 * @sin: where to
 * @bpf: BPF programs are asked about the port that was found; of others, and of privileges, was
 *	asked for our socket
 *
 * As inet_bind(), which asks programs for IPv4's sockets. Context: process. Return: 0 or -errno.
 */
int net6_mapped_bind(struct sock *inner, const struct sockaddr_in *sin, bool bpf)
{
	struct net *net = sock_net(inner);
	u32 table = l3mdev_fib_table_by_index(net, inner->sk_bound_dev_if) ?: RT_TABLE_LOCAL;
	int type = inet_addr_type_table(net, sin->sin_addr.s_addr, table);
	int err;

	if (!inet_addr_valid_or_nonlocal(net, inet_sk(inner), sin->sin_addr.s_addr, type))
		return -EADDRNOTAVAIL;
	lock_sock(inner);
	err = __net6_mapped_bind(inner, sin, type, bpf);
	release_sock(inner);
	return err;
}

/**
 * net6_mapped_bind_any() - a socket was bound to ::, so take its port on IPv4 as well
 * @sk: a socket of ours with a port, owned
 *
 * Context: process. Return: 0, also if it uses IPv6 only; -EADDRINUSE; other errors of
 * socket() and bind().
 */
int net6_mapped_bind_any(struct sock *sk)
{
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(inet_sk(sk)->inet_num),
	};
	struct sock *inner;
	int err;

	if (!net6_mapped_allowed(sk) || !ipv6_addr_any(&sk->sk_v6_rcv_saddr))
		return 0;
	inner = net6_sk(sk)->inner ?: net6_mapped_create(sk);
	if (IS_ERR(inner))
		return PTR_ERR(inner);
	if (inet_sk(inner)->inet_num)
		return 0;
	err = net6_mapped_bind(inner, &sin, false);
	if (err) {
		if (!net6_sk(sk)->inner)
			sock_release(inner->sk_socket);
		return err;
	}
	if (!net6_sk(sk)->inner)
		net6_mapped_publish(sk, inner);
	return 0;
}

/**
 * net6_mapped_release() - our struct socket is released, and the inner one with it
 * @sk: a socket of ours
 *
 * Context: process.
 */
void net6_mapped_release(struct sock *sk)
{
	struct sock *inner = net6_sk(sk)->inner;

	if (likely(!inner))
		return;
	WRITE_ONCE(net6_sk(sk)->inner, NULL);
	/* A packet of its that waits in a qdisc may have something to tell (SO_TIMESTAMPING) when
	 * our sock has gone.
	 */
	rcu_assign_sk_user_data(inner, NULL);
	sock_release(inner->sk_socket);
}

/**
 * net6_mapped_shutdown() - proto_ops.shutdown
 * @sock: socket
 * @how: SHUT_*
 *
 * Context: process. Return: as inet_shutdown(): what ours says.
 */
int net6_mapped_shutdown(struct socket *sock, int how)
{
	struct sock *sk = READ_ONCE(sock->sk);
	int err = inet_shutdown(sock, how);
	struct sock *inner;

	if (net6_sk_is_ipv4(sk))
		return err;
	inner = net6_mapped_inner(sk);
	if (unlikely(inner))
		inet_shutdown(inner->sk_socket, how);
	return err;
}
