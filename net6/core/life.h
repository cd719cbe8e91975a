/* SPDX-License-Identifier: GPL-2.0 */
/* Lifetimes of what routers tell: seconds that count from an update. */
#ifndef _NET6_LIFE_H
#define _NET6_LIFE_H

#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#define NET6_LIFETIME_INFINITE	0xffffffffU	/* seconds, RFC 4861 4.6.2 */
#define NET6_LIFE_NEVER		(~0UL)		/* nothing left that ends */
#define NET6_LIFE_ENDS		64		/* at a time, under one lock */

/* What it is that ends. */
enum net6_life_of {
	NET6_LIFE_ROUTER,
	NET6_LIFE_TOLD,
	NET6_LIFE_PREFIX,
	NET6_LIFE_ROUTE,
	NET6_LIFE_PREF64,
};

/**
 * struct net6_life - the end of something
 * @list: of an interface or a router
 * @node: in the interface's ends, unless it lives for ever
 * @until: 64-bit jiffies; U64_MAX: for ever
 * @of: what it is
 */
struct net6_life {
	struct list_head	list;
	struct rb_node		node;
	u64			until;
	enum net6_life_of	of;
};

void net6_life_begin(struct rb_root_cached *ends, struct net6_life *life, enum net6_life_of of,
		     u32 lifetime);
void net6_life_set(struct rb_root_cached *ends, struct net6_life *life, u32 lifetime);
void net6_life_forget(struct rb_root_cached *ends, struct net6_life *life);
u32 net6_life_left(const struct net6_life *life);		/* seconds */
u32 net6_lifetime_left(u32 lifetime, unsigned long updated);	/* seconds */
u32 net6_lifetime_renewed(u32 left, u32 told);			/* seconds */
unsigned long net6_life_expire(struct rb_root_cached *ends, void (*end)(struct net6_life *life));

/**
 * net6_life_delay() - how long to wait for what is so far off
 * @delay: jiffies until a lifetime is over
 *
 * The kernel's timers are late by up to an eighth of their delay: a day's by hours. So
 * what is further off than some seconds is looked at again before.
 * Context: any. Return: jiffies.
 */
static inline unsigned long net6_life_delay(unsigned long delay)
{
	return delay > 8 * HZ ? delay - delay / 8 : delay;
}

#endif /* _NET6_LIFE_H */
