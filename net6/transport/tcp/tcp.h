/* SPDX-License-Identifier: GPL-2.0 */
/* TCP inside net6: who does what. State lives in the kernel's struct tcp_sock and
 * inet_connection_sock with the kernel's names, units and meaning (snd_una,
 * srtt_us << 3, snd_cwnd through tcp_snd_cwnd(), ...); the per-segment control block
 * is the kernel's TCP_SKB_CB(). The code that drives them is ours.
 *
 * Locking: a socket is processed under its lock: owned by a process
 * (lock_sock), or under its spinlock in softirq when nobody owns it; otherwise
 * segments go to the backlog. "sk locked" below means either.
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

/* Room in front of a TCP header on its way to @dest. What its device needs, and no more:
 * with the core's data behind it a segment without payload takes 512 bytes, not 1024, all
 * of which the kernel clears. Who finds too little makes room (skb_cow_head()).
 */
static inline unsigned int net6_tcp_ip_headroom(const struct net6_dest *dest)
{
	return dest->iface->headroom + sizeof(struct ipv6hdr);
}

/* The same in front of the payload; @sk may have forgotten where it goes. */
static inline unsigned int net6_tcp_headroom(const struct sock *sk)
{
	const struct net6_dest *dest = net6_sk(sk)->dest;

	return (likely(dest) ? net6_tcp_ip_headroom(dest) : NET6_HEADROOM) + NET6_TCP_HEADER_MAX;
}

/**
 * struct net6_tcp_net - TCP's part of a network namespace
 * @req_count, @tw_count: embryonic and TIME-WAIT connections
 * @orphans: sockets without a process
 * @challenge_stamp: second in which @challenge_left was filled
 * @challenge_left: challenge ACKs that may still be sent in it (RFC 5961 7)
 * @held: the one connection whose handshake's ACK waits for its program (held.c), without a
 *	reference: it takes itself out before it goes; or NULL
 * @fo_client: Fast Open cookies of servers (fastopen.c); NULL before the first use
 */
struct net6_tcp_net {
	atomic_t	req_count;
	atomic_t	tw_count;
	atomic_t	orphans;
	u32		challenge_stamp;
	atomic_t	challenge_left;
	struct sock	*held;
	struct net6_tcp_fo_client *fo_client;
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

/* Is there what a reader waits for? Less than that, if more cannot come: small segments fill
 * the buffer long before the window. No lock needed.
 */
static inline bool net6_tcp_read_ready(const struct sock *sk, int target)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	int avail = READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq);
	int rcvbuf;

	if (avail <= 0)
		return false;
	if (likely(avail >= target))
		return true;
	rcvbuf = READ_ONCE(sk->sk_rcvbuf);
	return sk_under_memory_pressure(sk) ||
	       atomic_read(&sk->sk_rmem_alloc) > rcvbuf - (rcvbuf >> 3) ||
	       tcp_receive_window(tp) <= inet_csk(sk)->icsk_ack.rcv_mss;
}

/* ---- the engine: input ack sack recovery rate output timer cong rcvbuf ---- */

/* established.c. Segment for a socket in any state but LISTEN, TIME-WAIT and embryonic
 * ones. sk locked, BH disabled; consumes skb; skb->data at the TCP header,
 * TCP_SKB_CB filled by net6_tcp_fill_cb().
 */
void net6_tcp_rcv_established(struct sock *sk, struct sk_buff *skb);
void net6_tcp_rcv_state(struct sock *sk, struct sk_buff *skb);	/* synchronized or SYN-SENT */

/* Set up an engine: for a new socket; for a child at the end of its handshake with
 * what was negotiated; and when SYN-SENT becomes ESTABLISHED. sk locked.
 */
void net6_tcp_engine_init(struct sock *sk);
void net6_tcp_engine_established(struct sock *sk);	/* metrics, buffers, CC init, pacing */
void net6_tcp_engine_reset(struct sock *sk);		/* disconnect: purge queues, clear state */

/* transmit.c. All: sk locked. */
int  net6_tcp_send_syn(struct sock *sk);	/* active open: queues SYN, arms the timer */
void net6_tcp_push_pending(struct sock *sk, unsigned int mss_now, int nonagle);
void net6_tcp_push_now(struct sock *sk, unsigned int mss_now, int nonagle);
void net6_tcp_push_one(struct sock *sk, unsigned int mss_now);
void net6_tcp_send_fin(struct sock *sk);
void net6_tcp_send_ack(struct sock *sk);
void net6_tcp_send_active_reset(struct sock *sk, gfp_t gfp);
int  net6_tcp_send_mss(struct sock *sk, int *size_goal, int flags); /* bytes per segment, per skb */
unsigned int net6_tcp_sync_mss(struct sock *sk, u32 pmtu);
int net6_tcp_mtu_to_mss(const struct sock *sk, u32 mtu);
unsigned int net6_tcp_current_mss(struct sock *sk);
/* 0 or -errno */
int  net6_tcp_transmit(struct sock *sk, struct sk_buff *skb, bool clone, gfp_t gfp);
void net6_tcp_mtu_reduced(struct sock *sk, u32 mtu);	/* Packet Too Big */

/* In icsk_ack.pending, above the kernel's bits: the ACK waits for what the program that
 * waits for this socket does next, or the end of the tick.
 */
#define NET6_TCP_ACK_PROGRAM	BIT(7)
#define NET6_TCP_ACK_HELD	BIT(6)	/* it is the ACK of a SYN-ACK, as well */

void net6_tcp_ack_idle(struct sock *sk);	/* data.c: it does nothing that an ACK rides on */

/* held.c */
bool net6_tcp_hold_ack(struct sock *sk);
void net6_tcp_held_forget(struct sock *sk);
void net6_tcp_held_flush(struct net6_net *nn);

/* Is there one that waits? Then it is sent now. Context: process, BH enabled. */
static inline bool net6_tcp_held_send(struct net6_net *nn)
{
	if (likely(!READ_ONCE(nn->tcp->held)))
		return false;
	net6_tcp_held_flush(nn);
	return true;
}

/* rcvbuf.c: receive window and its autotuning (RFC 7323, RFC 9293 3.8.6). */
u32  net6_tcp_select_window(struct sock *sk);
void net6_tcp_init_window(struct sock *sk, u32 mss, u32 *rcv_wnd, u32 *window_clamp, u8 *wscale);
void net6_tcp_cleanup_rbuf(struct sock *sk, int copied);	/* reader took data: ACK if due */
void net6_tcp_rcv_space_adjust(struct sock *sk);
void net6_tcp_queue_rcv(struct sock *sk, struct sk_buff *skb);	/* in-order, coalesces, consumes */

/* timer.c. Own callbacks on icsk_retransmit_timer, icsk_delack_timer, keepalive's. */
void net6_tcp_timers_init(struct sock *sk);

/* Did this socket ever begin to connect, or is it a listener's child? Only then it has
 * timers, and queues that may hold something.
 */
static inline bool net6_tcp_was_connection(const struct sock *sk)
{
	return inet_csk(sk)->icsk_retransmit_timer.function;
}

void net6_tcp_timers_clear(struct sock *sk);
void net6_tcp_set_keepalive(struct sock *sk, int on);

/* cong.c: the kernel's modules by name, through one carrier socket per name. */
int  net6_tcp_cong_set(struct sock *sk, const char *name, bool may_load);	/* process */
void net6_tcp_cong_assign(struct sock *sk);		/* default of the namespace, or inherit */
void net6_tcp_cong_inherit(struct sock *child, const struct sock *listener);	/* softirq */
void net6_tcp_cong_init(struct sock *sk);
void net6_tcp_cong_release(struct sock *sk);
void net6_tcp_tsq_init(void);				/* tsq.c */
void net6_tcp_tsq_exit(void);
int  net6_tcp_cong_module_init(void);
void net6_tcp_cong_module_exit(void);

/* What the engine also owes the connections:
 * engine_child: @child is a copy of a listener (sk_clone_lock), locked, not visible
 * to anyone yet. Everything of the engine starts afresh as in engine_init (timers,
 * queues, counters, cwnd), settings of the user are kept, congestion control is
 * inherited. Then the handshake's numbers are filled in (rcv_nxt, snd_una, snd_nxt,
 * write_seq, copied_seq, rcv_wup, snd_wnd, snd_wl1, rx_opt, tsoffset, rcv_wnd,
 * window_clamp, advmss, rx_opt.mss_clamp, ecn_flags), the state is ESTABLISHED, and
 * engine_established() is called. handshake_rtt: the first RTT sample (RFC 6298
 * 2.2), us; called before engine_established when the handshake gave one.
 * release_cb: struct proto's; does what timers, TSQ and Packet Too Big deferred in
 * sk_tsq_flags with the kernel's bits. Keepalive's timer also ends FIN-WAIT-2 of orphans:
 * connections arm it with net6_tcp_reset_sk_timer(), the callback does as the
 * kernel's tcp_keepalive_timer() does, with net6_tcp_time_wait().
 */
void net6_tcp_engine_child(struct sock *child, const struct sock *listener);	/* softirq */
void net6_tcp_handshake_rtt(struct sock *sk, u32 rtt_us);
void net6_tcp_release_cb(struct sock *sk);

static inline void net6_tcp_reset_sk_timer(struct sock *sk, unsigned long delay)
{
	sk_reset_timer(sk, net6_compat_keepalive_timer(sk), jiffies + delay);
}

/* ---- connections: sock hash port listen request cookies timewait user calls ---- */

/**
 * struct net6_tcp_port - a local port in use
 * @node: in the port table, under its bucket's lock
 * @net: namespace; @port: number, host byte order
 * @connect_only: made by connect() without bind(): other connections may share it
 * @inner_turn: accept() of a listener on it looks for an IPv4 connection first; alternates
 * @owners: full sockets and TIME-WAIT ones, by sk_bind_node
 */
struct net6_tcp_port {
	struct hlist_node	node;
	struct net		*net;
	u16			port;
	bool			connect_only;
	bool			inner_turn;
	struct hlist_head	owners;
};

/**
 * struct net6_tcp_tw - a connection in TIME-WAIT (or FIN-WAIT-2 without a process)
 * @common: in the table of connections; skc_state TCP_TIME_WAIT, reference counted
 * @port: the local port it keeps in use
 * @timer: ends it; holds a reference
 * @substate: TCP_FIN_WAIT2 or TCP_TIME_WAIT
 * @rcv_wscale: shift of the window in our header
 * @rcv_nxt, @snd_nxt, @rcv_wnd: what is left of the sequence state, bytes
 * @ts_recent, @ts_recent_stamp, @ts_offset: RFC 7323, for PAWS and RFC 6191
 * @last_ack: jiffies of the last ACK sent, rate limit
 * @tclass, @hop_limit, @mark, @priority: of our answers
 */
struct net6_tcp_tw {
	struct sock_common	common;
	struct net6_tcp_port	*port;
	struct timer_list	timer;
	u8			substate;
	u8			tclass;
	u8			hop_limit;
	u8			rcv_wscale;
	bool			ts_ok;
	u32			rcv_nxt;
	u32			snd_nxt;
	u32			rcv_wnd;
	u32			ts_recent;
	u32			ts_recent_stamp;
	u32			ts_offset;
	u32			last_ack;
	u32			mark;
	u32			priority;
};

/**
 * struct net6_tcp_request - an embryonic connection, RFC 9293 SYN-RECEIVED
 * @common: in the table of connections; skc_state TCP_NEW_SYN_RECV
 * @listener: reference held
 * @dest: where the SYN-ACK goes, reference held
 * @timer: retransmits the SYN-ACK; holds a reference
 * @saved_syn: copy of the SYN's headers for TCP_SAVED_SYN, or NULL
 * @rcv_isn, @snt_isn: initial sequence numbers
 * @sent_us: tcp_clock_us() of the first SYN-ACK; 0 once it was retransmitted (Karn)
 * @fastopen: it is a child's that Fast Open made of the SYN, in no table
 * @fo_cookie: the SYN-ACK gives a Fast Open cookie
 */
struct net6_tcp_request {
	struct sock_common	common;
	struct sock		*listener;
	struct net6_dest	*dest;
	struct timer_list	timer;
	struct saved_syn	*saved_syn;
	u64			sent_us;
	u32			rcv_isn;
	u32			snt_isn;
	u32			ts_recent;
	u32			ts_offset;
	u32			rcv_wnd;
	u32			window_clamp;
	u32			last_synack;
	u16			peer_mss;
	u16			advmss;
	u8			snd_wscale;
	u8			rcv_wscale;
	u8			retrans;
	u8			tclass;
	bool			wscale_ok : 1;
	bool			sack_ok : 1;
	bool			tstamp_ok : 1;
	bool			ecn_ok : 1;
	bool			acked : 1;
	bool			fastopen : 1;
	bool			fo_cookie : 1;
};

/**
 * struct net6_tcp_key - a connection's name as a received segment tells it
 * @laddr, @faddr: local (our) and foreign address
 * @ports: sk_portpair: foreign port (network order) and local port (host order)
 * @dif: interface it came in on
 */
struct net6_tcp_key {
	const struct in6_addr	*laddr;
	const struct in6_addr	*faddr;
	__portpair		ports;
	int			dif;
};

/* inet6_sk() of a full socket of ours, without asking what it is. */
static inline struct ipv6_pinfo *net6_tcp_np(const struct sock *sk)
{
	return &net6_tcp_sk(sk)->tcp6.inet6;
}

/* What is not sent yet is below TCP_NOTSENT_LOWAT; struct proto's stream_memory_free. */
static inline bool net6_tcp_memory_free(const struct sock *sk, int wake)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 notsent = READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_nxt);

	return (notsent << wake) < tcp_notsent_lowat(tp);
}

/* sk_stream_memory_free(). */
static inline bool net6_tcp_may_queue(const struct sock *sk)
{
	return READ_ONCE(sk->sk_wmem_queued) < READ_ONCE(sk->sk_sndbuf) &&
	       net6_tcp_memory_free(sk, 0);
}

/* hash.c */
struct sock *net6_tcp_lookup(struct net *net, const struct net6_tcp_key *key); /* ref, RCU */
struct sock *net6_tcp_lookup_listener(struct net *net, const struct net6_tcp_key *key,
				      struct sk_buff *skb, int doff);	/* no ref, RCU */
bool net6_tcp_hash_unique(struct sock *sk, struct net6_tcp_tw **twp);
bool net6_tcp_hash_request(struct net6_tcp_request *req);
bool net6_tcp_unhash_request(struct net6_tcp_request *req);
bool net6_tcp_hash_child(struct sock *child, struct net6_tcp_request *req);
void net6_tcp_hash_tw(struct sock *sk, struct net6_tcp_tw *tw);
bool net6_tcp_unhash_tw(struct net6_tcp_tw *tw);
int  net6_tcp_hash_listener(struct sock *sk);
void net6_tcp_unhash(struct sock *sk);
int  net6_tcp_hash_init(void);
void net6_tcp_hash_exit(void);

/* Walk all sockets of a namespace: full ones, requests (TCP_NEW_SYN_RECV, a struct
 * net6_tcp_request) and TIME-WAIT (TCP_TIME_WAIT, a struct net6_tcp_tw); sk_state
 * tells. @fn is called with a reference held, without locks, in process context and
 * may sleep; a non-zero return stops the walk and is returned. *pos starts at 0 and
 * is where to go on.
 */
int  net6_tcp_walk(struct net *net, u64 *pos, int (*fn)(struct sock *sk, void *arg), void *arg);
void net6_tcp_gen_put(struct sock *sk);			/* of any of the three */

/* port.c */
int  net6_tcp_get_port(struct sock *sk, unsigned short snum);
void net6_tcp_put_port(struct sock *sk);
int  net6_tcp_connect_port(struct sock *sk);		/* picks a port and hashes */
int  net6_tcp_inherit_port(struct sock *child, struct sock *listener);
void net6_tcp_port_to_tw(struct sock *sk, struct net6_tcp_tw *tw);
void net6_tcp_port_put_tw(struct net6_tcp_tw *tw);
int  net6_tcp_port_init(void);
void net6_tcp_port_exit(void);

/* listen.c, request.c, cookies.c */
int  net6_tcp_listen(struct sock *sk, int backlog);	/* sk owned; 0 or -errno */
void net6_tcp_listen_stop(struct sock *sk);
struct sock *net6_tcp_accept(struct sock *sk, struct proto_accept_arg *arg);
bool net6_tcp_accept_queue_add(struct sock *listener, struct sock *child);
bool net6_tcp_accept_queue_wait(struct sock *listener);
void net6_tcp_child_forget(struct sock *child);
void net6_tcp_listen_rcv(struct sock *sk, struct sk_buff *skb);	/* listener, RCU */
void net6_tcp_request_rcv(struct net6_tcp_request *req, struct sk_buff *skb);
void net6_tcp_request_put(struct net6_tcp_request *req);
void net6_tcp_request_taken(struct net6_tcp_request *req);
void net6_tcp_request_drop(struct net6_tcp_request *req);	/* out of hash and timer */
void net6_tcp_request_purge(struct net *net, const struct sock *listener);
/* Unlocks a child that its listener's clone made: it was born locked, which sparse
 * does not know.
 */
static inline void net6_tcp_child_unlock(struct sock *child)
{
	__acquire(&child->sk_lock.slock);
	bh_unlock_sock(child);
}

struct sock *net6_tcp_child(struct sock *listener, struct sk_buff *skb,
			    struct net6_tcp_request *req, bool hashed);
int  net6_tcp_request_init(void);
void net6_tcp_request_exit(void);
u32  net6_tcp_cookie_make(const struct net6_net *nn, const struct sk_buff *skb, u16 mss);
int  net6_tcp_cookie_check(const struct net6_net *nn, const struct sk_buff *skb); /* MSS or -1 */
u32  net6_tcp_cookie_ts(const struct net6_tcp_request *req, u32 now);
void net6_tcp_cookie_ts_decode(struct net6_tcp_request *req, u32 ts);

/* timewait.c */
enum net6_tcp_tw_verdict { NET6_TCP_TW_DONE, NET6_TCP_TW_SYN };
enum net6_tcp_tw_verdict net6_tcp_tw_rcv(struct net6_tcp_tw *tw, struct sk_buff *skb, u32 *isn);
void net6_tcp_tw_put(struct net6_tcp_tw *tw);
void net6_tcp_tw_kill(struct net6_tcp_tw *tw);		/* now; from any context */
void net6_tcp_tw_taken(struct net6_tcp_tw *tw);	/* connect() took its place */
void net6_tcp_tw_purge(struct net *net);
bool net6_tcp_tw_reusable(const struct net6_tcp_tw *tw);
int  net6_tcp_tw_init(void);
void net6_tcp_tw_exit(void);

/* reply.c: segments without a full socket. All borrow @skb. */
struct net6_tcp_reply {
	const struct in6_addr	*saddr;
	const struct in6_addr	*daddr;
	__be16			sport;
	__be16			dport;
	u32			seq;
	u32			ack;
	u16			window;
	u8			flags;
	u8			tclass;
	u8			hop_limit;
	bool			tstamp_ok;
	u32			tsval;
	u32			tsecr;
	u32			mark;
	u32			priority;
	int			oif;
};

void net6_tcp_reply(struct net6_net *nn, const struct net6_tcp_reply *r);

/* prot.c, connect.c and close.c */
int  net6_tcp_sock_init(void);
void net6_tcp_sock_exit(void);
int  net6_tcp_init_sock(struct sock *sk);
void net6_tcp_destroy_sock(struct sock *sk);
void net6_tcp_destroy(struct sock *sk);			/* CLOSED and without a process */
void net6_tcp_prepare_orphan(struct sock *sk);		/* counts it, sets SOCK_DEAD */
void net6_tcp_close(struct sock *sk, long timeout);
void net6_tcp_close_atomic(struct sock *sk, bool reset);
void net6_tcp_shutdown(struct sock *sk, int how);
int  net6_tcp_disconnect(struct sock *sk, int flags);
int  net6_tcp_pre_connect(struct sock *sk, struct sockaddr *uaddr, int addr_len);
int  net6_tcp_connect(struct sock *sk, struct sockaddr *uaddr, int addr_len);
bool net6_tcp_too_many_orphans(struct sock *sk);
int  net6_tcp_abort(struct sock *sk, int err);		/* process; RST to the peer */
void net6_tcp_set_caps(struct sock *sk, const struct net6_dest *dest); /* GSO, checksums */
bool net6_tcp_mem_force(struct sock *sk, int size);
void net6_tcp_rbtree_purge(struct rb_root *root);	/* frees its skbs */

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

/* Something came: its module is told when the ACK is decided. */
static inline void net6_tcp_owner_event(struct sock *sk)
{
	struct net6_tcp_owner *owner = net6_tcp_owner(sk);

	if (unlikely(owner))
		owner->event = true;
}

/* inkernel.c. sk locked. */
bool net6_tcp_user_offer(const struct sock *listener, struct sock *child);	/* RCU */
void net6_tcp_user_receive(struct sock *sk);
void net6_tcp_user_writable(struct sock *sk);

/* User calls. The _locked ones and listen want sk owned. */
int  net6_tcp_sendmsg(struct sock *sk, struct msghdr *msg, size_t size);
int  net6_tcp_sendmsg_locked(struct sock *sk, struct msghdr *msg, size_t size);
int  net6_tcp_sendpage(struct sock *sk, struct page *page, int offset, size_t size, int flags);
int  net6_tcp_sendpage_locked(struct sock *sk, struct page *page, int offset, size_t size,
			      int flags);
void net6_tcp_splice_eof(struct sock *sk);
int  net6_tcp_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len);
ssize_t net6_tcp_splice_read(struct socket *sock, struct sock *sk, loff_t *ppos,
			     struct pipe_inode_info *pipe, size_t len, unsigned int flags);
int  net6_tcp_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t recv_actor);
int  net6_tcp_peek_len(const struct sock *sk);
int  net6_tcp_set_rcvlowat(struct sock *sk, int val);
__poll_t net6_tcp_poll(struct file *file, struct socket *sock, struct sock *sk,
		       struct poll_table_struct *wait);
int  net6_tcp_ioctl(struct sock *sk, int cmd, net6_compat_ioctl_arg arg);
int  net6_tcp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
			 unsigned int optlen);
int  net6_tcp_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
			 int __user *optlen);
void net6_tcp_info(struct sock *sk, struct tcp_info *info, struct tcp_sock *copy);

/* A buffer for the write queue: @size bytes of room behind the headers' room, charged
 * to the socket's memory; NULL when there is none (pressure is entered). Payload may
 * be linear as well as in fragments: split with skb_split(). sk locked.
 */
struct sk_buff *net6_tcp_alloc_skb(struct sock *sk, unsigned int size, gfp_t gfp, bool force);
void net6_tcp_rtx_free(struct sock *sk, struct sk_buff *skb);
void net6_tcp_enter_memory_pressure(struct sock *sk);
#ifdef CONFIG_MEMCG
void net6_tcp_memcg_charge(struct sock *sk);
#else
static inline void net6_tcp_memcg_charge(struct sock *sk) {}
#endif

void net6_tcp_rcv(struct sk_buff *skb);			/* net6_proto.rcv */
void net6_tcp_icmp_error(struct sk_buff *skb, const struct net6_icmp_error *err);
int  net6_tcp_do_rcv(struct sock *sk, struct sk_buff *skb);	/* backlog_rcv and softirq */

/* State changes go through here: counts, unhash on CLOSE, tracepoint. sk locked. */
void net6_tcp_set_state(struct sock *sk, int state);
void net6_tcp_done(struct sock *sk);		/* CLOSED: timers off, wake, destroy orphan */
void net6_tcp_reset(struct sock *sk, struct sk_buff *skb); /* peer sent an acceptable RST */
void net6_tcp_fin(struct sock *sk);			/* peer's FIN reached: state change, wake */
void net6_tcp_write_err(struct sock *sk);		/* gave up retransmitting */
/* @timeo in jiffies; consumes sk's place in the table */
void net6_tcp_time_wait(struct sock *sk, int state, int timeo);
void net6_tcp_write_queue_purge(struct sock *sk);

/* skbcache.c */
struct sk_buff *net6_tcp_skb_cache_get(unsigned int size);
bool net6_tcp_skb_cache_put(struct sk_buff *skb);
void net6_tcp_skb_cache_exit(void);

/* pages.c */
struct page_frag;
void net6_tcp_pages_turn(struct sock *sk, struct page_frag *frag);
/* @sk does not listen. In an accept queue it has none, and something else in that place. */
static inline bool net6_tcp_has_pages(const struct sock *sk)
{
	const struct net6_tcp_sock *ns = net6_tcp_sk(sk);

	if (likely(!READ_ONCE(ns->pages)))
		return false;
	/* Pairs with net6_tcp_accept_queue_pop(), which does not have @sk locked. */
	return !smp_load_acquire(&ns->listener) && READ_ONCE(ns->pages);
}

void net6_tcp_pages_drop(struct sock *sk);
void net6_tcp_pages_timer(struct sock *sk);

/* Answers without a socket (or before one); @skb is the segment answered, borrowed, @sk may
 * be NULL.
 */
void net6_tcp_send_reset(struct net6_net *nn, struct sock *sk, struct sk_buff *skb);

/* Fill TCP_SKB_CB (seq, end_seq, ack_seq, flags) from the header. */
void net6_tcp_fill_cb(struct sk_buff *skb, const struct tcphdr *th);

/* Wake-ups. sk locked. */
void net6_tcp_data_ready(struct sock *sk);		/* honours SO_RCVLOWAT */
void net6_tcp_write_space(struct sock *sk);		/* sk->sk_write_space */

/* RFC 6528 initial sequence number and RFC 7323 5.4 timestamp offset of a connection. */
u32  net6_tcp_isn(const struct net6_net *nn, const struct in6_addr *saddr,
		  const struct in6_addr *daddr, __be16 sport, __be16 dport, u32 *ts_offset);

extern struct proto net6_tcp_prot;
extern const struct proto_ops net6_stream_ops;	/* calls/stream.c */

int  net6_tcp_init(void);
void net6_tcp_exit(void);
int  net6_tcp_net_init(struct net6_net *nn);
void net6_tcp_net_exit(struct net6_net *nn);

#endif /* _NET6_TCP_H */
