// SPDX-License-Identifier: GPL-2.0
/* Initial sequence numbers (RFC 6528) and timestamp offsets (RFC 7323 section 5.4). One keyed
 * hash of the connection's name gives both. So the offset differs between connections of a pair
 * of hosts, but not between incarnations of one connection. RFC 6191 and PAWS need that.
 */
#include <linux/siphash.h>
#include <linux/ktime.h>

#include "conn.h"

/**
 * net6_tcp_isn() - initial sequence number of a connection
 * @nn: namespace
 * @saddr: our address
 * @daddr: the peer's
 * @sport: our port, network order
 * @dport: the peer's
 * @ts_offset: filled with what is added to our timestamps
 *
 * RFC 6528 section 3: ISN = M + F(localip, localport, remoteip, remoteport, secret). M
 * ticks every 64 ns: it wraps in 274 s, which is more than two MSL.
 * Context: any.
 * Return: the number.
 */
u32 net6_tcp_isn(const struct net6_net *nn, const struct in6_addr *saddr,
		 const struct in6_addr *daddr, __be16 sport, __be16 dport, u32 *ts_offset)
{
	/* 36 octets: with the length that siphash adds, one word less than 40. */
	const struct {
		struct in6_addr	saddr;
		struct in6_addr	daddr;
		__be16		ports[2];
	} __packed __aligned(SIPHASH_ALIGNMENT) in = {
		.saddr	= *saddr,
		.daddr	= *daddr,
		.ports	= { sport, dport },
	};
	u64 hash = siphash(&in, offsetofend(typeof(in), ports), &nn->secret);

	*ts_offset = hash >> 32;
	return (u32)hash + (u32)(ktime_get_ns() >> 6);
}
