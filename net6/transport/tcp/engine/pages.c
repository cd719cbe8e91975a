// SPDX-License-Identifier: GPL-2.0
/* Pages that a connection has filled with what it sends, kept to be filled again
 * (socket/pagering.c). Only those that net6_tcp_copy_frag() filled come here. The connection has a
 * page of its own to fill meanwhile, sk_frag, where others use their task's.
 *
 * They are given up when none was taken or added for a while, under memory pressure, and with the
 * write queue. Socket locked throughout.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "../../../socket/pagering.h"
#include "engine.h"

/* How long pages are kept that are not needed. */
#define NET6_TCP_PAGES_IDLE	TCP_RTO_MIN
/* An object of the allocator. */
#define NET6_TCP_PAGES_SIZE	1024

/* Pages are in use. The timer that gives them up is mostly armed, for what was sent lately. */
static void net6_tcp_pages_touch(struct sock *sk, struct net6_pagering *ring)
{
	struct timer_list *timer = net6_compat_write_timer(sk);

	ring->used = jiffies;
	if (unlikely(!timer_pending(timer)))
		sk_reset_timer(sk, timer, ring->used + NET6_TCP_PAGES_IDLE);
}

static void net6_tcp_pages_start(struct sock *sk)
{
	struct net6_pagering *ring;

	if (tcp_sk(sk)->bytes_sent < NET6_PAGERING_AFTER || sk_under_memory_pressure(sk))
		return;
	ring = kmalloc(NET6_TCP_PAGES_SIZE, sk->sk_allocation | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!ring)
		return;
	net6_pagering_init(ring, NET6_PAGERING_PLACES(NET6_TCP_PAGES_SIZE));
	net6_tcp_sk(sk)->pages = ring;
	net6_tcp_pages_touch(sk, ring);
}

/**
 * net6_tcp_pages_turn() - a page is full: keep it, go on with the oldest if that is free
 * @sk: socket; from now on it may have a page of its own to fill, sk_frag
 * @frag: the full page, with others' references; as net6_pagering_turn() leaves it
 *
 * Context: process.
 */
void net6_tcp_pages_turn(struct sock *sk, struct page_frag *frag)
{
	struct net6_pagering *ring = net6_tcp_sk(sk)->pages;

	if (!ring) {
		/* This page is the task's, and others may hold it. */
		if (frag->size == NET6_PAGERING_BYTES && !page_is_pfmemalloc(frag->page))
			net6_tcp_pages_start(sk);
		return;
	}
	if (unlikely(sk_under_memory_pressure(sk))) {
		net6_tcp_pages_drop(sk);
		return;
	}
	net6_tcp_pages_touch(sk, ring);
	switch (net6_pagering_turn(sk, ring, frag)) {
	case NET6_PAGERING_REUSED:
		NET6_INC(net6_tcp_nn(sk), TcpPagesReused);
		break;
	case NET6_PAGERING_REPLACED:
		NET6_INC(net6_tcp_nn(sk), TcpPagesGivenUp);
		fallthrough;
	case NET6_PAGERING_KEPT:
		NET6_INC(net6_tcp_nn(sk), TcpPagesKept);
		break;
	case NET6_PAGERING_NOTHING:
		break;
	}
}

/**
 * net6_tcp_pages_drop() - give all kept pages up
 * @sk: socket that was a connection, not in an accept queue
 *
 * Context: any.
 */
void net6_tcp_pages_drop(struct sock *sk)
{
	struct net6_pagering *ring = net6_tcp_sk(sk)->pages;
	unsigned int count;

	if (!ring)
		return;
	net6_tcp_sk(sk)->pages = NULL;
	count = net6_pagering_drop(sk, ring, &sk->sk_frag);
	NET6_ADD(net6_tcp_nn(sk), TcpPagesGivenUp, count);
	kfree(ring);
}

/**
 * net6_tcp_pages_timer() - the write timer has fired: give up what is not needed
 * @sk: connection
 *
 * Context: softirq or process.
 */
void net6_tcp_pages_timer(struct sock *sk)
{
	struct net6_pagering *ring = net6_tcp_sk(sk)->pages;
	struct timer_list *timer = net6_compat_write_timer(sk);

	if (time_after_eq(jiffies, ring->used + NET6_TCP_PAGES_IDLE)) {
		net6_tcp_pages_drop(sk);
		sk_mem_reclaim(sk);
	} else if (!timer_pending(timer)) {
		sk_reset_timer(sk, timer, ring->used + NET6_TCP_PAGES_IDLE);
	}
}
