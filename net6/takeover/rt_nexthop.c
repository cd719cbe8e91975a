// SPDX-License-Identifier: GPL-2.0
/* Next hop objects (ip nexthop) for routes. The kernel keeps them, for both families. To net6 a
 * route that goes by one is made of routes by its next hops; rt_follow.c makes it anew.
 *
 * Limits: no resilient groups, no more next hops and no larger weights than routes have anyway.
 */
#include <net/netns/generic.h>
#include <net/nexthop.h>

#include "rt_nexthop.h"

unsigned int net6_rt_nexthop_net_id __read_mostly;

/**
 * net6_rt_nexthop_pernet() - a namespace's objects
 * @net: namespace
 *
 * Context: any. Return: them.
 */
struct net6_rt_nexthop_net *net6_rt_nexthop_pernet(struct net *net)
{
	return net_generic(net, net6_rt_nexthop_net_id);
}

/**
 * net6_rt_nexthop_id() - the object that a route goes by
 * @net: namespace
 * @handle: what the route has of it
 *
 * Context: any. Return: its number, 0 if there is none.
 */
u32 net6_rt_nexthop_id(struct net *net, u32 handle)
{
	const struct net6_rt_nexthop *nh;
	u32 id;

	if (likely(!handle))
		return 0;
	rcu_read_lock();
	nh = xa_load(&net6_rt_nexthop_pernet(net)->by_handle, handle);
	id = nh ? nh->id : 0;
	rcu_read_unlock();
	return id;
}

/**
 * net6_rt_nexthop_copy() - the next hops of an object as those of a request
 * @nn: namespace
 * @nh: object
 * @c: request; gets them, for net6_rt_request_free()
 *
 * Context: process, RTNL held. Return: 0, -ENOMEM, -ENODEV.
 */
int net6_rt_nexthop_copy(struct net6_net *nn, const struct net6_rt_nexthop *nh,
			 struct net6_rt_change *c)
{
	u32 i;

	c->hops = kcalloc(nh->n, sizeof(*c->hops), GFP_KERNEL);
	if (!c->hops)
		return -ENOMEM;
	c->several = true;
	c->n_hops = nh->n;
	c->attrs.nexthop = nh->handle;
	c->attrs.refuses = nh->refuses ? RTN_BLACKHOLE : 0;
	for (i = 0; i < nh->n; i++) {
		c->hops[i].gateway = nh->hop[i].gateway;
		c->hops[i].hops = nh->hop[i].hops;
		c->hops[i].iface = nh->refuses ? READ_ONCE(nn->loopback) :
						 net6_iface_find(nn, nh->hop[i].ifindex);
		if (!c->hops[i].iface)
			return -ENODEV;
	}
	return 0;
}

/**
 * net6_rt_nexthop_take() - the next hops of the object that a request names
 * @nn: namespace
 * @c: the request; gets them
 * @extack: where to say what is wrong
 *
 * Context: process, RTNL held. Return: 0 or -errno.
 */
int net6_rt_nexthop_take(struct net6_net *nn, struct net6_rt_change *c,
			 struct netlink_ext_ack *extack)
{
	struct net6_rt_nexthop *nh = xa_load(&net6_rt_nexthop_pernet(nn->net)->by_id, c->nexthop);
	struct nexthop *object = nexthop_find_by_id(nn->net, c->nexthop);
	int err;

	if (!nh || !object) {
		NL_SET_ERR_MSG(extack, "Nexthop id does not exist");
		return -EINVAL;
	}
	err = fib6_check_nexthop(object, NULL, extack);
	if (err)
		return err;
	if (nh->lacks) {
		NL_SET_ERR_MSG(extack,
			       "net6 has no resilient groups, 64 next hops and a weight of 256 at most");
		return -EOPNOTSUPP;
	}
	err = net6_rt_nexthop_copy(nn, nh, c);
	if (err == -ENODEV)
		NL_SET_ERR_MSG(extack, "net6 does not run on the device of a next hop");
	nh->used |= !err;
	return err;
}
