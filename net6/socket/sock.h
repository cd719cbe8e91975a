/* SPDX-License-Identifier: GPL-2.0 */
/* Every net6 socket has this. The face to programs and the transports ask it of each other, too.
 */
#ifndef _NET6_SOCK_H
#define _NET6_SOCK_H

#include <linux/ipv6.h>
#include <linux/net.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <linux/udp.h>

#include "../compat/sockaddr.h"
#include "../compat/tcp_timer.h"
#include "../core/dest.h"
#include "../core/ip.h"

struct net6_tcp_port_addr;
struct net6_icmp_error;

/**
 * struct net6_sk - the part of a socket that is net6's
 * @dest: cached destination, reference held. Replaced with xchg(); readers own the
 *	socket (streams) or are in an RCU section (datagrams, which send without lock)
 * @inner: the native IPv4 socket beside this one (mapped.c), with a struct socket of its
 *	own that release() releases; NULL for most. Set once, under the socket lock
 *
 * The socket's IPv6 options are in the kernel's struct ipv6_pinfo (inet6_sk()), its ports in
 * inet_sk(). Its addresses are in sk_v6_rcv_saddr, sk_v6_daddr and inet6_sk()->saddr. The core,
 * LSMs and BPF expect it so.
 */
struct net6_sk {
	struct net6_dest	*dest;
	struct sock		*inner;
};

/**
 * struct net6_tx - what one datagram is sent with: options of the socket, overruled by
 * ancillary data of the call
 * @daddr: destination
 * @saddr: source, :: to let the destination's entry choose
 * @flowinfo: flow label the user asked for, network byte order, 0 for our own
 * @dport: destination port, network byte order
 * @gso_size: bytes of payload per datagram (UDP_SEGMENT), 0 for one datagram
 * @oif: interface insisted on, 0 for any
 * @hop_limit, @tclass, @dontfrag: as given, -1 for the socket's
 * @confirm: MSG_CONFIRM: the program has heard from the destination
 * @opt: extension headers, NULL for the socket's or none
 * @headers: those of ancillary data, which @opt then points to; else not initialised
 * @sockc: SOL_SOCKET ancillary data
 */
struct net6_tx {
	struct in6_addr		daddr;
	struct in6_addr		saddr;
	__be32			flowinfo;
	__be16			dport;
	u16			gso_size;
	int			oif;
	int			hop_limit;
	int			tclass;
	int			dontfrag;
	bool			confirm;
	struct ipv6_txoptions	*opt;
	struct ipv6_txoptions	headers;
	struct sockcm_cookie	sockc;
};

/* inet6_sk() of a full socket of ours, without asking whether it is one. */
static inline struct ipv6_pinfo *net6_np(const struct sock *sk)
{
	return inet_sk(sk)->pinet6;
}

/**
 * net6_tx_tclass() - the traffic class of a datagram
 * @sk: socket
 * @tx: what was said of it
 *
 * Context: any. Return: of ancillary data, else the socket's.
 */
static inline u8 net6_tx_tclass(const struct sock *sk, const struct net6_tx *tx)
{
	return tx->tclass >= 0 ? tx->tclass : net6_np(sk)->tclass;
}

/**
 * struct net6_sk_filter - the sources that a membership takes packets from, or not
 * @mode: NET6_MLD_INCLUDE or NET6_MLD_EXCLUDE
 * @n: entries of @sources
 * @rcu: freed after a grace period
 * @sources: constant, no address twice
 */
struct net6_sk_filter {
	u8			mode;
	unsigned int		n;
	struct rcu_head		rcu;
	struct in6_addr		sources[];
};

/**
 * struct net6_sk_group - a group that a datagram socket has joined
 * @node: in the socket's list; socket lock to write, RCU to read
 * @addr: group
 * @ifindex: interface it was joined on, never 0
 * @iface: the same, referenced: it may be gone, and another one have its number
 * @uid: the socket's owner when it was joined
 * @filter: sources, NULL for any
 * @rcu: freed after a grace period
 */
struct net6_sk_group {
	struct hlist_node	node;
	struct in6_addr		addr;
	int			ifindex;
	kuid_t			uid;
	struct net6_iface	*iface;
	struct net6_sk_filter __rcu *filter;
	struct rcu_head		rcu;
};

/**
 * struct net6_dgram_cork - a datagram that is put together by several calls
 * @pending: bytes of payload that wait in sk_write_queue
 * @tx: what it will be sent with; the headers are its own (net6_tx_keep())
 */
struct net6_dgram_cork {
	unsigned int	pending;
	struct net6_tx	tx;
};

struct net6_dgram_pages;

/**
 * struct net6_dgram_sock - UDP and ping sockets, and the beginning of raw ones
 * @udp6: must be first: core code casts (sk_is_udp and friends)
 * @n6: the part that every net6 socket has
 * @groups: struct net6_sk_group
 * @gso_size: UDP_SEGMENT, 0 for off
 * @gro: UDP_GRO: datagrams may come in joined, with their size as ancillary data
 * @cork: UDP_CORK
 * @paged: octets sent in pages, until they are enough for it to keep some
 * @corked: the datagram whose beginning sk_write_queue holds; under the socket lock
 * @pages: those that it keeps (socket/dgram_pages.c)
 *
 * With eight bytes more a slab of 32 KB would hold 22 of them, not 23.
 */
struct net6_dgram_sock {
	struct udp6_sock	udp6;
	struct net6_sk		n6;
	struct hlist_head	groups;
	u16			gso_size;
	bool			gro;
	bool			cork;
	u32			paged;
	struct net6_dgram_cork	*corked;
	struct net6_dgram_pages	*pages;
};

/* A raw socket may be of UDP's protocol number. */
static inline bool net6_sk_is_udp(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_UDP && sk->sk_type == SOCK_DGRAM;
}

static inline struct net6_dgram_sock *net6_dgram_sk(const struct sock *sk)
{
	return (struct net6_dgram_sock *)sk;
}

/**
 * struct net6_tcp_sock - TCP sockets
 * @tcp6: must be first and complete: core code casts every AF_INET6 stream socket
 *	with IPPROTO_TCP to it. The engine's state lives in its fields wherever it
 *	has one, with the kernel's meaning and units.
 * @n6: the part that every net6 socket has
 * @port: local port it owns, NULL if not bound
 * @ca: congestion control module in use, counted (transport/tcp/engine/cong.c)
 * @accept_first, @accept_last: a listener's children ready for accept(), under rskq_lock
 * @accept_next: a child's successor in that queue
 * @listener: while in a listener's accept queue, that listener (no reference)
 * @shadow_of: the struct socket in which an IPv4 sock has taken this one's place
 *	(socket/mapped_stream.c)
 * @shadow: the struct socket that keeps this one meanwhile
 * @pages: a connection's pages to send with (transport/tcp/engine/pages.c); NULL when it is closed
 * @times: what the kernel's fields have no place for (compat/tcp_timer.h)
 *
 * A listener, a child nobody has accepted, a replaced socket and a connection share one place for
 * what is theirs. With eight bytes more a slab of 32 KB would hold 12 of them, not 13.
 */
struct net6_tcp_sock {
	struct tcp6_sock	tcp6;
	struct net6_sk		n6;
	struct net6_tcp_port_addr *port;
	struct net6_tcp_ca	*ca;
	union {
		struct {
			struct net6_tcp_sock	*accept_first;
			struct net6_tcp_sock	*accept_last;
		};
		struct {
			struct net6_tcp_sock	*accept_next;
			struct sock		*listener;
		};
		struct {
			struct socket		*shadow_of;
			struct socket		*shadow;
		};
		struct net6_pagering		*pages;
	};
	struct net6_compat_tcp_times	times;
};

static inline struct net6_tcp_sock *net6_tcp_sk(const struct sock *sk)
{
	return (struct net6_tcp_sock *)sk;
}

static inline struct net6_sk *net6_sk(const struct sock *sk)
{
	if (sk->sk_type == SOCK_STREAM)
		return &((struct net6_tcp_sock *)sk)->n6;
	return &((struct net6_dgram_sock *)sk)->n6;
}

struct net6_dest *net6_sk_dest_slow(struct sock *sk);
bool net6_sk_dest_holds(const struct sock *sk, const struct net6_dest *dest);
void net6_sk_flow(const struct sock *sk, struct net6_flow *flow);
void net6_sk_update_pmtu(const struct sock *sk, const struct net6_icmp_error *err, __be16 dport);
const struct in6_addr *net6_sk_source(const struct sock *sk, const struct net6_dest *dest,
				      struct in6_addr *buf);

/**
 * net6_sk_dest() - the destination of a connected socket, looked up again if stale
 * @sk: connected socket, locked by the caller (owned or spinlock)
 *
 * The fast path is one compare; where there are rules, the socket may have another mark since. The
 * source address of a connected socket is fixed
 * (inet6_sk()->saddr) and does not change with the entry.
 * Context: any; does not sleep.
 * Return: a borrowed entry (the socket holds it), or ERR_PTR(-errno).
 */
static inline struct net6_dest *net6_sk_dest(struct sock *sk)
{
	struct net6_dest *dest = net6_sk(sk)->dest;

	if (likely(dest && net6_dest_valid(dest)) &&
	    likely(!(dest->flags & NET6_DEST_RULED) || net6_sk_dest_holds(sk, dest)))
		return dest;
	return net6_sk_dest_slow(sk);
}

void net6_sk_dest_reset(struct sock *sk);

/**
 * net6_sk_stamp() - a packet's time of arrival, for a socket that asks for it
 * @sk: socket
 * @skb: for it; not shared
 *
 * A device's packet has it already, what we sent to ourselves has not.
 * Context: any. Return: true if it was set.
 */
static inline bool net6_sk_stamp(const struct sock *sk, struct sk_buff *skb)
{
	if (likely(!(READ_ONCE(sk->sk_flags) & SK_FLAGS_TIMESTAMP)) || skb->tstamp)
		return false;
	__net_timestamp(skb);
	return true;
}

/* socket/family.c: common to all protocols; protocols fill in struct proto. */
int net6_sk_init(struct sock *sk);	/* pinet6, defaults; called by proto->init's caller */
void net6_sk_destruct(struct sock *sk);	/* sk->sk_destruct of net6 sockets */

/* socket/sk_addr.c. check_dest() looks at a sockaddr for sendto(): its length, and whether its
 * family is AF_INET6. Mapped IPv4 addresses, which mapped.c takes before, give -ENETUNREACH.
 * check_addr() also holds the zone against SO_BINDTODEVICE. Return 0 or -errno and the interface
 * index in *oif.
 */
int net6_sk_check_dest(struct sock *sk, const struct sockaddr_in6 *addr, int len, int *oif);
int net6_sk_default_oif(const struct sock *sk, const struct in6_addr *daddr, int *oif);
int net6_sk_check_addr(struct sock *sk, const struct sockaddr_in6 *addr, int len, int *oif);
int net6_bind_check(struct sock *sk, const struct sockaddr_in6 *addr, int len);
int net6_bind_port(struct sock *sk, unsigned short snum, bool bpf);

/* IPPROTO_IPV6 level options (socket/sockopt.c) and ancillary data (socket/cmsg.c). */
int net6_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
		    unsigned int optlen);
int net6_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
		    int __user *optlen);
int net6_sock_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			 unsigned int optlen);	/* proto_ops.setsockopt */
int net6_setsockopt_bpf(struct sock *sk, int level, int optname, sockptr_t optval,
			unsigned int optlen);
int net6_getsockopt_bpf(struct sock *sk, int level, int optname, sockptr_t optval,
			sockptr_t optlen);

/**
 * struct net6_protosw - a type and protocol that socket() can make
 * @list: of all of them
 * @type: SOCK_STREAM, ...
 * @protocol: IPPROTO_TCP, ...; 0 for any
 * @prot: of such a socket
 * @ops: the same
 */
struct net6_protosw {
	struct list_head	list;
	unsigned short		type;
	unsigned short		protocol;
	struct proto		*prot;
	const struct proto_ops	*ops;
};

int net6_protosw_register(struct net6_protosw *p);
void net6_protosw_unregister(struct net6_protosw *p);

/* Generic proto_ops shared by stream and datagram sockets (socket/sk_addr.c). */
int net6_release(struct socket *sock);
int net6_bind(struct socket *sock, struct sockaddr_unsized *uaddr, int addr_len);
int net6_bind_bpf(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len, u32 flags);
int net6_getname(struct socket *sock, struct sockaddr *uaddr, int peer);
int net6_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

/* socket/family.c */
int net6_family_init(void);
void net6_family_exit(void);
bool net6_family_has_inet6(void);
void net6_family_carry(bool carry);
bool net6_family_carries(void);
int net6_family_inet6_init(void);
void net6_family_inet6_exit(void);

/* Calls of SOCK_DGRAM sockets (socket/dgram.c). */
int net6_dgram_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len);
int net6_dgram_disconnect(struct sock *sk, int flags);

/* A datagram socket has another address or peer: with a port it is filed anew. sk owned. */
static inline void net6_dgram_moved(struct sock *sk)
{
	if (sk->sk_prot->rehash)
		sk->sk_prot->rehash(sk);
}

int net6_dgram_set_tx(struct sock *sk, struct msghdr *msg, struct net6_tx *tx, bool *connected);
int net6_dgram_probe(struct sock *sk, struct net6_tx *tx);
u32 net6_dgram_mtu(struct sock *sk, struct net6_dest *dest);
int net6_dgram_output(struct sock *sk, struct sk_buff *skb, struct net6_dest *dest);
int net6_dgram_mtu_check_large(struct sock *sk, const struct net6_tx *tx, struct net6_dest *dest,
			       unsigned int len);
int net6_dgram_push_headers(struct sock *sk, struct sk_buff *skb, const struct net6_tx *tx,
			    struct net6_dest *dest, const struct in6_addr *saddr, u8 proto);

/* Pages for a datagram's data (socket/dgram_pages.c). */
int net6_dgram_pages_add(struct sock *sk, struct sk_buff *skb, unsigned int len);
void net6_dgram_pages_free(struct sock *sk);

/* Sticky extension headers hold where the call gave none. RCU read lock held until the
 * datagram is sent.
 */
static inline void net6_tx_exthdrs(struct sock *sk, struct net6_tx *tx)
{
	struct ipv6_txoptions *sticky = rcu_dereference(net6_np(sk)->opt);

	if (unlikely(sticky) && !tx->opt)
		tx->opt = sticky;
}

/**
 * net6_dgram_mtu_check() - may a datagram of this size be sent?
 * @sk: socket
 * @tx: how it is sent
 * @dest: where it goes
 * @len: bytes behind the IPv6 header and the extension headers of @tx
 *
 * No path and no IPV6_MTU is below 1280 octets.
 * Context: RCU read lock held. Return: as net6_dgram_mtu_check_large().
 */
static inline int net6_dgram_mtu_check(struct sock *sk, const struct net6_tx *tx,
				       struct net6_dest *dest, unsigned int len)
{
	if (likely(len + sizeof(struct ipv6hdr) <= NET6_MIN_MTU && !tx->opt))
		return 0;
	return net6_dgram_mtu_check_large(sk, tx, dest, len);
}

/* IPV6_MTU_DISCOVER: may what does not fit the path be fragmented? PROBE and INTERFACE
 * send up to the link's MTU in one piece instead.
 */
static inline bool net6_dgram_may_fragment(const struct sock *sk)
{
	u8 pmtudisc = net6_np(sk)->pmtudisc;

	return pmtudisc < IPV6_PMTUDISC_DO || pmtudisc == IPV6_PMTUDISC_OMIT;
}

/* The interface that a socket insists on, whatever ancillary data says; 0 for any. */
static inline int net6_sk_own_oif(const struct sock *sk)
{
	return READ_ONCE(sk->sk_bound_dev_if) ?: net6_np(sk)->sticky_pktinfo.ipi6_ifindex;
}

/* IPV6_MULTICAST_IF's or IPV6_UNICAST_IF's, for a socket that insists on none; 0 for any. */
static inline int net6_sk_option_oif(const struct sock *sk, const struct in6_addr *daddr)
{
	const struct ipv6_pinfo *np = net6_np(sk);

	return ipv6_addr_is_multicast(daddr) ? np->mcast_oif : np->ucast_oif;
}

/**
 * net6_needs_zone() - does an address mean something on one link only? (RFC 4007 section 6)
 * @addr: address
 *
 * Of most their first octet says that they do not. Context: any.
 */
static inline bool net6_needs_zone(const struct in6_addr *addr)
{
	return addr->s6_addr[0] >= 0xfe &&
	       __ipv6_addr_needs_scope_id(__ipv6_addr_type(addr));
}

/* The zone that a program is told with an address. */
static inline u32 net6_zone(const struct in6_addr *addr, int ifindex)
{
	return net6_needs_zone(addr) ? ifindex : 0;
}

/* socket/sk_dest.c */
struct net6_dest *net6_dgram_dest(struct sock *sk, const struct net6_tx *tx);
int net6_sk_oif(const struct sock *sk, const struct in6_addr *daddr);

/* Anycast addresses of a socket (socket/sk_anycast.c). sk owned, process context. */
int net6_sk_anycast_join(struct sock *sk, int ifindex, const struct in6_addr *addr);
int net6_sk_anycast_leave(struct sock *sk, int ifindex, const struct in6_addr *addr);
void net6_sk_anycast_leave_all(struct sock *sk);

/* Groups of a datagram socket (socket/group.c). sk owned, process context. */
int net6_sk_group_join(struct sock *sk, int ifindex, const struct in6_addr *addr,
		       struct net6_sk_filter *filter);
int net6_sk_group_leave(struct sock *sk, int ifindex, const struct in6_addr *addr);
void net6_sk_group_leave_all(struct sock *sk);
struct net6_sk_group *net6_sk_group_find(struct sock *sk, int ifindex,
					 const struct in6_addr *addr);
void net6_sk_group_drop(struct sock *sk, struct net6_sk_group *g);
/* Would this socket take packets for the group? RCU read lock held. */
bool net6_sk_group_match(const struct sock *sk, const struct in6_addr *addr,
			 const struct in6_addr *source, int ifindex);

/* Their sources (socket/filter.c). sk owned, process context, but for the match. */
int net6_set_mcast_source(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen);
int net6_set_mcast_filter(struct sock *sk, sockptr_t optval, unsigned int optlen);
int net6_get_mcast_filter(struct sock *sk, char __user *optval, int __user *optlen, int len);
void net6_sk_filter_free(struct sock *sk, struct net6_sk_filter *filter);
struct net6_mld_filter net6_sk_filter_wish(const struct net6_sk_filter *filter);
bool net6_sk_filter_match(const struct net6_sk_filter *filter, const struct in6_addr *source);

/* Extension headers to be sent (socket/sticky.c). */
int net6_sticky_set(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen);
int net6_sticky_get(struct sock *sk, int optname, char __user *optval, int __user *optlen,
		    unsigned int len);
void net6_sticky_free(struct sock *sk);
int net6_cmsg_exthdr(struct sock *sk, const struct cmsghdr *cmsg, struct net6_tx *tx);
int net6_tx_keep(struct sock *sk, struct net6_tx *tx);
void net6_tx_forget(struct sock *sk, struct net6_tx *tx);

/* Ancillary data (socket/cmsg.c). skb: a received packet, network header set. */
int net6_cmsg_send(struct sock *sk, struct msghdr *msg, struct net6_tx *tx);
void net6_cmsg_recv(struct sock *sk, struct msghdr *msg, struct sk_buff *skb, int ifindex);

/* Errors told to programs (socket/errqueue.c). */
int net6_recv_error(struct sock *sk, struct msghdr *msg, int len, int *addr_len);
int net6_recv_path_mtu(struct sock *sk, struct msghdr *msg, int *addr_len);
void net6_queue_path_mtu(struct sock *sk, const struct in6_addr *daddr, int oif, u32 mtu);
void net6_queue_icmp_error(struct sock *sk, struct sk_buff *skb, int err, __be16 port,
			   const struct net6_icmp_error *icmp, unsigned int payload);
void net6_queue_icmp4_error(struct sock *sk, struct sk_buff *skb, int err, u32 info,
			    unsigned int udp_offset);
void net6_queue_local_error(struct sock *sk, int err, const struct in6_addr *daddr,
			    __be16 port, u32 info);

#endif /* _NET6_SOCK_H */
