// SPDX-License-Identifier: GPL-2.0
/* Pages for the data of large datagrams. A UDP socket that sends many keeps those that it has
 * filled (pagering.c) and fills one of its own meanwhile, sk_frag. Others fill their task's.
 *
 * Datagrams are sent without the socket lock. So a flag says that a sender, or the timer, uses the
 * pages; another sender does not wait, but fills its task's. The timer gives them up when no
 * large datagram was sent for a while. What holds them stays until the socket is closed.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "../compat/sock.h"
#include "../compat/timer.h"
#include "pagering.h"
#include "sock.h"

/* Octets left in a page that are worth a reference to it, as for sk_page_frag_refill(). */
#define NET6_DGRAM_PAGES_SLIVER	32U
/* How long pages are kept that are not needed: as TCP's. */
#define NET6_DGRAM_PAGES_IDLE	(HZ / 5)
/* An object of the allocator. */
#define NET6_DGRAM_PAGES_SIZE	256

/**
 * struct net6_dgram_pages - pages of a UDP socket
 * @timer: while it keeps any, gives them up; holds the socket
 * @sk: that socket
 * @flags: bit NET6_DGRAM_PAGES_BUSY: somebody uses @ring, @charged, and the socket's sk_frag
 * @charged: the socket is charged for the page in sk_frag
 * @ring: those that are kept
 */
struct net6_dgram_pages {
	struct timer_list	timer;
	struct sock		*sk;
	unsigned long		flags;
	bool			charged;
	struct net6_pagering	ring;
};

#define NET6_DGRAM_PAGES_BUSY	0
#define NET6_DGRAM_PAGES_MAX							\
	NET6_PAGERING_PLACES(NET6_DGRAM_PAGES_SIZE -				\
			     offsetof(struct net6_dgram_pages, ring))

static void net6_dgram_pages_drop(struct net6_dgram_pages *pages)
{
	struct sock *sk = pages->sk;
	unsigned int count = net6_pagering_drop(sk, &pages->ring, &sk->sk_frag);

	NET6_ADD(net6_pernet(sock_net(sk)), UdpPagesGivenUp, count);
	if (pages->charged)
		net6_pagering_uncharge(sk, 1);
	pages->charged = false;
}

static void net6_dgram_pages_idle(struct timer_list *t)
{
	struct net6_dgram_pages *pages = timer_container_of(pages, t, timer);
	unsigned long until = READ_ONCE(pages->ring.used) + NET6_DGRAM_PAGES_IDLE;
	struct sock *sk = pages->sk;

	if (time_before(jiffies, until)) {
		sk_reset_timer(sk, t, until);
	} else if (test_and_set_bit_lock(NET6_DGRAM_PAGES_BUSY, &pages->flags)) {
		sk_reset_timer(sk, t, jiffies + NET6_DGRAM_PAGES_IDLE);
	} else {
		net6_dgram_pages_drop(pages);
		clear_bit_unlock(NET6_DGRAM_PAGES_BUSY, &pages->flags);
	}
	sock_put(sk);
}

/* A socket that has sent enough for it gets pages of its own. */
static struct net6_dgram_pages *net6_dgram_pages_start(struct sock *sk, unsigned int len)
{
	struct net6_dgram_sock *ds = net6_dgram_sk(sk);
	unsigned int sent = READ_ONCE(ds->paged);
	struct net6_dgram_pages *pages;

	if (sent < NET6_PAGERING_AFTER) {
		WRITE_ONCE(ds->paged, sent + len);
		return NULL;
	}
	pages = kmalloc(NET6_DGRAM_PAGES_SIZE, sk->sk_allocation | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!pages)
		return NULL;
	timer_setup(&pages->timer, net6_dgram_pages_idle, 0);
	pages->sk = sk;
	pages->flags = 0;
	pages->charged = false;
	pages->ring.used = jiffies;
	net6_pagering_init(&pages->ring, NET6_DGRAM_PAGES_MAX);
	if (!cmpxchg(&ds->pages, NULL, pages))
		return pages;
	kfree(pages);
	return NULL;
}

/* UDP's memory is short: none is kept. It has no state of pressure as TCP has. */
static bool net6_dgram_pages_short(struct sock *sk)
{
	return sk_under_memory_pressure(sk) ||
	       sk_memory_allocated(sk) > sk_prot_mem_limits(sk, 1);
}

/* The page that is being filled is charged, too: a user may have many sockets. */
static bool net6_dgram_pages_charge(struct sock *sk, struct net6_dgram_pages *pages)
{
	if (likely(pages->charged))
		return true;
	pages->charged = !net6_dgram_pages_short(sk) && net6_pagering_charge(sk);
	return pages->charged;
}

/* Those of a socket that has them, for one sender. */
static struct net6_dgram_pages *net6_dgram_pages_get(struct sock *sk, unsigned int len)
{
	struct net6_dgram_pages *pages;

	if (!net6_sk_is_udp(sk))
		return NULL;
	/* Pairs with cmpxchg() in net6_dgram_pages_start(). */
	pages = smp_load_acquire(&net6_dgram_sk(sk)->pages);
	if (!pages)
		pages = net6_dgram_pages_start(sk, len);
	if (!pages || test_and_set_bit_lock(NET6_DGRAM_PAGES_BUSY, &pages->flags))
		return NULL;
	if (unlikely(!net6_dgram_pages_charge(sk, pages))) {
		clear_bit_unlock(NET6_DGRAM_PAGES_BUSY, &pages->flags);
		return NULL;
	}
	WRITE_ONCE(pages->ring.used, jiffies);
	if (unlikely(!timer_pending(&pages->timer)))
		sk_reset_timer(sk, &pages->timer, jiffies + NET6_DGRAM_PAGES_IDLE);
	return pages;
}

static void net6_dgram_pages_turn(struct sock *sk, struct net6_dgram_pages *pages)
{
	struct net6_net *nn = net6_pernet(sock_net(sk));

	if (unlikely(net6_dgram_pages_short(sk))) {
		net6_dgram_pages_drop(pages);
		return;
	}
	switch (net6_pagering_turn(sk, &pages->ring, &sk->sk_frag)) {
	case NET6_PAGERING_REUSED:
		NET6_INC(nn, UdpPagesReused);
		break;
	case NET6_PAGERING_REPLACED:
		NET6_INC(nn, UdpPagesGivenUp);
		fallthrough;
	case NET6_PAGERING_KEPT:
		NET6_INC(nn, UdpPagesKept);
		break;
	case NET6_PAGERING_NOTHING:
		break;
	}
}

/* A reference to a page with room. An empty one is begun again; a full one is turned. */
static bool net6_dgram_pages_room(struct sock *sk, struct net6_dgram_pages *pages,
				  unsigned int left, struct page_frag *frag)
{
	unsigned int least = min(left, NET6_DGRAM_PAGES_SLIVER);

	if (pages && frag->page && frag->offset + least > frag->size &&
	    page_ref_count(frag->page) != 1)
		net6_dgram_pages_turn(sk, pages);
	if (!skb_page_frag_refill(least, frag, sk->sk_allocation))
		return false;
	get_page(frag->page);
	return true;
}

/* A sender that may be getting memory back must leave the task's page alone (sk_page_frag()). Such
 * a datagram has pages for itself.
 */
static bool net6_dgram_pages_new(struct sock *sk, struct page_frag *frag)
{
	frag->page = alloc_page(sk->sk_allocation);
	frag->offset = 0;
	frag->size = PAGE_SIZE;
	return frag->page;
}

/**
 * net6_dgram_pages_add() - room for a datagram's data in pages
 * @sk: socket that sends it, which is charged for octets, not for pages
 * @skb: the socket's, without pages yet; the room is still to be filled in
 * @len: octets, of one packet at most
 *
 * Context: process. Return: 0, or -ENOBUFS: @skb can only be freed then.
 */
int net6_dgram_pages_add(struct sock *sk, struct sk_buff *skb, unsigned int len)
{
	struct page_frag *frag = sk_page_frag(sk), own;
	struct net6_dgram_pages *pages = NULL;
	unsigned int left = len, size;
	bool alone = frag != &current->task_frag;
	int i;

	if (unlikely(alone)) {
		frag = &own;
	} else {
		pages = net6_dgram_pages_get(sk, len);
		if (pages)
			frag = &sk->sk_frag;
	}
	for (i = 0; left && i < MAX_SKB_FRAGS; i++, left -= size) {
		if (unlikely(!(alone ? net6_dgram_pages_new(sk, frag) :
			       net6_dgram_pages_room(sk, pages, left, frag))))
			break;
		size = min(left, frag->size - frag->offset);
		skb_fill_page_desc(skb, i, frag->page, frag->offset, size);
		frag->offset += size;
	}
	if (pages)
		clear_bit_unlock(NET6_DGRAM_PAGES_BUSY, &pages->flags);
	if (unlikely(left))
		return -ENOBUFS;
	skb_len_add(skb, len);
	refcount_add(len, &sk->sk_wmem_alloc);
	return 0;
}

/**
 * net6_dgram_pages_free() - a socket is closed
 * @sk: UDP socket; nobody sends any more
 *
 * Context: process.
 */
void net6_dgram_pages_free(struct sock *sk)
{
	struct net6_dgram_pages *pages = net6_dgram_sk(sk)->pages;

	if (!pages)
		return;
	net6_dgram_sk(sk)->pages = NULL;
	sk_stop_timer_sync(sk, &pages->timer);
	net6_dgram_pages_drop(pages);
	kfree(pages);
}
