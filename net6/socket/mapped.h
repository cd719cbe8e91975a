/* SPDX-License-Identifier: GPL-2.0 */
/* IPv4 through IPv6 sockets (RFC 3493 section 3.7): what the files of this folder and the
 * transports ask of mapped*.c. "Inner" is a native IPv4 socket that serves one of ours.
 */
#ifndef _NET6_MAPPED_H
#define _NET6_MAPPED_H

#include "sock.h"

/**
 * net6_sk_is_ipv4() - has a native IPv4 socket taken the place of ours?
 * @sk: the sock of a struct socket with our operations
 *
 * That is behind connect() and bind() to a mapped address, and behind accept() of an IPv4
 * connection; stream sockets only. Context: any.
 */
static inline bool net6_sk_is_ipv4(const struct sock *sk)
{
	return unlikely(sk->sk_family == AF_INET);
}

/**
 * net6_mapped_allowed() - may this socket use IPv4?
 * @sk: a socket of ours
 *
 * TCP and UDP, IPV6_V6ONLY off, and not one of the kernel's own, whose users know only our
 * transports. Context: any.
 */
static inline bool net6_mapped_allowed(const struct sock *sk)
{
	return !sk->sk_ipv6only && sk->sk_net_refcnt &&
	       (sk->sk_protocol == IPPROTO_TCP || sk->sk_protocol == IPPROTO_UDP) &&
	       sk->sk_type != SOCK_RAW;
}

/**
 * net6_mapped_inner() - the inner socket beside ours, if there is one
 * @sk: a socket of ours, not net6_sk_is_ipv4()
 *
 * It stays until our struct socket is released. Context: process.
 */
static inline struct sock *net6_mapped_inner(const struct sock *sk)
{
	/* Pairs with net6_mapped_publish(). */
	return smp_load_acquire(&net6_sk(sk)->inner);
}

/**
 * net6_mapped_self() - as a destination the unspecified address is this host
 * @sk: a socket of ours, or the IPv4 one in its place
 * @addr: at least @len bytes in kernel memory, may be changed
 * @len: as the program gave it
 *
 * That of IPv4, if the socket has an address of IPv4. Context: any.
 */
static inline void net6_mapped_self(const struct sock *sk, struct sockaddr_in6 *addr, int len)
{
	if (len >= SIN6_LEN_RFC2133 && addr->sin6_family == AF_INET6 &&
	    unlikely(ipv6_addr_any(&addr->sin6_addr)) &&
	    (net6_sk_is_ipv4(sk) || ipv6_addr_v4mapped(&net6_np(sk)->saddr)))
		ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK), &addr->sin6_addr);
}

/* mapped.c */
bool net6_mapped_addr(const struct sock *sk, const struct sockaddr_in6 *addr, int len);
void net6_mapped_to_in(const struct sockaddr_in6 *sin6, struct sockaddr_in *sin);
struct sock *net6_lock_sock(struct socket *sock);
struct sock *net6_mapped_create(struct sock *sk);
void net6_mapped_publish(struct sock *sk, struct sock *inner);
void net6_mapped_sync(const struct sock *sk, struct sock *inner);
int net6_mapped_bind(struct sock *inner, const struct sockaddr_in *sin, bool bpf);
int net6_mapped_bind_any(struct sock *sk);
void net6_mapped_release(struct sock *sk);
int net6_mapped_shutdown(struct socket *sock, int how);

/* mapped_stream.c */
int net6_mapped_stream_bind(struct socket *sock, struct sock *sk,
			    const struct sockaddr_in6 *addr);
int net6_mapped_stream_start(struct socket *sock, struct sock *sk, struct sockaddr_in6 *addr,
			     int len);
int net6_mapped_rebind(struct socket *sock, const struct sockaddr_in6 *addr, int len);
int net6_mapped_connect(struct socket *sock, struct sockaddr_unsized *uaddr, int len, int flags);
int net6_mapped_getname(struct socket *sock, struct sockaddr *uaddr, int peer);
int net6_mapped_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			   unsigned int optlen);
int net6_mapped_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
			   int __user *optlen);
void net6_mapped_stream_release(struct socket *sock);
bool net6_mapped_accept_ready(const struct sock *sk);
struct sock *net6_mapped_accept(struct sock *sk, bool kern);
int net6_mapped_stream_init(void);
void net6_mapped_stream_exit(void);

/* mapped_dgram.c */
void net6_mapped_dgram_setup(struct sock *sk, struct sock *inner);
int net6_mapped_dgram_bind(struct sock *sk, const struct sockaddr_in6 *addr);
int net6_mapped_dgram_connect(struct sock *sk, const struct sockaddr_in6 *addr, int len);
void net6_mapped_dgram_disconnect(struct sock *sk);
u32 net6_mapped_dgram_mtu(const struct sock *sk);
int net6_mapped_dgram_sendmsg(struct sock *sk, struct msghdr *msg, size_t len);
__poll_t net6_mapped_dgram_poll(struct sock *inner, __poll_t mask);

#endif /* _NET6_MAPPED_H */
