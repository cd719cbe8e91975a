// SPDX-License-Identifier: GPL-2.0
/* The generic netlink family of translators. A dump sends what a translator has in parts, so that
 * there is room for many mappings.
 */
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "../net6/compat/genetlink.h"
#include "hosts.h"
#include "netlink_gen.h"
#include "xlat.h"

#define NET6_XLAT_NL_MAPS	64	/* mappings of a message */

/* An attribute's mapping is as the map has it, with two zeros. */
#define NET6_XLAT_NL_MAP	24

/**
 * struct net6_xlat_nl_dump - a dump that is going on; in cb->args
 * @put: writes a part of a translator and goes on to the next; 0, 1 if there is no such part, or
 *	-EMSGSIZE
 * @cmd: of its messages
 * @filter: index of the one device that is wanted, or 0
 * @dev: devices that are done
 * @part: parts of the next one that are done; of hosts, the number of the next address
 */
struct net6_xlat_nl_dump {
	int	(*put)(struct sk_buff *skb, const struct net6_xlat *x, u32 *part);
	u32	cmd;
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

static int net6_xlat_nl_put_lent(struct sk_buff *skb, const struct net6_xlat_map *map)
{
	struct net6_xlat_lent lent;

	net6_xlat_hosts_count(map->hosts, &lent);
	if (nla_put_in_addr(skb, NET6_XLAT_A_DEV_INSIDE4, map->inside4) ||
	    nla_put_u32(skb, NET6_XLAT_A_DEV_INSIDE4_LEN, map->inside4_len) ||
	    nla_put_u32(skb, NET6_XLAT_A_DEV_PER64, net6_xlat_hosts_per64(map->hosts)) ||
	    nla_put_u32(skb, NET6_XLAT_A_DEV_IDLE, net6_xlat_hosts_idle(map->hosts)) ||
	    nla_put_u32(skb, NET6_XLAT_A_DEV_HOSTS, lent.now) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_HOSTS_MADE, lent.made, NET6_XLAT_A_DEV_PAD) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_HOSTS_TAKEN, lent.taken, NET6_XLAT_A_DEV_PAD) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_DEV_HOSTS_ENDED, lent.ended, NET6_XLAT_A_DEV_PAD))
		return -EMSGSIZE;
	return 0;
}

static int net6_xlat_nl_put_facts(struct sk_buff *skb, const struct net6_xlat *x)
{
	const struct net6_xlat_map *map = x->map;
	struct rtnl_link_stats64 stats;

	dev_get_stats(x->dev, &stats);
	if (nla_put_string(skb, NET6_XLAT_A_DEV_NAME, x->dev->name) ||
	    nla_put_u32(skb, NET6_XLAT_A_DEV_KIND,
			map->hosts ? NET6_XLAT_KIND_NAT64 : NET6_XLAT_KIND_SIIT) ||
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
	return map->hosts ? net6_xlat_nl_put_lent(skb, map) : 0;
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
static int net6_xlat_nl_put_dev(struct sk_buff *skb, const struct net6_xlat *x, u32 *part)
{
	unsigned int i = *part * NET6_XLAT_NL_MAPS;

	if (*part && i >= x->map->n)
		return 1;
	if (nla_put_u32(skb, NET6_XLAT_A_DEV_IFINDEX, x->dev->ifindex) ||
	    (!*part && net6_xlat_nl_put_facts(skb, x)))
		return -EMSGSIZE;
	if (i < x->map->n &&
	    net6_xlat_nl_put_maps(skb, &x->map->eams[i],
				  min_t(unsigned int, x->map->n - i, NET6_XLAT_NL_MAPS)))
		return -EMSGSIZE;
	++*part;
	return 0;
}

static int net6_xlat_nl_put_host(struct sk_buff *skb, const struct net6_xlat *x, u32 *part)
{
	struct net6_xlat_lease lease;
	u32 next = *part;

	if (!x->map->hosts || !net6_xlat_hosts_next(x->map->hosts, &next, &lease))
		return 1;
	if (nla_put_u32(skb, NET6_XLAT_A_HOST_IFINDEX, x->dev->ifindex) ||
	    nla_put_in6_addr(skb, NET6_XLAT_A_HOST_ADDRESS6, &lease.addr6) ||
	    nla_put_in_addr(skb, NET6_XLAT_A_HOST_ADDRESS4, lease.addr4) ||
	    nla_put_u32(skb, NET6_XLAT_A_HOST_IDLE, lease.idle))
		return -EMSGSIZE;
	*part = next;
	return 0;
}

static int net6_xlat_nl_put_counter(struct sk_buff *skb, const struct net6_xlat *x, u32 *part)
{
	unsigned int verdict = *part + 1 - NET6_XLAT_COUNTERS;
	bool drop = *part >= NET6_XLAT_COUNTERS;

	BUILD_BUG_ON(NET6_XLAT_GOOD);
	if (drop && verdict >= NET6_XLAT_VERDICTS)
		return 1;
	if (nla_put_u32(skb, NET6_XLAT_A_COUNTER_IFINDEX, x->dev->ifindex) ||
	    nla_put_string(skb, NET6_XLAT_A_COUNTER_NAME,
			   drop ? net6_xlat_drop_name(verdict) : net6_xlat_counter_name(*part)) ||
	    nla_put_u64_64bit(skb, NET6_XLAT_A_COUNTER_VALUE,
			      drop ? net6_xlat_read_drop(x, verdict) : net6_xlat_read(x, *part),
			      NET6_XLAT_A_COUNTER_PAD))
		return -EMSGSIZE;
	if (drop && nla_put_string(skb, NET6_XLAT_A_COUNTER_TEXT, net6_xlat_drop_text(verdict)))
		return -EMSGSIZE;
	++*part;
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
			  &net6_xlat_nl_family, NLM_F_MULTI, dump->cmd);
	if (!hdr)
		return -EMSGSIZE;
	err = dump->put(skb, x, &dump->part);
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
			;
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

static void net6_xlat_nl_start(struct netlink_callback *cb, u32 cmd, int ifindex_attr,
			       int (*put)(struct sk_buff *skb, const struct net6_xlat *x,
					  u32 *part))
{
	struct nlattr **attrs = net6_compat_dump_attrs(cb);
	struct net6_xlat_nl_dump *dump = net6_xlat_nl_dump_of(cb);

	*dump = (struct net6_xlat_nl_dump){ .put = put, .cmd = cmd };
	if (attrs && attrs[ifindex_attr])
		dump->filter = nla_get_u32(attrs[ifindex_attr]);
}

int net6_xlat_nl_get_start(struct netlink_callback *cb)
{
	net6_xlat_nl_start(cb, NET6_XLAT_CMD_GET, NET6_XLAT_A_DEV_IFINDEX, net6_xlat_nl_put_dev);
	return 0;
}

int net6_xlat_nl_counter_get_start(struct netlink_callback *cb)
{
	net6_xlat_nl_start(cb, NET6_XLAT_CMD_COUNTER_GET, NET6_XLAT_A_COUNTER_IFINDEX,
			   net6_xlat_nl_put_counter);
	return 0;
}

int net6_xlat_nl_host_get_start(struct netlink_callback *cb)
{
	net6_xlat_nl_start(cb, NET6_XLAT_CMD_HOST_GET, NET6_XLAT_A_HOST_IFINDEX,
			   net6_xlat_nl_put_host);
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

static void net6_xlat_nl_take_inside(struct net6_xlat_map *map, struct nlattr **a)
{
	if (!a[NET6_XLAT_A_DEV_INSIDE4] || !a[NET6_XLAT_A_DEV_INSIDE4_LEN])
		return;
	map->inside4 = nla_get_in_addr(a[NET6_XLAT_A_DEV_INSIDE4]);
	map->inside4_len = nla_get_u32(a[NET6_XLAT_A_DEV_INSIDE4_LEN]);
}

static int net6_xlat_nl_make_hosts(struct net6_xlat_map *map, struct nlattr **a)
{
	u32 per64 = 0, idle = 0;

	if (!map->inside4_len)
		return 0;
	if (a[NET6_XLAT_A_DEV_PER64])
		per64 = nla_get_u32(a[NET6_XLAT_A_DEV_PER64]);
	if (a[NET6_XLAT_A_DEV_IDLE])
		idle = nla_get_u32(a[NET6_XLAT_A_DEV_IDLE]);
	map->hosts = net6_xlat_hosts_make(map->inside4, map->inside4_len, per64, idle);
	return map->hosts ? 0 : -ENOMEM;
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
	net6_xlat_nl_take_inside(map, a);
	err = net6_xlat_map_build(map);
	if (!err)
		err = net6_xlat_nl_make_hosts(map, a);
	if (!err)
		return map;
	if (err == -EEXIST)
		NL_SET_ERR_MSG(info->extack, "a prefix is mapped twice");
	else if (err == -ENOMEM)
		NL_SET_ERR_MSG(info->extack, "no memory for so many addresses");
	else
		NL_SET_ERR_MSG(info->extack,
			       "a prefix has a length that RFC 6052 or 7757 do not allow, or bits behind it");
	net6_xlat_map_free(map);
	return ERR_PTR(err);
}

static bool net6_xlat_nl_pairs(struct nlattr **a)
{
	return !a[NET6_XLAT_A_DEV_PREFIX] == !a[NET6_XLAT_A_DEV_PREFIX_LEN] &&
	       !a[NET6_XLAT_A_DEV_POOL4] == !a[NET6_XLAT_A_DEV_POOL4_LEN] &&
	       !a[NET6_XLAT_A_DEV_INSIDE4] == !a[NET6_XLAT_A_DEV_INSIDE4_LEN];
}

/* What belongs to one kind only is there for that kind. */
static int net6_xlat_nl_kind(struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	u32 kind = a[NET6_XLAT_A_DEV_KIND] ? nla_get_u32(a[NET6_XLAT_A_DEV_KIND]) :
					     NET6_XLAT_KIND_SIIT;

	if (kind == NET6_XLAT_KIND_NAT64 &&
	    (!a[NET6_XLAT_A_DEV_PREFIX] || !a[NET6_XLAT_A_DEV_INSIDE4])) {
		NL_SET_ERR_MSG(info->extack, "a NAT64 needs a prefix, and addresses inside");
		return -EINVAL;
	}
	if (kind == NET6_XLAT_KIND_SIIT && (a[NET6_XLAT_A_DEV_INSIDE4] ||
					    a[NET6_XLAT_A_DEV_PER64] || a[NET6_XLAT_A_DEV_IDLE])) {
		NL_SET_ERR_MSG(info->extack, "a stateless translator lends no addresses");
		return -EINVAL;
	}
	return 0;
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
	err = net6_xlat_nl_kind(info);
	if (err)
		return err;
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
