// SPDX-License-Identifier: GPL-2.0
/* ICMPv6 messages that we receive, RFC 4443: checksum, a table of types, echo, and errors. An
 * error goes to the transport that sent the packet it is about.
 */
#include <linux/if_vlan.h>
#include <net/dsfield.h>
#include <net/ipv6.h>

#include "proto.h"
#include "addr.h"
#include "dest.h"
#include "icmp.h"

static net6_icmp_handler net6_icmp_handlers[256] __read_mostly;
static net6_icmp_error_handler net6_icmp_echo_error __read_mostly;

/**
 * net6_icmp_handle() - take messages of a type, or take them no more
 * @type: ICMPv6 type
 * @handler: gets the message with data at the ICMPv6 header, 8 octets of it linear and
 *	its checksum verified, and consumes it; NULL to remove
 *
 * Removal does not wait for CPUs in the handler: it is for module exit, behind the end
 * of all receiving. Context: process, at load and unload.
 */
void net6_icmp_handle(u8 type, net6_icmp_handler handler)
{
	WARN_ON_ONCE(handler && net6_icmp_handlers[type]);
	WRITE_ONCE(net6_icmp_handlers[type], handler);
}

/**
 * net6_icmp_handle_error() - be told of errors about echo requests of ours
 * @handler: called as struct net6_proto's error is; NULL to remove
 *
 * Context: as net6_icmp_handle().
 */
void net6_icmp_handle_error(net6_icmp_error_handler handler)
{
	WARN_ON_ONCE(handler && net6_icmp_echo_error);
	WRITE_ONCE(net6_icmp_echo_error, handler);
}

/* What an ICMPv6 error means to a program. */
static const struct {
	int	err;
	bool	fatal;
} net6_icmp_unreach[] = {
	[ICMPV6_NOROUTE]	= { ENETUNREACH,	false },
	[ICMPV6_ADM_PROHIBITED]	= { EACCES,		true },
	[ICMPV6_NOT_NEIGHBOUR]	= { EHOSTUNREACH,	false },
	[ICMPV6_ADDR_UNREACH]	= { EHOSTUNREACH,	false },
	[ICMPV6_PORT_UNREACH]	= { ECONNREFUSED,	true },
	[ICMPV6_POLICY_FAIL]	= { EACCES,		true },
	[ICMPV6_REJECT_ROUTE]	= { EACCES,		true },
};

bool net6_icmp_errno(u8 type, u8 code, int *err)
{
	*err = EPROTO;
	switch (type) {
	case ICMPV6_DEST_UNREACH:
		if (code >= ARRAY_SIZE(net6_icmp_unreach))
			return true;
		*err = net6_icmp_unreach[code].err;
		return net6_icmp_unreach[code].fatal;
	case ICMPV6_PKT_TOOBIG:
		*err = EMSGSIZE;
		return false;
	case ICMPV6_PARAMPROB:
		return true;
	case ICMPV6_TIME_EXCEED:
		*err = EHOSTUNREACH;
		return false;
	}
	return false;
}

/* RFC 4443 4.2 has every node answer, unless its administrator says otherwise. */
static bool net6_icmp_echo_ignored(const struct net6_settings *s, unsigned int flags)
{
	if (READ_ONCE(s->echo_ignore_all))
		return true;
	if (flags & NET6_RX_MULTICAST)
		return READ_ONCE(s->echo_ignore_multicast);
	return (flags & NET6_RX_ANYCAST) && READ_ONCE(s->echo_ignore_anycast);
}

/* Is the reply's source another address than the request's destination? */
static bool net6_icmp_echo_group(const struct net6_settings *s, unsigned int flags)
{
	return (flags & NET6_RX_MULTICAST) ||
	       ((flags & NET6_RX_ANYCAST) && !READ_ONCE(s->anycast_src_echo_reply));
}

/* RFC 4443 4.2: the reply's source is the request's unicast destination. For a group or an
 * anycast address it is one of the interface's addresses, or the anycast address if that is set.
 * "the data [...] MUST be returned entirely". The traffic class is the request's, as native's
 * replies have.
 */
static void net6_icmp_echo(struct net6_iface *iface, struct sk_buff *skb)
{
	struct in6_addr daddr = ipv6_hdr(skb)->saddr;
	struct in6_addr saddr = ipv6_hdr(skb)->daddr;
	struct net6_net *nn = iface->nn;
	bool group = net6_icmp_echo_group(&nn->settings, net6_rx_cb(skb)->flags);
	u8 tclass = ipv6_get_dsfield(ipv6_hdr(skb));
	struct net6_dest *dest;
	struct icmp6hdr *h;

	NET6_INC_IFACE(iface, Icmp6InEchos);
	if (!(ipv6_addr_type(&daddr) & (IPV6_ADDR_UNICAST | IPV6_ADDR_LOOPBACK))) {
		net6_drop(nn, skb, NET6_DROP_HEADER_SOURCE);
		return;
	}
	if (net6_icmp_echo_ignored(&nn->settings, net6_rx_cb(skb)->flags)) {
		net6_drop(nn, skb, NET6_DROP_ECHO_IGNORED);
		return;
	}
	dest = net6_icmp_reply_dest(nn, net6_rx_cb(skb)->ifindex, group ? &in6addr_any : &saddr,
				    &daddr);
	if (IS_ERR(dest)) {
		net6_drop(nn, skb, NET6_DROP_NO_ROUTE);
		return;
	}
	/* The request becomes the reply; its data may be shared with others. */
	if (skb_cow(skb, NET6_HEADROOM)) {
		net6_dest_put(dest);
		net6_drop(nn, skb, NET6_DROP_NO_MEMORY);
		return;
	}
	skb_ext_reset(skb);
	skb_clear_tstamp(skb);
	skb->pkt_type = PACKET_HOST;
	skb->priority = 0;
	skb->mark = 0;
	skb->skb_iif = 0;
	skb_set_queue_mapping(skb, 0);
	__vlan_hwaccel_clear_tag(skb);
	skb_clear_hash(skb);

	h = (struct icmp6hdr *)skb->data;
	h->icmp6_type = ICMPV6_ECHO_REPLY;
	/* Type is all that changed under the checksum, if source and destination only
	 * change places (RFC 1624).
	 */
	if (!group && skb->ip_summed != CHECKSUM_PARTIAL)
		csum_replace2(&h->icmp6_cksum, htons(ICMPV6_ECHO_REQUEST << 8),
			      htons(ICMPV6_ECHO_REPLY << 8));
	net6_icmp_output(skb, dest, group ? &dest->saddr : &saddr, &daddr, tclass,
			 group || skb->ip_summed == CHECKSUM_PARTIAL);
	net6_dest_put(dest);
}

/* Find the transport header of the packet that an error quotes, at offset 8 from
 * skb->data. Everything in it is a stranger's word. Returns its offset, or a negative
 * drop reason plus one.
 */
static int net6_icmp_quoted(struct net6_iface *iface, struct sk_buff *skb, u8 *proto)
{
	const unsigned int at = sizeof(struct icmp6hdr);
	const struct ipv6hdr *inner;
	__be16 frag_off;
	int offset;

	if (!pskb_may_pull(skb, at + sizeof(*inner)))
		return -1 - NET6_DROP_ICMP_SHORT;
	inner = (const struct ipv6hdr *)(skb->data + at);
	if (inner->version != 6 || ipv6_addr_is_multicast(&inner->saddr) ||
	    !net6_accept_find(iface->nn, &inner->saddr, iface))
		return -1 - NET6_DROP_ICMP_ERROR_OTHER;
	*proto = inner->nexthdr;
	offset = ipv6_skip_exthdr(skb, at + sizeof(*inner), proto, &frag_off);
	if (offset < 0)
		return -1 - NET6_DROP_ICMP_SHORT;
	/* A later fragment says nothing of who sent it. */
	if (frag_off & htons(IP6_OFFSET))
		return -1 - NET6_DROP_ICMP_ERROR_OTHER;
	if (!pskb_may_pull(skb, offset + 8))
		return -1 - NET6_DROP_ICMP_SHORT;
	return offset;
}

static void net6_icmp_count_error(struct net6_iface *iface, u8 type)
{
	switch (type) {
	case ICMPV6_DEST_UNREACH:
		NET6_INC_IFACE(iface, Icmp6InDestUnreachs);
		break;
	case ICMPV6_PKT_TOOBIG:
		NET6_INC_IFACE(iface, Icmp6InPktTooBigs);
		break;
	case ICMPV6_TIME_EXCEED:
		NET6_INC_IFACE(iface, Icmp6InTimeExcds);
		break;
	case ICMPV6_PARAMPROB:
		NET6_INC_IFACE(iface, Icmp6InParmProblems);
		break;
	}
}

/* RFC 4443 2.4 (a), (c), (d): errors, those of unknown type too, go to the process
 * that sent the packet.
 */
static void net6_icmp_error(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_net *nn = iface->nn;
	const struct net6_proto *proto;
	struct net6_icmp_error err;
	const struct ipv6hdr *inner;
	const struct icmp6hdr *h;
	int offset;
	u8 number;

	net6_icmp_count_error(iface, ((const struct icmp6hdr *)skb->data)->icmp6_type);
	offset = net6_icmp_quoted(iface, skb, &number);
	if (offset < 0) {
		net6_drop(nn, skb, -1 - offset);
		return;
	}
	proto = net6_proto_find(number);
	if ((!proto || !proto->error) && !static_branch_unlikely(&net6_proto_tapped)) {
		net6_drop(nn, skb, NET6_DROP_ICMP_ERROR_OTHER);
		return;
	}
	h = (const struct icmp6hdr *)skb->data;
	inner = (const struct ipv6hdr *)(h + 1);
	err = (struct net6_icmp_error) {
		.type		= h->icmp6_type,
		.code		= h->icmp6_code,
		.info		= ntohl(h->icmp6_mtu),
		.ifindex	= net6_rx_cb(skb)->ifindex,
		.saddr		= &inner->saddr,
		.daddr		= &inner->daddr,
		.from		= &ipv6_hdr(skb)->saddr,
		.offset		= offset,
	};
	if (static_branch_unlikely(&net6_proto_tapped))
		net6_proto_tap_error(skb, &err, number);
	if (proto && proto->error)
		proto->error(skb, &err);
	consume_skb(skb);
}

/* An error about an ICMPv6 message of ours: only echo requests have a sender to tell. Among the
 * others only echo replies can be too large. RFC 8201 section 4: a node "MUST reduce its estimate
 * of the PMTU for the relevant path".
 */
static void net6_icmp_error_inner(struct sk_buff *skb, const struct net6_icmp_error *err)
{
	net6_icmp_error_handler handler = READ_ONCE(net6_icmp_echo_error);
	struct net6_net *nn = net6_pernet(dev_net(skb->dev));
	u8 type = skb->data[err->offset];

	if (handler && type == ICMPV6_ECHO_REQUEST)
		handler(skb, err);
	else if (type == ICMPV6_ECHO_REPLY && err->type == ICMPV6_PKT_TOOBIG)
		net6_dest_update_pmtu(nn, err, net6_icmp_flow(nn));
}

static void net6_icmp_rcv(struct sk_buff *skb)
{
	struct net6_iface *iface = net6_rx_cb(skb)->iface;
	struct net6_net *nn = iface->nn;
	net6_icmp_handler handler;
	u8 type;

	NET6_INC_IFACE(iface, Icmp6InMsgs);
	if (!pskb_may_pull(skb, sizeof(struct icmp6hdr))) {
		NET6_INC_IFACE(iface, Icmp6InErrors);
		net6_drop(nn, skb, NET6_DROP_ICMP_SHORT);
		return;
	}
	/* RFC 4443 2.3; net6_checksum_init() leaves larger packets to the second test. */
	if (net6_checksum_init(skb, IPPROTO_ICMPV6) || skb_checksum_complete(skb)) {
		NET6_INC_IFACE(iface, Icmp6InErrors);
		net6_drop(nn, skb, NET6_DROP_ICMP_CSUM);
		return;
	}

	type = skb->data[0];
	handler = READ_ONCE(net6_icmp_handlers[type]);
	if (type == ICMPV6_ECHO_REPLY)
		NET6_INC_IFACE(iface, Icmp6InEchoReplies);
	if (handler)
		handler(iface, skb);
	else if (!(type & ICMPV6_INFOMSG_MASK))
		net6_icmp_error(iface, skb);
	else	/* RFC 4443 2.4 (b): "MUST be silently discarded" */
		net6_drop(nn, skb, NET6_DROP_ICMP_TYPE);
}

static const struct net6_proto net6_icmp_proto = {
	.rcv	= net6_icmp_rcv,
	.error	= net6_icmp_error_inner,
};

/**
 * net6_icmp_init() - take ICMPv6 packets
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_icmp_init(void)
{
	net6_icmp_handle(ICMPV6_ECHO_REQUEST, net6_icmp_echo);
	return net6_proto_register(IPPROTO_ICMPV6, &net6_icmp_proto);
}

/**
 * net6_icmp_exit() - take ICMPv6 packets no more
 *
 * Context: process, sleeps.
 */
void net6_icmp_exit(void)
{
	net6_proto_unregister(IPPROTO_ICMPV6, &net6_icmp_proto);
	net6_icmp_handle(ICMPV6_ECHO_REQUEST, NULL);
}
