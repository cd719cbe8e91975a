/* SPDX-License-Identifier: GPL-2.0 */
/* Lifetimes of what routers tell: seconds that count from an update. */
#ifndef _NET6_LIFE_H
#define _NET6_LIFE_H

#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/types.h>

#define NET6_LIFETIME_INFINITE	0xffffffffU	/* seconds, RFC 4861 4.6.2 */
#define NET6_LIFE_NEVER		(~0UL)		/* nothing left that ends */

/**
 * struct net6_life - the end of something in a list
 * @list: of an interface
 * @lifetime: seconds from @updated, NET6_LIFETIME_INFINITE; never 0 in a list
 * @updated: jiffies
 */
struct net6_life {
	struct list_head	list;
	u32			lifetime;
	unsigned long		updated;
};

void net6_life_set(struct net6_life *life, u32 lifetime);
u32 net6_lifetime_left(u32 lifetime, unsigned long updated);	/* seconds */
u32 net6_lifetime_renewed(u32 left, u32 told);			/* seconds */
unsigned long net6_life_expire(struct list_head *head, void (*end)(struct net6_life *life));

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

static inline u32 net6_life_left(const struct net6_life *life)
{
	return net6_lifetime_left(life->lifetime, life->updated);
}

#endif /* _NET6_LIFE_H */
