// SPDX-License-Identifier: GPL-2.0
/* Beginning and end of the engine's state in a socket. It is as the kernel's TCP leaves a new
 * socket, so that TCP_INFO and congestion control modules find what they expect.
 */
#include "../../../compat/sock.h"
#include "../../../compat/timer.h"
#include "../conn/conn.h"
#include "engine.h"
#include "../lsm_ops.h"

/* Native's functions change counters and the answer to ECE in front of queue_xmit(). Both are to
 * be as if they had not. The rest is as if a segment had been lost, of which the next one tells
 * the same: window, acknowledgment.
 */
static void net6_tcp_native_undo(struct sock *sk, const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	unsigned int len = skb->len - __tcp_hdrlen(th);
	int segs = skb_shinfo(skb)->gso_segs;
	struct tcp_sock *tp = tcp_sk(sk);

	if (len) {
		WRITE_ONCE(tp->data_segs_out, tp->data_segs_out - segs);
		WRITE_ONCE(tp->bytes_sent, tp->bytes_sent - len);
	}
	tp->segs_out -= segs;
	if (!len || after(ntohl(th->seq) + len, tp->snd_nxt))
		TCP_ADD_STATS(sock_net(sk), TCP_MIB_OUTSEGS, -segs);
	if (th->cwr)
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

/* The kernel's own users of sockets call native's functions on ours (tcp_sock_set_cork(),
 * tcp_sock_set_quickack(), tcp_read_sock(), bpf_tcp_send_ack()). Whatever those send comes by
 * here. It is not sent, and the error keeps native from taking data for sent: queues, sequence
 * numbers and timers stay. We send what is due, as soon as the socket is released, or when this
 * softirq is done with what has arrived.
 */
static int net6_tcp_native_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *fl)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	net6_tcp_native_undo(sk, skb);
	if (unlikely(icsk->icsk_ack.pending & NET6_TCP_ACK_HELD))
		net6_tcp_held_forget(sk);
	icsk->icsk_ack.pending |= ICSK_ACK_SCHED | ICSK_ACK_NOW;
	if (!sock_owned_by_user(sk))
		set_bit(TSQ_THROTTLED, &sk->sk_tsq_flags);
	else if (!test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
	/* Native's would have native's tasklet go on with our socket. */
	skb->destructor = net6_tcp_wfree;
	consume_skb(skb);
	return -ENOBUFS;
}

static void __maybe_unused net6_tcp_native_check(struct sock *sk, struct sk_buff *skb)
{
}

/* The copy of a listener, for who stands before us in its operations (SMC). */
static struct sock *net6_tcp_native_child(const struct sock *listener, struct request_sock *req)
{
	return net6_compat_sk_clone(listener, req, GFP_ATOMIC);
}

NET6_COMPAT_CHILD(net6_tcp_native_syn_recv, net6_tcp_native_child)

const struct inet_connection_sock_af_ops net6_tcp_native_ops = {
	.queue_xmit	= net6_tcp_native_xmit,
	NET6_COMPAT_SEND_CHECK(net6_tcp_native_check)
	.syn_recv_sock	= NET6_COMPAT_CHILD_OP(net6_tcp_native_syn_recv),
	.net_header_len	= sizeof(struct ipv6hdr),	/* for tcp_mtu_probe() */
};

/* Set all that is not zero in a new socket, a child and a disconnected socket. */
static void net6_tcp_defaults(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	INIT_LIST_HEAD(&tp->tsorted_sent_queue);
	icsk->icsk_rto = TCP_TIMEOUT_INIT;	/* RFC 6298 2.1 */
	icsk->icsk_ack.rcv_mss = TCP_MIN_MSS;
	tp->mdev_us = jiffies_to_usecs(TCP_TIMEOUT_INIT);
	minmax_reset(&tp->rtt_min, tcp_jiffies32, ~0U);

	/* RFC 6928: ten segments until something is known. */
	tcp_snd_cwnd_set(tp, TCP_INIT_CWND);
	tp->snd_cwnd_clamp = ~0;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->app_limited = ~0U;	/* until the first full window */
	tp->rate_app_limited = 1;
	tp->mss_cache = TCP_MSS_DEFAULT;
	tp->reordering = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering);
	tp->rack.reo_wnd_steps = 1;
	tp->undo_retrans = -1;
}

/* Clear what a child and a disconnected socket have to forget. Not sk_tsq_flags: they stand for
 * references. Those are given back by release_cb, or by whoever set the flags.
 */
static void net6_tcp_fresh(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	tp->out_of_order_queue = RB_ROOT;
	sk->tcp_rtx_queue = RB_ROOT;
	tp->ooo_last_skb = NULL;
	tp->highest_sack = NULL;
	tp->retransmit_skb_hint = NULL;
	net6_compat_forget_lost(tp);

	icsk->icsk_retransmits = 0;
	icsk->icsk_backoff = 0;
	icsk->icsk_probes_out = 0;
	icsk->icsk_probes_tstamp = 0;
	icsk->icsk_ca_state = TCP_CA_Open;
	memset(&icsk->icsk_ack, 0, sizeof(icsk->icsk_ack));
	memset(&icsk->icsk_mtup, 0, sizeof(icsk->icsk_mtup));

	tp->srtt_us = 0;
	tp->mdev_max_us = 0;
	tp->rttvar_us = 0;
	tp->rtt_seq = 0;

	tp->snd_cwnd_cnt = 0;
	tp->snd_cwnd_used = 0;
	tp->prior_cwnd = 0;
	tp->prior_ssthresh = 0;
	tp->is_cwnd_limited = 0;
	tp->max_packets_out = 0;
	tp->cwnd_usage_seq = 0;
	tp->rate_delivered = 0;
	tp->rate_interval_us = 0;
	tp->first_tx_mstamp = 0;
	tp->delivered_mstamp = 0;
	tp->gso_segs = 0;

	tp->reord_seen = 0;
	memset(&tp->rack, 0, sizeof(tp->rack));
	tp->undo_marker = 0;
	tp->retrans_stamp = 0;
	tp->high_seq = 0;
	tp->tlp_high_seq = 0;
	tp->frto = 0;
	tp->is_sack_reneg = 0;
	memset(tp->recv_sack_cache, 0, sizeof(tp->recv_sack_cache));

	tp->tcp_wstamp_ns = 0;
	tp->tcp_clock_cache = 0;
	tp->last_oow_ack_time = 0;
	tp->urg_data = 0;
	tp->ecn_flags = 0;
	tp->pred_flags = 0;
	tp->chrono_type = TCP_CHRONO_UNSPEC;
	memset(tp->chrono_stat, 0, sizeof(tp->chrono_stat));
	memset(&tp->rcv_rtt_est, 0, sizeof(tp->rcv_rtt_est));
	memset(&tp->rcvq_space, 0, sizeof(tp->rcvq_space));
	tp->rcv_rtt_last_tsecr = 0;
	net6_tcp_defaults(sk);
}

static void net6_tcp_fresh_counters(struct tcp_sock *tp)
{
	tp->packets_out = 0;
	tp->retrans_out = 0;
	tp->sacked_out = 0;
	tp->lost_out = 0;
	tp->delivered = 0;
	tp->delivered_ce = 0;
	tp->lost = 0;
	tp->prr_out = 0;
	tp->prr_delivered = 0;
	tp->total_retrans = 0;
	tp->bytes_sent = 0;
	tp->bytes_acked = 0;
	tp->bytes_received = 0;
	tp->bytes_retrans = 0;
	tp->segs_in = 0;
	tp->segs_out = 0;
	tp->data_segs_in = 0;
	tp->data_segs_out = 0;
	tp->dsack_dups = 0;
	tp->rcv_ooopack = 0;
	tp->timeout_rehash = 0;
	tcp_clear_options(&tp->rx_opt);
	tp->rx_opt.num_sacks = 0;
	tp->rx_opt.dsack = 0;
	tp->rx_opt.saw_tstamp = 0;
}

/**
 * net6_tcp_engine_init() - a new socket's engine
 * @sk: socket, zeroed
 *
 * Context: process.
 */
void net6_tcp_engine_init(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	net6_tcp_defaults(sk);
	icsk->icsk_af_ops = &net6_tcp_native_ops;
	icsk->icsk_rto_min = TCP_RTO_MIN;
	icsk->icsk_delack_max = TCP_DELACK_MAX;
	tp->rx_opt.mss_clamp = NET6_TCP_DEFAULT_MSS;
	tp->tcp_header_len = sizeof(struct tcphdr);
	sk->sk_gso_max_size = GSO_LEGACY_MAX_SIZE;
	sk->sk_gso_max_segs = GSO_MAX_SEGS;
	net6_tcp_cong_assign(sk);
}

/**
 * net6_tcp_engine_child() - a child's engine, at the end of its handshake
 * @child: copy of @listener, locked, seen by nobody
 * @listener: its listener
 *
 * Context: softirq.
 */
void net6_tcp_engine_child(struct sock *child, const struct sock *listener)
{
	struct tcp_sock *tp = tcp_sk(child);

	net6_tcp_timers_init(child);
	/* SMC's, if its listener is SMC's, go with that. */
	inet_csk(child)->icsk_af_ops = &net6_tcp_native_ops;
	child->sk_tsq_flags = 0;
	net6_tcp_fresh(child);
	net6_tcp_fresh_counters(tp);
	tp->saved_syn = NULL;
	tp->fastopen_req = NULL;
	tp->fastopen_connect = 0;
	RCU_INIT_POINTER(tp->fastopen_rsk, NULL);
	skb_queue_head_init(&child->sk_write_queue);
	net6_tcp_cong_inherit(child, listener);
	if (unlikely(net6_tcp_metrics(child)))
		net6_tcp_byroute_begin(child, net6_tcp_metrics(child));
}

/**
 * net6_tcp_engine_established() - the handshake is done
 * @sk: socket in ESTABLISHED, or a child about to be, with all that was negotiated; tcp_mstamp
 *	up to date
 * @op: what programs are told: BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB or _PASSIVE_
 * @skb: the segment that did it, data at the TCP header
 *
 * Context: any.
 */
void net6_tcp_engine_established(struct sock *sk, int op, struct sk_buff *skb)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct net6_dest *dest;

#if IS_ENABLED(CONFIG_SMC)
	/* No peer ever says that it speaks SMC: we do not send that option, nor look at it. */
	tp->syn_smc = 0;
#endif
	dest = net6_sk_dest(sk);
	net6_tcp_sync_mss(sk, IS_ERR(dest) ? NET6_MIN_MTU : net6_dest_mtu(dest));
	net6_tcp_mtup_init(sk);
	if (unlikely(icsk->icsk_mtup.enabled))
		net6_tcp_sync_mss(sk, icsk->icsk_pmtu_cookie);
	/* The peer's segment size, until some have been seen. */
	icsk->icsk_ack.rcv_mss = clamp_t(u32, min_t(u32, tp->advmss, tp->mss_cache),
					 TCP_MIN_MSS, max_t(u32, TCP_MIN_MSS, TCP_MSS_DEFAULT));
	/* RFC 6298 5.7: the SYN was retransmitted and no sample came of it. */
	if (!tp->srtt_us && tp->total_retrans > 0)
		icsk->icsk_rto = TCP_TIMEOUT_FALLBACK;
	/* RFC 5681 3.1: one segment when the SYN was lost more than once. A time-out of
	 * the SYN says nothing about the path's capacity: ssthresh starts afresh.
	 */
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (unlikely(net6_tcp_metrics(sk)))
		net6_tcp_byroute_established(sk, net6_tcp_metrics(sk));
	tcp_snd_cwnd_set(tp, tp->total_retrans > 1 ? 1 : net6_tcp_init_cwnd(sk));
	tp->snd_cwnd_stamp = tcp_jiffies32;
	net6_tcp_ops_established(sk, op, skb);
	/* Chosen in SYN-RECEIVED it has been started. */
	if (likely(!icsk->icsk_ca_initialized))
		net6_tcp_cong_init(sk);
	net6_tcp_buffers_init(sk);
	net6_tcp_pacing_rate(sk);
	tcp_fast_path_on(tp);
}

/**
 * net6_tcp_engine_reset() - disconnect: forget the connection, keep the settings
 * @sk: socket in CLOSE; its queues and timers were cleared
 *
 * Context: any.
 */
void net6_tcp_engine_reset(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_congestion_ops *ca = net6_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (icsk->icsk_ca_initialized && ca->release)
		ca->release(sk);
	memset(icsk->icsk_ca_priv, 0, sizeof(icsk->icsk_ca_priv));
	icsk->icsk_ca_initialized = 0;
	if (unlikely(net6_tcp_metrics(sk)))
		net6_tcp_byroute_end(sk, net6_tcp_metrics(sk));
	net6_tcp_ofo_purge(sk);
	net6_tcp_fresh(sk);
	net6_tcp_fresh_counters(tp);
	icsk->icsk_ack.rcv_mss = TCP_MIN_MSS;
	tp->rx_opt.mss_clamp = NET6_TCP_DEFAULT_MSS;
	tp->tcp_header_len = sizeof(struct tcphdr);
	tp->window_clamp = 0;
	tp->rcv_wnd = 0;
	tp->rcv_wup = 0;
	tp->snd_wnd = 0;
}

#define NET6_TCP_DEFERRED	(TCPF_TSQ_DEFERRED | TCPF_WRITE_TIMER_DEFERRED |	\
				 TCPF_DELACK_TIMER_DEFERRED | TCPF_MTU_REDUCED_DEFERRED)

/**
 * net6_tcp_release_cb() - what came up while a process owned the socket
 * @sk: socket; struct proto's release_cb
 *
 * Context: process, BH disabled, the socket's spinlock held and still owned.
 */
void net6_tcp_release_cb(struct sock *sk)
	__must_hold(&sk->sk_lock.slock)
{
	unsigned long flags = READ_ONCE(sk->sk_tsq_flags);

	do {
		if (!(flags & NET6_TCP_DEFERRED))
			return;
	} while (!try_cmpxchg(&sk->sk_tsq_flags, &flags, flags & ~NET6_TCP_DEFERRED));

	if (flags & TCPF_TSQ_DEFERRED) {
		net6_tcp_tsq_write(sk);
		__sock_put(sk);
	}
	net6_compat_release_early(sk);
	if (flags & TCPF_WRITE_TIMER_DEFERRED) {
		net6_tcp_write_timer_handler(sk);
		__sock_put(sk);
	}
	if (flags & TCPF_DELACK_TIMER_DEFERRED) {
		net6_tcp_delack_timer_handler(sk);
		__sock_put(sk);
	}
	if (flags & TCPF_MTU_REDUCED_DEFERRED) {
		net6_tcp_mtu_reduced(sk, READ_ONCE(tcp_sk(sk)->mtu_info));
		__sock_put(sk);
	}
}
