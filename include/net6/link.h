/* SPDX-License-Identifier: GPL-2.0 */
/* The contract between the IPv6 core and a link layer: a structure of facts and
 * six entry points. Nothing here knows the core's tables; the core knows no link
 * by name.
 */
#ifndef _NET6_LINK_H
#define _NET6_LINK_H

#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

struct net6_iface;

#define NET6_LINK_MULTICAST	BIT(0)	/* groups can be sent to and joined */
#define NET6_LINK_ND		BIT(1)	/* address resolution and DAD are run */
#define NET6_LINK_LOOPBACK	BIT(2)	/* what is sent comes back up here */
#define NET6_LINK_POINTOPOINT	BIT(3)	/* one neighbor at most */

/* Longest link-layer header that a neighbor may cache, in bytes. */
#define NET6_LINK_HEADER_MAX	16

/**
 * struct net6_link_ops - one kind of link layer
 * @name: short name shown to operators, e.g. "ethernet"
 * @owner: module that is pinned while an interface of this kind exists; NULL for the
 *	links that are part of net6
 * @flags: NET6_LINK_*
 * @addr_len: length of a link-layer address in bytes, 0 if the link has none
 * @header_len: bytes that @send or a cached header put in front of IPv6
 * @send: transmit @skb (data at the IPv6 header) to @lladdr; consumes the skb.
 *	Returns 0 or a negative errno (the skb is gone in either case).
 *	Context: BH disabled or softirq, RCU read lock held; must not sleep.
 * @set_multicast: start (@join) or stop receiving the link-layer group address;
 *	counted by the link. Context: any, must not sleep. Returns 0 or -errno.
 * @make_iid: fill in the interface's modified EUI-64 identifier (RFC 4291 2.5.1);
 *	the core derives its RFC 7217 identifiers from it as Net_Iface.
 * @map_multicast: link-layer address of an IPv6 group (RFC 2464 7 for Ethernet)
 * @read_lladdr_option: take the address out of a Source/Target Link-Layer Address
 *	option body. @len is the body's length in bytes (option length times 8,
 *	minus 2). Returns 0 or -EINVAL when the length is not this link's.
 * @write_lladdr_option: write the option (type @type) for @lladdr to @buf, which
 *	has room for 8 + NET6_LINK_HEADER_MAX bytes; returns its length in bytes, a
 *	multiple of 8.
 * @fill_header: write the complete link header for IPv6 to @lladdr into @header
 *	(@header_len bytes), so that a neighbor can cache it; NULL if the header
 *	is not constant per neighbor, then @send is used for each packet.
 */
struct net6_link_ops {
	const char	*name;
	struct module	*owner;
	u32		flags;
	u8		addr_len;
	u8		header_len;
	int	(*send)(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr);
	int	(*set_multicast)(struct net6_iface *iface, const u8 *maddr, bool join);
	void	(*make_iid)(const struct net6_iface *iface, u8 iid[8]);
	void	(*map_multicast)(const struct in6_addr *group, u8 *lladdr);
	int	(*read_lladdr_option)(const u8 *body, unsigned int len, u8 *lladdr);
	unsigned int (*write_lladdr_option)(u8 type, const u8 *lladdr, u8 *buf);
	void	(*fill_header)(const struct net6_iface *iface, const u8 *lladdr, u8 *header);
};

/**
 * net6_rcv() - hand a received IPv6 packet to the core
 * @iface: interface it came in on; valid for the RCU section of the caller
 * @skb: not shared, data at the IPv6 header, skb->dev set; consumed
 *
 * Context: softirq (BH disabled), RCU read lock held.
 */
void net6_rcv(struct net6_iface *iface, struct sk_buff *skb);

#endif /* _NET6_LINK_H */
