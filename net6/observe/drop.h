/* SPDX-License-Identifier: GPL-2.0 */
/* Dropping is one verb with one reason: the list of reasons (name, the core reason
 * shown by drop monitors, the sentence for operators) and net6_drop().
 */
#ifndef _NET6_DROP_H
#define _NET6_DROP_H

#include <linux/skbuff.h>
#include <net/dropreason.h>

struct net6_net;

/* X(name, core reason without SKB_DROP_REASON_, sentence) */
#define NET6_DROP_REASONS(X)							\
	/* IPv6 header, RFC 8200 section 3 */					\
	X(HEADER_SHORT,		PKT_TOO_SMALL,	"packet shorter than its IPv6 header")	\
	X(HEADER_VERSION,	IP_INHDR,	"IP version is not 6")			\
	X(HEADER_LENGTH,	PKT_TOO_SMALL,	"payload length beyond the packet's end")	\
	X(HEADER_SOURCE,	IP_INHDR,	"source address is multicast, loopback or not allowed on the wire") \
	X(HEADER_DEST,		IP_INHDR,	"destination address is unspecified, loopback or a scope-0 group") \
	X(NOT_OURS,		IP_INADDRERRORS,	"destination is not an address of ours")	\
	X(IFACE_DOWN,		NOT_SPECIFIED,	"interface is down, being removed, or IPv6 is disabled on it")	\
	/* extension headers, RFC 8200 section 4 */				\
	X(EXTHDR_SHORT,		IP_INHDR,	"extension header cut short")		\
	X(EXTHDR_ORDER,		IP_INHDR,	"hop-by-hop options not directly behind the IPv6 header")	\
	X(EXTHDR_OPTION,	IP_INHDR,	"unrecognised option whose action bits say discard")	\
	X(EXTHDR_LIMIT,		IP_INHDR,	"too many extension headers or options")	\
	X(EXTHDR_ROUTING,	IP_INHDR,	"routing header of unrecognised type with segments left")	\
	X(NEXTHDR_UNKNOWN,	IP_NOPROTO,	"next header value not recognised")	\
	X(FRAG_INVALID,		IP_INHDR,	"fragment with impossible length or offset")	\
	X(FRAG_OVERLAP,		IP_INHDR,	"overlapping fragments")		\
	X(FRAG_LIMIT,		NOMEM,		"reassembly memory limit reached")	\
	X(FRAG_TIMEOUT,		NOT_SPECIFIED,	"fragments did not complete in time")	\
	/* ICMPv6, RFC 4443 */							\
	X(ICMP_SHORT,		PKT_TOO_SMALL,	"ICMPv6 message cut short")		\
	X(ICMP_CSUM,		ICMP_CSUM,	"ICMPv6 checksum wrong")	\
	X(ICMP_TYPE,		UNHANDLED_PROTO, "unknown informational ICMPv6 message")	\
	X(ECHO_IGNORED,		NOT_SPECIFIED,	"echo requests are not answered")	\
	X(ICMP_ERROR_OTHER,	NOT_SPECIFIED,	"ICMPv6 error about a packet that is none of ours")	\
	/* Neighbor Discovery, RFC 4861 */					\
	X(ND_HOP_LIMIT,		IP_INHDR,	"ND message with hop limit other than 255")	\
	X(ND_CODE,		IP_INHDR,	"ND message with code other than 0")	\
	X(ND_SHORT,		PKT_TOO_SMALL,	"ND message cut short")			\
	X(ND_OPTION,		IP_INHDR,	"ND option of length 0 or beyond the end")	\
	X(ND_TARGET,		IP_INHDR,	"ND target is multicast or not suitable")	\
	X(ND_SOURCE,		IP_INHDR,	"ND source address not allowed for this message")	\
	X(ND_DEST,		IP_INHDR,	"ND destination not allowed for this message")	\
	X(ND_FRAGMENTED,	IP_INHDR,	"ND message with a fragment header (RFC 6980)")	\
	X(ND_LIMIT,		NOMEM,		"ND table full")			\
	X(ND_IGNORED,		NOT_SPECIFIED,	"valid ND message that concerns nothing of ours")	\
	X(NEIGH_QUEUE,		NEIGH_QUEUEFULL, "queue of an unresolved neighbor full")	\
	X(NEIGH_FAILED,		NEIGH_FAILED,	"neighbor did not answer")		\
	X(NEIGH_DEAD,		NEIGH_DEAD,	"neighbor entry removed")		\
	/* tunnels over IPv4, RFC 4213 */					\
	X(TUNNEL_SHORT,		PKT_TOO_SMALL,	"no IP packet inside the tunnel's packet")	\
	X(TUNNEL_OUTER,		IP_INHDR,	"outer source is no host's address, or our own")	\
	X(TUNNEL_SOURCE,	IP_RPFILTER,	"outer source is not the far end of a tunnel")	\
	X(TUNNEL_INNER_SOURCE,	IP_INHDR,	"inner source address cannot come through this tunnel")	\
	X(TUNNEL_INNER_DEST,	IP_INADDRERRORS, "inner destination address cannot come through this tunnel") \
	X(TUNNEL_ECN,		IP_INHDR,	"congestion mark on a packet without ECN (RFC 6040)")	\
	X(TUNNEL_DEST,		IP_OUTNOROUTES,	"next hop is no IPv4 host, or no packet that the tunnel carries")	\
	X(TUNNEL_NO_ROUTE,	IP_OUTNOROUTES,	"no route to the tunnel's end, or no address at ours")	\
	X(TUNNEL_LOOP,		IP_OUTNOROUTES,	"route to the tunnel's end leads into the tunnel")	\
	X(TUNNEL_NESTED,	IP_OUTNOROUTES,	"tunnel in a tunnel too many times")	\
	X(TUNNEL_LIMIT,		IP_OUTNOROUTES,	"encapsulation limit is used up (RFC 2473)")	\
	/* Multicast Listener Discovery, RFC 3810 */				\
	X(MLD_HEADER,		IP_INHDR,	"MLD message without router alert, with hop limit other than 1, or of no link-local source") \
	X(MLD_SHORT,		PKT_TOO_SMALL,	"MLD message of no valid length")	\
	/* forwarding */							\
	X(FORWARD_HOP_LIMIT,	IP_INHDR,	"hop limit over on the way to somebody else")	\
	X(FORWARD_SCOPE,	IP_INADDRERRORS,	"link-local source on its way to another link")	\
	X(FORWARD_BACK,		IP_INADDRERRORS,	"back to the end of a point-to-point link that it came from")	\
	X(FORWARD_TOO_BIG,	PKT_TOO_BIG,	"packet larger than the next link's MTU")	\
	X(FORWARD_LRO,		NOT_SPECIFIED,	"packet to be forwarded was merged by the device")	\
	X(NETFILTER,		NETFILTER_DROP,	"a rule of netfilter said no, or a program's own fragment would pass it by") \
	/* output */								\
	X(CGROUP_EGRESS,	BPF_CGROUP_EGRESS, "a program of the sender's control group said no") \
	X(NO_ROUTE,		IP_OUTNOROUTES,	"no route to the destination")		\
	X(OUT_TOO_BIG,		PKT_TOO_BIG,	"packet larger than the path MTU")	\
	X(NO_MEMORY,		NOMEM,		"out of memory")			\
	X(LOOP_QUEUE,		CPU_BACKLOG,	"loopback queue full")			\
	/* transport */								\
	X(NO_SOCKET,		NO_SOCKET,	"no socket for this port")		\
	X(SOCKET_RCVBUF,	SOCKET_RCVBUFF,	"socket's receive buffer full")		\
	X(SOCKET_FILTER,	SOCKET_FILTER,	"socket's filter said no")		\
	X(SOCKET_BACKLOG,	SOCKET_BACKLOG,	"socket's backlog full")		\
	X(SECURITY,		NOT_SPECIFIED,	"a security module said no")		\
	X(RAW_CSUM,		SKB_CSUM,	"checksum wrong, at a raw socket that wants it verified")	\
	X(UDP_SHORT,		PKT_TOO_SMALL,	"UDP datagram cut short or length wrong")	\
	X(UDP_CSUM,		UDP_CSUM,	"UDP checksum wrong or missing")	\
	X(TCP_SHORT,		PKT_TOO_SMALL,	"TCP segment cut short or data offset wrong")	\
	X(TCP_CSUM,		TCP_CSUM,	"TCP checksum wrong")			\
	X(TCP_MD5_MISSING,	TCP_MD5NOTFOUND, "TCP signature missing (RFC 2385)")	\
	X(TCP_MD5_UNEXPECTED,	TCP_MD5UNEXPECTED, "TCP signature without a key for it")	\
	X(TCP_MD5_WRONG,	TCP_MD5FAILURE,	"TCP signature wrong")			\
	X(TCP_FLAGS,		TCP_FLAGS,	"TCP flags not acceptable in this state")	\
	X(TCP_WINDOW,		TCP_INVALID_SEQUENCE, "TCP segment outside the receive window")	\
	X(TCP_PAWS,		TCP_RFC7323_PAWS, "TCP timestamp too old (PAWS)")	\
	X(TCP_OLD_ACK,		TCP_OLD_ACK, "TCP acknowledges what is long past or never sent") \
	X(TCP_OLD_DATA,		TCP_OLD_DATA,	"TCP data already received")		\
	X(TCP_ZERO_WINDOW,	TCP_ZEROWINDOW,	"TCP data while the window is zero")	\
	X(TCP_LISTEN_OVERFLOW,	NOT_SPECIFIED,	"TCP listener's queue full")		\
	X(TCP_COOKIE,		NOT_SPECIFIED,	"TCP acknowledgment is no valid SYN cookie")	\
	X(TCP_CLOSE,		TCP_CLOSE,	"TCP connection closed")		\
	X(TCP_OFO_LIMIT,	TCP_OFO_QUEUE_PRUNE,	"TCP out-of-order queue pruned")

enum net6_drop_reason {
#define X(name, core, text)	NET6_DROP_##name,
	NET6_DROP_REASONS(X)
#undef X
	NET6_DROP_MAX
};

void net6_drop(struct net6_net *nn, struct sk_buff *skb, enum net6_drop_reason reason);
const char *net6_drop_name(enum net6_drop_reason reason);
const char *net6_drop_text(enum net6_drop_reason reason);

#endif /* _NET6_DROP_H */
