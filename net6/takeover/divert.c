// SPDX-License-Identifier: GPL-2.0
/* Functions of native IPv6 that the kernel calls by their names and that look at native's private
 * state: the sender of ICMPv6 errors, the choice of a source, who has an address, whether there is
 * IPv6. In takeover mode kprobes lead the calls to net6's. netfilter's `reject` and `masquerade`
 * make them, bridges that send MLD queries, and tunnels. All but bareudp's and br_netfilter's are
 * rare. Each costs what a kprobe costs: a call where functions can be traced, else a trap.
 *
 * ipv6_mod_enabled() and ipv6_chk_addr() say what they said, but to those below: that they know no
 * IPv6 and no address keeps RDS and others from net6's sockets.
 */
#include <linux/build_bug.h>
#include <linux/icmpv6.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "../compat/ipv6_stubs.h"
#include "../core/addr.h"
#include "../core/icmp.h"
#include "../core/netns.h"
#include "../socket/sock.h"
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

/* ---- what tunnels and bridges ask ---- */

#ifdef NET6_COMPAT_HAS_STUBS

#define NET6_DIVERT_SITES	16

/* Places from which something was asked, by what they return to: of who is served, and others'.
 * Names of functions are long to look for. A module's place may be another's later: all is
 * forgotten then.
 */
static unsigned long net6_divert_served[NET6_DIVERT_SITES];
static unsigned long net6_divert_others[NET6_DIVERT_SITES];

/* Who asks whether there is IPv6, and is told of net6: as modules, and as parts of the kernel. */
static const char * const net6_divert_names[] = {
	"[wireguard]", "[bareudp]", "[br_netfilter]", "wg_socket_", "bareudp_", "br_nf_",
};

static bool net6_divert_serves(unsigned long site)
{
	unsigned int i = hash_long(site, ilog2(NET6_DIVERT_SITES)), j;
	char name[64];

	if (likely(READ_ONCE(net6_divert_served[i]) == site))
		return true;
	if (READ_ONCE(net6_divert_others[i]) == site)
		return false;
	snprintf(name, sizeof(name), "%ps", (void *)site);
	for (j = 0; j < ARRAY_SIZE(net6_divert_names); j++) {
		if (strstr(name, net6_divert_names[j])) {
			WRITE_ONCE(net6_divert_served[i], site);
			return true;
		}
	}
	WRITE_ONCE(net6_divert_others[i], site);
	return false;
}

static int net6_divert_forget(struct notifier_block *nb, unsigned long state, void *module)
{
	int i;

	/* No code of it runs any more. */
	for (i = 0; state == MODULE_STATE_GOING && i < NET6_DIVERT_SITES; i++) {
		WRITE_ONCE(net6_divert_served[i], 0);
		WRITE_ONCE(net6_divert_others[i], 0);
	}
	return NOTIFY_DONE;
}

static struct notifier_block net6_divert_nb = {
	.notifier_call	= net6_divert_forget,
};

/* In place of ipv6_mod_enabled(), which says no. */
static bool net6_divert_mod_enabled(void)
{
	return net6_divert_serves(_RET_IP_) && net6_family_carries();
}

/* In place of ipv6_chk_addr(), which knows of none. WireGuard answers from the address that it was
 * talked to as long as that is ours.
 */
static int net6_divert_chk_addr(struct net *net, const struct in6_addr *addr,
				const struct net_device *dev, int strict)
{
	struct net6_net *nn;
	int ours;

	if (!net6_divert_serves(_RET_IP_))
		return 0;
	rcu_read_lock();
	nn = net6_divert_net(net);
	ours = nn && net6_addr_usable(nn, addr, dev ? dev->ifindex : 0);
	rcu_read_unlock();
	return ours;
}

/* In place of ipv6_dev_find(), which TIPC asks. RTNL or RCU read lock held. */
static struct net_device *net6_divert_dev_find(struct net *net, const struct in6_addr *addr,
					       struct net_device *dev)
{
	const struct net6_accept *accept = NULL;
	const struct net6_iface *iface;
	struct net6_net *nn;

	rcu_read_lock();
	nn = net6_divert_net(net);
	iface = !nn ? NULL : dev ? net6_iface_find(nn, dev->ifindex) : READ_ONCE(nn->loopback);
	if (iface)
		accept = net6_accept_find(nn, addr, iface);
	dev = accept && accept->type == NET6_ACCEPT_UNICAST ? accept->iface->dev : NULL;
	rcu_read_unlock();
	return dev;
}

#endif /* NET6_COMPAT_HAS_STUBS */

static int net6_divert_watch(bool on)
{
#ifdef NET6_COMPAT_HAS_STUBS
	return on ? register_module_notifier(&net6_divert_nb) :
		    unregister_module_notifier(&net6_divert_nb);
#else
	return 0;
#endif
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
#ifdef NET6_COMPAT_HAS_STUBS
static_assert(__same_type(ipv6_mod_enabled, net6_divert_mod_enabled));
static_assert(__same_type(ipv6_chk_addr, net6_divert_chk_addr));
static_assert(__same_type(ipv6_dev_find, net6_divert_dev_find));
#endif

static struct net6_divert net6_diverts[] = {
	NET6_DIVERT(icmp6_send, net6_divert_icmp_send),
	NET6_DIVERT(ipv6_dev_get_saddr, net6_divert_get_saddr),
#ifdef NET6_COMPAT_HAS_STUBS
	NET6_DIVERT(ipv6_mod_enabled, net6_divert_mod_enabled),
	NET6_DIVERT(ipv6_chk_addr, net6_divert_chk_addr),
	NET6_DIVERT(ipv6_dev_find, net6_divert_dev_find),
#endif
};

/**
 * net6_divert_init() - the kernel's calls come to net6
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_divert_init(void)
{
	int i, err;

	err = net6_divert_watch(true);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(net6_diverts); i++) {
		err = register_kprobe(&net6_diverts[i].probe);
		if (err)
			goto fail;
	}
	return 0;

fail:
	while (i--)
		unregister_kprobe(&net6_diverts[i].probe);
	net6_divert_watch(false);
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
	net6_divert_watch(false);
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
