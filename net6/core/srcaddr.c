// SPDX-License-Identifier: GPL-2.0
/* Source address selection, RFC 6724 sections 4 and 5. Candidates are the unicast addresses of
 * the outgoing interface. If it has none of the destination's wider scope, those of the other
 * interfaces are, too: of the same VRF, or of none.
 */
#include <net/ipv6.h>

#include "nd.h"
#include "policy.h"

/* Candidates of one interface; true if *best was changed. */
static bool net6_srcaddr_better(const struct net6_iface *iface, const struct net6_iface *out,
				const struct in6_addr *hop, const struct net6_srcaddr_want *want,
				unsigned int prefs, bool found, struct net6_srcaddr *best)
{
	/* RFC 5014 section 6: a program's word outweighs the configuration. */
	bool temporary = prefs ? prefs & IPV6_PREFER_SRC_TMP :
				 READ_ONCE(iface->use_tempaddr) > 1;
	bool use_optimistic = net6_conf(iface, NET6_PARAM_USE_OPTIMISTIC);
	const struct net6_addr *addr;

	list_for_each_entry_rcu(addr, &iface->addrs, iface_list) {
		u8 state = READ_ONCE(addr->state);
		bool optimistic = state == NET6_ADDR_OPTIMISTIC;
		/* RFC 4429 3.1: optimistic addresses are treated as deprecated ones */
		struct net6_srcaddr candidate = {
			.addr		= addr->addr,
			.plen		= addr->plen,
			.deprecated	= optimistic ? !use_optimistic :
							state != NET6_ADDR_PREFERRED,
			.optimistic	= optimistic,
			.outgoing	= iface == out,
			.privacy	= (addr->origin == NET6_ADDR_TEMPORARY) == temporary,
		};

		if (!net6_addr_is_assigned(addr))
			continue;
		if (hop)
			candidate.told = net6_first_hop_of(out, hop, &addr->addr);
		net6_srcaddr_judge(&candidate, want);
		if (!found || net6_srcaddr_cmp(&candidate, best, want) > 0)
			*best = candidate;
		found = true;
	}
	return found;
}

/**
 * net6_srcaddr_on() - the best of an interface's own addresses for a destination
 * @out: interface the packet leaves by
 * @daddr: destination on that link
 * @saddr: filled in
 *
 * For what speaks of the interface itself. Context: RCU read lock held.
 * Return: 0 or -EADDRNOTAVAIL.
 */
int net6_srcaddr_on(const struct net6_iface *out, const struct in6_addr *daddr,
		    struct in6_addr *saddr)
{
	struct net6_srcaddr_want want;
	struct net6_srcaddr best;

	net6_srcaddr_want(&want, daddr, net6_policy(out->nn));
	if (!net6_srcaddr_better(out, out, NULL, &want, 0, false, &best))
		return -EADDRNOTAVAIL;
	*saddr = best.addr;
	return 0;
}

/**
 * net6_srcaddr_select() - the source address for a destination
 * @nn: namespace
 * @out: interface the packet leaves by
 * @hop: next hop, NULL if that is the destination
 * @daddr: destination
 * @prefs: IPV6_PREFER_SRC_TMP or IPV6_PREFER_SRC_PUBLIC, 0: as the interfaces have it
 * @saddr: filled in
 *
 * Context: RCU read lock held. Return: 0 or -EADDRNOTAVAIL.
 */
int net6_srcaddr_select(struct net6_net *nn, const struct net6_iface *out,
			const struct in6_addr *hop, const struct in6_addr *daddr,
			unsigned int prefs, struct in6_addr *saddr)
{
	struct net6_srcaddr_want want;
	const struct net6_iface *iface;
	struct net6_srcaddr best;
	bool found;

	if (READ_ONCE(nn->n_routers) < 2)
		hop = NULL;
	net6_srcaddr_want(&want, daddr, net6_policy(nn));
	found = net6_srcaddr_better(out, out, hop, &want, prefs, false, &best);
	/* RFC 6724 section 4: for multicast and link-local destinations the candidates
	 * "MUST only include addresses assigned to interfaces belonging to the same link".
	 */
	if (want.scope > IPV6_ADDR_SCOPE_LINKLOCAL && !ipv6_addr_is_multicast(daddr) &&
	    (!found || best.scope < want.scope)) {
		list_for_each_entry_rcu(iface, &nn->ifaces, list)
			if (iface != out && net6_iface_table(iface) == net6_iface_table(out))
				found = net6_srcaddr_better(iface, out, hop, &want, prefs, found,
							    &best);
	}
	/* ::1 is no source for what leaves the node (RFC 4291 2.5.3). */
	if (!found || (ipv6_addr_loopback(&best.addr) && !net6_iface_is_loopback(out)))
		return -EADDRNOTAVAIL;
	*saddr = best.addr;
	return 0;
}
