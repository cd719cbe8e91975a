// SPDX-License-Identifier: GPL-2.0
/* Segments for an ESTABLISHED connection. Header prediction is for the two common kinds: pure
 * ACKs for the sender, data in sequence for the receiver. Everything else goes in the order of
 * RFC 9293 3.10.7.4.
 */
#include "engine.h"

/* Bits of the header's fourth word that must be as predicted: data offset, flags and
 * window, but not the reserved bits and PSH.
 */
#define NET6_TCP_PREDICTED	(~(TCP_RESERVED_BITS | TCP_FLAG_PSH))

/* The option layout that everybody uses: NOP NOP TIMESTAMP (RFC 7323 appendix A). */
static bool net6_tcp_aligned_tstamp(struct tcp_sock *tp, const struct tcphdr *th)
{
	const __be32 *p = (const __be32 *)(th + 1);

	if (unlikely(*p != htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) |
				 (TCPOPT_TIMESTAMP << 8) | TCPOLEN_TIMESTAMP)))
		return false;
	tp->rx_opt.saw_tstamp = 1;
	tp->rx_opt.rcv_tsval = ntohl(p[1]);
	tp->rx_opt.rcv_tsecr = p[2] ? ntohl(p[2]) - tp->tsoffset : 0;
	return true;
}

/**
 * net6_tcp_read_options() - options of a segment that was not predicted
 * @sk: socket
 * @th: header with all options linear
 * @o: filled in; timestamps also go to rx_opt, without our offset
 */
void net6_tcp_read_options(struct sock *sk, const struct tcphdr *th, struct net6_tcp_opts *o)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->rx_opt.saw_tstamp = 0;
	net6_tcp_parse_options((const u8 *)(th + 1), th->doff * 4 - sizeof(*th), th->syn, o);
	if (o->tstamp_ok && tp->rx_opt.tstamp_ok) {
		tp->rx_opt.saw_tstamp = 1;
		tp->rx_opt.rcv_tsval = o->tsval;
		tp->rx_opt.rcv_tsecr = o->tsecr ? o->tsecr - tp->tsoffset : 0;
	}
}

static void net6_tcp_store_tstamp(struct tcp_sock *tp)
{
	tp->rx_opt.ts_recent = tp->rx_opt.rcv_tsval;
	tp->rx_opt.ts_recent_stamp = ktime_get_seconds();
}

/* Nothing but a new acknowledgment. */
static void net6_tcp_fast_ack(struct sock *sk, struct sk_buff *skb, bool tstamp)
{
	struct tcp_sock *tp = tcp_sk(sk);

	/* RFC 7323 4.3: seq is rcv_nxt; it is Last.ACK.sent if nothing came since. */
	if (tstamp && tp->rcv_nxt == tp->rcv_wup)
		net6_tcp_store_tstamp(tp);
	net6_tcp_ack(sk, skb, 0, NULL);
	consume_skb(skb);
	net6_tcp_data_snd_check(sk);
	/* Received only ACKs: the echo measures nothing for the receiver. */
	tp->rcv_rtt_last_tsecr = tp->rx_opt.rcv_tsecr;
}

/* Data in sequence, at most with an acknowledgment. */
static void net6_tcp_fast_data(struct sock *sk, struct sk_buff *skb, bool tstamp)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	bool acked;

	NET6_INC(net6_tcp_nn_locked(sk), TcpHPHits);
	if (tstamp && tp->rcv_nxt == tp->rcv_wup)
		net6_tcp_store_tstamp(tp);
	net6_tcp_rcv_rtt_tstamp(sk, skb);

	acked = cb->ack_seq != tp->snd_una;
	if (acked) {
		/* Charged meanwhile: pages given back with what is acknowledged must not be those
		 * that were seen to be set aside for this segment.
		 */
		sk->sk_forward_alloc -= skb->truesize;
		net6_tcp_ack(sk, skb, ACK_DATA, NULL);
		sk->sk_forward_alloc += skb->truesize;
	}
	__skb_pull(skb, tp->tcp_header_len);
	net6_tcp_data_event(sk, skb);
	net6_tcp_queue_rcv(sk, skb);
	if (acked)
		net6_tcp_data_snd_check(sk);
	net6_tcp_data_ready(sk);
	net6_tcp_ack_check(sk, false);
}

/* Is there memory for the segment, if the buffer is not full? */
static bool net6_tcp_rmem_there(struct sock *sk, struct sk_buff *skb)
{
	if (likely((int)skb->truesize <= sk->sk_forward_alloc))
		return true;
	return atomic_read(&sk->sk_rmem_alloc) <= READ_ONCE(sk->sk_rcvbuf) &&
	       sk_rmem_schedule(sk, skb, skb->truesize);
}

/* Tries the prediction. Returns false if the segment is for the slow path. */
static bool net6_tcp_predicted(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int hlen = tp->tcp_header_len;
	bool tstamp = false;

	if ((tcp_flag_word(th) & NET6_TCP_PREDICTED) != tp->pred_flags ||
	    TCP_SKB_CB(skb)->seq != tp->rcv_nxt ||
	    after(TCP_SKB_CB(skb)->ack_seq, tp->snd_nxt))
		return false;
	if (hlen == sizeof(*th) + TCPOLEN_TSTAMP_ALIGNED) {
		if (!net6_tcp_aligned_tstamp(tp, th))
			return false;
		/* PAWS needs the slow path's judgement. */
		if ((s32)(tp->rx_opt.rcv_tsval - tp->rx_opt.ts_recent) < 0)
			return false;
		tstamp = true;
	}
	if (skb->len == hlen) {
		if (before(TCP_SKB_CB(skb)->ack_seq, tp->snd_una))
			return false;
		net6_tcp_fast_ack(sk, skb, tstamp);
		return true;
	}
	/* An old ACK, a buffer that is full: the slow path knows. */
	if (before(TCP_SKB_CB(skb)->ack_seq, tp->snd_una) || !net6_tcp_rmem_there(sk, skb))
		return false;
	net6_tcp_fast_data(sk, skb, tstamp);
	return true;
}

static void net6_tcp_slow(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th)
{
	struct net6_tcp_opts opts;
	int acceptable;

	if (!th->ack && !th->rst && !th->syn) {
		/* RFC 9293 3.10.7.4, fifth: without ACK, drop. */
		net6_drop(net6_tcp_nn(sk), skb, NET6_DROP_TCP_FLAGS);
		return;
	}
	net6_tcp_read_options(sk, th, &opts);
	if (!net6_tcp_validate(sk, skb, th))
		return;
	acceptable = net6_tcp_ack(sk, skb, ACK_SLOWPATH | ACK_UPDATE_TS, &opts);
	if (acceptable < 0) {
		/* RFC 9293 3.10.7.4: acknowledges something not yet sent: send an ACK. */
		if (acceptable == -1)
			net6_tcp_challenge_ack(sk);
		net6_drop(net6_tcp_nn(sk), skb, NET6_DROP_TCP_OLD_ACK);
		return;
	}
	net6_tcp_rcv_rtt_tstamp(sk, skb);
	net6_tcp_urg(sk, skb, th);
	net6_tcp_data(sk, skb);
	net6_tcp_data_snd_check(sk);
	net6_tcp_ack_check(sk, true);
}

/**
 * net6_tcp_rcv_established() - a segment for a connection in ESTABLISHED
 * @sk: socket, locked
 * @skb: segment, data at the TCP header, checksum verified; consumed
 *
 * Context: BH disabled.
 */
void net6_tcp_rcv_established(struct sock *sk, struct sk_buff *skb)
{
	const struct tcphdr *th = (const struct tcphdr *)skb->data;
	struct tcp_sock *tp = tcp_sk(sk);

	net6_tcp_clock(tp);
	tp->rx_opt.saw_tstamp = 0;
	tcp_segs_in(tp, skb);
	if (!net6_tcp_predicted(sk, skb, th))
		net6_tcp_slow(sk, skb, th);
}
