/* SPDX-License-Identifier: GPL-2.0 */
/* Neighbor Advertisements for addresses that others may answer for as well: sent later. */
#ifndef _NET6_ANSWER_H
#define _NET6_ANSWER_H

#include <linux/in6.h>
#include <linux/timer.h>

struct net6_iface;

/* Answers that wait at a time; others are sent at once. */
#define NET6_ANSWERS_MAX	8

/**
 * struct net6_answer - a Neighbor Advertisement that is sent later
 * @target: anycast address of ours, or proxied one
 * @daddr: who has asked, all-nodes for an unspecified source
 * @at: jiffies when it is to be sent
 */
struct net6_answer {
	struct in6_addr	target;
	struct in6_addr	daddr;
	unsigned long	at;
};

/**
 * struct net6_answers - those of an interface. Under nn->lock
 * @timer: the first of @waiting is due; pending only while there are some
 * @n: used entries of @waiting
 * @waiting: in no order
 */
struct net6_answers {
	struct timer_list	timer;
	unsigned int		n;
	struct net6_answer	waiting[NET6_ANSWERS_MAX];
};

/* Softirq, RCU read lock held. The first takes nn->lock. */
void net6_answer_later(struct net6_iface *iface, const struct in6_addr *target,
		       const struct in6_addr *saddr);
void net6_answer_now(struct net6_iface *iface, const struct in6_addr *target,
		     const struct in6_addr *saddr);

void net6_answer_iface_init(struct net6_iface *iface);
void net6_answer_iface_exit(struct net6_iface *iface);	/* process context, waits */

#endif /* _NET6_ANSWER_H */
