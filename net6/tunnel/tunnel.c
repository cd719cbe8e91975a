// SPDX-License-Identifier: GPL-2.0
/* Tunnels over IPv4 as devices and as links: making, changing and removing them, and
 * the table in which received packets find theirs. A tunnel belongs to the namespace
 * that its IPv4 packets travel in and does not move.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_arp.h>
#include <linux/rculist.h>
#include <linux/rhashtable.h>
#include <linux/rtnetlink.h>
#include <net/ip_tunnels.h>
#include <net/rtnetlink.h>

#include "../compat/netdevice.h"
#include "../core/nd.h"
#include "../observe/note.h"
#include "tunnel.h"

#define NET6_TUNNEL_MTU		1480	/* bytes: Ethernet's less an IPv4 header */
#define NET6_TUNNEL_MAX_MTU	(65535 - NET6_TUNNEL_IPV4)

static const struct rhashtable_params net6_tunnel_params = {
	.nelem_hint		= 2,
	.key_len		= offsetofend(struct net6_tunnel_ends, local),
	.key_offset		= offsetof(struct net6_tunnel_ends, remote),
	.head_offset		= offsetof(struct net6_tunnel_ends, node),
	.automatic_shrinking	= true,
};

/**
 * net6_tunnel_find() - the tunnel of exactly these ends
 * @nn: namespace
 * @remote: far end, 0 for 6over4
 * @local: our end, 0 for a tunnel without a fixed one
 *
 * Up to three look-ups are on a packet's way. Flattened, so that the hash is computed here.
 * Context: RCU read lock or RTNL held. Return: borrowed tunnel or NULL.
 */
__flatten struct net6_tunnel *net6_tunnel_find(struct net6_net *nn, __be32 remote, __be32 local)
{
	const __be32 key[] = { remote, local };
	const struct net6_tunnel_ends *ends;

	ends = rhashtable_lookup_fast(&nn->tunnels->by_ends, key, net6_tunnel_params);
	return ends ? ends->tunnel : NULL;
}

/**
 * net6_tunnel_read() - a counter's sum over all CPUs
 * @t: tunnel
 * @counter: which one
 *
 * Return: the sum; other CPUs may be counting meanwhile.
 */
u64 net6_tunnel_read(const struct net6_tunnel *t, enum net6_tunnel_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(t->counters, cpu)->value[counter]);
	return sum;
}

static const enum net6_drop_reason net6_tunnel_reasons[NET6_TUNNEL_COUNTERS] = {
	[NET6_TUNNEL_RX_SHORT]		= NET6_DROP_TUNNEL_SHORT,
	[NET6_TUNNEL_RX_OUTER]		= NET6_DROP_TUNNEL_OUTER,
	[NET6_TUNNEL_RX_INNER_SOURCE]	= NET6_DROP_TUNNEL_INNER_SOURCE,
	[NET6_TUNNEL_RX_INNER_DEST]	= NET6_DROP_TUNNEL_INNER_DEST,
	[NET6_TUNNEL_RX_ECN]		= NET6_DROP_TUNNEL_ECN,
	[NET6_TUNNEL_TX_NO_ROUTE]	= NET6_DROP_TUNNEL_NO_ROUTE,
	[NET6_TUNNEL_TX_DEST]		= NET6_DROP_TUNNEL_DEST,
	[NET6_TUNNEL_TX_LOOP]		= NET6_DROP_TUNNEL_LOOP,
	[NET6_TUNNEL_TX_NESTED]		= NET6_DROP_TUNNEL_NESTED,
	[NET6_TUNNEL_TX_TOO_BIG]	= NET6_DROP_OUT_TOO_BIG,
};

void net6_tunnel_drop(struct net6_tunnel *t, struct sk_buff *skb,
		      enum net6_tunnel_counter counter)
{
	net6_tunnel_count(t, counter);
	net6_note_tunnel_drop(t->dev->ifindex, net6_tunnel_reasons[counter]);
	net6_drop(net6_tunnel_nn(t), skb, net6_tunnel_reasons[counter]);
}

/* As links */

/**
 * net6_tunnel_send() - send to an IPv4 address
 * @iface: tunnel's interface
 * @skb: data at the IPv6 header; consumed
 * @lladdr: the IPv4 address
 *
 * Through dev_queue_xmit(), so that taps and qdiscs of the tunnel see the packet.
 * Context: BH disabled, RCU read lock held. Return: as net6_output().
 */
int net6_tunnel_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	if (skb_cow_head(skb, LL_RESERVED_SPACE(iface->dev))) {
		net6_drop(iface->nn, skb, NET6_DROP_NO_MEMORY);
		return -ENOMEM;
	}
	memcpy(__skb_push(skb, NET6_TUNNEL_HEADER), lladdr, NET6_TUNNEL_HEADER);
	skb_reset_mac_header(skb);
	skb->dev = iface->dev;
	skb->protocol = htons(ETH_P_IPV6);
	return net6_link_xmit(skb);
}

void net6_tunnel_fill_header(const struct net6_iface *iface, const u8 *lladdr, u8 *header)
{
	memcpy(header, lladdr, NET6_TUNNEL_HEADER);
}

static int net6_tunnel_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join)
{
	return 0;	/* everything comes from the far end anyway */
}

static void net6_configured_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	const struct net6_tunnel *t = netdev_priv(iface->dev);

	memcpy(iid, &t->parms.remote, 4);
	memcpy(iid + 4, &t->parms.local, 4);
}

static void net6_configured_map(const struct net6_iface *iface, const struct in6_addr *addr,
				u8 *lladdr)
{
	const struct net6_tunnel *t = netdev_priv(iface->dev);

	memcpy(lladdr, &t->parms.remote, sizeof(t->parms.remote));
}

static int net6_tunnel_read_option(const u8 *body, unsigned int len, u8 *lladdr)
{
	return -EINVAL;		/* RFC 4213 3.8: not used */
}

static unsigned int net6_tunnel_write_option(u8 type, const u8 *lladdr, u8 *buf)
{
	return 0;
}

/* fe80:: and the IPv4 address of the far end: the name that it has for us. */
static void net6_configured_router(__be32 remote, struct in6_addr *addr)
{
	*addr = (struct in6_addr){ .s6_addr = { 0xfe, 0x80 } };
	addr->s6_addr32[3] = remote;
}

/* The default router that stands for the far end. It has low preference (RFC 4191): an offer of
 * routers on other links is better. Its neighbor entry is permanent, so no Neighbor Discovery is
 * done for it.
 */
static void net6_configured_started(struct net6_iface *iface)
{
	const struct net6_tunnel *t = netdev_priv(iface->dev);
	struct in6_addr addr;

	if (!t->parms.router)
		return;
	net6_configured_router(t->parms.remote, &addr);
	if (net6_router_update(iface, &addr, &NET6_ROUTE_BY_HAND(-1), NET6_LIFETIME_INFINITE))
		netdev_warn(iface->dev, "net6: no default router for the far end\n");
}

const struct net6_link_ops net6_configured_ops = {
	.name			= "configured",
	.flags			= NET6_LINK_MULTICAST | NET6_LINK_POINTOPOINT | NET6_LINK_OWN,
	.addr_len		= sizeof(__be32),
	.header_len		= NET6_TUNNEL_HEADER,
	.send			= net6_tunnel_send,
	.set_multicast		= net6_tunnel_set_multicast,
	.make_iid		= net6_configured_make_iid,
	.map_multicast		= net6_configured_map,
	.map_unicast		= net6_configured_map,
	.started		= net6_configured_started,
	.read_lladdr_option	= net6_tunnel_read_option,
	.write_lladdr_option	= net6_tunnel_write_option,
	.fill_header		= net6_tunnel_fill_header,
};

static void net6_automatic_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	memset(iid, 0, 8);
	memcpy(iid, &iface->ifindex, sizeof(iface->ifindex));
}

/* RFC 2893 section 5.2: there is no multicast; 0.0.0.0 is sent to nobody. */
static void net6_automatic_map_multicast(const struct net6_iface *iface,
					 const struct in6_addr *group, u8 *lladdr)
{
	memset(lladdr, 0, sizeof(__be32));
}

static void net6_automatic_map_unicast(const struct net6_iface *iface,
				       const struct in6_addr *addr, u8 *lladdr)
{
	__be32 v4 = 0;

	net6_tunnel_v4_compatible(addr->s6_addr, &v4);
	memcpy(lladdr, &v4, sizeof(v4));
}

const struct net6_link_ops net6_automatic_ops = {
	.name			= "automatic",
	.flags			= NET6_LINK_OWN,
	.addr_len		= sizeof(__be32),
	.header_len		= NET6_TUNNEL_HEADER,
	.send			= net6_tunnel_send,
	.set_multicast		= net6_tunnel_set_multicast,
	.make_iid		= net6_automatic_make_iid,
	.map_multicast		= net6_automatic_map_multicast,
	.map_unicast		= net6_automatic_map_unicast,
	.read_lladdr_option	= net6_tunnel_read_option,
	.write_lladdr_option	= net6_tunnel_write_option,
	.fill_header		= net6_tunnel_fill_header,
};

/* As devices */

static int net6_tunnel_create_header(struct sk_buff *skb, struct net_device *dev,
				     unsigned short type, const void *daddr, const void *saddr,
				     unsigned int len)
{
	u8 *header = skb_push(skb, NET6_TUNNEL_HEADER);

	if (!daddr)
		return -NET6_TUNNEL_HEADER;
	memcpy(header, daddr, NET6_TUNNEL_HEADER);
	return NET6_TUNNEL_HEADER;
}

static const struct header_ops net6_tunnel_header_ops = {
	.create	= net6_tunnel_create_header,
};

static int net6_tunnel_dev_init(struct net_device *dev)
{
	struct net6_tunnel *t = netdev_priv(dev);
	int err = -ENOMEM;

	if (net6_compat_tstats_alloc(dev))
		return err;
	t->counters = alloc_percpu_gfp(struct net6_tunnel_counters, GFP_KERNEL_ACCOUNT);
	if (!t->counters)
		goto err_tstats;
	err = dst_cache_init(&t->dst_cache, GFP_KERNEL);
	if (err)
		goto err_counters;
	return 0;

err_counters:
	free_percpu(t->counters);
err_tstats:
	net6_compat_tstats_free(dev);
	return err;
}

static void net6_tunnel_unhash(struct net6_tunnel_net *tn, struct net6_tunnel_ends *ends)
{
	rhashtable_remove_fast(&tn->by_ends, &ends->node, net6_tunnel_params);
}

/* RTNL held; a grace period follows before the destructor. */
static void net6_tunnel_dev_uninit(struct net_device *dev)
{
	struct net6_tunnel_net *tn = net6_pernet(dev_net(dev))->tunnels;
	struct net6_tunnel *t = netdev_priv(dev);

	if (t->known) {
		net6_tunnel_unhash(tn, t->known);
		t->known = NULL;
		if (t->kind == NET6_TUNNEL_6OVER4)
			list_del_rcu(&t->sixover4);
	}
	if (tn->automatic == t)
		WRITE_ONCE(tn->automatic, NULL);
	net6_6over4_leave_groups(t);
	dst_cache_reset(&t->dst_cache);
}

static void net6_tunnel_dev_destroy(struct net_device *dev)
{
	struct net6_tunnel *t = netdev_priv(dev);

	dst_cache_destroy(&t->dst_cache);
	free_percpu(t->counters);
	net6_compat_tstats_free(dev);
}

static int net6_tunnel_iflink(const struct net_device *dev)
{
	const struct net6_tunnel *t = netdev_priv(dev);

	return t->parms.link ?: dev->ifindex;
}

/* Dropped packets are errors here; the counters have the reasons. Own multicast that is not heard
 * is none.
 */
static void net6_tunnel_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	const struct net6_tunnel *t = netdev_priv(dev);
	int i;

	dev_get_tstats64(dev, stats);
	for (i = 0; i < NET6_TUNNEL_RX_OWN; i++)
		stats->rx_errors += net6_tunnel_read(t, i);
	for (i = NET6_TUNNEL_TX_NO_ROUTE; i < NET6_TUNNEL_ICMP_TOO_BIG; i++)
		stats->tx_errors += net6_tunnel_read(t, i);
}

static const struct net_device_ops net6_tunnel_netdev_ops = {
	.ndo_init		= net6_tunnel_dev_init,
	.ndo_uninit		= net6_tunnel_dev_uninit,
	.ndo_start_xmit		= net6_tunnel_xmit,
	.ndo_get_stats64	= net6_tunnel_stats64,
	.ndo_get_iflink		= net6_tunnel_iflink,
};

struct net6_tunnel *net6_tunnel_of(struct net_device *dev)
{
	return dev->netdev_ops == &net6_tunnel_netdev_ops ? netdev_priv(dev) : NULL;
}

static void net6_tunnel_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

/* Tunnels are made over our own netlink family; this lets `ip link del` and the end of
 * a namespace remove them.
 */
static struct rtnl_link_ops net6_tunnel_link_ops __read_mostly = {
	.kind		= "net6tunnel",
	.dellink	= net6_tunnel_dellink,
};

/* ARPHRD_VOID: no program and no part of the kernel configures such a device. */
static void net6_tunnel_setup(struct net_device *dev)
{
	netdev_features_t offloads = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA |
				     NETIF_F_HW_CSUM | NETIF_F_GSO_SOFTWARE;

	dev->netdev_ops = &net6_tunnel_netdev_ops;
	dev->header_ops = &net6_tunnel_header_ops;
	dev->rtnl_link_ops = &net6_tunnel_link_ops;
	dev->priv_destructor = net6_tunnel_dev_destroy;
	dev->needs_free_netdev = true;
	dev->type = ARPHRD_VOID;
	dev->addr_len = sizeof(__be32);
	dev->hard_header_len = NET6_TUNNEL_HEADER;
	dev->needed_headroom = LL_MAX_HEADER + sizeof(struct iphdr);
	dev->flags = IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->priv_flags &= ~IFF_XMIT_DST_RELEASE;
	dev->min_mtu = NET6_TUNNEL_MIN_MTU;
	dev->max_mtu = NET6_TUNNEL_MAX_MTU;
	dev->mtu = NET6_TUNNEL_MTU;
	dev->features |= offloads;
	net6_compat_lockless_tx(dev);
	net6_compat_netns_local(dev);
	dev->hw_features |= offloads;
}

/* RFC 4213 3.2: the size that the path to the far end carries, as far as is known now. */
static u32 net6_tunnel_initial_mtu(struct net6_tunnel *t)
{
	__be32 saddr = t->parms.local;
	struct rtable *rt;
	u32 mtu;

	if (t->kind == NET6_TUNNEL_CONFIGURED && !t->parms.pmtu)
		return NET6_TUNNEL_MIN_MTU;
	if (t->kind != NET6_TUNNEL_CONFIGURED)
		return NET6_TUNNEL_MTU;
	local_bh_disable();
	rcu_read_lock();
	rt = net6_tunnel_route(t, t->parms.remote, 0, &saddr);
	mtu = IS_ERR(rt) ? NET6_TUNNEL_MTU : READ_ONCE(rt->dst.dev->mtu) - NET6_TUNNEL_IPV4;
	if (!IS_ERR(rt))
		ip_rt_put(rt);
	rcu_read_unlock();
	local_bh_enable();
	return clamp_t(u32, mtu, NET6_TUNNEL_MIN_MTU, NET6_TUNNEL_MAX_MTU);
}

static int net6_tunnel_check_parms(struct net *net, enum net6_tunnel_kind kind,
				   const struct net6_tunnel_parms *parms,
				   const struct net6_tunnel *self, struct netlink_ext_ack *extack)
{
	const struct net6_tunnel *other;

	if (kind == NET6_TUNNEL_CONFIGURED && !net6_tunnel_v4_unicast(parms->remote)) {
		NL_SET_ERR_MSG(extack, "the far end must be one host");
		return -EINVAL;
	}
	if ((parms->local || kind == NET6_TUNNEL_6OVER4) &&
	    !net6_tunnel_v4_unicast(parms->local)) {
		NL_SET_ERR_MSG(extack, "the local address must be one host's");
		return -EINVAL;
	}
	if (parms->local && parms->local == parms->remote) {
		NL_SET_ERR_MSG(extack, "both ends are the same");
		return -EINVAL;
	}
	if (kind == NET6_TUNNEL_AUTOMATIC)
		return 0;
	other = net6_tunnel_find(net6_pernet(net), parms->remote, parms->local);
	if (other && other != self) {
		NL_SET_ERR_MSG(extack, "there is a tunnel between these ends");
		return -EEXIST;
	}
	return 0;
}

static void net6_tunnel_set_addrs(struct net6_tunnel *t)
{
	__dev_addr_set(t->dev, &t->parms.local, sizeof(t->parms.local));
	memcpy(t->dev->broadcast, &t->parms.remote, sizeof(t->parms.remote));
}

/* In the place that is free: the old one is known until then. If it fails, nothing is changed. */
static int net6_tunnel_hash(struct net6_tunnel *t, const struct net6_tunnel_parms *parms)
{
	struct net6_tunnel_net *tn = net6_tunnel_nn(t)->tunnels;
	struct net6_tunnel_ends *ends = &t->ends[t->known == &t->ends[0]];
	int err;

	ends->remote = parms->remote;
	ends->local = parms->local;
	ends->tunnel = t;
	err = rhashtable_insert_fast(&tn->by_ends, &ends->node, net6_tunnel_params);
	if (err)
		return err;
	if (t->known)
		net6_tunnel_unhash(tn, t->known);
	t->known = ends;
	return 0;
}

/* A new tunnel begins to receive. */
static int net6_tunnel_publish(struct net6_tunnel *t)
{
	struct net6_tunnel_net *tn = net6_tunnel_nn(t)->tunnels;
	int err;

	if (t->kind == NET6_TUNNEL_AUTOMATIC) {
		WRITE_ONCE(tn->automatic, t);
		return 0;
	}
	err = net6_tunnel_hash(t, &t->parms);
	if (!err && t->kind == NET6_TUNNEL_6OVER4)
		list_add_tail_rcu(&t->sixover4, &tn->sixover4);
	return err;
}

/**
 * net6_tunnel_add() - make a tunnel and bring it up
 * @net: namespace
 * @name: of the device; may hold a %d
 * @kind: enum net6_tunnel_kind
 * @parms: how
 * @extack: why not; may be NULL
 * @made: set to the tunnel; may be NULL
 *
 * Context: process, RTNL held. Return: 0, -EINVAL, -EEXIST, -ENOMEM, or -errno of the
 * device.
 */
int net6_tunnel_add(struct net *net, const char *name, enum net6_tunnel_kind kind,
		    const struct net6_tunnel_parms *parms, struct netlink_ext_ack *extack,
		    struct net6_tunnel **made)
{
	struct net_device *dev;
	struct net6_tunnel *t;
	int err;

	ASSERT_RTNL();
	err = net6_tunnel_check_parms(net, kind, parms, NULL, extack);
	if (err)
		return err;
	dev = alloc_netdev(sizeof(*t), name, NET_NAME_USER, net6_tunnel_setup);
	if (!dev)
		return -ENOMEM;
	dev_net_set(dev, net);
	t = netdev_priv(dev);
	t->dev = dev;
	t->kind = kind;
	t->parms = *parms;
	t->wanted = true;
	INIT_LIST_HEAD(&t->groups);
	spin_lock_init(&t->group_lock);
	if (kind == NET6_TUNNEL_CONFIGURED)
		dev->flags |= IFF_POINTOPOINT;
	net6_tunnel_set_addrs(t);
	err = register_netdevice(dev);
	if (err) {
		if (err == -EEXIST)
			NL_SET_ERR_MSG(extack, "there is a device of this name");
		free_netdev(dev);
		return err;
	}
	dev_set_mtu(dev, net6_tunnel_initial_mtu(t));
	err = net6_tunnel_publish(t);
	if (!err)
		err = dev_open(dev, extack);
	if (err) {
		unregister_netdevice(dev);
		return err;
	}
	if (made)
		*made = t;
	return 0;
}

/**
 * net6_tunnel_change() - give a configured tunnel other ends or parameters
 * @t: configured tunnel
 * @parms: all of them
 * @extack: why not
 *
 * Addresses, sockets and routes of the interface stay. The MTU stays, too, unless @parms begins
 * or ends to follow the path's.
 * Context: process, RTNL held. Return: 0, -EINVAL, -EEXIST or -ENOMEM; then nothing is changed.
 */
int net6_tunnel_change(struct net6_tunnel *t, const struct net6_tunnel_parms *parms,
		       struct netlink_ext_ack *extack)
{
	struct net6_iface *iface = net6_link_iface(t->dev);
	bool new_mtu = t->parms.pmtu != parms->pmtu;
	struct in6_addr router;
	int err;

	ASSERT_RTNL();
	err = net6_tunnel_check_parms(dev_net(t->dev), t->kind, parms, t, extack) ?:
	      net6_tunnel_hash(t, parms);
	if (err)
		return err;
	if (iface && t->parms.router) {
		net6_configured_router(t->parms.remote, &router);
		net6_router_update(iface, &router, &NET6_ROUTE_BY_HAND(0), 0);
	}
	/* Nobody is at the place in the table that it has left. */
	synchronize_net();
	WRITE_ONCE(t->parms.remote, parms->remote);
	WRITE_ONCE(t->parms.local, parms->local);
	WRITE_ONCE(t->parms.ttl, parms->ttl);
	WRITE_ONCE(t->parms.tos, parms->tos);
	WRITE_ONCE(t->parms.pmtu, parms->pmtu);
	t->parms.router = parms->router;
	net6_tunnel_set_addrs(t);
	dst_cache_reset(&t->dst_cache);
	if (new_mtu)
		dev_set_mtu(t->dev, net6_tunnel_initial_mtu(t));
	/* Neighbors are mapped anew. */
	call_netdevice_notifiers(NETDEV_CHANGEADDR, t->dev);
	if (iface && net6_iface_usable(iface))
		net6_configured_started(iface);
	return 0;
}

/**
 * net6_tunnel_del() - remove a tunnel
 * @t: tunnel
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_tunnel_del(struct net6_tunnel *t)
{
	unregister_netdevice(t->dev);
}

static bool net6_tunnel_is(const struct net_device *dev, enum net6_tunnel_kind kind)
{
	const struct net6_tunnel *t = netdev_priv(dev);

	return dev->netdev_ops == &net6_tunnel_netdev_ops && t->kind == kind;
}

static bool net6_configured_match(const struct net_device *dev)
{
	return net6_tunnel_is(dev, NET6_TUNNEL_CONFIGURED);
}

static bool net6_automatic_match(const struct net_device *dev)
{
	return net6_tunnel_is(dev, NET6_TUNNEL_AUTOMATIC);
}

static bool net6_6over4_match(const struct net_device *dev)
{
	return net6_tunnel_is(dev, NET6_TUNNEL_6OVER4);
}

static struct net6_link_type net6_tunnel_types[NET6_TUNNEL_KINDS] = {
	{ .ops = &net6_configured_ops,	.match = net6_configured_match },
	{ .ops = &net6_automatic_ops,	.match = net6_automatic_match },
	{ .ops = &net6_6over4_ops,	.match = net6_6over4_match },
};

/**
 * net6_tunnel_net_init() - a namespace without tunnels
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_tunnel_net_init(struct net6_net *nn)
{
	int err;

	nn->tunnels = kzalloc(sizeof(*nn->tunnels), GFP_KERNEL_ACCOUNT);
	if (!nn->tunnels)
		return -ENOMEM;
	nn->tunnels->nn = nn;
	INIT_LIST_HEAD(&nn->tunnels->sixover4);
	err = rhashtable_init(&nn->tunnels->by_ends, &net6_tunnel_params);
	if (err)
		goto err_free;
	err = net6_transition_net_init(nn);
	if (err)
		goto err_table;
	return 0;

err_table:
	rhashtable_destroy(&nn->tunnels->by_ends);
err_free:
	kfree(nn->tunnels);
	return err;
}

/**
 * net6_tunnel_net_exit() - end of a namespace whose devices are gone
 * @nn: namespace
 *
 * Context: process, RTNL not held; sleeps.
 */
void net6_tunnel_net_exit(struct net6_net *nn)
{
	struct net6_tunnel_net *tn = nn->tunnels;

	net6_transition_net_exit(nn);
	WARN_ON_ONCE(!list_empty(&tn->sixover4) || atomic_read(&tn->by_ends.nelems));
	rhashtable_destroy(&tn->by_ends);
	kfree(tn);
}

/**
 * net6_tunnel_init() - get ready for tunnels
 *
 * Context: process, sleeps. Return: 0, -EINVAL (parameter transition) or -errno.
 */
int net6_tunnel_init(void)
{
	size_t i;
	int err;

	if (!net6_transition_valid())
		return -EINVAL;
	err = rtnl_link_register(&net6_tunnel_link_ops);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(net6_tunnel_types); i++)
		WARN_ON(net6_link_register(&net6_tunnel_types[i]));
	err = net6_transition_init();
	if (!err)
		return 0;
	for (i = 0; i < ARRAY_SIZE(net6_tunnel_types); i++)
		net6_link_unregister(&net6_tunnel_types[i]);
	rtnl_link_unregister(&net6_tunnel_link_ops);
	return err;
}

/**
 * net6_tunnel_exit() - remove all tunnels
 *
 * No request of an administrator can come any more.
 * Context: process, sleeps.
 */
void net6_tunnel_exit(void)
{
	size_t i;

	net6_transition_exit();
	net6_tunnel_rcv_exit();
	rtnl_link_unregister(&net6_tunnel_link_ops);
	for (i = 0; i < ARRAY_SIZE(net6_tunnel_types); i++)
		net6_link_unregister(&net6_tunnel_types[i]);
}
