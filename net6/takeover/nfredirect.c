// SPDX-License-Identifier: GPL-2.0
/* netfilter's `redirect` in takeover mode. nf_nat_redirect_ipv6() sends a packet to an address of
 * the device that it came in on, and takes it from native's list of them, which is empty. While it
 * runs, the packet is on a device that is none, and whose list has an address of net6's choice.
 *
 * Limits: a probe where the function is entered and where it is left, for the first packet of a
 * connection. The device has nothing but that list, which is all that the function asks it for.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

#include "../core/addr.h"
#include "../core/netns.h"
#include "takeover.h"

#if IS_BUILTIN(CONFIG_IPV6) && IS_ENABLED(CONFIG_IPV6_MULTIPLE_TABLES) &&	\
	IS_ENABLED(CONFIG_KRETPROBES) && IS_ENABLED(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)

/**
 * struct net6_nfredirect - a processor's device that is none
 * @idev: its list of addresses
 * @addr: the only one
 * @dev: what a packet is on; last, as it may end in an array
 */
struct net6_nfredirect {
	struct inet6_dev	idev;
	struct inet6_ifaddr	addr;
	struct net_device	dev;
};

/**
 * struct net6_nfredirect_call - what is put back when the function is left
 * @skb: packet
 * @dev: its device
 */
struct net6_nfredirect_call {
	struct sk_buff		*skb;
	struct net_device	*dev;
};

static struct net6_nfredirect __percpu *net6_nfredirects;
/* Nobody is in the function, or leaves it with the packet's own device. */
static bool net6_nfredirect_open;

/* An address by which the packet's destination would be reached from its interface: itself if it
 * is one of the interface's.
 */
static bool net6_nfredirect_choose(const struct sk_buff *skb, struct in6_addr *addr)
{
	const struct net6_iface *iface;
	struct net *net = dev_net(skb->dev);
	bool found = false;

	rcu_read_lock();
	if (READ_ONCE(net->ipv6.fib6_rules_ops)) {
		struct net6_net *nn = net6_pernet(net);

		iface = net6_iface_find(nn, skb->dev->ifindex);
		found = iface && !net6_srcaddr_select(nn, iface, NULL, &ipv6_hdr(skb)->daddr, 0,
						      addr);
	}
	rcu_read_unlock();
	return found;
}

/* Not 0: the way out is not watched. Behind a queue to a program BH is on: another packet may then
 * come in between, and both go to the address that was chosen for that one.
 */
static int net6_nfredirect_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct sk_buff *skb = (struct sk_buff *)regs_get_kernel_argument(regs, 0);
	struct net6_nfredirect_call *call = (void *)ri->data;
	struct net6_nfredirect *r;

	if (!READ_ONCE(net6_nfredirect_open) || !skb->dev ||
	    (unsigned int)regs_get_kernel_argument(regs, 2) == NF_INET_LOCAL_OUT)
		return 1;
	r = this_cpu_ptr(net6_nfredirects);
	if (!net6_nfredirect_choose(skb, &r->addr.addr))
		return 1;
	call->skb = skb;
	call->dev = skb->dev;
	skb->dev = &r->dev;
	return 0;
}

NOKPROBE_SYMBOL(net6_nfredirect_enter);

static int net6_nfredirect_leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct net6_nfredirect_call *call = (void *)ri->data;

	call->skb->dev = call->dev;
	return 0;
}

NOKPROBE_SYMBOL(net6_nfredirect_leave);

static struct kretprobe net6_nfredirect_probe = {
	.handler	= net6_nfredirect_leave,
	.entry_handler	= net6_nfredirect_enter,
	.data_size	= sizeof(struct net6_nfredirect_call),
};

/* The function is a module's, which comes and goes. */
static DEFINE_MUTEX(net6_nfredirect_mutex);
static bool net6_nfredirect_watches;

static void net6_nfredirect_watch(void)
{
	int err;

	mutex_lock(&net6_nfredirect_mutex);
	if (!net6_nfredirect_watches) {
		/* What a registration leaves in it does not fit the next one. */
		memset(&net6_nfredirect_probe.kp, 0, sizeof(net6_nfredirect_probe.kp));
		net6_nfredirect_probe.kp.symbol_name = "nf_nat_redirect_ipv6";
		err = register_kretprobe(&net6_nfredirect_probe);
		net6_nfredirect_watches = !err;
		WRITE_ONCE(net6_nfredirect_open, !err);
		if (err && err != -ENOENT)
			pr_notice("redirect drops packets: kprobe error %d\n", err);
	}
	mutex_unlock(&net6_nfredirect_mutex);
}

static void net6_nfredirect_unwatch(void)
{
	mutex_lock(&net6_nfredirect_mutex);
	if (net6_nfredirect_watches) {
		/* From when it is unregistered on nobody who leaves is told of: hooks are RCU's. */
		WRITE_ONCE(net6_nfredirect_open, false);
		synchronize_rcu();
		unregister_kretprobe(&net6_nfredirect_probe);
	}
	net6_nfredirect_watches = false;
	mutex_unlock(&net6_nfredirect_mutex);
}

static int net6_nfredirect_module(struct notifier_block *nb, unsigned long state, void *module)
{
	const struct module *mod = module;

	if (strcmp(mod->name, "nf_nat"))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING)
		net6_nfredirect_watch();
	else if (state == MODULE_STATE_GOING)
		net6_nfredirect_unwatch();
	return NOTIFY_DONE;
}

static struct notifier_block net6_nfredirect_nb = {
	.notifier_call	= net6_nfredirect_module,
};

static void net6_nfredirect_prepare(struct net6_nfredirect *r)
{
	rwlock_init(&r->idev.lock);
	INIT_LIST_HEAD(&r->idev.addr_list);
	list_add(&r->addr.if_list, &r->idev.addr_list);
	r->idev.dev = &r->dev;
	r->addr.idev = &r->idev;
	RCU_INIT_POINTER(r->dev.ip6_ptr, &r->idev);
}

/**
 * net6_nfredirect_init() - packets can be redirected
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_nfredirect_init(void)
{
	int cpu, err;

	net6_nfredirects = alloc_percpu(struct net6_nfredirect);
	if (!net6_nfredirects)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		net6_nfredirect_prepare(per_cpu_ptr(net6_nfredirects, cpu));
	err = register_module_notifier(&net6_nfredirect_nb);
	if (err) {
		free_percpu(net6_nfredirects);
		return err;
	}
	net6_nfredirect_watch();
	return 0;
}

/**
 * net6_nfredirect_exit() - undo net6_nfredirect_init()
 *
 * Context: process, sleeps until nobody is in the function.
 */
void net6_nfredirect_exit(void)
{
	unregister_module_notifier(&net6_nfredirect_nb);
	net6_nfredirect_unwatch();
	free_percpu(net6_nfredirects);
}

#else

int net6_nfredirect_init(void)
{
	return 0;
}

void net6_nfredirect_exit(void)
{
}

#endif
