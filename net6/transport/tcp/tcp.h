/* SPDX-License-Identifier: GPL-2.0 */
/* TCP inside net6: what all its parts know. The sequence space is in engine/ (entry.h), the
 * connections and their states in conn/ (conn.h), what programs and modules ask in calls/
 * (calls.h). Each header says which file a function is in.
 *
 * State lives in the kernel's struct tcp_sock and inet_connection_sock, with the kernel's names,
 * units and meaning (snd_una, srtt_us << 3, snd_cwnd through tcp_snd_cwnd(), ...). The
 * per-segment control block is the kernel's TCP_SKB_CB(). The code that drives them is ours.
 *
 * Locking: a socket is processed under its lock. A process owns it (lock_sock), or softirq has
 * its spinlock when nobody owns it. Otherwise segments go to the backlog. "sk locked" below means
 * either.
 */
#ifndef _NET6_TCP_H
#define _NET6_TCP_H

#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "../../compat/accept.h"
#include "../../compat/skbuff.h"
#include "../../compat/sock.h"
#include "../../compat/tcp.h"
#include "../../socket/sock.h"
#include "../../core/proto.h"
#include "engine/options.h"

struct net6_tcp_fo_client;
struct net6_tcp_user;

/* Longest TCP header: 20 + 40 bytes of options (RFC 9293 3.1). */
#define NET6_TCP_HEADER_MAX	60
#define NET6_TCP_MIN_MSS	(NET6_MIN_MTU - 60)
/* RFC 7323 5.5: a time stamp as old as this says nothing, the peer's clock may have come round;
 * seconds.
 */
#define NET6_TCP_TS_VALID	(24 * 24 * 60 * 60)
#define NET6_TCP_DEFAULT_MSS	1220	/* RFC 9293 3.7.1: IPv6 default send MSS */

static inline struct net6_net *net6_tcp_nn(const struct sock *sk)
{
	return net6_pernet(sock_net(sk));
}

/* The same, sk locked: a connection's destination knows. */
static inline struct net6_net *net6_tcp_nn_locked(const struct sock *sk)
{
	const struct net6_dest *dest = ((const struct net6_tcp_sock *)sk)->n6.dest;

	return likely(dest) ? dest->nn : net6_tcp_nn(sk);
}

/* The same under the RCU read lock, which it need not take. */
static inline struct net6_net *net6_tcp_nn_rcu(const struct sock *sk)
{
	return net6_pernet_rcu(sock_net(sk));
}

/* What the route to the peer says of connections, or NULL; sk locked. */
static inline const struct net6_metrics *net6_tcp_metrics(const struct sock *sk)
{
	const struct net6_dest *dest = ((const struct net6_tcp_sock *)sk)->n6.dest;

	return likely(dest) ? dest->metrics : NULL;
}

/* Room in front of a TCP header on its way to @dest. Room for what its device needs, and no more.
 * With the core's data behind it a segment without payload takes 512 bytes, not 1024, all of
 * which the kernel clears. Who finds too little makes room (skb_cow_head()).
 */
static inline unsigned int net6_tcp_ip_headroom(const struct net6_dest *dest)
{
	return READ_ONCE(dest->iface->headroom) + sizeof(struct ipv6hdr);
}

/* The same in front of the payload; @sk may have forgotten where it goes. */
static inline unsigned int net6_tcp_headroom(const struct sock *sk)
{
	const struct net6_dest *dest = net6_sk(sk)->dest;

	return (likely(dest) ? net6_tcp_ip_headroom(dest) : NET6_HEADROOM) + NET6_TCP_HEADER_MAX;
}

/**
 * struct net6_tcp_net - TCP's part of a network namespace
 * @fo_client: Fast Open cookies of servers (fastopen.c); NULL before the first use
 * @challenge_stamp: second in which @challenge_left was filled
 * @challenge_left: challenge ACKs that may still be sent in it (RFC 5961 7)
 * @req_count, @tw_count: embryonic and TIME-WAIT connections
 * @orphans: sockets without a process
 * @held: the one connection whose handshake's ACK waits for its program (held.c), without a
 *	reference: it takes itself out before it goes; or NULL
 */
struct net6_tcp_net {
	struct net6_tcp_fo_client *fo_client;
	u32		challenge_stamp;
	atomic_t	challenge_left;
	/* Written per connection, by different CPUs: each has its cache line. */
	atomic_t	req_count ____cacheline_aligned_in_smp;
	atomic_t	tw_count ____cacheline_aligned_in_smp;
	atomic_t	orphans ____cacheline_aligned_in_smp;
	struct sock	*held ____cacheline_aligned_in_smp;
};

/* The bounds: requests of a namespace, TIME-WAIT entries, orphans. */
static inline u32 net6_tcp_max_requests(const struct net6_net *nn)
{
	return max_t(u32, 4096, 4 * READ_ONCE(nn->net->ipv4.sysctl_max_syn_backlog));
}

static inline u32 net6_tcp_max_tw(const struct net6_net *nn)
{
	return READ_ONCE(nn->net->ipv4.tcp_death_row.sysctl_max_tw_buckets);
}

/* tcp_max_orphans is not exported; by default it is the same as tcp_max_tw_buckets. */
static inline u32 net6_tcp_max_orphans(const struct net6_net *nn)
{
	return net6_tcp_max_tw(nn);
}

/* tcp_mstamp is the time, in us, from here on. sk locked. */
static inline void net6_tcp_clock(struct tcp_sock *tp)
{
	u64 now = tcp_clock_ns();

	tp->tcp_clock_cache = now;
	tp->tcp_mstamp = div_u64(now, NSEC_PER_USEC);
}

/**
 * struct net6_tcp_key - a connection's name as a received segment tells it
 * @laddr, @faddr: local (our) and foreign address
 * @ports: sk_portpair: foreign port (network order) and local port (host order)
 * @dif: interface it came in on
 * @sdif: that one's VRF, 0: none
 */
struct net6_tcp_key {
	const struct in6_addr	*laddr;
	const struct in6_addr	*faddr;
	__portpair		ports;
	int			dif;
	int			sdif;
};

/* net6_np() of a socket of TCP's, without a load. */
static inline struct ipv6_pinfo *net6_tcp_np(const struct sock *sk)
{
	return &net6_tcp_sk(sk)->tcp6.inet6;
}

/**
 * struct net6_tcp_owner - the module that a connection belongs to, or that a listener's
 * new ones are offered to; in icsk_ulp_data, which is NULL for all other sockets
 * @user: its callbacks
 * @event: it has not been told yet of what came
 * @busy: one of its callbacks runs
 * @full: it waits for room to send; a listener's, for room in the accept queue
 */
struct net6_tcp_owner {
	struct net6_tcp_user	*user;
	bool			event;
	bool			busy;
	bool			full;
};

/* sk locked; or, for a listener, RCU. */
static inline struct net6_tcp_owner *net6_tcp_owner(const struct sock *sk)
{
	return (__force struct net6_tcp_owner *)READ_ONCE(inet_csk(sk)->icsk_ulp_data);
}

/* The same as net6_tcp_clock(), but a call of its owner's has the time of what it is called for. */
static inline void net6_tcp_clock_call(struct sock *sk)
{
	const struct net6_tcp_owner *owner = net6_tcp_owner(sk);

	if (likely(!owner || !owner->busy))
		net6_tcp_clock(tcp_sk(sk));
}

/* Something came: its module is told when the ACK is decided. */
static inline void net6_tcp_owner_event(struct sock *sk)
{
	struct net6_tcp_owner *owner = net6_tcp_owner(sk);

	if (unlikely(owner))
		owner->event = true;
}

/* owner.c. sk locked. */
void net6_tcp_user_receive(struct sock *sk);
void net6_tcp_user_writable(struct sock *sk);

/* tcp.c */
void net6_tcp_rcv(struct sk_buff *skb);			/* net6_proto.rcv */
void net6_tcp_icmp_error(struct sk_buff *skb, const struct net6_icmp_error *err);
int  net6_tcp_do_rcv(struct sock *sk, struct sk_buff *skb);	/* backlog_rcv and softirq */
void net6_tcp_fill_cb(struct sk_buff *skb, const struct tcphdr *th);
int  net6_tcp_init(void);
void net6_tcp_exit(void);
int  net6_tcp_net_init(struct net6_net *nn);
void net6_tcp_net_exit(struct net6_net *nn);

#endif /* _NET6_TCP_H */
