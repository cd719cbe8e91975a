// SPDX-License-Identifier: GPL-2.0
/* Socket addresses: checking what programs pass, bind(), getsockname(), getpeername()
 * and the calls that every type of socket shares. IPv4-mapped addresses are for mapped.c.
 */
#include <net/addrconf.h>
#include <net/inet_common.h>

#include "../compat/bpf_cgroup.h"
#include "../compat/inet_sock.h"
#include "../compat/tcp.h"
#include "../core/addr.h"
#include "../core/l3mdev.h"
#include "mapped.h"
#include "sock.h"

/**
 * net6_sk_check_dest() - is this an address that sendto() can go to?
 * @sk: socket
 * @addr: at least @len bytes in kernel memory
 * @len: as the program gave it
 * @oif: set to the interface index that comes before ancillary data, 0 for none. As on Linux
 *	an address's zone goes before SO_BINDTODEVICE. net6_sk_default_oif() does the rest.
 *
 * Context: any. Return: 0; -EINVAL (short); -EAFNOSUPPORT; -ENETUNREACH (IPv4-mapped).
 */
int net6_sk_check_dest(struct sock *sk, const struct sockaddr_in6 *addr, int len, int *oif)
{
	if (len < SIN6_LEN_RFC2133)
		return -EINVAL;
	if (addr->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (ipv6_addr_v4mapped(&addr->sin6_addr))
		return -ENETUNREACH;
	*oif = net6_sk_own_oif(sk);
	if (net6_needs_zone(&addr->sin6_addr) && len >= sizeof(*addr) && addr->sin6_scope_id)
		*oif = addr->sin6_scope_id;
	return 0;
}

/**
 * net6_sk_default_oif() - the interface if neither the address nor ancillary data names one
 * @sk: socket
 * @daddr: destination
 * @oif: what the address names, else the socket insists on; 0 is changed to IPV6_MULTICAST_IF's or
 *	IPV6_UNICAST_IF's (RFC 3542 6.7)
 *
 * Context: any. Return: 0; -EINVAL: a link-local address without zone.
 */
int net6_sk_default_oif(const struct sock *sk, const struct in6_addr *daddr, int *oif)
{
	if (!*oif)
		*oif = net6_sk_option_oif(sk, daddr);
	/* RFC 4007 section 6: without a zone a link-local address means nothing. */
	if (!*oif && !ipv6_addr_is_multicast(daddr) && net6_needs_zone(daddr))
		return -EINVAL;
	return 0;
}

/**
 * net6_sk_check_addr() - is this an address that connect() can go to?
 * @sk: socket
 * @addr: at least @len bytes in kernel memory
 * @len: as the program gave it
 * @oif: set to the interface index to use, 0 for any
 *
 * Context: any. Return: as net6_sk_check_dest(); -EINVAL also for a link-local address without
 * zone, and for a zone that contradicts SO_BINDTODEVICE.
 */
int net6_sk_check_addr(struct sock *sk, const struct sockaddr_in6 *addr, int len, int *oif)
{
	int bound = READ_ONCE(sk->sk_bound_dev_if);
	int err = net6_sk_check_dest(sk, addr, len, oif);

	if (!err)
		err = net6_sk_default_oif(sk, &addr->sin6_addr, oif);
	if (!err && unlikely(bound && *oif != bound)) {
		rcu_read_lock();
		if (!net6_l3mdev_reaches(net6_pernet(sock_net(sk)), bound, *oif))
			err = -EINVAL;
		rcu_read_unlock();
	}
	return err;
}

/**
 * net6_bind_check() - is this address one that may be bound to?
 * @sk: socket, owned; its sk_bound_dev_if is set for an address with a zone
 * @addr: address
 * @len: its length as the program gave it
 *
 * Context: process. Return: 0; -EINVAL; -EADDRNOTAVAIL; -ENODEV.
 */
int net6_bind_check(struct sock *sk, const struct sockaddr_in6 *addr, int len)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));
	int type = ipv6_addr_type(&addr->sin6_addr);
	int err = 0;

	if (type & IPV6_ADDR_MAPPED)
		return sk->sk_ipv6only ? -EINVAL : -EADDRNOTAVAIL;
	if (type == IPV6_ADDR_ANY)
		return 0;
	if (net6_needs_zone(&addr->sin6_addr)) {
		if (len >= sizeof(*addr) && addr->sin6_scope_id)
			sk->sk_bound_dev_if = addr->sin6_scope_id;
		if (!sk->sk_bound_dev_if)
			return -EINVAL;
	}

	rcu_read_lock();
	if (sk->sk_bound_dev_if && !dev_get_by_index_rcu(sock_net(sk), sk->sk_bound_dev_if))
		err = -ENODEV;
	else if (!(type & IPV6_ADDR_MULTICAST) && !net6_opt(sk, FREEBIND) &&
		 !net6_opt(sk, TRANSPARENT) && !READ_ONCE(nn->settings.ip_nonlocal_bind) &&
		 !net6_addr_usable(nn, &addr->sin6_addr, sk->sk_bound_dev_if))
		err = -EADDRNOTAVAIL;
	rcu_read_unlock();
	return err;
}

/* Ports to try until one is free for IPv6 and IPv4. */
#define NET6_BIND_TRIES		128

static void net6_reset_saddr(struct sock *sk)
{
	memset(&sk->sk_v6_rcv_saddr, 0, sizeof(sk->sk_v6_rcv_saddr));
	memset(&net6_np(sk)->saddr, 0, sizeof(struct in6_addr));
}

/**
 * net6_bind_port() - take a port, on IPv4 too if the socket is bound to :: and may use IPv4
 * @sk: socket, owned; its address is set
 * @snum: port, host byte order, 0 to choose one
 * @bpf: BPF programs are asked
 *
 * Context: process. Return: 0 or -errno, as native bind().
 */
int net6_bind_port(struct sock *sk, unsigned short snum, bool bpf)
{
	int tries = snum ? 1 : NET6_BIND_TRIES;
	int err;

	do {
		err = sk->sk_prot->get_port(sk, snum);
		if (err)
			return err;
		if (bpf)
			err = BPF_CGROUP_RUN_PROG_INET6_POST_BIND(sk);
		if (!err)
			err = net6_mapped_bind_any(sk);
		if (!err)
			return 0;
		if (sk->sk_prot->put_port)
			sk->sk_prot->put_port(sk);
	} while (err == -EADDRINUSE && --tries);
	return err;
}

/* To an IPv4 address. */
static int net6_bind_mapped(struct socket *sock, struct sock *sk, const struct sockaddr_in6 *addr)
{
	if (sk->sk_type == SOCK_STREAM)
		return net6_mapped_stream_bind(sock, sk, addr);
	return net6_mapped_dgram_bind(sk, addr);
}

/* The port of a bind(). A BPF program may not sleep, so it gets none on IPv4. */
static int net6_bind_snum(struct sock *sk, unsigned short snum, u32 flags)
{
	if (!snum && (net6_opt(sk, BIND_ADDRESS_NO_PORT) || flags & BIND_FORCE_ADDRESS_NO_PORT))
		return 0;
	if (flags & BIND_FROM_BPF)
		return sk->sk_prot->get_port(sk, snum);
	return net6_bind_port(sk, snum, true);
}

static int __net6_bind(struct socket *sock, struct sock *sk, const struct sockaddr_in6 *addr,
		       int len, u32 flags)
{
	unsigned short snum = ntohs(addr->sin6_port);
	struct inet_sock *inet = inet_sk(sk);
	int type = ipv6_addr_type(&addr->sin6_addr);
	bool ipv6only = sk->sk_ipv6only;
	int err;

	sock_owned_by_me(sk);
	if (sk->sk_state != TCP_CLOSE || inet->inet_num)
		return -EINVAL;
	if (net6_mapped_addr(sk, addr, len)) {
		/* That makes an IPv4 socket, which sleeps. */
		if (flags & BIND_FROM_BPF)
			return -EAFNOSUPPORT;
		return net6_bind_mapped(sock, sk, addr);
	}
	err = net6_bind_check(sk, addr, len);
	if (err)
		return err;

	sk->sk_v6_rcv_saddr = addr->sin6_addr;
	if (!(type & IPV6_ADDR_MULTICAST))
		net6_np(sk)->saddr = addr->sin6_addr;
	/* No IPv4 packet comes to there, and IPV6_V6ONLY says so, as on Linux. */
	if (type != IPV6_ADDR_ANY)
		sk->sk_ipv6only = 1;
	err = net6_bind_snum(sk, snum, flags);
	if (err) {
		sk->sk_ipv6only = ipv6only;
		net6_reset_saddr(sk);
		return err;
	}
	if (type != IPV6_ADDR_ANY)
		sk->sk_userlocks |= SOCK_BINDADDR_LOCK;
	if (snum)
		sk->sk_userlocks |= SOCK_BINDPORT_LOCK;
	inet->inet_sport = htons(inet->inet_num);
	inet->inet_dport = 0;
	net6_sk_dest_reset(sk);
	return 0;
}

/* What does not depend on the socket's state. */
static int net6_bind_allowed(const struct sock *sk, const struct sockaddr_in6 *addr, u32 flags)
{
	unsigned short snum = ntohs(addr->sin6_port);

	if (addr->sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (sk->sk_type == SOCK_STREAM && ipv6_addr_is_multicast(&addr->sin6_addr))
		return -EINVAL;
	if (!(flags & BIND_NO_CAP_NET_BIND_SERVICE) && snum &&
	    sk->sk_protocol != IPPROTO_ICMPV6 &&
	    inet_port_requires_bind_service(sock_net(sk), snum) &&
	    !ns_capable(sock_net(sk)->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;
	return 0;
}

/**
 * net6_bind_bpf() - bpf_bind(): a cgroup's program binds a socket that connects
 * @sk: socket of AF_INET6, owned
 * @uaddr: address, at least SIN6_LEN_RFC2133 long
 * @addr_len: its length
 * @flags: BIND_FROM_BPF, and BIND_FORCE_ADDRESS_NO_PORT where no port is given
 *
 * Context: process, RCU read lock held: does not sleep. Return: 0 or -errno, as native's, but
 * -EAFNOSUPPORT for a mapped address.
 */
int net6_bind_bpf(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len, u32 flags)
{
	const struct sockaddr_in6 *addr = (const struct sockaddr_in6 *)uaddr;
	int err;

	/* A program of an IPv4 socket may name an IPv6 address. */
	if (sk->sk_family != AF_INET6 || net6_sk_is_ipv4(sk))
		return -EAFNOSUPPORT;
	if (sk->sk_prot->bind || !sk->sk_prot->get_port)
		return -EOPNOTSUPP;
	err = net6_bind_allowed(sk, addr, flags);
	return err ?: __net6_bind(sk->sk_socket, sk, addr, addr_len, flags);
}

/**
 * net6_bind() - proto_ops.bind
 * @sock: socket
 * @uaddr: address, copied to kernel memory
 * @addr_len: its length
 *
 * Context: process. Return: 0 or -errno, as native bind().
 */
int net6_bind(struct socket *sock, struct sockaddr_unsized *uaddr, int addr_len)
{
	struct sockaddr_in6 *addr = (struct sockaddr_in6 *)uaddr;
	struct sock *sk = READ_ONCE(sock->sk);
	u32 flags = BIND_WITH_LOCK;
	int err;

	if (net6_sk_is_ipv4(sk))
		return net6_mapped_rebind(sock, addr, addr_len);
	if (sk->sk_prot->bind)
		return sk->sk_prot->bind(sk, uaddr, addr_len);
	if (addr_len < SIN6_LEN_RFC2133)
		return -EINVAL;
	err = net6_bpf_bind(sk, uaddr, &addr_len, &flags);
	if (err)
		return err;
	err = net6_bind_allowed(sk, addr, flags);
	if (err)
		return err;

	sk = net6_lock_sock(sock);
	/* Another thread has been faster: it is bound. */
	err = net6_sk_is_ipv4(sk) ? -EINVAL : __net6_bind(sock, sk, addr, addr_len, flags);
	release_sock(sk);
	return err;
}

/**
 * net6_getname() - proto_ops.getname
 * @sock: socket
 * @uaddr: room for a struct sockaddr_storage
 * @peer: 0 for our name, 1 for the peer's, 2 for the peer's before the connection is up
 *
 * Our name can be had before bind(), as :: and port 0: LSMs ask for it in bind().
 * Context: process. Return: length or -ENOTCONN.
 */
int net6_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)uaddr;
	struct sock *sk = READ_ONCE(sock->sk);
	struct inet_sock *inet = inet_sk(sk);
	struct ipv6_pinfo *np = net6_np(sk);
	int len = sizeof(*sin6);

	if (net6_sk_is_ipv4(sk))
		return net6_mapped_getname(sock, uaddr, peer);
	sin6->sin6_family = AF_INET6;
	sin6->sin6_flowinfo = 0;
	lock_sock(sk);
	if (peer) {
		if (!inet->inet_dport ||
		    (((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_SYN_SENT)) && peer == 1)) {
			release_sock(sk);
			return -ENOTCONN;
		}
		sin6->sin6_port = inet->inet_dport;
		sin6->sin6_addr = sk->sk_v6_daddr;
		if (net6_opt(sk, SNDFLOW))
			sin6->sin6_flowinfo = np->flow_label;
		net6_bpf_getname(sk, uaddr, &len, CGROUP_INET6_GETPEERNAME);
	} else {
		sin6->sin6_addr = ipv6_addr_any(&sk->sk_v6_rcv_saddr) ? np->saddr :
			sk->sk_v6_rcv_saddr;
		sin6->sin6_port = inet->inet_sport;
		net6_bpf_getname(sk, uaddr, &len, CGROUP_INET6_GETSOCKNAME);
	}
	sin6->sin6_scope_id = net6_zone(&sin6->sin6_addr, sk->sk_bound_dev_if);
	release_sock(sk);
	return len;
}

/**
 * net6_release() - proto_ops.release
 * @sock: socket that programs have closed
 *
 * Context: process. Return: 0, or -EINVAL without a sock.
 */
int net6_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	bool in_groups;
	int err;

	if (!sk)
		return -EINVAL;
	/* The sock of ours that it replaced is released as any, with what it has joined. */
	if (net6_sk_is_ipv4(sk)) {
		err = inet_release(sock);
		net6_mapped_stream_release(sock);
		return err;
	}
	net6_mapped_release(sk);
	in_groups = sk->sk_type != SOCK_STREAM && !hlist_empty(&net6_dgram_sk(sk)->groups);
	if (in_groups || net6_np(sk)->ipv6_ac_list) {
		lock_sock(sk);
		net6_sk_anycast_leave_all(sk);
		if (in_groups)
			net6_sk_group_leave_all(sk);
		release_sock(sk);
	}
	return inet_release(sock);
}

/**
 * net6_ioctl() - proto_ops.ioctl
 * @sock: socket
 * @cmd: request; routes and addresses are net6ctl's business, not ours
 * @arg: its argument
 *
 * Context: process. Return: what the protocol says, -ENOIOCTLCMD for unknown ones
 * (the device layer then has its turn).
 */
int net6_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (!sk->sk_prot->ioctl)
		return -ENOIOCTLCMD;
	return net6_compat_ioctl(sk, cmd, arg);
}
