/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that a socket has filled and may fill again: a ring. */
#ifndef _NET6_PAGERING_H
#define _NET6_PAGERING_H

#include <linux/types.h>

struct page;
struct page_frag;
struct sock;

/* The size that skb_page_frag_refill() allocates if it can; smaller ones are not kept. */
#define NET6_PAGERING_BYTES	(PAGE_SIZE << get_order(32768))
/* Octets that a socket sends before it keeps pages: with few it would not use them again. */
#define NET6_PAGERING_AFTER	(256 << 10)

/**
 * struct net6_pagering - pages that a socket has filled, in that order
 * @used: jiffies when they were last needed; its owner's
 * @first: index of the oldest
 * @count: how many
 * @max: places in @page
 * @page: a reference each; charged to the socket
 */
struct net6_pagering {
	unsigned long	used;
	u16		first;
	u16		count;
	u16		max;
	struct page	*page[];
};

/* Places in a ring that has so many octets. */
#define NET6_PAGERING_PLACES(bytes)						\
	(((bytes) - sizeof(struct net6_pagering)) / sizeof(struct page *))

static inline void net6_pagering_init(struct net6_pagering *ring, unsigned int max)
{
	ring->first = 0;
	ring->count = 0;
	ring->max = max;
}

/* What net6_pagering_turn() has done with the full page. */
enum net6_pagering_did {
	NET6_PAGERING_NOTHING,	/* it is still in the fragment */
	NET6_PAGERING_REUSED,	/* kept, and an empty one is there instead */
	NET6_PAGERING_KEPT,	/* kept */
	NET6_PAGERING_REPLACED,	/* kept, and the oldest was given up */
};

enum net6_pagering_did net6_pagering_turn(struct sock *sk, struct net6_pagering *ring,
					  struct page_frag *frag);
bool net6_pagering_charge(struct sock *sk);
void net6_pagering_uncharge(struct sock *sk, unsigned int count);
unsigned int net6_pagering_drop(struct sock *sk, struct net6_pagering *ring,
				struct page_frag *frag);

#endif /* _NET6_PAGERING_H */
