// SPDX-License-Identifier: GPL-2.0
/* The receive queue of datagram sockets and its memory accounting. Everything happens
 * under the queue's own lock: receiving a datagram never takes the socket lock.
 */
#include <linux/skbuff.h>
#include <net/busy_poll.h>
#include <net/inet_common.h>

#include "../compat/inet_sock.h"
#include "dgram.h"

/* Give the memory of a datagram back, keeping a page for the next. Queue locked. */
static void net6_dgram_uncharge(struct sock *sk, struct sk_buff *skb)
	__must_hold(&sk->sk_receive_queue.lock)
{
	int size = skb->truesize;

	lockdep_assert_held(&sk->sk_receive_queue.lock);
	atomic_sub(size, &sk->sk_rmem_alloc);
	/* Echo sockets are charged to nobody but their buffer. */
	if (!sk_has_account(sk))
		return;
	sk_forward_alloc_add(sk, size);
	if (unlikely(sk->sk_forward_alloc > (int)PAGE_SIZE))
		__sk_mem_reclaim(sk, sk->sk_forward_alloc - 1);
}

static void net6_dgram_unlink(struct sock *sk, struct sk_buff *skb)
	__must_hold(&sk->sk_receive_queue.lock)
{
	__skb_unlink(skb, &sk->sk_receive_queue);
	net6_dgram_uncharge(sk, skb);
}

/* Each datagram may be another reader's, whom the first wake-up has not reached. */
static void net6_dgram_wake_readers(struct sock *sk, int datagrams)
{
	const __poll_t events = EPOLLIN | EPOLLRDNORM | EPOLLRDBAND;
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		__wake_up(&wq->wait, TASK_INTERRUPTIBLE, datagrams, poll_to_key(events));
	rcu_read_unlock();
}

/**
 * net6_dgram_enqueue() - queue a datagram, or several in one packet, and wake who reads
 * @sk: socket
 * @skb: orphaned, data at what the program reads; consumed on success only
 * @cut: 0, or octets of each datagram but the last: they are read one by one. Then their checksums
 *	are known to be right.
 *
 * One packet is always taken, however big, if the queue is empty.
 * Context: softirq. Return: 0; -ENOMEM (SO_RCVBUF is full); -ENOBUFS (udp_mem is).
 */
int net6_dgram_enqueue(struct sock *sk, struct sk_buff *skb, u16 cut)
{
	int size, err = -ENOMEM, datagrams = cut ? DIV_ROUND_UP(skb->len, cut) : 1;
	struct sk_buff_head *queue = &sk->sk_receive_queue;
	unsigned int rcvbuf = READ_ONCE(sk->sk_rcvbuf);
	unsigned int rmem = atomic_read(&sk->sk_rmem_alloc);

	if (rmem > rcvbuf)
		goto full;
	size = skb->truesize;
	if ((unsigned int)atomic_add_return(size, &sk->sk_rmem_alloc) > size + rcvbuf)
		goto uncharge;

	net6_sk_stamp(sk, skb);
	skb->dev = NULL;
	net6_dgram_cb(skb)->cut = cut;
	net6_dgram_cb(skb)->taken = 0;
	spin_lock(&queue->lock);
	if (!sk_rmem_schedule(sk, skb, size)) {
		spin_unlock(&queue->lock);
		err = -ENOBUFS;
		goto uncharge;
	}
	sk_mem_charge(sk, size);
	sock_skb_set_dropcount(sk, skb);
	__skb_queue_tail(queue, skb);
	spin_unlock(&queue->lock);

	if (!sock_flag(sk, SOCK_DEAD)) {
		sk->sk_data_ready(sk);
		if (unlikely(datagrams > 1))
			net6_dgram_wake_readers(sk, datagrams - 1);
	}
	return 0;

uncharge:
	atomic_sub(size, &sk->sk_rmem_alloc);
full:
	atomic_add(datagrams, &sk->sk_drops);
	return err;
}

/**
 * net6_dgram_deliver() - what is left to do for a datagram whose socket is known
 * @sk: socket
 * @skb: verified, data at what the program reads; consumed
 *
 * The socket's filter, then its queue; a drop is counted and has its reason.
 * Context: softirq.
 */
void net6_dgram_deliver(struct sock *sk, struct sk_buff *skb)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));

	skb->ip_summed = CHECKSUM_UNNECESSARY;
	if (sk_filter(sk, skb)) {
		atomic_inc(&sk->sk_drops);
		net6_drop(nn, skb, NET6_DROP_SOCKET_FILTER);
		return;
	}
	skb_orphan(skb);
	if (net6_dgram_enqueue(sk, skb, 0))
		net6_drop(nn, skb, NET6_DROP_SOCKET_RCVBUF);
}

/* The first datagram of a packet from @start on. */
static void net6_dgram_span_at(const struct sk_buff *skb, int start, struct net6_dgram_span *span)
{
	int rest = skb->len - start, cut = net6_dgram_cb(skb)->cut;

	span->start = start;
	span->len = cut ? min(cut, rest) : rest;
}

/* The datagram of this packet where the peek offset is; false if it is behind all of them. */
static bool net6_dgram_peek_one(const struct sk_buff *skb, struct net6_dgram_span *span)
{
	struct net6_dgram_cb *cb = net6_dgram_cb(skb);
	int rest = skb->len - cb->taken, whole = 0;

	if (span->off && span->off >= rest) {
		span->off -= rest;
		return false;
	}
	if (cb->cut)
		whole = rounddown(span->off, (int)cb->cut);
	span->off -= whole;
	net6_dgram_span_at(skb, cb->taken + whole, span);
	return true;
}

/* The first datagram, or the one at span->off octets for MSG_PEEK. Queue locked. */
static struct sk_buff *net6_dgram_pick(struct sock *sk, int flags, struct net6_dgram_span *span)
	__must_hold(&sk->sk_receive_queue.lock)
{
	struct sk_buff_head *queue = &sk->sk_receive_queue;
	struct sk_buff *skb;

	if (unlikely(flags & MSG_PEEK)) {
		span->off = max(span->off, 0);
		skb_queue_walk(queue, skb) {
			if (!net6_dgram_peek_one(skb, span))
				continue;
			refcount_inc(&skb->users);
			return skb;
		}
		return NULL;
	}
	skb = skb_peek(queue);
	if (!skb)
		return NULL;
	span->off = 0;
	net6_dgram_span_at(skb, net6_dgram_cb(skb)->taken, span);
	if (likely(!net6_dgram_cb(skb)->cut || span->start + span->len == skb->len)) {
		net6_dgram_unlink(sk, skb);
	} else {
		net6_dgram_cb(skb)->taken += span->len;
		refcount_inc(&skb->users);
	}
	return skb;
}

/**
 * net6_dgram_dequeue() - take the next datagram, waiting for it if need be
 * @sk: socket
 * @flags: MSG_DONTWAIT, MSG_PEEK
 * @span: its off is set before, all of it is afterwards
 * @err: set when there is none; 0 after shutdown()
 *
 * Context: process. Return: the packet of the datagram, with one reference, or NULL.
 */
struct sk_buff *net6_dgram_dequeue(struct sock *sk, int flags, struct net6_dgram_span *span,
				   int *err)
{
	struct sk_buff_head *queue = &sk->sk_receive_queue;
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	int off = span->off;
	struct sk_buff *skb, *last;

	for (;;) {
		*err = sock_error(sk);
		if (*err)
			return NULL;
		if (!skb_queue_empty_lockless(queue)) {
			span->off = off;
			spin_lock_bh(&queue->lock);
			skb = net6_dgram_pick(sk, flags, span);
			last = likely(skb) ? skb : skb_peek_tail(queue);
			spin_unlock_bh(&queue->lock);
			if (likely(skb))
				return skb;
		} else {
			last = NULL;
		}
		if (sk_can_busy_loop(sk)) {
			sk_busy_loop(sk, flags & MSG_DONTWAIT);
			if (!skb_queue_empty_lockless(queue))
				continue;
		}
		*err = -EAGAIN;
		if (!timeo)
			return NULL;
		/* An empty queue's last element is its head. */
		if (__skb_wait_for_more_packets(sk, queue, err, &timeo,
						last ?: (struct sk_buff *)queue))
			return NULL;
	}
}

/**
 * net6_dgram_drop_bad() - a datagram turned out to have a wrong checksum
 * @sk: socket
 * @skb: what net6_dgram_dequeue() gave; the caller still frees its reference
 * @flags: as given to net6_dgram_dequeue(): a peeked one is taken off the queue
 *
 * Context: process.
 * Return: 0, or -ENOENT when another reader has taken it off and counted it.
 */
int net6_dgram_drop_bad(struct sock *sk, struct sk_buff *skb, int flags)
{
	struct sk_buff_head *queue = &sk->sk_receive_queue;
	int err = 0;

	if (flags & MSG_PEEK) {
		err = -ENOENT;
		spin_lock_bh(&queue->lock);
		if (skb->next) {
			net6_dgram_unlink(sk, skb);
			refcount_dec(&skb->users);
			err = 0;
		}
		spin_unlock_bh(&queue->lock);
	}
	if (!err)
		atomic_inc(&sk->sk_drops);
	return err;
}

/**
 * net6_dgram_first_len() - length of the first datagram whose checksum is right
 * @sk: socket
 *
 * Drops wrong ones in front of it, so that a poll() that says readable is true.
 * Context: process. Return: bytes, or -1 when the queue is empty.
 */
int net6_dgram_first_len(struct sock *sk)
{
	struct sk_buff_head *queue = &sk->sk_receive_queue;
	struct net6_net *nn = net6_pernet(sock_net(sk));
	struct net6_dgram_span span;
	struct sk_buff *skb;
	int len = -1;

	spin_lock_bh(&queue->lock);
	while ((skb = skb_peek(queue)) != NULL) {
		if (skb_csum_unnecessary(skb) || !__skb_checksum_complete(skb)) {
			net6_dgram_span_at(skb, net6_dgram_cb(skb)->taken, &span);
			len = span.len;
			break;
		}
		net6_dgram_unlink(sk, skb);
		atomic_inc(&sk->sk_drops);
		NET6_INC(nn, Udp6InCsumErrors);
		NET6_INC(nn, Udp6InErrors);
		net6_drop(nn, skb, NET6_DROP_UDP_CSUM);
	}
	spin_unlock_bh(&queue->lock);
	return len;
}

/**
 * net6_dgram_destruct() - sk_destruct of datagram sockets
 * @sk: unhashed, nobody refers to it
 *
 * Context: any, RCU callback.
 */
void net6_dgram_destruct(struct sock *sk)
{
	struct sk_buff_head *queue = &sk->sk_receive_queue;
	struct sk_buff *skb;

	if (!skb_queue_empty(queue)) {
		spin_lock_bh(&queue->lock);
		while ((skb = __skb_dequeue(queue)) != NULL) {
			net6_dgram_uncharge(sk, skb);
			kfree_skb(skb);
		}
		spin_unlock_bh(&queue->lock);
	}
	net6_sk_destruct(sk);
}

/**
 * net6_dgram_tell() - a program learns of an error about what it sent
 * @sk: its socket
 * @err: errno, positive
 * @hard: a connected socket is told although it has not asked for errors
 *
 * Context: softirq, RCU read lock held.
 */
void net6_dgram_tell(struct sock *sk, int err, bool hard)
{
	if (!net6_opt(sk, RECVERR6) && (!hard || sk->sk_state != TCP_ESTABLISHED))
		return;
	WRITE_ONCE(sk->sk_err, err);
	sk_error_report(sk);
}
