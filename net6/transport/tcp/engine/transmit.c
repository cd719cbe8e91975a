// SPDX-License-Identifier: GPL-2.0
/* Sending: one segment with its header (net6_tcp_transmit), and the loop that decides how much of
 * the write queue may leave now (net6_tcp_write_xmit). It knows windows, Nagle (RFC 9293 3.7.4
 * with Minshall's change), super-packet size, pacing and small queues.
 */
#include <linux/skbuff.h>
#include <net/inet_ecn.h>

#include "../../../compat/inet_sock.h"
#include "../conn/conn.h"
#include "../conn/md5.h"
#include "engine.h"

/* ---- one segment ---- */

static __be32 *net6_tcp_write_timestamps(__be32 *p, u32 tsval, u32 tsecr)
{
	*p++ = htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) | (TCPOPT_TIMESTAMP << 8) |
		     TCPOLEN_TIMESTAMP);
	*p++ = htonl(tsval);
	*p++ = htonl(tsecr);
	return p;
}

/* RFC 2018 4, RFC 2883 4: a DSACK block comes first, then the newest. */
static void net6_tcp_write_sacks(struct tcp_sock *tp, __be32 *p, unsigned int n)
{
	const struct tcp_sack_block *block = tp->selective_acks;
	unsigned int i = 0;

	*p++ = htonl((TCPOPT_NOP << 24) | (TCPOPT_NOP << 16) | (TCPOPT_SACK << 8) |
		     (TCPOLEN_SACK_BASE + n * TCPOLEN_SACK_PERBLOCK));
	if (tp->rx_opt.dsack) {
		*p++ = htonl(tp->duplicate_sack[0].start_seq);
		*p++ = htonl(tp->duplicate_sack[0].end_seq);
		tp->rx_opt.dsack = 0;
		i = 1;
	}
	for (; i < n; i++, block++) {
		*p++ = htonl(block->start_seq);
		*p++ = htonl(block->end_seq);
	}
}

/* What a SYN or SYN-ACK offers, in front of its payload; rx_opt holds it from send_syn on.
 * Returns the length. Apart, so that other segments need no room for it on the stack.
 */
static noinline unsigned int net6_tcp_push_syn_options(struct sock *sk, struct sk_buff *skb,
						       bool md5)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 buf[NET6_TCP_SYN_OPTIONS_MAX];
	unsigned int len;
	struct net6_tcp_opts o = {
		.mss		= tp->advmss,
		.wscale		= tp->rx_opt.rcv_wscale,
		.wscale_ok	= tp->rx_opt.wscale_ok,
		.sack_ok	= tp->rx_opt.sack_ok,
		.tstamp_ok	= tp->rx_opt.tstamp_ok,
		.tsval		= net6_compat_tcp_skb_timestamp(skb) + tp->tsoffset,
		.tsecr		= tp->rx_opt.ts_recent,
		.md5		= md5,
	};

	if (unlikely(tp->fastopen_req) && tp->fastopen_req->cookie.len >= 0) {
		o.fastopen_ok = true;
		o.fastopen_len = tp->fastopen_req->cookie.len;
		memcpy(o.fastopen, tp->fastopen_req->cookie.val, o.fastopen_len);
	}
	len = net6_tcp_write_syn_options(buf, &o);
	memcpy(__skb_push(skb, len), buf, len);
	return len;
}

/* RFC 3168 6.1: ECT on new data, CWR once after a reduction, ECE until the peer's
 * CWR. Returns the ECN bits of the traffic class.
 */
static u8 net6_tcp_ecn_send(struct sock *sk, const struct sk_buff *skb, u8 *flags)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u8 ect = INET_ECN_NOT_ECT;

	if (likely(!(tp->ecn_flags & TCP_ECN_OK)) || *flags & TCPHDR_SYN)
		return ect;
	/* RFC 3168 6.1.5, 6.1.4: no ECT on retransmissions and pure ACKs. */
	if (skb->len && !before(TCP_SKB_CB(skb)->seq, tp->snd_nxt)) {
		ect = INET_ECN_ECT_0;
		if (tp->ecn_flags & TCP_ECN_QUEUE_CWR) {
			tp->ecn_flags &= ~TCP_ECN_QUEUE_CWR;
			*flags |= TCPHDR_CWR;
			skb_shinfo(skb)->gso_type |= SKB_GSO_TCP_ECN;
		}
	} else if (tcp_ca_needs_ecn(sk)) {
		ect = INET_ECN_ECT_0;
	}
	if (tp->ecn_flags & TCP_ECN_DEMAND_CWR)
		*flags |= TCPHDR_ECE;
	return ect;
}

static __be32 net6_tcp_flowinfo(const struct sock *sk, u8 ect)
{
	const struct ipv6_pinfo *np = net6_tcp_np(sk);
	__be32 label = np->flow_label & IPV6_FLOWLABEL_MASK;

	/* RFC 6437 3: a label per flow, from the socket's random hash. */
	if (!label && !(net6_opt(sk, AUTOFLOWLABEL_SET) && !net6_opt(sk, AUTOFLOWLABEL)))
		label = (__force __be32)sk->sk_txhash & IPV6_FLOWLABEL_MASK;
	return label | htonl((u32)((np->tclass & ~INET_ECN_MASK) | ect) << 20);
}

/* RFC 9293 3.1: the header in front of the payload, for which net6_tcp_alloc_skb() has left
 * room; with @md5 the signature's hash is still to come. Returns the ECN bits.
 */
static u8 net6_tcp_write_header(struct sock *sk, struct sk_buff *skb, const struct tcp_skb_cb *cb,
				bool md5)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int size, sacks = 0;
	u8 flags = cb->tcp_flags;
	struct tcphdr *th;
	__be32 *p;
	u8 ect;

	/* As native does, for the receiver's GRO not to wait for more. One segment may wait: so
	 * does its ACK, where the way is congested.
	 */
	if (cb->tcp_gso_segs > 1)
		flags |= TCPHDR_PSH;
	ect = net6_tcp_ecn_send(sk, skb, &flags);
	DEBUG_NET_WARN_ON_ONCE(skb_headroom(skb) < NET6_TCP_HEADER_MAX);
	if (unlikely(flags & TCPHDR_SYN)) {
		size = sizeof(*th) + net6_tcp_push_syn_options(sk, skb, md5);
		th = __skb_push(skb, sizeof(*th));
	} else {
		size = tp->tcp_header_len + (unlikely(md5) ? NET6_TCPOLEN_MD5_ALIGNED : 0);
		sacks = tp->rx_opt.num_sacks + tp->rx_opt.dsack;
		if (unlikely(sacks)) {
			sacks = net6_tcp_sack_blocks(tp, sacks, md5);
			size += net6_tcp_sack_len(sacks);
		}
		th = __skb_push(skb, size);
	}
	skb_reset_transport_header(skb);
	th->source = inet->inet_sport;
	th->dest = inet->inet_dport;
	th->seq = htonl(cb->seq);
	th->ack_seq = htonl(flags & TCPHDR_ACK ? tp->rcv_nxt : 0);
	*(((__be16 *)th) + 6) = htons(((size >> 2) << 12) | flags);
	th->urg_ptr = 0;

	if (unlikely(flags & TCPHDR_SYN)) {
		/* RFC 7323 2.2: the window of a SYN is never scaled. */
		th->window = htons(min(tp->rcv_wnd, 65535U));
		return ect;
	}
	th->window = htons(net6_tcp_select_window(sk));
	if (unlikely(net6_tcp_urg_mode(tp) && before(cb->seq, tp->snd_up))) {
		th->urg_ptr = htons(min_t(u32, tp->snd_up - cb->seq, 0xffff));
		th->urg = 1;
	}
	p = (__be32 *)(th + 1);
	if (unlikely(md5))
		p = (__be32 *)(net6_tcp_md5_write((u8 *)p) + NET6_TCP_MD5_SIZE);
	if (likely(tp->rx_opt.tstamp_ok)) {
		p = net6_tcp_write_timestamps(p, net6_compat_tcp_skb_timestamp(skb) + tp->tsoffset,
					      tp->rx_opt.ts_recent);

		if (unlikely(sacks))
			net6_tcp_write_sacks(tp, p, sacks);
	} else if (unlikely(sacks)) {
		net6_tcp_write_sacks(tp, p, sacks);
	}
	return ect;
}

/* Our packet for the wire: a clone shares the data with the queued one. */
static struct sk_buff *net6_tcp_clone(struct sk_buff *oskb, gfp_t gfp)
{
	struct sk_buff *skb;

	tcp_skb_tsorted_save(oskb) {
		if (unlikely(skb_cloned(oskb)))
			skb = pskb_copy(oskb, gfp);
		else
			skb = skb_clone(oskb, gfp);
	} tcp_skb_tsorted_restore(oskb);
	/* dev lies over the tree's node. */
	if (likely(skb))
		skb->dev = NULL;
	return skb;
}

/* An ACK has left: delayed ones are off (RFC 5681 4.2). */
static inline void net6_tcp_ack_sent(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	tcp_dec_quickack_mode(sk);
	if (unlikely(icsk->icsk_ack.pending & NET6_TCP_ACK_HELD))
		net6_tcp_held_forget(sk);
	icsk->icsk_ack.pending = 0;
	icsk->icsk_ack.retry = 0;
}

static inline void net6_tcp_data_leaves(struct tcp_sock *tp, struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u32 now = tcp_jiffies32;

	if (tcp_packets_in_flight(tp) == 0)
		net6_tcp_ca_event(sk, CA_EVENT_TX_START);
	tp->lsndtime = now;
	/* A reply soon after a segment: an interactive session. */
	if ((u32)(now - icsk->icsk_ack.lrcvtime) < icsk->icsk_ack.ato &&
	    !inet_csk_in_pingpong_mode(sk))
		icsk->icsk_ack.pingpong++;
}

/* Departure of the next packet: this one's length at the pacing rate, less what the
 * gap before it was too long.
 */
static void net6_tcp_pace(struct sock *sk, const struct sk_buff *oskb, u64 prior_wstamp)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned long rate = READ_ONCE(sk->sk_pacing_rate);
	u64 len_ns, credit;

	if (rate == ~0UL || !rate || tp->data_segs_out < TCP_INIT_CWND)
		return;
	len_ns = div64_ul((u64)oskb->len * NSEC_PER_SEC, rate);
	credit = tp->tcp_wstamp_ns - prior_wstamp;
	len_ns -= min_t(u64, len_ns / 2, credit);
	tp->tcp_wstamp_ns += len_ns;
}

static void net6_tcp_sent(struct sock *sk, struct sk_buff *oskb, u64 prior_wstamp)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (unlikely(sk->sk_pacing_status != SK_PACING_NONE))
		net6_tcp_pace(sk, oskb, prior_wstamp);
	if (likely(list_empty(&oskb->tcp_tsorted_anchor)))
		list_add_tail(&oskb->tcp_tsorted_anchor, &tp->tsorted_sent_queue);
	else
		list_move_tail(&oskb->tcp_tsorted_anchor, &tp->tsorted_sent_queue);
	net6_tcp_rate_sent(sk, oskb);
}

/* Filters, programs and queueing disciplines know whose it is. For a pure ACK's two octets
 * nobody waits: sock_wfree() wakes none of a socket with SOCK_USE_WRITE_QUEUE.
 */
static inline void net6_tcp_own(struct sock *sk, struct sk_buff *skb)
{
	skb->sk = sk;
	skb->destructor = skb_is_tcp_pure_ack(skb) ? sock_wfree : net6_tcp_wfree;
	refcount_add(skb->truesize, &sk->sk_wmem_alloc);
}

/**
 * net6_tcp_transmit() - give a segment its headers and send it
 * @sk: socket, locked; tcp_mstamp up to date
 * @skb: payload with TCP_SKB_CB filled
 * @clone: @skb stays queued and a clone goes out; else it is consumed
 * @gfp: for the clone
 *
 * Return: 0, or -ENOBUFS (no memory, or the queue below is full: congestion window
 * reduced as for a loss, as it is when that queue is congested), or the error of the
 * destination.
 */
int net6_tcp_transmit(struct sock *sk, struct sk_buff *skb, bool clone, gfp_t gfp)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	const struct ipv6_pinfo *np = net6_tcp_np(sk);
	const struct in6_addr *saddr, *daddr;
	const struct tcp_md5sig_key *key;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *oskb = skb;
	struct net6_dest *dest;
	u64 prior_wstamp;
	int segs, err;
	u32 len;
	u8 ect;

	dest = net6_sk_dest(sk);
	if (IS_ERR(dest)) {
		if (!clone)
			consume_skb(skb);
		return PTR_ERR(dest);
	}
	prior_wstamp = tp->tcp_wstamp_ns;
	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, tp->tcp_clock_cache);
	skb_set_delivery_time(skb, tp->tcp_wstamp_ns, true);
	if (clone) {
		skb = net6_tcp_clone(oskb, gfp);
		if (unlikely(!skb))
			return -ENOBUFS;
	}
	len = skb->len;
	segs = max_t(int, tcp_skb_pcount(oskb), 1);
	if (clone || len) {
		struct skb_shared_info *si = skb_shinfo(skb);

		si->gso_type = SKB_GSO_TCPV6;
		si->gso_segs = segs;
		si->gso_size = cb->tcp_gso_size;
	}
	saddr = &np->saddr;
	daddr = &sk->sk_v6_daddr;
	key = net6_tcp_md5_key(sk, daddr);
	ect = net6_tcp_write_header(sk, skb, cb, !!key);
	if (unlikely(key))
		net6_tcp_md5_sign((u8 *)(tcp_hdr(skb) + 1) + NET6_TCP_MD5_AT, key, saddr, daddr,
				  skb);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
	tcp_hdr(skb)->check = ~csum_ipv6_magic(saddr, daddr, skb->len, IPPROTO_TCP, 0);

	if (cb->tcp_flags & TCPHDR_ACK)
		net6_tcp_ack_sent(sk);
	if (len) {
		net6_tcp_data_leaves(tp, sk);
		tp->data_segs_out += segs;
		tp->bytes_sent += len;
	}
	tp->segs_out += segs;
	NET6_ADD(dest->nn, TcpOutSegs, segs);

	net6_tcp_own(sk, skb);
	skb->priority = net6_priority(sk->sk_priority, np->tclass);
	skb->mark = sk->sk_mark;
	skb_set_hash_from_sk(skb, sk);
	net6_push_header(skb, saddr, daddr, IPPROTO_TCP,
			 np->hop_limit >= 0 ? np->hop_limit :
			 net6_dest_hop_limit(dest), net6_tcp_flowinfo(sk, ect));

	err = net6_output(skb, dest);
	if (unlikely(err == -ENOBUFS || err > 0)) {
		net6_tcp_enter_cwr(sk);
		err = net_xmit_eval(err) ? -ENOBUFS : 0;
	}
	if (clone && likely(!err))
		net6_tcp_sent(sk, oskb, prior_wstamp);
	return err;
}

/* ---- how much may leave ---- */

/* What stopped the sending loop. */
#define TCP_STOPPED_RWND	BIT(0)
#define TCP_STOPPED_CWND	BIT(1)

/**
 * net6_tcp_new_data_sent() - the head of the write queue is on its way
 * @sk: socket
 * @skb: that head; moves to the retransmission queue
 */
void net6_tcp_new_data_sent(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);

	WRITE_ONCE(tp->snd_nxt, net6_skb_end(skb));
	__skb_unlink(skb, &sk->sk_write_queue);
	net6_tcp_rb_insert(&sk->tcp_rtx_queue, skb);
	if (!tp->highest_sack)
		tp->highest_sack = skb;
	tp->packets_out += tcp_skb_pcount(skb);
}

static bool net6_tcp_minshall(const struct tcp_sock *tp)
{
	return after(tp->snd_sml, tp->snd_una) && !after(tp->snd_sml, tp->snd_nxt);
}

/* Must a partial segment wait? Corked: yes. Nagle: while an earlier small one is
 * unacknowledged (RFC 9293 MUST-17, SHLD-7).
 */
static bool net6_tcp_nagle_holds(bool partial, const struct tcp_sock *tp, int nonagle)
{
	return partial && ((nonagle & TCP_NAGLE_CORK) ||
			   (!nonagle && tp->packets_out && net6_tcp_minshall(tp)));
}

static bool net6_tcp_nagle_test(const struct tcp_sock *tp, const struct sk_buff *skb,
				unsigned int mss, int nonagle)
{
	if (nonagle & TCP_NAGLE_PUSH)
		return true;
	if (net6_tcp_urg_mode(tp) || TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN)
		return true;
	return !net6_tcp_nagle_holds(skb->len < mss, tp, nonagle);
}

/**
 * net6_tcp_fits_window() - may at least the first segment of a packet be sent?
 * @tp: socket
 * @skb: packet
 * @mss: bytes
 *
 * Return: the first segment ends inside the peer's window (SND.UNA + SND.WND).
 */
bool net6_tcp_fits_window(const struct tcp_sock *tp, const struct sk_buff *skb, u32 mss)
{
	u32 end = net6_skb_end(skb);

	if (skb->len > mss)
		end = TCP_SKB_CB(skb)->seq + mss;
	return !after(end, tcp_wnd_end(tp));
}

static u32 net6_tcp_cwnd_quota(const struct tcp_sock *tp, const struct sk_buff *skb)
{
	u32 cwnd = tcp_snd_cwnd(tp), in_flight;

	/* The last FIN does not wait for the congestion window. */
	if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN && tcp_skb_pcount(skb) == 1)
		return 1;
	in_flight = tcp_packets_in_flight(tp);
	if (in_flight >= cwnd)
		return 0;
	return min(max(cwnd >> 1, 1U), cwnd - in_flight);
}

static u32 net6_tcp_max_segs(const struct sock *sk, unsigned int mss)
{
	const struct tcp_congestion_ops *ca = net6_ca(sk);
	const struct net *net = sock_net(sk);
	u32 min_segs;

	min_segs = ca->min_tso_segs ? ca->min_tso_segs((struct sock *)sk) :
		   READ_ONCE(net->ipv4.sysctl_tcp_min_tso_segs);
	return min_t(u32, READ_ONCE(sk->sk_gso_max_segs),
		     net6_tcp_tso_segs(READ_ONCE(sk->sk_pacing_rate),
				       READ_ONCE(sk->sk_pacing_shift), tcp_min_rtt(tcp_sk(sk)),
				       READ_ONCE(net->ipv4.sysctl_tcp_tso_rtt_log),
				       sk->sk_gso_max_size, mss, min_segs));
}

/* How many bytes of a packet to send: whole segments unless the rest is the end of
 * the stream and Nagle lets it go.
 */
static unsigned int net6_tcp_split_point(const struct sock *sk, const struct sk_buff *skb,
					 unsigned int mss, unsigned int max_segs, int nonagle)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 window = tcp_wnd_end(tp) - TCP_SKB_CB(skb)->seq;
	u32 max_len = mss * max_segs;
	u32 needed, partial;

	if (likely(max_len <= window && skb != tcp_write_queue_tail(sk)))
		return max_len;
	needed = min(skb->len, window);
	if (max_len <= needed)
		return max_len;
	partial = needed % mss;
	return net6_tcp_nagle_holds(partial != 0, tp, nonagle) ? needed - partial : needed;
}

/* Wait for more room before a super-packet is cut, but only when the next ACK is near and would
 * open it. A third of the window is worth sending in any case.
 */
static bool net6_tcp_tso_defer(struct sock *sk, struct sk_buff *skb, u32 max_segs, u32 *stopped)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cong_win, send_win, limit, chunk;
	struct sk_buff *head;
	s64 age;
	u8 div;

	if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN || TCP_SKB_CB(skb)->eor ||
	    inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return false;
	/* Nobody deferred for more than a millisecond. */
	if ((s64)(tp->tcp_clock_cache - tp->tcp_wstamp_ns) > (s64)NSEC_PER_MSEC)
		return false;
	cong_win = (tcp_snd_cwnd(tp) - tcp_packets_in_flight(tp)) * tp->mss_cache;
	send_win = tcp_wnd_end(tp) - TCP_SKB_CB(skb)->seq;
	limit = min(send_win, cong_win);
	if (limit >= max_segs * tp->mss_cache)
		return false;
	if (skb != tcp_write_queue_tail(sk) && limit >= skb->len)
		return false;
	div = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_tso_win_divisor);
	if (div) {
		chunk = min(tp->snd_wnd, tcp_snd_cwnd(tp) * tp->mss_cache) / div;
		if (limit >= chunk)
			return false;
	} else if (limit > tcp_max_tso_deferred_mss(tp) * tp->mss_cache) {
		return false;
	}
	head = tcp_rtx_queue_head(sk);
	if (!head)
		return false;
	age = tp->tcp_clock_cache - head->skb_mstamp_ns;
	/* Its ACK is more than half an RTT away. */
	if (age - (s64)(NSEC_PER_USEC >> 4) * tp->srtt_us < 0)
		return false;
	if (cong_win < send_win && cong_win <= skb->len)
		*stopped |= TCP_STOPPED_CWND;
	return true;
}

/* Enough of ours is queued below: come back when it is sent. */
static bool net6_tcp_small_queue(struct sock *sk, const struct sk_buff *skb)
{
	unsigned long limit;

	limit = max_t(unsigned long, 2 * skb->truesize,
		      READ_ONCE(sk->sk_pacing_rate) >> READ_ONCE(sk->sk_pacing_shift));
	if (sk->sk_pacing_status == SK_PACING_NONE)
		limit = min_t(unsigned long, limit,
			      READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_limit_output_bytes));
	if (likely(refcount_read(&sk->sk_wmem_alloc) <= limit))
		return false;
	/* Nothing to wait for: the packets below may be stuck in a driver. */
	if (tcp_rtx_queue_empty(sk))
		return false;
	set_bit(TSQ_THROTTLED, &sk->sk_tsq_flags);
	/* A completion between the test and the bit would not see the bit. */
	smp_mb__after_atomic();
	return refcount_read(&sk->sk_wmem_alloc) > limit;
}

/* May the head of the queue go, and how much of it? Returns bytes, 0 for no. */
static unsigned int net6_tcp_sendable(struct sock *sk, struct sk_buff *skb, unsigned int mss,
				      int nonagle, int push_one, u32 max_segs, u32 *stopped)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int limit = mss;
	u32 quota, segs;

	segs = tcp_skb_pcount(skb);
	if (!segs || (segs > 1 && tcp_skb_mss(skb) != mss)) {
		net6_tcp_set_segs(skb, mss);
		segs = tcp_skb_pcount(skb);
	}
	quota = net6_tcp_cwnd_quota(tp, skb);
	if (!quota) {
		if (push_one != 2)
			return 0;
		quota = 1;	/* the loss probe may exceed cwnd by one */
	}
	if (unlikely(!net6_tcp_fits_window(tp, skb, mss))) {
		*stopped |= TCP_STOPPED_RWND;
		return 0;
	}
	if (segs == 1) {
		bool last = skb == tcp_write_queue_tail(sk);

		if (unlikely(!net6_tcp_nagle_test(tp, skb, mss, last ? nonagle : TCP_NAGLE_PUSH)))
			return 0;
	} else {
		if (!push_one && net6_tcp_tso_defer(sk, skb, max_segs, stopped))
			return 0;
		if (!net6_tcp_urg_mode(tp))
			limit = net6_tcp_split_point(sk, skb, mss, min(quota, max_segs), nonagle);
	}
	return limit;
}

static void net6_tcp_chrono(struct sock *sk, bool rwnd_limited)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (rwnd_limited)
		net6_tcp_chrono_set(tp, TCP_CHRONO_RWND_LIMITED);
	else if (tcp_write_queue_empty(sk) && sk->sk_socket &&
		 test_bit(SOCK_NOSPACE, &sk->sk_socket->flags))
		net6_tcp_chrono_set(tp, TCP_CHRONO_SNDBUF_LIMITED);
	else if (tp->packets_out)
		net6_tcp_chrono_set(tp, TCP_CHRONO_BUSY);
}

/**
 * net6_tcp_write_xmit() - send what may be sent of the write queue
 * @sk: socket; tcp_mstamp up to date
 * @mss: current segment size
 * @nonagle: TCP_NAGLE_* in force
 * @push_one: 1: one packet only; 2: one packet, as tail loss probe
 * @gfp: for clones and splits
 *
 * Return: true when nothing is outstanding and data waits: a probe timer is wanted.
 */
bool net6_tcp_write_xmit(struct sock *sk, unsigned int mss, int nonagle, int push_one, gfp_t gfp)
{
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int limit, sent = 0;
	bool idle = !tp->packets_out;
	u32 max_segs, stopped = 0;
	struct sk_buff *skb;
	bool limited;

	max_segs = net6_tcp_max_segs(sk, mss);
	if (unlikely(inet_csk(sk)->icsk_mtup.enabled) && !push_one) {
		switch (net6_tcp_mtup_probe(sk, gfp)) {
		case NET6_MTUP_WAIT:
			return false;
		case NET6_MTUP_SENT:
			sent = 1;
			break;
		case NET6_MTUP_NONE:
			break;
		}
	}
	while ((skb = tcp_send_head(sk))) {
		if (unlikely(sk->sk_pacing_status == SK_PACING_NEEDED) &&
		    net6_tcp_pacing_check(sk))
			break;
		limit = net6_tcp_sendable(sk, skb, mss, nonagle, push_one, max_segs, &stopped);
		if (!limit)
			break;
		if (skb->len > limit && net6_tcp_fragment(sk, false, skb, limit, mss, gfp))
			break;
		if (net6_tcp_small_queue(sk, skb))
			break;
		/* Left by a writer that sleeps for memory. */
		if (unlikely(TCP_SKB_CB(skb)->seq == net6_skb_end(skb)))
			break;
		if (unlikely(net6_tcp_transmit(sk, skb, true, gfp)))
			break;
		net6_tcp_new_data_sent(sk, skb);
		if (skb->len < tcp_skb_pcount(skb) * mss)
			tp->snd_sml = net6_skb_end(skb);
		sent += tcp_skb_pcount(skb);
		if (push_one)
			break;
	}
	net6_tcp_chrono(sk, stopped & TCP_STOPPED_RWND);
	limited = stopped & TCP_STOPPED_CWND ||
		  tcp_packets_in_flight(tp) >= tcp_snd_cwnd(tp);
	if (sent || limited)
		net6_tcp_cwnd_validate(sk, limited);
	if (!sent)
		return !tp->packets_out && !tcp_write_queue_empty(sk);

	if (tcp_in_cwnd_reduction(sk))
		tp->prr_out += sent;
	/* One timer: the loss probe if it comes first, else the RTO (RFC 6298 5.1). */
	if (push_one == 2 || !net6_tcp_schedule_tlp(sk, false)) {
		if (idle || inet_csk(sk)->icsk_pending == ICSK_TIME_LOSS_PROBE ||
		    !inet_csk(sk)->icsk_pending)
			net6_tcp_rearm_rto(sk);
	}
	return false;
}

/**
 * net6_tcp_push_now() - send what the queue holds, or see that it will be
 * @sk: socket; tcp_mstamp up to date
 * @mss_now: current segment size
 * @nonagle: TCP_NAGLE_*
 */
void net6_tcp_push_now(struct sock *sk, unsigned int mss_now, int nonagle)
{
	/* Data that goes with a SYN is not sent without it. */
	if (unlikely((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_SYN_SENT)))
		return;
	if (!tcp_sk(sk)->packets_out)
		net6_tcp_cwnd_idle(sk);
	if (net6_tcp_write_xmit(sk, mss_now, nonagle, 0, sk_gfp_mask(sk, GFP_ATOMIC)) &&
	    !inet_csk(sk)->icsk_pending)
		net6_tcp_arm(sk, ICSK_TIME_PROBE0, tcp_probe0_base(sk));
}

/**
 * net6_tcp_push_pending() - as net6_tcp_push_now(), the time read first
 * @sk: socket
 * @mss_now: current segment size
 * @nonagle: TCP_NAGLE_*
 */
void net6_tcp_push_pending(struct sock *sk, unsigned int mss_now, int nonagle)
{
	net6_tcp_clock_call(sk);
	net6_tcp_push_now(sk, mss_now, nonagle);
}

/**
 * net6_tcp_push_one() - send the first packet of the queue
 * @sk: socket
 * @mss_now: current segment size
 */
void net6_tcp_push_one(struct sock *sk, unsigned int mss_now)
{
	net6_tcp_clock(tcp_sk(sk));
	if (!tcp_sk(sk)->packets_out)
		net6_tcp_cwnd_idle(sk);
	net6_tcp_write_xmit(sk, mss_now, TCP_NAGLE_PUSH, 1, sk->sk_allocation);
}

/**
 * net6_tcp_push_ready() - as net6_tcp_push_now(), with everything taken from the socket
 * @sk: socket; tcp_mstamp up to date
 */
void net6_tcp_push_ready(struct sock *sk)
{
	if (tcp_send_head(sk))
		net6_tcp_push_now(sk, net6_tcp_current_mss(sk), tcp_sk(sk)->nonagle);
}
