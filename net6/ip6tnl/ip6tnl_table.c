// SPDX-License-Identifier: GPL-2.0
/* The table in which packets find the tunnel over IPv6 that they are for: by its ends, one for each
 * namespace. A tunnel's parameters are its entry; who changes them makes others.
 */
#include <linux/rhashtable.h>
#include <net/ipv6.h>

#include "../core/netns.h"
#include "ip6tnl.h"

static const struct rhashtable_params net6_ip6tnl_params = {
	.nelem_hint		= 2,
	.key_len		= sizeof(struct net6_ip6tnl_ends),
	.key_offset		= offsetof(struct net6_ip6tnl_parms, ends),
	.head_offset		= offsetof(struct net6_ip6tnl_parms, node),
	.automatic_shrinking	= true,
};

/**
 * net6_ip6tnl_find() - the tunnel of exactly these ends
 * @nn: namespace
 * @remote: far end
 * @local: our end, :: for a tunnel without a fixed one
 *
 * Context: RCU read lock or RTNL held. Return: its parameters, or NULL.
 */
struct net6_ip6tnl_parms *net6_ip6tnl_find(struct net6_net *nn, const struct in6_addr *remote,
					   const struct in6_addr *local)
{
	const struct net6_ip6tnl_ends key = { .remote = *remote, .local = *local };

	return rhashtable_lookup_fast(nn->ip6tnls, &key, net6_ip6tnl_params);
}

/**
 * net6_ip6tnl_drop() - drop a packet of a tunnel's
 * @t: tunnel
 * @skb: consumed
 * @reason: why
 * @sent: it was to be sent; else it has come in
 *
 * Context: any.
 */
void net6_ip6tnl_drop(struct net6_ip6tnl *t, struct sk_buff *skb, enum net6_drop_reason reason,
		      bool sent)
{
	if (sent)
		DEV_STATS_INC(t->dev, tx_errors);
	else
		DEV_STATS_INC(t->dev, rx_errors);
	net6_drop(net6_pernet(dev_net(t->dev)), skb, reason);
}

static struct rhashtable *net6_ip6tnl_table(const struct net_device *dev)
{
	return net6_pernet(dev_net(dev))->ip6tnls;
}

/**
 * net6_ip6tnl_insert() - a new tunnel begins to receive
 * @t: tunnel, with its parameters
 *
 * Context: process, RTNL held. Return: 0 or -ENOMEM.
 */
int net6_ip6tnl_insert(struct net6_ip6tnl *t)
{
	int err = rhashtable_insert_fast(net6_ip6tnl_table(t->dev),
					 &rtnl_dereference(t->parms)->node, net6_ip6tnl_params);

	t->known = !err;
	return err;
}

/**
 * net6_ip6tnl_remove() - a tunnel receives no more
 * @t: tunnel
 *
 * Context: process, RTNL held. Somebody may still be receiving until a grace period has passed.
 */
void net6_ip6tnl_remove(struct net6_ip6tnl *t)
{
	if (t->known)
		rhashtable_remove_fast(net6_ip6tnl_table(t->dev),
				       &rtnl_dereference(t->parms)->node, net6_ip6tnl_params);
	t->known = false;
}

/**
 * net6_ip6tnl_change() - give a tunnel other parameters
 * @t: tunnel
 * @p: all of them; taken over
 *
 * In the place of the old ones, or in their own. Context: process, RTNL held.
 * Return: 0 or -ENOMEM; then nothing is changed, and @p is the caller's.
 */
int net6_ip6tnl_change(struct net6_ip6tnl *t, struct net6_ip6tnl_parms *p)
{
	struct net6_ip6tnl_parms *old = rtnl_dereference(t->parms);
	bool moved = memcmp(&old->ends, &p->ends, sizeof(p->ends));
	struct rhashtable *table = net6_ip6tnl_table(t->dev);
	int err;

	if (moved)
		err = rhashtable_insert_fast(table, &p->node, net6_ip6tnl_params);
	else
		err = rhashtable_replace_fast(table, &old->node, &p->node, net6_ip6tnl_params);
	if (err)
		return err;
	p->gen = ++t->gen;
	rcu_assign_pointer(t->parms, p);
	if (moved)
		rhashtable_remove_fast(table, &old->node, net6_ip6tnl_params);
	kfree_rcu(old, rcu);
	return 0;
}

/**
 * net6_ip6tnl_net_init() - a namespace without tunnels over IPv6
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_ip6tnl_net_init(struct net6_net *nn)
{
	int err;

	if (ipv6_mod_enabled())
		return 0;
	nn->ip6tnls = kzalloc(sizeof(*nn->ip6tnls), GFP_KERNEL_ACCOUNT);
	if (!nn->ip6tnls)
		return -ENOMEM;
	err = rhashtable_init(nn->ip6tnls, &net6_ip6tnl_params);
	if (err)
		kfree(nn->ip6tnls);
	return err;
}

/**
 * net6_ip6tnl_net_exit() - end of a namespace whose devices are gone
 * @nn: namespace
 *
 * Context: process.
 */
void net6_ip6tnl_net_exit(struct net6_net *nn)
{
	if (!nn->ip6tnls)
		return;
	WARN_ON_ONCE(atomic_read(&nn->ip6tnls->nelems));
	rhashtable_destroy(nn->ip6tnls);
	kfree(nn->ip6tnls);
}
