// SPDX-License-Identifier: GPL-2.0
/* Sending again: one packet, or what is marked lost as cwnd allows. Tail loss probes (RFC 8985
 * section 7) and the timer that stands behind it all (RFC 6298 section 5) are here, too.
 */
#include "engine.h"
#include "../conn/fastopen.h"
#include "../conn/md5.h"
#include "../lsm_ops.h"

/* A clone of it has not left this host yet: sending again helps nobody. */
static bool net6_tcp_in_host_queue(struct sock *sk, const struct sk_buff *skb)
{
	if (unlikely(skb_fclone_busy(sk, skb))) {
		set_bit(TSQ_THROTTLED, &sk->sk_tsq_flags);
		/* A completion between the test and the bit would not see the bit. */
		smp_mb__after_atomic();
		return skb_fclone_busy(sk, skb);
	}
	return false;
}

/* RFC 3168 6.1.1.1: a SYN that is lost may be a victim of its ECN bits. */
static void net6_tcp_ecn_clear_syn(struct sock *sk, struct sk_buff *skb)
{
	if (READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_ecn_fallback) && !tcp_ca_needs_ecn(sk)) {
		TCP_SKB_CB(skb)->tcp_flags &= ~(TCPHDR_ECE | TCPHDR_CWR);
		tcp_sk(sk)->ecn_flags = 0;
	}
}

/* Cut to what may be sent, drop what is acknowledged. Returns 0 or -errno. */
static int net6_tcp_retransmit_prepare(struct sock *sk, struct sk_buff *skb, int segs,
				       unsigned int mss)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	int err, diff, len, room;

	if (before(cb->seq, tp->snd_una)) {
		if (cb->tcp_flags & TCPHDR_SYN) {
			cb->tcp_flags &= ~TCPHDR_SYN;
			cb->seq++;
		} else {
			if (unlikely(!before(tp->snd_una, cb->end_seq)))
				return -EINVAL;
			/* Left by an ACK that had no memory to cut it. Of data and FIN the FIN
			 * alone may be left.
			 */
			diff = tcp_skb_pcount(skb);
			err = net6_tcp_trim_head(sk, skb, tp->snd_una - cb->seq);
			if (err)
				return err;
			diff -= tcp_skb_pcount(skb);
			if (diff)
				net6_tcp_adjust_pcount(sk, skb, diff);
		}
	}
	/* The peer shrank its window: only the first segment goes, as a probe. */
	room = tcp_wnd_end(tp) - cb->seq;
	if (room <= 0) {
		if (cb->seq != tp->snd_una)
			return -EAGAIN;
		room = mss;
	}
	len = mss * segs;
	if (len > room)
		len = room < (int)mss ? room : rounddown(room, mss);
	if ((int)skb->len > len) {
		err = net6_tcp_fragment(sk, true, skb, len, mss, GFP_ATOMIC);
		if (err)
			return -ENOMEM;
	} else {
		diff = tcp_skb_pcount(skb);
		net6_tcp_set_segs(skb, mss);
		diff -= tcp_skb_pcount(skb);
		if (diff)
			net6_tcp_adjust_pcount(sk, skb, diff);
	}
	if ((cb->tcp_flags & TCPHDR_SYN_ECN) == TCPHDR_SYN_ECN)
		net6_tcp_ecn_clear_syn(sk, skb);
	return 0;
}

/* Sends, without the scoreboard's knowledge. */
static int net6_tcp_retransmit_raw(struct sock *sk, struct sk_buff *skb, int segs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct net6_dest *dest;
	int err, sent;

	if (net6_tcp_in_host_queue(sk, skb))
		return -EBUSY;
	/* First the way, then the segment size: another way may have another one. */
	dest = net6_sk_dest(sk);
	if (IS_ERR(dest))
		return PTR_ERR(dest);
	err = net6_tcp_retransmit_prepare(sk, skb, segs, net6_tcp_current_mss(sk));
	if (err)
		return err;
	sent = tcp_skb_pcount(skb);
	NET6_ADD(net6_tcp_nn(sk), TcpRetransSegs, sent);
	tp->total_retrans += sent;
	tp->bytes_retrans += skb->len;
	err = net6_tcp_transmit(sk, skb, true, GFP_ATOMIC);
	/* Ever sent twice, even if this time it got nowhere (Karn). */
	TCP_SKB_CB(skb)->sacked |= TCPCB_EVER_RETRANS;
	if (net6_tcp_ops_want(sk, BPF_SOCK_OPS_RETRANS_CB_FLAG))
		net6_tcp_ops_call(sk, BPF_SOCK_OPS_RETRANS_CB, TCP_SKB_CB(skb)->seq, sent, err);
	return err;
}

/**
 * net6_tcp_retransmit_skb() - send a packet of the retransmission queue again
 * @sk: socket
 * @skb: packet
 * @segs: at most so many segments of it
 *
 * Return: 0, or negative when nothing was sent.
 */
int net6_tcp_retransmit_skb(struct sock *sk, struct sk_buff *skb, int segs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	int err = net6_tcp_retransmit_raw(sk, skb, segs);

	if (!err) {
		TCP_SKB_CB(skb)->sacked |= TCPCB_SACKED_RETRANS | TCPCB_EVER_RETRANS;
		tp->retrans_out += tcp_skb_pcount(skb);
	}
	if (!tp->retrans_stamp)
		tp->retrans_stamp = net6_compat_tcp_skb_timestamp(skb);
	if (tp->undo_retrans < 0)
		tp->undo_retrans = 0;
	tp->undo_retrans += tcp_skb_pcount(skb);
	return err;
}

/**
 * net6_tcp_retransmit_queue() - send what is marked lost, as far as cwnd allows
 * @sk: socket
 */
void net6_tcp_retransmit_queue(struct sock *sk)
{
	struct sk_buff *skb, *hole = NULL, *head = tcp_rtx_queue_head(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool rearm = false;
	u32 max_segs;

	if (!tp->packets_out || tp->lost_out <= 0)
		return;
	max_segs = max_t(u32, sk->sk_gso_max_size / max(tp->mss_cache, 1U), 1);
	if (unlikely(net6_tcp_md5_has(sk)))
		max_segs = 1;
	for (skb = tp->retransmit_skb_hint ?: head; skb; skb = skb_rb_next(skb)) {
		u8 sacked = TCP_SKB_CB(skb)->sacked;
		int segs;

		if (sk->sk_pacing_status == SK_PACING_NEEDED && net6_tcp_pacing_check(sk))
			break;
		/* Go on from here next time. */
		if (!hole)
			tp->retransmit_skb_hint = skb;
		segs = (int)tcp_snd_cwnd(tp) - (int)tcp_packets_in_flight(tp);
		if (segs <= 0)
			break;
		if (tp->retrans_out >= tp->lost_out)
			break;
		if (!(sacked & TCPCB_LOST)) {
			if (!hole && !(sacked & (TCPCB_SACKED_RETRANS | TCPCB_SACKED_ACKED)))
				hole = skb;
			continue;
		}
		if (sacked & (TCPCB_SACKED_ACKED | TCPCB_SACKED_RETRANS))
			continue;
		if (net6_tcp_retransmit_skb(sk, skb, min_t(u32, segs, max_segs)))
			break;
		if (inet_csk(sk)->icsk_ca_state != TCP_CA_Loss)
			NET6_INC(net6_tcp_nn(sk), TcpFastRetrans);
		else
			NET6_INC(net6_tcp_nn(sk), TcpSlowStartRetrans);
		if (tcp_in_cwnd_reduction(sk))
			tp->prr_out += tcp_skb_pcount(skb);
		if (skb == head && inet_csk(sk)->icsk_pending != ICSK_TIME_REO_TIMEOUT)
			rearm = true;
	}
	if (rearm)
		net6_tcp_arm(sk, ICSK_TIME_RETRANS,
			     inet_csk(sk)->icsk_rto + tcp_pacing_delay(sk));
}

/**
 * net6_tcp_rearm_rto() - RFC 6298 5.2 and 5.3
 * @sk: socket
 *
 * Off when nothing is outstanding, else from now. A probe or reordering timer that stood in its
 * place had already used up part of the time.
 */
void net6_tcp_rearm_rto(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	unsigned long rto = icsk->icsk_rto;

	if (!tcp_sk(sk)->packets_out) {
		net6_tcp_disarm(sk);
		return;
	}
	if (icsk->icsk_pending == ICSK_TIME_REO_TIMEOUT ||
	    icsk->icsk_pending == ICSK_TIME_LOSS_PROBE) {
		s64 left = tcp_rto_delta_us(sk);

		rto = usecs_to_jiffies(max_t(s64, left, 1));
	}
	net6_tcp_arm(sk, ICSK_TIME_RETRANS, rto + tcp_pacing_delay(sk));
}

/**
 * net6_tcp_schedule_tlp() - RFC 8985 7.2: a probe timer before the RTO
 * @sk: socket
 * @advancing_rto: the RTO would be armed from now on
 *
 * Return: armed; otherwise the RTO is the caller's business.
 */
bool net6_tcp_schedule_tlp(struct sock *sk, bool advancing_rto)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 timeout;
	s64 rto_us;
	u8 mode;

	mode = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_early_retrans);
	if ((mode != 3 && mode != 4) || !tp->packets_out || !tcp_is_sack(tp) ||
	    (icsk->icsk_ca_state != TCP_CA_Open && icsk->icsk_ca_state != TCP_CA_CWR))
		return false;

	/* Two RTTs; with one segment out the peer may delay its ACK. */
	if (tp->srtt_us) {
		timeout = usecs_to_jiffies(tp->srtt_us >> 2);
		timeout += tp->packets_out == 1 ? tcp_rto_min(sk) : TCP_TIMEOUT_MIN;
	} else {
		/* It would not be the SYN-ACK, without which all else is in vain. */
		if (unlikely(net6_tcp_fastopen_pending(sk)))
			return false;
		timeout = TCP_TIMEOUT_INIT;
	}
	/* The only segment has just been sent: its RTO begins now, too. */
	if (advancing_rto || tp->packets_out == 1) {
		timeout = min(timeout, icsk->icsk_rto);
	} else {
		rto_us = tcp_rto_delta_us(sk);
		if (rto_us > 0)
			timeout = min_t(u32, timeout, usecs_to_jiffies(rto_us));
	}
	net6_tcp_arm(sk, ICSK_TIME_LOSS_PROBE, timeout + tcp_pacing_delay(sk));
	return true;
}

/**
 * net6_tcp_send_tlp() - the probe timer fired, RFC 8985 7.3
 * @sk: socket
 *
 * New data if there is any, else the last segment again; one probe at a time.
 */
void net6_tcp_send_tlp(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int mss = net6_tcp_current_mss(sk);
	struct sk_buff *skb;
	u32 before_out;
	int segs;

	if (tp->tlp_high_seq)
		goto rearm;
	tp->tlp_retrans = 0;
	skb = tcp_send_head(sk);
	if (skb && net6_tcp_fits_window(tp, skb, mss)) {
		before_out = tp->packets_out;
		net6_tcp_write_xmit(sk, mss, TCP_NAGLE_OFF, 2, GFP_ATOMIC);
		if (tp->packets_out > before_out)
			goto sent;
		goto rearm;
	}
	skb = tcp_rtx_queue_tail(sk);
	if (unlikely(!skb)) {
		net6_tcp_disarm(sk);
		return;
	}
	if (net6_tcp_in_host_queue(sk, skb))
		goto rearm;
	segs = tcp_skb_pcount(skb);
	if (segs > 1 && skb->len > (segs - 1) * mss) {
		if (net6_tcp_fragment(sk, true, skb, (segs - 1) * mss, mss, GFP_ATOMIC))
			goto rearm;
		skb = skb_rb_next(skb);
	}
	if (!skb || net6_tcp_retransmit_raw(sk, skb, 1))
		goto rearm;
	tp->tlp_retrans = 1;
sent:
	tp->tlp_high_seq = tp->snd_nxt;
	NET6_INC(net6_tcp_nn(sk), TcpLossProbes);
	net6_tcp_disarm(sk);
rearm:
	net6_tcp_rearm_rto(sk);
}

/**
 * net6_tcp_tlp_ack() - what became of the probe, RFC 8985 7.4
 * @sk: socket
 * @ack: acknowledgment number
 * @flag: ACK_*
 *
 * If the retransmitted tail repaired a loss, that loss costs a reduction of cwnd.
 */
void net6_tcp_tlp_ack(struct sock *sk, u32 ack, u32 flag)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (before(ack, tp->tlp_high_seq))
		return;
	if (!tp->tlp_retrans) {
		tp->tlp_high_seq = 0;
	} else if (flag & ACK_DSACK_TLP) {
		tp->tlp_high_seq = 0;		/* both copies arrived */
	} else if (after(ack, tp->tlp_high_seq)) {
		net6_tcp_init_reduction(sk);
		net6_tcp_set_ca_state(sk, TCP_CA_CWR);
		net6_tcp_end_reduction(sk);
		net6_tcp_keep_open(sk);
	} else if (!(flag & (ACK_UNA_ADVANCED | ACK_NOT_DUP | ACK_DATA_SACKED))) {
		tp->tlp_high_seq = 0;		/* a duplicate ACK for the second copy */
	}
}
