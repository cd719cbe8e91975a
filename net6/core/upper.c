// SPDX-License-Identifier: GPL-2.0
/* A protocol of another module needs more than its entry in proto.c's switch. That is a packet
 * with room in front, a route and a source for it, and the way down.
 */
#include <linux/export.h>
#include <net6/proto.h>

#include "addr.h"
#include "dest.h"
#include "ip.h"

int net6_proto_ifindex(const struct sk_buff *skb)
{
	return net6_rx_cb(skb)->ifindex;
}
EXPORT_SYMBOL_GPL(net6_proto_ifindex);

void net6_proto_too_big(struct sk_buff *skb, const struct net6_icmp_error *err)
{
	if (err->type == ICMPV6_PKT_TOOBIG)
		net6_dest_update_pmtu(net6_pernet(dev_net(skb->dev)), err, NULL);
}
EXPORT_SYMBOL_GPL(net6_proto_too_big);

/* Is the source one that we may send from? :: is: it is chosen. */
static bool net6_upper_source_ok(struct net6_net *nn, const struct net6_proto_path *path)
{
	bool ours;

	if (ipv6_addr_any(&path->saddr))
		return true;
	rcu_read_lock();
	ours = net6_addr_usable(nn, &path->saddr, path->oif);
	rcu_read_unlock();
	return ours;
}

static struct net6_dest *net6_upper_dest(struct net *net, const struct net6_proto_path *path)
{
	struct net6_net *nn = net6_pernet(net);

	if (!net6_upper_source_ok(nn, path))
		return ERR_PTR(-EADDRNOTAVAIL);
	return net6_dest_lookup_from(nn, &path->saddr, &path->daddr, path->oif);
}

int net6_proto_route(struct net *net, struct net6_proto_path *path)
{
	struct net6_dest *dest = net6_upper_dest(net, path);

	if (IS_ERR(dest))
		return PTR_ERR(dest);
	if (ipv6_addr_any(&path->saddr))
		path->saddr = dest->saddr;
	if (!path->hop_limit)
		path->hop_limit = dest->flags & NET6_DEST_MULTICAST ? 1 :
				  net6_dest_hop_limit(dest);
	path->mtu = net6_dest_mtu(dest);
	net6_dest_put(dest);
	return 0;
}
EXPORT_SYMBOL_GPL(net6_proto_route);

struct sk_buff *net6_proto_alloc(unsigned int len, gfp_t gfp)
{
	struct sk_buff *skb;

	if (len > IPV6_MAXPLEN)
		return NULL;
	skb = alloc_skb(NET6_HEADROOM + len, gfp);
	if (skb)
		skb_reserve(skb, NET6_HEADROOM);
	return skb;
}
EXPORT_SYMBOL_GPL(net6_proto_alloc);

int net6_proto_send(struct net *net, struct sk_buff *skb, u8 protocol,
		    const struct net6_proto_path *path)
{
	struct net6_dest *dest;
	int err = -EMSGSIZE;

	if (skb->len > IPV6_MAXPLEN)
		goto drop;
	dest = net6_upper_dest(net, path);
	err = PTR_ERR_OR_ZERO(dest);
	if (err)
		goto drop;
	skb_reset_transport_header(skb);
	net6_push_header(skb, &path->saddr, &path->daddr, protocol, path->hop_limit,
			 htonl((u32)path->tclass << 20));
	skb->priority = net6_priority(0, path->tclass);
	skb->ignore_df = 1;
	err = net6_output(skb, dest);
	net6_dest_put(dest);
	return err;
drop:
	kfree_skb(skb);
	return err;
}
EXPORT_SYMBOL_GPL(net6_proto_send);
