// SPDX-License-Identifier: GPL-2.0
/* Segments that arrive ahead of their turn. They do not overlap, and are in a tree ordered by
 * sequence number. SACK blocks tell the peer of them (RFC 2018, RFC 2883). It is bounded by the
 * receive buffer: each segment counts with its true size.
 */
#include "../conn/conn.h"
#include "engine.h"

/* Blocks that overlap or touch become one. */
static bool net6_tcp_block_extend(struct tcp_sack_block *b, u32 seq, u32 end)
{
	if (after(seq, b->end_seq) || after(b->start_seq, end))
		return false;
	if (before(seq, b->start_seq))
		b->start_seq = seq;
	if (after(end, b->end_seq))
		b->end_seq = end;
	return true;
}

static void net6_tcp_block_remove(struct tcp_sock *tp, int i)
{
	struct tcp_sack_block *b = tp->selective_acks;

	tp->rx_opt.num_sacks--;
	memmove(&b[i], &b[i + 1], (tp->rx_opt.num_sacks - i) * sizeof(*b));
}

/**
 * net6_tcp_sack_add() - announce newly arrived out-of-order data
 * @sk: socket
 * @seq: first byte
 * @end: behind the last byte
 *
 * RFC 2018 4: the first block holds the most recent arrival; the oldest one goes.
 * Context: sk locked.
 */
void net6_tcp_sack_add(struct sock *sk, u32 seq, u32 end)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_sack_block *b = tp->selective_acks;
	struct tcp_sack_block new = { .start_seq = seq, .end_seq = end };
	int i = 0;

	/* Swallow what the new block touches; it may touch more as it grows. */
	while (i < tp->rx_opt.num_sacks) {
		if (net6_tcp_block_extend(&new, b[i].start_seq, b[i].end_seq)) {
			net6_tcp_block_remove(tp, i);
			i = 0;
		} else {
			i++;
		}
	}
	if (tp->rx_opt.num_sacks == TCP_NUM_SACKS)
		tp->rx_opt.num_sacks--;
	memmove(&b[1], &b[0], tp->rx_opt.num_sacks * sizeof(*b));
	b[0] = new;
	tp->rx_opt.num_sacks++;
}

/**
 * net6_tcp_sack_trim() - forget blocks that the cumulative ACK has passed
 * @tp: socket
 *
 * Context: sk locked.
 */
void net6_tcp_sack_trim(struct tcp_sock *tp)
{
	int i = 0;

	if (RB_EMPTY_ROOT(&tp->out_of_order_queue)) {
		tp->rx_opt.num_sacks = 0;
		return;
	}
	while (i < tp->rx_opt.num_sacks) {
		if (!before(tp->rcv_nxt, tp->selective_acks[i].start_seq))
			net6_tcp_block_remove(tp, i);
		else
			i++;
	}
}

/**
 * net6_tcp_dsack_set() - report a duplicate with the next ACK, RFC 2883
 * @sk: socket
 * @seq: first byte that was there already
 * @end: behind the last one
 *
 * Several duplicates in one segment's wake are reported as one block if they touch.
 * Context: sk locked.
 */
void net6_tcp_dsack_set(struct sock *sk, u32 seq, u32 end)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_sack_block *b = &tp->duplicate_sack[0];

	if (!tcp_is_sack(tp) || !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_dsack))
		return;
	if (tp->rx_opt.dsack && net6_tcp_block_extend(b, seq, end))
		return;
	NET6_INC(net6_tcp_nn_locked(sk), TcpDSACKOldSent);
	tp->rx_opt.dsack = 1;
	b->start_seq = seq;
	b->end_seq = end;
}

static void net6_tcp_ofo_erase(struct tcp_sock *tp, struct sk_buff *skb)
{
	rb_erase(&skb->rbnode, &tp->out_of_order_queue);
	/* The node lay over next, prev and dev. */
	RB_CLEAR_NODE(&skb->rbnode);
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = NULL;
}

/* A buffer in the tree turned out to be there twice. */
static void net6_tcp_ofo_drop_dup(struct sock *sk, struct sk_buff *skb)
{
	net6_tcp_dsack_set(sk, TCP_SKB_CB(skb)->seq, TCP_SKB_CB(skb)->end_seq);
	net6_tcp_ofo_erase(tcp_sk(sk), skb);
	net6_drop(net6_tcp_nn_locked(sk), skb, NET6_DROP_TCP_OLD_DATA);
}

/* Removes from the tree what @skb, in it now, covers on its right. */
static void net6_tcp_ofo_merge_right(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 end = TCP_SKB_CB(skb)->end_seq;
	struct sk_buff *right;

	while ((right = skb_rb_next(skb)) != NULL) {
		if (!after(end, TCP_SKB_CB(right)->seq))
			return;
		if (before(end, TCP_SKB_CB(right)->end_seq)) {
			net6_tcp_dsack_set(sk, TCP_SKB_CB(right)->seq, end);
			return;
		}
		net6_tcp_ofo_drop_dup(sk, right);
	}
	tp->ooo_last_skb = skb;
}

/* Finds the place of @skb in the tree; links it, or frees it: merged, or there already. */
static void net6_tcp_ofo_link(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct rb_node **p = &tp->out_of_order_queue.rb_node;
	u32 seq = TCP_SKB_CB(skb)->seq, end = TCP_SKB_CB(skb)->end_seq;
	struct rb_node *parent = NULL;
	struct sk_buff *other;
	bool stolen;

	/* Most often it follows the last one. */
	if (*p) {
		other = tp->ooo_last_skb;
		if (net6_tcp_coalesce(sk, other, skb, &stolen)) {
			kfree_skb_partial(skb, stolen);
			return;
		}
		if (!before(seq, TCP_SKB_CB(other)->end_seq)) {
			parent = &other->rbnode;
			p = &parent->rb_right;
			goto link;
		}
	}
	while (*p) {
		parent = *p;
		other = rb_to_skb(parent);
		if (before(seq, TCP_SKB_CB(other)->seq)) {
			p = &parent->rb_left;
			continue;
		}
		if (before(seq, TCP_SKB_CB(other)->end_seq)) {
			if (!after(end, TCP_SKB_CB(other)->end_seq)) {
				net6_tcp_dsack_set(sk, seq, end);
				net6_drop(net6_tcp_nn_locked(sk), skb, NET6_DROP_TCP_OLD_DATA);
				return;
			}
			if (seq == TCP_SKB_CB(other)->seq) {
				/* All of the other and more: takes its place. */
				rb_replace_node(&other->rbnode, &skb->rbnode,
						&tp->out_of_order_queue);
				net6_tcp_dsack_set(sk, seq, TCP_SKB_CB(other)->end_seq);
				other->next = NULL;
				other->prev = NULL;
				other->dev = NULL;
				net6_drop(net6_tcp_nn_locked(sk), other, NET6_DROP_TCP_OLD_DATA);
				goto merge;
			}
			net6_tcp_dsack_set(sk, seq, TCP_SKB_CB(other)->end_seq);
		} else if (net6_tcp_coalesce(sk, other, skb, &stolen)) {
			kfree_skb_partial(skb, stolen);
			net6_tcp_ofo_merge_right(sk, other);
			return;
		}
		p = &parent->rb_right;
	}
link:
	rb_link_node(&skb->rbnode, parent, p);
	rb_insert_color(&skb->rbnode, &tp->out_of_order_queue);
merge:
	net6_tcp_ofo_merge_right(sk, skb);
}

/**
 * net6_tcp_ofo_insert() - keep a segment that is ahead of its turn
 * @sk: socket
 * @skb: in the window, begins behind rcv_nxt; data behind the TCP header; consumed
 *
 * Context: sk locked.
 */
void net6_tcp_ofo_insert(struct sock *sk, struct sk_buff *skb)
{
	u32 seq = TCP_SKB_CB(skb)->seq, end = TCP_SKB_CB(skb)->end_seq;
	struct net6_net *nn = net6_tcp_nn_locked(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	net6_tcp_ecn_check_ce(sk, skb);
	if (unlikely(net6_tcp_rmem_schedule(sk, skb))) {
		NET6_INC(nn, TcpOFODrop);
		net6_drop(nn, skb, NET6_DROP_SOCKET_RCVBUF);
		return;
	}
	tp->pred_flags = 0;
	inet_csk_schedule_ack(sk);
	tp->rcv_ooopack += max_t(u16, 1, skb_shinfo(skb)->gso_segs);
	NET6_INC(nn, TcpOFOQueue);

	if (tcp_is_sack(tp))
		net6_tcp_grow_window(sk, skb);
	/* Charged before what it replaces is given back: that may return whole pages. */
	skb_set_owner_r(skb, sk);
	net6_tcp_ofo_link(sk, skb);
	if (tcp_is_sack(tp))
		net6_tcp_sack_add(sk, seq, end);
}

/**
 * net6_tcp_ofo_deliver() - move to the reader what is in sequence now
 * @sk: socket; rcv_nxt has moved
 *
 * Context: sk locked. May meet the peer's FIN, and so close the socket.
 */
void net6_tcp_ofo_deliver(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb, *tail;
	struct rb_node *p;
	bool stolen, fin;
	u32 end;

	while ((p = rb_first(&tp->out_of_order_queue)) != NULL) {
		skb = rb_to_skb(p);
		end = TCP_SKB_CB(skb)->end_seq;
		if (after(TCP_SKB_CB(skb)->seq, tp->rcv_nxt))
			break;
		if (before(TCP_SKB_CB(skb)->seq, tp->rcv_nxt))
			net6_tcp_dsack_set(sk, TCP_SKB_CB(skb)->seq,
					   before(end, tp->rcv_nxt) ? end : tp->rcv_nxt);
		net6_tcp_ofo_erase(tp, skb);
		fin = TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN;
		if (!after(end, tp->rcv_nxt)) {
			net6_drop(net6_tcp_nn_locked(sk), skb, NET6_DROP_TCP_OLD_DATA);
			continue;
		}
		tp->bytes_received += end - tp->rcv_nxt;
		WRITE_ONCE(tp->rcv_nxt, end);
		tail = skb_peek_tail(&sk->sk_receive_queue);
		if (tail && net6_tcp_coalesce(sk, tail, skb, &stolen))
			kfree_skb_partial(skb, stolen);
		else
			__skb_queue_tail(&sk->sk_receive_queue, skb);
		if (unlikely(fin)) {
			/* Empties the tree: nothing lies behind a FIN. */
			net6_tcp_fin(sk);
			break;
		}
	}
}

/**
 * net6_tcp_ofo_purge() - forget all out-of-order data
 * @sk: socket
 *
 * Context: sk locked.
 */
void net6_tcp_ofo_purge(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	net6_tcp_rbtree_purge(&tp->out_of_order_queue);
	tp->ooo_last_skb = NULL;
	tp->rx_opt.num_sacks = 0;
	tp->rx_opt.dsack = 0;
}

/**
 * net6_tcp_ofo_prune() - make room at the cost of the data farthest ahead
 * @sk: socket
 * @in: segment that needs the room; what begins before it stays
 *
 * Frees an eighth of the buffer at a time. The peer is told nothing of it: it keeps
 * what it sent until the cumulative ACK, RFC 2018 8.
 * Context: sk locked.
 * Return: true if anything was freed.
 */
bool net6_tcp_ofo_prune(struct sock *sk, const struct sk_buff *in)
{
	struct tcp_sock *tp = tcp_sk(sk);
	int goal = sk->sk_rcvbuf >> 3;
	struct rb_node *p, *prev;
	bool pruned = false;
	struct sk_buff *skb;

	if (RB_EMPTY_ROOT(&tp->out_of_order_queue))
		return false;
	for (p = &tp->ooo_last_skb->rbnode; p; p = prev) {
		skb = rb_to_skb(p);
		if (after(TCP_SKB_CB(in)->seq, TCP_SKB_CB(skb)->seq))
			break;
		prev = rb_prev(p);
		goal -= skb->truesize;
		net6_tcp_ofo_erase(tp, skb);
		net6_drop(net6_tcp_nn_locked(sk), skb, NET6_DROP_TCP_OFO_LIMIT);
		tp->ooo_last_skb = prev ? rb_to_skb(prev) : NULL;
		pruned = true;
		if (goal <= 0) {
			if (atomic_read(&sk->sk_rmem_alloc) <= sk->sk_rcvbuf &&
			    !sk_under_memory_pressure(sk))
				break;
			goal = sk->sk_rcvbuf >> 3;
		}
	}
	if (pruned) {
		NET6_INC(net6_tcp_nn_locked(sk), TcpOFOPrune);
		/* Blocks that were announced may be gone. */
		tp->rx_opt.num_sacks = 0;
	}
	return pruned;
}
