/* SPDX-License-Identifier: GPL-2.0 */
/* Telling of changes. One call where the change is made feeds the tracepoints. Through a table
 * that the operator's side registers it feeds listeners, too. Costs a call and two tests when
 * nobody looks.
 */
#ifndef _NET6_NOTE_H
#define _NET6_NOTE_H

#include <linux/in6.h>
#include <linux/types.h>

#include "drop.h"

struct net6_addr;
struct net6_neigh;
struct net6_pref64;
struct net6_prefix;
struct net6_router;
struct net6_fib_route;
struct net6_iface;
struct sock;

enum net6_note_event {
	NET6_NOTE_NEW,
	NET6_NOTE_CHANGE,
	NET6_NOTE_DEL,
};

enum net6_dad_event {
	NET6_DAD_PROBE,		/* a probe is sent */
	NET6_DAD_LOOPED,	/* one of our own came back (RFC 7527) */
	NET6_DAD_CONFLICT,	/* somebody else has the address, or wants it */
	NET6_DAD_DONE,		/* it is ours */
};

/**
 * struct net6_dns - what a router says about resolvers (RFC 8106); nothing is kept
 * @iface: interface it was said on
 * @router: link-local address of who says it
 * @search: domain names in labels, padded with zeros; else addresses
 * @lifetime: seconds, all ones for ever, 0: no longer to be used
 * @data: what it says; @len: bytes of it
 */
struct net6_dns {
	const struct net6_iface	*iface;
	struct in6_addr		router;
	bool			search;
	u32			lifetime;
	const u8		*data;
	unsigned int		len;
};

struct net6_nd_opt;

/**
 * struct net6_note_ops - who wants to be told of changes
 * @addr, @neigh, @router, @prefix, @route, @pref64, @dns: called under the lock that protects the
 *	object;
 *	must not sleep
 * @ra_flags: the flags of advertisements are others now; @ra_option: an option of one that was
 *	taken, well-formed. Under the RCU read lock, in softirq
 */
struct net6_note_ops {
	void (*addr)(const struct net6_addr *addr, enum net6_note_event event);
	void (*neigh)(const struct net6_neigh *neigh, enum net6_note_event event);
	void (*router)(const struct net6_router *router, enum net6_note_event event);
	void (*prefix)(const struct net6_prefix *prefix, enum net6_note_event event);
	void (*route)(const struct net6_fib_route *route, enum net6_note_event event);
	void (*pref64)(const struct net6_pref64 *pref64, enum net6_note_event event);
	void (*dns)(const struct net6_dns *dns);
	void (*ra_flags)(const struct net6_iface *iface);
	void (*ra_option)(const struct net6_iface *iface, const struct in6_addr *router,
			  const struct net6_nd_opt *opt);
};

void net6_note_register(const struct net6_note_ops *ops);
void net6_note_unregister(void);	/* sleeps */

/* nn->lock held, of the neighbor its own lock. Any context. */
void net6_note_addr(const struct net6_addr *addr, enum net6_note_event event);
void net6_note_dad(const struct net6_addr *addr, enum net6_dad_event event);
void net6_note_router(const struct net6_router *router, enum net6_note_event event);
void net6_note_route(const struct net6_fib_route *route, enum net6_note_event event);
void net6_note_pref64(const struct net6_pref64 *pref64, enum net6_note_event event);
void net6_note_dns(const struct net6_dns *dns);	/* RCU read lock held, no other */
void net6_note_ra_flags(const struct net6_iface *iface);	/* RCU read lock held */
void net6_note_ra_option(const struct net6_iface *iface, const struct in6_addr *router,
			 const struct net6_nd_opt *opt);	/* same */
void net6_note_prefix(const struct net6_prefix *prefix, enum net6_note_event event);
/* @was: state before; DEL for an entry that is out of the table. */
void net6_note_neigh(const struct net6_neigh *neigh, u8 was, enum net6_note_event event);
/* Any context. What happened to a packet of a tunnel, by the index of its device. */
void net6_note_tunnel_drop(int ifindex, enum net6_drop_reason reason);
void net6_note_tunnel_error(int ifindex, u8 type, u8 code, u32 info);	/* ICMPv4 */
/* sk locked; before the state is changed. */
void net6_note_tcp_state(const struct sock *sk, int was, int now);

#endif /* _NET6_NOTE_H */
