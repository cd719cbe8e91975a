// SPDX-License-Identifier: GPL-2.0
/* Path MTU, RFC 8201: lowered by Packet Too Big messages, back to the link's after
 * settings.mtu_expires.
 */
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include "dest.h"
#include "ip.h"

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
