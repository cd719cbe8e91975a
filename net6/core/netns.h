/* SPDX-License-Identifier: GPL-2.0 */
/* What net6 keeps per network namespace. */
#ifndef _NET6_NETNS_H
#define _NET6_NETNS_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "../observe/mib.h"
#include "param.h"
#include "rule.h"
#include "table.h"
#include "trie.h"

#define NET6_PROXY_HASH_BITS	8
#define NET6_TABLE_HASH_BITS	8

/* What a namespace begins with, and the most that a user namespace's root may ask for. The
 * struct is in settings_gen.h: limits are listed in Documentation/netlink/specs/net6.yaml.
 */
extern const struct net6_limits net6_limits_default;

/**
 * struct net6_settings - what else an administrator chooses for a namespace, by sysctl
 * @bindv6only: what new sockets have as IPV6_V6ONLY, default 0
 * @ip_nonlocal_bind: sockets may bind to addresses of others, default 0
 * @echo_ignore_all: no echo request is answered, default 0
 * @echo_ignore_multicast: none to a group, default 0
 * @echo_ignore_anycast: none to an anycast address, default 0
 * @anycast_src_echo_reply: the anycast address is the reply's source, default 0
 * @mtu_expires: seconds, RFC 8201 section 5.3, default 600
 * @idgen_retries: RFC 7217 section 7, default 3
 * @idgen_delay: seconds, RFC 7217 section 7, default 1
 * @mld_qrv: Robustness Variable, RFC 3810 9.1, default 2
 * @fib_multipath_hash_policy: enum net6_spread_policy, default 0
 *
 * The files are admin/sysctl_net.c's.
 */
struct net6_settings {
	u32	bindv6only;
	u32	ip_nonlocal_bind;
	u32	echo_ignore_all;
	u32	echo_ignore_multicast;
	u32	echo_ignore_anycast;
	u32	anycast_src_echo_reply;
	u32	mtu_expires;
	u32	idgen_retries;
	u32	idgen_delay;
	u32	mld_qrv;
	u32	fib_multipath_hash_policy;
};

/**
 * struct net6_net - one network namespace's IPv6
 * @net: the namespace we belong to (it holds us, we hold no reference)
 * @lock: protects writes to the interface parameters, address, accept, prefix
 *	and router tables and, below it, nothing else. BH-safe; taken in softirq.
 *	Order: RTNL, @lock, neigh->lock. Readers use RCU.
 * @by_index: interfaces by ifindex; written under RTNL, read under RCU
 * @ifaces: all interfaces, same rules
 * @loopback: the pseudo-loopback interface; lives as long as the namespace's lo, so
 *	NULL at the very beginning and end (READ_ONCE)
 * @addrs: struct net6_addr by address and interface; written under @lock
 * @addr_chain: core/addr_chain.c's, NULL beside native IPv6
 * @accept_own: struct net6_accept by address and interface; same
 * @accept_any: of those that are no groups, one for each address and table; same
 * @claims: struct net6_claim, what users' sockets have joined; under @lock
 * @proxy_hash: struct net6_proxy by address; written under @lock
 * @n_proxies: its entries
 * @dests: struct net6_dest by destination, interface and router
 * @dest_count: entries in @dests
 * @dest_lru: the same entries, oldest first
 * @dest_lock: protects both against writers and nests in nothing of ours but @lock
 * @dest_tick: jiffies when packets of others last brought a destination into @dests
 * @dest_admitted: so many have they brought since the beginning of that tick
 * @n_routers: default routers of all interfaces; written under @lock
 * @route_id: number of the last route or default router that was made; written under @lock
 * @main: routing table that there always is
 * @tables: others by number; written under @lock
 * @n_tables: so many
 * @fib_count: routes of all tables
 * @rules: core/rule.c's
 * @policy: policy table of RFC 6724, NULL: the RFC's; written under RTNL, read under RCU
 * @dest_gen: bumped whenever a next-hop, source address or on-link decision may
 *	have changed: all cached destinations with another number are stale
 * @secret: key of all hashes and identifiers, random per namespace
 * @iid_secret: RFC 7217 secret_key, 128 bits, never shown
 * @limits: see struct net6_limits
 * @param_default: what new interfaces begin with (enum net6_param); under @lock
 * @settings: see struct net6_settings
 * @mib: counters
 * @wq: ordered; whatever may sleep or takes RTNL runs here. Flushed in pernet
 *	exit only (a flush under RTNL deadlocks); work looks devices up again.
 * @rescan: looks at all devices again (core/iface.c)
 * @exiting: set at the beginning of pernet exit; no new timer, work or entry
 * @icmp: core/icmp.c's part; @fqdir: core/reasm.c's; @tunnels: tunnel/tunnel.c's
 * @ip6tnls: struct net6_ip6tnl_parms (ip6tnl/ip6tnl_table.c), NULL beside native IPv6
 * @tcp: TCP's part; @nf: takeover/nfroute.c's, NULL beside native IPv6
 */
struct net6_net {
	struct net		*net;
	spinlock_t		lock;
	struct rhashtable	by_index;
	struct list_head	ifaces;
	struct net6_iface	*loopback;
	struct rhashtable	addrs;
	struct net6_addr_chain	*addr_chain;
	struct rhashtable	accept_own;
	struct rhashtable	accept_any;
	struct rhashtable	claims;
	DECLARE_HASHTABLE(proxy_hash, NET6_PROXY_HASH_BITS);
	u32			n_proxies;
	struct rhashtable	dests;
	atomic_t		dest_count;
	struct list_head	dest_lru;
	spinlock_t		dest_lock;
	unsigned long		dest_tick;
	unsigned int		dest_admitted;
	u32			n_routers;
	u32			route_id;
	struct net6_table	main;
	DECLARE_HASHTABLE(tables, NET6_TABLE_HASH_BITS);
	u32			n_tables;
	u32			fib_count;
	struct net6_rules	rules;
	struct net6_policy __rcu *policy;
	atomic_t		dest_gen;
	siphash_key_t		secret;
	siphash_key_t		iid_secret;
	struct net6_limits	limits;
	s32			param_default[NET6_PARAMS];
	struct net6_settings	settings;
	struct net6_mib __percpu *mib;
	struct workqueue_struct	*wq;
	struct work_struct	rescan;
	bool			exiting;
	struct net6_icmp_net	*icmp;
	struct fqdir		*fqdir;
	struct net6_tunnel_net	*tunnels;
	struct rhashtable	*ip6tnls;
	struct net6_tcp_net	*tcp;
	struct net6_nf_net	*nf;
};

extern unsigned int net6_net_id;

/**
 * net6_pernet() - our part of a namespace
 * @net: any namespace while net6 is loaded
 *
 * Return: never NULL between pernet init and exit.
 */
static inline struct net6_net *net6_pernet(const struct net *net)
{
	return net_generic(net, net6_net_id);
}

/**
 * net6_pernet_rcu() - net6_pernet() for those who are in an RCU section anyhow
 * @net: as there
 *
 * Context: RCU read lock held.
 * Return: as there.
 */
static inline struct net6_net *net6_pernet_rcu(const struct net *net)
{
	return rcu_dereference(net->gen)->ptr[net6_net_id];
}

/* Are there other rules than those that a namespace begins with? */
static inline bool net6_rules_on(const struct net6_net *nn)
{
	return unlikely(READ_ONCE(nn->rules.on));
}

/**
 * net6_dest_flush() - make every cached destination of a namespace stale
 * @nn: namespace
 *
 * To be called behind the change that makes them stale. Costs one atomic increment: entries are
 * found stale by their next user. Context: any.
 */
static inline void net6_dest_flush(struct net6_net *nn)
{
	/* Who counts the new generation sees the change: pairs with net6_dest_gen(). */
	smp_mb__before_atomic();
	atomic_inc(&nn->dest_gen);
}

#endif /* _NET6_NETNS_H */
