// SPDX-License-Identifier: GPL-2.0
/* An acknowledgment arrives: window update, what it takes off the retransmission
 * queue, RTT samples, and the call into recovery and congestion control. RFC 9293
 * 3.10.7.4 "fifth, check the ACK field".
 */
#include <linux/errqueue.h>

#include "engine.h"
#include "../lsm_ops.h"

/* ---- RTT, RFC 6298 ---- */

/**
 * net6_tcp_set_rto() - RTO from the estimator
 * @sk: socket
 */
void net6_tcp_set_rto(struct sock *sk)
{
	inet_csk(sk)->icsk_rto = min_t(u32, __tcp_set_rto(tcp_sk(sk)), TCP_RTO_MAX);
}

static void net6_tcp_rtt_take(struct sock *sk, u32 us)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct net6_tcp_rtt r = {
		.srtt		= tp->srtt_us,
		.mdev		= tp->mdev_us,
		.mdev_max	= tp->mdev_max_us,
		.rttvar		= tp->rttvar_us,
	};
	bool done = !r.srtt || after(tp->snd_una, tp->rtt_seq);

	net6_tcp_rtt_sample(&r, us, jiffies_to_usecs(inet_csk(sk)->icsk_rto_min), done);
	if (done)
		tp->rtt_seq = tp->snd_nxt;
	tp->srtt_us = max(1U, r.srtt);
	tp->mdev_us = r.mdev;
	tp->mdev_max_us = r.mdev_max;
	tp->rttvar_us = r.rttvar;
	if (net6_tcp_ops_want(sk, BPF_SOCK_OPS_RTT_CB_FLAG) && done)
		net6_tcp_ops_call(sk, BPF_SOCK_OPS_RTT_CB, us, tp->srtt_us, 0);
}

static void net6_tcp_rtt_min(struct sock *sk, u32 us, u32 flag)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_rtt_wlen) * HZ;

	BUILD_BUG_ON(sizeof(struct net6_min_sample) != sizeof(struct minmax_sample));
	/* Contains the peer's delay: no news unless it is lower. */
	if (flag & ACK_MAYBE_DELAYED && us > tcp_min_rtt(tp))
		return;
	net6_min_running((struct net6_min_sample *)tp->rtt_min.s, window, tcp_jiffies32,
			 us ?: jiffies_to_usecs(1));
}

/* Karn's rule is in the arguments: negative when retransmissions made it ambiguous;
 * timestamps (RFC 7323 4) help out then. Returns whether there was a sample.
 */
static bool net6_tcp_ack_rtt(struct sock *sk, struct net6_tcp_ack_state *st, long seq_rtt,
			     long sack_rtt, long ca_rtt)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (seq_rtt < 0)
		seq_rtt = sack_rtt;
	if (seq_rtt < 0 && tp->rx_opt.saw_tstamp && tp->rx_opt.rcv_tsecr && st->flag & ACK_ACKED) {
		u32 delta = net6_compat_tcp_time_stamp(tp) - tp->rx_opt.rcv_tsecr;

		if (likely(delta < INT_MAX / (USEC_PER_SEC / TCP_TS_HZ))) {
			seq_rtt = max(delta, 1U) * (USEC_PER_SEC / TCP_TS_HZ);
			ca_rtt = seq_rtt;
		}
	}
	st->rs.rtt_us = ca_rtt;
	if (seq_rtt < 0)
		return false;
	net6_tcp_rtt_min(sk, ca_rtt, st->flag);
	net6_tcp_rtt_take(sk, seq_rtt);
	net6_tcp_set_rto(sk);
	inet_csk(sk)->icsk_backoff = 0;		/* RFC 6298 5.7 note, Karn */
	return true;
}

/**
 * net6_tcp_handshake_rtt() - the first sample
 * @sk: socket
 * @rtt_us: microseconds from SYN-ACK to ACK, never of a retransmitted one
 */
void net6_tcp_handshake_rtt(struct sock *sk, u32 rtt_us)
{
	net6_tcp_rtt_min(sk, rtt_us, 0);
	net6_tcp_rtt_take(sk, rtt_us);
	net6_tcp_set_rto(sk);
}

/* ---- window ---- */

static void net6_tcp_una(struct tcp_sock *tp, u32 ack)
{
	tp->bytes_acked += ack - tp->snd_una;
	WRITE_ONCE(tp->snd_una, ack);
}

/* RFC 9293 3.10.7.4: SND.WND := SEG.WND if the segment is newer (WL1, WL2), or as
 * new and opens the window.
 */
static u32 net6_tcp_ack_window(struct sock *sk, const struct sk_buff *skb, u32 ack, u32 ack_seq)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 win = ntohs(tcp_hdr(skb)->window);
	u32 flag = 0;

	if (likely(!tcp_hdr(skb)->syn))
		win <<= tp->rx_opt.snd_wscale;
	if (after(ack, tp->snd_una) || after(ack_seq, tp->snd_wl1) ||
	    (ack_seq == tp->snd_wl1 && (win > tp->snd_wnd || !win))) {
		flag = ACK_WIN_UPDATE;
		tcp_update_wl(tp, ack_seq);
		if (tp->snd_wnd != win) {
			tp->snd_wnd = win;
			/* The prediction holds the window. */
			tp->pred_flags = 0;
			tcp_fast_path_check(sk);
			if (!tcp_write_queue_empty(sk))
				net6_tcp_cwnd_idle(sk);
			if (win > tp->max_window) {
				tp->max_window = win;
				net6_tcp_sync_mss(sk, inet_csk(sk)->icsk_pmtu_cookie);
			}
		}
	}
	net6_tcp_una(tp, ack);
	return flag;
}

/* Nothing outstanding, data waits for a window: probe while it is closed. */
static void net6_tcp_ack_probe(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct sk_buff *head = tcp_send_head(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!head)
		return;
	if (!after(net6_skb_end(head), tcp_wnd_end(tp))) {
		icsk->icsk_backoff = 0;
		icsk->icsk_probes_tstamp = 0;
		net6_tcp_disarm(sk);
		return;		/* sent by whoever called for this ACK */
	}
	net6_tcp_arm(sk, ICSK_TIME_PROBE0,
		     net6_tcp_probe0_clamp(sk, tcp_probe0_when(sk, TCP_RTO_MAX)));
}

/* ---- the retransmission queue ---- */

/* Both clocks of congestion control and RTT: first and last segment of this ACK. */
struct net6_tcp_clean {
	u64	first_ackt;
	u64	last_ackt;
	u32	acked;
	u32	reord;
	bool	whole;
	struct sk_buff *rest;
};

/* The front of a super-packet is acknowledged. Returns segments. */
static u32 net6_tcp_ack_front(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 segs = tcp_skb_pcount(skb);

	if (net6_tcp_trim_head(sk, skb, tp->snd_una - TCP_SKB_CB(skb)->seq))
		return 0;
	return segs - tcp_skb_pcount(skb);
}

static void net6_tcp_ack_tstamp(struct sock *sk, struct sk_buff *skb, const struct sk_buff *ack_skb,
				u32 prior_una)
{
	const struct skb_shared_info *si;

	if (likely(!TCP_SKB_CB(skb)->txstamp_ack))
		return;
	si = skb_shinfo(skb);
	if (!before(si->tskey, prior_una) && before(si->tskey, tcp_sk(sk)->snd_una)) {
		tcp_skb_tsorted_save(skb) {
			__skb_tstamp_tx(skb, ack_skb, NULL, sk, SCM_TSTAMP_ACK);
		} tcp_skb_tsorted_restore(skb);
	}
}

/* One packet, wholly or in front, leaves the counters. */
static void net6_tcp_clean_one(struct sock *sk, struct net6_tcp_ack_state *st, struct sk_buff *skb,
			       u32 seq, u32 segs, struct net6_tcp_clean *c)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	u8 sacked = cb->sacked;

	if (unlikely(sacked & TCPCB_RETRANS)) {
		if (sacked & TCPCB_SACKED_RETRANS)
			tp->retrans_out -= segs;
		st->flag |= ACK_RETRANS_ACKED;
	} else if (!(sacked & TCPCB_SACKED_ACKED)) {
		c->last_ackt = net6_skb_us(skb);
		if (!c->first_ackt)
			c->first_ackt = c->last_ackt;
		if (before(seq, c->reord))
			c->reord = seq;
		if (!after(cb->end_seq, tp->high_seq))
			st->flag |= ACK_ORIG_SACKED;
	}
	if (sacked & TCPCB_SACKED_ACKED) {
		tp->sacked_out -= segs;
	} else if (tcp_is_sack(tp)) {
		net6_tcp_delivered(tp, segs, st->flag & ACK_ECE);
		/* RFC 8985 6.2 step 2: not when the ACK is for the original. */
		if (likely(!(sacked & TCPCB_RETRANS) ||
			   !net6_tcp_echo_before(tp, net6_compat_tcp_skb_timestamp(skb))))
			net6_tcp_rack_advance(tp, sacked, cb->end_seq, net6_skb_us(skb));
	}
	if (sacked & TCPCB_LOST)
		tp->lost_out -= segs;
	tp->packets_out -= segs;
	c->acked += segs;
	net6_tcp_rate_delivered(sk, skb, &st->rs);

	if (likely(!(cb->tcp_flags & TCPHDR_SYN))) {
		st->flag |= ACK_DATA_ACKED;
	} else {
		st->flag |= ACK_SYN_ACKED;
		tp->retrans_stamp = 0;
	}
}

static void net6_tcp_clean_walk(struct sock *sk, const struct sk_buff *ack_skb,
				struct net6_tcp_ack_state *st, struct net6_tcp_clean *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb, *next;

	c->reord = tp->snd_nxt;
	for (skb = tcp_rtx_queue_head(sk); skb; skb = next) {
		struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
		u32 seq = cb->seq;
		u32 segs;

		c->whole = !after(cb->end_seq, tp->snd_una);
		segs = tcp_skb_pcount(skb);
		if (!c->whole) {
			if (segs == 1 || !after(tp->snd_una, seq))
				break;
			segs = net6_tcp_ack_front(sk, skb);
			if (!segs)
				break;
		}
		net6_tcp_clean_one(sk, st, skb, seq, segs, c);
		if (!c->whole)
			break;
		net6_tcp_ack_tstamp(sk, skb, ack_skb, st->prior_una);
		next = skb_rb_next(skb);
		if (unlikely(skb == tp->retransmit_skb_hint))
			tp->retransmit_skb_hint = NULL;
		tcp_highest_sack_replace(sk, skb, next);
		net6_tcp_rtx_free(sk, skb);
	}
	c->rest = skb;
}

/* Takes what is acknowledged off the queue; RTT, reordering, pkts_acked. */
static void net6_tcp_clean_rtx(struct sock *sk, const struct sk_buff *ack_skb,
			       struct net6_tcp_ack_state *st, u32 prior_high)
{
	struct tcp_sock *tp = tcp_sk(sk);
	long seq_rtt = -1, sack_rtt = -1, ca_rtt = -1;
	u32 prior_sacked = tp->sacked_out;
	struct net6_tcp_clean c = {};
	bool updated;

	net6_tcp_clean_walk(sk, ack_skb, st, &c);
	if (unlikely(inet_csk(sk)->icsk_mtup.probe_size) &&
	    !before(tp->snd_una, tp->mtu_probe.probe_seq_end))
		net6_tcp_mtup_acked(sk);
	if (!c.rest)
		net6_tcp_chrono_set(tp, tcp_write_queue_empty(sk) ? TCP_CHRONO_UNSPEC :
				    tp->chrono_type);
	if (unlikely(between(tp->snd_up, st->prior_una, tp->snd_una)))
		tp->snd_up = tp->snd_una;
	if (c.rest) {
		net6_tcp_ack_tstamp(sk, c.rest, ack_skb, st->prior_una);
		if (TCP_SKB_CB(c.rest)->sacked & TCPCB_SACKED_ACKED)
			st->flag |= ACK_RENEGING;
	}
	if (likely(c.first_ackt) && !(st->flag & ACK_RETRANS_ACKED)) {
		seq_rtt = tcp_stamp_us_delta(tp->tcp_mstamp, c.first_ackt);
		ca_rtt = tcp_stamp_us_delta(tp->tcp_mstamp, c.last_ackt);
		/* A single small segment alone: its ACK may have been delayed. */
		if (c.acked == 1 && c.whole && !prior_sacked &&
		    tp->snd_una - st->prior_una < tp->mss_cache &&
		    st->rs.prior_delivered + 1 == tp->delivered &&
		    !(st->flag & (ACK_CA_ALERT | ACK_SYN_ACKED)))
			st->flag |= ACK_MAYBE_DELAYED;
	}
	if (st->first_sackt) {
		sack_rtt = tcp_stamp_us_delta(tp->tcp_mstamp, st->first_sackt);
		ca_rtt = tcp_stamp_us_delta(tp->tcp_mstamp, st->last_sackt);
	}
	updated = net6_tcp_ack_rtt(sk, st, seq_rtt, sack_rtt, ca_rtt);

	if (st->flag & ACK_ACKED) {
		st->flag |= ACK_SET_TIMER;
		if (unlikely(tcp_is_reno(tp))) {
			net6_tcp_reno_remove(sk, c.acked, st->flag & ACK_ECE);
			/* Without SACK an old retransmission cannot be told. */
			if (st->flag & ACK_RETRANS_ACKED)
				st->flag &= ~ACK_ORIG_SACKED;
		} else if (before(c.reord, prior_high)) {
			net6_tcp_sack_reordering(sk, c.reord, false);
		}
	} else if (c.rest && updated && sack_rtt >= 0 &&
		   sack_rtt > tcp_stamp_us_delta(tp->tcp_mstamp, net6_skb_us(c.rest))) {
		/* The RTT grew and the head was sent lately: give it time. */
		st->flag |= ACK_SET_TIMER;
	}

	if (net6_ca(sk)->pkts_acked) {
		struct ack_sample sample = {
			.pkts_acked	= c.acked,
			.rtt_us		= st->rs.rtt_us,
			.in_flight	= tp->mss_cache *
					  (tp->delivered - st->rs.prior_delivered),
		};

		net6_ca(sk)->pkts_acked(sk, &sample);
	}
}

/* ---- the whole ---- */

static void net6_tcp_in_ack_event(struct sock *sk, u32 flag)
{
	const struct tcp_congestion_ops *ca = net6_ca(sk);
	u32 ev = 0;

	if (!ca->in_ack_event)
		return;
	if (flag & ACK_WIN_UPDATE)
		ev |= CA_ACK_WIN_UPDATE;
	if (flag & ACK_SLOWPATH) {
		ev |= CA_ACK_SLOWPATH;
		if (flag & ACK_ECE)
			ev |= CA_ACK_ECE;
	}
	ca->in_ack_event(sk, ev);
}

/* RFC 3168 6.1.2: the peer saw CE. */
static void net6_tcp_ack_ecn(struct sock *sk, const struct sk_buff *skb,
			     struct net6_tcp_ack_state *st)
{
	const struct tcphdr *th = tcp_hdr(skb);

	if (tcp_sk(sk)->ecn_flags & TCP_ECN_OK && th->ece && !th->syn)
		st->flag |= ACK_ECE;
}

/* RFC 7323 4.3 (2): the timestamp to echo comes from a segment that reaches the left
 * edge of what was acknowledged last. @skb is known not to be older (PAWS).
 */
static void net6_tcp_ts_recent(struct tcp_sock *tp, u32 seq)
{
	if (tp->rx_opt.saw_tstamp && !after(seq, tp->rcv_wup) &&
	    (s32)(tp->rx_opt.rcv_tsval - tp->rx_opt.ts_recent) >= 0) {
		tp->rx_opt.ts_recent = tp->rx_opt.rcv_tsval;
		tp->rx_opt.ts_recent_stamp = ktime_get_seconds();
	}
}

/**
 * net6_tcp_set_xmit_timer() - loss probe or RTO after progress
 * @sk: socket
 */
void net6_tcp_set_xmit_timer(struct sock *sk)
{
	if (!net6_tcp_schedule_tlp(sk, true))
		net6_tcp_rearm_rto(sk);
}

static bool net6_tcp_dubious(const struct sock *sk, u32 flag)
{
	return !(flag & ACK_NOT_DUP) || flag & ACK_CA_ALERT ||
	       inet_csk(sk)->icsk_ca_state != TCP_CA_Open;
}

static int net6_tcp_dupacks(const struct sk_buff *skb, u32 flag)
{
	if (flag & (ACK_UNA_ADVANCED | ACK_NOT_DUP | ACK_DSACK))
		return 0;
	return max_t(u16, 1, skb_shinfo(skb)->gso_segs);
}

/* Retransmissions or, for F-RTO, new data. */
static void net6_tcp_xmit_recovery(struct sock *sk, enum net6_tcp_rexmit rexmit)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (likely(rexmit == NET6_REXMIT_NONE) || sk->sk_state == TCP_SYN_SENT)
		return;
	if (unlikely(rexmit == NET6_REXMIT_NEW)) {
		net6_tcp_write_xmit(sk, net6_tcp_current_mss(sk), TCP_NAGLE_OFF, 0, GFP_ATOMIC);
		if (after(tp->snd_nxt, tp->high_seq))
			return;
		tp->frto = 0;
	}
	net6_tcp_retransmit_queue(sk);
}

/* Everything that follows from newly delivered or lost segments. */
static void net6_tcp_ack_finish(struct sock *sk, struct net6_tcp_ack_state *st, u32 ack,
				enum net6_tcp_rexmit rexmit)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 delivered = tp->delivered - st->delivered;
	u32 lost = tp->lost - st->lost;

	st->rs.is_ack_delayed = !!(st->flag & ACK_MAYBE_DELAYED);
	net6_tcp_rate_gen(sk, delivered, lost, tp->is_sack_reneg, &st->rs);
	net6_tcp_cong_control(sk, ack, delivered, st->flag, &st->rs);
	net6_tcp_xmit_recovery(sk, rexmit);
}

/* Older than snd_una: only its SACKs may be news. */
static void net6_tcp_ack_old(struct sock *sk, const struct sk_buff *skb,
			     struct net6_tcp_ack_state *st)
{
	enum net6_tcp_rexmit rexmit = NET6_REXMIT_NONE;
	struct tcp_sock *tp = tcp_sk(sk);

	if (!st->opts || !st->opts->n_sacks || !tcp_is_sack(tp))
		return;
	net6_tcp_sacktag(sk, skb, st);
	if (st->sack_delivered)
		net6_tcp_delivered(tp, st->sack_delivered, false);
	net6_tcp_alert(sk, st, net6_tcp_dupacks(skb, st->flag), &rexmit);
	net6_tcp_xmit_recovery(sk, rexmit);
}

/* The part of an ACK that is not predicted: window, SACK, ECN. */
static void net6_tcp_ack_slow(struct sock *sk, struct sk_buff *skb, struct net6_tcp_ack_state *st)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);

	if (cb->seq != cb->end_seq)
		st->flag |= ACK_DATA;
	else
		NET6_INC(net6_tcp_nn_locked(sk), TcpPureAcks);
	st->flag |= net6_tcp_ack_window(sk, skb, cb->ack_seq, cb->seq);
	net6_tcp_ack_ecn(sk, skb, st);
	if (st->opts && st->opts->n_sacks && tcp_is_sack(tp)) {
		net6_tcp_sacktag(sk, skb, st);
		if (st->sack_delivered)
			net6_tcp_delivered(tp, st->sack_delivered, st->flag & ACK_ECE);
	}
}

/**
 * net6_tcp_ack() - process the acknowledgment of a segment
 * @sk: socket
 * @skb: segment with ACK set, transport header valid
 * @flag: ACK_SLOWPATH, ACK_UPDATE_TS, ACK_NO_CHALLENGE, ACK_DATA
 * @opts: its options, or NULL when only timestamps were there
 *
 * Return: 1 acceptable; 0 old; negative not acceptable (-1 acknowledges what was
 * never sent, -2 too old).
 */
int net6_tcp_ack(struct sock *sk, struct sk_buff *skb, u32 flag, const struct net6_tcp_opts *opts)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	enum net6_tcp_rexmit rexmit = NET6_REXMIT_NONE;
	u32 ack = TCP_SKB_CB(skb)->ack_seq;
	struct tcp_sock *tp = tcp_sk(sk);
	struct net6_tcp_ack_state st;
	u32 prior_high;

	st.flag = flag;
	st.first_sackt = 0;
	st.last_sackt = 0;
	st.sack_delivered = 0;
	st.delivered = tp->delivered;
	st.lost = tp->lost;
	st.prior_una = tp->snd_una;
	st.prior_packets = tp->packets_out;
	st.opts = opts;
	memset(&st.rs, 0, sizeof(st.rs));

	if (before(ack, st.prior_una)) {
		/* RFC 5961 5.2: SND.UNA - MAX.SND.WND <= SEG.ACK */
		if (before(ack, st.prior_una - min_t(u64, tp->max_window, tp->bytes_acked))) {
			if (!(flag & ACK_NO_CHALLENGE))
				net6_tcp_challenge_ack(sk);
			return -2;
		}
		net6_tcp_ack_old(sk, skb, &st);
		return 0;
	}
	/* RFC 9293 3.10.7.4: acknowledges something not yet sent. */
	if (after(ack, tp->snd_nxt))
		return -1;

	if (after(ack, st.prior_una)) {
		st.flag |= ACK_UNA_ADVANCED;
		icsk->icsk_retransmits = 0;
	}
	prior_high = tcp_is_sack(tp) ? tcp_highest_sack_seq(tp) : tp->snd_una;
	st.rs.prior_in_flight = tcp_packets_in_flight(tp);
	if (st.flag & ACK_UPDATE_TS)
		net6_tcp_ts_recent(tp, TCP_SKB_CB(skb)->seq);

	if ((st.flag & (ACK_SLOWPATH | ACK_UNA_ADVANCED)) == ACK_UNA_ADVANCED) {
		/* Predicted: window unchanged, no SACK, no ECN. */
		tcp_update_wl(tp, TCP_SKB_CB(skb)->seq);
		net6_tcp_una(tp, ack);
		st.flag |= ACK_WIN_UPDATE;
	} else {
		net6_tcp_ack_slow(sk, skb, &st);
	}
	net6_tcp_in_ack_event(sk, st.flag);

	sk->sk_err_soft = 0;
	icsk->icsk_probes_out = 0;
	tp->rcv_tstamp = tcp_jiffies32;
	if (!st.prior_packets) {
		if (st.flag & ACK_DSACK)
			net6_tcp_alert(sk, &st, 0, &rexmit);
		net6_tcp_ack_probe(sk);
		if (tp->tlp_high_seq)
			net6_tcp_tlp_ack(sk, ack, st.flag);
		return 1;
	}

	net6_tcp_clean_rtx(sk, skb, &st, prior_high);
	net6_tcp_rack_update_reo_wnd(sk, &st.rs);
	if (tp->tlp_high_seq)
		net6_tcp_tlp_ack(sk, ack, st.flag);
	if (net6_tcp_dubious(sk, st.flag))
		net6_tcp_alert(sk, &st, net6_tcp_dupacks(skb, st.flag), &rexmit);
	if (st.flag & ACK_SET_TIMER)
		net6_tcp_set_xmit_timer(sk);
	/* RFC 4861 7.3.1: forward progress confirms the neighbor. */
	if (st.flag & ACK_FORWARD && net6_sk(sk)->dest)
		net6_dest_confirm(net6_sk(sk)->dest);
	net6_tcp_ack_finish(sk, &st, ack, rexmit);
	return 1;
}
