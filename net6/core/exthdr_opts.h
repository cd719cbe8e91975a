/* SPDX-License-Identifier: GPL-2.0 */
/* Options of the Hop-by-Hop and Destination Options headers, RFC 8200 section 4.2.
 * Pure: bytes in, verdict out.
 */
#ifndef _NET6_EXTHDR_OPTS_H
#define _NET6_EXTHDR_OPTS_H

#include <linux/types.h>

/**
 * struct net6_opts_limits - what RFC 8504 section 5.3 lets a host limit
 * @options: other than padding, in one header
 * @padding: octets in a row
 * @no_unknown: options that are not recognised are not allowed
 */
struct net6_opts_limits {
	u32	options;
	u32	padding;
	bool	no_unknown;
};

enum net6_opts_verdict {
	NET6_OPTS_OK,
	NET6_OPTS_DISCARD,	/* unrecognised, action bits 01 */
	NET6_OPTS_PROBLEM,	/* action bits 10: discard and report */
	NET6_OPTS_PROBLEM_UNICAST, /* 11: report unless the destination is a group */
	NET6_OPTS_MALFORMED,	/* an option reaches beyond the header's end */
	NET6_OPTS_TOO_MANY,	/* over a limit */
};

/**
 * struct net6_opts - what the options say
 * @verdict: enum net6_opts_verdict
 * @pointer: offset from the extension header's first octet of the option that the
 *	verdict is about
 * @router_alert: there is a Router Alert option (RFC 2711)
 */
struct net6_opts {
	enum net6_opts_verdict	verdict;
	unsigned int		pointer;
	bool			router_alert;
};

struct net6_opts net6_opts_parse(const u8 *hdr, unsigned int len, bool hop_by_hop,
				 const struct net6_opts_limits *limits);

#endif /* _NET6_EXTHDR_OPTS_H */
