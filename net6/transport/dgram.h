/* SPDX-License-Identifier: GPL-2.0 */
/* What UDP and ping share: the table of local ports and the receive queue. */
#ifndef _NET6_DGRAM_H
#define _NET6_DGRAM_H

#include "../compat/tcp.h"
#include "../compat/udp_tunnel.h"
#include "../socket/sock.h"
#include "../core/proto.h"

/**
 * struct net6_dgram_key - a datagram as its receiver sees it
 * @laddr, @faddr: local (its destination) and foreign address
 * @lport: local port, host byte order; the identifier of an echo; raw: none
 * @fport: foreign port, network byte order; 0 for an echo
 * @dif: interface it came in on
 * @sdif: that one's VRF, 0: none
 * @protocol: IPPROTO_UDP or IPPROTO_ICMPV6, a raw socket's own
 */
struct net6_dgram_key {
	const struct in6_addr	*laddr;
	const struct in6_addr	*faddr;
	u16			lport;
	__be16			fport;
	int			dif;
	int			sdif;
	u8			protocol;
};

/**
 * struct net6_dgram_cb - what skb->cb holds while a packet is in a receive queue
 * @rx: what was parsed; its iface is not valid any more
 * @cut: the packet is several datagrams of so many octets, read one by one, of which the last may
 *	be shorter; 0: it is read whole
 * @taken: octets that were read; under the queue's lock
 */
struct net6_dgram_cb {
	struct net6_rx_cb	rx;
	u16			cut;
	u16			taken;
};

static inline struct net6_dgram_cb *net6_dgram_cb(const struct sk_buff *skb)
{
	/* Its end is sock_skb_set_dropcount()'s. */
	BUILD_BUG_ON(sizeof(struct net6_dgram_cb) > SOCK_SKB_CB_OFFSET);
	return (struct net6_dgram_cb *)skb->cb;
}

/**
 * struct net6_dgram_span - what of a queued packet is the datagram that is read
 * @start: its first octet
 * @len: octets of it
 * @off: for MSG_PEEK the peek offset, then the offset within the datagram
 */
struct net6_dgram_span {
	int	start;
	int	len;
	int	off;
};

/* dgram_hash.c */
void net6_dgram_rehash(struct sock *sk);
int net6_dgram_hash_init(void);
void net6_dgram_hash_exit(void);

/* dgram_lookup.c */
bool net6_dgram_match(const struct sock *sk, const struct net *net,
		      const struct net6_dgram_key *key, int *score);
struct sock *net6_dgram_lookup(struct net *net, const struct net6_dgram_key *key,
			       struct sk_buff *skb);
struct sock *net6_dgram_lookup_sender(struct sk_buff *skb, const struct net6_icmp_error *icmp,
				      u8 protocol, u16 lport, __be16 fport);

/* dgram_port.c */
int net6_dgram_get_port(struct sock *sk, unsigned short snum);
void net6_dgram_unhash(struct sock *sk);

/* dgram_walk.c */
int net6_dgram_walk_chain(struct hlist_head *head, struct net *net, int protocol, u32 *place,
			  int (*fn)(struct sock *sk, void *arg), void *arg);
int net6_dgram_walk(struct net *net, u8 protocol, u64 *pos,
		    int (*fn)(struct sock *sk, void *arg), void *arg);

/* Before a socket can be found: receivers look sockets up without taking references. One that never
 * gets a port needs no grace period, and no hash for what it sends.
 */
static inline void net6_dgram_publish(struct sock *sk)
{
	sock_set_flag(sk, SOCK_RCU_FREE);
	if (!sk->sk_txhash)
		sk->sk_txhash = net_tx_rndhash();
}

/* dgram_queue.c */
int net6_dgram_enqueue(struct sock *sk, struct sk_buff *skb, u16 cut);
void net6_dgram_deliver(struct sock *sk, struct sk_buff *skb);	/* consumes */
struct sk_buff *net6_dgram_dequeue(struct sock *sk, int flags, struct net6_dgram_span *span,
				   int *err);
int net6_dgram_drop_bad(struct sock *sk, struct sk_buff *skb, int flags);
int net6_dgram_first_len(struct sock *sk);
void net6_dgram_tell(struct sock *sk, int err, bool hard);
void net6_dgram_destruct(struct sock *sk);

/* dgram_recv.c */
int net6_dgram_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags,
		       int *addr_len);

/* dgram_ops.c */
extern const struct proto_ops net6_dgram_ops;
extern const struct proto_ops net6_raw_ops;	/* raw and echo sockets */
int net6_dgram_init_sock(struct sock *sk);
void net6_dgram_close(struct sock *sk, long timeout);
int net6_dgram_ioctl(struct sock *sk, int cmd, net6_compat_ioctl_arg arg);
int net6_dgram_pre_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len);
int net6_dgram_autobind(struct sock *sk);

/* udp.c */
/**
 * net6_udp_bad_checksum() - count and drop a datagram whose checksum is wrong
 * @nn: namespace
 * @skb: datagram; consumed
 *
 * Context: softirq.
 */
static inline void net6_udp_bad_checksum(struct net6_net *nn, struct sk_buff *skb)
{
	NET6_INC(nn, Udp6InCsumErrors);
	NET6_INC(nn, Udp6InErrors);
	net6_drop(nn, skb, NET6_DROP_UDP_CSUM);
}

/* transport/udp_encap.c: sockets of the kernel's tunnels. */
bool net6_udp_encap_rcv(struct sock *sk, struct sk_buff *skb);
void net6_udp_encap_error(struct sock *sk, struct sk_buff *skb,
			  const struct net6_icmp_error *icmp);
void net6_udp_encap_close(struct sock *sk);

/* Is it such a one? */
static inline bool net6_udp_encaps(const struct sock *sk)
{
	return net6_compat_encap_needed() && READ_ONCE(udp_sk(sk)->encap_type);
}

int net6_udp_init(void);
void net6_udp_exit(void);

/* Walk the UDP sockets of a namespace, as net6_tcp_walk() does for TCP. */
int net6_udp_walk(struct net *net, u64 *pos, int (*fn)(struct sock *sk, void *arg), void *arg);

/* ping.c: echo sockets, after net6_icmp_init() */
int net6_ping_init(void);
void net6_ping_exit(void);

/* raw.c */
int net6_raw_init(void);
void net6_raw_exit(void);
int net6_raw_walk(struct net *net, u64 *pos, int (*fn)(struct sock *sk, void *arg), void *arg);

/* udp_send.c */
int net6_udp_sendmsg(struct sock *sk, struct msghdr *msg, size_t len);
/* sk owned */
int net6_udp_push_pending(struct sock *sk);
void net6_udp_flush_pending(struct sock *sk);

#endif /* _NET6_DGRAM_H */
