// SPDX-License-Identifier: GPL-2.0
/* /proc/net/snmp6 and /proc/net/dev_snmp6: our counters under native's names and in its order.
 * Counters that net6 does not have are 0, as are message types that it counts in total only. An
 * interface has no drops of its own.
 */
#include <linux/icmpv6.h>
#include <linux/seq_file.h>

#include "../core/iface.h"
#include "takeover.h"

#define NONE	(-1)
#define OUR(x)	NET6_MIB_##x

/* @item is one of ours, or NONE with the drops from @first to @last added up. */
static const struct net6_snmp_item {
	const char	*name;
	int		item;
	int		first;
	int		last;
} net6_snmp_ip[] = {
	{ "Ip6InReceives",	OUR(Ip6InReceives) },
	{ "Ip6InHdrErrors",	NONE, NET6_DROP_HEADER_SHORT, NET6_DROP_HEADER_LENGTH },
	{ "Ip6InTooBigErrors",	NONE, NET6_DROP_FORWARD_TOO_BIG, NET6_DROP_FORWARD_TOO_BIG },
	{ "Ip6InNoRoutes",	NONE, NET6_DROP_NO_ROUTE, NET6_DROP_NO_ROUTE },
	{ "Ip6InAddrErrors",	NONE, NET6_DROP_HEADER_SOURCE, NET6_DROP_NOT_OURS },
	{ "Ip6InUnknownProtos",	NONE, NET6_DROP_NEXTHDR_UNKNOWN, NET6_DROP_NEXTHDR_UNKNOWN },
	{ "Ip6InTruncatedPkts",	NONE },
	{ "Ip6InDiscards",	NONE, NET6_DROP_IFACE_DOWN, NET6_DROP_IFACE_DOWN },
	{ "Ip6InDelivers",	OUR(Ip6InDelivers) },
	{ "Ip6OutForwDatagrams", OUR(Ip6OutForwDatagrams) },
	{ "Ip6OutRequests",	OUR(Ip6OutRequests) },
	{ "Ip6OutDiscards",	NONE, NET6_DROP_NEIGH_QUEUE, NET6_DROP_NEIGH_DEAD },
	{ "Ip6OutNoRoutes",	OUR(Ip6OutNoRoutes) },
	{ "Ip6ReasmTimeout",	NONE, NET6_DROP_FRAG_TIMEOUT, NET6_DROP_FRAG_TIMEOUT },
	{ "Ip6ReasmReqds",	OUR(Ip6ReasmReqds) },
	{ "Ip6ReasmOKs",	OUR(Ip6ReasmOKs) },
	{ "Ip6ReasmFails",	OUR(Ip6ReasmFails) },
	{ "Ip6FragOKs",		OUR(Ip6OutFragOKs) },
	{ "Ip6FragFails",	OUR(Ip6OutFragFails) },
	{ "Ip6FragCreates",	OUR(Ip6OutFragCreates) },
	{ "Ip6InMcastPkts",	OUR(Ip6InMcastPkts) },
	{ "Ip6OutMcastPkts",	OUR(Ip6OutMcastPkts) },
	{ "Ip6InOctets",	OUR(Ip6InOctets) },
	{ "Ip6OutOctets",	OUR(Ip6OutOctets) },
	{ "Ip6InMcastOctets",	NONE },
	{ "Ip6OutMcastOctets",	NONE },
	{ "Ip6InBcastOctets",	NONE },
	{ "Ip6OutBcastOctets",	NONE },
	{ "Ip6InNoECTPkts",	NONE },
	{ "Ip6InECT1Pkts",	NONE },
	{ "Ip6InECT0Pkts",	NONE },
	{ "Ip6InCEPkts",	NONE },
	{ "Icmp6InMsgs",	OUR(Icmp6InMsgs) },
	{ "Icmp6InErrors",	OUR(Icmp6InErrors) },
	{ "Icmp6OutMsgs",	OUR(Icmp6OutMsgs) },
	{ "Icmp6OutErrors",	NONE },
	{ "Icmp6InCsumErrors",	NONE, NET6_DROP_ICMP_CSUM, NET6_DROP_ICMP_CSUM },
	{ "Icmp6OutRateLimitHost", OUR(Icmp6OutRateLimited) },
}, net6_snmp_udp[] = {
	{ "Udp6InDatagrams",	OUR(Udp6InDatagrams) },
	{ "Udp6NoPorts",	OUR(Udp6NoPorts) },
	{ "Udp6InErrors",	OUR(Udp6InErrors) },
	{ "Udp6OutDatagrams",	OUR(Udp6OutDatagrams) },
	{ "Udp6RcvbufErrors",	OUR(Udp6RcvbufErrors) },
	{ "Udp6SndbufErrors",	OUR(Udp6SndbufErrors) },
	{ "Udp6InCsumErrors",	OUR(Udp6InCsumErrors) },
	{ "Udp6IgnoredMulti",	NONE },
	{ "Udp6MemErrors",	NONE },
	{ "UdpLite6InDatagrams", NONE },
	{ "UdpLite6NoPorts",	NONE },
	{ "UdpLite6InErrors",	NONE },
	{ "UdpLite6OutDatagrams", NONE },
	{ "UdpLite6RcvbufErrors", NONE },
	{ "UdpLite6SndbufErrors", NONE },
	{ "UdpLite6InCsumErrors", NONE },
	{ "UdpLite6MemErrors",	NONE },
};

/* Messages by type; native's order is that of the numbers. */
static const struct net6_snmp_icmp {
	u8		type;
	const char	*name;
	int		in;
	int		out;
} net6_snmp_icmp[] = {
	{ ICMPV6_DEST_UNREACH,	"DestUnreachs",	OUR(Icmp6InDestUnreachs),
	  OUR(Icmp6OutDestUnreachs) },
	{ ICMPV6_PKT_TOOBIG,	"PktTooBigs",	OUR(Icmp6InPktTooBigs), OUR(Icmp6OutPktTooBigs) },
	{ ICMPV6_TIME_EXCEED,	"TimeExcds",	OUR(Icmp6InTimeExcds), OUR(Icmp6OutTimeExcds) },
	{ ICMPV6_PARAMPROB,	"ParmProblems",	OUR(Icmp6InParmProblems),
	  OUR(Icmp6OutParmProblems) },
	{ ICMPV6_ECHO_REQUEST,	"Echos",	OUR(Icmp6InEchos), NONE },
	{ ICMPV6_ECHO_REPLY,	"EchoReplies",	OUR(Icmp6InEchoReplies), OUR(Icmp6OutEchoReplies) },
	{ ICMPV6_MGM_QUERY,	"GroupMembQueries", OUR(Icmp6InGroupMembQueries), NONE },
	{ ICMPV6_MGM_REPORT,	"GroupMembResponses", OUR(Icmp6InGroupMembResponses),
	  OUR(Icmp6OutGroupMembResponses) },
	{ ICMPV6_MGM_REDUCTION,	"GroupMembReductions", NONE,
	  OUR(Icmp6OutGroupMembReductions) },
	{ 133,			"RouterSolicits", OUR(Icmp6InRouterSolicits),
	  OUR(Icmp6OutRouterSolicits) },
	{ 134,			"RouterAdvertisements", OUR(Icmp6InRouterAdvertisements), NONE },
	{ 135,			"NeighborSolicits", OUR(Icmp6InNeighborSolicits),
	  OUR(Icmp6OutNeighborSolicits) },
	{ 136,			"NeighborAdvertisements", OUR(Icmp6InNeighborAdvertisements),
	  OUR(Icmp6OutNeighborAdvertisements) },
	{ 137,			"Redirects",	OUR(Icmp6InRedirects), OUR(Icmp6OutRedirects) },
	{ ICMPV6_MLD2_REPORT,	"MLDv2Reports",	NONE, OUR(Icmp6OutMLDv2Reports) },
};

/* Whose counters: of @iface, or if that is NULL of @nn. */
struct net6_snmp {
	struct seq_file			*seq;
	const struct net6_net		*nn;
	const struct net6_iface		*iface;
};

static u64 net6_snmp_read(const struct net6_snmp *s, int item)
{
	if (item == NONE)
		return 0;
	if (!s->iface)
		return net6_mib_read(s->nn, item);
	return item < NET6_MIB_IFACE_MAX ? net6_mib_read_iface(s->iface, item) : 0;
}

static void net6_snmp_items(const struct net6_snmp *s, const struct net6_snmp_item *items, size_t n)
{
	const struct net6_snmp_item *i;
	u64 value;
	int drop;

	for (i = items; i < items + n; i++) {
		value = net6_snmp_read(s, i->item);
		/* The first reason is a header's; no item stands for it alone. */
		for (drop = i->first; drop <= i->last && i->last && !s->iface; drop++)
			value += net6_mib_read_drop(s->nn, drop);
		seq_printf(s->seq, "%-32s\t%llu\n", i->name, value);
	}
}

static void net6_snmp_messages(const struct net6_snmp *s, bool out, bool numbered)
{
	const struct net6_snmp_icmp *i;
	char name[40];
	u64 value;
	int item;

	for (i = net6_snmp_icmp; i < net6_snmp_icmp + ARRAY_SIZE(net6_snmp_icmp); i++) {
		item = out ? i->out : i->in;
		value = net6_snmp_read(s, item);
		if (numbered && !value)
			continue;
		if (numbered)
			snprintf(name, sizeof(name), "Icmp6%sType%u", out ? "Out" : "In", i->type);
		else
			snprintf(name, sizeof(name), "Icmp6%s%s", out ? "Out" : "In", i->name);
		seq_printf(s->seq, "%-32s\t%llu\n", name, value);
	}
}

static void net6_snmp_ip_icmp(const struct net6_snmp *s)
{
	net6_snmp_items(s, net6_snmp_ip, ARRAY_SIZE(net6_snmp_ip));
	net6_snmp_messages(s, false, false);
	net6_snmp_messages(s, true, false);
	net6_snmp_messages(s, false, true);
	net6_snmp_messages(s, true, true);
}

/**
 * net6_proc_snmp6() - /proc/net/snmp6
 * @seq: file
 * @v: not used
 *
 * Context: process. Return: 0.
 */
int net6_proc_snmp6(struct seq_file *seq, void *v)
{
	const struct net6_snmp s = { .seq = seq, .nn = net6_pernet(seq->private) };

	net6_snmp_ip_icmp(&s);
	net6_snmp_items(&s, net6_snmp_udp, ARRAY_SIZE(net6_snmp_udp));
	return 0;
}

/**
 * net6_proc_dev_snmp6() - /proc/net/dev_snmp6/DEV
 * @seq: file of an interface, which goes after the file
 * @v: not used
 *
 * Context: process; RTNL is held when files are removed. Return: 0.
 */
int net6_proc_dev_snmp6(struct seq_file *seq, void *v)
{
	const struct net6_iface *iface = seq->private;
	const struct net6_snmp s = { .seq = seq, .nn = iface->nn, .iface = iface };

	seq_printf(seq, "%-32s\t%u\n", "ifIndex", iface->ifindex);
	net6_snmp_ip_icmp(&s);
	return 0;
}
