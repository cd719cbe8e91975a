// SPDX-License-Identifier: GPL-2.0
/* Path MTU without the network's help (RFC 4821): when Packet Too Big messages do not
 * come, segments shrink after time-outs and grow again by probes. Off unless
 * tcp_mtu_probing says 1 (after time-outs) or 2 (always); a probe is a segment of data
 * like others, only longer. Needs SACK, without which a lost probe is not told from
 * other losses (RFC 4821 7.3).
 */
#include "../conn/md5.h"
#include "engine.h"

/* RFC 4821 7.2: one probe needs a window that survives its loss. */
#define TCP_PROBE_MIN_CWND	11

static u32 net6_tcp_mtup_mtu(const struct sock *sk, u32 mss)
{
	return mss + tcp_sk(sk)->tcp_header_len + net6_tcp_md5_room(sk) +
	       inet_csk(sk)->icsk_ext_hdr_len + sizeof(struct ipv6hdr);
}

/* RFC 8200 5: every path carries 1280 octets, whatever is set. */
static u32 net6_tcp_search_floor(const struct sock *sk, u32 mss)
{
	mss = max_t(u32, mss, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_snd_mss));
	return max_t(u32, net6_tcp_mtup_mtu(sk, mss), NET6_MIN_MTU);
}

static u32 net6_tcp_search_ceiling(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 mtu = tcp_sk(sk)->rx_opt.mss_clamp + sizeof(struct tcphdr) + icsk->icsk_ext_hdr_len +
		  sizeof(struct ipv6hdr);

	return min(mtu, icsk->icsk_pmtu_cookie);
}

/**
 * net6_tcp_mtup_init() - where the search starts
 * @sk: socket that is being established; its options are known
 */
void net6_tcp_mtup_init(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct net *net = sock_net(sk);

	icsk->icsk_mtup.search_high = net6_tcp_search_ceiling(sk);
	icsk->icsk_mtup.search_low =
		net6_tcp_search_floor(sk, READ_ONCE(net->ipv4.sysctl_tcp_base_mss));
	icsk->icsk_mtup.probe_size = 0;
	icsk->icsk_mtup.probe_timestamp = tcp_jiffies32;
	icsk->icsk_mtup.enabled = READ_ONCE(net->ipv4.sysctl_tcp_mtu_probing) > 1;
}

/**
 * net6_tcp_mtup_black_hole() - time after time nothing came through, RFC 4821 7.7
 * @sk: socket whose first segment has been sent as often as tcp_retries1 says
 *
 * From now on segments are as long as the lower end of the search allows. If that does not help
 * it is halved, to 1280 octets at last.
 */
void net6_tcp_mtup_black_hole(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct net *net = sock_net(sk);
	u32 mss;

	if (!READ_ONCE(net->ipv4.sysctl_tcp_mtu_probing))
		return;
	if (!icsk->icsk_mtup.enabled) {
		icsk->icsk_mtup.enabled = 1;
		icsk->icsk_mtup.probe_timestamp = tcp_jiffies32;
	} else {
		mss = net6_tcp_mtu_to_mss(sk, icsk->icsk_mtup.search_low) / 2;
		mss = min_t(u32, mss, READ_ONCE(net->ipv4.sysctl_tcp_base_mss));
		mss = max_t(u32, mss, READ_ONCE(net->ipv4.sysctl_tcp_mtu_probe_floor));
		icsk->icsk_mtup.search_low = net6_tcp_search_floor(sk, mss);
	}
	net6_tcp_sync_mss(sk, icsk->icsk_pmtu_cookie);
}

/* RFC 4821 7.2: paths change; look again every now and then. */
static void net6_tcp_mtup_again(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u32 interval = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_probe_interval);

	if ((u32)(tcp_jiffies32 - icsk->icsk_mtup.probe_timestamp) < interval * HZ)
		return;
	icsk->icsk_mtup.search_high = net6_tcp_search_ceiling(sk);
	icsk->icsk_mtup.search_low = net6_tcp_mtup_mtu(sk, tcp_sk(sk)->mss_cache);
	icsk->icsk_mtup.probe_timestamp = tcp_jiffies32;
}

/* RFC 4821 7.4: nothing else is amiss, and the next losses would be seen. */
static bool net6_tcp_mtup_possible(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return !icsk->icsk_mtup.probe_size && icsk->icsk_ca_state == TCP_CA_Open &&
	       tcp_is_sack(tp) && tcp_snd_cwnd(tp) >= TCP_PROBE_MIN_CWND &&
	       !tp->rx_opt.num_sacks && !tp->rx_opt.dsack && !net6_tcp_urg_mode(tp);
}

/* How many bytes the next probe carries; 0 when the search is over for now. */
static u32 net6_tcp_mtup_size(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	int low = icsk->icsk_mtup.search_low, high = icsk->icsk_mtup.search_high;

	if (high - low < READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_probe_threshold)) {
		net6_tcp_mtup_again(sk);
		return 0;
	}
	return net6_tcp_mtu_to_mss(sk, (high + low) / 2);
}

/* May so many bytes of the write queue become one packet? Returns the packet that they end
 * in, NULL for no.
 */
static struct sk_buff *net6_tcp_mtup_last(struct sock *sk, u32 size)
{
	struct sk_buff *skb;

	skb_queue_walk(&sk->sk_write_queue, skb) {
		const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

		if (cb->eor || cb->txstamp_ack || cb->tcp_flags & (TCPHDR_SYN | TCPHDR_FIN) ||
		    skb_shinfo(skb)->tx_flags & SKBTX_ANY_TSTAMP || skb_zcopy(skb) ||
		    skb_cloned(skb))
			return NULL;
		if (skb->len > size)
			return skb;
		size -= skb->len;
	}
	return NULL;
}

/* The first bytes of the write queue, copied into a packet at its head. */
static struct sk_buff *net6_tcp_mtup_build(struct sock *sk, u32 size, gfp_t gfp)
{
	struct sk_buff *last = net6_tcp_mtup_last(sk, size), *probe, *skb;
	u32 left = size;

	if (!last)
		return NULL;
	probe = net6_tcp_alloc_skb(sk, size, gfp, false);
	if (!probe)
		return NULL;
	/* At once: all that is not charged is given back by what is freed below. */
	sk_wmem_queued_add(sk, probe->truesize);
	sk_mem_charge(sk, probe->truesize);
	TCP_SKB_CB(probe)->seq = TCP_SKB_CB(tcp_send_head(sk))->seq;
	TCP_SKB_CB(probe)->end_seq = TCP_SKB_CB(probe)->seq + size;
	TCP_SKB_CB(probe)->tcp_flags = TCPHDR_ACK;
	while ((skb = tcp_send_head(sk)) != last) {
		skb_copy_bits(skb, 0, skb_put(probe, skb->len), skb->len);
		left -= skb->len;
		tcp_unlink_write_queue(skb, sk);
		tcp_wmem_free_skb(sk, skb);
	}
	skb_copy_bits(last, 0, skb_put(probe, left), left);
	/* Not cloned, so this needs no memory and cannot fail. */
	if (left)
		net6_tcp_trim_head(sk, last, left);
	__skb_header_release(probe);
	__skb_queue_head(&sk->sk_write_queue, probe);
	return probe;
}

/**
 * net6_tcp_mtup_probe() - send a probe if it is time for one
 * @sk: socket with icsk_mtup.enabled; tcp_mstamp up to date
 * @gfp: for the packet and its clone
 *
 * Return: what became of it.
 */
enum net6_tcp_mtup net6_tcp_mtup_probe(struct sock *sk, gfp_t gfp)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;
	u32 size, needed;

	if (!tcp_send_head(sk) || !net6_tcp_mtup_possible(sk) ||
	    (sk->sk_pacing_status == SK_PACING_NEEDED && net6_tcp_pacing_check(sk)))
		return NET6_MTUP_NONE;
	size = net6_tcp_mtup_size(sk);
	if (!size || size <= tp->mss_cache)
		return NET6_MTUP_NONE;
	/* Enough behind it for duplicate ACKs to tell that it is lost (RFC 4821 7.4). */
	needed = size + (tp->reordering + 1) * tp->mss_cache;
	if (tp->write_seq - tp->snd_nxt < needed || tp->snd_wnd < needed)
		return NET6_MTUP_NONE;
	if (after(tp->snd_nxt + needed, tcp_wnd_end(tp)) ||
	    tcp_packets_in_flight(tp) + 2 > tcp_snd_cwnd(tp))
		return tcp_packets_in_flight(tp) ? NET6_MTUP_WAIT : NET6_MTUP_NONE;

	skb = net6_tcp_mtup_build(sk, size, gfp);
	if (!skb)
		return NET6_MTUP_NONE;
	net6_tcp_set_segs(skb, size);
	if (net6_tcp_transmit(sk, skb, true, gfp)) {
		net6_tcp_set_segs(skb, tp->mss_cache);
		return NET6_MTUP_NONE;
	}
	net6_tcp_new_data_sent(sk, skb);
	icsk->icsk_mtup.probe_size = net6_tcp_mtup_mtu(sk, skb->len);
	tp->mtu_probe.probe_seq_start = TCP_SKB_CB(skb)->seq;
	tp->mtu_probe.probe_seq_end = net6_skb_end(skb);
	return NET6_MTUP_SENT;
}

/**
 * net6_tcp_mtup_acked() - the probe came through, RFC 4821 7.6.1
 * @sk: socket
 *
 * cwnd counts segments: longer ones are fewer, that the bytes remain the same.
 */
void net6_tcp_mtup_acked(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u64 cwnd;

	cwnd = (u64)tcp_snd_cwnd(tp) * net6_tcp_mtup_mtu(sk, tp->mss_cache);
	cwnd = div_u64(cwnd, icsk->icsk_mtup.probe_size);
	tp->prior_ssthresh = tcp_current_ssthresh(sk);
	tcp_snd_cwnd_set(tp, max_t(u32, 1, cwnd));
	tp->snd_cwnd_cnt = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->snd_ssthresh = tcp_current_ssthresh(sk);

	icsk->icsk_mtup.search_low = icsk->icsk_mtup.probe_size;
	icsk->icsk_mtup.probe_size = 0;
	net6_tcp_sync_mss(sk, icsk->icsk_pmtu_cookie);
	NET6_INC(net6_tcp_nn(sk), TcpMTUPSuccess);
}

/**
 * net6_tcp_mtup_lost() - something is lost while a probe is on its way
 * @sk: socket
 * @timeout: the retransmission timer says so; else only what is marked is lost
 *
 * RFC 4821 7.6.2 to 7.6.4: the probe failed if it alone is lost, or if a time-out begins
 * with it. Else this says nothing, and it will be tried again.
 * Return: the probe failed.
 */
bool net6_tcp_mtup_lost(struct sock *sk, bool timeout)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	bool failed;

	failed = tp->snd_una == tp->mtu_probe.probe_seq_start && (timeout || tp->lost_out == 1);
	if (failed) {
		icsk->icsk_mtup.search_high = icsk->icsk_mtup.probe_size - 1;
		NET6_INC(net6_tcp_nn(sk), TcpMTUPFail);
	}
	icsk->icsk_mtup.probe_size = 0;
	return failed;
}
