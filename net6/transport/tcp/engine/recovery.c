// SPDX-License-Identifier: GPL-2.0
/* Loss recovery: the states Open, Disorder, CWR, Recovery and Loss. Here is what an ACK does in
 * each (RFC 5681, 6582, 6675, 5682), and cwnd on the way down by PRR (RFC 6937). Which segments
 * are lost is RACK's business (rack.c); without SACK, duplicate ACKs stand for sacked segments.
 */
#include "engine.h"

/* ---- without SACK ---- */

/**
 * net6_tcp_reno_reset() - forget emulated SACKs
 * @tp: socket
 */
void net6_tcp_reno_reset(struct tcp_sock *tp)
{
	tp->sacked_out = 0;
}

/* Lost segments have not arrived: no more can have than the others. True if more were counted. */
static bool net6_tcp_reno_limit(struct tcp_sock *tp)
{
	u32 holes = max(tp->lost_out, 1U);

	holes = min(holes, tp->packets_out);
	if (tp->sacked_out + holes <= tp->packets_out)
		return false;
	tp->sacked_out = tp->packets_out - holes;
	return true;
}

/* More segments have left than were sent: that was reordering. */
static void net6_tcp_reno_reordering(struct sock *sk, int addend)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!net6_tcp_reno_limit(tp))
		return;
	tp->reordering = min_t(u32, tp->packets_out + addend,
			       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_max_reordering));
	tp->reord_seen++;
}

/**
 * net6_tcp_reno_add() - duplicate ACKs: so many segments have left the network
 * @sk: socket
 * @dupacks: how many
 * @ece: with ECN echo
 */
void net6_tcp_reno_add(struct sock *sk, int dupacks, bool ece)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 prior = tp->sacked_out;

	if (!dupacks)
		return;
	tp->sacked_out += dupacks;
	net6_tcp_reno_reordering(sk, 0);
	if ((s32)(tp->sacked_out - prior) > 0)
		net6_tcp_delivered(tp, tp->sacked_out - prior, ece);
}

/**
 * net6_tcp_reno_remove() - an ACK covers so many segments
 * @sk: socket
 * @acked: segments; one is the retransmitted hole, the others were counted before
 * @ece: with ECN echo
 */
void net6_tcp_reno_remove(struct sock *sk, int acked, bool ece)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (acked > 0) {
		net6_tcp_delivered(tp, max_t(int, acked - tp->sacked_out, 1), ece);
		if (acked - 1 >= tp->sacked_out)
			tp->sacked_out = 0;
		else
			tp->sacked_out -= acked - 1;
	}
	net6_tcp_reno_reordering(sk, acked);
}

/* RFC 6582: the third duplicate starts recovery, a partial ACK continues it; in both
 * cases the first outstanding segment is lost.
 */
static void net6_tcp_newreno_mark(struct sock *sk, bool advanced)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;
	struct sk_buff *skb;
	u32 mss;

	if (!((state < TCP_CA_Recovery && tp->sacked_out >= tp->reordering) ||
	      (state == TCP_CA_Recovery && advanced)))
		return;
	skb = tcp_rtx_queue_head(sk);
	if (TCP_SKB_CB(skb)->sacked & TCPCB_LOST)
		return;
	mss = tcp_skb_mss(skb);
	/* All of it would be more than what is not emulated as sacked: leave it to the RTO. */
	if (tcp_skb_pcount(skb) > 1 && skb->len > mss &&
	    net6_tcp_fragment(sk, true, skb, mss, mss, GFP_ATOMIC))
		return;
	net6_tcp_mark_lost(sk, skb);
	net6_tcp_reno_limit(tp);
}

/* ---- the way down ---- */

/**
 * net6_tcp_init_reduction() - begin a reduction of cwnd
 * @sk: socket
 */
void net6_tcp_init_reduction(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->high_seq = tp->snd_nxt;
	tp->tlp_high_seq = 0;
	tp->snd_cwnd_cnt = 0;
	tp->prior_cwnd = tcp_snd_cwnd(tp);
	tp->prr_delivered = 0;
	tp->prr_out = 0;
	tp->snd_ssthresh = net6_ca(sk)->ssthresh(sk);
	net6_tcp_ecn_queue_cwr(tp);
}

/**
 * net6_tcp_reduce_cwnd() - PRR's step for one ACK
 * @sk: socket in CWR or Recovery
 * @newly: segments newly delivered
 * @lost: segments newly lost
 * @flag: ACK_*
 */
void net6_tcp_reduce_cwnd(struct sock *sk, int newly, int lost, u32 flag)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 in_flight = tcp_packets_in_flight(tp);
	s32 count;

	if (newly <= 0 || WARN_ON_ONCE(!tp->prior_cwnd))
		return;
	tp->prr_delivered += newly;
	count = net6_tcp_prr(in_flight, tp->snd_ssthresh, tp->prior_cwnd, tp->prr_delivered,
			     tp->prr_out, newly, flag & ACK_UNA_ADVANCED && !lost);
	tcp_snd_cwnd_set(tp, in_flight + count);
}

/**
 * net6_tcp_end_reduction() - cwnd becomes what was aimed at
 * @sk: socket
 */
void net6_tcp_end_reduction(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (net6_ca(sk)->cong_control)
		return;
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH &&
	    (inet_csk(sk)->icsk_ca_state == TCP_CA_CWR || tp->undo_marker)) {
		tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
		tp->snd_cwnd_stamp = tcp_jiffies32;
	}
	net6_tcp_ca_event(sk, CA_EVENT_COMPLETE_CWR);
}

/**
 * net6_tcp_enter_cwr() - reduce without a loss: ECN echo or a full local queue
 * @sk: socket
 */
void net6_tcp_enter_cwr(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->prior_ssthresh = 0;
	if (inet_csk(sk)->icsk_ca_state < TCP_CA_CWR) {
		tp->undo_marker = 0;
		net6_tcp_init_reduction(sk);
		net6_tcp_set_ca_state(sk, TCP_CA_CWR);
	}
}

static void net6_tcp_init_undo(struct tcp_sock *tp)
{
	tp->undo_marker = tp->snd_una;
	/* Retransmissions still out may come back as DSACKs later. */
	tp->undo_retrans = tp->retrans_out;
	if (tp->tlp_high_seq && tp->tlp_retrans)
		tp->undo_retrans++;
	if (!tp->undo_retrans)
		tp->undo_retrans = -1;
}

/**
 * net6_tcp_enter_recovery() - a loss was found
 * @sk: socket
 * @ece: together with an ECN echo: not to be undone
 */
void net6_tcp_enter_recovery(struct sock *sk, bool ece)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->prior_ssthresh = 0;
	/* The first retransmission of this episode sets it. */
	net6_tcp_retrans_pending_stamp(sk);
	net6_tcp_init_undo(tp);
	if (!tcp_in_cwnd_reduction(sk)) {
		if (!ece)
			tp->prior_ssthresh = tcp_current_ssthresh(sk);
		net6_tcp_init_reduction(sk);
	}
	net6_tcp_set_ca_state(sk, TCP_CA_Recovery);
}

/* ---- RTO ---- */

/* Which segments the time-out condemns: all, but with RACK those sent recently may
 * yet arrive. A sacked head means that the peer reneged: SACKs are void.
 */
static void net6_tcp_timeout_mark(struct sock *sk)
{
	struct sk_buff *skb, *head = tcp_rtx_queue_head(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool reneg;

	reneg = head && TCP_SKB_CB(head)->sacked & TCPCB_SACKED_ACKED;
	if (reneg) {
		NET6_INC(net6_tcp_nn(sk), TcpSACKReneging);
		tp->sacked_out = 0;
		tp->is_sack_reneg = 1;
	} else if (tcp_is_reno(tp)) {
		net6_tcp_reno_reset(tp);
	}
	for (skb = head; skb; skb = skb_rb_next(skb)) {
		if (reneg)
			TCP_SKB_CB(skb)->sacked &= ~TCPCB_SACKED_ACKED;
		else if (tcp_is_sack(tp) && skb != head &&
			 net6_tcp_rack_remaining(tp, skb, 0) > 0)
			continue;
		net6_tcp_mark_lost(sk, skb);
	}
	tp->retransmit_skb_hint = NULL;
}

/**
 * net6_tcp_enter_loss() - the retransmission timer fired, RFC 5681 3.1 eq. 4
 * @sk: socket
 */
void net6_tcp_enter_loss(struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool fresh = icsk->icsk_ca_state < TCP_CA_Recovery;
	u32 reordering;

	if (unlikely(icsk->icsk_mtup.probe_size))
		net6_tcp_mtup_lost(sk, true);
	net6_tcp_timeout_mark(sk);

	/* Reduce ssthresh once per window of data. */
	if (icsk->icsk_ca_state <= TCP_CA_Disorder || !after(tp->high_seq, tp->snd_una) ||
	    (icsk->icsk_ca_state == TCP_CA_Loss && !icsk->icsk_retransmits)) {
		tp->prior_ssthresh = tcp_current_ssthresh(sk);
		tp->prior_cwnd = tcp_snd_cwnd(tp);
		tp->snd_ssthresh = net6_ca(sk)->ssthresh(sk);
		net6_tcp_ca_event(sk, CA_EVENT_LOSS);
		net6_tcp_init_undo(tp);
	}
	tcp_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + 1);
	tp->snd_cwnd_cnt = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;

	/* So many duplicates and yet no recovery: the reordering guess was too high. */
	reordering = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering);
	if (icsk->icsk_ca_state <= TCP_CA_Disorder && tp->sacked_out >= reordering)
		tp->reordering = min_t(u32, tp->reordering, reordering);
	net6_tcp_set_ca_state(sk, TCP_CA_Loss);
	tp->high_seq = tp->snd_nxt;
	tp->tlp_high_seq = 0;
	net6_tcp_ecn_queue_cwr(tp);

	/* RFC 5682 step 1: on the first RTO, or one after progress was made. */
	tp->frto = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_frto) &&
		   (fresh || icsk->icsk_retransmits);
}

/* The lost packets were too long, which is no sign of congestion: the window is kept, and nothing
 * is to be undone.
 */
static void net6_tcp_no_congestion(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		return;
	tp->high_seq = tp->snd_nxt;
	tp->snd_ssthresh = tcp_current_ssthresh(sk);
	tp->prior_ssthresh = 0;
	tp->undo_marker = 0;
	net6_tcp_set_ca_state(sk, TCP_CA_Loss);
}

/**
 * net6_tcp_simple_retransmit() - segments too long for the path go out again
 * @sk: socket; mss_cache was lowered
 */
void net6_tcp_simple_retransmit(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int mss = tp->mss_cache;
	struct sk_buff *skb;
	u32 prior_lost = tp->lost;

	skb_rbtree_walk(skb, &sk->tcp_rtx_queue) {
		unsigned int sent_mss = tcp_skb_pcount(skb) > 1 ? tcp_skb_mss(skb) : skb->len;

		if (sent_mss > mss)
			net6_tcp_mark_lost(sk, skb);
	}
	if (prior_lost == tp->lost)
		return;
	if (tcp_is_reno(tp))
		net6_tcp_reno_limit(tp);
	net6_tcp_no_congestion(sk);
	net6_tcp_clock(tp);
	net6_tcp_retransmit_queue(sk);
}

/* ---- an ACK that is not all well ---- */

/**
 * net6_tcp_keep_open() - Open, or Disorder while something is amiss
 * @sk: socket
 */
void net6_tcp_keep_open(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u8 state = TCP_CA_Open;

	if (tcp_left_out(tp) || net6_tcp_retrans_pending_stamp(sk))
		state = TCP_CA_Disorder;
	if (inet_csk(sk)->icsk_ca_state != state) {
		net6_tcp_set_ca_state(sk, state);
		tp->high_seq = tp->snd_nxt;
	}
}

static void net6_tcp_try_to_open(struct sock *sk, u32 flag)
{
	net6_tcp_retrans_pending_stamp(sk);
	if (flag & ACK_ECE)
		net6_tcp_enter_cwr(sk);
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_CWR)
		net6_tcp_keep_open(sk);
}

static void net6_tcp_identify_loss(struct sock *sk, struct net6_tcp_ack_state *st)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tcp_rtx_queue_empty(sk))
		return;
	if (unlikely(tcp_is_reno(tp))) {
		net6_tcp_newreno_mark(sk, st->flag & ACK_UNA_ADVANCED);
	} else {
		u32 prior = tp->retrans_out;

		if (net6_tcp_rack_mark_lost(sk))
			st->flag &= ~ACK_SET_TIMER;
		if (prior > tp->retrans_out)
			st->flag |= ACK_LOST_RETRANS;
	}
}

/* In Loss after an RTO; F-RTO (RFC 5682) decides whether it was spurious. */
static void net6_tcp_process_loss(struct sock *sk, const struct net6_tcp_ack_state *st, int dupacks,
				  enum net6_tcp_rexmit *rexmit)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool recovered = !before(tp->snd_una, tp->high_seq);
	u32 flag = st->flag;

	if (flag & ACK_UNA_ADVANCED && net6_tcp_undo_loss(sk, false))
		return;
	if (tp->frto) {
		/* Step 3.b: something that was sent once only has arrived. */
		if (flag & ACK_ORIG_SACKED && net6_tcp_undo_loss(sk, true))
			return;
		if (after(tp->snd_nxt, tp->high_seq)) {
			if (flag & ACK_DATA_SACKED || dupacks)
				tp->frto = 0;	/* step 3.a: the loss was real */
		} else if (flag & ACK_UNA_ADVANCED && !recovered) {
			tp->high_seq = tp->snd_nxt;
			/* Step 2.b: new data, if there is any and room for it. */
			if (!tcp_write_queue_empty(sk) && after(tcp_wnd_end(tp), tp->snd_nxt)) {
				*rexmit = NET6_REXMIT_NEW;
				return;
			}
			tp->frto = 0;
		}
	}
	if (recovered) {
		net6_tcp_undo_recovery(sk);
		return;
	}
	if (tcp_is_reno(tp)) {
		if (after(tp->snd_nxt, tp->high_seq) && dupacks)
			net6_tcp_reno_add(sk, dupacks, flag & ACK_ECE);
		else if (flag & ACK_UNA_ADVANCED)
			net6_tcp_reno_reset(tp);
	}
	*rexmit = NET6_REXMIT_LOST;
}

/* high_seq is acknowledged: the episode ends. Returns true if the state is kept. */
static bool net6_tcp_episode_over(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	switch (inet_csk(sk)->icsk_ca_state) {
	case TCP_CA_CWR:
		/* Wait for the ACK above high_seq that shows CWR got through. */
		if (tp->snd_una != tp->high_seq) {
			net6_tcp_end_reduction(sk);
			net6_tcp_set_ca_state(sk, TCP_CA_Open);
		}
		break;
	case TCP_CA_Recovery:
		if (tcp_is_reno(tp))
			net6_tcp_reno_reset(tp);
		if (net6_tcp_undo_recovery(sk))
			return true;
		net6_tcp_end_reduction(sk);
		break;
	}
	return false;
}

/* The head of the queue is sacked: the peer reneged, or a middlebox plays with us.
 * Wait half an RTT for the cumulative ACK, then let the RTO sort it out.
 */
static bool net6_tcp_reneging(struct sock *sk, struct net6_tcp_ack_state *st)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned long delay;

	if (!(st->flag & ACK_RENEGING) || !(st->flag & ACK_UNA_ADVANCED))
		return false;
	delay = max(usecs_to_jiffies(tp->srtt_us >> 4), msecs_to_jiffies(10));
	net6_tcp_arm(sk, ICSK_TIME_RETRANS, delay);
	st->flag &= ~ACK_SET_TIMER;
	return true;
}

/* In Recovery. Returns true when done with this ACK. */
static bool net6_tcp_process_recovery(struct sock *sk, struct net6_tcp_ack_state *st, int dupacks)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!(st->flag & ACK_UNA_ADVANCED)) {
		if (tcp_is_reno(tp))
			net6_tcp_reno_add(sk, dupacks, st->flag & ACK_ECE);
	} else if (net6_tcp_undo_partial(sk, st->prior_una)) {
		return true;
	}
	if (net6_tcp_undo_dsack(sk))
		net6_tcp_keep_open(sk);
	net6_tcp_identify_loss(sk, st);
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery) {
		/* Undone, but a loss is evident all the same. */
		if (!tp->lost_out)
			return true;
		net6_tcp_enter_recovery(sk, st->flag & ACK_ECE);
	}
	return false;
}

/**
 * net6_tcp_alert() - an ACK that is a duplicate, carries SACK or ECE, or comes while
 * not all is well
 * @sk: socket
 * @st: the ACK; its flag may lose ACK_SET_TIMER
 * @dupacks: duplicate ACKs it stands for
 * @rexmit: filled in: what to send afterwards
 */
void net6_tcp_alert(struct sock *sk, struct net6_tcp_ack_state *st, int dupacks,
		    enum net6_tcp_rexmit *rexmit)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->packets_out && tp->sacked_out)
		tp->sacked_out = 0;
	/* ECE: this reduction is not to be undone. */
	if (st->flag & ACK_ECE)
		tp->prior_ssthresh = 0;
	if (net6_tcp_reneging(sk, st))
		return;
	WARN_ON_ONCE(tcp_left_out(tp) > tp->packets_out);

	if (icsk->icsk_ca_state == TCP_CA_Open)
		tp->retrans_stamp = 0;
	else if (!before(tp->snd_una, tp->high_seq) && net6_tcp_episode_over(sk))
		return;

	switch (icsk->icsk_ca_state) {
	case TCP_CA_Recovery:
		if (net6_tcp_process_recovery(sk, st, dupacks))
			return;
		break;
	case TCP_CA_Loss:
		net6_tcp_process_loss(sk, st, dupacks, rexmit);
		net6_tcp_identify_loss(sk, st);
		if (icsk->icsk_ca_state != TCP_CA_Open && !(st->flag & ACK_LOST_RETRANS))
			return;
		fallthrough;	/* undone, or retransmissions were lost again */
	default:
		if (tcp_is_reno(tp)) {
			if (st->flag & ACK_UNA_ADVANCED)
				net6_tcp_reno_reset(tp);
			net6_tcp_reno_add(sk, dupacks, st->flag & ACK_ECE);
		}
		if (icsk->icsk_ca_state <= TCP_CA_Disorder)
			net6_tcp_undo_dsack(sk);
		net6_tcp_identify_loss(sk, st);
		if (!tp->lost_out) {
			net6_tcp_try_to_open(sk, st->flag);
			return;
		}
		/* RFC 4821 7.6.2: a probe that is lost alone is no sign of congestion. */
		if (unlikely(icsk->icsk_mtup.probe_size) && net6_tcp_mtup_lost(sk, false) &&
		    !(st->flag & ACK_ECE) && icsk->icsk_ca_state < TCP_CA_CWR)
			net6_tcp_no_congestion(sk);
		else
			net6_tcp_enter_recovery(sk, st->flag & ACK_ECE);
	}
	*rexmit = NET6_REXMIT_LOST;
}
