// SPDX-License-Identifier: GPL-2.0
/* The switch between IPv6 and what it carries: one pointer for each protocol number. */
#include <linux/rcupdate.h>

#include "../transport/proto.h"

static const struct net6_proto __rcu *net6_protos[256] __read_mostly;

/**
 * net6_proto_register() - take packets of a protocol
 * @protocol: Next Header value; not one of an extension header
 * @proto: its entry points; stays valid until unregistered
 *
 * Context: any. Return: 0 or -EEXIST.
 */
int net6_proto_register(u8 protocol, const struct net6_proto *proto)
{
	if (cmpxchg((__force const struct net6_proto **)&net6_protos[protocol], NULL, proto))
		return -EEXIST;
	return 0;
}

/**
 * net6_proto_unregister() - take no more packets of a protocol
 * @protocol: Next Header value
 * @proto: what was registered for it
 *
 * Context: process, sleeps until no CPU is in one of the entry points.
 */
void net6_proto_unregister(u8 protocol, const struct net6_proto *proto)
{
	if (WARN_ON_ONCE(rcu_access_pointer(net6_protos[protocol]) != proto))
		return;
	RCU_INIT_POINTER(net6_protos[protocol], NULL);
	synchronize_net();
}

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
