/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU counters of namespaces and interfaces. Enum, printing and netlink attributes are made
 * from one list of names (RFC 4293 spelling where it has one).
 */
#ifndef _NET6_MIB_H
#define _NET6_MIB_H

#include <linux/build_bug.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include "drop.h"

struct net6_iface;

/* Those of interfaces as well. */
#define NET6_MIB_IFACE_NAMES(X)							\
	X(Ip6InReceives) X(Ip6InOctets) X(Ip6InDelivers) X(Ip6InMcastPkts)	\
	X(Ip6OutRequests) X(Ip6OutOctets) X(Ip6OutMcastPkts)			\
	X(Ip6OutForwDatagrams)							\
	X(Ip6ReasmReqds) X(Ip6ReasmOKs) X(Ip6ReasmFails)			\
	X(Ip6OutFragOKs) X(Ip6OutFragFails) X(Ip6OutFragCreates)		\
	X(Icmp6InMsgs) X(Icmp6InErrors) X(Icmp6OutMsgs) X(Icmp6OutRateLimited)	\
	X(Icmp6InEchos) X(Icmp6InEchoReplies) X(Icmp6OutEchoReplies)		\
	X(Icmp6InDestUnreachs) X(Icmp6InPktTooBigs) X(Icmp6InTimeExcds)	\
	X(Icmp6InParmProblems) X(Icmp6OutDestUnreachs) X(Icmp6OutParmProblems)	\
	X(Icmp6OutPktTooBigs) X(Icmp6OutTimeExcds)				\
	X(Icmp6InRouterAdvertisements) X(Icmp6OutRouterSolicits)		\
	X(Icmp6InRouterSolicits)						\
	X(Icmp6InNeighborSolicits) X(Icmp6OutNeighborSolicits)			\
	X(Icmp6InNeighborAdvertisements) X(Icmp6OutNeighborAdvertisements)	\
	X(Icmp6InRedirects) X(Icmp6OutRedirects)				\
	X(Icmp6InGroupMembQueries) X(Icmp6InGroupMembResponses)			\
	X(Icmp6OutGroupMembResponses) X(Icmp6OutGroupMembReductions)		\
	X(Icmp6OutMLDv2Reports)

#define NET6_MIB_NAMES(X)							\
	NET6_MIB_IFACE_NAMES(X)							\
	X(Ip6OutNoRoutes) X(Ip6DestCreated) X(Ip6DestEvicted)			\
	X(MldLeaveLimit) X(MldGroupLimit) X(NdRouteLimit) X(NdDnsOptions)			\
	X(RouteTableLimit) X(RouteRuleLimit)					\
	X(NdDadAttempts) X(NdDadFailures) X(NdNeighCreated) X(NdNeighEvicted)	\
	X(NdAddrLimit) X(NdPrefixLimit) X(NdRouterLimit) X(NdDadLooped) X(TransitionAddrLimit)	\
	X(NdNeighFailed) X(NdNeighTableFull) X(NdProxyLimit) X(NdManualLimit)	\
	X(NdPref64Limit)							\
	X(Udp6InDatagrams) X(Udp6NoPorts) X(Udp6InErrors) X(Udp6OutDatagrams)	\
	X(Udp6RcvbufErrors) X(Udp6SndbufErrors) X(Udp6InCsumErrors)		\
	X(TcpActiveOpens) X(TcpPassiveOpens) X(TcpAttemptFails) X(TcpEstabResets) \
	X(TcpInSegs) X(TcpOutSegs) X(TcpRetransSegs) X(TcpInErrs) X(TcpOutRsts) \
	X(TcpInCsumErrors) X(TcpSyncookiesSent) X(TcpSyncookiesRecv)		\
	X(TcpSyncookiesFailed) X(TcpListenOverflows) X(TcpListenDrops)		\
	X(TcpReqQFullDoCookies) X(TcpReqQFullDrop) X(TcpTimeWaited)		\
	X(TcpTimeWaitOverflow) X(TcpDelayedACKs) X(TcpFastRetrans)		\
	X(TcpSlowStartRetrans) X(TcpTimeouts) X(TcpSpuriousRTOs)		\
	X(TcpMTUPFail) X(TcpMTUPSuccess)						\
	X(TcpLossProbes) X(TcpSACKReneging) X(TcpDSACKRecv) X(TcpDSACKOldSent)	\
	X(TcpPAWSActive) X(TcpPAWSEstab) X(TcpChallengeACK)			\
	X(TcpOFOQueue) X(TcpOFODrop) X(TcpOFOPrune) X(TcpRcvCoalesce)		\
	X(TcpHPHits) X(TcpPureAcks) X(TcpRcvQDrop) X(TcpZeroWindowDrop)		\
	X(TcpBacklogDrop) X(TcpAbortOnTimeout) X(TcpAbortOnClose)		\
	X(TcpAbortOnData) X(TcpAbortOnMemory) X(TcpAbortOnLinger)		\
	X(TcpMemoryPressures) X(TcpKeepAlive) X(TcpOrphanDrops)		\
	X(TcpFastOpenActive) X(TcpFastOpenActiveFail) X(TcpFastOpenBlackhole)	\
	X(TcpFastOpenPassive) X(TcpFastOpenPassiveFail) X(TcpFastOpenPassiveAltKey) \
	X(TcpFastOpenListenOverflow) X(TcpFastOpenCookieReqd)			\
	X(TcpMD5NotFound) X(TcpMD5Unexpected) X(TcpMD5Failure)			\
	X(TcpPagesKept) X(TcpPagesReused) X(TcpPagesGivenUp)			\
	X(UdpPagesKept) X(UdpPagesReused) X(UdpPagesGivenUp)

enum net6_mib_item {
#define X(name)	NET6_MIB_##name,
	NET6_MIB_NAMES(X)
#undef X
	NET6_MIB_MAX,
	NET6_MIB_IFACE_MAX = NET6_MIB_Icmp6OutMLDv2Reports + 1
};

/**
 * struct net6_mib - one CPU's counters of one network namespace
 * @item: packets, octets or events, indexed by enum net6_mib_item
 * @drop: packets dropped, indexed by enum net6_drop_reason
 */
struct net6_mib {
	u64	item[NET6_MIB_MAX];
	u64	drop[NET6_DROP_MAX];
};

/**
 * struct net6_iface_mib - one CPU's counters of one interface
 * @item: as in struct net6_mib, those that interfaces have
 */
struct net6_iface_mib {
	u64	item[NET6_MIB_IFACE_MAX];
};

/* Interfaces have counters of their own: in takeover mode, for /proc/net/dev_snmp6. */
DECLARE_STATIC_KEY_FALSE(net6_iface_mib_on);

/* Any context. Counters are 64 bits and bumped with one instruction. */
#define NET6_INC(nn, name)	this_cpu_inc((nn)->mib->item[NET6_MIB_##name])
#define NET6_ADD(nn, name, n)	this_cpu_add((nn)->mib->item[NET6_MIB_##name], n)

/* The interface's, and its namespace's. */
#define NET6_ADD_IFACE(iface, name, n) do {					\
	BUILD_BUG_ON(NET6_MIB_##name >= NET6_MIB_IFACE_MAX);			\
	NET6_ADD((iface)->nn, name, n);						\
	if (static_branch_unlikely(&net6_iface_mib_on))				\
		this_cpu_add((iface)->mib->item[NET6_MIB_##name], n);		\
} while (0)
#define NET6_INC_IFACE(iface, name)	NET6_ADD_IFACE(iface, name, 1)

const char *net6_mib_name(enum net6_mib_item item);
u64 net6_mib_read(const struct net6_net *nn, enum net6_mib_item item);
u64 net6_mib_read_iface(const struct net6_iface *iface, enum net6_mib_item item);
u64 net6_mib_read_drop(const struct net6_net *nn, enum net6_drop_reason reason);

#endif /* _NET6_MIB_H */
