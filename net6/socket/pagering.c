// SPDX-License-Identifier: GPL-2.0
/* Pages that a socket has filled with what it sends, kept to be filled again. Taking new ones
 * costs the allocator's time, and with init_on_alloc that of clearing them, which is about what
 * copying the bytes costs.
 *
 * A kept page is used again when the reference taken here is its only one. Queues, the device, a
 * receiver on the same machine, a pipe and a packet socket have their own. Only pages that the
 * stack has copied into come here, never those that the user gave (MSG_ZEROCOPY, sendfile()). They
 * lie in the order in which they were filled, and only the oldest is looked at.
 *
 * They count in the socket's memory, up to as much as its send buffer. A ring has one user at a
 * time, and who that is, is its owner's matter: TCP's pages.c, and dgram_pages.c.
 */
#include <linux/mm.h>

#include "../compat/sock.h"
#include "pagering.h"

static void net6_pagering_add(struct net6_pagering *ring, struct page *page)
{
	unsigned int at = ring->first + ring->count++;

	ring->page[at < ring->max ? at : at - ring->max] = page;
}

static struct page *net6_pagering_take(struct net6_pagering *ring)
{
	struct page *page = ring->page[ring->first];

	ring->count--;
	if (++ring->first == ring->max)
		ring->first = 0;
	return page;
}

static bool __net6_pagering_charge(struct sock *sk)
{
	if (!sk_wmem_schedule(sk, NET6_PAGERING_BYTES))
		return false;
	sk_mem_charge(sk, NET6_PAGERING_BYTES);
	return true;
}

/**
 * net6_pagering_charge() - charge a socket for a page
 * @sk: socket; what is scheduled is under its lock, or that of a datagram socket's queue
 *
 * Context: process; a stream socket is owned. Return: false if there is no room.
 */
bool net6_pagering_charge(struct sock *sk)
{
	bool charged;

	if (sk->sk_type == SOCK_STREAM)
		return __net6_pagering_charge(sk);
	spin_lock_bh(&sk->sk_receive_queue.lock);
	charged = __net6_pagering_charge(sk);
	spin_unlock_bh(&sk->sk_receive_queue.lock);
	return charged;
}

/**
 * net6_pagering_uncharge() - take back what was charged
 * @sk: socket
 * @count: pages
 *
 * Context: any; a stream socket is owned.
 */
void net6_pagering_uncharge(struct sock *sk, unsigned int count)
{
	if (sk->sk_type == SOCK_STREAM) {
		sk_mem_uncharge(sk, count * NET6_PAGERING_BYTES);
		return;
	}
	spin_lock_bh(&sk->sk_receive_queue.lock);
	sk_mem_uncharge(sk, count * NET6_PAGERING_BYTES);
	spin_unlock_bh(&sk->sk_receive_queue.lock);
}

/**
 * net6_pagering_turn() - a page is full: keep it, go on with the oldest if that is free
 * @sk: socket
 * @ring: its ring, whose only user the caller is
 * @frag: the full page, with others' references. Filled with one that has none, with no page, or
 *	left as it was, for skb_page_frag_refill() to go on from
 *
 * Context: process. Return: which of these.
 */
enum net6_pagering_did net6_pagering_turn(struct sock *sk, struct net6_pagering *ring,
					  struct page_frag *frag)
{
	enum net6_pagering_did did = NET6_PAGERING_KEPT;
	struct page *page = frag->page;

	if (frag->size != NET6_PAGERING_BYTES || page_is_pfmemalloc(page))
		return NET6_PAGERING_NOTHING;
	if (ring->count && page_ref_count(ring->page[ring->first]) == 1) {
		frag->page = net6_pagering_take(ring);
		frag->offset = 0;
		net6_pagering_add(ring, page);
		return NET6_PAGERING_REUSED;
	}
	if (ring->count == ring->max ||
	    ring->count * NET6_PAGERING_BYTES >= READ_ONCE(sk->sk_sndbuf) ||
	    !net6_pagering_charge(sk)) {
		if (!ring->count)
			return NET6_PAGERING_NOTHING;
		/* Somebody may hold the oldest for long. */
		put_page(net6_pagering_take(ring));
		did = NET6_PAGERING_REPLACED;
	}
	net6_pagering_add(ring, page);
	frag->page = NULL;
	return did;
}

/**
 * net6_pagering_drop() - give all kept pages up
 * @sk: socket
 * @ring: its ring, whose only user the caller is
 * @frag: the page that it fills now, which goes, too
 *
 * Context: any. Return: how many were kept.
 */
unsigned int net6_pagering_drop(struct sock *sk, struct net6_pagering *ring,
				struct page_frag *frag)
{
	unsigned int count = ring->count;

	while (ring->count)
		put_page(net6_pagering_take(ring));
	if (count)
		net6_pagering_uncharge(sk, count);
	if (frag->page) {
		put_page(frag->page);
		frag->page = NULL;
	}
	return count;
}
