// SPDX-License-Identifier: GPL-2.0
/* IPv6 with nothing in front of it: tun, WireGuard, PPP (RFC 5072), the kernel's GRE and sit
 * tunnels to one peer, modems. There are no link-layer addresses, so nobody is asked for one.
 * The next hop is the device.
 */
#include <linux/if_arp.h>
#include <linux/string.h>
#include <net/rtnetlink.h>

#include "rawip.h"

static bool net6_rawip_is_kind(const struct net_device *dev, const char *kind)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, kind);
}

/* Tunnels that write a header for each packet have several peers, and no way to find them. */
static bool net6_rawip_headerless(const struct net_device *dev, unsigned short type)
{
	return dev->type == type && !(dev->header_ops && dev->header_ops->create);
}

bool net6_rawip_match_ppp(const struct net_device *dev)
{
	return net6_rawip_headerless(dev, ARPHRD_PPP);
}

bool net6_rawip_match_wireguard(const struct net_device *dev)
{
	return net6_rawip_headerless(dev, ARPHRD_NONE) && net6_rawip_is_kind(dev, "wireguard");
}

/* A sit device without a remote end finds its peers by 6to4 (RFC 3056). */
bool net6_rawip_match_peer(const struct net_device *dev)
{
	return net6_rawip_headerless(dev, ARPHRD_IPGRE) ||
	       (net6_rawip_headerless(dev, ARPHRD_SIT) && (dev->flags & IFF_POINTOPOINT));
}

/* What the others have left. A device of IPsec asks native's routing table, so it is left alone. */
bool net6_rawip_match(const struct net_device *dev)
{
	return net6_rawip_headerless(dev, ARPHRD_RAWIP) || net6_rawip_headerless(dev, ARPHRD_SIT) ||
	       (net6_rawip_headerless(dev, ARPHRD_NONE) && !net6_rawip_is_kind(dev, "xfrm"));
}

static int net6_rawip_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	skb->dev = net6_link_dev(iface);
	skb->protocol = htons(ETH_P_IPV6);
	return net6_link_xmit(skb);
}

static int net6_rawip_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join)
{
	return 0;		/* the other end sends all */
}

/* RFC 7217 section 5: Net_Iface may be the interface's name. Each octet of it counts. */
static void net6_rawip_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	const char *name = net6_link_dev(iface)->name;
	unsigned int i;

	memset(iid, 0, 8);
	for (i = 0; i < IFNAMSIZ && name[i]; i++)
		iid[i % 8] ^= name[i];
}

static void net6_rawip_map(const struct net6_iface *iface, const struct in6_addr *addr, u8 *lladdr)
{
}

static int net6_rawip_read_option(const u8 *body, unsigned int len, u8 *lladdr)
{
	return -EINVAL;		/* the link has no addresses */
}

static unsigned int net6_rawip_write_option(u8 type, const u8 *lladdr, u8 *buf)
{
	return 0;
}

#define NET6_RAWIP_OPS(_more_flags) {						\
	.name			= "raw",						\
	.flags			= NET6_LINK_MULTICAST | NET6_LINK_RAW | (_more_flags),	\
	.send			= net6_rawip_send,					\
	.set_multicast		= net6_rawip_set_multicast,				\
	.make_iid		= net6_rawip_make_iid,					\
	.map_multicast		= net6_rawip_map,					\
	.map_unicast		= net6_rawip_map,					\
	.read_lladdr_option	= net6_rawip_read_option,				\
	.write_lladdr_option	= net6_rawip_write_option,				\
}

/* Behind tun and WireGuard there may be many. Who sets PPP or WireGuard up gives it its link-local
 * address: pppd what IPV6CP has found (RFC 5072 section 4), the administrator what the peers allow.
 */
const struct net6_link_ops net6_rawip_ops = NET6_RAWIP_OPS(0);
const struct net6_link_ops net6_rawip_peer_ops = NET6_RAWIP_OPS(NET6_LINK_POINTOPOINT);
const struct net6_link_ops net6_rawip_wireguard_ops = NET6_RAWIP_OPS(NET6_LINK_ARRANGED);
const struct net6_link_ops net6_rawip_ppp_ops =
	NET6_RAWIP_OPS(NET6_LINK_ARRANGED | NET6_LINK_POINTOPOINT);
