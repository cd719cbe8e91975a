// SPDX-License-Identifier: GPL-2.0
/* The text of an acceptable segment (RFC 9293 3.10.7.4, seventh check), and urgent data. Here is
 * when all this is acknowledged (RFC 5681 4.2), and when its reader is told.
 */
#include <net/inet_ecn.h>

#include "../conn/conn.h"
#include "engine.h"

/* ACK the next few segments at once: the sender is starting or repairing. */
static void net6_tcp_quick_count(struct sock *sk, unsigned int max)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	unsigned int n = tcp_sk(sk)->rcv_wnd / (2 * max_t(u32, icsk->icsk_ack.rcv_mss, 1));

	n = clamp(n, 2U, max);
	if (n > icsk->icsk_ack.quick)
		icsk->icsk_ack.quick = n;
}

/**
 * net6_tcp_quickack() - leave interactive mode and acknowledge at once for a while
 * @sk: socket
 * @max: segments at most
 *
 * Context: sk locked.
 */
void net6_tcp_quickack(struct sock *sk, unsigned int max)
{
	net6_tcp_quick_count(sk, max);
	inet_csk_exit_pingpong_mode(sk);
	inet_csk(sk)->icsk_ack.ato = TCP_ATO_MIN;
}

/* Tells a module that wants to know what a segment was marked with. When that changes, dctcp (RFC
 * 8257 3.2) and its like have two ACKs sent: a delayed one first, with the old state, and the
 * next one at once. The function they have for the former is the native stack's and knows nothing
 * of our sockets. So they are not shown that an ACK waits, and what they would have sent is sent
 * here.
 */
static void net6_tcp_ecn_tell(struct sock *sk, bool ce)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u8 pending = icsk->icsk_ack.pending;
	struct tcp_sock *tp = tcp_sk(sk);
	u8 ecn_flags;

	if (likely(!tcp_ca_needs_ecn(sk)))
		return;
	icsk->icsk_ack.pending &= ~(ICSK_ACK_TIMER | ICSK_ACK_NOW);
	net6_tcp_ca_event(sk, ce ? CA_EVENT_ECN_IS_CE : CA_EVENT_ECN_NO_CE);
	if (pending & ICSK_ACK_TIMER && icsk->icsk_ack.pending & ICSK_ACK_NOW) {
		ecn_flags = tp->ecn_flags;
		if (ce)
			tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
		else
			tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
		net6_tcp_send_ack(sk);
		tp->ecn_flags = ecn_flags;
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
		inet_csk_schedule_ack(sk);
		return;
	}
	icsk->icsk_ack.pending |= pending;
}

/**
 * net6_tcp_ecn_check_ce() - a CE mark is echoed until the peer says CWR, RFC 3168 6.1.3
 * @sk: socket
 * @skb: segment with data, in sequence or not
 *
 * Context: sk locked.
 */
void net6_tcp_ecn_check_ce(struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!(tp->ecn_flags & TCP_ECN_OK))
		return;
	switch (TCP_SKB_CB(skb)->ip_dsfield & INET_ECN_MASK) {
	case INET_ECN_NOT_ECT:
		/* A retransmission, or a path that clears the field. */
		if (tp->ecn_flags & TCP_ECN_SEEN)
			net6_tcp_quickack(sk, 2);
		break;
	case INET_ECN_CE:
		net6_tcp_ecn_tell(sk, true);
		if (!(tp->ecn_flags & TCP_ECN_DEMAND_CWR)) {
			net6_tcp_quickack(sk, 2);
			tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
		}
		tp->ecn_flags |= TCP_ECN_SEEN;
		break;
	default:
		net6_tcp_ecn_tell(sk, false);
		tp->ecn_flags |= TCP_ECN_SEEN;
		break;
	}
}

static void net6_tcp_ecn_accept_cwr(struct sock *sk, const struct sk_buff *skb)
{
	if (!tcp_hdr(skb)->cwr)
		return;
	tcp_sk(sk)->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
	/* The sender has just cut its window: do not keep it waiting as well. */
	if (TCP_SKB_CB(skb)->seq != TCP_SKB_CB(skb)->end_seq)
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
}

/* How long an ACK may wait follows the gaps between segments. */
static void net6_tcp_update_ato(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u32 now = tcp_jiffies32;
	u32 gap;

	if (!icsk->icsk_ack.ato) {
		/* The first data of the connection: its sender is in slow start. */
		net6_tcp_quick_count(sk, TCP_MAX_QUICKACKS);
		icsk->icsk_ack.ato = TCP_ATO_MIN;
	} else {
		gap = now - icsk->icsk_ack.lrcvtime;
		if (gap <= TCP_ATO_MIN / 2)
			icsk->icsk_ack.ato = (icsk->icsk_ack.ato >> 1) + TCP_ATO_MIN / 2;
		else if (gap < icsk->icsk_ack.ato)
			net6_compat_set_ato(icsk, min_t(u32, (icsk->icsk_ack.ato >> 1) + gap,
							icsk->icsk_rto));
		else if (gap > icsk->icsk_rto)
			/* A pause as long as this: the sender starts over slowly. */
			net6_tcp_quick_count(sk, TCP_MAX_QUICKACKS);
	}
	icsk->icsk_ack.lrcvtime = now;
}

/**
 * net6_tcp_data_event() - data in sequence arrived: estimates, window, ACK is due
 * @sk: socket
 * @skb: segment with data, which begins behind the TCP header
 *
 * Context: sk locked. To be called before net6_tcp_queue_rcv() takes @skb.
 */
void net6_tcp_data_event(struct sock *sk, struct sk_buff *skb)
{
	inet_csk_schedule_ack(sk);
	net6_tcp_rcv_mss(sk, skb);
	net6_tcp_rcv_rtt_window(sk);
	net6_tcp_update_ato(sk);
	net6_tcp_ecn_check_ce(sk, skb);
	if (skb->len >= 128)
		net6_tcp_grow_window(sk, skb);
}

static void net6_tcp_ack_later(struct sock *sk, unsigned long timeout)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct timer_list *timer = &icsk->icsk_delack_timer;

	icsk->icsk_ack.pending |= ICSK_ACK_SCHED | ICSK_ACK_TIMER;
	net6_compat_ack_timeout(sk) = timeout;
	/* A timer that fires too early goes on from there. */
	if (!timer_pending(timer) || time_before(timeout, timer->expires))
		sk_reset_timer(sk, timer, timeout);
}

/* RFC 9293 MUST-58, 59: delayed by 500 ms at most; here by at most 200, and less when
 * the round trip is shorter.
 */
static void net6_tcp_delay_ack(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	unsigned long timeout, max;
	u32 ato = icsk->icsk_ack.ato;

	if (ato > TCP_DELACK_MIN) {
		max = HZ / 2;
		if (inet_csk_in_pingpong_mode(sk) || icsk->icsk_ack.pending & ICSK_ACK_PUSHED)
			max = TCP_DELACK_MAX;
		if (tp->srtt_us)
			max = min_t(unsigned long, max,
				    max_t(unsigned long, usecs_to_jiffies(tp->srtt_us >> 3),
					  TCP_DELACK_MIN));
		ato = min_t(unsigned long, ato, max);
	}
	ato = min_t(u32, ato, icsk->icsk_delack_max);
	timeout = jiffies + ato;

	if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
		/* One is waiting and nearly over: no use in waiting on. */
		if (time_before_eq(net6_compat_ack_timeout(sk), jiffies + (ato >> 2))) {
			net6_tcp_send_ack(sk);
			return;
		}
		if (time_before(net6_compat_ack_timeout(sk), timeout))
			timeout = net6_compat_ack_timeout(sk);
	}
	net6_tcp_ack_later(sk, timeout);
}

/**
 * net6_tcp_awaited() - will a program do something with this socket soon?
 * @sk: socket
 *
 * It will if one sleeps until something comes for it, or is in a call on it. It will also if one
 * sent something in this tick, or has still to accept it. Wake-ups leave a sleeper in the queue
 * until it runs.
 * Context: sk locked.
 */
bool net6_tcp_awaited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct socket_wq *wq;
	bool awaited;

	if (sock_owned_by_user(sk) || READ_ONCE(net6_tcp_sk(sk)->listener) ||
	    (tp->data_segs_out && tp->lsndtime == tcp_jiffies32))
		return true;
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	/* A hint: a program that comes to sleep just now waits for the tick at worst. */
	awaited = wq && waitqueue_active(&wq->wait);
	rcu_read_unlock();
	return awaited;
}

/**
 * net6_tcp_ack_program() - let an ACK wait for what the program does, or the next tick
 * @sk: socket, net6_tcp_awaited()
 *
 * Context: sk locked.
 */
void net6_tcp_ack_program(struct sock *sk)
{
	inet_csk(sk)->icsk_ack.pending |= NET6_TCP_ACK_PROGRAM;
	net6_tcp_ack_later(sk, jiffies);
}

/* Less than a full segment came. A program that waited for it runs now and mostly answers:
 * its answer carries the ACK. If it waits again instead (recvmsg, poll), that sends it; else
 * the next tick does.
 */
static void net6_tcp_ack_soon(struct sock *sk)
{
	if (net6_tcp_awaited(sk))
		net6_tcp_ack_program(sk);
	else
		net6_tcp_send_ack(sk);
}

/**
 * net6_tcp_ack_idle() - the program waits again: what it did carried no ACK
 * @sk: socket
 *
 * Context: sk locked.
 */
void net6_tcp_ack_idle(struct sock *sk)
{
	if (likely(!(inet_csk(sk)->icsk_ack.pending & NET6_TCP_ACK_PROGRAM)))
		return;
	net6_tcp_clock(tcp_sk(sk));
	net6_tcp_send_ack(sk);
}

/* RFC 5681 4.2: at least every second full segment, unless the reader lags so that the
 * window could not be opened by it anyhow.
 */
static bool net6_tcp_ack_every_second(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->rcv_nxt - tp->rcv_wup <= inet_csk(sk)->icsk_ack.rcv_mss)
		return false;
	return tp->rcv_nxt - tp->copied_seq < READ_ONCE(sk->sk_rcvlowat) ||
	       net6_tcp_window_free(sk) >= tp->rcv_wnd;
}

/**
 * net6_tcp_ack_check() - send the ACK that is due, now or later
 * @sk: socket
 * @ofo_possible: out-of-order data may be waiting: then at once (RFC 5681 4.2)
 *
 * Context: sk locked; after the segment was processed.
 */
void net6_tcp_ack_check(struct sock *sk, bool ofo_possible)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	/* What the owner sends now carries the ACK. */
	if (unlikely(net6_tcp_owner(sk)))
		net6_tcp_user_receive(sk);
	if (!inet_csk_ack_scheduled(sk))
		return;
	if (net6_tcp_ack_every_second(sk) || icsk->icsk_ack.pending & ICSK_ACK_NOW ||
	    (ofo_possible && !RB_EMPTY_ROOT(&tcp_sk(sk)->out_of_order_queue)) ||
	    net6_metric(net6_tcp_metrics(sk), RTAX_QUICKACK))
		net6_tcp_send_ack(sk);
	else if (!icsk->icsk_ack.quick || inet_csk_in_pingpong_mode(sk))
		net6_tcp_delay_ack(sk);
	else if (tcp_sk(sk)->rcv_nxt - tcp_sk(sk)->rcv_wup < tcp_sk(sk)->advmss)
		net6_tcp_ack_soon(sk);
	else
		net6_tcp_send_ack(sk);
}

/* A duplicate, or outside the window: an ACK at once tells the peer where we are. */
static void net6_tcp_data_refuse(struct sock *sk, struct sk_buff *skb,
				 enum net6_drop_reason reason)
{
	net6_tcp_quickack(sk, TCP_MAX_QUICKACKS);
	inet_csk_schedule_ack(sk);
	net6_drop(net6_tcp_nn(sk), skb, reason);
}

/* May it be queued? With nothing to read nobody frees anything: then it must, or a few
 * greedy connections could stop all others for ever.
 */
static bool net6_tcp_data_fits(struct sock *sk, struct sk_buff *skb)
{
	if (likely(!net6_tcp_rmem_schedule(sk, skb)))
		return true;
	return skb_queue_empty(&sk->sk_receive_queue) &&
	       net6_tcp_mem_force(sk, skb->truesize);
}

/* Data in sequence, perhaps with a part that was there already. */
static void net6_tcp_data_in_sequence(struct sock *sk, struct sk_buff *skb)
{
	bool fin = TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN;
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (unlikely(!net6_tcp_data_fits(sk, skb))) {
		NET6_INC(net6_tcp_nn(sk), TcpRcvQDrop);
		/* Say at once that the window is what it is. */
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
		inet_csk_schedule_ack(sk);
		sk->sk_data_ready(sk);
		net6_drop(net6_tcp_nn(sk), skb, NET6_DROP_SOCKET_RCVBUF);
		return;
	}
	if (skb->len)
		net6_tcp_data_event(sk, skb);
	net6_tcp_queue_rcv(sk, skb);
	if (fin)
		net6_tcp_fin(sk);

	if (!RB_EMPTY_ROOT(&tp->out_of_order_queue)) {
		net6_tcp_ofo_deliver(sk);
		/* RFC 5681 4.2: at once when it fills all or part of a gap. */
		if (RB_EMPTY_ROOT(&tp->out_of_order_queue))
			icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	if (tp->rx_opt.num_sacks)
		net6_tcp_sack_trim(tp);
	tcp_fast_path_check(sk);
	if (!sock_flag(sk, SOCK_DEAD))
		net6_tcp_data_ready(sk);
}

/**
 * net6_tcp_data() - the text and FIN of a segment whose ACK has been processed
 * @sk: socket in a state that receives
 * @skb: acceptable segment, data at the TCP header; consumed
 *
 * RFC 9293 3.10.7.4, seventh and eighth check.
 * Context: sk locked. May close the socket.
 */
void net6_tcp_data(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window;

	if (cb->seq == cb->end_seq) {
		consume_skb(skb);
		return;
	}
	net6_tcp_ecn_accept_cwr(sk, skb);
	__skb_pull(skb, tcp_hdr(skb)->doff * 4);
	tp->rx_opt.dsack = 0;

	if (!after(cb->end_seq, tp->rcv_nxt)) {
		net6_tcp_dsack_set(sk, cb->seq, cb->end_seq);
		net6_tcp_data_refuse(sk, skb, NET6_DROP_TCP_OLD_DATA);
		return;
	}
	window = tcp_receive_window(tp);
	if (after(cb->seq, tp->rcv_nxt)) {
		if (!before(cb->seq, tp->rcv_nxt + window))
			net6_tcp_data_refuse(sk, skb, NET6_DROP_TCP_WINDOW);
		else
			net6_tcp_ofo_insert(sk, skb);
		return;
	}
	if (before(cb->seq, tp->rcv_nxt))
		net6_tcp_dsack_set(sk, cb->seq, tp->rcv_nxt);
	if (!window) {
		NET6_INC(net6_tcp_nn(sk), TcpZeroWindowDrop);
		net6_tcp_data_refuse(sk, skb, NET6_DROP_TCP_ZERO_WINDOW);
		return;
	}
	net6_tcp_data_in_sequence(sk, skb);
}

/* RFC 9293 3.8.5, with the pointer as RFC 6093 found it in practice: at the byte behind
 * the urgent one, unless net.ipv4.tcp_stdurg says otherwise.
 */
static void net6_tcp_urg_pointer(struct sock *sk, const struct tcphdr *th)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 ptr = ntohs(th->urg_ptr);
	struct sk_buff *skb;

	if (ptr && !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_stdurg))
		ptr--;
	ptr += ntohl(th->seq);
	/* Read already, received already, or no later than the one we have. */
	if (after(tp->copied_seq, ptr) || before(ptr, tp->rcv_nxt) ||
	    (tp->urg_data && !after(ptr, tp->urg_seq)))
		return;
	sk_send_sigurg(sk);

	/* The old urgent byte was never read and stands next: skip it, as a reader of the
	 * stream would.
	 */
	if (tp->urg_seq == tp->copied_seq && tp->urg_data && !sock_flag(sk, SOCK_URGINLINE) &&
	    tp->copied_seq != tp->rcv_nxt) {
		skb = skb_peek(&sk->sk_receive_queue);
		WRITE_ONCE(tp->copied_seq, tp->copied_seq + 1);
		if (skb && !before(tp->copied_seq, TCP_SKB_CB(skb)->end_seq)) {
			__skb_unlink(skb, &sk->sk_receive_queue);
			__kfree_skb(skb);
		}
	}
	WRITE_ONCE(tp->urg_data, TCP_URG_NOTYET);
	WRITE_ONCE(tp->urg_seq, ptr);
	tp->pred_flags = 0;
}

/**
 * net6_tcp_urg() - sixth check: the URG bit
 * @sk: socket
 * @skb: segment, data at the TCP header
 * @th: its header
 *
 * Context: sk locked.
 */
void net6_tcp_urg(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 at;
	u8 byte;

	if (unlikely(th->urg))
		net6_tcp_urg_pointer(sk, th);
	if (likely(tp->urg_data != TCP_URG_NOTYET))
		return;
	/* The urgent byte may be in this segment. */
	at = tp->urg_seq - TCP_SKB_CB(skb)->seq + th->doff * 4 - th->syn;
	if (at >= skb->len)
		return;
	if (skb_copy_bits(skb, at, &byte, 1))
		return;
	WRITE_ONCE(tp->urg_data, TCP_URG_VALID | byte);
	if (!sock_flag(sk, SOCK_DEAD))
		sk->sk_data_ready(sk);
}

/**
 * net6_tcp_data_ready() - tell a reader, if there is enough for it
 * @sk: socket, locked
 *
 * The end of the stream always wakes; else see net6_tcp_read_ready().
 * Context: softirq or process.
 */
void net6_tcp_data_ready(struct sock *sk)
{
	net6_tcp_owner_event(sk);
	if (net6_tcp_read_ready(sk, READ_ONCE(sk->sk_rcvlowat)) || sock_flag(sk, SOCK_DONE))
		sk->sk_data_ready(sk);
}
