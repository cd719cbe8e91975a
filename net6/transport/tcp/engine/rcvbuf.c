// SPDX-License-Identifier: GPL-2.0
/* The receive buffer. It says what window we may offer (RFC 9293 3.8.6.2.2, RFC 7323 2.3), grows
 * with the reader's pace, and knows when reading is worth an ACK.
 */
#include "engine.h"

/* Under memory pressure no more than this many segments are invited. */
static void net6_tcp_shrink_ssthresh(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->rcv_ssthresh = min(tp->rcv_ssthresh, 4U * tp->advmss);
}

/**
 * net6_tcp_init_window() - the window of a SYN or SYN-ACK, and the scale to announce
 * @sk: socket, or an unlocked listener (read only)
 * @m: metrics of the route to the peer, or NULL
 * @mss: bytes that a segment to us has at most
 * @first: segments that a program wants it to have, 0 if none does
 * @rcv_wnd: bytes to offer; a SYN's window is never scaled, so at most 65,535
 * @window_clamp: largest window this connection may ever offer
 * @wscale: shift for it, RFC 7323 2.3; the caller takes 0 without the option
 *
 * Context: any.
 */
void net6_tcp_init_window(struct sock *sk, const struct net6_metrics *m, u32 mss, u32 first,
			  u32 *rcv_wnd, u32 *window_clamp, u8 *wscale)
{
	u32 clamp = READ_ONCE(tcp_sk(sk)->window_clamp) ? : net6_metric(m, RTAX_WINDOW);
	u32 space = max(tcp_full_space(sk), 0);

	if (!clamp)
		clamp = (u32)U16_MAX << TCP_MAX_WSCALE;
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		clamp = min(clamp, max(space, 1U));
	/* As on the native stack, that of a SYN-ACK may be more than the buffer. */
	if (unlikely(first) && sk->sk_state == TCP_LISTEN)
		space = max(space, first * mss);
	space = min(space, clamp);
	if (space > mss)
		space = rounddown(space, mss);
	*rcv_wnd = min_t(u32, space, U16_MAX);
	if (!first)
		first = net6_metric(m, RTAX_INITRWND);
	if (unlikely(first))
		*rcv_wnd = min(*rcv_wnd, first * mss);

	/* The buffer may grow up to the namespace's bound: the scale must allow it. */
	space = max_t(u32, space, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]));
	space = max_t(u32, space, READ_ONCE(sysctl_rmem_max));
	space = min(space, clamp);
	*wscale = net6_tcp_wscale(space);
	*window_clamp = min_t(u32, (u32)U16_MAX << *wscale, clamp);
}

/**
 * net6_tcp_window_free() - the window that the buffer allows now
 * @sk: socket
 *
 * Avoids the silly window syndrome as a receiver, RFC 9293 3.8.6.2.2.
 * Context: sk locked.
 * Return: bytes.
 */
u32 net6_tcp_window_free(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	int allowed = tcp_full_space(sk);
	int mss = icsk->icsk_ack.rcv_mss;
	int free = tcp_space(sk);
	int full = min_t(int, tp->window_clamp, allowed);

	if (mss > full) {
		mss = full;
		if (mss <= 0)
			return 0;
	}
	if (free < full >> 1) {
		icsk->icsk_ack.quick = 0;
		if (sk_under_memory_pressure(sk))
			net6_tcp_shrink_ssthresh(sk);
		free = round_down(free, 1 << tp->rx_opt.rcv_wscale);
		/* Nothing rather than crumbs. */
		if (free < allowed >> 4 || free < mss)
			return 0;
	}
	free = min_t(u32, free, tp->rcv_ssthresh);
	return net6_tcp_window_offer(free, tp->rcv_wnd, mss, full, tp->rx_opt.rcv_wscale);
}

/**
 * net6_tcp_select_window() - the window field of the segment that is being written
 * @sk: socket
 *
 * The right edge never moves to the left (RFC 9293 SHLD-14).
 * Context: sk locked.
 * Return: the field, scaled, host byte order.
 */
u32 net6_tcp_select_window(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cur = tcp_receive_window(tp);
	u32 new = net6_tcp_window_free(sk);
	u8 wscale = tp->rx_opt.rcv_wscale;

	if (new < cur)
		new = ALIGN(cur, 1U << wscale);
	tp->rcv_wnd = new;
	tp->rcv_wup = tp->rcv_nxt;
	new = min_t(u32, new, (u32)U16_MAX << wscale) >> wscale;
	/* Header prediction wants a window. */
	if (!new)
		tp->pred_flags = 0;
	return new;
}

/**
 * net6_tcp_cleanup_rbuf() - the reader took data: is that worth an ACK?
 * @sk: socket
 * @copied: bytes read in this call
 *
 * Context: sk locked.
 */
void net6_tcp_cleanup_rbuf(struct sock *sk, int copied)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u8 pending = icsk->icsk_ack.pending;
	bool due = false;
	u32 now;

	if (inet_csk_ack_scheduled(sk)) {
		/* Two segments are unacknowledged, or a burst was read to its end. */
		due = tp->rcv_nxt - tp->rcv_wup > icsk->icsk_ack.rcv_mss ||
		      (copied > 0 && !atomic_read(&sk->sk_rmem_alloc) &&
		       !(pending & NET6_TCP_ACK_PROGRAM) &&
		       (pending & ICSK_ACK_PUSHED2 ||
			(pending & ICSK_ACK_PUSHED && !inet_csk_in_pingpong_mode(sk))));
	}
	if (!due && copied > 0 && !(sk->sk_shutdown & RCV_SHUTDOWN)) {
		/* The window has at least doubled. */
		now = tcp_receive_window(tp);
		if (2 * now <= tp->window_clamp) {
			u32 new = net6_tcp_window_free(sk);

			due = new && new >= 2 * now;
		}
	}
	if (due) {
		net6_tcp_clock(tp);
		net6_tcp_send_ack(sk);
	}
}

/* How much buffer holds one full segment. */
static u32 net6_tcp_segment_memory(const struct sock *sk)
{
	u32 mss = tcp_sk(sk)->advmss;
	u32 mem = SKB_TRUESIZE(mss + MAX_TCP_HEADER);

	while (tcp_win_from_space(sk, mem) < mss)
		mem += 128;
	return mem;
}

/**
 * net6_tcp_rcv_space_adjust() - let the buffer grow with what is read per round trip
 * @sk: socket
 *
 * Room for twice what the reader took in the last round trip, as a sender in slow start doubles.
 * It is more in proportion when the reader's pace rises.
 * Context: sk locked; called by the reader.
 */
void net6_tcp_rcv_space_adjust(struct sock *sk)
{
	const struct net *net = sock_net(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u64 window, grow;
	u32 copied, rtt;
	int rcvbuf;

	rtt = tp->rcv_rtt_est.rtt_us >> 3;
	if (!rtt)
		return;
	net6_tcp_clock_call(sk);
	if (tcp_stamp_us_delta(tp->tcp_mstamp, tp->rcvq_space.time) < rtt)
		return;
	copied = tp->copied_seq - tp->rcvq_space.seq;
	if (copied <= tp->rcvq_space.space)
		goto measure;

	if (READ_ONCE(net->ipv4.sysctl_tcp_moderate_rcvbuf) &&
	    !(sk->sk_userlocks & SOCK_RCVBUF_LOCK)) {
		window = ((u64)copied << 1) + 16 * tp->advmss;
		grow = window * (copied - tp->rcvq_space.space);
		window += div_u64(grow, max_t(u32, tp->rcvq_space.space, 1)) << 1;
		window = div_u64(window, tp->advmss) * net6_tcp_segment_memory(sk);
		rcvbuf = min_t(u64, window, READ_ONCE(net->ipv4.sysctl_tcp_rmem[2]));
		if (rcvbuf > sk->sk_rcvbuf) {
			WRITE_ONCE(sk->sk_rcvbuf, rcvbuf);
			tp->window_clamp = tcp_win_from_space(sk, rcvbuf);
		}
	}
	tp->rcvq_space.space = copied;
measure:
	tp->rcvq_space.seq = tp->copied_seq;
	tp->rcvq_space.time = tp->tcp_mstamp;
}

/**
 * net6_tcp_buffers_init() - buffers of a connection that is now established
 * @sk: socket, copied_seq, rcv_wnd, window_clamp, advmss and tcp_mstamp set
 *
 * Context: sk locked.
 */
void net6_tcp_buffers_init(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 full = max(tcp_full_space(sk), 0);

	net6_tcp_sndbuf_expand(sk);
	tp->rcvq_space.time = tp->tcp_mstamp;
	tp->rcvq_space.seq = tp->copied_seq;

	tp->window_clamp = min(tp->window_clamp, full);
	/* One segment of slack for what the estimate of overhead gets wrong. */
	if (tp->window_clamp > 2U * tp->advmss && tp->window_clamp + tp->advmss > full)
		tp->window_clamp = max(2U * tp->advmss, full - tp->advmss);
	tp->rcv_ssthresh = min(tp->rcv_ssthresh, tp->window_clamp);
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->rcvq_space.space = min3(tp->rcv_ssthresh, tp->rcv_wnd,
				    (u32)TCP_INIT_CWND * tp->advmss);
}

/**
 * net6_tcp_rcv_mss() - estimate the peer's segment size from what arrives
 * @sk: socket
 * @skb: data segment, data behind the TCP header
 *
 * Context: sk locked.
 */
void net6_tcp_rcv_mss(struct sock *sk, const struct sk_buff *skb)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u32 len = skb_shinfo(skb)->gso_size ? : skb->len;
	u32 last = icsk->icsk_ack.last_seg_size;

	icsk->icsk_ack.last_seg_size = 0;
	if (likely(len >= icsk->icsk_ack.rcv_mss)) {
		icsk->icsk_ack.rcv_mss = min_t(u32, len, tcp_sk(sk)->advmss);
		return;
	}
	/* Smaller than thought: believe it when two of a size come and are no rests. */
	if (len >= TCP_MSS_DEFAULT || (len >= TCP_MIN_MSS && !tcp_hdr(skb)->psh)) {
		icsk->icsk_ack.last_seg_size = len;
		if (len == last) {
			icsk->icsk_ack.rcv_mss = len;
			return;
		}
	}
	if (icsk->icsk_ack.pending & ICSK_ACK_PUSHED)
		icsk->icsk_ack.pending |= ICSK_ACK_PUSHED2;
	icsk->icsk_ack.pending |= ICSK_ACK_PUSHED;
}

/**
 * net6_tcp_rcv_rtt_window() - a round trip seen by the receiver: one window of data
 * @sk: socket
 *
 * Without timestamps. Context: sk locked, tcp_mstamp fresh.
 */
void net6_tcp_rcv_rtt_window(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 delta;

	if (tp->rcv_rtt_est.time) {
		if (before(tp->rcv_nxt, tp->rcv_rtt_est.seq))
			return;
		delta = max(tcp_stamp_us_delta(tp->tcp_mstamp, tp->rcv_rtt_est.time), 1U);
		tp->rcv_rtt_est.rtt_us = net6_tcp_rcv_rtt(tp->rcv_rtt_est.rtt_us, delta, true);
	}
	tp->rcv_rtt_est.seq = tp->rcv_nxt + tp->rcv_wnd;
	tp->rcv_rtt_est.time = tp->tcp_mstamp;
}

/**
 * net6_tcp_rcv_rtt_tstamp() - a round trip seen by the receiver: an echoed timestamp
 * @sk: socket, rx_opt.rcv_tsecr of this segment (our offset taken off)
 * @skb: segment
 *
 * Context: sk locked, tcp_mstamp fresh.
 */
void net6_tcp_rcv_rtt_tstamp(struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 ms;

	if (tp->rx_opt.rcv_tsecr == tp->rcv_rtt_last_tsecr)
		return;
	tp->rcv_rtt_last_tsecr = tp->rx_opt.rcv_tsecr;
	if (TCP_SKB_CB(skb)->end_seq - TCP_SKB_CB(skb)->seq < inet_csk(sk)->icsk_ack.rcv_mss)
		return;
	ms = net6_compat_tcp_time_stamp(tp) - tp->rx_opt.rcv_tsecr;
	if (ms >= INT_MAX / USEC_PER_MSEC)
		return;
	tp->rcv_rtt_est.rtt_us = net6_tcp_rcv_rtt(tp->rcv_rtt_est.rtt_us,
						  max(ms, 1U) * USEC_PER_MSEC, false);
}

/* How far the window may open for a segment that wastes buffer. Several of its kind must still
 * fit what the buffer may become.
 */
static int net6_tcp_grow_wasteful(const struct sock *sk, const struct sk_buff *skb)
{
	u32 window = tcp_win_from_space(sk, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2])) >> 1;
	u32 size = tcp_win_from_space(sk, skb->truesize) >> 1;

	while (tcp_sk(sk)->rcv_ssthresh <= window) {
		if (size <= skb->len)
			return 2 * inet_csk(sk)->icsk_ack.rcv_mss;
		size >>= 1;
		window >>= 1;
	}
	return 0;
}

/**
 * net6_tcp_grow_window() - receiver's slow start: the more arrives, the more is invited
 * @sk: socket
 * @skb: in-order data segment
 *
 * Context: sk locked.
 */
void net6_tcp_grow_window(struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	int room, incr;

	room = min_t(int, tp->window_clamp, tcp_space(sk)) - tp->rcv_ssthresh;
	if (room <= 0)
		return;
	if (sk_under_memory_pressure(sk)) {
		net6_tcp_shrink_ssthresh(sk);
		return;
	}
	if (tcp_win_from_space(sk, skb->truesize) <= skb->len)
		incr = 2 * tp->advmss;
	else
		incr = net6_tcp_grow_wasteful(sk, skb);
	if (!incr)
		return;
	incr = max_t(int, incr, 2 * skb->len);
	tp->rcv_ssthresh += min(room, incr);
	inet_csk(sk)->icsk_ack.quick |= 1;
}

/* The buffer is full although the window was kept: let it grow if that is allowed, and
 * invite less.
 */
static void net6_tcp_clamp_window(struct sock *sk)
{
	int bound = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_rmem[2]);
	struct tcp_sock *tp = tcp_sk(sk);

	inet_csk(sk)->icsk_ack.quick = 0;
	if (sk->sk_rcvbuf < bound && !(sk->sk_userlocks & SOCK_RCVBUF_LOCK) &&
	    !sk_under_memory_pressure(sk) &&
	    sk_memory_allocated(sk) < sk_prot_mem_limits(sk, 0))
		WRITE_ONCE(sk->sk_rcvbuf, min(atomic_read(&sk->sk_rmem_alloc), bound));
	if (atomic_read(&sk->sk_rmem_alloc) > sk->sk_rcvbuf)
		tp->rcv_ssthresh = min(tp->window_clamp, 2U * tp->advmss);
}

/**
 * net6_tcp_rmem_schedule() - find room for an arrived segment
 * @sk: socket
 * @skb: segment; its truesize is what counts
 *
 * Out-of-order data may be thrown away for it (RFC 2018 8 allows that).
 * Context: sk locked.
 * Return: 0, or -ENOBUFS: drop it.
 */
int net6_tcp_rmem_schedule(struct sock *sk, struct sk_buff *skb)
{
	if (likely(atomic_read(&sk->sk_rmem_alloc) <= sk->sk_rcvbuf &&
		   sk_rmem_schedule(sk, skb, skb->truesize)))
		return 0;

	if (atomic_read(&sk->sk_rmem_alloc) >= sk->sk_rcvbuf)
		net6_tcp_clamp_window(sk);
	else
		net6_tcp_shrink_ssthresh(sk);
	if (atomic_read(&sk->sk_rmem_alloc) > sk->sk_rcvbuf)
		net6_tcp_ofo_prune(sk, skb);
	if (atomic_read(&sk->sk_rmem_alloc) > sk->sk_rcvbuf) {
		tcp_sk(sk)->pred_flags = 0;
		return -ENOBUFS;
	}
	while (!sk_rmem_schedule(sk, skb, skb->truesize)) {
		if (!net6_tcp_ofo_prune(sk, skb))
			return -ENOBUFS;
	}
	return 0;
}

/**
 * net6_tcp_coalesce() - append a segment's data to the buffer before it
 * @sk: socket that owns @to
 * @to: buffer in a queue of ours
 * @from: what follows it in sequence; on success free it by kfree_skb_partial()
 * @stolen: its head was taken over
 *
 * Context: sk locked.
 * Return: true if done.
 */
bool net6_tcp_coalesce(struct sock *sk, struct sk_buff *to, struct sk_buff *from, bool *stolen)
{
	int delta;

	*stolen = false;
	if (TCP_SKB_CB(from)->seq != TCP_SKB_CB(to)->end_seq ||
	    !skb_try_coalesce(to, from, stolen, &delta))
		return false;
	atomic_add(delta, &sk->sk_rmem_alloc);
	sk_mem_charge(sk, delta);
	NET6_INC(net6_tcp_nn_locked(sk), TcpRcvCoalesce);
	TCP_SKB_CB(to)->end_seq = TCP_SKB_CB(from)->end_seq;
	TCP_SKB_CB(to)->ack_seq = TCP_SKB_CB(from)->ack_seq;
	TCP_SKB_CB(to)->tcp_flags |= TCP_SKB_CB(from)->tcp_flags;
	if (TCP_SKB_CB(from)->has_rxtstamp) {
		TCP_SKB_CB(to)->has_rxtstamp = true;
		to->tstamp = from->tstamp;
		skb_hwtstamps(to)->hwtstamp = skb_hwtstamps(from)->hwtstamp;
	}
	return true;
}

/**
 * net6_tcp_queue_rcv() - put the next data in sequence before the reader
 * @sk: socket
 * @skb: starts at rcv_nxt, data behind the TCP header, room was scheduled; consumed
 *
 * rcv_nxt moves. Context: sk locked.
 */
void net6_tcp_queue_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct sk_buff *tail = skb_peek_tail(&sk->sk_receive_queue);
	u32 end = TCP_SKB_CB(skb)->end_seq;
	struct tcp_sock *tp = tcp_sk(sk);
	bool stolen;

	tp->bytes_received += end - tp->rcv_nxt;
	WRITE_ONCE(tp->rcv_nxt, end);
	if (tail && net6_tcp_coalesce(sk, tail, skb, &stolen)) {
		kfree_skb_partial(skb, stolen);
		return;
	}
	__skb_queue_tail(&sk->sk_receive_queue, skb);
	skb_set_owner_r(skb, sk);
}
