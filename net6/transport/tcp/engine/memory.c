// SPDX-License-Identifier: GPL-2.0
/* Buffers of the write queue and the memory they are charged to. */
#include "entry.h"

/**
 * net6_tcp_mem_force() - set memory aside whatever the limits of all sockets say
 * @sk: socket, locked
 * @size: bytes
 *
 * For what a connection hangs without: sending something when nothing is in flight,
 * receiving something when there is nothing to read.
 * Context: any.
 * Return: false if a memory cgroup's limit is in the way.
 */
bool net6_tcp_mem_force(struct sock *sk, int size)
{
	int pages;

	if (size <= sk->sk_forward_alloc)
		return true;
	/* A memory cgroup's charge cannot be forced from here. */
	if (mem_cgroup_sockets_enabled && sk->sk_memcg)
		return false;
	pages = sk_mem_pages(size - sk->sk_forward_alloc);
	sk->sk_forward_alloc += pages << PAGE_SHIFT;
	atomic_long_add(pages, sk->sk_prot->memory_allocated);
	return true;
}

/**
 * net6_tcp_wmem_schedule() - how much of this may be charged to the socket?
 * @sk: socket, owned by the caller
 * @size: bytes wanted
 *
 * Up to net.ipv4.tcp_wmem[0] is granted even under memory pressure.
 * Context: any.
 * Return: bytes, at most @size; 0 if the caller has to wait.
 */
int net6_tcp_wmem_schedule(struct sock *sk, int size)
{
	int left;

	if (likely(sk_wmem_schedule(sk, size)))
		return size;
	left = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_wmem[0]) - sk->sk_wmem_queued;
	if (left > 0)
		net6_tcp_mem_force(sk, min(left, size));
	return max(min(size, sk->sk_forward_alloc), 0);
}

/**
 * net6_tcp_alloc_skb() - a buffer for the write queue
 * @sk: socket, locked
 * @size: room for linear payload, bytes
 * @gfp: allocation flags
 * @force: charge it whatever the limits say (a FIN, a piece of a queued buffer)
 *
 * Its memory is scheduled, not charged: net6_tcp_queue_skb() or the caller does that.
 * Context: as @gfp.
 * Return: the buffer, or NULL.
 */
struct sk_buff *net6_tcp_alloc_skb(struct sock *sk, unsigned int size, gfp_t gfp, bool force)
{
	/* Rounded, so that the payload is aligned. */
	unsigned int room = L1_CACHE_ALIGN(net6_tcp_headroom(sk));
	struct sk_buff *skb = net6_tcp_skb_cache_get(room + size);

	if (!skb)
		skb = alloc_skb_fclone(room + size, gfp);
	if (unlikely(!skb)) {
		sk->sk_prot->enter_memory_pressure(sk);
		sk_stream_moderate_sndbuf(sk);
		return NULL;
	}
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));
	if (unlikely(!sk_wmem_schedule(sk, skb->truesize)) &&
	    !(force && net6_tcp_mem_force(sk, skb->truesize))) {
		__kfree_skb(skb);
		return NULL;
	}
	skb_reserve(skb, room);
	skb->ip_summed = CHECKSUM_PARTIAL;
	INIT_LIST_HEAD(&skb->tcp_tsorted_anchor);
	return skb;
}

/**
 * net6_tcp_rtx_free() - a packet is acknowledged: off the retransmission queue
 * @sk: socket, locked
 * @skb: the packet
 *
 * Context: any.
 */
void net6_tcp_rtx_free(struct sock *sk, struct sk_buff *skb)
{
	list_del(&skb->tcp_tsorted_anchor);
	tcp_rtx_queue_unlink(skb, sk);
	if (unlikely(skb_zcopy(skb))) {
		tcp_wmem_free_skb(sk, skb);
		return;
	}
	sk_wmem_queued_add(sk, -skb->truesize);
	sk_mem_uncharge(sk, skb->truesize);
	if (!net6_tcp_skb_cache_put(skb))
		__kfree_skb(skb);
}

/**
 * net6_tcp_queue_skb() - append an empty buffer to the write queue and charge it
 * @sk: socket, locked
 * @skb: from net6_tcp_alloc_skb()
 *
 * Context: any.
 */
void net6_tcp_queue_skb(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

	cb->seq = tp->write_seq;
	cb->end_seq = tp->write_seq;
	cb->tcp_flags = TCPHDR_ACK;
	__skb_header_release(skb);
	__skb_queue_tail(&sk->sk_write_queue, skb);
	sk_wmem_queued_add(sk, skb->truesize);
	sk_mem_charge(sk, skb->truesize);
	tp->nonagle &= ~TCP_NAGLE_PUSH;
}

/**
 * net6_tcp_unqueue_empty() - take an empty buffer off the write queue's tail
 * @sk: socket, locked
 *
 * A sender that failed before it filled its buffer leaves one: nothing may remain that
 * the output side would take for a segment.
 * Context: any.
 */
void net6_tcp_unqueue_empty(struct sock *sk)
{
	struct sk_buff *skb = skb_peek_tail(&sk->sk_write_queue);

	if (!skb || TCP_SKB_CB(skb)->seq != TCP_SKB_CB(skb)->end_seq)
		return;
	__skb_unlink(skb, &sk->sk_write_queue);
	tcp_skb_tsorted_anchor_cleanup(skb);
	tcp_wmem_free_skb(sk, skb);
}

/**
 * net6_tcp_write_queue_purge() - forget all that was to be sent
 * @sk: socket, locked
 *
 * Context: any.
 */
void net6_tcp_write_queue_purge(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;
	struct rb_node *p;

	while ((skb = __skb_dequeue(&sk->sk_write_queue))) {
		tcp_skb_tsorted_anchor_cleanup(skb);
		tcp_wmem_free_skb(sk, skb);
	}
	p = rb_first(&sk->tcp_rtx_queue);
	while (p) {
		skb = rb_to_skb(p);
		p = rb_next(p);
		list_del(&skb->tcp_tsorted_anchor);
		tcp_rtx_queue_unlink(skb, sk);
		tcp_wmem_free_skb(sk, skb);
	}
	sk->tcp_rtx_queue = RB_ROOT;
	INIT_LIST_HEAD(&tp->tsorted_sent_queue);
	tcp_clear_all_retrans_hints(tp);
	tp->highest_sack = NULL;
	tp->packets_out = 0;
	tp->sacked_out = 0;
	tp->lost_out = 0;
	tp->retrans_out = 0;
	inet_csk(sk)->icsk_backoff = 0;
	if (net6_tcp_has_pages(sk))
		net6_tcp_pages_drop(sk);
	sk_mem_reclaim(sk);
}

/**
 * net6_tcp_rbtree_purge() - free all buffers of a tree
 * @root: of out-of-order segments, already uncharged by their destructors
 */
void net6_tcp_rbtree_purge(struct rb_root *root)
{
	struct rb_node *p = rb_first(root);
	struct sk_buff *skb;

	while (p) {
		skb = rb_to_skb(p);
		p = rb_next(p);
		rb_erase(&skb->rbnode, root);
		__kfree_skb(skb);
	}
}
