// SPDX-License-Identifier: GPL-2.0
/* IPv6 over Ethernet, RFC 2464: and over everything that Linux shows as Ethernet
 * (VLAN, bridge, bond, macvlan, veth, tap). 48-bit addresses only.
 */
#include <linux/etherdevice.h>
#include <linux/icmpv6.h>
#include <linux/if_arp.h>

#include "ethernet.h"

/* Address option with type and length, RFC 2464 section 6. */
#define NET6_ETHERNET_OPTION_LEN	8

bool net6_ethernet_match(const struct net_device *dev)
{
	return dev->type == ARPHRD_ETHER && dev->addr_len == ETH_ALEN;
}

static void net6_ethernet_fill_header(const struct net6_iface *iface, const u8 *lladdr, u8 *header)
{
	struct ethhdr *eth = (struct ethhdr *)header;

	memcpy(eth->h_dest, lladdr, ETH_ALEN);
	memcpy(eth->h_source, net6_link_addr(iface), ETH_ALEN);
	eth->h_proto = htons(ETH_P_IPV6);
}

static int net6_ethernet_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	struct net_device *dev = net6_link_dev(iface);

	if (skb_cow_head(skb, LL_RESERVED_SPACE(dev))) {
		net6_link_no_memory(iface, skb);
		return -ENOMEM;
	}
	net6_ethernet_fill_header(iface, lladdr, __skb_push(skb, ETH_HLEN));
	skb_reset_mac_header(skb);
	skb->dev = dev;
	skb->protocol = htons(ETH_P_IPV6);
	return net6_link_xmit(skb);
}

static int net6_ethernet_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join)
{
	struct net_device *dev = net6_link_dev(iface);

	return join ? dev_mc_add(dev, maddr) : dev_mc_del(dev, maddr);
}

/* RFC 4291 appendix A: the universal/local bit is inverted. Devices that share an address have
 * a number (ipvlan, OSA); as on native it stands in the middle, and the identifier is a local one.
 */
static void net6_ethernet_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	u16 number = net6_link_dev(iface)->dev_id;
	const u8 *mac = net6_link_addr(iface);

	iid[0] = number ? mac[0] : mac[0] ^ 0x02;
	iid[1] = mac[1];
	iid[2] = mac[2];
	iid[3] = number ? number >> 8 : 0xff;
	iid[4] = number ? number & 0xff : 0xfe;
	iid[5] = mac[3];
	iid[6] = mac[4];
	iid[7] = mac[5];
}

/* RFC 2464 section 7: 33:33 and the last four octets of the group. */
static void net6_ethernet_map_multicast(const struct net6_iface *iface,
					const struct in6_addr *group, u8 *lladdr)
{
	lladdr[0] = 0x33;
	lladdr[1] = 0x33;
	memcpy(lladdr + 2, &group->s6_addr[12], 4);
}

static int net6_ethernet_read_option(const u8 *body, unsigned int len, u8 *lladdr)
{
	/* RFC 2464 section 6: the length is 1 (in units of 8 octets). An address
	 * that is a group could only be meant to make us shout.
	 */
	if (len != NET6_ETHERNET_OPTION_LEN - 2 || is_multicast_ether_addr(body))
		return -EINVAL;
	memcpy(lladdr, body, ETH_ALEN);
	return 0;
}

static unsigned int net6_ethernet_write_option(u8 type, const u8 *lladdr, u8 *buf)
{
	buf[0] = type;
	buf[1] = NET6_ETHERNET_OPTION_LEN / 8;
	memcpy(buf + 2, lladdr, ETH_ALEN);
	return NET6_ETHERNET_OPTION_LEN;
}

const struct net6_link_ops net6_ethernet_ops = {
	.name			= "ethernet",
	.flags			= NET6_LINK_MULTICAST | NET6_LINK_ND,
	.addr_len		= ETH_ALEN,
	.header_len		= ETH_HLEN,
	.send			= net6_ethernet_send,
	.set_multicast		= net6_ethernet_set_multicast,
	.make_iid		= net6_ethernet_make_iid,
	.map_multicast		= net6_ethernet_map_multicast,
	.read_lladdr_option	= net6_ethernet_read_option,
	.write_lladdr_option	= net6_ethernet_write_option,
	.fill_header		= net6_ethernet_fill_header,
};
