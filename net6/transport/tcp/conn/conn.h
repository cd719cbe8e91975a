/* SPDX-License-Identifier: GPL-2.0 */
/* TCP's connections: their states, the tables that find them, and the small objects that stand
 * for them before and after. sk locked, unless said otherwise.
 */
#ifndef _NET6_TCP_CONN_H
#define _NET6_TCP_CONN_H

#include <linux/rbtree.h>

#include "../tcp.h"

/**
 * struct net6_tcp_port_addr - who uses a port on one of our addresses
 * @node: in the port's @others, but for its @first
 * @port: the port
 * @addr: the address that they had when they took it, :: for none yet
 * @owners: those that a bind() must look at, full sockets and TIME-WAIT ones, by sk_bind_node
 * @reusers: those that had SO_REUSEADDR when they took it and do not listen. They are in the way of
 *	nobody who has it, too. Connections and TIME-WAIT may be many
 */
struct net6_tcp_port_addr {
	struct rb_node		node;
	struct net6_tcp_port	*port;
	struct in6_addr		addr;
	struct hlist_head	owners;
	struct hlist_head	reusers;
};

/**
 * struct net6_tcp_port - a local port in use
 * @node: in the port table, under its bucket's lock
 * @net: namespace; @port: number, host byte order
 * @connect_only: made by connect() without bind(): other connections may share it
 * @inner_turn: accept() of a listener on it looks for an IPv4 connection first; alternates
 * @first: its only address, or one of several; without owners when it is free for another
 * @others: the others, by address, :: before all; each has owners
 */
struct net6_tcp_port {
	struct hlist_node	node;
	struct net		*net;
	u16			port;
	bool			connect_only;
	bool			inner_turn;
	struct net6_tcp_port_addr first;
	struct rb_root_cached	others;
};

/**
 * struct net6_tcp_tw - a connection in TIME-WAIT (or FIN-WAIT-2 without a process)
 * @common: in the table of connections; skc_state TCP_TIME_WAIT, reference counted
 * @port: the local port that it keeps in use, NULL for none
 * @timer: ends it; holds a reference
 * @substate: TCP_FIN_WAIT2 or TCP_TIME_WAIT
 * @rcv_wscale: shift of the window in our header
 * @rcv_nxt, @snd_nxt, @rcv_wnd: what is left of the sequence state, bytes
 * @ts_ok: timestamps are in use (RFC 7323)
 * @ts_recent, @ts_recent_stamp, @ts_offset: of them, for PAWS and RFC 6191
 * @last_ack: jiffies of the last ACK sent, rate limit
 * @tclass, @hop_limit, @mark, @priority: of our answers
 * @md5: signs them (RFC 2385), its own, or NULL
 */
struct net6_tcp_tw {
	struct sock_common	common;
	struct net6_tcp_port_addr *port;
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
	struct tcp_md5sig_key	*md5;
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
 * @ts_recent: last timestamp of the peer; @ts_offset: is added to our clock (RFC 7323)
 * @rcv_wnd: window that the SYN-ACK offers; @window_clamp: the most it may become; bytes
 * @last_synack: jiffies of the last answer that counts in the rate limit (RFC 5961 7); 0: none
 * @peer_mss: bytes, as its SYN said; @advmss: as our SYN-ACK says
 * @snd_wscale, @rcv_wscale: shift of the peer's window and of ours
 * @retrans: how often the SYN-ACK was sent again by @timer
 * @tclass: traffic class of what we send
 * @wscale_ok, @sack_ok, @tstamp_ok, @ecn_ok: both ends have said so
 * @acked: the handshake's ACK has come, the child has not been made
 * @fastopen: it is a child's that Fast Open made of the SYN, in no table
 * @fo_cookie: the SYN-ACK gives a Fast Open cookie
 * @secid, @peer_secid: what the security module says of it
 * @timeout: of the first SYN-ACK, jiffies
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
	u32			secid;
	u32			peer_secid;
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
	u32			timeout : 17;
};

/* hash.c */
struct sock *net6_tcp_lookup(struct net *net, const struct net6_tcp_key *key); /* ref, RCU */
struct sock *net6_tcp_find_listener(struct net *net, const struct net6_tcp_key *key, u16 port);
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
 * net6_tcp_request) and TIME-WAIT (TCP_TIME_WAIT, a struct net6_tcp_tw); sk_state tells. @fn is
 * called with a reference held, without locks, in process context, and may sleep. A non-zero
 * return stops the walk and is returned. Start with 0 in *pos; it says where to go on.
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

/* listen.c */
int  net6_tcp_listen(struct sock *sk, int backlog);	/* sk owned; 0 or -errno */
void net6_tcp_listen_stop(struct sock *sk);
struct sock *net6_tcp_accept(struct sock *sk, struct proto_accept_arg *arg);
bool net6_tcp_accept_queue_add(struct sock *listener, struct sock *child);
bool net6_tcp_accept_queue_wait(struct sock *listener);
void net6_tcp_child_forget(struct sock *child);
struct sock *net6_tcp_child(struct sock *listener, struct sk_buff *skb,
			    struct net6_tcp_request *req, bool hashed);

/* Unlocks a child that its listener's clone made: it was born locked, which sparse
 * does not know.
 */
static inline void net6_tcp_child_unlock(struct sock *child)
{
	__acquire(&child->sk_lock.slock);
	bh_unlock_sock(child);
}

/* request.c */
void net6_tcp_listen_rcv(struct sock *sk, struct sk_buff *skb);	/* listener, RCU */
void net6_tcp_request_rcv(struct net6_tcp_request *req, struct sk_buff *skb);
void net6_tcp_request_put(struct net6_tcp_request *req);
void net6_tcp_request_taken(struct net6_tcp_request *req);
void net6_tcp_request_drop(struct net6_tcp_request *req);	/* out of hash and timer */
void net6_tcp_request_purge(struct net *net, const struct sock *listener);
int  net6_tcp_request_init(void);
void net6_tcp_request_exit(void);

/* cookies.c */
u32  net6_tcp_cookie_make(const struct net6_net *nn, const struct sk_buff *skb, u16 mss);
int  net6_tcp_cookie_check(const struct net6_net *nn, const struct sk_buff *skb); /* MSS or -1 */
u32  net6_tcp_cookie_ts(const struct net6_tcp_request *req, u32 now);
void net6_tcp_cookie_ts_decode(struct net6_tcp_request *req, u32 ts);

/* timewait.c. time_wait(): @timeo in jiffies; consumes sk's place in the table */
enum net6_tcp_tw_verdict { NET6_TCP_TW_DONE, NET6_TCP_TW_SYN };
enum net6_tcp_tw_verdict net6_tcp_tw_rcv(struct net6_tcp_tw *tw, struct sk_buff *skb, u32 *isn);
void net6_tcp_tw_put(struct net6_tcp_tw *tw);
void net6_tcp_tw_kill(struct net6_tcp_tw *tw);		/* now; from any context */
void net6_tcp_tw_taken(struct net6_tcp_tw *tw);	/* connect() took its place */
void net6_tcp_tw_purge(struct net *net);
bool net6_tcp_tw_reusable(const struct net6_tcp_tw *tw);
int  net6_tcp_tw_init(void);
void net6_tcp_tw_exit(void);
void net6_tcp_time_wait(struct sock *sk, int state, int timeo);

/**
 * struct net6_tcp_reply - a segment that is sent without a full socket
 * @saddr: its source
 * @daddr: its destination
 * @sport: source port
 * @dport: destination port
 * @seq: sequence number
 * @ack: acknowledgment number, if @flags has ACK
 * @window: as in the header, shifted already
 * @flags: TCPHDR_*
 * @tclass: traffic class
 * @hop_limit: as in the header
 * @tstamp_ok: it has timestamps
 * @tsval: its timestamp
 * @tsecr: the one that is echoed
 * @mark: of the packet
 * @priority: of the packet
 * @oif: interface, 0: as the route says
 * @md5: signs it (RFC 2385), or NULL; there until it is sent
 *
 * Host byte order but for the ports.
 */
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
	const struct tcp_md5sig_key *md5;
};

/* reply.c. They borrow @skb, the segment that is answered. */
void net6_tcp_reply(struct net6_net *nn, const struct net6_tcp_reply *r);
void net6_tcp_send_reset(struct net6_net *nn, struct sock *sk, struct sk_buff *skb);
void net6_tcp_refuse(struct net6_net *nn, const struct sock *signer, struct sk_buff *skb);

/* isn.c: RFC 6528 initial sequence number and RFC 7323 5.4 timestamp offset of a connection */
u32  net6_tcp_isn(const struct net6_net *nn, const struct in6_addr *saddr,
		  const struct in6_addr *daddr, __be16 sport, __be16 dport, u32 *ts_offset);

/* connect.c */
int  net6_tcp_disconnect(struct sock *sk, int flags);
int  net6_tcp_pre_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len);
int  net6_tcp_connect(struct sock *sk, struct sockaddr_unsized *uaddr, int addr_len);

/* close.c */
void net6_tcp_destroy(struct sock *sk);			/* CLOSED and without a process */
void net6_tcp_prepare_orphan(struct sock *sk);		/* counts it, sets SOCK_DEAD */
void net6_tcp_close(struct sock *sk, long timeout);
void net6_tcp_close_atomic(struct sock *sk, bool reset);
void net6_tcp_shutdown(struct sock *sk, int how);
bool net6_tcp_too_many_orphans(struct sock *sk);
int  net6_tcp_abort(struct sock *sk, int err);		/* process; RST to the peer */

/* state.c: state changes go through here: counts, unhash on CLOSE, tracepoint */
void net6_tcp_set_state(struct sock *sk, int state);
void net6_tcp_done(struct sock *sk);		/* CLOSED: timers off, wake, destroy orphan */
void net6_tcp_reset(struct sock *sk, struct sk_buff *skb); /* peer sent an acceptable RST */
void net6_tcp_fin(struct sock *sk);			/* peer's FIN reached: state change, wake */
void net6_tcp_write_err(struct sock *sk);		/* gave up retransmitting */

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

/* memcg.c */
#ifdef CONFIG_MEMCG
void net6_tcp_memcg_charge(struct sock *sk);
#else
static inline void net6_tcp_memcg_charge(struct sock *sk) {}
#endif

#endif /* _NET6_TCP_CONN_H */
