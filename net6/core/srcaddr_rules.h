/* SPDX-License-Identifier: GPL-2.0 */
/* Which of two source addresses is better for a destination, RFC 6724 section 5, and the
 * policy table that one of the rules asks. Pure: no locks.
 */
#ifndef _NET6_SRCADDR_RULES_H
#define _NET6_SRCADDR_RULES_H

#include <linux/in6.h>
#include <linux/limits.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

/**
 * struct net6_srcaddr - a candidate
 * @addr: address
 * @plen: length of its prefix, bits
 * @deprecated: RFC 4862 5.5.4
 * @optimistic: RFC 4429: the last choice among equals
 * @outgoing: it is on the interface that the packet leaves by
 * @told: its prefix is told by the next hop: 1; by other routers only: -1; by none: 0
 * @privacy: temporary or not, as is preferred there (RFC 8981)
 * @common: leading bits that are the destination's, too; with the next two by net6_srcaddr_judge()
 * @scope: RFC 6724 3.1
 * @labelled: it has the destination's label
 */
struct net6_srcaddr {
	struct in6_addr	addr;
	u8		plen;
	bool		deprecated;
	bool		outgoing;
	s8		told;
	bool		privacy;
	bool		optimistic;
	u8		common;
	u8		scope;
	bool		labelled;
};

/**
 * struct net6_policy_entry - what the policy table says of a prefix
 * @prefix: bits beyond @plen zero
 * @plen: length of the prefix, bits
 * @label: addresses of one label belong together
 * @precedence: of destination addresses; no rule of ours asks for it
 */
struct net6_policy_entry {
	u8	prefix[16];
	u8	plen;
	u32	label;
	u32	precedence;
};

/* The label of an address that no entry matches; no entry can have it, as on Linux. */
#define NET6_POLICY_NO_LABEL	U32_MAX

/**
 * struct net6_policy - the policy table, RFC 6724 section 2.1
 * @rcu: freed after a grace period
 * @n: number of @entries
 * @entries: longest prefixes first, so that the first match is the longest
 */
struct net6_policy {
	struct rcu_head			rcu;
	u32				n;
	struct net6_policy_entry	entries[];
};

extern const struct net6_policy net6_policy_default;

/* The entry of the longest prefix that matches, or NULL. */
const struct net6_policy_entry *net6_policy_match(const struct net6_policy *policy,
						  const struct in6_addr *addr);
u32 net6_policy_label(const struct net6_policy *policy, const struct in6_addr *addr);

/* RFC 6724 section 3.1: scopes of unicast addresses as multicast scope values */
int net6_srcaddr_scope(const struct in6_addr *addr);

/**
 * struct net6_srcaddr_want - what a source is chosen for
 * @daddr: destination
 * @policy: the namespace's table
 * @scope: of @daddr
 * @label: of @daddr
 */
struct net6_srcaddr_want {
	const struct in6_addr		*daddr;
	const struct net6_policy	*policy;
	int				scope;
	u32				label;
};

void net6_srcaddr_want(struct net6_srcaddr_want *want, const struct in6_addr *daddr,
		       const struct net6_policy *policy);
/* What the rules ask of a candidate, once for all that it is compared with. */
void net6_srcaddr_judge(struct net6_srcaddr *candidate, const struct net6_srcaddr_want *want);
/* Above 0 if @a is better, below 0 if @b is, 0 if no rule tells. Both are judged. */
int net6_srcaddr_cmp(const struct net6_srcaddr *a, const struct net6_srcaddr *b,
		     const struct net6_srcaddr_want *want);

#endif /* _NET6_SRCADDR_RULES_H */
