// SPDX-License-Identifier: GPL-2.0
/* Taking back a congestion response that was not deserved. All retransmissions turned out as
 * duplicates (DSACK, RFC 3708), or the ACK is older than the first retransmission (Eifel by
 * timestamps, RFC 3522), or F-RTO says so (RFC 5682).
 */
#include "engine.h"

/* Did the original arrive? Its echo is older than the first retransmission. */
static bool net6_tcp_original_acked(const struct tcp_sock *tp)
{
	return tp->retrans_stamp && net6_tcp_echo_before(tp, tp->retrans_stamp);
}

static bool net6_tcp_may_undo(const struct tcp_sock *tp)
{
	return tp->undo_marker && (!tp->undo_retrans || net6_tcp_original_acked(tp));
}

/**
 * net6_tcp_retrans_pending_stamp() - may the time of the first retransmission go?
 * @sk: socket
 *
 * Clears it when nothing that was retransmitted is outstanding.
 * Return: something is.
 */
bool net6_tcp_retrans_pending_stamp(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	if (tp->retrans_out)
		return true;
	skb = tcp_rtx_queue_head(sk);
	if (unlikely(skb && TCP_SKB_CB(skb)->sacked & TCPCB_EVER_RETRANS))
		return true;
	tp->retrans_stamp = 0;
	return false;
}

/* @unmark: what was marked lost is not. */
static void net6_tcp_undo_cwnd(struct sock *sk, bool unmark)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (unmark) {
		struct sk_buff *skb;

		skb_rbtree_walk(skb, &sk->tcp_rtx_queue)
			TCP_SKB_CB(skb)->sacked &= ~TCPCB_LOST;
		tp->lost_out = 0;
		tp->retransmit_skb_hint = NULL;
	}
	if (tp->prior_ssthresh) {
		tcp_snd_cwnd_set(tp, net6_ca(sk)->undo_cwnd(sk));
		if (tp->prior_ssthresh > tp->snd_ssthresh) {
			tp->snd_ssthresh = tp->prior_ssthresh;
			tp->ecn_flags &= ~TCP_ECN_QUEUE_CWR;
		}
	}
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->undo_marker = 0;
	tp->rack.advanced = 1;	/* look for losses again */
}

/**
 * net6_tcp_undo_recovery() - everything of the recovery is acknowledged
 * @sk: socket
 *
 * Return: true to stay in the state until one more byte is acknowledged. Without SACK, duplicate
 * ACKs of this episode would start another one (RFC 6582 4.1).
 */
bool net6_tcp_undo_recovery(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (net6_tcp_may_undo(tp)) {
		if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
			NET6_INC(net6_tcp_nn(sk), TcpSpuriousRTOs);
		net6_tcp_undo_cwnd(sk, false);
	} else if (tp->rack.reo_wnd_persist) {
		tp->rack.reo_wnd_persist--;
	}
	if (tp->snd_una == tp->high_seq && tcp_is_reno(tp)) {
		net6_tcp_retrans_pending_stamp(sk);
		return true;
	}
	net6_tcp_set_ca_state(sk, TCP_CA_Open);
	tp->is_sack_reneg = 0;
	return false;
}

/**
 * net6_tcp_undo_dsack() - every retransmission was reported as duplicate
 * @sk: socket
 *
 * Return: undone.
 */
bool net6_tcp_undo_dsack(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->undo_marker || tp->undo_retrans)
		return false;
	tp->rack.reo_wnd_persist = min_t(u32, TCP_RACK_RECOVERY_THRESH,
					 tp->rack.reo_wnd_persist + 1);
	net6_tcp_undo_cwnd(sk, false);
	return true;
}

/**
 * net6_tcp_undo_loss() - the RTO was spurious
 * @sk: socket
 * @frto: F-RTO found out; else look at DSACKs and timestamps
 *
 * Return: undone.
 */
bool net6_tcp_undo_loss(struct sock *sk, bool frto)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!frto && !net6_tcp_may_undo(tp))
		return false;
	net6_tcp_undo_cwnd(sk, true);
	NET6_INC(net6_tcp_nn(sk), TcpSpuriousRTOs);
	inet_csk(sk)->icsk_retransmits = 0;
	if (tcp_is_sack(tp) || frto) {
		net6_tcp_set_ca_state(sk, TCP_CA_Open);
		tp->is_sack_reneg = 0;
	}
	return true;
}

/**
 * net6_tcp_undo_partial() - a partial ACK that the retransmission did not cause
 * @sk: socket
 * @prior_una: snd_una before the ACK
 *
 * Return: nothing more to be done about this ACK.
 */
bool net6_tcp_undo_partial(struct sock *sk, u32 prior_una)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->undo_marker || !net6_tcp_original_acked(tp))
		return false;
	/* The hole was filled by reordering: learn how far. */
	net6_tcp_sack_reordering(sk, prior_una, true);
	/* Wait for the retransmissions that are still out before opening again. */
	if (tp->retrans_out)
		return true;
	net6_tcp_retrans_pending_stamp(sk);
	net6_tcp_undo_cwnd(sk, true);
	net6_tcp_keep_open(sk);
	return true;
}
