/* SPDX-License-Identifier: GPL-2.0 */
/* Rules: which routing table a packet's destination is looked for in, and in which order. While a
 * namespace has no other than the two that it begins with, nobody asks them.
 */
#ifndef _NET6_RULE_H
#define _NET6_RULE_H

#include <linux/types.h>

struct fib_rules_ops;
struct flowi6;
struct in6_addr;
struct net6_dest_key;
struct net6_flow;
struct net6_net;
struct net6_nexthop;
struct sk_buff;

/* What rules look at beside marks, sources and what a destination's key has anyhow. */
#define NET6_RULES_UID		BIT(0)
#define NET6_RULES_IIF		BIT(1)
#define NET6_RULES_PROTOCOL	BIT(2)
#define NET6_RULES_SPORT	BIT(3)
#define NET6_RULES_DPORT	BIT(4)
#define NET6_RULES_DSCP		BIT(5)
#define NET6_RULES_L3MDEV	BIT(6)

/**
 * struct net6_rules - a namespace's rules
 * @ops: the kernel's list of them, written under RTNL; NULL without CONFIG_FIB_RULES
 * @count: how many there are; RTNL
 * @l3mdevs: interfaces that belong to VRFs; under RTNL and nn->lock
 * @l3mdev_rule: the rule that leads to VRFs' tables was added once; RTNL
 * @on: there are others than the two that a namespace begins with, or VRFs
 * @src_plen: leading bits of the source that some rule looks at
 * @looks: NET6_RULES_*
 * @mark: bits of the mark that some rule looks at
 *
 * @count and what follows @l3mdev_rule go by the list. But for @count they are read without a lock:
 * whoever reads old ones makes an entry that is stale.
 */
struct net6_rules {
	struct fib_rules_ops	*ops;
	u32			count;
	u32			l3mdevs;
	bool			l3mdev_rule;
	bool			on;
	u8			src_plen;
	u32			looks;
	u32			mark;
};

int net6_rules_net_init(struct net6_net *nn);
void net6_rules_net_exit(struct net6_net *nn);
int net6_rules_init(void);
void net6_rules_exit(void);

void net6_rules_ask(const struct net6_net *nn, const struct net6_dest_key *key,
		    const struct in6_addr *saddr, const struct net6_flow *flow,
		    struct flowi6 *fl6);
void net6_rules_flow(const struct net6_net *nn, struct sk_buff *skb, int iif,
		     struct net6_flow *flow);
void net6_rules_ask_packet(const struct net6_net *nn, const struct net6_dest_key *key,
			   struct sk_buff *skb, int iif, struct flowi6 *fl6);
u64 net6_rules_hash(const struct net6_net *nn, const struct flowi6 *fl6);

/* RCU read lock held. */
int net6_rules_nexthop(struct net6_net *nn, const struct net6_dest_key *key,
		       const struct flowi6 *fl6, struct net6_nexthop *nh);

#endif /* _NET6_RULE_H */
