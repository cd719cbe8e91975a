// SPDX-License-Identifier: GPL-2.0
/* The generic netlink family of net6, and its dumps. A dump takes a snapshot when it starts and
 * then sends it piece by piece. So it is resumable and consistent whatever happens to the tables
 * meanwhile, and holds no reference to their objects. Of a table that is too large for that, a dump
 * keeps how far it has come.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "../compat/genetlink.h"
#include "admin.h"
#include "nl.h"

#define NET6_NL_ROOM	64	/* objects at the first try; more if there are more */
#define NET6_NL_TRIES	5	/* at a table that grows faster than it is read */

/**
 * struct net6_nl_dump - a dump that is going on
 * @ops: what is dumped
 * @items: the snapshot, or the state of a walk
 * @n: objects in it
 * @pos: the next one to be sent
 * @filter: what was asked for, 0 for all
 * @truncated: objects were left out
 */
struct net6_nl_dump {
	const struct net6_nl_dump_ops	*ops;
	void				*items;
	u32				n;
	u32				pos;
	u32				filter;
	bool				truncated;
};

struct genl_family net6_nl_family __ro_after_init = {
	.name		= NET6_FAMILY_NAME,
	.version	= NET6_FAMILY_VERSION,
	.netnsok	= true,
	.module		= THIS_MODULE,
	.ops		= net6_nl_ops,
	.n_ops		= NET6_NL_OPS,
	.mcgrps		= net6_nl_groups,
	.n_mcgrps	= NET6_NL_GROUPS,
};

/**
 * net6_nl_put_header() - begin a message of the family
 * @skb: message buffer
 * @portid: receiver
 * @seq: sequence number of the request
 * @flags: NLM_F_*
 * @cmd: NET6_CMD_*
 *
 * Context: any. Return: handle for genlmsg_end() and _cancel(), NULL without room.
 */
void *net6_nl_put_header(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 cmd)
{
	return genlmsg_put(skb, portid, seq, &net6_nl_family, flags, cmd);
}

/**
 * net6_nl_iface() - the interface that a request names
 * @info: request
 * @attr: its attribute with the interface index
 * @err: errno of the failure
 *
 * Context: process, RTNL held, which keeps the interface.
 * Return: interface, or NULL with *@err set and the reason told to the requester.
 */
struct net6_iface *net6_nl_iface(struct genl_info *info, int attr, int *err)
{
	struct net6_iface *iface;

	ASSERT_RTNL();
	if (!info->attrs[attr]) {
		NL_SET_ERR_MSG(info->extack, "interface index is missing");
		*err = -EINVAL;
		return NULL;
	}
	iface = net6_iface_find(net6_nl_nn(info), nla_get_u32(info->attrs[attr]));
	if (!iface) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
				    "net6 does not run on this interface");
		*err = -ENODEV;
	}
	return iface;
}

static void net6_nl_snapshot_free(struct net6_nl_dump *d)
{
	u32 i;

	for (i = 0; d->ops->drop && i < d->n; i++)
		d->ops->drop(d->items + i * d->ops->size);
	kvfree(d->items);
	d->items = NULL;
	d->n = 0;
}

/* Takes the snapshot anew with more room until all objects fit. */
static int net6_nl_snapshot(struct net6_nl_dump *d, struct net6_net *nn,
			    struct net6_nl_list *list)
{
	int tries = NET6_NL_TRIES;

	list->room = NET6_NL_ROOM;
	do {
		if (fatal_signal_pending(current))
			return -EINTR;
		net6_nl_snapshot_free(d);
		d->items = kvcalloc(list->room, list->size, GFP_KERNEL_ACCOUNT);
		if (!d->items)
			return -ENOMEM;
		list->items = d->items;
		list->n = 0;
		d->ops->collect(nn, list);
		d->n = min(list->n, list->room);
		d->truncated = list->n > list->room;
		list->room = min(list->n + list->n / 8 + NET6_NL_ROOM, NET6_NL_SNAPSHOT_MAX);
	} while (d->truncated && --tries);
	return 0;
}

/**
 * net6_nl_dump_start() - begin a dump: take the snapshot
 * @cb: the dump
 * @ops: what is dumped
 * @filter_attr: attribute of the request that says what is asked for, 0 for none
 *
 * Context: process, may sleep. Return: 0 or -errno.
 */
int net6_nl_dump_start(struct netlink_callback *cb, const struct net6_nl_dump_ops *ops,
		       int filter_attr)
{
	struct nlattr **attrs = net6_compat_dump_attrs(cb);
	struct net6_nl_list list = { .size = ops->size };
	struct net6_nl_dump *d;
	int err;

	if (filter_attr && attrs && attrs[filter_attr])
		list.filter = nla_get_u32(attrs[filter_attr]);
	list.userns = sk_user_ns(NETLINK_CB(cb->skb).sk);
	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return -ENOMEM;
	d->ops = ops;
	d->filter = list.filter;
	*(struct net6_nl_dump **)cb->ctx = d;
	if (ops->walk) {
		d->items = kvzalloc(ops->size, GFP_KERNEL_ACCOUNT);
		err = d->items ? 0 : -ENOMEM;
	} else {
		err = net6_nl_snapshot(d, net6_pernet(sock_net(cb->skb->sk)), &list);
	}
	if (err)
		net6_nl_dump_done(cb);
	return err;
}

/**
 * net6_nl_dump_item() - write one object of a dump
 * @skb: message buffer
 * @cb: the dump
 * @ops: what is dumped
 * @item: object, for @ops->put
 *
 * Context: any. Return: 0 or -EMSGSIZE.
 */
int net6_nl_dump_item(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct net6_nl_dump_ops *ops, const void *item)
{
	void *hdr;
	int err;

	hdr = net6_nl_put_header(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				 NLM_F_MULTI, ops->cmd);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	err = ops->put(skb, item);
	if (err) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * net6_nl_dump() - send the next piece of a dump
 * @skb: message buffer
 * @cb: the dump
 *
 * Context: process, may sleep. Return: > 0 to be called again, 0 at the end, -errno.
 */
int net6_nl_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net6_nl_dump *d = *(struct net6_nl_dump **)cb->ctx;
	int err;

	/* Different numbers make the messages say NLM_F_DUMP_INTR. */
	cb->seq = 1;
	if (d->truncated)
		cb->prev_seq = 2;
	if (d->ops->walk)
		d->ops->walk(skb, cb, d->items, d->filter);
	for (; d->pos < d->n; d->pos++) {
		err = net6_nl_dump_item(skb, cb, d->ops, d->items + d->pos * d->ops->size);
		if (err)
			return skb->len ?: err;
	}
	return skb->len;
}

/**
 * net6_nl_dump_done() - end of a dump, wherever it got to
 * @cb: the dump
 *
 * Context: process. Return: 0.
 */
int net6_nl_dump_done(struct netlink_callback *cb)
{
	struct net6_nl_dump *d = *(struct net6_nl_dump **)cb->ctx;

	net6_nl_snapshot_free(d);
	kfree(d);
	return 0;
}

/**
 * net6_genl_init() - offer the family to programs
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_genl_init(void)
{
	return genl_register_family(&net6_nl_family);
}

/**
 * net6_genl_exit() - take the family back; waits for requests that are going on
 *
 * Context: process.
 */
void net6_genl_exit(void)
{
	genl_unregister_family(&net6_nl_family);
}
