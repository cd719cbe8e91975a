/* SPDX-License-Identifier: GPL-2.0 */
/* The contract between the IPv6 core and a link layer: a structure of facts and
 * entry points. Nothing here knows the core's tables; the core knows no link by name.
 * Another module brings its own link with net6_link_register();
 * Documentation/link-layer.rst shows how.
 */
#ifndef _NET6_LINK_H
#define _NET6_LINK_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

struct net6_iface;

#define NET6_LINK_MULTICAST	BIT(0)	/* groups can be sent to and joined */
#define NET6_LINK_ND		BIT(1)	/* address resolution and DAD are run */
#define NET6_LINK_LOOPBACK	BIT(2)	/* what is sent comes back up here */
#define NET6_LINK_POINTOPOINT	BIT(3)	/* one neighbor: nothing is forwarded back to it
					 * that is on-link (RFC 4443 3.1)
					 */
#define NET6_LINK_OWN		BIT(4)	/* the device carries IPv6 for net6 only: all that
					 * it receives is taken, native IPv6 is kept off it
					 */
#define NET6_LINK_DIRECT	BIT(5)	/* as OWN, but the link calls net6_rcv() itself:
					 * no hook is set on the device
					 */
#define NET6_LINK_FIXED_IID	BIT(6)	/* make_iid()'s identifier is the address's, unless
					 * it is found to be a duplicate (RFC 2529 section 5)
					 */
#define NET6_LINK_RAW		BIT(7)	/* no addresses, and the device is others' too: routers
					 * are believed without ND, and make_iid()'s identifier
					 * is a seed only
					 */
#define NET6_LINK_ARRANGED	BIT(8)	/* who sets the link up gives it its link-local
					 * address: addr_gen_mode is "none" at first
					 */
#define NET6_LINK_TRANSIT	BIT(9)	/* what comes up here is on its way to others: the
					 * interface is a router's, until forwarding is set
					 */

/* Longest link-layer header that a neighbor may cache, in bytes. */
#define NET6_LINK_HEADER_MAX	16

/**
 * struct net6_link_ops - one kind of link layer
 * @name: short name shown to operators, e.g. "ethernet"
 * @owner: module that is pinned while an interface of this kind exists, so that rmmod says "in
 *	use" and takes no links away. NULL for the links that are part of net6, and for modules
 *	that want to go with interfaces up. Their exit function calls net6_link_unregister() first
 * @flags: NET6_LINK_*
 * @addr_len: length of a link-layer address in bytes, 0 if the link has none
 * @header_len: bytes that @send or a cached header put in front of IPv6
 * @send: transmit @skb (data at the IPv6 header) to @lladdr, which is undefined if @addr_len is 0;
 *	consumes the skb.
 *	Returns 0 or a negative errno (the skb is gone in either case).
 *	Context: BH disabled or softirq, RCU read lock held; must not sleep.
 * @set_multicast: start (@join) or stop receiving the link-layer group address;
 *	counted by the link. Context: any, must not sleep. Returns 0 or -errno.
 * @make_iid: fill in the interface's modified EUI-64 identifier (RFC 4291 2.5.1);
 *	the core derives its RFC 7217 identifiers from it as Net_Iface.
 * @map_multicast: link-layer address of an IPv6 group (RFC 2464 7 for Ethernet)
 * @map_unicast: link-layer address of a next hop on a link without NET6_LINK_ND; may
 *	be NULL there if the link has no addresses. Asked again after NETDEV_CHANGEADDR
 * @started: packets flow from now on; may be NULL. Context: process, RTNL held
 * @read_lladdr_option: take the address out of a Source/Target Link-Layer Address
 *	option body. @len is the body's length in bytes (option length times 8,
 *	minus 2). Returns 0 or -EINVAL when the length is not this link's.
 * @write_lladdr_option: write the option (type @type) for @lladdr to @buf, which
 *	has room for 8 + NET6_LINK_HEADER_MAX bytes; returns its length in bytes, a
 *	multiple of 8.
 * @fill_header: write the complete link header for IPv6 to @lladdr into @header (@header_len
 *	bytes), so that a neighbor can cache it. NULL if the header is not constant per neighbor:
 *	then @send is used for each packet.
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
	void	(*map_multicast)(const struct net6_iface *iface, const struct in6_addr *group,
				 u8 *lladdr);
	void	(*map_unicast)(const struct net6_iface *iface, const struct in6_addr *addr,
			       u8 *lladdr);
	void	(*started)(struct net6_iface *iface);
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

/**
 * net6_link_xmit() - give a packet with its link header to the device
 * @skb: data at the link header; consumed
 *
 * Context: BH disabled, RCU read lock held.
 * Return: 0, NET_XMIT_CN (the device's queue is congested: this packet or another has been
 * dropped), or -ENOBUFS (this one has).
 */
static inline int net6_link_xmit(struct sk_buff *skb)
{
	int err = dev_queue_xmit(skb);

	return likely(!err) || err == NET_XMIT_CN ? err : -ENOBUFS;
}

/**
 * net6_link_no_memory() - a packet goes no further: there is no memory for its header
 * @iface: interface that it was to leave by
 * @skb: consumed, and counted as dropped
 *
 * Context: any.
 */
void net6_link_no_memory(struct net6_iface *iface, struct sk_buff *skb);

/**
 * struct net6_link_type - a link layer that a module brings
 * @ops: how it works; constant while registered
 * @match: is @dev one of this type's? Context: RTNL held
 * @list: ours
 */
struct net6_link_type {
	const struct net6_link_ops	*ops;
	bool	(*match)(const struct net_device *dev);
	struct list_head		list;
};

/**
 * net6_link_register() - bring a link layer
 * @type: stays the caller's, until net6_link_unregister() has returned
 *
 * Devices that it matches, those there are and those that come, get an IPv6 interface.
 * The first type that matches a device wins; registered ones come before Ethernet.
 *
 * Context: process, RTNL not held; sleeps.
 * Return: 0, -EINVAL (facts or entry points that contradict each other or are missing).
 */
int net6_link_register(struct net6_link_type *type);

/**
 * net6_link_unregister() - take a link layer away
 * @type: was registered
 *
 * Its interfaces are detached, whatever traffic there is. When this returns nobody is
 * in an entry point and nobody will be.
 * Context: process, RTNL not held; sleeps.
 */
void net6_link_unregister(struct net6_link_type *type);

/**
 * net6_link_iface() - the interface of a device
 * @dev: device
 *
 * Context: RCU read lock or RTNL held. Return: borrowed interface; NULL if it has none.
 */
struct net6_iface *net6_link_iface(const struct net_device *dev);

/* Facts of an interface: its device, and its own link-layer address. */
struct net_device *net6_link_dev(const struct net6_iface *iface);
const u8 *net6_link_addr(const struct net6_iface *iface);

/**
 * net6_link_too_big() - tell the sender of a packet that it does not fit the path
 * @iface: interface that it was to leave by
 * @skb: the packet, network header set, of ours; not consumed, not changed
 * @mtu: bytes of IPv6 packet that fit
 *
 * The sender learns it as by a Packet Too Big message (RFC 8201).
 * Context: BH disabled, RCU read lock held.
 */
void net6_link_too_big(struct net6_iface *iface, struct sk_buff *skb, u32 mtu);

/**
 * net6_link_unreachable() - tell the sender of a packet that the link cannot deliver it
 * @iface: interface that it was to leave by
 * @skb: as for net6_link_too_big()
 *
 * As by a Destination Unreachable message, code 3 (RFC 4443 3.1).
 * Context: BH disabled, RCU read lock held.
 */
void net6_link_unreachable(struct net6_iface *iface, struct sk_buff *skb);

/**
 * net6_link_problem() - tell the sender of a packet that a field of it is wrong
 * @iface: interface that it was to leave by
 * @skb: as for net6_link_too_big()
 * @pointer: offset of the field from the IPv6 header on
 *
 * As by a Parameter Problem message, code 0 (RFC 4443 3.4).
 * Context: BH disabled, RCU read lock held.
 */
void net6_link_problem(struct net6_iface *iface, struct sk_buff *skb, u32 pointer);

#endif /* _NET6_LINK_H */
