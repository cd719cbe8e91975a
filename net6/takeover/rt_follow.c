// SPDX-License-Identifier: GPL-2.0
/* Routes follow next hop objects: the kernel tells when one comes, changes or goes. The new way of
 * a route is there before the old one goes.
 */
#include <net/ip6_fib.h>
#include <net/netns/generic.h>
#include <net/nexthop.h>

#include "../core/spread.h"
#include "rt_nexthop.h"

/* A route that goes by the object at hand; it may go before it is looked at again. */
static int net6_rt_follow_goes_by(const struct net6_rt_route *route, void *arg)
{
	struct net6_rt_change *c = arg;

	if (route->attrs.nexthop != c->former)
		return 0;
	c->route = *route;
	c->dst = route->dst;
	c->plen = route->plen;
	c->lifetime = route->expires;
	c->attrs = route->attrs;
	c->attrs.table = route->table;
	c->attrs.metrics = net6_metrics_hold(route->attrs.metrics);
	c->attrs.source = net6_source_hold(route->attrs.source);
	return -EAGAIN;
}

/* Makes a route anew by the next hops of @nh, or removes it if that is NULL or cannot be. */
static int net6_rt_follow_move_one(struct net6_net *nn, struct net6_rt_change *c,
				   const struct net6_rt_nexthop *nh)
{
	struct net6_source *source = c->attrs.source;
	u32 i;

	if (!nh || net6_rt_nexthop_copy(nn, nh, c))
		c->n_hops = 0;
	for (i = 0; i < c->n_hops; i++)
		c->hops[i].source = net6_source_hold(source);
	return net6_rt_route_remake(nn, c);
}

static int net6_rt_follow_any(const struct net6_rt_route *route, void *arg)
{
	const struct net6_rt_nexthop *nh = arg;

	return route->attrs.nexthop == nh->handle;
}

/* Does a route still go by it? Of @used it is known only that one did. */
static bool net6_rt_follow_used(struct net *net, struct net6_rt_nexthop *nh)
{
	struct net6_rt_pos pos = {};

	if (nh->used)
		nh->used = net6_rt_routes_walk(net6_pernet(net), 0, &pos, net6_rt_follow_any, nh);
	return nh->used;
}

/* All routes by an object that is no more. RTNL keeps others from being added. */
static void net6_rt_follow_move(struct net *net, const struct net6_rt_nexthop *old,
				const struct net6_rt_nexthop *nh)
{
	struct net6_net *nn = net6_pernet(net);
	struct net6_rt_pos pos = {};
	struct net6_rt_change c;
	int err = -EAGAIN;

	while (err == -EAGAIN) {
		c = (struct net6_rt_change) { .former = old->handle };
		err = net6_rt_routes_walk(nn, 0, &pos, net6_rt_follow_goes_by, &c);
		if (err != -EAGAIN)
			break;
		if (net6_rt_follow_move_one(nn, &c, nh))
			err = 0;
		net6_metrics_put(c.attrs.metrics);
		net6_source_put(c.attrs.source);
		net6_rt_request_free(&c);
		cond_resched();
	}
}

static void net6_rt_follow_read(struct net6_rt_nexthop *nh, u32 i,
				const struct nh_notifier_single_info *info, u32 weight)
{
	struct net6_rt_nexthop_hop *hop = &nh->hop[i];

	if (info->gw_family == AF_INET6)
		hop->gateway = info->ipv6;
	hop->ifindex = info->dev ? info->dev->ifindex : 0;
	hop->hops = weight - 1;
	nh->refuses |= info->is_reject;
	nh->lacks |= info->gw_family == AF_INET || info->is_fdb || info->has_encap ||
		     weight > U8_MAX + 1;
}

static struct net6_rt_nexthop *net6_rt_follow_new(const struct nh_notifier_info *info)
{
	u32 i, n = info->type == NH_NOTIFIER_INFO_TYPE_SINGLE ? 1 :
		   info->type == NH_NOTIFIER_INFO_TYPE_GRP ? info->nh_grp->num_nh : 0;
	bool lacks = !n || n > NET6_SPREAD_MAX;
	struct net6_rt_nexthop *nh;

	nh = kzalloc(struct_size(nh, hop, lacks ? 0 : n), GFP_KERNEL_ACCOUNT);
	if (!nh)
		return NULL;
	nh->id = info->id;
	nh->lacks = lacks;
	nh->n = lacks ? 0 : n;
	if (nh->n && info->type == NH_NOTIFIER_INFO_TYPE_SINGLE)
		net6_rt_follow_read(nh, 0, info->nh, 1);
	else
		for (i = 0; i < nh->n; i++)
			net6_rt_follow_read(nh, i, &info->nh_grp->nh_entries[i].nh,
					    info->nh_grp->nh_entries[i].weight);
	return nh;
}

static void net6_rt_follow_gone(struct net6_rt_nexthop_net *pn, struct net6_rt_nexthop *old,
				struct net6_rt_nexthop *nh)
{
	if (!old)
		return;
	if (old->used)
		net6_rt_follow_move(pn->net, old, nh);
	if (nh)
		nh->used = old->used;
	xa_erase(&pn->by_handle, old->handle);
	kfree_rcu(old, rcu);
}

/* A new one, or another one in place of that of its number. */
static int net6_rt_follow_replace(struct net6_rt_nexthop_net *pn,
				  const struct nh_notifier_info *info)
{
	struct net6_rt_nexthop *old = xa_load(&pn->by_id, info->id);
	struct net6_rt_nexthop *nh = net6_rt_follow_new(info);
	int err;

	if (!nh)
		return -ENOMEM;
	err = -EINVAL;
	if (old && nh->lacks && net6_rt_follow_used(pn->net, old)) {
		NL_SET_ERR_MSG(info->extack, "IPv6 routes go by it, and cannot go by the new one");
		goto free;
	}
	err = xa_alloc_cyclic(&pn->by_handle, &nh->handle, nh, xa_limit_32b, &pn->last,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0)
		goto free;
	err = xa_err(xa_store(&pn->by_id, nh->id, nh, GFP_KERNEL_ACCOUNT));
	if (err) {
		xa_erase(&pn->by_handle, nh->handle);
		goto free;
	}
	net6_rt_follow_gone(pn, old, nh);
	return 0;

free:
	kfree(nh);
	return err;
}

/* RTNL held. */
static int net6_rt_follow_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net6_rt_nexthop_net *pn = container_of(nb, struct net6_rt_nexthop_net, nb);
	const struct nh_notifier_info *info = ptr;

	switch (event) {
	case NEXTHOP_EVENT_REPLACE:
		return notifier_from_errno(net6_rt_follow_replace(pn, info));
	case NEXTHOP_EVENT_DEL:
		net6_rt_follow_gone(pn, xa_erase(&pn->by_id, info->id), NULL);
		return NOTIFY_OK;
	default:
		return NOTIFY_DONE;
	}
}

static int __net_init net6_rt_follow_net_init(struct net *net)
{
	struct net6_rt_nexthop_net *pn = net6_rt_nexthop_pernet(net);
	struct net6_rt_nexthop *nh;
	unsigned long handle;
	int err;

	pn->net = net;
	pn->nb.notifier_call = net6_rt_follow_event;
	xa_init(&pn->by_id);
	xa_init_flags(&pn->by_handle, XA_FLAGS_ALLOC1);
	err = register_nexthop_notifier(net, &pn->nb, NULL);
	if (!err)
		return 0;
	/* Those that were told before there was no memory. */
	xa_for_each(&pn->by_handle, handle, nh)
		kfree(nh);
	xa_destroy(&pn->by_id);
	xa_destroy(&pn->by_handle);
	return err;
}

static void __net_exit net6_rt_follow_net_exit(struct net *net)
{
	struct net6_rt_nexthop_net *pn = net6_rt_nexthop_pernet(net);

	/* That says of each that it goes. */
	unregister_nexthop_notifier(net, &pn->nb);
	xa_destroy(&pn->by_id);
	xa_destroy(&pn->by_handle);
}

static struct pernet_operations net6_rt_follow_net_ops = {
	.init	= net6_rt_follow_net_init,
	.exit	= net6_rt_follow_net_exit,
	.id	= &net6_rt_nexthop_net_id,
	.size	= sizeof(struct net6_rt_nexthop_net),
};

/**
 * net6_rt_follow_init() - follow the objects of all namespaces
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_rt_follow_init(void)
{
	return register_pernet_subsys(&net6_rt_follow_net_ops);
}

/**
 * net6_rt_follow_exit() - follow them no more
 *
 * Context: process, sleeps.
 */
void net6_rt_follow_exit(void)
{
	unregister_pernet_subsys(&net6_rt_follow_net_ops);
}
