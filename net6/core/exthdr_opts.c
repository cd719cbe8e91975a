// SPDX-License-Identifier: GPL-2.0
/* Options of the Hop-by-Hop and Destination Options headers, RFC 8200 section 4.2.
 * Recognised are those that ask nothing of a node that is the packet's destination.
 */
#include "exthdr_opts.h"

#define NET6_OPT_PAD1		0	/* RFC 8200 4.2 */
#define NET6_OPT_PADN		1
#define NET6_OPT_ENCAP_LIMIT	4	/* RFC 2473 4.1.1: concerns tunnel entries */
#define NET6_OPT_ROUTER_ALERT	5	/* RFC 2711 2.1: concerns routers */

static bool net6_opts_known(u8 type, bool hop_by_hop)
{
	return type == (hop_by_hop ? NET6_OPT_ROUTER_ALERT : NET6_OPT_ENCAP_LIMIT);
}

/* RFC 8200 4.2: "the highest-order 2 bits specify the action that must be taken if
 * the processing IPv6 node does not recognize the Option Type".
 */
static enum net6_opts_verdict net6_opts_unknown(u8 type)
{
	switch (type >> 6) {
	case 0:
		return NET6_OPTS_OK;
	case 1:
		return NET6_OPTS_DISCARD;
	case 2:
		return NET6_OPTS_PROBLEM;
	default:
		return NET6_OPTS_PROBLEM_UNICAST;
	}
}

/**
 * net6_opts_parse() - go through the options of one header
 * @hdr: the extension header, from its Next Header field on
 * @len: its length in octets, all of them readable
 * @hop_by_hop: Hop-by-Hop Options, else Destination Options
 * @limits: how much is too much
 *
 * Context: any. Return: the first verdict that is not NET6_OPTS_OK, or that.
 */
struct net6_opts net6_opts_parse(const u8 *hdr, unsigned int len, bool hop_by_hop,
				 const struct net6_opts_limits *limits)
{
	struct net6_opts out = { .verdict = NET6_OPTS_OK };
	unsigned int options = 0, padding = 0;
	unsigned int at = 2, size;

	for (; at < len; at += size) {
		u8 type = hdr[at];

		out.pointer = at;
		if (type == NET6_OPT_PAD1) {
			size = 1;
		} else {
			if (len - at < 2 || hdr[at + 1] > len - at - 2) {
				out.verdict = NET6_OPTS_MALFORMED;
				return out;
			}
			size = 2 + hdr[at + 1];
		}

		if (type == NET6_OPT_PAD1 || type == NET6_OPT_PADN) {
			padding += size;
		} else {
			padding = 0;
			options++;
			if (!net6_opts_known(type, hop_by_hop))
				out.verdict = limits->no_unknown ? NET6_OPTS_DISCARD :
					      net6_opts_unknown(type);
			else if (hop_by_hop)
				out.router_alert = true;
		}
		if (options > limits->options || padding > limits->padding)
			out.verdict = NET6_OPTS_TOO_MANY;
		if (out.verdict != NET6_OPTS_OK)
			return out;
	}
	return out;
}
