// SPDX-License-Identifier: GPL-2.0
/* Segments for a connection that is not (or not only) ESTABLISHED, check by check. RFC 9293
 * 3.10.7.3 is for SYN-SENT and 3.10.7.4 for the others, RFC 5961 answers blind attacks.
 */
#include <linux/security.h>

#include "../conn/conn.h"
#include "../conn/fastopen.h"
#include "engine.h"

/* ---- 3.10.7.4, checks one to four ---- */

/* RFC 7323 5.3: an old duplicate. It is none if ts_recent itself is older than 24 days, or the
 * segment is a reordered pure ACK that does no harm.
 */
static bool net6_tcp_paws(const struct sock *sk, const struct sk_buff *skb, const struct tcphdr *th)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	const struct tcp_sock *tp = tcp_sk(sk);
	s32 older = tp->rx_opt.ts_recent - tp->rx_opt.rcv_tsval;

	if (older <= 0 || !tp->rx_opt.ts_recent)
		return false;
	if (unlikely(!time_before32(ktime_get_seconds(),
				    tp->rx_opt.ts_recent_stamp + NET6_TCP_TS_VALID)))
		return false;
	/* Sent just before, arrived just after: an ACK that brings nothing new. */
	if (th->ack && cb->seq == cb->end_seq && cb->seq == tp->rcv_nxt &&
	    cb->ack_seq == tp->snd_una &&
	    ntohs(th->window) << tp->rx_opt.snd_wscale == tp->snd_wnd &&
	    older <= (s32)(inet_csk(sk)->icsk_rto * 1024 / HZ))
		return false;
	return true;
}

/* First check: RCV.NXT =< SEG.SEQ or end < RCV.NXT + RCV.WND, with rcv_wup in place of
 * RCV.NXT so that what was acceptable when sent still is.
 */
static bool net6_tcp_in_window(const struct tcp_sock *tp, const struct tcp_skb_cb *cb)
{
	return !before(cb->end_seq, tp->rcv_wup) &&
	       !after(cb->seq, tp->rcv_nxt + tcp_receive_window(tp));
}

/* RFC 5961 3.2: only the exact sequence number resets; some stacks count their FIN
 * differently once it was received.
 */
static bool net6_tcp_reset_exact(const struct sock *sk, const struct tcp_skb_cb *cb)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return cb->seq == tp->rcv_nxt ||
	       (cb->seq == tp->rcv_nxt - 1 &&
		(1 << sk->sk_state) & (TCPF_CLOSE_WAIT | TCPF_LAST_ACK | TCPF_CLOSING));
}

/**
 * net6_tcp_validate() - PAWS, sequence number, RST, SYN
 * @sk: socket in a synchronized state or SYN-RECEIVED
 * @skb: segment; consumed if not acceptable
 * @th: its header; options were read
 *
 * Return: true if processing goes on with the ACK field.
 */
bool net6_tcp_validate(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct net6_net *nn = net6_tcp_nn_locked(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* RFC 7323 R1; RSTs are exempt (5.2). */
	if (tp->rx_opt.saw_tstamp && !th->rst && net6_tcp_paws(sk, skb, th)) {
		NET6_INC(nn, TcpPAWSEstab);
		if (!net6_tcp_oow_limited(sk, skb))
			net6_tcp_send_dupack(sk, skb);
		net6_drop(nn, skb, NET6_DROP_TCP_PAWS);
		return false;
	}
	if (!net6_tcp_in_window(tp, cb)) {
		if (th->rst) {
			if (net6_tcp_reset_exact(sk, cb))
				goto reset;
		} else if (th->syn) {
			goto challenge;
		} else if (!net6_tcp_oow_limited(sk, skb)) {
			net6_tcp_send_dupack(sk, skb);
		}
		net6_drop(nn, skb, NET6_DROP_TCP_WINDOW);
		return false;
	}
	if (th->rst) {
		if (net6_tcp_reset_exact(sk, cb))
			goto reset;
		goto challenge;
	}
	/* RFC 5961 4.2: a SYN is never acceptable here; with a simultaneous open the
	 * peer's SYN-ACK repeats its SYN, one before rcv_nxt.
	 */
	if (th->syn) {
		if (sk->sk_state == TCP_SYN_RECV && th->ack && cb->seq + 1 == tp->rcv_nxt)
			return true;
		goto challenge;
	}
	return true;

reset:
	net6_tcp_reset(sk, skb);
	consume_skb(skb);
	return false;
challenge:
	net6_tcp_challenge_ack(sk);
	net6_drop(nn, skb, NET6_DROP_TCP_FLAGS);
	return false;
}

/* ---- SYN-SENT, 3.10.7.3 ---- */

/* Take over what the peer's SYN says about the connection: only what was offered is in force. */
static void net6_tcp_syn_agreed(struct sock *sk, const struct sk_buff *skb,
				const struct net6_tcp_opts *o)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u16 mss = o->mss;

	tp->rx_opt.sack_ok = tp->rx_opt.sack_ok && o->sack_ok;
	tp->rx_opt.wscale_ok = tp->rx_opt.wscale_ok && o->wscale_ok;
	tp->rx_opt.tstamp_ok = tp->rx_opt.tstamp_ok && o->tstamp_ok;
	tp->rx_opt.snd_wscale = tp->rx_opt.wscale_ok ? o->wscale : 0;
	if (!tp->rx_opt.wscale_ok) {
		tp->rx_opt.rcv_wscale = 0;
		tp->window_clamp = min(tp->window_clamp, 65535U);
	}
	tp->tcp_header_len = sizeof(struct tcphdr);
	if (tp->rx_opt.tstamp_ok) {
		tp->tcp_header_len += TCPOLEN_TSTAMP_ALIGNED;
		tp->rx_opt.ts_recent = o->tsval;
		tp->rx_opt.ts_recent_stamp = ktime_get_seconds();
	}
	/* RFC 9293 MUST-15: 1220 if the option is absent. */
	if (!mss)
		mss = NET6_TCP_DEFAULT_MSS;
	if (tp->rx_opt.user_mss && tp->rx_opt.user_mss < mss)
		mss = tp->rx_opt.user_mss;
	tp->rx_opt.mss_clamp = mss;

	WRITE_ONCE(tp->rcv_nxt, TCP_SKB_CB(skb)->seq + 1);
	tp->rcv_wup = tp->rcv_nxt;
	/* RFC 7323 2.2: the window of a SYN is not scaled. */
	tp->snd_wnd = ntohs(tcp_hdr(skb)->window);
	tp->max_window = tp->snd_wnd;
	tcp_init_wl(tp, TCP_SKB_CB(skb)->seq);
	net6_tcp_sync_mss(sk, inet_csk(sk)->icsk_pmtu_cookie);
	WRITE_ONCE(tp->copied_seq, tp->rcv_nxt);
}

static void net6_tcp_established(struct sock *sk, int op, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	net6_tcp_set_state(sk, TCP_ESTABLISHED);
	tp->lsndtime = tcp_jiffies32;
	inet_csk(sk)->icsk_ack.lrcvtime = tcp_jiffies32;
	/* What the security module thinks of the peer (SO_PEERSEC). */
	if (op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB)
		security_inet_conn_established(sk, skb);
	net6_tcp_engine_established(sk, op, skb);
	if (sock_flag(sk, SOCK_KEEPOPEN))
		net6_tcp_reset_sk_timer(sk, keepalive_time_when(tp));
	if (!tp->rx_opt.snd_wscale)
		__tcp_fast_path_on(tp, tp->snd_wnd);
	else
		tcp_fast_path_on(tp);
	if (!sock_flag(sk, SOCK_DEAD)) {
		sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	}
}

/* SYN-ACK: the connection is there. */
static void net6_tcp_synsent_synack(struct sock *sk, struct sk_buff *skb,
				    const struct net6_tcp_opts *o)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcphdr *th = tcp_hdr(skb);
	struct tcp_sock *tp = tcp_sk(sk);

	/* RFC 3168 6.1.1: the answer is ECE without CWR. */
	if (!(th->ece && !th->cwr))
		tp->ecn_flags &= ~TCP_ECN_OK;
	net6_tcp_syn_agreed(sk, skb, o);
	net6_tcp_ack(sk, skb, ACK_SLOWPATH, o);
	if (unlikely(tp->syn_fastopen || tp->syn_data))
		net6_tcp_fastopen_synack(sk, o);
	WRITE_ONCE(tp->snd_sml, tp->snd_una);
	net6_tcp_established(sk, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB, skb);

	if (sk->sk_write_pending || inet_csk_in_pingpong_mode(sk) || tcp_send_head(sk)) {
		/* Data or a request follows at once and carries the ACK. */
		inet_csk_schedule_ack(sk);
		icsk->icsk_ack.ato = TCP_ATO_MIN;
		icsk->icsk_ack.pending |= ICSK_ACK_TIMER;
		net6_compat_ack_timeout(sk) = jiffies + TCP_DELACK_MAX;
		sk_reset_timer(sk, &icsk->icsk_delack_timer, net6_compat_ack_timeout(sk));
	} else if (!net6_tcp_hold_ack(sk)) {
		net6_tcp_send_ack(sk);
	}
}

/* SYN without ACK: both ends opened at once (3.5, figure 8). */
static void net6_tcp_synsent_cross(struct sock *sk, struct sk_buff *skb,
				   const struct net6_tcp_opts *o)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!(th->ece && th->cwr))
		tp->ecn_flags &= ~TCP_ECN_OK;
	net6_tcp_set_state(sk, TCP_SYN_RECV);
	net6_tcp_syn_agreed(sk, skb, o);
	net6_tcp_fastopen_cross(sk);
	net6_tcp_send_synack(sk);
}

/* RFC 9293 3.10.7.3, in its order. Text on a SYN-ACK is not taken: it comes again. */
static void net6_tcp_synsent_rcv(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct net6_net *nn = net6_tcp_nn_locked(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct net6_tcp_opts opts;

	net6_tcp_read_options(sk, th, &opts);
	/* Our SYN waits for data (TCP_FASTOPEN_CONNECT): to the peer we are CLOSED. */
	if (unlikely(!tp->packets_out))
		goto reset;
	if (th->ack) {
		/* First: SEG.ACK =< ISS or > SND.NXT: reset unless RST. */
		if (!after(cb->ack_seq, tp->snd_una) || after(cb->ack_seq, tp->snd_nxt))
			goto reset;
		/* RFC 7323 3.2: an echo that we did not send is from another time. */
		if (tp->rx_opt.saw_tstamp && tp->rx_opt.rcv_tsecr &&
		    !between(tp->rx_opt.rcv_tsecr, tp->retrans_stamp,
			     net6_compat_tcp_time_stamp(tp))) {
			NET6_INC(nn, TcpPAWSActive);
			goto reset;
		}
		/* Second: RST. */
		if (th->rst) {
			net6_tcp_reset(sk, skb);
			consume_skb(skb);
			return;
		}
		if (!th->syn)
			goto drop;
		net6_tcp_synsent_synack(sk, skb, &opts);
		consume_skb(skb);
		return;
	}
	if (th->rst || !th->syn)
		goto drop;
	net6_tcp_synsent_cross(sk, skb, &opts);
	consume_skb(skb);
	return;

reset:
	if (!th->rst)
		net6_tcp_send_reset(nn, sk, skb);
drop:
	net6_drop(nn, skb, NET6_DROP_TCP_FLAGS);
}

/* ---- the other states, fifth check on ---- */

/* RFC 9293 3.10.7.4, fifth, SYN-RECEIVED: SND.UNA < SEG.ACK =< SND.NXT, that is our SYN
 * and nothing that was not sent.
 */
static bool net6_tcp_syn_acked(const struct tcp_sock *tp, const struct sk_buff *skb)
{
	u32 ack = TCP_SKB_CB(skb)->ack_seq;

	return after(ack, tp->snd_una) && !after(ack, tp->snd_nxt);
}

/* SYN-RECEIVED of a simultaneous open: our SYN is acknowledged. */
static void net6_tcp_synrecv_acked(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_wnd = ntohs(tcp_hdr(skb)->window) << (tcp_hdr(skb)->syn ? 0 :
						      tp->rx_opt.snd_wscale);
	tp->max_window = max(tp->max_window, tp->snd_wnd);
	tcp_init_wl(tp, TCP_SKB_CB(skb)->seq);
	net6_tcp_established(sk, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, skb);
}

/* The process has closed for ever, with close() or with shutdown() for both directions. Data
 * behind that is lost, and the peer must know (RFC 9293 3.6.1 "half-duplex close", RFC 2525
 * 2.17).
 */
static bool net6_tcp_data_after_close(const struct sock *sk, const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	bool fin = cb->tcp_flags & TCPHDR_FIN;

	return cb->end_seq != cb->seq && after(cb->end_seq - fin, tcp_sk(sk)->rcv_nxt);
}

static void net6_tcp_abort_on_data(struct sock *sk, struct sk_buff *skb)
{
	struct net6_net *nn = net6_tcp_nn_locked(sk);

	NET6_INC(nn, TcpAbortOnData);
	net6_tcp_send_reset(nn, sk, skb);
	net6_tcp_reset(sk, skb);
	net6_drop(nn, skb, NET6_DROP_TCP_CLOSE);
}

/* An orphan does not wait for the peer's FIN for ever. */
static void net6_tcp_finwait2_timer(struct sock *sk)
{
	int tmo = tcp_fin_time(sk);

	net6_tcp_reset_sk_timer(sk, tmo > TCP_TIMEWAIT_LEN ? tmo - TCP_TIMEWAIT_LEN : tmo);
}

/* FIN-WAIT-1 and our FIN is acknowledged. Returns false if the socket is done with
 * and @skb consumed.
 */
static bool net6_tcp_finwait1_acked(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	int tmo;

	net6_tcp_set_state(sk, TCP_FIN_WAIT2);
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	if (!sock_flag(sk, SOCK_DEAD)) {
		sk->sk_state_change(sk);
		return true;
	}
	/* Nobody reads any more. */
	if (tp->linger2 < 0 || net6_tcp_data_after_close(sk, skb)) {
		net6_tcp_abort_on_data(sk, skb);
		return false;
	}
	/* It comes with this segment: mostly that is the end. */
	if (tcp_hdr(skb)->fin)
		return true;
	tmo = tcp_fin_time(sk);
	/* A process is in a call, or it takes long: the socket itself waits. */
	if (tmo > TCP_TIMEWAIT_LEN || sock_owned_by_user(sk)) {
		net6_tcp_finwait2_timer(sk);
		return true;
	}
	net6_tcp_time_wait(sk, TCP_FIN_WAIT2, tmo);
	consume_skb(skb);
	return false;
}

/* Fifth: what an acceptable ACK changes in each state. Returns false if the socket is
 * done with and @skb consumed.
 */
static bool net6_tcp_state_acked(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool all = tp->snd_una == tp->write_seq;

	switch (sk->sk_state) {
	case TCP_SYN_RECV:
		net6_tcp_synrecv_acked(sk, skb);
		break;
	case TCP_FIN_WAIT1:
		if (all)
			return net6_tcp_finwait1_acked(sk, skb);
		break;
	case TCP_CLOSING:
		if (all) {
			net6_tcp_time_wait(sk, TCP_TIME_WAIT, 0);
			consume_skb(skb);
			return false;
		}
		break;
	case TCP_LAST_ACK:
		if (all) {
			net6_tcp_done(sk);
			consume_skb(skb);
			return false;
		}
		break;
	}
	return true;
}

/* Seventh and eighth: text and FIN. Consumes @skb; returns false if the socket died. */
static bool net6_tcp_state_data(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	switch (sk->sk_state) {
	case TCP_CLOSE_WAIT:
	case TCP_CLOSING:
	case TCP_LAST_ACK:
		/* RFC 9293 3.10.7.4: should not occur, a FIN was received: ignore. But
		 * an old segment is answered, so that a lost ACK is made up for.
		 */
		if (!before(TCP_SKB_CB(skb)->seq, tp->rcv_nxt)) {
			consume_skb(skb);
			return true;
		}
		fallthrough;
	case TCP_FIN_WAIT1:
	case TCP_FIN_WAIT2:
		if (sk->sk_shutdown & RCV_SHUTDOWN && net6_tcp_data_after_close(sk, skb)) {
			net6_tcp_abort_on_data(sk, skb);
			return false;
		}
		fallthrough;
	default:
		net6_tcp_data(sk, skb);
	}
	return sk->sk_state != TCP_CLOSE;
}

/**
 * net6_tcp_rcv_state() - a segment for a connection that is opening or closing
 * @sk: socket, locked; not ESTABLISHED, not LISTEN
 * @skb: segment, data at the TCP header, checksum verified; consumed
 *
 * Context: BH disabled. The socket may be destroyed (an orphan): the caller has a
 * reference.
 */
void net6_tcp_rcv_state(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = (const struct tcphdr *)skb->data;
	struct net6_net *nn = net6_tcp_nn_locked(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct net6_tcp_opts opts;
	bool fin, pending;
	int was;

	net6_tcp_clock(tp);
	tcp_segs_in(tp, skb);
	if (sk->sk_state == TCP_SYN_SENT) {
		net6_tcp_synsent_rcv(sk, skb);
		if (sk->sk_state == TCP_ESTABLISHED)
			net6_tcp_data_snd_check(sk);
		return;
	}
	if (!th->ack && !th->rst && !th->syn) {
		net6_drop(nn, skb, NET6_DROP_TCP_FLAGS);
		return;
	}
	pending = net6_tcp_fastopen_pending(sk);
	if (unlikely(pending) && !net6_tcp_fastopen_check(sk, skb))
		return;
	net6_tcp_read_options(sk, th, &opts);
	if (!net6_tcp_validate(sk, skb, th))
		return;

	if ((sk->sk_state == TCP_SYN_RECV || pending) && !net6_tcp_syn_acked(tp, skb)) {
		net6_tcp_send_reset(nn, sk, skb);
		net6_drop(nn, skb, NET6_DROP_TCP_OLD_ACK);
		return;
	}
	if (net6_tcp_ack(sk, skb, ACK_SLOWPATH | ACK_UPDATE_TS | ACK_NO_CHALLENGE, &opts) < 0) {
		net6_tcp_challenge_ack(sk);
		net6_drop(nn, skb, NET6_DROP_TCP_OLD_ACK);
		return;
	}
	if (unlikely(pending))
		net6_tcp_fastopen_opened(sk);
	was = sk->sk_state;
	if (!net6_tcp_state_acked(sk, skb))
		return;
	net6_tcp_urg(sk, skb, th);
	fin = was == TCP_FIN_WAIT1 && th->fin;
	if (!net6_tcp_state_data(sk, skb))
		return;
	/* The FIN was not the next byte, or there was no room for it. */
	if (unlikely(fin && sk->sk_state == TCP_FIN_WAIT2 && sock_flag(sk, SOCK_DEAD)))
		net6_tcp_finwait2_timer(sk);
	net6_tcp_data_snd_check(sk);
	net6_tcp_ack_check(sk, true);
}
