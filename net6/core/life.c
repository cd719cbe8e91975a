// SPDX-License-Identifier: GPL-2.0
/* Lifetimes of what routers tell: seconds that count from an update. */
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "life.h"

#define NET6_TWO_HOURS	7200	/* seconds */

static bool net6_life_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct net6_life, node)->until <
	       rb_entry(b, struct net6_life, node)->until;
}

/**
 * net6_life_forget() - it does not end by itself any more
 * @ends: the interface's
 * @life: it
 *
 * Context: whoever protects @ends.
 */
void net6_life_forget(struct rb_root_cached *ends, struct net6_life *life)
{
	if (RB_EMPTY_NODE(&life->node))
		return;
	rb_erase_cached(&life->node, ends);
	RB_CLEAR_NODE(&life->node);
}

/**
 * net6_life_set() - a life begins anew
 * @ends: the interface's
 * @life: it
 * @lifetime: seconds, NET6_LIFETIME_INFINITE
 *
 * Context: whoever protects @ends.
 */
void net6_life_set(struct rb_root_cached *ends, struct net6_life *life, u32 lifetime)
{
	net6_life_forget(ends, life);
	if (lifetime == NET6_LIFETIME_INFINITE) {
		life->until = U64_MAX;
		return;
	}
	life->until = get_jiffies_64() + (u64)lifetime * HZ;
	rb_add_cached(&life->node, ends, net6_life_before);
}

/**
 * net6_life_begin() - the first life of something
 * @ends: the interface's
 * @life: it
 * @of: what it is
 * @lifetime: seconds, NET6_LIFETIME_INFINITE
 *
 * Context: whoever protects @ends.
 */
void net6_life_begin(struct rb_root_cached *ends, struct net6_life *life, enum net6_life_of of,
		     u32 lifetime)
{
	RB_CLEAR_NODE(&life->node);
	life->of = of;
	net6_life_set(ends, life, lifetime);
}

/**
 * net6_life_left() - what is left of a life
 * @life: it
 *
 * Context: any. Return: seconds, 0 when it is over, NET6_LIFETIME_INFINITE.
 */
u32 net6_life_left(const struct net6_life *life)
{
	u64 until = life->until, now = get_jiffies_64();

	if (until == U64_MAX)
		return NET6_LIFETIME_INFINITE;
	return now < until ? div_u64(until - now + HZ - 1, HZ) : 0;
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
 * @ends: the interface's
 * @end: takes one out and frees it
 *
 * NET6_LIFE_ENDS at most; the others a tick later. Context: whoever protects @ends.
 * Return: jiffies until the next end, or NET6_LIFE_NEVER.
 */
unsigned long net6_life_expire(struct rb_root_cached *ends, void (*end)(struct net6_life *life))
{
	u64 now = get_jiffies_64();
	struct net6_life *life;
	unsigned int n = 0;
	struct rb_node *node;

	while ((node = rb_first_cached(ends))) {
		life = rb_entry(node, struct net6_life, node);
		if (life->until > now)
			return min_t(u64, life->until - now, NET6_LIFE_NEVER - 1);
		if (n++ == NET6_LIFE_ENDS)
			return 1;
		end(life);
	}
	return NET6_LIFE_NEVER;
}
