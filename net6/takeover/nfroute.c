// SPDX-License-Identifier: GPL-2.0
/* netfilter's modules use this of the kernel's own IPv6, which was built in and switched off:
 * routes, addresses, settings, counters and ICMPv6 errors. A rule as plain as `reject` asks for
 * them without looking, and the kernel would fall over its empty tables. So net6 fills in what it
 * owns now, as little as is needed. That is one route a device (the way is net6's own look-up),
 * one routing rule, and an address list with nothing in it. What asks native's private state is led
 * to net6 by kprobes (divert.c). Without these the hooks are not called at all.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <net/addrconf.h>
#include <net/fib_rules.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>

#include "../compat/dst.h"
#include "../compat/netfilter.h"
#include "../core/dest.h"
#include "../core/ip.h"
#include "../core/nfhook.h"
#include "dst.h"
#include "takeover.h"

#if IS_ENABLED(CONFIG_NETFILTER) && IS_BUILTIN(CONFIG_IPV6) && \
	IS_ENABLED(CONFIG_IPV6_MULTIPLE_TABLES) && IS_ENABLED(CONFIG_KPROBES)

/**
 * struct net6_nf_net - a namespace's stand-in for native's routing
 * @ops: the only routing rules
 * @rule: the only one
 * @none: the route of what has none
 */
struct net6_nf_net {
	struct fib_rules_ops	ops;
	struct fib_rule		rule;
	struct rt6_info		*none;
};

static struct ipv6_devconf net6_nf_devconf = { .hop_limit = NET6_DEFAULT_HOP_LIMIT };
/* As many as native has, whose number is its own (net/ipv6/addrconf.c), and none in use. */
static struct hlist_head net6_nf_addrs[256];

static const struct dst_metrics net6_nf_metrics = {
	.metrics[RTAX_HOPLIMIT - 1]	= NET6_DEFAULT_HOP_LIMIT,
};

/* ---- routes ---- */

/* A route is for one packet. Who keeps it for later ones asks here and looks again: a flow table
 * would send them to native's neighbors, of which there are none.
 */
static struct dst_entry *net6_nf_dst_check(struct dst_entry *dst, u32 cookie)
{
	return NULL;
}

static unsigned int net6_nf_dst_mtu(const struct dst_entry *dst)
{
	return max_t(unsigned int, READ_ONCE(dst->dev->mtu), NET6_MIN_MTU);
}

static unsigned int net6_nf_dst_advmss(const struct dst_entry *dst)
{
	return net6_nf_dst_mtu(dst) - sizeof(struct ipv6hdr) - sizeof(struct tcphdr);
}

static struct neighbour *net6_nf_dst_neigh(const struct dst_entry *dst, struct sk_buff *skb,
					   const void *daddr)
{
	return NULL;
}

static void net6_nf_dst_ifdown(NET6_COMPAT_IFDOWN_PARAMS)
{
	struct rt6_info *rt = container_of(dst, struct rt6_info, dst);

	if (rt->rt6i_idev)
		WRITE_ONCE(rt->rt6i_idev->dev, blackhole_netdev);
}

static void net6_nf_dst_destroy(struct dst_entry *dst)
{
	struct rt6_info *rt = container_of(dst, struct rt6_info, dst);

	if (rt->rt6i_idev)
		free_percpu(rt->rt6i_idev->stats.ipv6);
	kfree(rt->rt6i_idev);
	dst_destroy_metrics_generic(dst);
}

static struct dst_ops net6_nf_dst_ops = {
	.family			= AF_INET6,
	.check			= net6_nf_dst_check,
	.default_advmss		= net6_nf_dst_advmss,
	.mtu			= net6_nf_dst_mtu,
	.cow_metrics		= dst_cow_metrics_generic,
	.destroy		= net6_nf_dst_destroy,
	.ifdown			= net6_nf_dst_ifdown,
	.neigh_lookup		= net6_nf_dst_neigh,
};

static struct rt6_info *net6_nf_rt_alloc(struct net_device *dev)
{
	struct rt6_info *rt = net6_compat_rt6_alloc(&net6_nf_dst_ops, dev, DST_OBSOLETE_FORCE_CHK,
						    DST_NOCOUNT | DST_NOXFRM);

	if (!rt)
		return NULL;
	dst_init_metrics(&rt->dst, net6_nf_metrics.metrics, true);
	rt->dst.output = dst_discard_out;
	rt->dst.input = dst_discard;
	return rt;
}

static int net6_nf_route_init(struct net6_iface *iface)
{
	struct inet6_dev *idev;
	struct rt6_info *rt;

	rt = net6_nf_rt_alloc(iface->dev);
	if (!rt)
		return -ENOMEM;
	iface->rt = rt;
	/* Some look for a route's device here; nobody else knows of it. */
	idev = kzalloc(sizeof(*idev), GFP_KERNEL_ACCOUNT);
	if (idev)
		idev->stats.ipv6 = alloc_percpu_gfp(struct ipstats_mib, GFP_KERNEL_ACCOUNT);
	rt->rt6i_idev = idev;
	if (!idev || !idev->stats.ipv6) {
		dst_release(&rt->dst);
		return -ENOMEM;
	}
	idev->dev = iface->dev;
	idev->cnf = net6_nf_devconf;
	rt->dst.output = net6_nf_dst_output;
	if (net6_iface_is_loopback(iface))
		rt->rt6i_flags = RTF_LOCAL;
	return 0;
}

static void net6_nf_route_exit(struct net6_iface *iface)
{
	net6_dst_iface_exit(iface);
	dst_dev_put(&iface->rt->dst);
	dst_release(&iface->rt->dst);
}

static const struct net6_nf_route_ops net6_nf_route_ops = {
	.init	= net6_nf_route_init,
	.exit	= net6_nf_route_exit,
	.attach	= net6_dst_attach,
};

/* ---- the routing rule ---- */

static int net6_nf_rule_match(struct fib_rule *rule, struct flowi *fl, int flags)
{
	return 1;
}

static int net6_nf_rule_action(struct fib_rule *rule, struct flowi *fl, int flags,
			       struct fib_lookup_arg *arg)
{
	struct net6_net *nn = net6_pernet(rule->fr_net);
	const struct net6_dest_key key = {
		.daddr	= fl->u.ip6.daddr,
		.oif	= fl->u.ip6.flowi6_oif,
	};
	struct fib6_result *res = arg->result;
	struct net6_nexthop nh;

	/* Not the cache: a source that is asked about is anybody's word. */
	if (net6_route_nexthop(nn, &key, &fl->u.ip6, &nh) < 0)
		return -ENETUNREACH;
	/* The interface has it, and goes only after a grace period. */
	res->rt6 = nh.iface->rt;
	if (!(flags & RT6_LOOKUP_F_DST_NOREF))
		dst_hold(&res->rt6->dst);
	return 0;
}

/**
 * net6_nf_net_init() - a namespace's stand-in for native's tables
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_nf_net_init(struct net6_net *nn)
{
	struct net *net = nn->net;
	struct net6_nf_net *nf;

	if (!static_branch_unlikely(&net6_nf_key))
		return 0;
	nf = kzalloc(sizeof(*nf), GFP_KERNEL_ACCOUNT);
	if (!nf)
		return -ENOMEM;
	nf->none = net6_nf_rt_alloc(NULL);
	net->mib.ipv6_statistics = alloc_percpu_gfp(struct ipstats_mib, GFP_KERNEL_ACCOUNT);
	if (!nf->none || !net->mib.ipv6_statistics) {
		nn->nf = nf;
		net6_nf_net_exit(nn);
		return -ENOMEM;
	}
	nf->none->dst.error = -ENETUNREACH;
	nf->none->rt6i_flags = RTF_REJECT | RTF_NONEXTHOP;
	nf->ops.family = AF_INET6;
	nf->ops.action = net6_nf_rule_action;
	nf->ops.match = net6_nf_rule_match;
	nf->ops.owner = THIS_MODULE;
	nf->ops.fro_net = net;
	INIT_LIST_HEAD(&nf->ops.rules_list);
	nf->rule.action = FR_ACT_TO_TBL;
	nf->rule.fr_net = net;
	nf->rule.uid_range.start = KUIDT_INIT(0);
	nf->rule.uid_range.end = KUIDT_INIT(~0);
	refcount_set(&nf->rule.refcnt, 1);
	list_add_tail_rcu(&nf->rule.list, &nf->ops.rules_list);
	nn->nf = nf;

	net->ipv6.devconf_all = &net6_nf_devconf;
	net->ipv6.devconf_dflt = &net6_nf_devconf;
	net->ipv6.inet6_addr_lst = net6_nf_addrs;
	net->ipv6.ip6_null_entry = nf->none;
	WRITE_ONCE(net->ipv6.fib6_rules_ops, &nf->ops);
	net->ipv6.fib6_has_custom_rules = true;
	return 0;
}

/**
 * net6_nf_net_drain() - drop a namespace's packets that wait for a verdict
 * @nn: namespace without interfaces
 *
 * Twice: one that was on its way out of the queue may have come to the next.
 * Context: process, sleeps.
 */
void net6_nf_net_drain(struct net6_net *nn)
{
	if (!static_branch_unlikely(&net6_nf_key))
		return;
	nf_queue_nf_hook_drop(nn->net);
	synchronize_rcu();
	nf_queue_nf_hook_drop(nn->net);
	synchronize_rcu();
}

/**
 * net6_nf_net_exit() - native's tables are empty again
 * @nn: namespace that neither sends nor receives any more
 *
 * A rule at a device's ingress may still ask. Context: process, sleeps.
 */
void net6_nf_net_exit(struct net6_net *nn)
{
	struct net6_nf_net *nf = nn->nf;
	struct net *net = nn->net;

	if (!nf)
		return;
	net->ipv6.fib6_has_custom_rules = false;
	WRITE_ONCE(net->ipv6.fib6_rules_ops, NULL);
	synchronize_rcu();
	net->ipv6.ip6_null_entry = NULL;
	net->ipv6.inet6_addr_lst = NULL;
	net->ipv6.devconf_all = NULL;
	net->ipv6.devconf_dflt = NULL;
	free_percpu(net->mib.ipv6_statistics);
	net->mib.ipv6_statistics = NULL;
	if (nf->none)
		dst_release(&nf->none->dst);
	kfree(nf);
	nn->nf = NULL;
}

/**
 * net6_nf_init() - call netfilter's hooks if this is a takeover
 *
 * Context: process. Return: 0 or -ENOMEM; without a kprobe the hooks are not called.
 */
int net6_nf_init(void)
{
	int err;

	if (ipv6_mod_enabled())
		return 0;
	net6_nf_dst_ops.kmem_cachep = KMEM_CACHE(rt6_info, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	if (!net6_nf_dst_ops.kmem_cachep)
		return -ENOMEM;
	err = net6_dst_init();
	if (err)
		goto err_cache;
	err = net6_divert_init();
	if (err) {
		pr_warn("netfilter's IPv6 hooks are not called: kprobe error %d\n", err);
		err = 0;
		goto err_dst;
	}
	err = net6_nfredirect_init();
	if (err)
		goto err_divert;
	net6_nfbridge_init();
	net6_nf_enable(&net6_nf_route_ops);
	return 0;

err_divert:
	net6_divert_exit();
	synchronize_rcu();
err_dst:
	net6_dst_exit();
err_cache:
	kmem_cache_destroy(net6_nf_dst_ops.kmem_cachep);
	return err;
}

/**
 * net6_nf_exit() - netfilter sees no IPv6 any more
 *
 * Context: process, sleeps; all namespaces are gone.
 */
void net6_nf_exit(void)
{
	if (!static_key_enabled(&net6_nf_key))
		return;
	net6_nf_disable();
	net6_nfbridge_exit();
	net6_nfredirect_exit();
	net6_divert_exit();
	/* Routes that were queued with a packet, and who was diverted. */
	synchronize_rcu();
	rcu_barrier();
	net6_dst_exit();
	kmem_cache_destroy(net6_nf_dst_ops.kmem_cachep);
}
#else
int net6_nf_net_init(struct net6_net *nn)
{
	return 0;
}

void net6_nf_net_drain(struct net6_net *nn)
{
}

void net6_nf_net_exit(struct net6_net *nn)
{
}

int net6_nf_init(void)
{
	if (!ipv6_mod_enabled())
		pr_notice("netfilter's IPv6 hooks are not called: this kernel lacks what it takes\n");
	return 0;
}

void net6_nf_exit(void)
{
}
#endif
