// SPDX-License-Identifier: GPL-2.0
/* Delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation), the call into
 * congestion control once an ACK is digested, and cwnd validation (RFC 7661's idea in
 * Linux' form). Fields and meaning are the kernel's: its modules read them.
 */
#include "../../../compat/tcp_cong.h"
#include "engine.h"

/**
 * net6_tcp_rate_sent() - note the state of delivery when a segment leaves
 * @sk: socket
 * @skb: segment, not yet counted in packets_out; skb_mstamp_ns is its departure
 */
void net6_tcp_rate_sent(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);

	/* After an idle time a new send phase begins. */
	if (!tp->packets_out) {
		u64 now = net6_skb_us(skb);

		tp->first_tx_mstamp = now;
		tp->delivered_mstamp = now;
	}
	cb->tx.first_tx_mstamp = tp->first_tx_mstamp;
	cb->tx.delivered_mstamp = tp->delivered_mstamp;
	cb->tx.delivered = tp->delivered;
	cb->tx.delivered_ce = tp->delivered_ce;
	cb->tx.is_app_limited = !!tp->app_limited;
}

/**
 * net6_tcp_rate_delivered() - a segment was (s)acked: is it the latest one sent?
 * @sk: socket
 * @skb: segment
 * @rs: sample of this ACK, describes the latest sent among those delivered
 */
void net6_tcp_rate_delivered(struct sock *sk, struct sk_buff *skb, struct rate_sample *rs)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	u64 sent;

	if (!cb->tx.delivered_mstamp)
		return;
	sent = net6_skb_us(skb);
	if (!rs->prior_delivered ||
	    tcp_skb_sent_after(sent, tp->first_tx_mstamp, cb->end_seq, rs->last_end_seq)) {
		rs->prior_delivered = cb->tx.delivered;
		rs->prior_delivered_ce = cb->tx.delivered_ce;
		rs->prior_mstamp = cb->tx.delivered_mstamp;
		rs->is_app_limited = cb->tx.is_app_limited;
		rs->is_retrans = cb->sacked & TCPCB_RETRANS;
		rs->last_end_seq = cb->end_seq;
		rs->interval_us = tcp_stamp_us_delta(sent, cb->tx.first_tx_mstamp);
		tp->first_tx_mstamp = sent;
	}
	/* Sacked now, cumulatively acked later: count it once. */
	if (cb->sacked & TCPCB_SACKED_ACKED)
		cb->tx.delivered_mstamp = 0;
}

/**
 * net6_tcp_rate_gen() - finish the sample of an ACK
 * @sk: socket
 * @delivered: segments newly (s)acked
 * @lost: segments newly marked lost
 * @reneg: the scoreboard cannot be trusted
 * @rs: sample; delivered and interval_us are -1 if there is none
 */
void net6_tcp_rate_gen(struct sock *sk, u32 delivered, u32 lost, bool reneg,
		       struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 snd_us, ack_us;

	if (tp->app_limited && after(tp->delivered, tp->app_limited))
		tp->app_limited = 0;
	if (delivered)
		tp->delivered_mstamp = tp->tcp_mstamp;

	rs->acked_sacked = delivered;
	rs->losses = lost;
	if (!rs->prior_mstamp || reneg) {
		rs->delivered = -1;
		rs->interval_us = -1;
		return;
	}
	rs->delivered = tp->delivered - rs->prior_delivered;
	rs->delivered_ce = (tp->delivered_ce - rs->prior_delivered_ce) & TCPCB_DELIVERED_CE_MASK;

	snd_us = rs->interval_us;
	ack_us = tcp_stamp_us_delta(tp->tcp_mstamp, rs->prior_mstamp);
	rs->snd_interval_us = snd_us;
	rs->rcv_interval_us = ack_us;
	rs->interval_us = max(snd_us, ack_us);

	/* Shorter than any RTT: ACKs were compressed, the rate would be a fancy. */
	if (unlikely(rs->interval_us < tcp_min_rtt(tp))) {
		rs->interval_us = -1;
		return;
	}
	if (!rs->is_app_limited ||
	    (u64)rs->delivered * tp->rate_interval_us >=
	    (u64)tp->rate_delivered * rs->interval_us) {
		tp->rate_delivered = rs->delivered;
		tp->rate_interval_us = rs->interval_us;
		tp->rate_app_limited = rs->is_app_limited;
	}
}

/**
 * net6_tcp_pacing_rate() - cwnd per RTT with some room to grow
 * @sk: socket
 *
 * Sizes TSO packets and the small queue even when nothing is paced.
 */
void net6_tcp_pacing_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct net *net = sock_net(sk);
	u64 rate;

	rate = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);
	if (tcp_snd_cwnd(tp) < tp->snd_ssthresh / 2)
		rate *= READ_ONCE(net->ipv4.sysctl_tcp_pacing_ss_ratio);
	else
		rate *= READ_ONCE(net->ipv4.sysctl_tcp_pacing_ca_ratio);
	rate *= max(tcp_snd_cwnd(tp), tp->packets_out);
	if (likely(tp->srtt_us))
		do_div(rate, tp->srtt_us);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

/* Growth wants delivered data; with much reordering any progress counts, else the
 * window would stall in Disorder.
 */
static bool net6_tcp_may_raise_cwnd(const struct sock *sk, u32 flag)
{
	if (tcp_sk(sk)->reordering > READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering))
		return flag & ACK_FORWARD;
	return flag & ACK_DATA_ACKED;
}

/**
 * net6_tcp_cong_control() - cwnd and pacing after an ACK
 * @sk: socket
 * @ack: acknowledgment number
 * @acked_sacked: segments newly delivered
 * @flag: ACK_*
 * @rs: rate sample
 */
void net6_tcp_cong_control(struct sock *sk, u32 ack, u32 acked_sacked, u32 flag,
			   const struct rate_sample *rs)
{
	const struct tcp_congestion_ops *ca = net6_ca(sk);

	if (ca->cong_control) {
		net6_compat_cong_control(ca, sk, ack, flag, rs);
		return;
	}
	if (tcp_in_cwnd_reduction(sk)) {
		net6_tcp_reduce_cwnd(sk, acked_sacked, rs->losses, flag);
	} else if (net6_tcp_may_raise_cwnd(sk, flag)) {
		ca->cong_avoid(sk, ack, acked_sacked);
		tcp_sk(sk)->snd_cwnd_stamp = tcp_jiffies32;
	}
	net6_tcp_pacing_rate(sk);
}

/* The application did not fill the window for an RTO. The window that it used becomes the
 * measure, half-way.
 */
static void net6_tcp_cwnd_app_limited(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 used;

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Open &&
	    sk->sk_socket && !test_bit(SOCK_NOSPACE, &sk->sk_socket->flags)) {
		used = max(tp->snd_cwnd_used, net6_tcp_init_cwnd(sk));
		if (used < tcp_snd_cwnd(tp)) {
			tp->snd_ssthresh = tcp_current_ssthresh(sk);
			tcp_snd_cwnd_set(tp, (tcp_snd_cwnd(tp) + used) >> 1);
		}
		tp->snd_cwnd_used = 0;
	}
	tp->snd_cwnd_stamp = tcp_jiffies32;
}

/**
 * net6_tcp_cwnd_validate() - remember whether cwnd was the limit
 * @sk: socket; data was just sent, or cwnd stopped us
 * @limited: cwnd stopped us
 */
void net6_tcp_cwnd_validate(struct sock *sk, bool limited)
{
	struct tcp_sock *tp = tcp_sk(sk);

	/* The strongest signal of the current window of data counts. */
	if (!before(tp->snd_una, tp->cwnd_usage_seq) || limited ||
	    (!tp->is_cwnd_limited && tp->packets_out > tp->max_packets_out)) {
		tp->is_cwnd_limited = limited;
		tp->max_packets_out = tp->packets_out;
		tp->cwnd_usage_seq = tp->snd_nxt;
	}
	if (tcp_is_cwnd_limited(sk)) {
		tp->snd_cwnd_used = 0;
		tp->snd_cwnd_stamp = tcp_jiffies32;
		return;
	}
	if (tp->packets_out > tp->snd_cwnd_used)
		tp->snd_cwnd_used = tp->packets_out;
	if ((s32)(tcp_jiffies32 - tp->snd_cwnd_stamp) >= inet_csk(sk)->icsk_rto &&
	    READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle) &&
	    !net6_ca(sk)->cong_control)
		net6_tcp_cwnd_app_limited(sk);
}

/**
 * net6_tcp_cwnd_idle() - restart after an idle time, RFC 5681 4.1
 * @sk: socket that is about to send; nothing is done while data is outstanding
 *
 * cwnd halves for each RTO of idleness, not below the initial window.
 */
void net6_tcp_cwnd_idle(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	s32 idle = tcp_jiffies32 - tp->lsndtime;
	u32 rto = inet_csk(sk)->icsk_rto;
	u32 restart, cwnd;

	if (tp->packets_out || idle <= (s32)rto || net6_ca(sk)->cong_control ||
	    !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle))
		return;

	cwnd = tcp_snd_cwnd(tp);
	restart = min(net6_tcp_init_cwnd(sk), cwnd);
	net6_tcp_ca_event(sk, CA_EVENT_CWND_RESTART);
	tp->snd_ssthresh = tcp_current_ssthresh(sk);
	for (idle -= rto; idle > 0 && cwnd > restart; idle -= rto)
		cwnd >>= 1;
	tcp_snd_cwnd_set(tp, max(cwnd, restart));
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->snd_cwnd_used = 0;
}
