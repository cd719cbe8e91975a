// SPDX-License-Identifier: GPL-2.0
/* RACK loss detection, RFC 8985 section 6: a segment is lost when one sent later was
 * delivered and a reordering window has passed.
 */
#include "engine.h"

/**
 * net6_tcp_mark_lost() - a segment is lost (or its retransmission is)
 * @sk: socket
 * @skb: segment of the retransmission queue
 */
void net6_tcp_mark_lost(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	int segs = tcp_skb_pcount(skb);

	if (cb->sacked & TCPCB_SACKED_ACKED)
		return;
	/* Retransmission starts at the first lost segment. */
	if ((!tp->retransmit_skb_hint && tp->retrans_out >= tp->lost_out) ||
	    (tp->retransmit_skb_hint &&
	     before(cb->seq, TCP_SKB_CB(tp->retransmit_skb_hint)->seq)))
		tp->retransmit_skb_hint = skb;

	/* A retransmission of a segment was on its way. The segment is lost, or an undo had taken
	 * it for delivered. The retransmission is lost too.
	 */
	if (cb->sacked & TCPCB_SACKED_RETRANS) {
		cb->sacked &= ~TCPCB_SACKED_RETRANS;
		tp->retrans_out -= segs;
	} else if (cb->sacked & TCPCB_LOST) {
		return;
	}
	if (!(cb->sacked & TCPCB_LOST)) {
		cb->sacked |= TCPCB_LOST;
		tp->lost_out += segs;
	}
	tp->lost += segs;
}

static u32 net6_tcp_rack_window(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return net6_tcp_rack_reo_wnd(tp->reord_seen,
				     inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery,
				     tp->sacked_out, tp->reordering, tcp_min_rtt(tp),
				     tp->srtt_us, tp->rack.reo_wnd_steps);
}

/**
 * net6_tcp_rack_remaining() - how long until a segment counts as lost
 * @tp: socket
 * @skb: segment sent before the latest delivered one
 * @reo_wnd: reordering window, us
 *
 * Return: microseconds, 0 or less for lost.
 */
s32 net6_tcp_rack_remaining(const struct tcp_sock *tp, const struct sk_buff *skb, u32 reo_wnd)
{
	return tp->rack.rtt_us + reo_wnd - tcp_stamp_us_delta(tp->tcp_mstamp, net6_skb_us(skb));
}

/* RFC 8985 6.2 step 5. Returns when to look again, us, 0 for never. */
static u32 net6_tcp_rack_detect(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 reo_wnd = net6_tcp_rack_window(sk);
	struct sk_buff *skb, *next;
	u32 timeout = 0;
	s32 left;

	list_for_each_entry_safe(skb, next, &tp->tsorted_sent_queue, tcp_tsorted_anchor) {
		struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

		/* Known to be lost and not sent again. */
		if (cb->sacked & TCPCB_LOST && !(cb->sacked & TCPCB_SACKED_RETRANS))
			continue;
		/* Sorted by time: from here on nothing was overtaken. */
		if (!tcp_skb_sent_after(tp->rack.mstamp, net6_skb_us(skb),
					tp->rack.end_seq, cb->end_seq))
			break;
		left = net6_tcp_rack_remaining(tp, skb, reo_wnd);
		if (left <= 0) {
			net6_tcp_mark_lost(sk, skb);
			list_del_init(&skb->tcp_tsorted_anchor);
		} else {
			timeout = max_t(u32, left, timeout);
		}
	}
	return timeout;
}

/**
 * net6_tcp_rack_mark_lost() - look for losses after an ACK
 * @sk: socket
 *
 * Return: the reordering timer was armed in place of the RTO.
 */
bool net6_tcp_rack_mark_lost(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 timeout;

	if (!tp->rack.advanced)
		return false;
	tp->rack.advanced = 0;
	timeout = net6_tcp_rack_detect(sk);
	if (!timeout)
		return false;
	timeout = usecs_to_jiffies(timeout + TCP_TIMEOUT_MIN_US);
	net6_tcp_arm(sk, ICSK_TIME_REO_TIMEOUT,
		     min_t(u32, timeout, inet_csk(sk)->icsk_rto));
	return true;
}

/**
 * net6_tcp_rack_advance() - a segment was delivered, RFC 8985 6.2 steps 1 and 2
 * @tp: socket
 * @sacked: its state before
 * @end_seq: its end
 * @sent_us: when it was last sent
 */
void net6_tcp_rack_advance(struct tcp_sock *tp, u8 sacked, u32 end_seq, u64 sent_us)
{
	u32 rtt = tcp_stamp_us_delta(tp->tcp_mstamp, sent_us);

	/* Faster than any RTT: the ACK is for the original, not the retransmission. The caller
	 * has looked at what timestamps say about that.
	 */
	if (rtt < tcp_min_rtt(tp) && sacked & TCPCB_RETRANS)
		return;
	tp->rack.advanced = 1;
	tp->rack.rtt_us = rtt;
	if (tcp_skb_sent_after(sent_us, tp->rack.mstamp, end_seq, tp->rack.end_seq)) {
		tp->rack.mstamp = sent_us;
		tp->rack.end_seq = end_seq;
	}
}

/**
 * net6_tcp_rack_timeout() - the reordering timer fired, RFC 8985 6.3
 * @sk: socket
 */
void net6_tcp_rack_timeout(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 in_flight = tcp_packets_in_flight(tp);
	u32 lost = tp->lost;
	u32 timeout;

	timeout = net6_tcp_rack_detect(sk);
	if (in_flight != tcp_packets_in_flight(tp)) {
		if (icsk->icsk_ca_state != TCP_CA_Recovery &&
		    icsk->icsk_ca_state != TCP_CA_Loss) {
			net6_tcp_enter_recovery(sk, false);
			if (!net6_ca(sk)->cong_control)
				net6_tcp_reduce_cwnd(sk, 1, tp->lost - lost, 0);
		}
		net6_tcp_retransmit_queue(sk);
	}
	if (timeout) {
		timeout = usecs_to_jiffies(timeout + TCP_TIMEOUT_MIN_US);
		net6_tcp_arm(sk, ICSK_TIME_REO_TIMEOUT, min_t(u32, timeout, icsk->icsk_rto));
	} else if (icsk->icsk_pending != ICSK_TIME_RETRANS) {
		net6_tcp_rearm_rto(sk);
	}
}

/**
 * net6_tcp_rack_update_reo_wnd() - adapt to DSACKs, RFC 8985 6.2 step 4
 * @sk: socket
 * @rs: sample of this ACK
 *
 * A DSACK in a round trip widens the window by a quarter of the minimum RTT; 16
 * recoveries without one reset it.
 */
void net6_tcp_rack_update_reo_wnd(struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_recovery) & TCP_RACK_STATIC_REO_WND ||
	    !rs->prior_delivered)
		return;
	/* Once a round trip. */
	if (before(rs->prior_delivered, tp->rack.last_delivered))
		tp->rack.dsack_seen = 0;
	if (tp->rack.dsack_seen) {
		tp->rack.reo_wnd_steps = min_t(u32, 0xff, tp->rack.reo_wnd_steps + 1);
		tp->rack.dsack_seen = 0;
		tp->rack.last_delivered = tp->delivered;
		tp->rack.reo_wnd_persist = TCP_RACK_RECOVERY_THRESH;
	} else if (!tp->rack.reo_wnd_persist) {
		tp->rack.reo_wnd_steps = 1;
	}
}
