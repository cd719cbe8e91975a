/* SPDX-License-Identifier: GPL-2.0 */
/* Why a packet is not translated. Enum, names and texts are made from one list; the second word is
 * the kernel's nearest reason.
 */
#ifndef _NET6_XLAT_VERDICT_H
#define _NET6_XLAT_VERDICT_H

#define NET6_XLAT_DROPS(X)							\
	X(SHORT,	PKT_TOO_SMALL,	"header cut short")			\
	X(HEADER,	IP_INHDR,	"version or length wrong")		\
	X(SOURCE,	IP_INADDRERRORS, "source address that has no translation") \
	X(DEST,		IP_INADDRERRORS, "destination address that has no translation") \
	X(HAIRPIN,	IP_INADDRERRORS, "packet that has just been translated comes back") \
	X(SOURCE_ROUTE,	IP_INHDR,	"source route or routing header that is not at its end") \
	X(EXTHDR,	IP_INHDR,	"extension headers out of order, or too many")	\
	X(PROTOCOL,	IP_NOPROTO,	"protocol that means something else in the other IP") \
	X(FRAGMENT,	IP_INHDR,	"fragment with impossible length or offset")	\
	X(ICMP_FRAGMENT, IP_INHDR,	"ICMP message in fragments (RFC 7915 1.2)")	\
	X(UDP_FRAGMENT,	UDP_CSUM,	"fragmented UDP datagram without checksum (RFC 7915 4.5)") \
	X(ICMP_TYPE,	NOT_SPECIFIED,	"ICMP message that has no translation")	\
	X(ICMP_CSUM,	ICMP_CSUM,	"ICMP error with a wrong checksum")	\
	X(ICMP_QUOTE,	IP_INHDR,	"ICMP error about a packet that has no translation") \
	X(TOO_BIG,	PKT_TOO_BIG,	"packet longer than the other IP can say")	\
	X(NO_MEMORY,	NOMEM,		"out of memory")				\
	X(HOSTS,	NOMEM,		"host that gets no IPv4 address")

enum net6_xlat_verdict {
	NET6_XLAT_GOOD,
#define X(name, core, text)	NET6_XLAT_##name,
	NET6_XLAT_DROPS(X)
#undef X
	NET6_XLAT_VERDICTS
};

#endif /* _NET6_XLAT_VERDICT_H */
