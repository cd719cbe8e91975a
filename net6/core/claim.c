// SPDX-License-Identifier: GPL-2.0
/* Each user's sockets have joined these on an interface: groups and anycast addresses, each
 * counted once. Every user has limits.max_groups of them, so nobody can use up another one's.
 * What net6 joins itself is not counted.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "claim.h"

/**
 * struct net6_claim_key - what a claim is known by
 * @addr: group or anycast address; ::, in the record that counts a user's others
 * @iface: interface, which may be gone: those who joined hold it
 * @uid: the sockets' owner
 */
struct net6_claim_key {
	struct in6_addr		addr;
	const struct net6_iface	*iface;
	kuid_t			uid;
};

/**
 * struct net6_claim - an address that a user's sockets have joined
 * @key: which, constant
 * @users: sockets that have, once for each time; in the record of :: the user's other records
 * @node: in nn->claims; read and written under nn->lock
 * @rcu: the table's worker may still look at it
 */
struct net6_claim {
	struct net6_claim_key	key;
	u32			users;
	struct rhash_head	node;
	struct rcu_head		rcu;
};

static const struct rhashtable_params net6_claim_params = {
	.key_len		= offsetofend(struct net6_claim_key, uid),
	.key_offset		= offsetof(struct net6_claim, key),
	.head_offset		= offsetof(struct net6_claim, node),
	.automatic_shrinking	= true,
};

static struct net6_claim *net6_claim_find(const struct net6_claim_key *key)
	__must_hold(&key->iface->nn->lock)
{
	lockdep_assert_held(&key->iface->nn->lock);
	return rhashtable_lookup_fast(&key->iface->nn->claims, key, net6_claim_params);
}

static struct net6_claim *net6_claim_new(const struct net6_claim_key *key)
{
	struct net6_claim *claim = kzalloc(sizeof(*claim), GFP_ATOMIC | __GFP_ACCOUNT);

	if (!claim)
		return NULL;
	claim->key = *key;
	if (!rhashtable_insert_fast(&key->iface->nn->claims, &claim->node, net6_claim_params))
		return claim;
	kfree(claim);
	return NULL;
}

/* One user less. */
static bool net6_claim_put(struct net6_claim *claim)
{
	if (--claim->users)
		return false;
	rhashtable_remove_fast(&claim->key.iface->nn->claims, &claim->node, net6_claim_params);
	kfree_rcu(claim, rcu);
	return true;
}

/**
 * net6_claim_take() - a socket is about to join
 * @iface: interface, to which the caller has a reference until net6_claim_give()
 * @addr: group or anycast address
 * @uid: the socket's owner
 *
 * Context: nn->lock held.
 * Return: 0; -ENOBUFS (the user has limits.max_groups of them, or too many sockets); -ENOMEM.
 */
int net6_claim_take(const struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid)
	__must_hold(&iface->nn->lock)
{
	struct net6_claim_key key = { .addr = *addr, .iface = iface, .uid = uid };
	struct net6_claim *claim = net6_claim_find(&key), *all;

	if (claim && claim->users == U32_MAX)
		return -ENOBUFS;
	if (claim) {
		claim->users++;
		return 0;
	}
	key.addr = in6addr_any;
	all = net6_claim_find(&key);
	if ((all ? all->users : 0) >= READ_ONCE(iface->nn->limits.max_groups)) {
		NET6_INC(iface->nn, MldGroupLimit);
		return -ENOBUFS;
	}
	all = all ?: net6_claim_new(&key);
	if (!all)
		return -ENOMEM;
	all->users++;
	key.addr = *addr;
	claim = net6_claim_new(&key);
	if (!claim) {
		net6_claim_put(all);
		return -ENOMEM;
	}
	claim->users = 1;
	return 0;
}

/**
 * net6_claim_give() - undo one net6_claim_take()
 * @iface: the same
 * @addr: the same
 * @uid: the same, whoever owns the socket now
 *
 * Context: nn->lock held.
 */
void net6_claim_give(const struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid)
	__must_hold(&iface->nn->lock)
{
	struct net6_claim_key key = { .addr = *addr, .iface = iface, .uid = uid };
	struct net6_claim *claim = net6_claim_find(&key);

	if (WARN_ON_ONCE(!claim) || !net6_claim_put(claim))
		return;
	key.addr = in6addr_any;
	claim = net6_claim_find(&key);
	if (!WARN_ON_ONCE(!claim))
		net6_claim_put(claim);
}

/**
 * net6_claim_net_init() - a namespace in which nothing is joined yet
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_claim_net_init(struct net6_net *nn)
{
	return rhashtable_init(&nn->claims, &net6_claim_params);
}

/**
 * net6_claim_net_exit() - end of the table
 * @nn: namespace; its sockets are gone, and their claims with them
 *
 * Context: process, sleeps.
 */
void net6_claim_net_exit(struct net6_net *nn)
{
	rhashtable_destroy(&nn->claims);
}
