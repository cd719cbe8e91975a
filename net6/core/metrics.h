/* SPDX-License-Identifier: GPL-2.0 */
/* Metrics of a route (RTA_METRICS): what is said of packets and connections that take it. */
#ifndef _NET6_METRICS_H
#define _NET6_METRICS_H

#include <linux/refcount.h>
#include <linux/rtnetlink.h>
#include <linux/types.h>
#include <net/tcp.h>

/**
 * struct net6_metrics - metrics of a route; a route without any has none of these
 * @ref: references
 * @rcu: freed after a grace period
 * @congctl: TCP's congestion control of that name, reference held; NULL for none
 * @congctl_name: RTAX_CC_ALGO
 * @val: by RTAX_* less 1, in the units of rtnetlink; 0: not said. RTAX_LOCK is a mask of others,
 *	RTAX_FEATURES has DST_FEATURE_ECN_CA when @congctl wants ECN
 *
 * Constant, so that routes and destinations share it.
 */
struct net6_metrics {
	refcount_t	ref;
	struct rcu_head	rcu;
	void		*congctl;
	char		congctl_name[TCP_CA_NAME_MAX];
	u32		val[RTAX_MAX];
};

/**
 * struct net6_metrics_congctl - what TCP knows of congestion controls
 * @get: by name, a reference, and whether it wants ECN. Context: process, sleeps.
 *	Return: ERR_PTR if it cannot be had
 * @put: give it back. Context: any
 */
struct net6_metrics_congctl {
	void	*(*get)(const char *name, bool *wants_ecn);
	void	(*put)(void *congctl);
};

void net6_metrics_set_congctl(const struct net6_metrics_congctl *ops);

struct net6_metrics *net6_metrics_read(const struct nlattr *nest, struct netlink_ext_ack *extack);
int net6_metrics_write(struct sk_buff *skb, int type, const struct net6_metrics *m);
bool net6_metrics_equal(const struct net6_metrics *a, const struct net6_metrics *b);
void net6_metrics_free(struct net6_metrics *m);

/* NULL if the last reference is just being given back. RCU read lock or a reference held. */
static inline struct net6_metrics *net6_metrics_hold(struct net6_metrics *m)
{
	return unlikely(m) && refcount_inc_not_zero(&m->ref) ? m : NULL;
}

/* NULL is allowed. Who found it under RCU may go on reading it there. */
static inline void net6_metrics_put(struct net6_metrics *m)
{
	if (unlikely(m) && refcount_dec_and_test(&m->ref))
		net6_metrics_free(m);
}

static inline u32 net6_metric(const struct net6_metrics *m, int type)
{
	return unlikely(m) ? m->val[type - 1] : 0;
}

static inline bool net6_metric_locked(const struct net6_metrics *m, int type)
{
	return net6_metric(m, RTAX_LOCK) & BIT(type);
}

#endif /* _NET6_METRICS_H */
