/* SPDX-License-Identifier: GPL-2.0 */
/* What others ask of the TCP engine. sk locked, unless said otherwise. What its files ask of
 * each other: engine.h.
 */
#ifndef _NET6_TCP_ENTRY_H
#define _NET6_TCP_ENTRY_H

#include "../tcp.h"

struct page_frag;

/* established.c. Segment for a socket in any state but LISTEN, TIME-WAIT and embryonic
 * ones. BH disabled; consumes skb; skb->data at the TCP header, TCP_SKB_CB filled by
 * net6_tcp_fill_cb().
 */
void net6_tcp_rcv_established(struct sock *sk, struct sk_buff *skb);

/* rcvstate.c. The same */
void net6_tcp_rcv_state(struct sock *sk, struct sk_buff *skb);	/* synchronized or SYN-SENT */

/* engine.c. Sets up an engine: for a new socket; for a child at the end of its handshake with
 * what was negotiated; and when SYN-SENT becomes ESTABLISHED.
 * engine_child: @child is a copy of a listener (sk_clone_lock), locked, not visible to anyone yet.
 * Everything of the engine starts afresh as in engine_init: timers, queues, counters, cwnd.
 * Settings of the user are kept, congestion control is inherited. Then these numbers of the
 * handshake are filled in: rcv_nxt, snd_una, snd_nxt, write_seq, copied_seq, rcv_wup, snd_wnd,
 * snd_wl1, rx_opt, tsoffset, rcv_wnd, window_clamp, advmss, rx_opt.mss_clamp, ecn_flags. The state
 * is ESTABLISHED then, and engine_established() is called.
 * handshake_rtt: the first RTT sample (RFC 6298 2.2), us. It is called before engine_established
 * when the handshake gave one.
 * release_cb: struct proto's. It does what timers, TSQ and Packet Too Big deferred in sk_tsq_flags
 * with the kernel's bits.
 * Keepalive's timer also ends FIN-WAIT-2 of orphans. Connections arm it with
 * net6_tcp_reset_sk_timer(). The callback does as the kernel's tcp_keepalive_timer() does, with
 * net6_tcp_time_wait().
 */
extern const struct inet_connection_sock_af_ops net6_tcp_native_ops;
void net6_tcp_engine_init(struct sock *sk);
/* metrics, buffers, CC init, pacing; programs are told of @op and of @skb, which brought it */
void net6_tcp_engine_established(struct sock *sk, int op, struct sk_buff *skb);
void net6_tcp_engine_reset(struct sock *sk);		/* disconnect: purge queues, clear state */
void net6_tcp_engine_child(struct sock *child, const struct sock *listener);	/* softirq */
void net6_tcp_release_cb(struct sock *sk);

/* ack.c */
void net6_tcp_handshake_rtt(struct sock *sk, u32 rtt_us);

/* control.c: segments that are not data of the write queue */
int  net6_tcp_send_syn(struct sock *sk);	/* active open: queues SYN, arms the timer */
void net6_tcp_send_fin(struct sock *sk);
void net6_tcp_send_ack(struct sock *sk);
void net6_tcp_send_active_reset(struct sock *sk, gfp_t gfp);

/* transmit.c; transmit() itself: 0 or -errno */
void net6_tcp_push_pending(struct sock *sk, unsigned int mss_now, int nonagle);
void net6_tcp_push_now(struct sock *sk, unsigned int mss_now, int nonagle);
void net6_tcp_push_one(struct sock *sk, unsigned int mss_now);
int  net6_tcp_transmit(struct sock *sk, struct sk_buff *skb, bool clone, gfp_t gfp);

/* segment.c: the maximum segment size, bytes */
int  net6_tcp_send_mss(struct sock *sk, int *size_goal, int flags); /* bytes per segment, per skb */
unsigned int net6_tcp_sync_mss(struct sock *sk, u32 pmtu);
int net6_tcp_mtu_to_mss(const struct sock *sk, u32 mtu);
unsigned int net6_tcp_current_mss(struct sock *sk);
void net6_tcp_mtu_reduced(struct sock *sk, u32 mtu);	/* Packet Too Big */

/* In icsk_ack.pending, above the kernel's bits. A program waits for this socket: the ACK waits
 * for what it does next, or for the end of the tick.
 */
#define NET6_TCP_ACK_PROGRAM	BIT(7)
#define NET6_TCP_ACK_HELD	BIT(6)	/* it is the ACK of a SYN-ACK, as well */

/* data.c */
void net6_tcp_ack_idle(struct sock *sk);	/* it does nothing that an ACK rides on */
void net6_tcp_data_ready(struct sock *sk);		/* honours SO_RCVLOWAT */

/* rcvbuf.c: receive window and its autotuning (RFC 7323, RFC 9293 3.8.6) */
u32  net6_tcp_select_window(struct sock *sk);
void net6_tcp_init_window(struct sock *sk, const struct net6_metrics *m, u32 mss, u32 first,
			  u32 *rcv_wnd, u32 *window_clamp, u8 *wscale);
void net6_tcp_cleanup_rbuf(struct sock *sk, int copied);	/* reader took data: ACK if due */
void net6_tcp_rcv_space_adjust(struct sock *sk);
void net6_tcp_queue_rcv(struct sock *sk, struct sk_buff *skb);	/* in-order, coalesces, consumes */

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

/* sndbuf.c */
void net6_tcp_write_space(struct sock *sk);		/* sk->sk_write_space */

/* Less than TCP_NOTSENT_LOWAT is not sent yet; struct proto's stream_memory_free. */
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

/* timer.c: own callbacks on the kernel's timers of a connection */
void net6_tcp_timers_init(struct sock *sk);
void net6_tcp_timers_clear(struct sock *sk);
void net6_tcp_set_keepalive(struct sock *sk, int on);

/* Did this socket ever begin to connect, or is it a listener's child? Others have no timers, and
 * no queues that may hold something.
 */
static inline bool net6_tcp_was_connection(const struct sock *sk)
{
	return net6_compat_write_timer(sk)->function;
}

static inline void net6_tcp_reset_sk_timer(struct sock *sk, unsigned long delay)
{
	sk_reset_timer(sk, net6_compat_keepalive_timer(sk), jiffies + delay);
}

/* cong.c: the kernel's modules by name, through one carrier socket per name */
int  net6_tcp_cong_set(struct sock *sk, const char *name, bool may_load);	/* process */
void net6_tcp_cong_assign(struct sock *sk);		/* default of the namespace, or inherit */
void net6_tcp_cong_inherit(struct sock *child, const struct sock *listener);	/* softirq */
void net6_tcp_cong_init(struct sock *sk);
void net6_tcp_cong_release(struct sock *sk);
int  net6_tcp_cong_module_init(void);
void net6_tcp_cong_module_exit(void);

/* tsq.c */
void net6_tcp_tsq_init(void);
void net6_tcp_tsq_exit(void);

/* memory.c */
bool net6_tcp_mem_force(struct sock *sk, int size);
int  net6_tcp_wmem_schedule(struct sock *sk, int size);
void net6_tcp_queue_skb(struct sock *sk, struct sk_buff *skb);
void net6_tcp_unqueue_empty(struct sock *sk);
/* A buffer for the write queue: @size bytes of room behind the headers' room, charged to the
 * socket's memory. NULL when there is none (pressure is entered). Payload may be linear as well
 * as in fragments: split with skb_split(). sk locked.
 */
struct sk_buff *net6_tcp_alloc_skb(struct sock *sk, unsigned int size, gfp_t gfp, bool force);
void net6_tcp_rtx_free(struct sock *sk, struct sk_buff *skb);
void net6_tcp_rbtree_purge(struct rb_root *root);	/* frees its skbs */
void net6_tcp_write_queue_purge(struct sock *sk);

/* skbcache.c */
struct sk_buff *net6_tcp_skb_cache_get(unsigned int size);
bool net6_tcp_skb_cache_put(struct sk_buff *skb);
void net6_tcp_skb_cache_exit(void);

/* pages.c */
void net6_tcp_pages_turn(struct sock *sk, struct page_frag *frag);
void net6_tcp_pages_drop(struct sock *sk);
void net6_tcp_pages_timer(struct sock *sk);

/* @sk does not listen. In an accept queue it has none, and something else in that place. */
static inline bool net6_tcp_has_pages(const struct sock *sk)
{
	const struct net6_tcp_sock *ns = net6_tcp_sk(sk);

	if (likely(!READ_ONCE(ns->pages)))
		return false;
	/* Pairs with net6_tcp_accept_queue_pop(), which does not have @sk locked. */
	return !smp_load_acquire(&ns->listener) && READ_ONCE(ns->pages);
}

#endif /* _NET6_TCP_ENTRY_H */
