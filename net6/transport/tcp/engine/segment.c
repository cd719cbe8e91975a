// SPDX-License-Identifier: GPL-2.0
/* Packets of the write and retransmission queues cut to size, and what the maximum
 * segment size is (RFC 9293 3.7.1, RFC 6691).
 */
#include "engine.h"
#include "../conn/fastopen.h"
#include "../conn/md5.h"

/**
 * net6_tcp_rb_insert() - insert by sequence number
 * @root: retransmission or out-of-order queue
 * @skb: segment that overlaps none there
 */
void net6_tcp_rb_insert(struct rb_root *root, struct sk_buff *skb)
{
	struct rb_node **link = &root->rb_node;
	struct rb_node *parent = NULL;
	u32 seq = TCP_SKB_CB(skb)->seq;

	while (*link) {
		parent = *link;
		if (before(seq, TCP_SKB_CB(rb_to_skb(parent))->seq))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, root);
}

/* Our own copy of the fragment list and header. The truesize that the socket was
 * charged stays, although the new head may be larger.
 */
static int net6_tcp_unclone(struct sk_buff *skb, gfp_t gfp)
{
	unsigned int truesize = skb->truesize;
	int err = 0;

	if (skb_cloned(skb)) {
		unsigned long save = skb->_skb_refdst;

		/* The sorted list's anchor lies over destructor and dst. */
		skb->_skb_refdst = 0;
		err = pskb_expand_head(skb, 0, 0, gfp);
		skb->_skb_refdst = save;
		skb->truesize = truesize;
	}
	return err;
}

/**
 * net6_tcp_set_segs() - how many segments a packet makes
 * @skb: packet with payload, or a bare SYN/FIN
 * @mss: bytes
 */
void net6_tcp_set_segs(struct sk_buff *skb, unsigned int mss)
{
	if (skb->len <= mss) {
		tcp_skb_pcount_set(skb, 1);
		TCP_SKB_CB(skb)->tcp_gso_size = 0;
	} else {
		tcp_skb_pcount_set(skb, DIV_ROUND_UP(skb->len, mss));
		TCP_SKB_CB(skb)->tcp_gso_size = mss;
	}
}

/**
 * net6_tcp_adjust_pcount() - a packet that was sent now counts @decr segments less
 * @sk: socket
 * @skb: packet
 * @decr: difference, may be negative
 */
void net6_tcp_adjust_pcount(struct sock *sk, const struct sk_buff *skb, int decr)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u8 sacked = TCP_SKB_CB(skb)->sacked;

	tp->packets_out -= decr;
	if (sacked & TCPCB_SACKED_ACKED)
		tp->sacked_out -= decr;
	if (sacked & TCPCB_SACKED_RETRANS)
		tp->retrans_out -= decr;
	if (sacked & TCPCB_LOST)
		tp->lost_out -= decr;
	/* Reno's emulated SACKs have no segment of their own. */
	if (tcp_is_reno(tp) && decr > 0)
		tp->sacked_out -= min_t(u32, tp->sacked_out, decr);
}

/* A queue of tiny pieces must not grow without bound because the peer names odd ranges in SACKs.
 * There is some slack for what sendmsg put in one packet too many.
 */
static bool net6_tcp_fragment_allowed(struct sock *sk, bool in_rtx, const struct sk_buff *skb)
{
	int limit = READ_ONCE(sk->sk_sndbuf) + 2 * SKB_TRUESIZE(GSO_LEGACY_MAX_SIZE);

	return (sk->sk_wmem_queued >> 1) <= limit || !in_rtx ||
	       skb == tcp_rtx_queue_head(sk) || skb == tcp_rtx_queue_tail(sk);
}

static void net6_tcp_fragment_link(struct sock *sk, bool in_rtx, struct sk_buff *skb,
				   struct sk_buff *rest)
{
	if (in_rtx) {
		net6_tcp_rb_insert(&sk->tcp_rtx_queue, rest);
		list_add(&rest->tcp_tsorted_anchor, &skb->tcp_tsorted_anchor);
	} else {
		__skb_queue_after(&sk->sk_write_queue, skb, rest);
	}
}

/* Sequence numbers, flags and state of both halves. */
static void net6_tcp_fragment_cb(struct sk_buff *skb, struct sk_buff *rest, u32 len)
{
	struct tcp_skb_cb *a = TCP_SKB_CB(skb), *b = TCP_SKB_CB(rest);
	u8 flags = a->tcp_flags;

	b->seq = a->seq + len;
	b->end_seq = a->end_seq;
	a->end_seq = b->seq;
	a->tcp_flags = flags & ~(TCPHDR_FIN | TCPHDR_PSH);
	b->tcp_flags = flags;
	b->sacked = a->sacked;
	/* What is sacked behind it (sack.c). */
	a->ack_seq = a->end_seq;
	b->ack_seq = b->end_seq;
	b->ip_dsfield = a->ip_dsfield;
	b->eor = a->eor;
	a->eor = 0;
	b->tx = a->tx;
	net6_compat_copy_delivery_time(rest, skb);
	rest->ip_summed = CHECKSUM_PARTIAL;

	/* A transmit time stamp belongs to the half that holds its byte. */
	if (unlikely(skb_shinfo(skb)->tx_flags & SKBTX_ANY_TSTAMP || a->txstamp_ack) &&
	    !before(skb_shinfo(skb)->tskey, b->seq)) {
		u8 tx_flags = skb_shinfo(skb)->tx_flags & SKBTX_ANY_TSTAMP;

		skb_shinfo(skb)->tx_flags &= ~tx_flags;
		skb_shinfo(rest)->tx_flags |= tx_flags;
		swap(skb_shinfo(skb)->tskey, skb_shinfo(rest)->tskey);
		b->txstamp_ack = a->txstamp_ack;
		a->txstamp_ack = 0;
	}
}

/**
 * net6_tcp_fragment() - split a packet in two
 * @sk: socket
 * @in_rtx: it is in the retransmission queue, else in the write queue
 * @skb: packet; keeps the first @len bytes
 * @len: bytes, less than the packet's
 * @mss: to count segments by
 * @gfp: for the allocation
 *
 * Return: 0 and the rest queued behind @skb, or -ENOMEM, or -EINVAL.
 */
int net6_tcp_fragment(struct sock *sk, bool in_rtx, struct sk_buff *skb, u32 len,
		      unsigned int mss, gfp_t gfp)
{
	struct tcp_sock *tp = tcp_sk(sk);
	int old_count, diff, moved, head;
	struct sk_buff *rest;

	if (WARN_ON_ONCE(len >= skb->len))
		return -EINVAL;
	if (!net6_tcp_fragment_allowed(sk, in_rtx, skb))
		return -ENOMEM;
	if (net6_tcp_unclone(skb, gfp))
		return -ENOMEM;

	head = max_t(int, skb_headlen(skb) - len, 0);
	rest = net6_tcp_alloc_skb(sk, head, gfp, true);
	if (!rest)
		return -ENOMEM;
	sk_wmem_queued_add(sk, rest->truesize);
	sk_mem_charge(sk, rest->truesize);
	/* The fragments' memory goes with them. */
	moved = skb->len - len - head;
	rest->truesize += moved;
	skb->truesize -= moved;

	net6_tcp_fragment_cb(skb, rest, len);
	skb_split(skb, rest, len);

	old_count = tcp_skb_pcount(skb);
	net6_tcp_set_segs(skb, mss);
	net6_tcp_set_segs(rest, mss);
	if (!before(tp->snd_nxt, net6_skb_end(rest))) {
		diff = old_count - tcp_skb_pcount(skb) - tcp_skb_pcount(rest);
		if (diff)
			net6_tcp_adjust_pcount(sk, skb, diff);
	}
	__skb_header_release(rest);
	net6_tcp_fragment_link(sk, in_rtx, skb, rest);
	return 0;
}

/* Take @len bytes off the front: of the linear part first, then whole pages. Returns
 * what the socket is no longer charged for.
 */
static u32 net6_tcp_eat_front(struct sk_buff *skb, u32 len)
{
	struct skb_shared_info *si = skb_shinfo(skb);
	u32 eat = min_t(u32, len, skb_headlen(skb));
	unsigned int i, k = 0;

	__skb_pull(skb, eat);
	len -= eat;
	if (!len)
		return 0;

	eat = len;
	for (i = 0; i < si->nr_frags; i++) {
		u32 size = skb_frag_size(&si->frags[i]);

		if (size <= eat) {
			skb_frag_unref(skb, i);
			eat -= size;
			continue;
		}
		si->frags[k] = si->frags[i];
		skb_frag_off_add(&si->frags[k], eat);
		skb_frag_size_sub(&si->frags[k], eat);
		eat = 0;
		k++;
	}
	si->nr_frags = k;
	skb->data_len -= len;
	skb->len -= len;
	return len;
}

/**
 * net6_tcp_trim_head() - the front of a packet was acknowledged
 * @sk: socket
 * @skb: packet of the retransmission queue
 * @len: bytes; all of the packet's where its FIN is left
 *
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_trim_head(struct sock *sk, struct sk_buff *skb, u32 len)
{
	u32 freed;

	if (net6_tcp_unclone(skb, GFP_ATOMIC))
		return -ENOMEM;
	freed = net6_tcp_eat_front(skb, len);
	TCP_SKB_CB(skb)->seq += len;
	if (freed) {
		skb->truesize -= freed;
		sk_wmem_queued_add(sk, -freed);
		if (!skb_zcopy_pure(skb))
			sk_mem_uncharge(sk, freed);
	}
	if (tcp_skb_pcount(skb) > 1)
		net6_tcp_set_segs(skb, tcp_skb_mss(skb));
	return 0;
}

/**
 * net6_tcp_mtu_to_mss() - what a packet of this size carries
 * @sk: socket
 * @mtu: bytes
 *
 * Return: bytes of data, not more than the peer takes.
 */
int net6_tcp_mtu_to_mss(const struct sock *sk, u32 mtu)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	int mss;

	mss = mtu - sizeof(struct ipv6hdr) - sizeof(struct tcphdr) -
	      inet_csk(sk)->icsk_ext_hdr_len;
	mss = min_t(int, mss, tp->rx_opt.mss_clamp);
	mss = max_t(int, mss, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_snd_mss));
	return mss - (int)(tp->tcp_header_len - sizeof(struct tcphdr) + net6_tcp_md5_room(sk));
}

/**
 * net6_tcp_sync_mss() - segment size for a path MTU
 * @sk: socket
 * @pmtu: bytes
 *
 * RFC 9293 MUST-16: the smaller of what the peer takes and what the path carries, less our
 * options (RFC 6691). It is at most half of the largest window seen.
 * Return: bytes of data per segment, SACK blocks not deducted.
 */
unsigned int net6_tcp_sync_mss(struct sock *sk, u32 pmtu)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	int mss;

	icsk->icsk_mtup.search_high = min_t(int, icsk->icsk_mtup.search_high, pmtu);
	mss = tcp_bound_to_half_wnd(tp, net6_tcp_mtu_to_mss(sk, pmtu));
	if (unlikely(icsk->icsk_mtup.enabled))
		mss = min(mss, net6_tcp_mtu_to_mss(sk, icsk->icsk_mtup.search_low));
	icsk->icsk_pmtu_cookie = pmtu;
	tp->mss_cache = mss;
	return mss;
}

/**
 * net6_tcp_current_mss() - segment size right now
 * @sk: connected socket
 *
 * Return: bytes of data per segment, with the path MTU as of now and the room that
 * SACK blocks of the next segment take.
 */
unsigned int net6_tcp_current_mss(struct sock *sk)
{
	struct net6_dest *dest = net6_sk(sk)->dest;
	struct tcp_sock *tp = tcp_sk(sk);
	unsigned int mss = tp->mss_cache;
	unsigned int sacks;

	if (likely(dest)) {
		u32 mtu = net6_dest_mtu(dest);

		if (unlikely(mtu != inet_csk(sk)->icsk_pmtu_cookie))
			mss = net6_tcp_sync_mss(sk, mtu);
	}
	sacks = tp->rx_opt.num_sacks + tp->rx_opt.dsack;
	if (unlikely(sacks))
		mss -= net6_tcp_sack_len(net6_tcp_sack_blocks(tp, sacks, net6_tcp_md5_room(sk)));
	return mss;
}

/**
 * net6_tcp_send_mss() - what sendmsg fills packets by
 * @sk: connected socket
 * @size_goal: filled in: bytes per packet, a multiple of the segment size
 * @flags: MSG_OOB keeps packets to one segment
 *
 * Return: bytes of data per segment.
 */
int net6_tcp_send_mss(struct sock *sk, int *size_goal, int flags)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 mss = net6_tcp_current_mss(sk);
	u32 max, goal;

	*size_goal = mss;
	if (flags & MSG_OOB)
		return mss;
	max = tcp_bound_to_half_wnd(tp, sk->sk_gso_max_size);
	goal = tp->gso_segs * mss;
	if (unlikely(max < goal || max >= goal + mss)) {
		tp->gso_segs = min_t(u32, max / mss, READ_ONCE(sk->sk_gso_max_segs));
		goal = tp->gso_segs * mss;
	}
	*size_goal = max(goal, mss);
	return mss;
}

/**
 * net6_tcp_mtu_reduced() - Packet Too Big, RFC 8201
 * @sk: connected socket
 * @mtu: as reported, bytes; the destination entry has been told
 *
 * Unacknowledged segments that are too long are lost: they go out again at once,
 * cut anew, without congestion response (RFC 8201 5.4).
 */
void net6_tcp_mtu_reduced(struct sock *sk, u32 mtu)
{
	struct net6_dest *dest;

	if ((1 << sk->sk_state) & (TCPF_LISTEN | TCPF_CLOSE))
		return;
	dest = net6_sk_dest(sk);
	if (IS_ERR(dest))
		return;
	net6_dest_set_pmtu(dest, mtu);
	mtu = max_t(u32, mtu, NET6_MIN_MTU);
	mtu = min(mtu, net6_dest_mtu(dest));
	if (inet_csk(sk)->icsk_pmtu_cookie > mtu) {
		net6_tcp_sync_mss(sk, mtu);
		/* This is all there is to know about a probe that does not fit. */
		if (unlikely(inet_csk(sk)->icsk_mtup.probe_size > mtu))
			inet_csk(sk)->icsk_mtup.probe_size = 0;
		net6_tcp_simple_retransmit(sk);
		net6_tcp_fastopen_too_big(sk);
	}
}
