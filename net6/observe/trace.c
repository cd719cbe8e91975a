// SPDX-License-Identifier: GPL-2.0
/* Changes are noted here: tracepoints first, then those who registered. */
#include <linux/rcupdate.h>
#include <net/sock.h>

#include "../core/nd.h"
#include "note.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static const struct net6_note_ops __rcu *net6_note_ops;

/* Who registered, if anybody. Callers hold a spinlock with BH disabled, which keeps
 * the ops as an RCU section would.
 */
static const struct net6_note_ops *net6_note_listener(void)
{
	return rcu_dereference_bh_check(net6_note_ops, in_softirq());
}

/**
 * net6_note_register() - be told of all changes from now on
 * @ops: constant until net6_note_unregister(); there is one at a time
 *
 * Context: process.
 */
void net6_note_register(const struct net6_note_ops *ops)
{
	rcu_assign_pointer(net6_note_ops, ops);
}

/**
 * net6_note_unregister() - be told no more; no call is going on when it returns
 *
 * Context: process, sleeps.
 */
void net6_note_unregister(void)
{
	RCU_INIT_POINTER(net6_note_ops, NULL);
	synchronize_rcu();
}

/**
 * net6_note_addr() - an address came, went or changed its state
 * @addr: address as it is now
 * @event: what happened
 *
 * Context: nn->lock held.
 */
void net6_note_addr(const struct net6_addr *addr, enum net6_note_event event)
	__must_hold(&addr->iface->nn->lock)
{
	const struct net6_note_ops *ops = net6_note_listener();

	trace_net6_addr(addr->iface->ifindex, &addr->addr, addr->plen, event, addr->state);
	if (ops)
		ops->addr(addr, event);
}

/**
 * net6_note_dad() - a step of duplicate address detection
 * @addr: tentative address
 * @event: what happened
 *
 * Context: nn->lock held.
 */
void net6_note_dad(const struct net6_addr *addr, enum net6_dad_event event)
	__must_hold(&addr->iface->nn->lock)
{
	trace_net6_dad(addr->iface->ifindex, &addr->addr, event, addr->dad_left);
}

/**
 * net6_note_neigh() - a neighbor changed its state or went
 * @neigh: neighbor as it is now
 * @was: state before
 * @event: NET6_NOTE_CHANGE or NET6_NOTE_DEL
 *
 * Context: neigh->lock held.
 */
void net6_note_neigh(const struct net6_neigh *neigh, u8 was, enum net6_note_event event)
	__must_hold(&neigh->lock)
{
	const struct net6_note_ops *ops = net6_note_listener();

	if (event == NET6_NOTE_CHANGE && was == neigh->state)
		return;
	trace_net6_neigh_state(neigh->iface->ifindex, &neigh->addr, was, neigh->state,
			       neigh->probes);
	if (ops)
		ops->neigh(neigh, event);
}

/**
 * net6_note_router() - a default router came, went or changed
 * @router: router as it is now
 * @event: what happened
 *
 * Context: nn->lock held.
 */
void net6_note_router(const struct net6_router *router, enum net6_note_event event)
	__must_hold(&router->iface->nn->lock)
{
	const struct net6_note_ops *ops = net6_note_listener();

	trace_net6_router(router->iface->ifindex, &router->addr, event, router->attrs.preference,
			  net6_life_left(&router->life));
	if (ops)
		ops->router(router, event);
}

/**
 * net6_note_prefix() - an on-link prefix came, went or changed
 * @prefix: prefix as it is now
 * @event: what happened
 *
 * Context: nn->lock held.
 */
void net6_note_prefix(const struct net6_prefix *prefix, enum net6_note_event event)
	__must_hold(&prefix->iface->nn->lock)
{
	const struct net6_note_ops *ops = net6_note_listener();

	trace_net6_prefix(prefix->iface->ifindex, &prefix->prefix, prefix->plen, event,
			  net6_life_left(&prefix->life));
	if (ops)
		ops->prefix(prefix, event);
}

/**
 * net6_note_route() - a route came or went
 * @route: route as it is now
 * @event: what happened
 *
 * Context: nn->lock held.
 */
void net6_note_route(const struct net6_fib_route *route, enum net6_note_event event)
	__must_hold(&route->iface->nn->lock)
{
	const struct net6_note_ops *ops = net6_note_listener();

	trace_net6_route(route->iface->ifindex, &route->prefix, route->plen, &route->gateway, event,
			 route->attrs.preference, net6_life_left(&route->life));
	if (ops)
		ops->route(route, event);
}

/**
 * net6_note_pref64() - a prefix of NAT64 came or went
 * @pref64: as it is now
 * @event: what happened
 *
 * Context: nn->lock held.
 */
void net6_note_pref64(const struct net6_pref64 *pref64, enum net6_note_event event)
	__must_hold(&pref64->iface->nn->lock)
{
	const struct net6_note_ops *ops = net6_note_listener();

	if (ops)
		ops->pref64(pref64, event);
}

/**
 * net6_note_dns() - a router speaks of resolvers
 * @dns: what it says
 *
 * Context: softirq, RCU read lock held.
 */
void net6_note_dns(const struct net6_dns *dns)
{
	const struct net6_note_ops *ops = net6_note_listener();

	if (ops)
		ops->dns(dns);
}

/**
 * net6_note_ra_flags() - a router says another thing of DHCPv6 than the one before
 * @iface: interface
 *
 * Context: softirq, RCU read lock held.
 */
void net6_note_ra_flags(const struct net6_iface *iface)
{
	const struct net6_note_ops *ops = net6_note_listener();

	if (ops)
		ops->ra_flags(iface);
}

/**
 * net6_note_ra_option() - an option of an advertisement
 * @iface: interface it came in on
 * @router: who sent it
 * @opt: option
 *
 * Context: softirq, RCU read lock held.
 */
void net6_note_ra_option(const struct net6_iface *iface, const struct in6_addr *router,
			 const struct net6_nd_opt *opt)
{
	const struct net6_note_ops *ops = net6_note_listener();

	if (ops)
		ops->ra_option(iface, router, opt);
}

/**
 * net6_note_tcp_state() - a TCP socket changes its state
 * @sk: socket, locked
 * @was: TCP_* before
 * @now: TCP_* from now on
 *
 * Context: any.
 */
void net6_note_tcp_state(const struct sock *sk, int was, int now)
{
	trace_net6_tcp_state(sk, &sk->sk_v6_rcv_saddr, sk->sk_num, &sk->sk_v6_daddr,
			     ntohs(sk->sk_dport), was, now);
}

/**
 * net6_note_tunnel_drop() - a packet in a tunnel goes no further
 * @ifindex: tunnel's device, or where the packet came in if it is in no tunnel
 * @reason: why
 *
 * Context: any.
 */
void net6_note_tunnel_drop(int ifindex, enum net6_drop_reason reason)
{
	trace_net6_tunnel_drop(ifindex, reason);
}

/**
 * net6_note_tunnel_error() - an ICMPv4 error about a packet of a tunnel
 * @ifindex: tunnel's device
 * @type: of the message
 * @code: its code
 * @info: MTU, if it has one
 *
 * Context: any.
 */
void net6_note_tunnel_error(int ifindex, u8 type, u8 code, u32 info)
{
	trace_net6_tunnel_error(ifindex, type, code, info);
}
