// SPDX-License-Identifier: GPL-2.0
/* Routes for the kernel's tunnels over UDP, in takeover mode. A tunnel asks ipv6_stub for one,
 * keeps it for its next packets, writes the IPv6 header itself, and sends by ip6_local_out(). That
 * comes to the route's output here. Such a route is a destination of net6's in native's clothes.
 *
 * What goes into a tunnel has one, too, now and then: the tunnel tells it how much it carries.
 *
 * Limits: each look-up makes a new one, so a tunnel that keeps none pays for each packet. The hop
 * limit is that of when it was made.
 */
#include <net/ip6_fib.h>
#include <net/ip6_route.h>

#include "../compat/dst.h"
#include "../core/dest.h"
#include "../core/ip.h"
#include "../core/netns.h"
#include "dst.h"

/**
 * struct net6_dst - a route that a tunnel has
 * @rt: what the tunnel sees; must be first
 * @metrics: its hop limit
 * @dest: where its packets go, reference held; NULL when the interface is gone
 * @node: in the interface's dsts, under net6_dst_lock
 *
 * It holds the module.
 */
struct net6_dst {
	struct rt6_info			rt;
	struct dst_metrics		metrics;
	struct net6_dest __rcu		*dest;
	struct hlist_node		node;
};

/* Routes are made and go; packets do not take it. */
static DEFINE_SPINLOCK(net6_dst_lock);

static struct net6_dst *net6_dst_of(const struct dst_entry *dst)
{
	return container_of(dst, struct net6_dst, rt.dst);
}

/* A tunnel looks again when the route is not the best any more. */
static struct dst_entry *net6_dst_check(struct dst_entry *dst, u32 cookie)
{
	struct net6_dest *dest;
	bool valid;

	rcu_read_lock();
	dest = rcu_dereference(net6_dst_of(dst)->dest);
	valid = dest && net6_dest_valid(dest);
	rcu_read_unlock();
	return valid ? dst : NULL;
}

static unsigned int net6_dst_mtu(const struct dst_entry *dst)
{
	unsigned int mtu = NET6_MIN_MTU;
	struct net6_dest *dest;

	rcu_read_lock();
	dest = rcu_dereference(net6_dst_of(dst)->dest);
	if (dest)
		mtu = net6_dest_mtu(dest);
	rcu_read_unlock();
	return mtu;
}

static unsigned int net6_dst_advmss(const struct dst_entry *dst)
{
	return net6_dst_mtu(dst) - sizeof(struct ipv6hdr) - sizeof(struct tcphdr);
}

static struct neighbour *net6_dst_neigh(const struct dst_entry *dst, struct sk_buff *skb,
					const void *daddr)
{
	return NULL;
}

/* A tunnel that has the packet does not carry as much. */
static void net6_dst_update_pmtu(struct dst_entry *dst, struct sock *sk, struct sk_buff *skb,
				 u32 mtu, bool confirm_neigh)
{
	struct net6_dest *dest;

	rcu_read_lock();
	dest = rcu_dereference(net6_dst_of(dst)->dest);
	if (dest)
		net6_dest_set_pmtu(dest, max_t(u32, mtu, NET6_MIN_MTU));
	rcu_read_unlock();
}

/* An RCU callback of the kernel's, which then frees it. net6 goes after a grace period only. */
static void net6_dst_destroy(struct dst_entry *dst)
{
	struct net6_dst *d = net6_dst_of(dst);
	struct net6_dest *dest;

	spin_lock_bh(&net6_dst_lock);
	hlist_del_init(&d->node);
	dest = rcu_dereference_protected(d->dest, lockdep_is_held(&net6_dst_lock));
	spin_unlock_bh(&net6_dst_lock);
	if (dest)
		net6_dest_put(dest);
	dst_destroy_metrics_generic(dst);
	module_put(THIS_MODULE);
}

static struct dst_ops net6_dst_ops = {
	.family			= AF_INET6,
	.check			= net6_dst_check,
	.default_advmss		= net6_dst_advmss,
	.mtu			= net6_dst_mtu,
	.cow_metrics		= dst_cow_metrics_generic,
	.destroy		= net6_dst_destroy,
	.neigh_lookup		= net6_dst_neigh,
	.update_pmtu		= net6_dst_update_pmtu,
};

/* Behind NF_INET_LOCAL_OUT. The packet has its IPv6 header and checksum. */
static int net6_dst_output(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	int err = -ENETDOWN;
	struct net6_dest *dest;

	rcu_read_lock_bh();
	dest = rcu_dereference_bh(net6_dst_of(skb_dst(skb))->dest);
	if (likely(dest))
		err = net6_output_routed(skb, dest);
	else
		net6_drop(net6_pernet(net), skb, NET6_DROP_IFACE_DOWN);
	rcu_read_unlock_bh();
	return err;
}

/* Takes over the reference to @dest. */
static struct net6_dst *net6_dst_new(struct net6_dest *dest)
{
	struct rt6_info *rt;
	struct net6_dst *d;

	/* Nothing keeps a module whose loading fails. */
	if (READ_ONCE(THIS_MODULE->state) != MODULE_STATE_LIVE || !try_module_get(THIS_MODULE))
		return NULL;
	rt = net6_compat_rt6_alloc(&net6_dst_ops, dest->iface->dev, DST_OBSOLETE_FORCE_CHK,
				   DST_NOCOUNT | DST_NOXFRM);
	if (!rt) {
		module_put(THIS_MODULE);
		return NULL;
	}
	d = container_of(rt, struct net6_dst, rt);
	memset_after(d, 0, rt);
	d->metrics.metrics[RTAX_HOPLIMIT - 1] = net6_dest_hop_limit(dest);
	dst_init_metrics(&d->rt.dst, d->metrics.metrics, true);
	d->rt.dst.input = dst_discard;
	d->rt.dst.output = net6_dst_output;
	if (dest->flags & NET6_DEST_LOCAL)
		d->rt.rt6i_flags = RTF_LOCAL;
	RCU_INIT_POINTER(d->dest, dest);
	spin_lock_bh(&net6_dst_lock);
	hlist_add_head(&d->node, &dest->iface->dsts);
	spin_unlock_bh(&net6_dst_lock);
	return d;
}

/**
 * net6_dst_attach() - net6_nf_route_ops.attach
 * @skb: packet without a route
 * @dest: where it goes
 *
 * It goes without one if there is no memory. Context: BH disabled, RCU read lock held.
 */
void net6_dst_attach(struct sk_buff *skb, struct net6_dest *dest)
{
	struct net6_dst *d = net6_dst_new(net6_dest_hold(dest));

	if (d)
		skb_dst_set(skb, &d->rt.dst);
	else
		net6_dest_put(dest);
}

/* RCU read lock held. */
static struct net6_dest *net6_dst_dest(struct net *net, const struct sock *sk,
				       const struct flowi6 *fl6)
{
	struct net6_net *nn = net6_pernet_rcu(net);
	const struct net6_flow flow = {
		.protocol	= fl6->flowi6_proto,
		.sport		= fl6->fl6_sport,
		.dport		= fl6->fl6_dport,
		.label		= fl6->flowlabel,
		.mark		= fl6->flowi6_mark,
		.owned		= true,
		.uid		= fl6->flowi6_uid,
	};
	int oif = fl6->flowi6_oif;

	/* A tunnel's device may be elsewhere, and its socket's namespace may go first. */
	if (READ_ONCE(nn->exiting))
		return ERR_PTR(-ENETUNREACH);
	if (!oif && sk && sk_fullsock(sk))
		oif = READ_ONCE(sk->sk_bound_dev_if);
	return net6_dest_lookup_flow(nn, &fl6->saddr, &fl6->daddr, oif, &flow);
}

/**
 * net6_dst_lookup() - ipv6_stub's ipv6_dst_lookup_flow()
 * @net: namespace
 * @sk: the tunnel's socket, or NULL
 * @fl6: what is known of the packet; gets a source address if it has none, and @final_dst
 * @final_dst: destination behind a routing header, or NULL
 *
 * Context: any. Return: a referenced route, or ERR_PTR(-errno) of net6_dest_lookup_flow().
 */
struct dst_entry *net6_dst_lookup(struct net *net, const struct sock *sk, struct flowi6 *fl6,
				  const struct in6_addr *final_dst)
{
	struct net6_dest *dest;
	struct net6_dst *d;

	/* Until it is in the list of an interface that cannot go before the next grace period. */
	rcu_read_lock();
	dest = net6_dst_dest(net, sk, fl6);
	if (IS_ERR(dest)) {
		rcu_read_unlock();
		return ERR_CAST(dest);
	}
	d = net6_dst_new(dest);
	if (!d)
		net6_dest_put(dest);
	else if (ipv6_addr_any(&fl6->saddr))
		fl6->saddr = dest->saddr;
	rcu_read_unlock();
	if (!d)
		return ERR_PTR(-ENOMEM);
	if (final_dst)
		fl6->daddr = *final_dst;
	return &d->rt.dst;
}

/* One, so that nobody waits for many. Returns false when there is none left. */
static bool net6_dst_leave(struct net6_iface *iface)
{
	struct net6_dest *dest = NULL;
	struct net6_dst *d;

	spin_lock_bh(&net6_dst_lock);
	d = hlist_entry_safe(iface->dsts.first, struct net6_dst, node);
	if (d) {
		/* Who destroys it waits for the lock. */
		hlist_del_init(&d->node);
		dest = rcu_replace_pointer(d->dest, NULL, lockdep_is_held(&net6_dst_lock));
		dst_dev_put(&d->rt.dst);
	}
	spin_unlock_bh(&net6_dst_lock);
	if (dest)
		net6_dest_put(dest);
	return d;
}

/**
 * net6_dst_iface_exit() - an interface goes: what tunnels still have of it leads nowhere
 * @iface: found by nobody any more, a grace period ago
 *
 * Context: process.
 */
void net6_dst_iface_exit(struct net6_iface *iface)
{
	while (net6_dst_leave(iface))
		;
}

/**
 * net6_dst_init() - routes can be made
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_dst_init(void)
{
	net6_dst_ops.kmem_cachep = KMEM_CACHE(net6_dst, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return net6_dst_ops.kmem_cachep ? 0 : -ENOMEM;
}

/**
 * net6_dst_exit() - there are no routes any more: each has held the module
 *
 * Context: process, sleeps.
 */
void net6_dst_exit(void)
{
	/* The last one may be on its way to the cache. */
	rcu_barrier();
	kmem_cache_destroy(net6_dst_ops.kmem_cachep);
}
