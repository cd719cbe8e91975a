// SPDX-License-Identifier: GPL-2.0
/* The switch between IPv6 and what it carries: one pointer for each protocol number, and
 * one for raw sockets, which see everything.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>

#include "exthdr.h"
#include "proto.h"

static const struct net6_proto __rcu *net6_protos[256] __read_mostly;

int net6_proto_register(u8 protocol, const struct net6_proto *proto)
{
	if (net6_exthdr_find(protocol))
		return -EINVAL;
	if (cmpxchg((__force const struct net6_proto **)&net6_protos[protocol], NULL, proto))
		return -EEXIST;
	return 0;
}
EXPORT_SYMBOL_GPL(net6_proto_register);

void net6_proto_unregister(u8 protocol, const struct net6_proto *proto)
{
	if (WARN_ON_ONCE(rcu_access_pointer(net6_protos[protocol]) != proto))
		return;
	RCU_INIT_POINTER(net6_protos[protocol], NULL);
	synchronize_net();
}
EXPORT_SYMBOL_GPL(net6_proto_unregister);

/**
 * net6_proto_find() - who takes a protocol's packets?
 * @protocol: Next Header value
 *
 * Context: RCU read lock held. Return: its entry points or NULL.
 */
const struct net6_proto *net6_proto_find(u8 protocol)
{
	return rcu_dereference(net6_protos[protocol]);
}

DEFINE_STATIC_KEY_FALSE(net6_proto_tapped);
static const struct net6_proto_tap __rcu *net6_tap __read_mostly;

/**
 * net6_proto_tap_register() - let raw sockets see all packets
 * @tap: its entry points; NULL to end that
 *
 * Context: process, sleeps.
 */
void net6_proto_tap_register(const struct net6_proto_tap *tap)
{
	rcu_assign_pointer(net6_tap, tap);
	if (!tap)
		synchronize_net();
}

/**
 * net6_proto_tap_want() - there is one raw socket more or less
 * @want: true for more
 *
 * Context: process, sleeps.
 */
void net6_proto_tap_want(bool want)
{
	if (want)
		static_branch_inc(&net6_proto_tapped);
	else
		static_branch_dec(&net6_proto_tapped);
}

/**
 * net6_proto_tap_rcv() - show a packet to raw sockets
 * @skb: data at the header that @protocol names
 * @protocol: Next Header value
 *
 * Context: softirq, RCU read lock held. Return: whether one wanted it.
 */
bool net6_proto_tap_rcv(struct sk_buff *skb, u8 protocol)
{
	const struct net6_proto_tap *tap = rcu_dereference(net6_tap);

	return tap && tap->rcv(skb, protocol);
}

/**
 * net6_proto_tap_error() - show an ICMPv6 error to raw sockets
 * @skb: data at the ICMPv6 header
 * @err: what was parsed of it
 * @protocol: of the packet that it is about
 *
 * Context: softirq, RCU read lock held.
 */
void net6_proto_tap_error(struct sk_buff *skb, const struct net6_icmp_error *err, u8 protocol)
{
	const struct net6_proto_tap *tap = rcu_dereference(net6_tap);

	if (tap)
		tap->error(skb, err, protocol);
}
