// SPDX-License-Identifier: GPL-2.0
/* Path MTU, RFC 8201: lowered by Packet Too Big messages, back to the link's after
 * settings.mtu_expires.
 */
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include "dest.h"
#include "ip.h"
#include "l3mdev.h"
#include "proto.h"

/**
 * net6_dest_mtu() - how large a packet may be
 * @dest: destination
 *
 * Context: RCU read lock held or a reference owned. Return: bytes, 1280 at least.
 */
u32 net6_dest_mtu(struct net6_dest *dest)
{
	unsigned long expires = READ_ONCE(dest->pmtu_expires);
	u32 link = max_t(u32, READ_ONCE(dest->iface->mtu), NET6_MIN_MTU);

	if (unlikely(expires) && time_after_eq(jiffies, expires)) {
		WRITE_ONCE(dest->pmtu_expires, 0);
		WRITE_ONCE(dest->pmtu, min(link, dest->route_mtu));
	}
	return min(READ_ONCE(dest->pmtu), link);
}

/**
 * net6_dest_advmss() - the segment size that TCP announces
 * @dest: where the peer is
 *
 * RFC 9293 MUST-67: what we can receive, not what the path carries; less if the route says so.
 * Context: a reference owned, or RCU read lock held. Return: bytes.
 */
u32 net6_dest_advmss(const struct net6_dest *dest)
{
	u32 mtu = min(READ_ONCE(dest->iface->mtu), dest->route_mtu);

	return dest->advmss ?: min_t(u32, mtu, 65535) - sizeof(struct ipv6hdr) -
			       sizeof(struct tcphdr);
}

/**
 * net6_dest_set_pmtu() - take in what a Packet Too Big message says
 * @dest: destination
 * @mtu: bytes
 *
 * Context: any.
 */
void net6_dest_set_pmtu(struct net6_dest *dest, u32 mtu)
{
	unsigned long timeout = READ_ONCE(dest->nn->settings.mtu_expires);
	unsigned long expires = jiffies + timeout * HZ;

	/* RFC 8201 section 4: a message with less than the minimum link MTU "MUST" be
	 * discarded; and "a node MUST NOT increase its estimate" on such a message.
	 */
	if (mtu < NET6_MIN_MTU || mtu >= net6_dest_mtu(dest))
		return;
	WRITE_ONCE(dest->pmtu, mtu);
	WRITE_ONCE(dest->pmtu_expires, expires ?: 1);
}

/* A message does not say by which way the packet went. */
static void net6_dest_ways_pmtu(struct net6_net *nn, const struct net6_dest *dest, u32 mtu)
{
	struct net6_dest_key key = dest->key;
	struct net6_dest *way;
	u32 i;

	for (i = 0; i < dest->spread->n; i++) {
		key.first_hop = dest->spread->hop[i].way;
		way = net6_dest_cached(nn, &key);
		if (way)
			net6_dest_set_pmtu(way, mtu);
	}
}

static void net6_dest_found_pmtu(struct net6_net *nn, const struct net6_dest_key *key, u32 mtu)
{
	struct net6_dest *dest = net6_dest_cached(nn, key);

	if (dest)
		net6_dest_set_pmtu(dest, mtu);
	if (dest && unlikely(dest->flags & NET6_DEST_SEVERAL))
		net6_dest_ways_pmtu(nn, dest, mtu);
}

/* Of senders that insist on an interface, or on none, and on a router, or on none. */
static void net6_dest_pmtu_by(struct net6_net *nn, const struct net6_icmp_error *err, int oif,
			      u64 rule)
{
	struct net6_dest_key key = { .daddr = *err->daddr, .oif = oif, .rule = rule };

	net6_dest_found_pmtu(nn, &key, err->info);
	key.first_hop = net6_dest_router(nn, err->saddr, oif);
	if (unlikely(key.first_hop))
		net6_dest_found_pmtu(nn, &key, err->info);
}

/* What the sender has asked rules: with its source, or before it had one. */
static noinline void net6_dest_pmtu_ruled(struct net6_net *nn, const struct net6_icmp_error *err,
					  const struct net6_flow *flow)
{
	const struct in6_addr *const sources[] = { err->saddr, &in6addr_any };
	const int oifs[] = { 0, err->ifindex, net6_l3mdev_of_ifindex(nn, err->ifindex) };
	struct net6_dest_key key = { .daddr = *err->daddr };
	struct flowi6 fl6;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		for (j = 0; j < ARRAY_SIZE(oifs); j++) {
			if (j && !oifs[j])
				continue;
			key.oif = oifs[j];
			net6_rules_ask(nn, &key, sources[i], flow, &fl6);
			net6_dest_pmtu_by(nn, err, key.oif, net6_rules_hash(nn, &fl6));
		}
	}
}

/**
 * net6_dest_update_pmtu() - a Packet Too Big message about a destination
 * @nn: namespace
 * @err: the message: source and destination of the packet that was too big
 * @flow: what else its sender has asked rules; NULL for nothing
 *
 * For senders that insist on the interface it came in on or on a router, and those that do not.
 * Makes no entry. Context: BH disabled, RCU read lock held.
 */
void net6_dest_update_pmtu(struct net6_net *nn, const struct net6_icmp_error *err,
			   const struct net6_flow *flow)
{
	if (net6_rules_on(nn)) {
		net6_dest_pmtu_ruled(nn, err, flow);
		return;
	}
	net6_dest_pmtu_by(nn, err, 0, 0);
	net6_dest_pmtu_by(nn, err, err->ifindex, 0);
}
