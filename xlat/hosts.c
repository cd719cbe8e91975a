// SPDX-License-Identifier: GPL-2.0
/* IPv4 addresses that IPv6 hosts have for a while. A packet of a known host costs one look-up in a
 * hash, however many there are. When addresses run short, who sends the least gives one up, and a
 * network of 64 bits that has its share gives up one of its own: others' are not its to take.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>

#include "hosts.h"

#define NET6_XLAT_LOOK		16	/* hosts that are looked at to find one that gives up */
#define NET6_XLAT_BATCH		64	/* and for those that are idle, under one lock */
#define NET6_XLAT_ROUND		60	/* seconds until all have been */

/**
 * struct net6_xlat_net - the hosts of a network of 64 bits
 * @node: by @prefix
 * @prefix: bits in front
 * @n: hosts that have an address
 * @hosts: these, those first that were looked at the longest ago
 */
struct net6_xlat_net {
	struct rhash_head	node;
	u64			prefix;
	u32			n;
	struct list_head	hosts;
};

/**
 * struct net6_xlat_host - a host that has an address
 * @node: by @addr6
 * @addr6: its address
 * @slot: number of the address that is lent to it
 * @used: jiffies when it last sent
 * @list: of all; those first that were looked at the longest ago
 * @of_net: of @net's
 * @net: its network
 * @rcu: freed after a grace period
 */
struct net6_xlat_host {
	struct rhash_head	node;
	struct in6_addr		addr6;
	u32			slot;
	unsigned long		used;
	struct list_head	list;
	struct list_head	of_net;
	struct net6_xlat_net	*net;
	struct rcu_head		rcu;
};

/**
 * struct net6_xlat_pool - the addresses of a translator
 * @hosts: what the map knows of it
 * @by6: hosts by address, read under RCU
 * @by4: hosts by number of address, NULL where nobody has it; same
 * @taken: a bit for each address that is lent
 * @lock: for who changes any of it
 * @nets: networks by prefix, under @lock
 * @all: struct net6_xlat_host.list, under @lock
 * @key: of the hash that proposes an address
 * @inside4: the first address
 * @size: how many there are
 * @most: how many are lent; a sixteenth is free, so that one is found in no time
 * @per64: how many a network has at most
 * @idle: jiffies until a host that does not send has none any more
 * @n: how many are lent now
 * @made: how many were lent
 * @gave: hosts that had to make room
 * @ended: those that were idle
 * @round: looks for hosts that are idle
 */
struct net6_xlat_pool {
	struct net6_xlat_hosts	hosts;
	struct rhashtable	by6;
	struct net6_xlat_host __rcu **by4;
	unsigned long		*taken;
	spinlock_t		lock;
	struct rhashtable	nets;
	struct list_head	all;
	siphash_key_t		key;
	u32			inside4;
	u32			size;
	u32			most;
	u32			per64;
	unsigned long		idle;
	u32			n;
	u64			made;
	u64			gave;
	u64			ended;
	struct delayed_work	round;
};

static const struct rhashtable_params net6_xlat_by6_params = {
	.head_offset		= offsetof(struct net6_xlat_host, node),
	.key_offset		= offsetof(struct net6_xlat_host, addr6),
	.key_len		= sizeof(struct in6_addr),
	.automatic_shrinking	= true,
};

static const struct rhashtable_params net6_xlat_nets_params = {
	.head_offset		= offsetof(struct net6_xlat_net, node),
	.key_offset		= offsetof(struct net6_xlat_net, prefix),
	.key_len		= sizeof(u64),
	.automatic_shrinking	= true,
};

static struct net6_xlat_pool *net6_xlat_pool_of(const struct net6_xlat_hosts *hosts)
{
	return container_of((struct net6_xlat_hosts *)hosts, struct net6_xlat_pool, hosts);
}

/* The address can be lent again. Who has just found the host may use it until RCU's end. */
static void net6_xlat_host_del(struct net6_xlat_pool *pool, struct net6_xlat_host *host)
	__must_hold(&pool->lock)
{
	struct net6_xlat_net *net = host->net;

	lockdep_assert_held(&pool->lock);
	rhashtable_remove_fast(&pool->by6, &host->node, net6_xlat_by6_params);
	RCU_INIT_POINTER(pool->by4[host->slot], NULL);
	__clear_bit(host->slot, pool->taken);
	list_del(&host->list);
	list_del(&host->of_net);
	pool->n--;
	if (!--net->n) {
		rhashtable_remove_fast(&pool->nets, &net->node, net6_xlat_nets_params);
		kfree(net);
	}
	kfree_rcu(host, rcu);
}

/* Of some that were not looked at lately the one that has been silent the longest gives up its
 * address. @offset: of the list's node in a host.
 */
static void net6_xlat_host_take(struct net6_xlat_pool *pool, struct list_head *list, size_t offset)
	__must_hold(&pool->lock)
{
	struct net6_xlat_host *host, *worst = NULL;
	struct list_head *pos;
	unsigned int i;

	lockdep_assert_held(&pool->lock);
	for (i = 0; i < NET6_XLAT_LOOK && !list_empty(list); i++) {
		pos = list->next;
		host = (void *)pos - offset;
		list_move_tail(pos, list);
		if (!worst || time_before(READ_ONCE(host->used), READ_ONCE(worst->used)))
			worst = host;
	}
	if (!worst)
		return;
	net6_xlat_host_del(pool, worst);
	pool->gave++;
}

static struct net6_xlat_net *net6_xlat_net_get(struct net6_xlat_pool *pool, u64 prefix)
	__must_hold(&pool->lock)
{
	struct net6_xlat_net *net;

	lockdep_assert_held(&pool->lock);
	net = rhashtable_lookup_fast(&pool->nets, &prefix, net6_xlat_nets_params);
	if (net)
		return net;
	net = kzalloc(sizeof(*net), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!net)
		return NULL;
	net->prefix = prefix;
	INIT_LIST_HEAD(&net->hosts);
	if (!rhashtable_insert_fast(&pool->nets, &net->node, net6_xlat_nets_params))
		return net;
	kfree(net);
	return NULL;
}

/* A host has the same address again, if nobody else has got it. */
static u32 net6_xlat_slot(const struct net6_xlat_pool *pool, const struct in6_addr *addr6)
	__must_hold(&pool->lock)
{
	u32 want = siphash(addr6, sizeof(*addr6), &pool->key) & (pool->size - 1);
	u32 slot = find_next_zero_bit(pool->taken, pool->size, want);

	lockdep_assert_held(&pool->lock);
	return slot < pool->size ? slot : find_first_zero_bit(pool->taken, pool->size);
}

static bool net6_xlat_host_enter(struct net6_xlat_pool *pool, struct net6_xlat_net *net,
				 struct net6_xlat_host *host)
	__must_hold(&pool->lock)
{
	lockdep_assert_held(&pool->lock);
	host->net = net;
	host->slot = net6_xlat_slot(pool, &host->addr6);
	if (rhashtable_insert_fast(&pool->by6, &host->node, net6_xlat_by6_params))
		return false;
	rcu_assign_pointer(pool->by4[host->slot], host);
	__set_bit(host->slot, pool->taken);
	list_add_tail(&host->list, &pool->all);
	list_add_tail(&host->of_net, &net->hosts);
	net->n++;
	pool->n++;
	pool->made++;
	return true;
}

static struct net6_xlat_host *net6_xlat_host_make(struct net6_xlat_pool *pool,
						  const struct in6_addr *addr6)
{
	struct net6_xlat_host *host, *other;
	struct net6_xlat_net *net;
	u64 prefix;

	host = kzalloc(sizeof(*host), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!host)
		return NULL;
	host->addr6 = *addr6;
	host->used = jiffies;
	memcpy(&prefix, addr6, sizeof(prefix));
	spin_lock_bh(&pool->lock);
	other = rhashtable_lookup_fast(&pool->by6, addr6, net6_xlat_by6_params);
	if (other)
		goto found;
	net = net6_xlat_net_get(pool, prefix);
	if (!net)
		goto found;
	/* One that stays makes sure that the network does. */
	net->n++;
	if (net->n > pool->per64)
		net6_xlat_host_take(pool, &net->hosts, offsetof(struct net6_xlat_host, of_net));
	else if (pool->n >= pool->most)
		net6_xlat_host_take(pool, &pool->all, offsetof(struct net6_xlat_host, list));
	net->n--;
	if (net6_xlat_host_enter(pool, net, host)) {
		spin_unlock_bh(&pool->lock);
		return host;
	}
	if (!net->n) {
		rhashtable_remove_fast(&pool->nets, &net->node, net6_xlat_nets_params);
		kfree(net);
	}
found:
	spin_unlock_bh(&pool->lock);
	kfree(host);
	return other;
}

/* Only who can be answered. */
static bool net6_xlat_is_host(const struct in6_addr *addr6)
{
	int type = ipv6_addr_type(addr6);

	return (type & IPV6_ADDR_UNICAST) &&
	       !(type & (IPV6_ADDR_LOOPBACK | IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MAPPED |
			 IPV6_ADDR_COMPATv4));
}

static __be32 net6_xlat_hosts_to4(struct net6_xlat_hosts *hosts, const struct in6_addr *addr6,
				  bool make)
{
	struct net6_xlat_pool *pool = net6_xlat_pool_of(hosts);
	struct net6_xlat_host *host;
	__be32 addr4 = 0;

	rcu_read_lock();
	host = rhashtable_lookup(&pool->by6, addr6, net6_xlat_by6_params);
	if (!host && make && net6_xlat_is_host(addr6))
		host = net6_xlat_host_make(pool, addr6);
	if (host) {
		if (READ_ONCE(host->used) != jiffies)
			WRITE_ONCE(host->used, jiffies);
		addr4 = htonl(pool->inside4 + host->slot);
	}
	rcu_read_unlock();
	return addr4;
}

static bool net6_xlat_hosts_to6(struct net6_xlat_hosts *hosts, __be32 addr4,
				struct in6_addr *addr6)
{
	struct net6_xlat_pool *pool = net6_xlat_pool_of(hosts);
	struct net6_xlat_host *host;

	rcu_read_lock();
	host = rcu_dereference(pool->by4[ntohl(addr4) - pool->inside4]);
	if (host)
		*addr6 = host->addr6;
	rcu_read_unlock();
	return host;
}

/* All that are there now are looked at. Return: how many are left to look at. */
static u32 net6_xlat_round_some(struct net6_xlat_pool *pool, u32 left)
{
	struct net6_xlat_host *host;
	unsigned int i;

	spin_lock_bh(&pool->lock);
	for (i = 0; i < NET6_XLAT_BATCH && left && !list_empty(&pool->all); i++, left--) {
		host = list_first_entry(&pool->all, struct net6_xlat_host, list);
		if (time_after(jiffies, READ_ONCE(host->used) + pool->idle)) {
			net6_xlat_host_del(pool, host);
			pool->ended++;
		} else {
			list_move_tail(&host->list, &pool->all);
		}
	}
	if (list_empty(&pool->all))
		left = 0;
	spin_unlock_bh(&pool->lock);
	return left;
}

static void net6_xlat_round(struct work_struct *work)
{
	struct net6_xlat_pool *pool = container_of(to_delayed_work(work), struct net6_xlat_pool,
						   round);
	u32 left = READ_ONCE(pool->n);

	while (left) {
		left = net6_xlat_round_some(pool, left);
		cond_resched();
	}
	queue_delayed_work(system_power_efficient_wq, &pool->round,
			   min_t(unsigned long, pool->idle / 2 + 1, NET6_XLAT_ROUND * HZ));
}

static void net6_xlat_host_end(void *host, void *arg)
{
	kfree(host);
}

/* What there is of it is freed, if it has no hash tables. */
static void net6_xlat_pool_free(struct net6_xlat_pool *pool)
{
	bitmap_free(pool->taken);
	kvfree(pool->by4);
	kfree(pool);
}

/**
 * net6_xlat_hosts_make() - addresses that can be lent
 * @inside4: the first of them
 * @len: prefix length, both as net6_xlat_map_build() allows
 * @per64: how many a network of 64 bits has at most, 0 for half of them
 * @idle: seconds until a host that does not send has none any more, 0 for NET6_XLAT_IDLE
 *
 * Context: process, sleeps. Return: for the map; NULL without memory.
 */
struct net6_xlat_hosts *net6_xlat_hosts_make(__be32 inside4, u8 len, u32 per64, u32 idle)
{
	struct net6_xlat_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL_ACCOUNT);

	if (!pool)
		return NULL;
	pool->hosts.to4 = net6_xlat_hosts_to4;
	pool->hosts.to6 = net6_xlat_hosts_to6;
	pool->inside4 = ntohl(inside4);
	pool->size = 1U << (32 - len);
	pool->most = pool->size - max(pool->size / 16, 1U);
	pool->per64 = min(per64 ?: pool->size / 2, pool->most);
	pool->idle = (idle ?: NET6_XLAT_IDLE) * HZ;
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->all);
	INIT_DELAYED_WORK(&pool->round, net6_xlat_round);
	get_random_bytes(&pool->key, sizeof(pool->key));
	pool->by4 = kvcalloc(pool->size, sizeof(*pool->by4), GFP_KERNEL_ACCOUNT);
	pool->taken = bitmap_zalloc(pool->size, GFP_KERNEL_ACCOUNT);
	if (!pool->by4 || !pool->taken || rhashtable_init(&pool->by6, &net6_xlat_by6_params))
		goto free;
	if (rhashtable_init(&pool->nets, &net6_xlat_nets_params)) {
		rhashtable_destroy(&pool->by6);
		goto free;
	}
	queue_delayed_work(system_power_efficient_wq, &pool->round, HZ);
	return &pool->hosts;

free:
	net6_xlat_pool_free(pool);
	return NULL;
}

/**
 * net6_xlat_hosts_free() - end of it
 * @hosts: no packet meets it any more; or NULL
 *
 * Context: process, sleeps.
 */
void net6_xlat_hosts_free(struct net6_xlat_hosts *hosts)
{
	struct net6_xlat_pool *pool;

	if (!hosts)
		return;
	pool = net6_xlat_pool_of(hosts);
	cancel_delayed_work_sync(&pool->round);
	rhashtable_free_and_destroy(&pool->by6, net6_xlat_host_end, NULL);
	rhashtable_free_and_destroy(&pool->nets, net6_xlat_host_end, NULL);
	net6_xlat_pool_free(pool);
}

/**
 * net6_xlat_hosts_per64() - how many a network of 64 bits has at most
 * @hosts: who lends them
 *
 * Context: any. Return: addresses.
 */
u32 net6_xlat_hosts_per64(const struct net6_xlat_hosts *hosts)
{
	return net6_xlat_pool_of(hosts)->per64;
}

/**
 * net6_xlat_hosts_idle() - for how long a host has one that does not send
 * @hosts: who lends them
 *
 * Context: any. Return: seconds.
 */
u32 net6_xlat_hosts_idle(const struct net6_xlat_hosts *hosts)
{
	return net6_xlat_pool_of(hosts)->idle / HZ;
}

/**
 * net6_xlat_hosts_count() - how many addresses are and were lent
 * @hosts: who lends them
 * @lent: set to that
 *
 * Context: process.
 */
void net6_xlat_hosts_count(const struct net6_xlat_hosts *hosts, struct net6_xlat_lent *lent)
{
	struct net6_xlat_pool *pool = net6_xlat_pool_of(hosts);

	spin_lock_bh(&pool->lock);
	*lent = (struct net6_xlat_lent){
		.now	= pool->n,
		.made	= pool->made,
		.taken	= pool->gave,
		.ended	= pool->ended,
	};
	spin_unlock_bh(&pool->lock);
}

/**
 * net6_xlat_hosts_next() - who has an address
 * @hosts: who lends them
 * @from: number of the first address to look at; set to that behind the one that was found
 * @lease: filled in
 *
 * Context: process. Return: false if nobody has one from there on.
 */
bool net6_xlat_hosts_next(const struct net6_xlat_hosts *hosts, u32 *from,
			  struct net6_xlat_lease *lease)
{
	const struct net6_xlat_pool *pool = net6_xlat_pool_of(hosts);
	struct net6_xlat_host *host = NULL;
	u32 slot = *from;

	rcu_read_lock();
	while (!host && (slot = find_next_bit(pool->taken, pool->size, slot)) < pool->size)
		host = rcu_dereference(pool->by4[slot++]);
	if (host) {
		lease->addr6 = host->addr6;
		lease->addr4 = htonl(pool->inside4 + host->slot);
		lease->idle = (jiffies - READ_ONCE(host->used)) / HZ;
	}
	rcu_read_unlock();
	*from = slot;
	return host;
}
