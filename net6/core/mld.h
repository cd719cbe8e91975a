/* SPDX-License-Identifier: GPL-2.0 */
/* Multicast Listener Discovery as a listener: RFC 3810, falling back to RFC 2710. */
#ifndef _NET6_MLD_H
#define _NET6_MLD_H

#include <linux/jiffies.h>
#include <linux/timer.h>

#include "mld_group.h"

struct net6_accept;
struct net6_iface;

/**
 * struct net6_mld - MLD on one interface; all under nn->lock
 * @groups: struct net6_mld_group: those of whose change nothing is to be told
 * @changing: those of whose change something is to be told at @change_at
 * @due: those of whose change it is told now, some in each tick
 * @answers: those that are asked for, by time
 * @left: those that nobody is a member of, by address; they are in @changing or @due, too
 * @n_left: how many these are
 * @timer: the next of the times below
 * @robustness: Querier's Robustness Variable (RFC 3810 9.1), 0: settings.mld_qrv
 * @interval: Query Interval of the querier, seconds (9.2)
 * @v1: the querier speaks MLDv1, believed until @v1_until (8.2.1)
 * @asked: a General Query is to be answered at @answer_at
 * @delay_ms: in MLDv1 each group answers it within this
 * @queries: General Queries of MLDv1 so far
 * @v1_until, @change_at, @answer_at: jiffies
 */
struct net6_mld {
	struct list_head	groups;
	struct list_head	changing;
	struct list_head	due;
	struct rb_root_cached	answers;
	struct rb_root		left;
	struct timer_list	timer;
	unsigned int		n_left;
	u8			robustness;
	u32			interval;
	bool			v1;
	bool			asked;
	unsigned long		v1_until;
	unsigned long		change_at;
	unsigned long		answer_at;
	u32			delay_ms;
	u32			queries;
};

/* The wish of a member that names no sources. */
extern const struct net6_mld_filter net6_mld_any;

/* nn->lock held. */
int net6_mld_change(struct net6_iface *iface, struct net6_accept *accept,
		    const struct net6_mld_filter *old, const struct net6_mld_filter *new);
void net6_mld_announce(struct net6_iface *iface);	/* tell all groups anew */
void net6_mld_iface_down(struct net6_iface *iface);	/* nothing is told any more */
void net6_mld_force_version(struct net6_iface *iface, u8 version);

/* mld.c: for mld_query.c and mld_report.c; nn->lock held, but for the first. */
#define NET6_MLD_QUERY_INTERVAL		125	/* seconds, RFC 3810 9.2, RFC 2710 7.2 */
bool net6_mld_runs(const struct net6_iface *iface);
u8 net6_mld_robustness(const struct net6_iface *iface);
struct net6_mld_group *net6_mld_find_group(struct net6_iface *iface, const struct in6_addr *addr);
void net6_mld_drop_group(struct net6_mld *mld, struct net6_mld_group *group);
void net6_mld_arm(struct net6_iface *iface);
void net6_mld_arm_at(struct net6_iface *iface, unsigned long at);
void net6_mld_set_version(struct net6_mld *mld, bool v1);
void net6_mld_check_version(struct net6_iface *iface);

/* mld_plan.c: nn->lock held, but for the first. */
unsigned long net6_mld_plan_random(u32 ms);
void net6_mld_plan(struct net6_mld *mld, struct net6_mld_group *group, unsigned long at);
void net6_mld_plan_done(struct net6_mld *mld, struct net6_mld_group *group);
struct net6_mld_group *net6_mld_plan_first(const struct net6_mld *mld);
struct net6_mld_group *net6_mld_plan_find_left(const struct net6_mld *mld,
					       const struct in6_addr *addr);
void net6_mld_plan_add_left(struct net6_mld *mld, struct net6_mld_group *group);
void net6_mld_plan_del_left(struct net6_mld *mld, struct net6_mld_group *group);
void net6_mld_plan_gather(struct net6_mld *mld);

/* When to answer for a group that is asked for: jiffies. */
static inline unsigned long net6_mld_respond_at(const struct net6_mld_group *group)
{
	unsigned long now = jiffies;

	return now + (s32)(group->respond_at - (u32)now);
}

/* Tells what is due. RCU read lock held, BH disabled; takes nn->lock. */
void net6_mld_run(struct net6_iface *iface);

void net6_mld_iface_init(struct net6_iface *iface);
void net6_mld_iface_exit(struct net6_iface *iface);	/* DEAD; sleeps */

void net6_mld_init(void);
void net6_mld_exit(void);

#endif /* _NET6_MLD_H */
