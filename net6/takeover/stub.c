// SPDX-License-Identifier: GPL-2.0
/* The tables through which the kernel calls native IPv6 (net/ipv6_stubs.h), in takeover mode.
 * Native, switched off, has left one of them null and holes in the other.
 *
 * Limits: routes and neighbors of other modules stay as without IPv6, for which the kernel's own
 * entries say EAFNOSUPPORT. Tunnels over UDP find a route (dst.c) and groups, and may have sockets
 * of ours, where netfilter's hooks are called: some ask native's routing by name. Next hop objects
 * are IPv6's, for routes of net6's (rt_nexthop.c); as long as there are any, net6 stays. An IPv4
 * route that goes by one has no neighbor: native's table of those is there, and makes none on a
 * device without native IPv6.
 *
 * Kernels without tables, from 7.1 on, call native IPv6, which net6 cannot change: BPF helpers and
 * UDP tunnels of other modules do not find net6 there.
 *
 * Nobody can tell when the last reader of a table has gone. So tables are made once and stay when
 * net6 goes. What is left in them then is in the kernel itself.
 */
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/ip6_fib.h>
#include <net/ip_fib.h>
#include <net/ipv6.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/udp.h>

#include "../compat/ipv6_stubs.h"
#include "../core/addr.h"
#include "../core/l3mdev.h"
#include "../core/nfhook.h"
#include "../transport/dgram.h"
#include "../socket/sock.h"
#include "dst.h"
#include "rt_change.h"
#include "takeover.h"

#ifdef NET6_COMPAT_HAS_STUBS

static struct sock *net6_stub_udp_lookup(const struct net *net, const struct in6_addr *saddr,
					 __be16 sport, const struct in6_addr *daddr, __be16 dport,
					 int dif, int sdif, struct udp_table *tbl,
					 struct sk_buff *skb)
{
	const struct net6_dgram_key key = {
		.laddr		= daddr,
		.faddr		= saddr,
		.lport		= ntohs(dport),
		.fport		= sport,
		.dif		= dif,
		.sdif		= sdif ?: net6_l3mdev_of_ifindex(net6_pernet(net), dif),
		.protocol	= IPPROTO_UDP,
	};

	return net6_dgram_lookup((struct net *)net, &key, NULL);
}

NET6_COMPAT_STUB_LOOKUP(net6_stub_udp_lookup)

/* Asked only for a route that fib6_lookup() has found, and that finds none. */
static int net6_stub_get_saddr(struct net *net, const struct net_device *dst_dev,
			       const struct in6_addr *daddr, unsigned int prefs,
			       struct in6_addr *saddr)
{
	return -EADDRNOTAVAIL;
}

/* What a next hop object says, checked as native does. */
static int net6_stub_nexthop_check(struct net *net, const struct net_device *dev,
				   const struct fib6_config *cfg, struct netlink_ext_ack *extack)
{
	struct net6_iface *iface;
	bool own;

	if (!dev)
		return -ENODEV;
	iface = net6_iface_find(net6_pernet(net), dev->ifindex);
	if (cfg->fc_encap) {
		NL_SET_ERR_MSG(extack, "net6 has no next hops with encapsulation");
		return -EOPNOTSUPP;
	}
	if (!(dev->flags & IFF_LOOPBACK) && !iface) {
		NL_SET_ERR_MSG(extack, "IPv6 is disabled on nexthop device");
		return -EACCES;
	}
	if (cfg->fc_flags & RTF_GATEWAY) {
		rcu_read_lock();
		own = iface && net6_accept_own_gateway(iface, &cfg->fc_gateway);
		rcu_read_unlock();
		if (own || !(ipv6_addr_type(&cfg->fc_gateway) & IPV6_ADDR_UNICAST)) {
			NL_SET_ERR_MSG(extack, "Invalid gateway address");
			return -EINVAL;
		}
		if (iface)
			return net6_rt_request_gateway(iface, cfg->fc_table, &cfg->fc_gateway,
						       cfg->fc_flags & RTNH_F_ONLINK, extack);
	}
	return 0;
}

/* RTNL held. IPv4, for a route of its own with an IPv6 gateway, says of no namespace that somebody
 * asks there: that is not had here. Each object keeps net6.
 */
static int net6_stub_nexthop_init(struct net *net, struct fib6_nh *nh, struct fib6_config *cfg,
				  gfp_t gfp, struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	int err = 0;

	/* Nothing keeps a module whose loading fails. */
	if (!cfg->fc_nlinfo.nl_net || READ_ONCE(THIS_MODULE->state) != MODULE_STATE_LIVE ||
	    !try_module_get(THIS_MODULE))
		return -EAFNOSUPPORT;
	dev = cfg->fc_is_fdb ? NULL : dev_get_by_index(net, cfg->fc_ifindex);
	if (!cfg->fc_is_fdb)
		/* IPv4 keeps what it routes by the object in it. */
		err = net6_stub_nexthop_check(net, dev, cfg, extack) ?:
		      fib_nh_common_init(net, &nh->nh_common, NULL, 0, cfg, gfp, extack);
	if (err) {
		dev_put(dev);
		module_put(THIS_MODULE);
		return err;
	}
	nh->fib_nh_family = AF_INET6;
	if (cfg->fc_is_fdb || cfg->fc_flags & RTF_GATEWAY) {
		nh->fib_nh_gw6 = cfg->fc_gateway;
		nh->fib_nh_gw_family = AF_INET6;
	}
	if (!dev)
		return 0;
	nh->fib_nh_weight = 1;
	nh->fib_nh_dev = dev;
	netdev_tracker_alloc(dev, &nh->fib_nh_dev_tracker, gfp);
	nh->fib_nh_oif = dev->ifindex;
	if (!netif_carrier_ok(dev))
		nh->fib_nh_flags |= RTNH_F_LINKDOWN;
	return 0;
}

/* Of one that was not made, too. After the last one net6 may go: this is called with softirqs
 * off, and the module's memory is freed after a grace period.
 */
static void net6_stub_nexthop_release(struct fib6_nh *nh)
{
	bool made = nh->fib_nh_family == AF_INET6;

	fib_nh_common_release(&nh->nh_common);
	if (made)
		module_put(THIS_MODULE);
}

/* There are none of native's. */
static void net6_stub_nexthop_release_dsts(struct fib6_nh *nh)
{
}

/* A tunnel's socket joins a group. sk owned. */
static int net6_stub_group_join(struct sock *sk, int ifindex, const struct in6_addr *addr)
{
	return net6_sk_group_join(sk, ifindex, addr, NULL);
}

/* What was there before net6, which says EAFNOSUPPORT. */
static int (*net6_stub_nexthop_refuse)(struct net *net, struct fib6_nh *nh,
				       struct fib6_config *cfg, gfp_t gfp,
				       struct netlink_ext_ack *extack);
static struct dst_entry *(*net6_stub_dst_refuse)(struct net *net, const struct sock *sk,
						 struct flowi6 *fl6,
						 const struct in6_addr *final_dst);

/* The table of entries for native IPv6's work, where they may be null. */
static int net6_stub_table_init(void)
{
	struct ipv6_stub *stub = (struct ipv6_stub *)ipv6_stub;

	if (!stub->udpv6_encap_enable) {
		stub = kmemdup(ipv6_stub, sizeof(*stub), GFP_KERNEL);
		if (!stub)
			return -ENOMEM;
		/* A UDP tunnel's socket switches encapsulation on. */
		stub->udpv6_encap_enable = udp_encap_enable;
		neigh_table_init(NEIGH_ND_TABLE, &nd_tbl);
		stub->nd_tbl = &nd_tbl;
	}
	rtnl_lock();
	net6_stub_nexthop_refuse = stub->fib6_nh_init;
	net6_stub_dst_refuse = stub->ipv6_dst_lookup_flow;
	stub->fib6_nh_release_dsts = net6_stub_nexthop_release_dsts;
	stub->fib6_nh_release = net6_stub_nexthop_release;
	stub->fib6_nh_init = net6_stub_nexthop_init;
	if (static_key_enabled(&net6_nf_key)) {
		stub->ipv6_sock_mc_join = net6_stub_group_join;
		stub->ipv6_sock_mc_drop = net6_sk_group_leave;
		stub->ipv6_dst_lookup_flow = net6_dst_lookup;
		net6_family_carry(true);
	}
	/* Pairs with the dependency of whoever reads through the pointer. */
	smp_store_release(&ipv6_stub, stub);
	rtnl_unlock();
	return 0;
}

/* There are no objects any more, and no sockets: each has kept net6. */
static void net6_stub_table_exit(void)
{
	struct ipv6_stub *stub = (struct ipv6_stub *)ipv6_stub;

	net6_family_carry(false);
	rtnl_lock();
	/* Programs of BPF for IPv4's routes may be looking. A grace period follows. */
	WRITE_ONCE(stub->ipv6_dst_lookup_flow, net6_stub_dst_refuse);
	stub->ipv6_sock_mc_join = NULL;
	stub->ipv6_sock_mc_drop = NULL;
	stub->fib6_nh_init = net6_stub_nexthop_refuse;
	stub->fib6_nh_release = NULL;
	stub->fib6_nh_release_dsts = NULL;
	rtnl_unlock();
}

/**
 * net6_stub_init() - BPF helpers and tunnels find net6 where they look for native IPv6
 *
 * Does nothing where native IPv6 is on, or where sockets of AF_INET6 are not made here.
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_stub_init(void)
{
	struct ipv6_bpf_stub *bpf = (struct ipv6_bpf_stub *)ipv6_bpf_stub;
	int err;

	if (ipv6_mod_enabled() || !net6_family_has_inet6())
		return 0;
	if (!bpf) {
		bpf = kzalloc(sizeof(*bpf), GFP_KERNEL);
		if (!bpf)
			return -ENOMEM;
	}
	err = net6_stub_table_init();
	if (err) {
		if (!ipv6_bpf_stub)
			kfree(bpf);
		return err;
	}
	bpf->inet6_bind = net6_bind_bpf;
	bpf->ipv6_setsockopt = net6_setsockopt_bpf;
	bpf->ipv6_getsockopt = net6_getsockopt_bpf;
	bpf->ipv6_dev_get_saddr = net6_stub_get_saddr;
	WRITE_ONCE(bpf->udp6_lib_lookup, net6_compat_stub_lookup(bpf, net6_stub_udp_lookup));
	/* Pairs with the dependency, as above. */
	smp_store_release(&ipv6_bpf_stub, bpf);
	return 0;
}

/**
 * net6_stub_exit() - undo net6_stub_init()
 *
 * No socket of AF_INET6 exists any more, so of BPF's table programs call the look-up only:
 * native's finds nothing. Context: process, sleeps for a grace period.
 */
void net6_stub_exit(void)
{
	struct ipv6_bpf_stub *bpf = (struct ipv6_bpf_stub *)ipv6_bpf_stub;

	if (ipv6_mod_enabled() || !net6_family_has_inet6())
		return;
	net6_stub_table_exit();
	WRITE_ONCE(bpf->udp6_lib_lookup, __udp6_lib_lookup);
	bpf->inet6_bind = NULL;
	bpf->ipv6_setsockopt = NULL;
	bpf->ipv6_getsockopt = NULL;
	bpf->ipv6_dev_get_saddr = NULL;
	synchronize_rcu();
}

#else

int net6_stub_init(void)
{
	return 0;
}

void net6_stub_exit(void)
{
}

#endif /* NET6_COMPAT_HAS_STUBS */
