// SPDX-License-Identifier: GPL-2.0
/* Functions of native IPv6 that the kernel calls by their names and that look at native's private
 * state: the sender of ICMPv6 errors and the choice of a source. In takeover mode kprobes lead the
 * calls to net6's. netfilter's `reject` and `masquerade` make them, and bridges that send MLD
 * queries: for the first packet of a connection as a rule. Each costs a trap.
 *
 * Not ipv6_chk_addr(): that it knows no address keeps RDS from net6's sockets.
 */
#include <linux/build_bug.h>
#include <linux/icmpv6.h>
#include <linux/kprobes.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>

#include "../core/addr.h"
#include "../core/icmp.h"
#include "../core/netns.h"
#include "takeover.h"

#if IS_BUILTIN(CONFIG_IPV6) && IS_ENABLED(CONFIG_IPV6_MULTIPLE_TABLES) && IS_ENABLED(CONFIG_KPROBES)

/* NULL from when a namespace has no net6 any more, until the end of which RCU readers go on. */
static struct net6_net *net6_divert_net(struct net *net)
{
	return READ_ONCE(net->ipv6.fib6_rules_ops) ? net6_pernet(net) : NULL;
}

/* In place of icmp6_send(). */
static void net6_divert_icmp_send(struct sk_buff *skb, u8 type, u8 code, __u32 info,
				  const struct in6_addr *force_saddr,
				  const struct inet6_skb_parm *parm)
{
	if (!skb->dev || skb_network_header(skb) < skb->head ||
	    skb_network_header(skb) + sizeof(struct ipv6hdr) > skb_tail_pointer(skb))
		return;
	rcu_read_lock_bh();
	if (net6_divert_net(dev_net(skb->dev)))
		net6_icmp_send(skb, type, code, info);
	rcu_read_unlock_bh();
}

/* In place of ipv6_dev_get_saddr(). Who asks knows no next hop. */
static int net6_divert_get_saddr(struct net *net, const struct net_device *dev,
				 const struct in6_addr *daddr, unsigned int prefs,
				 struct in6_addr *saddr)
{
	const struct net6_iface *out;
	struct net6_net *nn;
	int err;

	rcu_read_lock();
	nn = net6_divert_net(net);
	out = nn && dev ? net6_iface_find(nn, dev->ifindex) : NULL;
	err = out ? net6_srcaddr_select(nn, out, NULL, daddr,
					prefs & (IPV6_PREFER_SRC_TMP | IPV6_PREFER_SRC_PUBLIC),
					saddr) : -EADDRNOTAVAIL;
	rcu_read_unlock();
	return err;
}

/**
 * struct net6_divert - a function that net6 stands in for
 * @probe: at its first instruction
 * @to: what is called
 */
struct net6_divert {
	struct kprobe	probe;
	void		*to;
};

static int net6_divert_to(struct kprobe *p, struct pt_regs *regs)
{
	instruction_pointer_set(regs,
				(unsigned long)container_of(p, struct net6_divert, probe)->to);
	return 1;
}

NOKPROBE_SYMBOL(net6_divert_to);

/* A probe that has one is not turned into a jump, which could not change its way. */
static void net6_diverted(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

NOKPROBE_SYMBOL(net6_diverted);

#define NET6_DIVERT(from, by) {				\
	.probe = {					\
		.symbol_name	= #from,		\
		.pre_handler	= net6_divert_to,	\
		.post_handler	= net6_diverted,	\
	},						\
	.to = by,					\
}

static_assert(__same_type(icmp6_send, net6_divert_icmp_send));
static_assert(__same_type(ipv6_dev_get_saddr, net6_divert_get_saddr));

static struct net6_divert net6_diverts[] = {
	NET6_DIVERT(icmp6_send, net6_divert_icmp_send),
	NET6_DIVERT(ipv6_dev_get_saddr, net6_divert_get_saddr),
};

/**
 * net6_divert_init() - the kernel's calls come to net6
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_divert_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(net6_diverts); i++) {
		err = register_kprobe(&net6_diverts[i].probe);
		if (err)
			goto fail;
	}
	return 0;

fail:
	while (i--)
		unregister_kprobe(&net6_diverts[i].probe);
	return err;
}

/**
 * net6_divert_exit() - undo net6_divert_init()
 *
 * Who was diverted is back after a grace period. Context: process, sleeps.
 */
void net6_divert_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(net6_diverts); i++)
		unregister_kprobe(&net6_diverts[i].probe);
}

#else

int net6_divert_init(void)
{
	return -EOPNOTSUPP;
}

void net6_divert_exit(void)
{
}

#endif
