// SPDX-License-Identifier: GPL-2.0
/* Neighbor Advertisements for addresses that others may answer for as well, RFC 4861 7.2.7 and
 * 7.2.8: anycast addresses of ours and proxied ones. They are sent after a random time.
 */
#include <linux/random.h>
#include <net/ipv6.h>

#include "../compat/timer.h"
#include "addr.h"
#include "nd.h"
#include "proxy.h"

/* May it still be answered for, and with which flags? */
static bool net6_answer_flags(const struct net6_iface *iface, const struct in6_addr *target,
			      u8 *flags)
{
	const struct net6_proxy *proxy;

	if (net6_anycast_find(iface, target))
		return true;
	proxy = net6_proxy_find(iface, target);
	if (!proxy)
		return false;
	if (!READ_ONCE(proxy->router))
		*flags |= NET6_NA_HOST;
	return true;
}

/* RFC 4861 4.4, 7.2.7 and 7.2.8: from a unicast address of the interface, with the Override flag
 * clear. So the first of several anycast answers is taken, and a proxied node's own is preferred
 * to ours.
 */
static void net6_answer_send(struct net6_iface *iface, const struct in6_addr *target,
			     const struct in6_addr *daddr)
{
	u8 flags = ipv6_addr_is_multicast(daddr) ? 0 : NET6_NA_SOLICITED;
	struct in6_addr saddr;

	if (!net6_iface_usable(iface) || !net6_answer_flags(iface, target, &flags) ||
	    net6_srcaddr_on(iface, daddr, &saddr))
		return;
	net6_nd_send_na(iface, target, &saddr, daddr, flags);
}

/* Wait for the first answer. nn->lock held. */
static void net6_answer_arm(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct net6_answers *answers = &iface->answers;
	unsigned long first;
	unsigned int i;

	if (!answers->n || test_bit(NET6_IFACE_DEAD, &iface->flags))
		return;
	first = answers->waiting[0].at;
	for (i = 1; i < answers->n; i++)
		if (time_before(answers->waiting[i].at, first))
			first = answers->waiting[i].at;
	mod_timer(&answers->timer, first);
}

/* Take an answer that is due. nn->lock held. */
static bool net6_answer_due(struct net6_answers *answers, struct net6_answer *answer)
	__must_hold(&answers->nn->lock)
{
	unsigned int i;

	for (i = 0; i < answers->n; i++) {
		if (time_before(jiffies, answers->waiting[i].at))
			continue;
		*answer = answers->waiting[i];
		answers->waiting[i] = answers->waiting[--answers->n];
		return true;
	}
	return false;
}

static void net6_answer_fn(struct timer_list *t)
{
	struct net6_iface *iface = timer_container_of(iface, t, answers.timer);
	struct net6_answer due[NET6_ANSWERS_MAX];
	unsigned int n = 0, i;

	rcu_read_lock();
	spin_lock(&iface->nn->lock);
	while (n < ARRAY_SIZE(due) && net6_answer_due(&iface->answers, &due[n]))
		n++;
	net6_answer_arm(iface);
	spin_unlock(&iface->nn->lock);
	for (i = 0; i < n; i++)
		net6_answer_send(iface, &due[i].target, &due[i].daddr);
	rcu_read_unlock();
}

/* Does it wait, now or already? False if there is no room. nn->lock held. */
static bool net6_answer_queue(struct net6_iface *iface, const struct in6_addr *target,
			      const struct in6_addr *daddr)
	__must_hold(&iface->nn->lock)
{
	u32 most = msecs_to_jiffies(net6_conf(iface, NET6_PARAM_ANYCAST_DELAY));
	struct net6_answers *answers = &iface->answers;
	unsigned int i;

	for (i = 0; i < answers->n; i++)
		if (ipv6_addr_equal(&answers->waiting[i].target, target) &&
		    ipv6_addr_equal(&answers->waiting[i].daddr, daddr))
			return true;
	if (i == NET6_ANSWERS_MAX)
		return false;
	answers->waiting[i] = (struct net6_answer) {
		.target	= *target,
		.daddr	= *daddr,
		.at	= jiffies + (most ? get_random_u32_below(most) : 0),
	};
	answers->n++;
	net6_answer_arm(iface);
	return true;
}

/* "If the source of the solicitation is the unspecified address, the node MUST [...] multicast
 * the advertisement to the all-nodes address": RFC 4861 7.2.4.
 */
static const struct in6_addr *net6_answer_dest(const struct in6_addr *saddr)
{
	return ipv6_addr_any(saddr) ? &in6addr_linklocal_allnodes : saddr;
}

/**
 * net6_answer_later() - answer a Neighbor Solicitation after a random time
 * @iface: interface that it came in on
 * @target: anycast address of ours there, or proxied one
 * @saddr: who asks, :: in Duplicate Address Detection
 *
 * RFC 4861 7.2.7 and 7.2.8: delayed "by a random time between 0 and MAX_ANYCAST_DELAY_TIME",
 * for others may answer at the same moment. Context: softirq, RCU read lock held; takes nn->lock.
 */
void net6_answer_later(struct net6_iface *iface, const struct in6_addr *target,
		       const struct in6_addr *saddr)
{
	bool waits;

	spin_lock_bh(&iface->nn->lock);
	waits = net6_answer_queue(iface, target, net6_answer_dest(saddr));
	spin_unlock_bh(&iface->nn->lock);
	if (!waits)
		net6_answer_now(iface, target, saddr);
}

/**
 * net6_answer_now() - answer a Neighbor Solicitation that only we have
 * @iface: interface that it came in on
 * @target: anycast address of ours there, or proxied one
 * @saddr: who asks
 *
 * Context: softirq, RCU read lock held; no locks of net6 held.
 */
void net6_answer_now(struct net6_iface *iface, const struct in6_addr *target,
		     const struct in6_addr *saddr)
{
	net6_answer_send(iface, target, net6_answer_dest(saddr));
}

/**
 * net6_answer_iface_init() - an interface with nothing to answer
 * @iface: interface being made
 *
 * Context: process.
 */
void net6_answer_iface_init(struct net6_iface *iface)
{
	timer_setup(&iface->answers.timer, net6_answer_fn, 0);
}

/**
 * net6_answer_iface_exit() - nothing is answered any more
 * @iface: interface, DEAD
 *
 * Context: process, waits.
 */
void net6_answer_iface_exit(struct net6_iface *iface)
{
	might_sleep();
	timer_delete_sync(&iface->answers.timer);
}
