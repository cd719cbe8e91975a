// SPDX-License-Identifier: GPL-2.0
/* The timer for ends of lifetimes [RCE], [PLE]: routers, prefixes and routes say how long they
 * live. ra.c, above these lists, says what it does when it fires.
 */
#include <linux/math.h>
#include <linux/timer.h>

#include "nd.h"

/* Timers run at most that long; what is further off is looked at again. */
#define NET6_LIFE_TIMER_MAX		(24 * 3600UL * HZ)

/**
 * net6_nd_life_at() - when to look for what is over
 * @delay: jiffies until the next end
 *
 * To the whole second, unless some are over already: ends of one second are one timer's.
 * Context: any. Return: jiffies.
 */
unsigned long net6_nd_life_at(unsigned long delay)
{
	if (delay == 1)
		return jiffies + 1;
	return roundup(jiffies + net6_life_delay(min(delay, NET6_LIFE_TIMER_MAX)), HZ);
}

/**
 * net6_nd_await_end() - a router, prefix or route has got a lifetime
 * @iface: its interface
 * @lifetime: seconds, NET6_LIFETIME_INFINITE; 0: it has none any more
 *
 * Each option of an advertisement comes here. Entries that are over go when the timer says so.
 * Context: nn->lock held.
 */
void net6_nd_await_end(struct net6_iface *iface, u32 lifetime)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	if (lifetime && lifetime != NET6_LIFETIME_INFINITE &&
	    !test_bit(NET6_IFACE_DEAD, &iface->flags))
		timer_reduce(&iface->life_timer,
			     net6_nd_life_at(min_t(u64, (u64)lifetime * HZ, NET6_LIFE_TIMER_MAX)));
}
