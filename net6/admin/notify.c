// SPDX-License-Identifier: GPL-2.0
/* Notifications to the monitor group and, in takeover mode, to rtnetlink's groups.
 * Nothing is built when nobody listens; a message that finds no memory is lost, and
 * listeners learn of it as of an overrun.
 */
#include <linux/ipv6.h>

#include "../core/pref64.h"
#include "../observe/note.h"
#include "admin.h"
#include "nl.h"
#include "../takeover/rt.h"

static bool net6_nl_heard(const struct net6_net *nn)
{
	return genl_has_listeners(&net6_nl_family, nn->net, NET6_NL_GROUP_MONITOR);
}

static void net6_nl_notify(const struct net6_net *nn, u8 cmd, int event_attr,
			   enum net6_note_event event,
			   int (*put)(struct sk_buff *skb, const void *item), const void *item)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_ATOMIC);
	void *hdr;

	BUILD_BUG_ON(NET6_NOTE_NEW != (int)NET6_EVENT_NEW);
	BUILD_BUG_ON(NET6_NOTE_DEL != (int)NET6_EVENT_DEL);

	if (!msg) {
		genl_set_err(&net6_nl_family, nn->net, 0, NET6_NL_GROUP_MONITOR, ENOBUFS);
		return;
	}
	hdr = net6_nl_put_header(msg, 0, 0, 0, cmd);
	if (!hdr || (event_attr && nla_put_u32(msg, event_attr, event)) || put(msg, item)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&net6_nl_family, nn->net, msg, 0, NET6_NL_GROUP_MONITOR,
				GFP_ATOMIC);
}

static void net6_nl_note_addr(const struct net6_addr *addr, enum net6_note_event event)
	__must_hold(&addr->iface->nn->lock)
{
	struct net6_nl_addr item = {};

	if (!ipv6_mod_enabled())
		net6_rt_note_addr(addr, event);
	if (!net6_nl_heard(addr->iface->nn))
		return;
	net6_nl_addr_fill(&item, addr);
	net6_nl_notify(addr->iface->nn, NET6_CMD_ADDR_NTF, NET6_A_ADDR_EVENT, event,
		       net6_nl_addr_put, &item);
}

static void net6_nl_note_neigh(const struct net6_neigh *neigh, enum net6_note_event event)
	__must_hold(&neigh->lock)
{
	struct net6_nl_neigh item = {};

	if (!ipv6_mod_enabled())
		net6_rt_note_neigh(neigh, event);
	if (!net6_nl_heard(neigh->iface->nn))
		return;
	net6_nl_neigh_fill(&item, neigh);
	net6_nl_notify(neigh->iface->nn, NET6_CMD_NEIGH_NTF, NET6_A_NEIGH_EVENT, event,
		       net6_nl_neigh_put, &item);
}

static void net6_nl_note_router(const struct net6_router *router, enum net6_note_event event)
	__must_hold(&router->iface->nn->lock)
{
	struct net6_nl_router item = {};

	if (!ipv6_mod_enabled())
		net6_rt_note_router(router, event);
	if (!net6_nl_heard(router->iface->nn))
		return;
	net6_nl_router_fill(&item, router);
	net6_nl_notify(router->iface->nn, NET6_CMD_ROUTER_NTF, NET6_A_ROUTER_EVENT, event,
		       net6_nl_router_put, &item);
}

static void net6_nl_note_prefix(const struct net6_prefix *prefix, enum net6_note_event event)
	__must_hold(&prefix->iface->nn->lock)
{
	struct net6_nl_prefix item = {};

	if (!ipv6_mod_enabled())
		net6_rt_note_prefix(prefix, event);
	if (!net6_nl_heard(prefix->iface->nn))
		return;
	net6_nl_prefix_fill(&item, prefix);
	net6_nl_notify(prefix->iface->nn, NET6_CMD_PREFIX_NTF, NET6_A_PREFIX_EVENT, event,
		       net6_nl_prefix_put, &item);
}

static void net6_nl_note_route(const struct net6_fib_route *route, enum net6_note_event event)
	__must_hold(&route->iface->nn->lock)
{
	struct net6_nl_route item = {};

	if (!ipv6_mod_enabled())
		net6_rt_note_fib(route, event);
	if (!net6_nl_heard(route->iface->nn))
		return;
	net6_nl_route_fill(&item, route);
	net6_nl_notify(route->iface->nn, NET6_CMD_ROUTE_NTF, NET6_A_ROUTE_EVENT, event,
		       net6_nl_route_put, &item);
}

static void net6_nl_note_pref64(const struct net6_pref64 *pref64, enum net6_note_event event)
	__must_hold(&pref64->iface->nn->lock)
{
	struct net6_nl_pref64 item = {};

	if (!net6_nl_heard(pref64->iface->nn))
		return;
	net6_nl_pref64_fill(&item, pref64);
	net6_nl_notify(pref64->iface->nn, NET6_CMD_PREF64_NTF, NET6_A_PREF64_EVENT, event,
		       net6_nl_pref64_put, &item);
}

static int net6_nl_dns_put(struct sk_buff *skb, const void *item)
{
	const struct net6_dns *dns = item;

	if (nla_put_u32(skb, NET6_A_DNS_IFINDEX, dns->iface->ifindex) ||
	    nla_put_in6_addr(skb, NET6_A_DNS_ROUTER, &dns->router) ||
	    nla_put_u32(skb, NET6_A_DNS_LIFETIME, dns->lifetime) ||
	    nla_put(skb, dns->search ? NET6_A_DNS_SEARCH : NET6_A_DNS_SERVERS, dns->len, dns->data))
		return -EMSGSIZE;
	return 0;
}

static void net6_nl_note_dns(const struct net6_dns *dns)
{
	if (net6_nl_heard(dns->iface->nn))
		net6_nl_notify(dns->iface->nn, NET6_CMD_DNS_NTF, 0, 0, net6_nl_dns_put, dns);
}

static void net6_nl_note_ra_flags(const struct net6_iface *iface)
{
	if (!ipv6_mod_enabled())
		net6_rt_note_ra_flags(iface);
}

static void net6_nl_note_ra_option(const struct net6_iface *iface, const struct in6_addr *router,
				   const struct net6_nd_opt *opt)
{
	if (!ipv6_mod_enabled())
		net6_rt_note_ra_option(iface, router, opt);
}

static const struct net6_note_ops net6_nl_note_ops = {
	.addr	= net6_nl_note_addr,
	.neigh	= net6_nl_note_neigh,
	.router	= net6_nl_note_router,
	.prefix	= net6_nl_note_prefix,
	.route	= net6_nl_note_route,
	.pref64	= net6_nl_note_pref64,
	.dns	= net6_nl_note_dns,
	.ra_flags = net6_nl_note_ra_flags,
	.ra_option = net6_nl_note_ra_option,
};

/**
 * net6_notify_init() - send notifications from now on
 *
 * Context: process; the family is registered. Return: 0.
 */
int net6_notify_init(void)
{
	net6_note_register(&net6_nl_note_ops);
	return 0;
}

/**
 * net6_notify_exit() - send no more; none is being sent when it returns
 *
 * Context: process, sleeps; the family is still registered.
 */
void net6_notify_exit(void)
{
	net6_note_unregister();
}
