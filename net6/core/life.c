// SPDX-License-Identifier: GPL-2.0
/* Lifetimes of what routers tell: seconds that count from an update. */
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "life.h"

#define NET6_TWO_HOURS	7200	/* seconds */

/**
 * net6_life_set() - a life begins anew
 * @life: it
 * @lifetime: seconds, NET6_LIFETIME_INFINITE
 *
 * Context: whoever protects the list.
 */
void net6_life_set(struct net6_life *life, u32 lifetime)
{
	life->lifetime = lifetime;
	life->updated = jiffies;
}

/**
 * net6_lifetime_left() - what is left of a lifetime
 * @lifetime: seconds, NET6_LIFETIME_INFINITE
 * @updated: jiffies when it began
 *
 * Context: any. Return: seconds, 0 when it is over, NET6_LIFETIME_INFINITE.
 */
u32 net6_lifetime_left(u32 lifetime, unsigned long updated)
{
	unsigned long gone = (jiffies - updated) / HZ;

	if (lifetime == NET6_LIFETIME_INFINITE)
		return lifetime;
	return gone < lifetime ? lifetime - gone : 0;
}

/**
 * net6_lifetime_renewed() - the valid lifetime of an address whose prefix is told again
 * @left: seconds that it has, NET6_LIFETIME_INFINITE
 * @told: seconds in the option
 *
 * RFC 4862 5.5.3 (e), for options that nobody vouches for. A lifetime longer than two hours, or
 * than what is left, is taken. If two hours or less are left, they are kept. Else two hours are
 * left.
 * Context: any. Return: seconds, NET6_LIFETIME_INFINITE.
 */
u32 net6_lifetime_renewed(u32 left, u32 told)
{
	if (told > NET6_TWO_HOURS || told > left)
		return told;
	return min_t(u32, left, NET6_TWO_HOURS);
}

/**
 * net6_life_expire() - end what is over
 * @head: list of struct net6_life
 * @end: takes one out of the list and frees it
 *
 * Context: whoever protects the list. Return: jiffies until the next end, or
 * NET6_LIFE_NEVER.
 */
unsigned long net6_life_expire(struct list_head *head, void (*end)(struct net6_life *life))
{
	unsigned long soonest = NET6_LIFE_NEVER;
	struct net6_life *life, *next;

	list_for_each_entry_safe(life, next, head, list) {
		u32 left = net6_life_left(life);

		if (!left)
			end(life);
		else if (left != NET6_LIFETIME_INFINITE)
			soonest = min_t(unsigned long, soonest, left);
	}
	return soonest == NET6_LIFE_NEVER ? soonest : soonest * HZ + 1;
}
