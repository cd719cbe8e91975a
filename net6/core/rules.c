// SPDX-License-Identifier: GPL-2.0
/* What rules are asked: of a sender here, or of a packet of somebody else; and the hash of it that
 * a remembered destination has in its key. Only of what some rule looks at, so that packets that
 * no rule tells apart share an entry.
 */
#include <linux/siphash.h>
#include <net/flow_dissector.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>

#include "dest.h"
#include "l3mdev.h"
#include "netns.h"
#include "rule.h"

/**
 * struct net6_rule_seen - what is hashed
 * @saddr: as many bits of it as rules look at
 * @mark: alike
 * @uid: owner of the socket
 * @iif: interface that it came in on
 * @l3mdev: device of the VRF that it belongs to
 * @sport: port
 * @dport: port
 * @protocol: IPPROTO_*
 * @dscp: of the traffic class
 * @sourced: it has a source, and rules look at that
 */
struct net6_rule_seen {
	struct in6_addr	saddr;
	u32		mark;
	u32		uid;
	u32		iif;
	u32		l3mdev;
	__be16		sport;
	__be16		dport;
	u8		protocol;
	u8		dscp;
	u16		sourced;
} __aligned(SIPHASH_ALIGNMENT);

/* A VRF's device as the sender's interface says no more than that. */
static void net6_rules_l3mdev_of(const struct net6_net *nn, struct flowi6 *fl6)
{
	if (!static_branch_unlikely(&net6_l3mdev_key))
		return;
	rcu_read_lock();
	l3mdev_update_flow(nn->net, flowi6_to_flowi(fl6));
	rcu_read_unlock();
}

/**
 * net6_rules_ask() - the question of a sender here
 * @nn: namespace
 * @key: destination and interface
 * @saddr: source, :: if there is none yet
 * @flow: what else is known; NULL for nothing
 * @fl6: filled
 *
 * Context: any.
 */
void net6_rules_ask(const struct net6_net *nn, const struct net6_dest_key *key,
		    const struct in6_addr *saddr, const struct net6_flow *flow,
		    struct flowi6 *fl6)
{
	memset(fl6, 0, sizeof(*fl6));
	fl6->daddr = key->daddr;
	fl6->saddr = *saddr;
	fl6->flowi6_oif = key->oif;
	fl6->flowi6_iif = LOOPBACK_IFINDEX;
	fl6->flowi6_uid = sock_net_uid(nn->net, NULL);
	if (!flow) {
		net6_rules_l3mdev_of(nn, fl6);
		return;
	}
	fl6->flowi6_iif = flow->iif ?: LOOPBACK_IFINDEX;
	fl6->flowi6_mark = flow->mark;
	fl6->flowi6_proto = flow->protocol;
	fl6->fl6_sport = flow->sport;
	fl6->fl6_dport = flow->dport;
	fl6->flowlabel = flow->label;
	if (flow->owned)
		fl6->flowi6_uid = flow->uid;
	net6_rules_l3mdev_of(nn, fl6);
}

/* As native dissects them: behind extension headers, but not within a tunnel. */
static void net6_rules_dissect(struct sk_buff *skb, struct net6_flow *flow)
{
	struct flow_keys keys;

	if (!skb_flow_dissect_flow_keys(skb, &keys, FLOW_DISSECTOR_F_STOP_AT_ENCAP))
		return;
	flow->protocol = keys.basic.ip_proto;
	flow->sport = keys.ports.src;
	flow->dport = keys.ports.dst;
}

/**
 * net6_rules_flow() - what is known of a packet
 * @nn: namespace that has rules
 * @skb: data at the IPv6 header, which is the network header
 * @iif: interface that it came in on; 0: a packet of ours
 * @flow: filled
 *
 * Context: RCU read lock held.
 */
void net6_rules_flow(const struct net6_net *nn, struct sk_buff *skb, int iif,
		     struct net6_flow *flow)
{
	const u32 deep = NET6_RULES_PROTOCOL | NET6_RULES_SPORT | NET6_RULES_DPORT;
	const struct ipv6hdr *h = ipv6_hdr(skb);

	*flow = (struct net6_flow) {
		.iif		= iif,
		.mark		= skb->mark,
		.protocol	= h->nexthdr,
		.label		= ip6_flowinfo(h),
		.owned		= true,
		.uid		= iif ? GLOBAL_ROOT_UID :
					sock_net_uid(nn->net, skb_to_full_sk(skb)),
	};
	if (READ_ONCE(nn->rules.looks) & deep)
		net6_rules_dissect(skb, flow);
}

/**
 * net6_rules_ask_packet() - the question of a packet
 * @nn: namespace that has rules
 * @key: destination and interface
 * @skb: as for net6_rules_flow()
 * @iif: alike
 * @fl6: filled
 *
 * Context: RCU read lock held.
 */
void net6_rules_ask_packet(const struct net6_net *nn, const struct net6_dest_key *key,
			   struct sk_buff *skb, int iif, struct flowi6 *fl6)
{
	struct net6_flow flow;

	net6_rules_flow(nn, skb, iif, &flow);
	net6_rules_ask(nn, key, &ipv6_hdr(skb)->saddr, &flow, fl6);
}

/**
 * net6_rules_hash() - what a destination's key has of a question
 * @nn: namespace that has rules
 * @fl6: the question
 *
 * What rules look at is what tells entries apart: two packets of one hash have the same way.
 * Context: any. Return: never 0.
 */
u64 net6_rules_hash(const struct net6_net *nn, const struct flowi6 *fl6)
{
	u8 src_plen = READ_ONCE(nn->rules.src_plen);
	u32 looks = READ_ONCE(nn->rules.looks);
	struct net6_rule_seen seen = {};

	BUILD_BUG_ON(sizeof(seen) != 40);	/* without holes */
	if (src_plen && !ipv6_addr_any(&fl6->saddr)) {
		ipv6_addr_prefix(&seen.saddr, &fl6->saddr, src_plen);
		seen.sourced = true;
	}
	seen.mark = fl6->flowi6_mark & READ_ONCE(nn->rules.mark);
	if (looks & NET6_RULES_UID)
		seen.uid = __kuid_val(fl6->flowi6_uid);
	if (looks & NET6_RULES_IIF)
		seen.iif = fl6->flowi6_iif;
	if (looks & NET6_RULES_L3MDEV)
		seen.l3mdev = fl6->flowi6_l3mdev;
	if (looks & NET6_RULES_PROTOCOL)
		seen.protocol = fl6->flowi6_proto;
	if (looks & NET6_RULES_SPORT)
		seen.sport = fl6->fl6_sport;
	if (looks & NET6_RULES_DPORT)
		seen.dport = fl6->fl6_dport;
	if (looks & NET6_RULES_DSCP)
		seen.dscp = inet_dscp_to_dsfield(ip6_dscp(fl6->flowlabel));
	return siphash(&seen, sizeof(seen), &nn->secret) ?: 1;
}
