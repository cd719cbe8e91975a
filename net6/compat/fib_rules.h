/* SPDX-License-Identifier: GPL-2.0 */
/* Rules: fib_default_rule_add() lost its flags in 6.8; fib_nl_newrule() takes the namespace and has
 * another name since 6.15.
 */
#ifndef _NET6_COMPAT_FIB_RULES_H
#define _NET6_COMPAT_FIB_RULES_H

#include <linux/version.h>
#include <net/fib_rules.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define net6_compat_default_rule_add(ops, pref, table) fib_default_rule_add(ops, pref, table, 0)
#else
#define net6_compat_default_rule_add fib_default_rule_add
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
/* RTNL held. It finds the namespace by the message's socket. */
static inline int net6_compat_newrule(struct net *net, struct sk_buff *skb, struct nlmsghdr *nlh)
{
	skb->sk = net->rtnl;
	return fib_nl_newrule(skb, nlh, NULL);
}
#else
static inline int net6_compat_newrule(struct net *net, struct sk_buff *skb, struct nlmsghdr *nlh)
{
	return fib_newrule(net, skb, nlh, NULL, true);
}
#endif

#endif /* _NET6_COMPAT_FIB_RULES_H */
