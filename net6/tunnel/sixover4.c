// SPDX-License-Identifier: GPL-2.0
/* IPv6 over IPv4 multicast, RFC 2529: IPv4 is the link, with Neighbor Discovery,
 * autoconfiguration and duplicate detection on it. One interface per IPv4 address;
 * transition.c makes and removes them.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>

#include "tunnel.h"

/**
 * struct net6_6over4_group - an IPv4 group that IPv6 groups are mapped to
 * @list: in tunnel->groups
 * @addr: 239.192.x.y
 * @users: IPv6 groups that are joined now; under group_lock
 * @joined: IPv4 has been told; under RTNL
 */
struct net6_6over4_group {
	struct list_head	list;
	__be32			addr;
	u32			users;
	bool			joined;
};

static struct net6_6over4_group *net6_6over4_find(struct net6_tunnel *t, __be32 addr)
	__must_hold(&t->group_lock)
{
	struct net6_6over4_group *group;

	lockdep_assert_held(&t->group_lock);
	list_for_each_entry(group, &t->groups, list)
		if (group->addr == addr)
			return group;
	return NULL;
}

static int net6_6over4_join(struct net6_tunnel *t, __be32 addr)
	__must_hold(&t->group_lock)
{
	struct net6_6over4_group *group = net6_6over4_find(t, addr);

	if (!group) {
		group = kzalloc(sizeof(*group), GFP_ATOMIC | __GFP_ACCOUNT);
		if (!group)
			return -ENOMEM;
		group->addr = addr;
		list_add_tail(&group->list, &t->groups);
	}
	group->users++;
	return 0;
}

/* Joining in IPv4 wants RTNL, and this is called under spinlocks: work does it. */
static int net6_6over4_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join)
{
	struct net6_tunnel *t = netdev_priv(iface->dev);
	struct net6_6over4_group *group;
	__be32 addr;
	int err = 0;

	memcpy(&addr, maddr, sizeof(addr));
	spin_lock_bh(&t->group_lock);
	if (join) {
		err = net6_6over4_join(t, addr);
	} else {
		group = net6_6over4_find(t, addr);
		if (group && group->users)
			group->users--;
	}
	spin_unlock_bh(&t->group_lock);
	net6_transition_queue(iface->nn);
	return err;
}

static struct in_device *net6_6over4_in_dev(struct net6_tunnel *t)
{
	struct net_device *dev = __dev_get_by_index(dev_net(t->dev), t->parms.link);

	return dev ? __in_dev_get_rtnl(dev) : NULL;
}

/* The next group whose membership is not what it should be. */
static struct net6_6over4_group *net6_6over4_next(struct net6_tunnel *t, bool *join)
{
	struct net6_6over4_group *group;

	spin_lock_bh(&t->group_lock);
	list_for_each_entry(group, &t->groups, list) {
		*join = group->users;
		if (group->joined != *join)
			goto found;
		if (!group->users) {
			list_del(&group->list);
			goto found;
		}
	}
	group = NULL;
found:
	spin_unlock_bh(&t->group_lock);
	return group;
}

/**
 * net6_6over4_sync_groups() - tell IPv4 which groups we are in
 * @t: 6over4 tunnel
 *
 * Context: process, RTNL held; sleeps.
 */
void net6_6over4_sync_groups(struct net6_tunnel *t)
{
	struct in_device *in_dev = net6_6over4_in_dev(t);
	struct net6_6over4_group *group;
	bool join;

	ASSERT_RTNL();
	while (in_dev && (group = net6_6over4_next(t, &join))) {
		if (!join && !group->joined) {
			kfree(group);
			continue;
		}
		if (join)
			ip_mc_inc_group(in_dev, group->addr);
		else
			ip_mc_dec_group(in_dev, group->addr);
		group->joined = join;
	}
}

/**
 * net6_6over4_leave_groups() - end of all memberships
 * @t: tunnel whose device goes; its interface is gone
 *
 * Context: process, RTNL held.
 */
void net6_6over4_leave_groups(struct net6_tunnel *t)
{
	struct in_device *in_dev = net6_6over4_in_dev(t);
	struct net6_6over4_group *group, *next;

	list_for_each_entry_safe(group, next, &t->groups, list) {
		if (group->joined && in_dev)
			ip_mc_dec_group(in_dev, group->addr);
		list_del(&group->list);
		kfree(group);
	}
}

static void net6_6over4_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	const struct net6_tunnel *t = netdev_priv(iface->dev);

	net6_6over4_iid(t->parms.local, iid);
}

static void net6_6over4_map_multicast(const struct net6_iface *iface,
				      const struct in6_addr *group, u8 *lladdr)
{
	__be32 addr = net6_6over4_group(group->s6_addr);

	memcpy(lladdr, &addr, sizeof(addr));
}

static int net6_6over4_read(const u8 *body, unsigned int len, u8 *lladdr)
{
	__be32 addr;
	int err = net6_6over4_read_option(body, len, &addr);

	if (!err)
		memcpy(lladdr, &addr, sizeof(addr));
	return err;
}

static unsigned int net6_6over4_write(u8 type, const u8 *lladdr, u8 *buf)
{
	__be32 addr;

	memcpy(&addr, lladdr, sizeof(addr));
	return net6_6over4_write_option(type, addr, buf);
}

const struct net6_link_ops net6_6over4_ops = {
	.name			= "6over4",
	.flags			= NET6_LINK_MULTICAST | NET6_LINK_ND | NET6_LINK_OWN |
				  NET6_LINK_FIXED_IID,
	.addr_len		= sizeof(__be32),
	.header_len		= NET6_TUNNEL_HEADER,
	.send			= net6_tunnel_send,
	.set_multicast		= net6_6over4_set_multicast,
	.make_iid		= net6_6over4_make_iid,
	.map_multicast		= net6_6over4_map_multicast,
	.read_lladdr_option	= net6_6over4_read,
	.write_lladdr_option	= net6_6over4_write,
	.fill_header		= net6_tunnel_fill_header,
};
