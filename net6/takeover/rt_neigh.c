// SPDX-License-Identifier: GPL-2.0
/* rtnetlink: neighbors and proxied addresses (ip -6 neighbor, ip monitor). */
#include <linux/neighbour.h>
#include <linux/rhashtable.h>
#include <net/ipv6.h>

#include "../core/proxy.h"
#include "rt.h"

static u16 net6_rt_nud(u8 state)
{
	switch (state) {
	case NET6_NEIGH_INCOMPLETE:
		return NUD_INCOMPLETE;
	case NET6_NEIGH_REACHABLE:
		return NUD_REACHABLE;
	case NET6_NEIGH_STALE:
		return NUD_STALE;
	case NET6_NEIGH_DELAY:
		return NUD_DELAY;
	case NET6_NEIGH_PROBE:
		return NUD_PROBE;
	case NET6_NEIGH_FAILED:
		return NUD_FAILED;
	case NET6_NEIGH_PERMANENT:
		return NUD_PERMANENT;
	default:
		return NUD_NONE;
	}
}

/* Groups have entries, too, and so has each destination on a link without addresses. Nobody asks
 * for these.
 */
static u16 net6_rt_neigh_state(const struct net6_neigh *neigh)
{
	if (neigh->state == NET6_NEIGH_PERMANENT &&
	    !(neigh->flags & (NET6_NEIGH_F_MANUAL | NET6_NEIGH_F_ROUTER)))
		return NUD_NOARP;
	return net6_rt_nud(neigh->state);
}

/* neigh->lock held. */
static int net6_rt_neigh_fill(struct sk_buff *skb, const struct net6_neigh *neigh, u32 portid,
			      u32 seq, int type, unsigned int nl_flags)
	__must_hold(&neigh->lock)
{
	struct nda_cacheinfo ci = {
		.ndm_confirmed	= jiffies_to_clock_t(jiffies - neigh->confirmed),
		.ndm_used	= jiffies_to_clock_t(jiffies - READ_ONCE(neigh->used)),
		.ndm_updated	= jiffies_to_clock_t(jiffies - neigh->confirmed),
		.ndm_refcnt	= refcount_read(&neigh->ref) - 1,
	};
	struct nlmsghdr *nlh;
	struct ndmsg *ndm;

	nlh = nlmsg_put(skb, portid, seq, type, sizeof(*ndm), nl_flags);
	if (!nlh)
		return -EMSGSIZE;
	ndm = nlmsg_data(nlh);
	memset(ndm, 0, sizeof(*ndm));
	ndm->ndm_family = AF_INET6;
	ndm->ndm_flags = neigh->is_router ? NTF_ROUTER : 0;
	ndm->ndm_ifindex = neigh->iface->ifindex;
	ndm->ndm_type = ipv6_addr_is_multicast(&neigh->addr) ? RTN_MULTICAST : RTN_UNICAST;
	ndm->ndm_state = net6_rt_neigh_state(neigh);
	if (nla_put_in6_addr(skb, NDA_DST, &neigh->addr) ||
	    ((ndm->ndm_state & NUD_VALID) &&
	     nla_put(skb, NDA_LLADDR, neigh->iface->ops->addr_len, neigh->lladdr)) ||
	    nla_put_u32(skb, NDA_PROBES, neigh->probes) ||
	    nla_put(skb, NDA_CACHEINFO, sizeof(ci), &ci)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

static int net6_rt_neigh_dump_one(struct net6_rt_dump *d, struct net6_neigh *neigh)
{
	int err;

	if (!net6_rt_dump_wants(d))
		return 0;
	spin_lock_bh(&neigh->lock);
	err = net6_rt_neigh_fill(d->skb, neigh, NETLINK_CB(d->cb->skb).portid,
				 d->cb->nlh->nlmsg_seq, RTM_NEWNEIGH, NLM_F_MULTI);
	spin_unlock_bh(&neigh->lock);
	return err;
}

/* Without the lock of the cache, which packets need. -EAGAIN: the table gets another size, and
 * neither the old one nor the new one has all.
 */
static int net6_rt_neigh_walk(struct net6_rt_dump *d, struct net6_iface *iface)
{
	struct rhashtable_iter iter;
	struct net6_neigh *neigh;
	int err = 0;

	rhashtable_walk_enter(&iface->neighs, &iter);
	rhashtable_walk_start(&iter);
	while (!err && !IS_ERR_OR_NULL(neigh = rhashtable_walk_next(&iter)))
		err = net6_rt_neigh_dump_one(d, neigh);
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return err ?: PTR_ERR_OR_ZERO(neigh);
}

static int net6_rt_neigh_dump_iface(struct net6_rt_dump *d, struct net6_iface *iface)
{
	void *end = skb_tail_pointer(d->skb);
	struct net6_neigh *neigh;
	long before = d->idx;
	int err;

	err = net6_rt_neigh_walk(d, iface);
	if (likely(err != -EAGAIN))
		return err;
	nlmsg_trim(d->skb, end);
	d->idx = before;
	err = 0;
	spin_lock_bh(&iface->neigh_lock);
	list_for_each_entry(neigh, net6_neigh_list(iface), lru) {
		err = net6_rt_neigh_dump_one(d, neigh);
		if (err)
			break;
	}
	spin_unlock_bh(&iface->neigh_lock);
	return err;
}

static const struct nla_policy net6_rt_neigh_policy[NDA_MAX + 1] = {
	[NDA_DST]	= { .len = sizeof(struct in6_addr) },
	[NDA_LLADDR]	= { .type = NLA_BINARY, .len = MAX_ADDR_LEN },
	[NDA_IFINDEX]	= { .type = NLA_U32 },
};

static int net6_rt_proxy_fill(struct sk_buff *skb, const struct net6_proxy *proxy, u32 portid,
			      u32 seq, unsigned int nl_flags)
{
	struct nlmsghdr *nlh;
	struct ndmsg *ndm;

	nlh = nlmsg_put(skb, portid, seq, RTM_NEWNEIGH, sizeof(*ndm), nl_flags);
	if (!nlh)
		return -EMSGSIZE;
	ndm = nlmsg_data(nlh);
	memset(ndm, 0, sizeof(*ndm));
	ndm->ndm_family = AF_INET6;
	ndm->ndm_flags = NTF_PROXY | (READ_ONCE(proxy->router) ? NTF_ROUTER : 0);
	ndm->ndm_ifindex = proxy->iface->ifindex;
	ndm->ndm_type = RTN_UNICAST;
	ndm->ndm_state = NUD_NONE;
	if (nla_put_in6_addr(skb, NDA_DST, &proxy->addr)) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

static void net6_rt_proxy_dump(struct net6_rt_dump *d, struct net6_net *nn, int only)
{
	const struct net6_proxy *proxy;
	int bucket;

	hash_for_each_rcu(nn->proxy_hash, bucket, proxy, hash_node) {
		if ((only && proxy->iface->ifindex != only) || !net6_rt_dump_wants(d))
			continue;
		if (net6_rt_proxy_fill(d->skb, proxy, NETLINK_CB(d->cb->skb).portid,
				       d->cb->nlh->nlmsg_seq, NLM_F_MULTI)) {
			d->idx--;
			return;
		}
	}
}

/* Whom a dump asks for, as native reads it. */
static bool net6_rt_neigh_wants_proxies(const struct nlmsghdr *nlh)
{
	const struct ndmsg *ndm = nlmsg_data(nlh);

	return nlmsg_len(nlh) >= sizeof(*ndm) && ndm->ndm_flags == NTF_PROXY;
}

int net6_rt_neigh_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net6_net *nn = net6_pernet(sock_net(skb->sk));
	struct net6_rt_dump d = { .skb = skb, .cb = cb };
	struct nlattr *tb[NDA_MAX + 1];
	struct net6_iface *iface;
	int only = 0;

	if (!nlmsg_parse_deprecated(cb->nlh, sizeof(struct ndmsg), tb, NDA_MAX,
				    net6_rt_neigh_policy, NULL) && tb[NDA_IFINDEX])
		only = nla_get_u32(tb[NDA_IFINDEX]);
	rcu_read_lock();
	if (net6_rt_neigh_wants_proxies(cb->nlh)) {
		net6_rt_proxy_dump(&d, nn, only);
		goto out;
	}
	list_for_each_entry_rcu(iface, &nn->ifaces, list) {
		if (only && iface->ifindex != only)
			continue;
		if (net6_rt_neigh_dump_iface(&d, iface)) {
			d.idx--;
			break;
		}
	}
out:
	rcu_read_unlock();
	cb->args[0] = d.idx;
	return skb->len;
}

static struct net6_iface *net6_rt_neigh_parse(struct sk_buff *skb, struct nlmsghdr *nlh,
					      struct nlattr **tb, struct in6_addr *addr,
					      struct netlink_ext_ack *extack, int *err)
{
	const struct ndmsg *ndm = nlmsg_data(nlh);
	struct net6_iface *iface;

	ASSERT_RTNL();
	*err = nlmsg_parse_deprecated(nlh, sizeof(*ndm), tb, NDA_MAX, net6_rt_neigh_policy,
				      extack);
	if (*err)
		return NULL;
	*err = -EINVAL;
	if (!tb[NDA_DST]) {
		NL_SET_ERR_MSG(extack, "Network address not specified");
		return NULL;
	}
	*addr = nla_get_in6_addr(tb[NDA_DST]);
	if (ipv6_addr_any(addr) || ipv6_addr_is_multicast(addr))
		return NULL;
	iface = net6_iface_find(net6_pernet(sock_net(skb->sk)), ndm->ndm_ifindex);
	*err = iface ? 0 : -ENODEV;
	return iface;
}

/* The state that is asked for; NONE: none in which a neighbor has an address. */
static enum net6_neigh_state net6_rt_neigh_wanted(u16 nud)
{
	if (nud & (NUD_PERMANENT | NUD_NOARP))
		return NET6_NEIGH_PERMANENT;
	if (nud & NUD_REACHABLE)
		return NET6_NEIGH_REACHABLE;
	if (nud & NUD_STALE)
		return NET6_NEIGH_STALE;
	if (nud & NUD_DELAY)
		return NET6_NEIGH_DELAY;
	return nud & NUD_PROBE ? NET6_NEIGH_PROBE : NET6_NEIGH_NONE;
}

/* RCU read lock held, BH disabled. */
static int net6_rt_neigh_set(struct net6_iface *iface, const struct in6_addr *addr,
			     const u8 *lladdr, u16 nud, u16 flags,
			     struct netlink_ext_ack *extack)
{
	enum net6_neigh_state state = net6_rt_neigh_wanted(nud);
	struct net6_neigh *old = net6_neigh_find(iface, addr);

	if (old && (flags & NLM_F_EXCL))
		return -EEXIST;
	if (!old && !(flags & NLM_F_CREATE))
		return -ENOENT;
	if (state != NET6_NEIGH_NONE)
		return old || lladdr ? net6_neigh_set(iface, addr, lladdr, state) : -EINVAL;
	if (!old) {
		NL_SET_ERR_MSG(extack, "net6 makes no neighbor without a state");
		return -EOPNOTSUPP;
	}
	net6_neigh_remove(old);
	return 0;
}

int net6_rt_neigh_new(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct ndmsg *ndm = nlmsg_data(nlh);
	struct nlattr *tb[NDA_MAX + 1];
	struct net6_iface *iface;
	struct in6_addr addr;
	int err;

	iface = net6_rt_neigh_parse(skb, nlh, tb, &addr, extack, &err);
	if (!iface)
		return err;
	/* Native: created or changed, whatever the message's flags say. */
	if (ndm->ndm_flags & NTF_PROXY)
		return net6_proxy_add(iface, &addr, ndm->ndm_flags & NTF_ROUTER);
	if (tb[NDA_LLADDR] && nla_len(tb[NDA_LLADDR]) != iface->ops->addr_len)
		return -EINVAL;
	rcu_read_lock_bh();
	err = net6_rt_neigh_set(iface, &addr, tb[NDA_LLADDR] ? nla_data(tb[NDA_LLADDR]) : NULL,
				ndm->ndm_state, nlh->nlmsg_flags, extack);
	rcu_read_unlock_bh();
	return err;
}

int net6_rt_neigh_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct ndmsg *ndm = nlmsg_data(nlh);
	struct nlattr *tb[NDA_MAX + 1];
	struct net6_iface *iface;
	struct net6_neigh *neigh;
	struct in6_addr addr;
	int err;

	iface = net6_rt_neigh_parse(skb, nlh, tb, &addr, extack, &err);
	if (!iface)
		return err;
	if (ndm->ndm_flags & NTF_PROXY)
		return net6_proxy_del(iface, &addr);
	rcu_read_lock_bh();
	neigh = net6_neigh_find(iface, &addr);
	if (!neigh)
		err = -ENOENT;
	else if (READ_ONCE(neigh->flags) & NET6_NEIGH_F_ROUTER)
		err = -EBUSY;
	else
		net6_neigh_remove(neigh);
	rcu_read_unlock_bh();
	return err;
}

static int net6_rt_neigh_write(struct sk_buff *msg, struct net6_iface *iface,
			       const struct in6_addr *addr, u32 portid, u32 seq)
{
	struct net6_neigh *neigh = net6_neigh_find(iface, addr);
	int err;

	if (!neigh)
		return -ENOENT;
	spin_lock_bh(&neigh->lock);
	err = net6_rt_neigh_fill(msg, neigh, portid, seq, RTM_NEWNEIGH, 0);
	spin_unlock_bh(&neigh->lock);
	return err;
}

int net6_rt_neigh_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct ndmsg *ndm = nlmsg_data(nlh);
	u32 portid = NETLINK_CB(skb).portid;
	const struct net6_proxy *proxy;
	struct nlattr *tb[NDA_MAX + 1];
	struct net6_iface *iface;
	struct in6_addr addr;
	struct sk_buff *msg;
	int err;

	iface = net6_rt_neigh_parse(skb, nlh, tb, &addr, extack, &err);
	if (!iface)
		return err;
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOBUFS;
	rcu_read_lock();
	if (ndm->ndm_flags & NTF_PROXY) {
		proxy = net6_proxy_lookup(iface, &addr);
		err = proxy ? net6_rt_proxy_fill(msg, proxy, portid, nlh->nlmsg_seq, 0) : -ENOENT;
	} else {
		err = net6_rt_neigh_write(msg, iface, &addr, portid, nlh->nlmsg_seq);
	}
	rcu_read_unlock();
	if (!err)
		return rtnl_unicast(msg, sock_net(skb->sk), portid);
	nlmsg_free(msg);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(extack, "Neighbour entry not found");
	return err;
}

/**
 * net6_rt_note_neigh() - tell RTNLGRP_NEIGH of a neighbor
 * @neigh: neighbor
 * @event: what happened to it
 *
 * Context: neigh->lock held.
 */
void net6_rt_note_neigh(const struct net6_neigh *neigh, enum net6_note_event event)
	__must_hold(&neigh->lock)
{
	struct net *net = neigh->iface->nn->net;
	struct sk_buff *msg;

	if (!rtnl_has_listeners(net, RTNLGRP_NEIGH))
		return;
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!msg) {
		rtnl_set_sk_err(net, RTNLGRP_NEIGH, -ENOBUFS);
		return;
	}
	if (net6_rt_neigh_fill(msg, neigh, 0, 0,
			       event == NET6_NOTE_DEL ? RTM_DELNEIGH : RTM_NEWNEIGH, 0)) {
		nlmsg_free(msg);
		return;
	}
	rtnl_notify(msg, net, 0, RTNLGRP_NEIGH, NULL, GFP_ATOMIC);
}
