// SPDX-License-Identifier: GPL-2.0
/* Pages that a connection has filled with what it sends, kept to be filled again. Taking new
 * ones costs the allocator's time, and with init_on_alloc that of clearing them, which is about
 * what copying the bytes costs.
 *
 * A kept page is used again when the reference taken here is its only one. The write queue, the
 * device, a receiver on the same machine, a pipe and a packet socket have their own. Only pages
 * that net6_tcp_copy_frag() filled come here, never those that the user gave (MSG_ZEROCOPY,
 * sendfile()). They lie in the order in which they were filled, and only the oldest is looked at.
 * The connection has a page of its own to fill meanwhile, where others use their task's.
 *
 * They count in the socket's memory, up to as much as its send buffer. They are given up when
 * none was taken or added for a while, under memory pressure, and with the write queue. Socket
 * locked throughout.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "engine.h"

/* The size that skb_page_frag_refill() allocates if it can; smaller ones are not kept. */
#define NET6_TCP_PAGE_BYTES	(PAGE_SIZE << get_order(32768))
/* Bytes that a connection sends before it keeps pages: short ones would not use them again. */
#define NET6_TCP_PAGES_AFTER	(256 << 10)
/* How long pages are kept that are not needed. */
#define NET6_TCP_PAGES_IDLE	TCP_RTO_MIN
/* With what precedes them the pointers fill an object of 1 KB. */
#define NET6_TCP_PAGES_MAX	((1024 - 2 * sizeof(unsigned long)) / sizeof(struct page *))

/**
 * struct net6_tcp_pages - pages of a connection, a ring
 * @used: jiffies when one was last taken or added
 * @first: index of the oldest
 * @count: how many
 * @page: a reference each; charged to the socket
 */
struct net6_tcp_pages {
	unsigned long	used;
	u16		first;
	u16		count;
	struct page	*page[NET6_TCP_PAGES_MAX];
};

static_assert(sizeof(struct net6_tcp_pages) == 1024);

/* Pages are in use. The timer that gives them up is mostly armed, for what was sent lately. */
static void net6_tcp_pages_touch(struct sock *sk, struct net6_tcp_pages *ring)
{
	struct timer_list *timer = &inet_csk(sk)->icsk_retransmit_timer;

	ring->used = jiffies;
	if (unlikely(!timer_pending(timer)))
		sk_reset_timer(sk, timer, ring->used + NET6_TCP_PAGES_IDLE);
}

static void net6_tcp_pages_start(struct sock *sk)
{
	struct net6_tcp_pages *ring;

	if (tcp_sk(sk)->bytes_sent < NET6_TCP_PAGES_AFTER || sk_under_memory_pressure(sk))
		return;
	ring = kmalloc(sizeof(*ring), sk->sk_allocation | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!ring)
		return;
	ring->first = 0;
	ring->count = 0;
	net6_tcp_sk(sk)->pages = ring;
	net6_tcp_pages_touch(sk, ring);
}

static void net6_tcp_pages_add(struct net6_tcp_pages *ring, struct page *page)
{
	unsigned int at = ring->first + ring->count++;

	ring->page[at < NET6_TCP_PAGES_MAX ? at : at - NET6_TCP_PAGES_MAX] = page;
}

static struct page *net6_tcp_pages_take(struct net6_tcp_pages *ring)
{
	struct page *page = ring->page[ring->first];

	ring->count--;
	if (++ring->first == NET6_TCP_PAGES_MAX)
		ring->first = 0;
	return page;
}

/**
 * net6_tcp_pages_turn() - a page is full: keep it, go on with the oldest if that is free
 * @sk: socket; from now on it may have a page of its own to fill, sk_frag
 * @frag: the full page, with others' references. Filled with one that has none, with no page, or
 *	left as it was, for skb_page_frag_refill() to go on from
 *
 * Context: process.
 */
void net6_tcp_pages_turn(struct sock *sk, struct page_frag *frag)
{
	struct net6_tcp_pages *ring = net6_tcp_sk(sk)->pages;
	struct page *page = frag->page;

	if (frag->size != NET6_TCP_PAGE_BYTES || page_is_pfmemalloc(page))
		return;
	if (!ring) {
		/* This page is the task's, and others may hold it. */
		net6_tcp_pages_start(sk);
		return;
	}
	if (unlikely(sk_under_memory_pressure(sk))) {
		net6_tcp_pages_drop(sk);
		return;
	}
	net6_tcp_pages_touch(sk, ring);
	if (ring->count && page_ref_count(ring->page[ring->first]) == 1) {
		frag->page = net6_tcp_pages_take(ring);
		frag->offset = 0;
		net6_tcp_pages_add(ring, page);
		NET6_INC(net6_tcp_nn(sk), TcpPagesReused);
		return;
	}
	if (ring->count < NET6_TCP_PAGES_MAX &&
	    ring->count * NET6_TCP_PAGE_BYTES < READ_ONCE(sk->sk_sndbuf) &&
	    sk_wmem_schedule(sk, NET6_TCP_PAGE_BYTES)) {
		sk_mem_charge(sk, NET6_TCP_PAGE_BYTES);
	} else if (ring->count) {
		/* Somebody may hold the oldest for long. */
		put_page(net6_tcp_pages_take(ring));
		NET6_INC(net6_tcp_nn(sk), TcpPagesGivenUp);
	} else {
		return;
	}
	net6_tcp_pages_add(ring, page);
	frag->page = NULL;
	NET6_INC(net6_tcp_nn(sk), TcpPagesKept);
}

/**
 * net6_tcp_pages_drop() - give all kept pages up
 * @sk: socket that was a connection, not in an accept queue
 *
 * Context: any.
 */
void net6_tcp_pages_drop(struct sock *sk)
{
	struct net6_tcp_pages *ring = net6_tcp_sk(sk)->pages;

	if (!ring)
		return;
	net6_tcp_sk(sk)->pages = NULL;
	NET6_ADD(net6_tcp_nn(sk), TcpPagesGivenUp, ring->count);
	sk_mem_uncharge(sk, ring->count * NET6_TCP_PAGE_BYTES);
	while (ring->count)
		put_page(net6_tcp_pages_take(ring));
	kfree(ring);
	if (sk->sk_frag.page) {
		put_page(sk->sk_frag.page);
		sk->sk_frag.page = NULL;
	}
}

/**
 * net6_tcp_pages_timer() - the write timer has fired: give up what is not needed
 * @sk: connection
 *
 * Context: softirq or process.
 */
void net6_tcp_pages_timer(struct sock *sk)
{
	struct net6_tcp_pages *ring = net6_tcp_sk(sk)->pages;
	struct timer_list *timer = &inet_csk(sk)->icsk_retransmit_timer;

	if (time_after_eq(jiffies, ring->used + NET6_TCP_PAGES_IDLE)) {
		net6_tcp_pages_drop(sk);
		sk_mem_reclaim(sk);
	} else if (!timer_pending(timer)) {
		sk_reset_timer(sk, timer, ring->used + NET6_TCP_PAGES_IDLE);
	}
}
