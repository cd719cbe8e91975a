// SPDX-License-Identifier: GPL-2.0
/* Next-hop determination, RFC 4861 section 5.2: ourselves, then on-link prefixes, then
 * default routers. A destination without any of them is not taken to be on-link (RFC
 * 5942 section 3).
 */
#include <net/ipv6.h>

#include "addr.h"
#include "dest.h"
#include "nd.h"

static int net6_route_direct(struct net6_iface *iface, const struct in6_addr *daddr, u32 flags,
			     struct net6_nexthop *nh)
{
	if (!iface)
		return -ENODEV;
	if (!net6_iface_usable(iface))
		return -ENETDOWN;
	nh->iface = iface;
	nh->addr = *daddr;
	nh->flags = flags;
	return nh->flags;
}

static int net6_route_multicast(struct net6_net *nn, const struct in6_addr *daddr,
				struct net6_iface *iface, struct net6_nexthop *nh)
{
	struct net6_router *router;

	if (!iface && IPV6_ADDR_MC_SCOPE(daddr) <= IPV6_ADDR_SCOPE_LINKLOCAL)
		return -EINVAL;
	/* A wider scope's packets start where those of the same scope would leave. */
	if (!iface) {
		router = net6_router_select(nn, 0);
		if (!router)
			return -ENETUNREACH;
		iface = router->iface;
	}
	return net6_route_direct(iface, daddr, NET6_DEST_MULTICAST, nh);
}

/* An address of ours; a link-local one only with the interface that it is on. */
static bool net6_route_own(struct net6_net *nn, const struct in6_addr *daddr,
			   const struct net6_iface *iface)
{
	const struct net6_accept *accept;

	if (!iface && (ipv6_addr_type(daddr) & IPV6_ADDR_LINKLOCAL))
		return false;
	accept = net6_accept_find(nn, daddr, iface);
	return accept && accept->type != NET6_ACCEPT_MULTICAST;
}

int net6_route_nexthop(struct net6_net *nn, const struct in6_addr *daddr, int oif,
		       struct net6_nexthop *nh)
{
	struct net6_iface *iface = oif ? net6_iface_find(nn, oif) : NULL;
	int type = ipv6_addr_type(daddr);
	struct net6_prefix *prefix;
	struct net6_router *router;

	if (oif && !iface)
		return -ENODEV;
	if (type == IPV6_ADDR_ANY || (type & IPV6_ADDR_MAPPED))
		return -ENETUNREACH;
	if (type & IPV6_ADDR_MULTICAST)
		return net6_route_multicast(nn, daddr, iface, nh);
	if (net6_route_own(nn, daddr, iface))
		return net6_route_direct(nn->loopback, daddr, NET6_DEST_LOCAL, nh);
	if (type & IPV6_ADDR_LOOPBACK)
		return -EADDRNOTAVAIL;
	if (type & IPV6_ADDR_LINKLOCAL)
		return iface ? net6_route_direct(iface, daddr, NET6_DEST_ONLINK, nh) : -EINVAL;

	prefix = net6_prefix_match(nn, daddr, oif);
	if (prefix)
		return net6_route_direct(prefix->iface, daddr, NET6_DEST_ONLINK, nh);
	router = net6_router_select(nn, oif);
	if (router)
		return net6_route_direct(router->iface, &router->addr, 0, nh);
	return -ENETUNREACH;
}
