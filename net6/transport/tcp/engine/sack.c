// SPDX-License-Identifier: GPL-2.0
/* The sender's scoreboard: SACK blocks (RFC 2018) marked on the segments of the
 * retransmission queue, DSACK (RFC 2883), and how much the path reorders.
 */
#include "engine.h"

/* Segments looked at for one DSACK. It reports one packet, which GRO may have made of 64 KB. */
#define NET6_TCP_DSACK_WALK	128

struct net6_tcp_block {
	u32	start;
	u32	end;
};

/**
 * net6_tcp_sack_reordering() - a segment below what was sacked turned up
 * @sk: socket
 * @low_seq: where it starts
 * @ts: found out by timestamps
 *
 * Raises the duplicate-ACK threshold to the distance seen, up to sysctl
 * tcp_max_reordering.
 */
void net6_tcp_sack_reordering(struct sock *sk, u32 low_seq, bool ts)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 mss = tp->mss_cache;
	u32 high, metric;

	high = tcp_highest_sack_seq(tp);
	if (!before(low_seq, high))
		return;
	metric = high - low_seq;
	if (mss && metric > tp->reordering * mss)
		tp->reordering = min_t(u32, DIV_ROUND_UP(metric, mss),
				       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_max_reordering));
	tp->reord_seen++;
}

/* Can this block be true? Blocks below snd_una are DSACKs at best, and those only of
 * what an undo could concern.
 */
static bool net6_tcp_block_valid(const struct tcp_sock *tp, bool dsack, u32 start, u32 end)
{
	/* Empty, reversed, or never sent. */
	if (after(end, tp->snd_nxt) || !before(start, end))
		return false;
	if (!before(start, tp->snd_nxt))
		return false;
	if (after(start, tp->snd_una))
		return true;
	if (!dsack || !tp->undo_marker)
		return false;
	/* A DSACK that reaches above snd_una cannot be one. */
	if (after(end, tp->snd_una))
		return false;
	if (!before(start, tp->undo_marker))
		return true;
	/* Too old to say anything. */
	if (!after(end, tp->undo_marker))
		return false;
	return !before(start, end - tp->max_window);
}

/* RFC 2883 4: the first block reports a duplicate if it lies below the cumulative ACK
 * or inside the second block. Returns whether it is one.
 */
static bool net6_tcp_check_dsack(struct sock *sk, u32 ack_seq, struct net6_tcp_ack_state *st)
{
	const struct net6_tcp_opts *o = st->opts;
	u32 start = o->sack[0].start, end = o->sack[0].end;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 segs = 1;

	if (!before(start, ack_seq) &&
	    !(o->n_sacks > 1 && !after(end, o->sack[1].end) && !before(start, o->sack[1].start)))
		return false;
	if (!before(start, end))
		return false;

	/* Longer than the window, or more than was ever sent twice: not true. */
	if (end - start > tp->max_window)
		return true;
	if (end - start > tp->mss_cache)
		segs = DIV_ROUND_UP(end - start, max(tp->mss_cache, 1U));
	tp->dsack_dups += segs;
	if (tp->dsack_dups > tp->total_retrans)
		return true;
	tp->rx_opt.sack_ok |= TCP_DSACK_SEEN;
	NET6_INC(net6_tcp_nn(sk), TcpDSACKRecv);
	/* For the probe itself? Then it neither widens RACK's window nor undoes. */
	if (tp->tlp_high_seq && tp->tlp_retrans && end == tp->tlp_high_seq)
		st->flag |= ACK_DSACK_TLP;
	else
		tp->rack.dsack_seen = 1;
	st->flag |= ACK_DSACK;

	/* A duplicate below what was ever acknowledged may be undone. */
	if (tp->undo_marker && tp->undo_retrans > 0 && !after(end, ack_seq) &&
	    after(end, tp->undo_marker))
		tp->undo_retrans = max_t(int, 0, tp->undo_retrans - (int)segs);
	return true;
}

/* A new SACK for a segment: its effect on all counters. Returns the new state. */
static u8 net6_tcp_sack_segment(struct sock *sk, struct net6_tcp_ack_state *st, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct tcp_sock *tp = tcp_sk(sk);
	int segs = tcp_skb_pcount(skb);
	u64 sent = net6_skb_us(skb);
	u8 sacked = cb->sacked;

	net6_tcp_rack_advance(tp, sacked, cb->end_seq, sent);
	if (sacked & TCPCB_SACKED_RETRANS) {
		/* Lost, sent again, arrived. If it is not marked lost, the
		 * retransmission is still under way.
		 */
		if (sacked & TCPCB_LOST) {
			sacked &= ~(TCPCB_LOST | TCPCB_SACKED_RETRANS);
			tp->lost_out -= segs;
			tp->retrans_out -= segs;
		}
	} else {
		if (!(sacked & TCPCB_RETRANS)) {
			/* Sent once and below what was sacked before: reordering. */
			if (before(cb->seq, tcp_highest_sack_seq(tp)) &&
			    before(cb->seq, st->reord))
				st->reord = cb->seq;
			if (!after(cb->end_seq, tp->high_seq))
				st->flag |= ACK_ORIG_SACKED;
			if (!st->first_sackt)
				st->first_sackt = sent;
			st->last_sackt = sent;
		}
		if (sacked & TCPCB_LOST) {
			sacked &= ~TCPCB_LOST;
			tp->lost_out -= segs;
		}
	}
	tp->sacked_out += segs;
	st->sack_delivered += segs;
	st->flag |= ACK_DATA_SACKED;
	return sacked | TCPCB_SACKED_ACKED;
}

/* Split so that a block's edge inside a super-packet falls on a segment's edge.
 * Returns 1 if @skb (then) is covered, 0 if not, negative when it cannot be split.
 */
static int net6_tcp_match_block(struct sock *sk, struct sk_buff *skb,
				const struct net6_tcp_block *b)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	bool from_start = !after(b->start, cb->seq);
	bool covered = from_start && !before(b->end, cb->end_seq);
	u32 len, mss;
	int err;

	if (covered || tcp_skb_pcount(skb) <= 1 || !after(cb->end_seq, b->start))
		return covered;

	mss = tcp_skb_mss(skb);
	if (from_start) {
		len = b->end - cb->seq;
		if (len < mss)
			return -EINVAL;
	} else {
		len = max(b->start - cb->seq, mss);
	}
	/* Only whole segments count as sacked. */
	if (len > mss) {
		u32 whole = rounddown(len, mss);

		if (!from_start && whole < len)
			whole += mss;
		len = whole;
	}
	if (len >= skb->len)
		return from_start;
	err = net6_tcp_fragment(sk, true, skb, len, mss, GFP_ATOMIC);
	return err < 0 ? err : from_start;
}

/* First segment that ends behind @seq. */
static struct sk_buff *net6_tcp_find(struct sock *sk, u32 seq)
{
	struct rb_node *node = sk->tcp_rtx_queue.rb_node;
	struct sk_buff *found = NULL;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (after(net6_skb_end(skb), seq)) {
			found = skb;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/* A sacked segment knows how far behind it all is sacked, or less. It is in ack_seq, which means
 * nothing in a segment that was sent.
 */
static u32 net6_tcp_sacked_to(const struct sk_buff *skb)
{
	return TCP_SKB_CB(skb)->ack_seq;
}

/* The first segment behind @skb and those that are sacked with it; NULL if @end comes before. Each
 * one that is visited learns what the next one knows. So a peer that has sacked N segments makes us
 * visit O(N log N) of them, however many blocks it sends.
 */
static struct sk_buff *net6_tcp_skip_sacked(struct sock *sk, struct sk_buff *skb, u32 end)
{
	struct sk_buff *next;

	while (before(net6_tcp_sacked_to(skb), end)) {
		next = net6_tcp_sacked_to(skb) == TCP_SKB_CB(skb)->end_seq ? skb_rb_next(skb) :
		       net6_tcp_find(sk, net6_tcp_sacked_to(skb));
		if (!next || !(TCP_SKB_CB(next)->sacked & TCPCB_SACKED_ACKED))
			return next;
		TCP_SKB_CB(skb)->ack_seq = net6_tcp_sacked_to(next);
		skb = next;
	}
	return NULL;
}

/* Segments of the block @b from @start on, what begins at @end or behind it left out. */
static void net6_tcp_mark_range(struct sock *sk, struct net6_tcp_ack_state *st,
				const struct net6_tcp_block *b, u32 start, u32 end)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;
	int covered;

	for (skb = net6_tcp_find(sk, start); skb; skb = skb_rb_next(skb)) {
		struct tcp_skb_cb *cb;

		if (TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_ACKED)
			skb = net6_tcp_skip_sacked(sk, skb, end);
		if (!skb || !before(TCP_SKB_CB(skb)->seq, end))
			break;
		covered = net6_tcp_match_block(sk, skb, b);
		if (covered < 0)
			break;
		if (!covered)
			continue;
		cb = TCP_SKB_CB(skb);
		cb->sacked = net6_tcp_sack_segment(sk, st, skb);
		cb->ack_seq = cb->end_seq;
		net6_tcp_rate_delivered(sk, skb, &st->rs);
		list_del_init(&skb->tcp_tsorted_anchor);
		if (!before(cb->seq, tcp_highest_sack_seq(tp)))
			tcp_advance_highest_sack(sk, skb);
	}
}

/* What the last ACK's blocks did not cover already. A segment that lies across the edge of one
 * of them may be covered only now.
 */
static void net6_tcp_mark_new(struct sock *sk, struct net6_tcp_ack_state *st,
			      const struct net6_tcp_block *b, bool use_cache)
{
	const struct tcp_sack_block *cache = tcp_sk(sk)->recv_sack_cache;
	u32 from = b->start;
	int i;

	for (i = 0; use_cache && i < NET6_TCP_MAX_SACKS; i++) {
		if (cache[i].start_seq == cache[i].end_seq || !after(cache[i].end_seq, from))
			continue;
		if (!before(cache[i].start_seq, b->end))
			break;
		if (after(cache[i].start_seq, from))
			net6_tcp_mark_range(sk, st, b, from, cache[i].start_seq);
		from = cache[i].end_seq;
		if (!before(from, b->end))
			return;
	}
	net6_tcp_mark_range(sk, st, b, from, b->end);
}

/* A DSACK inside the window: the retransmission was not needed. If it is longer than any can be,
 * what is behind is left as it is.
 */
static void net6_tcp_mark_dsack(struct sock *sk, struct net6_tcp_ack_state *st, u32 start, u32 end)
{
	struct tcp_sock *tp = tcp_sk(sk);
	int left = NET6_TCP_DSACK_WALK;
	struct sk_buff *skb;

	for (skb = net6_tcp_find(sk, start); skb; skb = skb_rb_next(skb)) {
		struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
		int segs = tcp_skb_pcount(skb);

		if (!before(cb->seq, end) || !left--)
			break;
		if (before(cb->seq, start) || after(cb->end_seq, end))
			continue;
		if (cb->sacked & TCPCB_RETRANS) {
			if (tp->undo_marker && tp->undo_retrans > 0 &&
			    after(cb->end_seq, tp->undo_marker))
				tp->undo_retrans = max_t(int, 0, tp->undo_retrans - segs);
			if (cb->sacked & TCPCB_SACKED_ACKED && before(cb->seq, st->reord))
				st->reord = cb->seq;
		}
		if (cb->sacked & TCPCB_SACKED_RETRANS) {
			cb->sacked &= ~TCPCB_SACKED_RETRANS;
			tp->retrans_out -= segs;
		}
	}
}

/* Valid blocks above snd_una, ascending. Returns their number. */
static int net6_tcp_collect(const struct tcp_sock *tp, const struct net6_tcp_ack_state *st,
			    bool dsack, u32 prior_una, struct net6_tcp_block *b)
{
	const struct net6_tcp_opts *o = st->opts;
	int i, j, n = 0;

	for (i = dsack; i < o->n_sacks; i++) {
		struct net6_tcp_block new = { o->sack[i].start, o->sack[i].end };

		if (!net6_tcp_block_valid(tp, false, new.start, new.end) ||
		    !after(new.end, prior_una))
			continue;
		for (j = n; j > 0 && before(new.start, b[j - 1].start); j--)
			b[j] = b[j - 1];
		b[j] = new;
		n++;
	}
	return n;
}

/**
 * net6_tcp_sacktag() - work the SACK blocks of an ACK into the scoreboard
 * @sk: socket; snd_una already moved
 * @skb: the ACK
 * @st: its state: flag, times, reord and sack_delivered are filled in
 */
void net6_tcp_sacktag(struct sock *sk, const struct sk_buff *skb, struct net6_tcp_ack_state *st)
{
	u32 ack_seq = TCP_SKB_CB(skb)->ack_seq;
	struct net6_tcp_block b[NET6_TCP_MAX_SACKS];
	struct tcp_sock *tp = tcp_sk(sk);
	bool dsack, use_cache;
	int i, n;

	st->reord = tp->snd_nxt;
	use_cache = tp->sacked_out;
	if (!tp->sacked_out)
		tcp_highest_sack_reset(sk);

	dsack = net6_tcp_check_dsack(sk, ack_seq, st);
	/* Older than anything we remember. */
	if (before(ack_seq, st->prior_una - tp->max_window) || !tp->packets_out)
		return;
	if (dsack && before(st->opts->sack[0].start, st->opts->sack[0].end) &&
	    after(st->opts->sack[0].start, tp->snd_una) &&
	    !after(st->opts->sack[0].end, tp->snd_nxt))
		net6_tcp_mark_dsack(sk, st, st->opts->sack[0].start, st->opts->sack[0].end);

	n = net6_tcp_collect(tp, st, dsack, st->prior_una, b);
	for (i = 0; i < n; i++)
		net6_tcp_mark_new(sk, st, &b[i], use_cache);

	for (i = 0; i < NET6_TCP_MAX_SACKS; i++) {
		tp->recv_sack_cache[i].start_seq = i < n ? b[i].start : 0;
		tp->recv_sack_cache[i].end_seq = i < n ? b[i].end : 0;
	}
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Loss || tp->undo_marker)
		net6_tcp_sack_reordering(sk, st->reord, false);
	WARN_ON_ONCE(tcp_left_out(tp) > tp->packets_out);
}
