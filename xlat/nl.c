// SPDX-License-Identifier: GPL-2.0
/* The generic netlink family of translators. A dump sends what a translator has in parts, so that
 * there is room for many mappings.
 */
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "../net6/compat/genetlink.h"
#include "netlink_gen.h"
#include "xlat.h"

#define NET6_XLAT_NL_MAPS	64	/* mappings of a message */

/* An attribute's mapping is as the map has it, with two zeros. */
#define NET6_XLAT_NL_MAP	24

/**
 * struct net6_xlat_nl_dump - a dump that is going on; in cb->args
 * @put: writes a part of a translator; 0, 1 if there is no such part, or -EMSGSIZE
 * @filter: index of the one device that is wanted, or 0
 * @dev: devices that are done
 * @part: parts of the next one that are done
 */
struct net6_xlat_nl_dump {
	int	(*put)(struct sk_buff *skb, const struct net6_xlat *x, unsigned int part);
	u32	filter;
	u32	dev;
	u32	part;
};

static struct genl_family net6_xlat_nl_family __ro_after_init = {
	.name		= NET6_XLAT_FAMILY_NAME,
	.version	= NET6_XLAT_FAMILY_VERSION,
	.netnsok	= true,
	.module		= THIS_MODULE,
	.ops		= net6_xlat_nl_ops,
	.n_ops		= NET6_XLAT_NL_OPS,
};

static struct net6_xlat_nl_dump *net6_xlat_nl_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct net6_xlat_nl_dump) > sizeof(cb->args));
	return (struct net6_xlat_nl_dump *)cb->args;
}

static int net6_xlat_nl_put_facts(struct sk_buff *skb, const struct net6_xlat *x)
{
	const struct net6_xlat_map *map = x->map;
	struct rtnl_link_stats64 stats;

	dev_get_stats(x->dev, &stats);
	if (nla_put_string(skb, NET6_XLAT_A_DEV_NAME, x->dev->name) ||
	    nla_put_u32(skb, NET6_XLAT_A_DEV_KIND, NET6_XLAT_KIND_SIIT) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_RX_PACKETS, stats.rx_packets,
			      NET6_XLAT_A_DEV_PAD) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_RX_BYTES, stats.rx_bytes,
			      NET6_XLAT_A_DEV_PAD) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_TX_PACKETS, stats.tx_packets,
			      NET6_XLAT_A_DEV_PAD) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_TX_BYTES, stats.tx_bytes,
			      NET6_XLAT_A_DEV_PAD) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_TX_ERRORS, stats.tx_errors,
			      NET6_XLAT_A_DEV_PAD))
		return -EMSGSIZE;
	if (map->plen && (nla_put_in6_addr(skb, NET6_XLAT_A_DEV_PREFIX, &map->prefix) ||
			  nla_put_u32(skb, NET6_XLAT_A_DEV_PREFIX_LEN, map->plen)))
		return -EMSGSIZE;
	if (map->pool4_len && (nla_put_in_addr(skb, NET6_XLAT_A_DEV_POOL4, map->pool4) ||
			       nla_put_u32(skb, NET6_XLAT_A_DEV_POOL4_LEN, map->pool4_len)))
		return -EMSGSIZE;
	return 0;
}

static int net6_xlat_nl_put_maps(struct sk_buff *skb, const struct net6_xlat_eam *eam,
				 unsigned int n)
{
	struct nlattr *attr = nla_reserve(skb, NET6_XLAT_A_DEV_MAPS, n * NET6_XLAT_NL_MAP);
	u8 *bytes;

	if (!attr)
		return -EMSGSIZE;
	for (bytes = nla_data(attr); n; n--, eam++, bytes += NET6_XLAT_NL_MAP) {
		memset(bytes, 0, NET6_XLAT_NL_MAP);
		memcpy(bytes, &eam->addr6, 16);
		memcpy(bytes + 16, &eam->addr4, 4);
		bytes[20] = eam->len6;
		bytes[21] = eam->len4;
	}
	return 0;
}

/* The first part has all but the mappings that it has no room for. */
static int net6_xlat_nl_put_dev(struct sk_buff *skb, const struct net6_xlat *x, unsigned int part)
{
	unsigned int i = part * NET6_XLAT_NL_MAPS;

	if (part && i >= x->map->n)
		return 1;
	if (nla_put_u32(skb, NET6_XLAT_A_DEV_IFINDEX, x->dev->ifindex) ||
	    (!part && net6_xlat_nl_put_facts(skb, x)))
		return -EMSGSIZE;
	if (i >= x->map->n)
		return 0;
	return net6_xlat_nl_put_maps(skb, &x->map->eams[i],
				     min_t(unsigned int, x->map->n - i, NET6_XLAT_NL_MAPS));
}

static int net6_xlat_nl_put_counter(struct sk_buff *skb, const struct net6_xlat *x,
				    unsigned int part)
{
	unsigned int verdict = part + 1 - NET6_XLAT_COUNTERS;
	bool drop = part >= NET6_XLAT_COUNTERS;

	BUILD_BUG_ON(NET6_XLAT_GOOD);
	if (drop && verdict >= NET6_XLAT_VERDICTS)
		return 1;
	if (nla_put_u32(skb, NET6_XLAT_A_COUNTER_IFINDEX, x->dev->ifindex) ||
	    nla_put_string(skb, NET6_XLAT_A_COUNTER_NAME,
			   drop ? net6_xlat_drop_name(verdict) : net6_xlat_counter_name(part)) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_COUNTER_VALUE,
			      drop ? net6_xlat_read_drop(x, verdict) : net6_xlat_read(x, part),
			      NET6_XLAT_A_COUNTER_PAD))
		return -EMSGSIZE;
	if (drop && nla_put_string(skb, NET6_XLAT_A_COUNTER_TEXT, net6_xlat_drop_text(verdict)))
		return -EMSGSIZE;
	return 0;
}

/* One message; as put() returns. */
static int net6_xlat_nl_message(struct sk_buff *skb, struct netlink_callback *cb,
				const struct net6_xlat *x)
{
	struct net6_xlat_nl_dump *dump = net6_xlat_nl_dump_of(cb);
	void *hdr;
	int err;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &net6_xlat_nl_family, NLM_F_MULTI,
			  dump->put == net6_xlat_nl_put_dev ? NET6_XLAT_CMD_GET :
							      NET6_XLAT_CMD_COUNTER_GET);
	if (!hdr)
		return -EMSGSIZE;
	err = dump->put(skb, x, dump->part);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

/**
 * net6_xlat_nl_dump() - the next messages of a dump
 * @skb: message buffer
 * @cb: the dump
 *
 * Context: process, sleeps. Return: bytes written, 0 at the end.
 */
int net6_xlat_nl_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net6_xlat_nl_dump *dump = net6_xlat_nl_dump_of(cb);
	struct net_device *dev;
	struct net6_xlat *x;
	u32 n = 0;
	int err = 0;

	rtnl_lock();
	for_each_netdev(sock_net(skb->sk), dev) {
		x = net6_xlat_of(dev);
		if (!x || (dump->filter && dump->filter != dev->ifindex) || n++ < dump->dev)
			continue;
		while (!(err = net6_xlat_nl_message(skb, cb, x)))
			dump->part++;
		if (err < 0)
			break;
		dump->dev++;
		dump->part = 0;
	}
	rtnl_unlock();
	return skb->len;
}

int net6_xlat_nl_dump_done(struct netlink_callback *cb)
{
	return 0;
}

static void net6_xlat_nl_start(struct netlink_callback *cb, int ifindex_attr,
			       int (*put)(struct sk_buff *skb, const struct net6_xlat *x,
					  unsigned int part))
{
	struct nlattr **attrs = net6_compat_dump_attrs(cb);
	struct net6_xlat_nl_dump *dump = net6_xlat_nl_dump_of(cb);

	*dump = (struct net6_xlat_nl_dump){ .put = put };
	if (attrs && attrs[ifindex_attr])
		dump->filter = nla_get_u32(attrs[ifindex_attr]);
}

int net6_xlat_nl_get_start(struct netlink_callback *cb)
{
	net6_xlat_nl_start(cb, NET6_XLAT_A_DEV_IFINDEX, net6_xlat_nl_put_dev);
	return 0;
}

int net6_xlat_nl_counter_get_start(struct netlink_callback *cb)
{
	net6_xlat_nl_start(cb, NET6_XLAT_A_COUNTER_IFINDEX, net6_xlat_nl_put_counter);
	return 0;
}

static void net6_xlat_nl_take_maps(struct net6_xlat_map *map, const u8 *bytes, unsigned int n)
{
	struct net6_xlat_eam *eam = map->eams;

	map->n = n;
	for (; n; n--, eam++, bytes += NET6_XLAT_NL_MAP) {
		memcpy(&eam->addr6, bytes, 16);
		memcpy(&eam->addr4, bytes + 16, 4);
		eam->len6 = bytes[20];
		eam->len4 = bytes[21];
	}
}

/* What the request says of addresses. Returns it or ERR_PTR. */
static struct net6_xlat_map *net6_xlat_nl_map(struct genl_info *info)
{
	struct nlattr **a = info->attrs, *maps = a[NET6_XLAT_A_DEV_MAPS];
	unsigned int n = maps ? nla_len(maps) / NET6_XLAT_NL_MAP : 0;
	struct net6_xlat_map *map;
	int err;

	if (maps && nla_len(maps) % NET6_XLAT_NL_MAP) {
		NL_SET_ERR_MSG_ATTR(info->extack, maps, "a mapping has 24 bytes");
		return ERR_PTR(-EINVAL);
	}
	map = net6_xlat_map_alloc(max(n, 1U));
	if (!map)
		return ERR_PTR(-ENOMEM);
	if (n)
		net6_xlat_nl_take_maps(map, nla_data(maps), n);
	if (a[NET6_XLAT_A_DEV_PREFIX])
		map->prefix = nla_get_in6_addr(a[NET6_XLAT_A_DEV_PREFIX]);
	if (a[NET6_XLAT_A_DEV_PREFIX_LEN])
		map->plen = nla_get_u32(a[NET6_XLAT_A_DEV_PREFIX_LEN]);
	if (a[NET6_XLAT_A_DEV_POOL4])
		map->pool4 = nla_get_in_addr(a[NET6_XLAT_A_DEV_POOL4]);
	if (a[NET6_XLAT_A_DEV_POOL4_LEN])
		map->pool4_len = nla_get_u32(a[NET6_XLAT_A_DEV_POOL4_LEN]);
	err = net6_xlat_map_build(map);
	if (!err)
		return map;
	if (err == -EEXIST)
		NL_SET_ERR_MSG(info->extack, "a prefix is mapped twice");
	else
		NL_SET_ERR_MSG(info->extack,
			       "a prefix has a length that RFC 6052 or 7757 do not allow, or bits behind it");
	net6_xlat_map_free(map);
	return ERR_PTR(err);
}

static bool net6_xlat_nl_pairs(struct nlattr **a)
{
	return !a[NET6_XLAT_A_DEV_PREFIX] == !a[NET6_XLAT_A_DEV_PREFIX_LEN] &&
	       !a[NET6_XLAT_A_DEV_POOL4] == !a[NET6_XLAT_A_DEV_POOL4_LEN];
}

int net6_xlat_nl_add(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct net6_xlat_map *map;
	char name[IFNAMSIZ];
	int err;

	if (!a[NET6_XLAT_A_DEV_NAME] || !net6_xlat_nl_pairs(a) ||
	    (!a[NET6_XLAT_A_DEV_PREFIX] && !a[NET6_XLAT_A_DEV_MAPS])) {
		NL_SET_ERR_MSG(info->extack, "a translator needs a name, and a prefix or mappings");
		return -EINVAL;
	}
	nla_strscpy(name, a[NET6_XLAT_A_DEV_NAME], sizeof(name));
	if (!dev_valid_name(name)) {
		NL_SET_ERR_MSG_ATTR(info->extack, a[NET6_XLAT_A_DEV_NAME],
				    "that is no name for a device");
		return -EINVAL;
	}
	map = net6_xlat_nl_map(info);
	if (IS_ERR(map))
		return PTR_ERR(map);
	rtnl_lock();
	err = net6_xlat_add(genl_info_net(info), name, map, info->extack);
	rtnl_unlock();
	if (err)
		net6_xlat_map_free(map);
	return err;
}

int net6_xlat_nl_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[NET6_XLAT_A_DEV_IFINDEX];
	struct net_device *dev;
	struct net6_xlat *x;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "interface index is missing");
		return -EINVAL;
	}
	rtnl_lock();
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(attr));
	x = dev ? net6_xlat_of(dev) : NULL;
	if (x)
		net6_xlat_del(x);
	else
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "that is no translator");
	rtnl_unlock();
	return x ? 0 : -ENODEV;
}

/**
 * net6_xlat_nl_init() - let administrators in
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_xlat_nl_init(void)
{
	return genl_register_family(&net6_xlat_nl_family);
}

/**
 * net6_xlat_nl_exit() - and out; nobody is in a request when this returns
 *
 * Context: process.
 */
void net6_xlat_nl_exit(void)
{
	genl_unregister_family(&net6_xlat_nl_family);
}
