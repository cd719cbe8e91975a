/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the TCP engine ask of each other, and small helpers of the hot
 * path. Everything here: sk locked (see tcp.h).
 */
#ifndef _NET6_TCP_ENGINE_H
#define _NET6_TCP_ENGINE_H

#include "arith.h"
#include "entry.h"

/* What an ACK turned out to be; collected while it is processed. */
#define ACK_DATA		BIT(0)	/* segment carried data */
#define ACK_WIN_UPDATE		BIT(1)	/* window changed */
#define ACK_DATA_ACKED		BIT(2)	/* acknowledged new data */
#define ACK_RETRANS_ACKED	BIT(3)	/* ... some of which had been retransmitted */
#define ACK_SYN_ACKED		BIT(4)	/* acknowledged our SYN */
#define ACK_DATA_SACKED		BIT(5)	/* new SACK */
#define ACK_ECE			BIT(6)	/* ECN echo */
#define ACK_LOST_RETRANS	BIT(7)	/* a retransmission was lost again */
#define ACK_SLOWPATH		BIT(8)	/* not predicted */
#define ACK_ORIG_SACKED		BIT(9)	/* never retransmitted data was (s)acked */
#define ACK_UNA_ADVANCED	BIT(10)	/* snd_una moved */
#define ACK_DSACK		BIT(11)	/* carried a DSACK */
#define ACK_SET_TIMER		BIT(12)	/* RTO or probe is to be armed afresh */
#define ACK_RENEGING		BIT(13)	/* head of the queue is sacked */
#define ACK_UPDATE_TS		BIT(14)	/* timestamp may be recorded */
#define ACK_NO_CHALLENGE	BIT(15)	/* no challenge ACK for ancient ACKs */
#define ACK_MAYBE_DELAYED	BIT(16)	/* RTT sample may contain a delayed ACK */
#define ACK_DSACK_TLP		BIT(17)	/* DSACK for the tail loss probe */

#define ACK_ACKED		(ACK_DATA_ACKED | ACK_SYN_ACKED)
#define ACK_NOT_DUP		(ACK_DATA | ACK_WIN_UPDATE | ACK_ACKED)
#define ACK_CA_ALERT		(ACK_DATA_SACKED | ACK_ECE | ACK_DSACK)
#define ACK_FORWARD		(ACK_ACKED | ACK_DATA_SACKED)

/* What is to be sent once an ACK is digested. */
enum net6_tcp_rexmit {
	NET6_REXMIT_NONE,
	NET6_REXMIT_LOST,	/* what is marked lost, as cwnd allows */
	NET6_REXMIT_NEW,	/* new data first (F-RTO step 2.b) */
};

/**
 * struct net6_tcp_ack_state - scratch of one ACK
 * @flag: ACK_*
 * @first_sackt, @last_sackt: us, when the first and last newly sacked segment were
 *	sent that was never retransmitted; 0 for none
 * @reord: lowest sequence number that arrived out of order
 * @sack_delivered: segments newly sacked
 * @delivered: tp->delivered before this ACK; @lost: tp->lost before it
 * @prior_una, @prior_packets: before this ACK
 * @rs: rate sample
 * @opts: the segment's options, NULL on the fast path
 */
struct net6_tcp_ack_state {
	u32				flag;
	u32				reord;
	u64				first_sackt;
	u64				last_sackt;
	u32				sack_delivered;
	u32				delivered;
	u32				lost;
	u32				prior_una;
	u32				prior_packets;
	struct rate_sample		rs;
	const struct net6_tcp_opts	*opts;
};

/* ---- timers: lazily armed ---- A pending timer that fires too early finds its time in the
 * future and goes on from there. So arming costs two stores, unless the timer is idle or late.
 */
static inline void net6_tcp_arm(struct sock *sk, int what, unsigned long when)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct timer_list *timer = net6_compat_write_timer(sk);
	unsigned long at = jiffies + min_t(unsigned long, when, TCP_RTO_MAX);

	icsk->icsk_pending = what;
	net6_compat_timeout(sk) = at;
	if (!timer_pending(timer) || time_before(at, timer->expires))
		sk_reset_timer(sk, timer, at);
}

static inline void net6_tcp_disarm(struct sock *sk)
{
	inet_csk(sk)->icsk_pending = 0;
}

/* byroute.c */
u32 net6_tcp_init_cwnd(const struct sock *sk);
void net6_tcp_byroute_begin(struct sock *sk, const struct net6_metrics *m);
void net6_tcp_byroute_end(struct sock *sk, const struct net6_metrics *m);
void net6_tcp_byroute_established(struct sock *sk, const struct net6_metrics *m);

/* ---- congestion control ---- */

void net6_tcp_cong_by_route(struct sock *sk, void *congctl);

static inline const struct tcp_congestion_ops *net6_ca(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_ca_ops);
}

static inline void net6_tcp_ca_event(struct sock *sk, enum tcp_ca_event event)
{
	const struct tcp_congestion_ops *ca = net6_ca(sk);

	if (ca->cwnd_event)
		ca->cwnd_event(sk, event);
}

static inline void net6_tcp_set_ca_state(struct sock *sk, u8 state)
{
	const struct tcp_congestion_ops *ca = net6_ca(sk);

	if (ca->set_state)
		ca->set_state(sk, state);
	inet_csk(sk)->icsk_ca_state = state;
}

/* ---- segment lists ---- */

static inline u32 net6_skb_end(const struct sk_buff *skb)
{
	return TCP_SKB_CB(skb)->end_seq;
}

static inline u64 net6_skb_us(const struct sk_buff *skb)
{
	return div_u64(skb->skb_mstamp_ns, NSEC_PER_USEC);
}

static inline void net6_tcp_delivered(struct tcp_sock *tp, u32 n, bool ece)
{
	tp->delivered += n;
	if (ece)
		tp->delivered_ce += n;
}

static inline bool net6_tcp_urg_mode(const struct tcp_sock *tp)
{
	return tp->snd_una != tp->snd_up;
}

/* Does the segment that is being processed echo a timestamp from before @when (RFC 7323 3,
 * RFC 3522)?
 */
static inline bool net6_tcp_echo_before(const struct tcp_sock *tp, u32 when)
{
	return tp->rx_opt.saw_tstamp && tp->rx_opt.rcv_tsecr &&
	       before(tp->rx_opt.rcv_tsecr, when);
}

void net6_tcp_rb_insert(struct rb_root *root, struct sk_buff *skb);

/* ---- ECN, RFC 3168 ---- */

static inline void net6_tcp_ecn_queue_cwr(struct tcp_sock *tp)
{
	if (tp->ecn_flags & TCP_ECN_OK)
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

/* ---- chronographs of TCP_INFO: what the sender waits for ---- */

static inline void net6_tcp_chrono_set(struct tcp_sock *tp, u8 type)
{
	u32 now = tcp_jiffies32;

	if (tp->chrono_type == type)
		return;
	if (tp->chrono_type > TCP_CHRONO_UNSPEC)
		tp->chrono_stat[tp->chrono_type - 1] += now - tp->chrono_start;
	tp->chrono_start = now;
	tp->chrono_type = type;
}

/* segment.c: packets of the write queue cut to size, MSS */
int net6_tcp_fragment(struct sock *sk, bool in_rtx, struct sk_buff *skb, u32 len,
		      unsigned int mss, gfp_t gfp);
int net6_tcp_trim_head(struct sock *sk, struct sk_buff *skb, u32 len);
void net6_tcp_set_segs(struct sk_buff *skb, unsigned int mss);
void net6_tcp_adjust_pcount(struct sock *sk, const struct sk_buff *skb, int decr);

/* transmit.c */
bool net6_tcp_write_xmit(struct sock *sk, unsigned int mss, int nonagle, int push_one, gfp_t gfp);
void net6_tcp_new_data_sent(struct sock *sk, struct sk_buff *skb);
void net6_tcp_push_ready(struct sock *sk);	/* what the write queue holds, if allowed */
bool net6_tcp_fits_window(const struct tcp_sock *tp, const struct sk_buff *skb, u32 mss);

/* control.c: segments without data of the write queue */
bool net6_tcp_queue_synack(struct sock *sk);
int net6_tcp_send_synack(struct sock *sk);
int net6_tcp_write_wakeup(struct sock *sk);
void net6_tcp_send_probe0(struct sock *sk);
unsigned long net6_tcp_probe0_clamp(const struct sock *sk, unsigned long when);
void net6_tcp_send_owed_fin(struct sock *sk);
void net6_tcp_send_dupack(struct sock *sk, const struct sk_buff *skb);
void net6_tcp_challenge_ack(struct sock *sk);
bool net6_tcp_oow_limited(struct sock *sk, const struct sk_buff *skb);

/* The FIN has its place in the sequence and no packet: there was no memory for one, and
 * nothing outstanding that could have carried it.
 */
static inline bool net6_tcp_fin_owed(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tp->write_seq != tp->snd_nxt && !tp->packets_out && !tcp_send_head(sk);
}

/* retransmit.c */
int net6_tcp_retransmit_skb(struct sock *sk, struct sk_buff *skb, int segs);
void net6_tcp_retransmit_queue(struct sock *sk);
void net6_tcp_rearm_rto(struct sock *sk);
bool net6_tcp_schedule_tlp(struct sock *sk, bool advancing_rto);
void net6_tcp_send_tlp(struct sock *sk);
void net6_tcp_tlp_ack(struct sock *sk, u32 ack, u32 flag);

/* mtuprobe.c: all but the first two with a probe on its way or enabled only */
enum net6_tcp_mtup {
	NET6_MTUP_NONE,		/* no probe now */
	NET6_MTUP_WAIT,		/* ACKs will make room for one: send nothing else */
	NET6_MTUP_SENT,
};

void net6_tcp_mtup_init(struct sock *sk);
void net6_tcp_mtup_black_hole(struct sock *sk);
enum net6_tcp_mtup net6_tcp_mtup_probe(struct sock *sk, gfp_t gfp);
void net6_tcp_mtup_acked(struct sock *sk);
bool net6_tcp_mtup_lost(struct sock *sk, bool timeout);

/* tsq.c */
void net6_tcp_wfree(struct sk_buff *skb);
void net6_tcp_tsq_write(struct sock *sk);
bool net6_tcp_pacing_check(struct sock *sk);
enum hrtimer_restart net6_tcp_pace_kick(struct hrtimer *timer);

/* ack.c */
int net6_tcp_ack(struct sock *sk, struct sk_buff *skb, u32 flag, const struct net6_tcp_opts *opts);
void net6_tcp_set_rto(struct sock *sk);
void net6_tcp_set_xmit_timer(struct sock *sk);

/* sack.c */
void net6_tcp_sacktag(struct sock *sk, const struct sk_buff *skb, struct net6_tcp_ack_state *st);
void net6_tcp_sack_reordering(struct sock *sk, u32 low_seq, bool ts);

/* rack.c */
void net6_tcp_mark_lost(struct sock *sk, struct sk_buff *skb);
void net6_tcp_rack_advance(struct tcp_sock *tp, u8 sacked, u32 end_seq, u64 sent_us);
void net6_tcp_rack_update_reo_wnd(struct sock *sk, const struct rate_sample *rs);
bool net6_tcp_rack_mark_lost(struct sock *sk);
void net6_tcp_rack_timeout(struct sock *sk);
s32 net6_tcp_rack_remaining(const struct tcp_sock *tp, const struct sk_buff *skb, u32 reo_wnd);

/* recovery.c, undo.c */
void net6_tcp_alert(struct sock *sk, struct net6_tcp_ack_state *st, int dupacks,
		    enum net6_tcp_rexmit *rexmit);
void net6_tcp_enter_loss(struct sock *sk);
void net6_tcp_enter_recovery(struct sock *sk, bool ece);
void net6_tcp_enter_cwr(struct sock *sk);
void net6_tcp_init_reduction(struct sock *sk);
void net6_tcp_end_reduction(struct sock *sk);
void net6_tcp_reduce_cwnd(struct sock *sk, int newly, int lost, u32 flag);
void net6_tcp_keep_open(struct sock *sk);
void net6_tcp_simple_retransmit(struct sock *sk);
bool net6_tcp_retrans_pending_stamp(struct sock *sk);
void net6_tcp_reno_reset(struct tcp_sock *tp);
void net6_tcp_reno_add(struct sock *sk, int dupacks, bool ece);
void net6_tcp_reno_remove(struct sock *sk, int acked, bool ece);
bool net6_tcp_undo_recovery(struct sock *sk);
bool net6_tcp_undo_dsack(struct sock *sk);
bool net6_tcp_undo_loss(struct sock *sk, bool frto);
bool net6_tcp_undo_partial(struct sock *sk, u32 prior_una);

/* rate.c */
void net6_tcp_rate_sent(struct sock *sk, struct sk_buff *skb);
void net6_tcp_rate_delivered(struct sock *sk, struct sk_buff *skb, struct rate_sample *rs);
void net6_tcp_rate_gen(struct sock *sk, u32 delivered, u32 lost, bool reneg,
		       struct rate_sample *rs);
void net6_tcp_pacing_rate(struct sock *sk);
void net6_tcp_cong_control(struct sock *sk, u32 ack, u32 acked_sacked, u32 flag,
			   const struct rate_sample *rs);
void net6_tcp_cwnd_validate(struct sock *sk, bool limited);
void net6_tcp_cwnd_idle(struct sock *sk);

/* data.c, ofo.c: what arrives */
void net6_tcp_data(struct sock *sk, struct sk_buff *skb);
void net6_tcp_data_event(struct sock *sk, struct sk_buff *skb);
void net6_tcp_ecn_check_ce(struct sock *sk, const struct sk_buff *skb);
bool net6_tcp_awaited(const struct sock *sk);
void net6_tcp_ack_program(struct sock *sk);
void net6_tcp_ofo_insert(struct sock *sk, struct sk_buff *skb);
void net6_tcp_ofo_deliver(struct sock *sk);
void net6_tcp_ofo_purge(struct sock *sk);
bool net6_tcp_ofo_prune(struct sock *sk, const struct sk_buff *in);
void net6_tcp_sack_add(struct sock *sk, u32 seq, u32 end);
void net6_tcp_sack_trim(struct tcp_sock *tp);
void net6_tcp_dsack_set(struct sock *sk, u32 seq, u32 end);
void net6_tcp_ack_check(struct sock *sk, bool ofo_possible);
void net6_tcp_quickack(struct sock *sk, unsigned int max);
void net6_tcp_urg(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th);

/* rcvbuf.c */
bool net6_tcp_coalesce(struct sock *sk, struct sk_buff *to, struct sk_buff *from, bool *stolen);
u32 net6_tcp_window_free(struct sock *sk);
int net6_tcp_rmem_schedule(struct sock *sk, struct sk_buff *skb);
void net6_tcp_rcv_mss(struct sock *sk, const struct sk_buff *skb);
void net6_tcp_rcv_rtt_window(struct sock *sk);
void net6_tcp_rcv_rtt_tstamp(struct sock *sk, const struct sk_buff *skb);
void net6_tcp_grow_window(struct sock *sk, const struct sk_buff *skb);
void net6_tcp_buffers_init(struct sock *sk);

/* sndbuf.c */
void net6_tcp_sndbuf_expand(struct sock *sk);
void net6_tcp_snd_space(struct sock *sk);	/* after ACKs freed buffers */

/* established.c, rcvstate.c */
void net6_tcp_read_options(struct sock *sk, const struct tcphdr *th, struct net6_tcp_opts *o);
bool net6_tcp_validate(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th);

/* timer.c */
void net6_tcp_write_timer_handler(struct sock *sk);
void net6_tcp_delack_timer_handler(struct sock *sk);

/* After a segment was processed, send the data that the ACK allowed. */
static inline void net6_tcp_data_snd_check(struct sock *sk)
{
	net6_tcp_push_ready(sk);
	if (net6_tcp_owner(sk) ||
	    (sk->sk_socket && test_bit(SOCK_NOSPACE, &sk->sk_socket->flags)))
		net6_tcp_snd_space(sk);
}

/* How many of @n SACK blocks have room beside the other options (RFC 2018 3). */
static inline unsigned int net6_tcp_sack_blocks(const struct tcp_sock *tp, unsigned int n,
						bool md5)
{
	if (unlikely(md5))
		return tp->rx_opt.tstamp_ok ? 0 : min(n, 2U);
	return min(n, tp->rx_opt.tstamp_ok ? 3U : 4U);
}

/* Octets that so many of them take. */
static inline unsigned int net6_tcp_sack_len(unsigned int n)
{
	return n ? TCPOLEN_SACK_BASE_ALIGNED + n * TCPOLEN_SACK_PERBLOCK : 0;
}

#endif /* _NET6_TCP_ENGINE_H */
