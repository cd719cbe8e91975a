/* SPDX-License-Identifier: GPL-2.0 */
/* ICMPv6 (RFC 4443): errors that we send, errors that we hand to transports, and
 * how Neighbor Discovery sends its messages.
 */
#ifndef _NET6_ICMP_H
#define _NET6_ICMP_H

#include <linux/icmpv6.h>

#include "ip.h"

/**
 * net6_icmp_send() - answer a received packet with an ICMPv6 error
 * @skb: the offending packet, network header set; not consumed, not changed
 * @type: ICMPV6_DEST_UNREACH, ...
 * @code: code
 * @info: MTU or pointer, host byte order
 *
 * Obeys RFC 4443 2.4 (e) and (f): never about errors, multicast (with the two
 * exceptions), unspecified sources; rate-limited per destination and namespace.
 * Context: softirq or BH disabled, RCU read lock held.
 */
void net6_icmp_send(struct sk_buff *skb, u8 type, u8 code, u32 info);

/**
 * net6_icmp_xmit() - send an ICMPv6 message that ND has written
 * @iface: outgoing interface
 * @skb: data at the ICMPv6 header (checksum 0), NET6_HEADROOM in front; consumed
 * @saddr: source, possibly ::
 * @daddr: destination
 * @hop_limit: 255 for ND
 * @lladdr: link-layer destination if it is to go there without resolution, or NULL
 *	for the ordinary way (multicast is mapped, unicast through the neighbor)
 *
 * Context: any with BH disabled, RCU read lock held.
 */
void net6_icmp_xmit(struct net6_iface *iface, struct sk_buff *skb, const struct in6_addr *saddr,
		    const struct in6_addr *daddr, u8 hop_limit, const u8 *lladdr);

/* As above with hop limit 1 and a Router Alert option in front, to a group: MLD. */
#define NET6_ICMP_ALERT_LEN	8
void net6_icmp_xmit_alert(struct net6_iface *iface, struct sk_buff *skb,
			  const struct in6_addr *saddr, const struct in6_addr *daddr);

void net6_icmp_output(struct sk_buff *skb, struct net6_dest *dest, const struct in6_addr *saddr,
		      const struct in6_addr *daddr, u8 tclass, bool checksum);
bool net6_icmp_allowed(struct net6_net *nn, struct net6_dest *dest);
struct net6_dest *net6_icmp_reply_dest(struct net6_net *nn, int ifindex,
				       const struct in6_addr *saddr,
				       const struct in6_addr *daddr);

/* What rules are asked for messages of ours; NULL where there are none. */
const struct net6_flow *net6_icmp_flow(const struct net6_net *nn);

struct sk_buff *net6_icmp_alloc(unsigned int len);	/* room for headers in front */

/* ND registers its five message types; a second registration of a type is a bug. */
typedef void (*net6_icmp_handler)(struct net6_iface *iface, struct sk_buff *skb);
void net6_icmp_handle(u8 type, net6_icmp_handler handler);	/* NULL to remove; init only */

/* Echo sockets, transport/ping.c, register ICMPV6_ECHO_REPLY with the above. The skb has its data
 * at the ICMPv6 header, and a checksum that was verified; it is consumed. Here they register the
 * handler of errors about echo requests of ours. It is called as net6_proto.error is; NULL to
 * remove.
 */
struct net6_icmp_error;
typedef void (*net6_icmp_error_handler)(struct sk_buff *skb, const struct net6_icmp_error *err);
void net6_icmp_handle_error(net6_icmp_error_handler handler);

int net6_icmp_net_init(struct net6_net *nn);
void net6_icmp_net_exit(struct net6_net *nn);
int net6_icmp_init(void);
void net6_icmp_exit(void);

#endif /* _NET6_ICMP_H */
