/* SPDX-License-Identifier: GPL-2.0 */
/* Anycast addresses: what an interface keeps for them. */
#ifndef _NET6_ANYCAST_H
#define _NET6_ANYCAST_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/timer.h>

struct net6_addr;
struct net6_iface;

/* Answers that wait at a time; what is beyond is sent at once. */
#define NET6_ANYCAST_ANSWERS_MAX	8

/**
 * struct net6_anycast_answer - a Neighbor Advertisement that is sent later
 * @target: anycast address of ours
 * @daddr: who has asked, all-nodes for an unspecified source
 * @at: jiffies when it is to be sent
 */
struct net6_anycast_answer {
	struct in6_addr	target;
	struct in6_addr	daddr;
	unsigned long	at;
};

/**
 * struct net6_anycast - an interface's anycast addresses. Under nn->lock
 * @list: struct net6_accept.list, read under RCU
 * @timer: the first of @answers is due; pending only while there are some
 * @n_answers: used entries of @answers
 * @answers: in no order
 */
struct net6_anycast {
	struct list_head		list;
	struct timer_list		timer;
	unsigned int			n_answers;
	struct net6_anycast_answer	answers[NET6_ANYCAST_ANSWERS_MAX];
};

/* Process or softirq; take nn->lock. */
int net6_anycast_join(struct net6_iface *iface, const struct in6_addr *addr);
void net6_anycast_leave(struct net6_iface *iface, const struct in6_addr *addr);
void net6_anycast_solicited(struct net6_iface *iface, const struct in6_addr *target,
			    const struct in6_addr *saddr);

/* RCU read lock held. */
bool net6_anycast_find(const struct net6_iface *iface, const struct in6_addr *addr);

/* nn->lock held. */
void net6_anycast_subnet_router(struct net6_addr *addr, bool on);
void net6_anycast_set_router(struct net6_iface *iface);
void net6_anycast_leave_all(struct net6_iface *iface);

void net6_anycast_iface_init(struct net6_iface *iface);
void net6_anycast_iface_exit(struct net6_iface *iface);	/* process context, waits */

#endif /* _NET6_ANYCAST_H */
