/* SPDX-License-Identifier: GPL-2.0 */
/* Unicast addresses of ours [NTE] and the addresses we receive for [ADE]. */
#ifndef _NET6_ADDR_H
#define _NET6_ADDR_H

#include <linux/if_addr.h>
#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/timer.h>
#include <linux/uidgid.h>

#include "iface.h"
#include "life.h"

enum net6_addr_state {
	NET6_ADDR_TENTATIVE,	/* DAD is running: not ours yet */
	NET6_ADDR_PREFERRED,
	NET6_ADDR_DEPRECATED,	/* no new connections, RFC 4862 5.5.4 */
	NET6_ADDR_DUPLICATE,	/* DAD failed: kept to be seen, never used */
	NET6_ADDR_GONE,		/* removed from the tables */
	NET6_ADDR_OPTIMISTIC,	/* DAD is running, but it is used already: RFC 4429 */
};

enum net6_addr_origin {
	NET6_ADDR_MANUAL,
	NET6_ADDR_LINKLOCAL,	/* formed by ourselves */
	NET6_ADDR_SLAAC,	/* from a prefix option */
	NET6_ADDR_LOOPBACK,
	NET6_ADDR_TEMPORARY,	/* from a prefix option, RFC 8981 */
};

/* addr_gen_mode, Linux's numbers. The key of RFC 7217 is always the namespace's. */
enum net6_addr_gen {
	NET6_ADDR_GEN_EUI64,	/* RFC 4291 appendix A */
	NET6_ADDR_GEN_NONE,	/* the same, but no link-local address */
	NET6_ADDR_GEN_SECRET,	/* RFC 7217 */
	NET6_ADDR_GEN_RANDOM,	/* RFC 7217 */
};

#define NET6_MAX_NEIGHBOR_ADVERTISEMENT	3	/* RFC 4861 section 10 */
#define NET6_NONCE_LEN		6	/* bytes, RFC 3971 5.3.2 */

/* What of IFA_F_* is a wish that is kept with an address; the rest says how it is. */
#define NET6_ADDR_WISHES	(IFA_F_NODAD | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR | \
				 IFA_F_NOPREFIXROUTE)

/**
 * struct net6_addr_wish - an address that is to be, beside the address itself
 * @peer: the other end of the link, on-link as well; :: for none
 * @flags: NET6_ADDR_WISHES; IFA_F_OPTIMISTIC as long as it is probed for
 * @metric: of the on-link prefix that it makes, 0: as native's
 * @valid_lft: seconds, NET6_LIFETIME_INFINITE; @preferred_lft: alike, at most @valid_lft
 * @plen: prefix length, bits
 * @proto: IFAPROT_* of who has set it; it is told only
 */
struct net6_addr_wish {
	struct in6_addr	peer;
	u32		flags;
	u32		metric;
	u32		valid_lft;
	u32		preferred_lft;
	u8		plen;
	u8		proto;
};

/**
 * struct net6_addr_key - an address on an interface
 * @addr: address
 * @iface: interface, also one that is gone: it is compared only
 */
struct net6_addr_key {
	struct in6_addr		addr;
	const struct net6_iface	*iface;
};

/**
 * struct net6_addr - a unicast address of ours
 * @addr: the address; constant
 * @iface: interface it is assigned to; reference held. Both are its key: struct net6_addr_key
 * @plen: prefix length as configured or advertised, bits
 * @state: enum net6_addr_state, written under nn->lock
 * @origin: enum net6_addr_origin
 * @proto, @flags, @metric, @peer: as in struct net6_addr_wish, written under nn->lock
 * @dad_left: probes still to send; @dad_counter: RFC 7217 DAD_Counter
 * @announce_left: advertisements still to be sent to routers (RFC 9131)
 * @dad_looped: one of our own probes came back (RFC 7527)
 * @joined: the solicited-node group is joined
 * @nonce: of the probes, RFC 7527 section 4.1
 * @updated: jiffies when the lifetimes were set
 * @valid_lft: seconds from @updated, NET6_LIFETIME_INFINITE; @preferred_lft: alike
 * @created: jiffies when it was made
 * @subnet_router: its subnet's anycast address is received for (RFC 4291 2.6.1)
 * @replaced: a temporary address whose successor has been made
 * @temp_preferred: most seconds that a temporary address is preferred, from @created
 * @timer: DAD while tentative, else the next lifetime event; holds a reference
 * @node: in nn->addrs
 * @iface_list: in iface->addrs
 * @formed_list: in iface->formed, if net6_addr_is_formed()
 * @chain_queued: core/addr_chain.c has yet to tell of it; under nn->lock
 * @chain_node: in its queue then
 * @chain_told: inet6addr_chain has heard of it
 * @source: routes ask for it as their source (source.h); under nn->lock
 * @ref: references; the tables hold one
 * @rcu: freed after a grace period
 */
struct net6_addr {
	struct in6_addr		addr;
	struct net6_iface	*iface;
	u8			plen;
	u8			state;
	u8			origin;
	u8			dad_left;
	u8			dad_counter;
	u8			announce_left;
	bool			dad_looped;
	bool			joined;
	bool			replaced;
	bool			subnet_router;
	bool			chain_queued;
	bool			chain_told;
	u8			nonce[NET6_NONCE_LEN];
	u32			valid_lft;
	u32			preferred_lft;
	u32			temp_preferred;
	unsigned long		updated;
	unsigned long		created;
	struct timer_list	timer;
	struct rhash_head	node;
	struct list_head	iface_list;
	struct list_head	formed_list;
	struct llist_node	chain_node;
	struct net6_source	*source;
	refcount_t		ref;
	u32			flags;
	u32			metric;
	u8			proto;
	struct in6_addr		peer;
	struct rcu_head		rcu;
};

enum net6_accept_type {
	NET6_ACCEPT_UNICAST,
	NET6_ACCEPT_ANYCAST,
	NET6_ACCEPT_MULTICAST,
};

/**
 * struct net6_accept - an address that we receive packets for
 * @addr: unicast, anycast or multicast
 * @iface: interface it is received on. A unicast address is accepted on every
 *	interface of the namespace, or of the VRF (weak host, as Linux), except link-local
 *	ones and groups, which only @iface takes. With @addr its key: struct net6_addr_key
 * @type: enum net6_accept_type
 * @table: number of the routing table that it was entered for, @iface's; under nn->lock
 * @users: how many joined the group or anycast address; 1 for unicast. Under nn->lock
 * @mld: group: what routers are told of it, NULL for nothing; under nn->lock
 * @own_node: in nn->accept_own
 * @any_node: in nn->accept_any, if it is the first of @same. Neither is a group
 * @same: ring of the entries of @addr, under nn->lock
 * @list: in iface->groups, iface->anycast or iface->unicast
 * @rcu: freed after a grace period
 */
struct net6_accept {
	struct in6_addr		addr;
	struct net6_iface	*iface;
	u8			type;
	u32			table;
	u32			users;
	struct net6_mld_group	*mld;
	struct rhash_head	own_node;
	struct rhash_head	any_node;
	struct list_head	same;
	struct list_head	list;
	struct rcu_head		rcu;
};

/* Look-ups: RCU read lock held by the caller. */
const struct net6_accept *net6_accept_find(struct net6_net *nn, const struct in6_addr *addr,
					   const struct net6_iface *iface);
const struct net6_accept *net6_accept_find_rcv(struct net6_net *nn, const struct in6_addr *addr,
					       const struct net6_iface *iface);
const struct net6_accept *net6_accept_in(struct net6_net *nn, const struct in6_addr *addr,
					 u32 table);
bool net6_accept_assigned(struct net6_net *nn, const struct in6_addr *addr, u32 table);
bool net6_accept_own_gateway(const struct net6_iface *iface, const struct in6_addr *gateway);
const struct net6_accept *net6_accept_on(const struct net6_iface *iface,
					 const struct in6_addr *addr, enum net6_accept_type type);
struct net6_addr *net6_addr_find(const struct net6_iface *iface, const struct in6_addr *addr);
bool net6_addr_linklocal(const struct net6_iface *iface, struct in6_addr *addr);
bool net6_addr_usable(struct net6_net *nn, const struct in6_addr *addr, int ifindex);

/* Process; take nn->lock, sleep. */
int net6_addr_add(struct net6_iface *iface, const struct in6_addr *addr, u8 plen,
		  enum net6_addr_origin origin, u32 valid_lft, u32 preferred_lft);
int net6_addr_set(struct net6_iface *iface, const struct in6_addr *addr,
		  const struct net6_addr_wish *wish, bool replace);
#define NET6_ADDR_ANY_PLEN	(-1)
int net6_addr_del(struct net6_iface *iface, const struct in6_addr *addr, int plen);

/* Process or softirq; take nn->lock. */
void net6_addr_iface_up(struct net6_iface *iface);
void net6_addr_iface_down(struct net6_iface *iface, bool remove_all, bool keep);
void net6_addr_slaac(struct net6_iface *iface, const struct in6_addr *prefix,
		     u32 valid_lft, u32 preferred_lft);	/* RFC 4862 5.5.3 d, e */
void net6_addr_put(struct net6_addr *addr);

static inline bool net6_addr_is_assigned(const struct net6_addr *addr)
{
	u8 state = READ_ONCE(addr->state);

	return state == NET6_ADDR_PREFERRED || state == NET6_ADDR_DEPRECATED ||
	       state == NET6_ADDR_OPTIMISTIC;
}

/* Is it still being probed for? */
static inline bool net6_addr_in_dad(const struct net6_addr *addr)
{
	u8 state = READ_ONCE(addr->state);

	return state == NET6_ADDR_TENTATIVE || state == NET6_ADDR_OPTIMISTIC;
}

/* nn->lock held. */
struct net6_addr *net6_addr_find_locked(struct net6_iface *iface, const struct in6_addr *addr);
struct net6_addr *net6_addr_new(struct net6_iface *iface, const struct in6_addr *addr,
				enum net6_addr_origin origin, const struct net6_addr_wish *wish);
void net6_addr_take(struct net6_addr *a, const struct net6_addr_wish *wish);
int net6_addr_insert(struct net6_iface *iface, const struct in6_addr *addr, u8 plen,
		     enum net6_addr_origin origin, u32 valid_lft, u32 preferred_lft,
		     u8 dad_counter);
void net6_addr_remove(struct net6_addr *addr);
void net6_addr_end(struct net6_addr *addr);		/* and its on-link prefix */
void net6_addr_onlink_again(struct net6_iface *iface);
void net6_addr_form(const struct net6_iface *iface, const struct in6_addr *prefix,
		    u8 dad_counter, struct in6_addr *addr);	/* RFC 7217; lock not wanted */
struct net6_addr *net6_addr_of_prefix(struct net6_iface *iface, const struct in6_addr *prefix);
int net6_addr_enter(struct net6_addr *addr, enum net6_addr_state state);
void net6_addr_set_token(struct net6_iface *iface, __be64 token);
void net6_addr_set_gen_mode(struct net6_iface *iface, enum net6_addr_gen mode);
int net6_addr_assign(struct net6_addr *addr);		/* DAD is over: it is ours */
void net6_addr_unassign(struct net6_addr *addr);	/* tentative again */
bool net6_addr_age(struct net6_addr *addr);		/* false: its life is over */
int net6_addr_join_solicited(struct net6_addr *addr);
void net6_addr_arm(struct net6_addr *addr, unsigned long delay);

void net6_addr_timer_fn(struct timer_list *t);	/* takes nn->lock */

/* Temporary addresses, RFC 8981 (core/tempaddr.c). nn->lock held, but for the first. */
void net6_temp_form(const struct in6_addr *prefix, struct in6_addr *addr);
void net6_temp_update(const struct net6_addr *public);
void net6_temp_leave(const struct net6_addr *public);
u32 net6_temp_age(struct net6_addr *addr, u32 preferred);	/* seconds to the next call */

/**
 * struct net6_dad_probe - what DAD's timer wants sent when nn->lock is released
 * @send: something
 * @announce: an advertisement instead of a probe, RFC 9131
 * @target: the address
 * @nonce: of the probe, RFC 7527 section 4.1
 */
struct net6_dad_probe {
	bool		send;
	bool		announce;
	struct in6_addr	target;
	u8		nonce[NET6_NONCE_LEN];
};

/* Duplicate address detection, RFC 4862 5.4 (core/dad.c). The first three want nn->lock. */

void net6_dad_start(struct net6_addr *addr, bool delay);
void net6_dad_set_router(struct net6_iface *iface);	/* no optimistic address */
void net6_dad_timer(struct net6_addr *addr, struct net6_dad_probe *probe);
void net6_dad_send(struct net6_iface *iface, const struct net6_dad_probe *probe);
bool net6_dad_ns(struct net6_iface *iface, const struct in6_addr *target, bool probe,
		 const u8 *nonce, unsigned int nonce_len);	/* true: was tentative */
bool net6_dad_na(struct net6_iface *iface, const struct in6_addr *target, bool looped);

int net6_accept_net_init(struct net6_net *nn);
void net6_accept_net_exit(struct net6_net *nn);
int net6_addr_net_init(struct net6_net *nn);
void net6_addr_net_exit(struct net6_net *nn);

/* nn->lock held (core/accept.c). */
struct net6_accept *net6_accept_new(struct net6_iface *iface, const struct in6_addr *addr,
				    enum net6_accept_type type);
void net6_accept_free(struct net6_accept *accept);
void net6_accept_move(struct net6_iface *iface);
int net6_accept_add(struct net6_iface *iface, const struct in6_addr *addr,
		    enum net6_accept_type type);
void net6_accept_del(struct net6_iface *iface, const struct in6_addr *addr,
		     enum net6_accept_type type);
struct net6_accept *net6_accept_own(struct net6_iface *iface, const struct in6_addr *addr,
				    enum net6_accept_type type);

/* nn->lock held (core/mcast.c). */
int net6_group_change_locked(struct net6_iface *iface, const struct in6_addr *group,
			     const struct net6_mld_filter *old,
			     const struct net6_mld_filter *new);
int net6_group_join_locked(struct net6_iface *iface, const struct in6_addr *group);
int net6_group_leave_locked(struct net6_iface *iface, const struct in6_addr *group);
void net6_group_leave_all(struct net6_iface *iface);

/* Groups (core/mcast.c); counted. Any context; 0 or -errno. The second is for sockets. */
int net6_group_join(struct net6_iface *iface, const struct in6_addr *group);
int net6_group_change(struct net6_iface *iface, const struct in6_addr *group, kuid_t uid,
		      const struct net6_mld_filter *old, const struct net6_mld_filter *new);

/* Source selection, RFC 6724 section 5 (core/srcaddr.c). RCU read lock held.
 * Returns 0 and fills *saddr, or -EADDRNOTAVAIL.
 */
int net6_srcaddr_on(const struct net6_iface *out, const struct in6_addr *daddr,
		    struct in6_addr *saddr);
int net6_srcaddr_select(struct net6_net *nn, const struct net6_iface *out,
			const struct in6_addr *hop, const struct in6_addr *daddr,
			unsigned int prefs, struct in6_addr *saddr);

#endif /* _NET6_ADDR_H */
