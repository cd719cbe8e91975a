/* SPDX-License-Identifier: GPL-2.0 */
/* The policy table of RFC 6724 section 2.1 that a namespace has, and who may change it. */
#ifndef _NET6_POLICY_H
#define _NET6_POLICY_H

#include <linux/rtnetlink.h>

#include "netns.h"
#include "srcaddr_rules.h"

/* Entries of a namespace's table: each is looked at for each address that is compared. */
#define NET6_POLICY_ENTRIES_MAX	256

/**
 * net6_policy() - the table that holds
 * @nn: namespace
 *
 * Context: RCU read lock of any kind or RTNL held. Return: never NULL.
 */
static inline const struct net6_policy *net6_policy(const struct net6_net *nn)
{
	const struct net6_policy *policy;

	policy = rcu_dereference_check(nn->policy,
				       rcu_read_lock_any_held() || lockdep_rtnl_is_held());
	return policy ?: &net6_policy_default;
}

int net6_policy_set(struct net6_net *nn, const struct in6_addr *prefix, u8 plen,
		    const u32 *label, const u32 *precedence, bool replace);
int net6_policy_del(struct net6_net *nn, const struct in6_addr *prefix, u8 plen);
void net6_policy_reset(struct net6_net *nn);
void net6_policy_net_exit(struct net6_net *nn);

#endif /* _NET6_POLICY_H */
