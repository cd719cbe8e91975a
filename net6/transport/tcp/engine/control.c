// SPDX-License-Identifier: GPL-2.0
/* Segments that are not data of the write queue. They are SYN, SYN-ACK of a simultaneous open,
 * FIN, active RST, window probes, and ACKs of all kinds with their rate limits.
 */
#include <net/inet_ecn.h>

#include "engine.h"
#include "../conn/fastopen.h"
#include "../conn/md5.h"
#include "../lsm_ops.h"

/* A bare segment; charged to the socket once it is sent. */
static struct sk_buff *net6_tcp_bare_skb(struct sock *sk, u32 seq, u8 flags, gfp_t gfp)
{
	unsigned int room = net6_tcp_headroom(sk);
	struct sk_buff *skb = alloc_skb(room, sk_gfp_mask(sk, gfp));
	struct tcp_skb_cb *cb;

	if (unlikely(!skb))
		return NULL;
	skb_reserve(skb, room);
	cb = TCP_SKB_CB(skb);
	memset(cb, 0, sizeof(*cb));
	cb->seq = seq;
	cb->end_seq = seq + !!(flags & (TCPHDR_SYN | TCPHDR_FIN));
	cb->tcp_flags = flags;
	cb->tcp_gso_segs = 1;
	return skb;
}

/* RFC 9293 3.10.7.4: SND.NXT, but never beyond the window: a window that shrank
 * leaves sequence numbers that the peer would not accept.
 */
static u32 net6_tcp_acceptable_seq(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (likely(!before(tcp_wnd_end(tp), tp->snd_nxt) ||
		   (tp->rx_opt.wscale_ok &&
		    tp->snd_nxt - tcp_wnd_end(tp) < (1 << tp->rx_opt.rcv_wscale))))
		return tp->snd_nxt;
	return tcp_wnd_end(tp);
}

/**
 * net6_tcp_send_ack() - acknowledge what has arrived, now
 * @sk: connected socket
 */
void net6_tcp_send_ack(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct sk_buff *skb;

	if (unlikely(sk->sk_state == TCP_CLOSE))
		return;
	skb = net6_tcp_bare_skb(sk, net6_tcp_acceptable_seq(sk), TCPHDR_ACK,
				GFP_ATOMIC | __GFP_NOWARN);
	if (unlikely(!skb)) {
		/* Try again, less and less eagerly. */
		unsigned long delay = TCP_DELACK_MAX << icsk->icsk_ack.retry;

		if (delay < TCP_RTO_MAX)
			icsk->icsk_ack.retry++;
		icsk->icsk_ack.ato = TCP_ATO_MIN;
		icsk->icsk_ack.pending |= ICSK_ACK_SCHED | ICSK_ACK_TIMER;
		net6_compat_ack_timeout(sk) = jiffies + min_t(unsigned long, delay, TCP_RTO_MAX);
		sk_reset_timer(sk, &icsk->icsk_delack_timer, net6_compat_ack_timeout(sk));
		return;
	}
	/* It keeps the socket, but nothing waits for its memory. */
	skb_set_tcp_pure_ack(skb);
	net6_tcp_transmit(sk, skb, false, 0);
}

/* Route, options and window of an active open; snd_* from write_seq (the ISN). */
static int net6_tcp_syn_prepare(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct net *net = sock_net(sk);
	struct net6_dest *dest;
	u32 mtu, first = 0;
	u8 wscale;

	dest = net6_sk_dest(sk);
	if (IS_ERR(dest))
		return PTR_ERR(dest);
	if (unlikely(dest->metrics))
		net6_tcp_byroute_begin(sk, dest->metrics);

	/* Beside a signature SACK blocks would have no room; as on native. */
	tp->rx_opt.tstamp_ok = READ_ONCE(net->ipv4.sysctl_tcp_timestamps) &&
			       !net6_tcp_md5_room(sk);
	tp->rx_opt.sack_ok = !!READ_ONCE(net->ipv4.sysctl_tcp_sack);
	tp->rx_opt.wscale_ok = !!READ_ONCE(net->ipv4.sysctl_tcp_window_scaling);
	tp->rx_opt.ts_recent = 0;
	tp->tcp_header_len = sizeof(struct tcphdr);
	if (tp->rx_opt.tstamp_ok)
		tp->tcp_header_len += TCPOLEN_TSTAMP_ALIGNED;
	if (tp->rx_opt.user_mss)
		tp->rx_opt.mss_clamp = tp->rx_opt.user_mss;

	tp->max_window = 0;
	mtu = net6_dest_mtu(dest);
	net6_tcp_sync_mss(sk, mtu);
	tp->advmss = net6_dest_advmss(dest);
	if (tp->rx_opt.user_mss && tp->rx_opt.user_mss < tp->advmss)
		tp->advmss = tp->rx_opt.user_mss;

	if (net6_tcp_ops_on())
		first = net6_tcp_ops_segments(net6_tcp_ops_call(sk, BPF_SOCK_OPS_RWND_INIT,
								0, 0, 0));
	net6_tcp_init_window(sk, dest->metrics, tp->advmss, first, &tp->rcv_wnd,
			     &tp->window_clamp, &wscale);
	tp->rx_opt.rcv_wscale = tp->rx_opt.wscale_ok ? wscale : 0;
	tp->rcv_ssthresh = tp->rcv_wnd;

	sk->sk_err = 0;
	sock_reset_flag(sk, SOCK_DONE);
	tp->snd_wnd = 0;
	tcp_init_wl(tp, 0);
	tp->snd_una = tp->write_seq;
	tp->snd_sml = tp->write_seq;
	tp->snd_up = tp->write_seq;
	WRITE_ONCE(tp->snd_nxt, tp->write_seq);
	tp->rcv_nxt = 0;
	tp->rcv_wup = 0;
	WRITE_ONCE(tp->copied_seq, 0);
	inet_csk(sk)->icsk_rto = net6_tcp_ops_timeout(sk);
	inet_csk(sk)->icsk_retransmits = 0;
	tp->retrans_stamp = 0;
	return 0;
}

/* A bare segment that takes sequence space, for the retransmission queue. */
static struct sk_buff *net6_tcp_queued_skb(struct sock *sk, u32 seq, u8 flags, gfp_t gfp)
{
	struct sk_buff *skb = net6_tcp_alloc_skb(sk, 0, gfp, true);
	struct tcp_skb_cb *cb;

	if (unlikely(!skb))
		return NULL;
	cb = TCP_SKB_CB(skb);
	cb->seq = seq;
	cb->end_seq = seq + 1;
	cb->tcp_flags = flags;
	cb->sacked = 0;
	skb->ip_summed = CHECKSUM_PARTIAL;
	net6_tcp_set_segs(skb, 1);
	__skb_header_release(skb);
	sk_wmem_queued_add(sk, skb->truesize);
	sk_mem_charge(sk, skb->truesize);
	return skb;
}

/**
 * net6_tcp_send_syn() - active open, RFC 9293 3.10.1
 * @sk: socket in SYN-SENT with addresses, ports, write_seq = ISN and tsoffset set
 *
 * Queues the SYN and arms the timer; a SYN that could not be sent now is
 * retransmitted like a lost one.
 * Return: 0 or -errno (no route, no memory).
 */
int net6_tcp_send_syn(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u8 flags = TCPHDR_SYN;
	struct sk_buff *skb;
	int err;

	net6_tcp_ops_tell(sk, BPF_SOCK_OPS_TCP_CONNECT_CB);
	err = net6_tcp_syn_prepare(sk);
	if (err)
		return err;
	/* RFC 3168 6.1.1: offer ECN if asked for. */
	tp->ecn_flags = 0;
	if (READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_ecn) == 1 || tcp_ca_needs_ecn(sk) ||
	    net6_tcp_ops_ecn(sk) ||
	    net6_metric(net6_tcp_metrics(sk), RTAX_FEATURES) & RTAX_FEATURE_ECN) {
		flags |= TCPHDR_ECE | TCPHDR_CWR;
		tp->ecn_flags = TCP_ECN_OK;
	}
	skb = net6_tcp_queued_skb(sk, tp->write_seq, flags, sk->sk_allocation);
	if (!skb)
		return -ENOBUFS;
	tp->write_seq++;
	net6_tcp_clock(tp);
	tp->retrans_stamp = net6_compat_tcp_time_stamp(tp);
	net6_tcp_rb_insert(&sk->tcp_rtx_queue, skb);
	WRITE_ONCE(tp->snd_nxt, tp->write_seq);
	if (likely(!tp->fastopen_req))
		net6_tcp_transmit(sk, skb, true, sk->sk_allocation);
	else
		net6_tcp_fastopen_syn(sk, skb);
	tp->packets_out++;
	tp->pushed_seq = tp->write_seq;
	/* The timer itself runs no longer than what will be sent next needs it. If that comes
	 * soon, nobody has to set it again. Else it goes on to the SYN's time.
	 */
	net6_tcp_arm(sk, ICSK_TIME_RETRANS, TCP_RTO_MIN);
	net6_compat_timeout(sk) = jiffies + inet_csk(sk)->icsk_rto;
	return 0;
}

/**
 * net6_tcp_queue_synack() - put the SYN of a passive open where an active one has it
 * @sk: child in SYN-RECEIVED that Fast Open made; snd_una is its ISN, nothing queued
 *
 * It is retransmitted like any segment; net6_tcp_send_synack() sends it first.
 * Context: softirq.
 * Return: false without memory.
 */
bool net6_tcp_queue_synack(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	skb = net6_tcp_queued_skb(sk, tp->snd_una, TCPHDR_SYN | TCPHDR_ECE, GFP_ATOMIC);
	if (!skb)
		return false;
	net6_tcp_clock(tp);
	tp->retrans_stamp = net6_compat_tcp_time_stamp(tp);
	net6_tcp_rb_insert(&sk->tcp_rtx_queue, skb);
	tp->packets_out++;
	inet_csk(sk)->icsk_rto = net6_tcp_ops_timeout(sk);
	net6_tcp_arm(sk, ICSK_TIME_RETRANS, inet_csk(sk)->icsk_rto);
	return true;
}

/**
 * net6_tcp_send_synack() - answer a SYN in SYN-SENT (simultaneous open), or Fast Open's
 * @sk: socket that just became SYN-RECEIVED
 *
 * The queued SYN becomes a SYN-ACK with the same sequence number (RFC 9293 3.5,
 * figure 8). Return: 0 or -errno.
 */
int net6_tcp_send_synack(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	if (!skb || !(TCP_SKB_CB(skb)->tcp_flags & TCPHDR_SYN))
		return -EFAULT;
	TCP_SKB_CB(skb)->tcp_flags |= TCPHDR_ACK;
	TCP_SKB_CB(skb)->tcp_flags &= ~TCPHDR_CWR;
	if (!(tcp_sk(sk)->ecn_flags & TCP_ECN_OK))
		TCP_SKB_CB(skb)->tcp_flags &= ~TCPHDR_ECE;
	return net6_tcp_transmit(sk, skb, true, GFP_ATOMIC);
}

/* A packet for the FIN, whose place is the last in the sequence. */
static bool net6_tcp_queue_fin(struct sock *sk)
{
	struct sk_buff *skb = net6_tcp_queued_skb(sk, tcp_sk(sk)->write_seq - 1,
						  TCPHDR_ACK | TCPHDR_FIN,
						  sk_gfp_mask(sk, GFP_ATOMIC | __GFP_NOWARN));

	if (unlikely(!skb))
		return false;
	__skb_queue_tail(&sk->sk_write_queue, skb);
	return true;
}

/**
 * net6_tcp_send_fin() - no more data from us, RFC 9293 3.10.4
 * @sk: socket whose state has already moved on
 *
 * The FIN rides on the last unsent packet. Under memory pressure, or without memory for one of
 * its own, it also rides on the last sent one, whose retransmission will carry it. If there is
 * none it has its place in the sequence, and the timer sends it: net6_tcp_fin_owed().
 */
void net6_tcp_send_fin(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *tail;

	/* Nothing comes after it. */
	if (net6_tcp_has_pages(sk))
		net6_tcp_pages_drop(sk);
	WRITE_ONCE(tp->write_seq, tp->write_seq + 1);
	tail = tcp_write_queue_tail(sk);
	if (!tail && sk_under_memory_pressure(sk))
		tail = tcp_rtx_queue_tail(sk);
	if (!tail && !net6_tcp_queue_fin(sk))
		tail = tcp_rtx_queue_tail(sk);
	if (tail) {
		TCP_SKB_CB(tail)->tcp_flags |= TCPHDR_FIN;
		TCP_SKB_CB(tail)->end_seq++;
		if (!tcp_send_head(sk)) {
			WRITE_ONCE(tp->snd_nxt, tp->snd_nxt + 1);
			return;
		}
	}
	if (unlikely(!tcp_send_head(sk)))
		net6_tcp_arm(sk, ICSK_TIME_PROBE0, TCP_RESOURCE_PROBE_INTERVAL);
	else
		net6_tcp_push_pending(sk, net6_tcp_current_mss(sk), TCP_NAGLE_OFF);
}

/**
 * net6_tcp_send_owed_fin() - there may be memory now for the FIN that had none
 * @sk: socket, net6_tcp_fin_owed()
 */
void net6_tcp_send_owed_fin(struct sock *sk)
{
	if (net6_tcp_queue_fin(sk))
		net6_tcp_push_pending(sk, net6_tcp_current_mss(sk), TCP_NAGLE_OFF);
	else
		net6_tcp_arm(sk, ICSK_TIME_PROBE0, TCP_RESOURCE_PROBE_INTERVAL);
}

static void net6_tcp_send_bare(struct sock *sk, u8 flags, gfp_t gfp)
{
	struct sk_buff *skb = net6_tcp_bare_skb(sk, net6_tcp_acceptable_seq(sk), flags, gfp);

	if (likely(skb))
		net6_tcp_transmit(sk, skb, false, 0);
}

/**
 * net6_tcp_send_active_reset() - abort, RFC 9293 3.10.5
 * @sk: socket, about to be closed
 * @gfp: for the segment
 */
void net6_tcp_send_active_reset(struct sock *sk, gfp_t gfp)
{
	NET6_INC(net6_tcp_nn_locked(sk), TcpOutRsts);
	net6_tcp_clock(tcp_sk(sk));
	/* Without the handshake's last ACK the peer would forget a request, and its program
	 * never hear of the connection.
	 */
	if (unlikely(inet_csk(sk)->icsk_ack.pending & NET6_TCP_ACK_HELD))
		net6_tcp_send_bare(sk, TCPHDR_ACK, gfp);
	net6_tcp_send_bare(sk, TCPHDR_ACK | TCPHDR_RST, gfp);
}

/**
 * net6_tcp_oow_limited() - is an answer to this unacceptable segment due?
 * @sk: socket
 * @skb: segment
 *
 * At most one answer in sysctl tcp_invalid_ratelimit to segments without data, so
 * that two confused ends do not answer each other for ever.
 * Return: true if nothing is to be sent.
 */
bool net6_tcp_oow_limited(struct sock *sk, const struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

	if (cb->seq != cb->end_seq && !(cb->tcp_flags & TCPHDR_SYN))
		return false;
	if (tp->last_oow_ack_time) {
		s32 elapsed = tcp_jiffies32 - tp->last_oow_ack_time;

		if (elapsed >= 0 &&
		    elapsed < READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_invalid_ratelimit))
			return true;
	}
	tp->last_oow_ack_time = tcp_jiffies32;
	return false;
}

/**
 * net6_tcp_challenge_ack() - RFC 5961 3.2, 4.2, 5.2, with its section 7's throttle
 * @sk: socket
 *
 * At most sysctl tcp_challenge_ack_limit (1000 if that is unlimited) a second and
 * namespace; the budget is partly random, so that others cannot count it.
 */
void net6_tcp_challenge_ack(struct sock *sk)
{
	struct net6_tcp_net *tn = net6_tcp_nn_locked(sk)->tcp;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 now = jiffies / HZ;
	s32 elapsed;
	u32 limit;

	if (tp->last_oow_ack_time) {
		elapsed = tcp_jiffies32 - tp->last_oow_ack_time;
		if (elapsed >= 0 &&
		    elapsed < READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_invalid_ratelimit))
			return;
	}
	tp->last_oow_ack_time = tcp_jiffies32;

	limit = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_challenge_ack_limit);
	limit = min_t(u32, limit, 1000);
	if (READ_ONCE(tn->challenge_stamp) != now) {
		u32 half = (limit + 1) >> 1;

		WRITE_ONCE(tn->challenge_stamp, now);
		atomic_set(&tn->challenge_left, half + (get_random_u32() % max(limit, 1U)));
	}
	if (atomic_dec_if_positive(&tn->challenge_left) < 0)
		return;
	NET6_INC(net6_tcp_nn_locked(sk), TcpChallengeACK);
	net6_tcp_send_ack(sk);
}

/**
 * net6_tcp_send_dupack() - answer a segment that is not acceptable, RFC 9293 3.10.7.4
 * @sk: socket
 * @skb: segment; old data is reported as DSACK (RFC 2883 4)
 */
void net6_tcp_send_dupack(struct sock *sk, const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 end = cb->end_seq;

	if (cb->end_seq != cb->seq && before(cb->seq, tp->rcv_nxt)) {
		net6_tcp_quickack(sk, TCP_MAX_QUICKACKS);
		if (after(end, tp->rcv_nxt))
			end = tp->rcv_nxt;
		net6_tcp_dsack_set(sk, cb->seq, end);
	}
	net6_tcp_send_ack(sk);
}

/* A segment without data and an old sequence number: the peer must answer it (RFC
 * 9293 MUST-15: probe before the window). @urgent announces urgent data that the
 * window does not let through.
 */
static int net6_tcp_send_probe(struct sock *sk, bool urgent)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	skb = net6_tcp_bare_skb(sk, tp->snd_una - !urgent, TCPHDR_ACK, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return -ENOBUFS;
	return net6_tcp_transmit(sk, skb, false, 0);
}

/* As much of the first packet as the window takes. */
static int net6_tcp_wakeup_data(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int mss = net6_tcp_current_mss(sk);
	u32 size = tcp_wnd_end(tp) - TCP_SKB_CB(skb)->seq;
	int err;

	if (before(tp->pushed_seq, net6_skb_end(skb)))
		tp->pushed_seq = net6_skb_end(skb);
	if (size < net6_skb_end(skb) - TCP_SKB_CB(skb)->seq || skb->len > mss) {
		size = min(size, mss);
		TCP_SKB_CB(skb)->tcp_flags |= TCPHDR_PSH;
		if (size < skb->len &&
		    net6_tcp_fragment(sk, false, skb, size, mss, GFP_ATOMIC))
			return -ENOBUFS;
	}
	net6_tcp_set_segs(skb, mss);
	TCP_SKB_CB(skb)->tcp_flags |= TCPHDR_PSH;
	err = net6_tcp_transmit(sk, skb, true, GFP_ATOMIC);
	if (!err) {
		net6_tcp_new_data_sent(sk, skb);
		net6_tcp_rearm_rto(sk);
	}
	return err;
}

/**
 * net6_tcp_write_wakeup() - probe the peer: with data if the window allows
 * @sk: socket
 *
 * Return: 0, -ENOBUFS (not sent for lack of local resources), or another error.
 */
int net6_tcp_write_wakeup(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	if (sk->sk_state == TCP_CLOSE)
		return -ENOTCONN;
	skb = tcp_send_head(sk);
	if (skb && TCP_SKB_CB(skb)->seq != net6_skb_end(skb) &&
	    before(TCP_SKB_CB(skb)->seq, tcp_wnd_end(tp)))
		return net6_tcp_wakeup_data(sk, skb);
	if (between(tp->snd_up, tp->snd_una + 1, tp->snd_una + 0xffff))
		net6_tcp_send_probe(sk, true);
	return net6_tcp_send_probe(sk, false);
}

/**
 * net6_tcp_probe0_clamp() - no later than the user's time-out ends it all, RFC 5482 3.1
 * @sk: socket
 * @when: jiffies to the next probe of a zero window
 *
 * Return: jiffies, @when or less.
 */
unsigned long net6_tcp_probe0_clamp(const struct sock *sk, unsigned long when)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 user = READ_ONCE(icsk->icsk_user_timeout);
	s32 elapsed, left;

	if (!user || !icsk->icsk_probes_tstamp)
		return when;
	elapsed = tcp_jiffies32 - icsk->icsk_probes_tstamp;
	if (elapsed < 0)
		elapsed = 0;
	left = max_t(s32, msecs_to_jiffies(user) - elapsed, TCP_TIMEOUT_MIN);
	return min_t(unsigned long, left, when);
}

/**
 * net6_tcp_send_probe0() - probe a zero window, RFC 9293 3.8.6.1
 * @sk: socket
 *
 * The interval backs off exponentially (SHLD-30) up to the largest RTO.
 */
void net6_tcp_send_probe0(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned long when;
	int err;

	err = net6_tcp_write_wakeup(sk);
	if (tp->packets_out || tcp_write_queue_empty(sk)) {
		icsk->icsk_probes_out = 0;
		icsk->icsk_backoff = 0;
		icsk->icsk_probes_tstamp = 0;
		return;
	}
	icsk->icsk_probes_out++;
	if (err != -ENOBUFS) {
		if (icsk->icsk_backoff < READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_retries2))
			icsk->icsk_backoff++;
		when = tcp_probe0_when(sk, TCP_RTO_MAX);
	} else {
		when = TCP_RESOURCE_PROBE_INTERVAL;
	}
	net6_tcp_arm(sk, ICSK_TIME_PROBE0, net6_tcp_probe0_clamp(sk, when));
}
