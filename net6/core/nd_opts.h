/* SPDX-License-Identifier: GPL-2.0 */
/* Neighbor Discovery options, RFC 4861 section 4.6: one iterator that cannot run
 * off the end, and the checks of each option's own length. Pure.
 */
#ifndef _NET6_ND_OPTS_H
#define _NET6_ND_OPTS_H

#include <linux/types.h>

enum {
	NET6_ND_OPT_SLLA	= 1,	/* Source Link-Layer Address */
	NET6_ND_OPT_TLLA	= 2,	/* Target Link-Layer Address */
	NET6_ND_OPT_PREFIX	= 3,
	NET6_ND_OPT_REDIRECTED	= 4,
	NET6_ND_OPT_MTU		= 5,
	NET6_ND_OPT_NONCE	= 14,	/* RFC 3971 5.3.2 */
	NET6_ND_OPT_ROUTE	= 24,	/* RFC 4191 2.3 */
	NET6_ND_OPT_RDNSS	= 25,	/* RFC 8106 5.1 */
	NET6_ND_OPT_DNSSL	= 31,	/* RFC 8106 5.2 */
	NET6_ND_OPT_CAPTIVE	= 37,	/* RFC 8910 2.3 */
	NET6_ND_OPT_PREF64	= 38,	/* RFC 8781 4 */
};

#define NET6_ND_PREFIX_ONLINK	0x80	/* L */
#define NET6_ND_PREFIX_AUTO	0x40	/* A */

/**
 * struct net6_nd_opt - one option
 * @body: behind type and length
 * @len: of @body in bytes: 8 * length - 2
 * @type: NET6_ND_OPT_*, or one that we do not know
 */
struct net6_nd_opt {
	const u8	*body;
	unsigned int	len;
	u8		type;
};

/**
 * struct net6_nd_opts - the options of one message, all of them well-formed
 * @data: first option
 * @len: bytes of options
 * @slla: body of the first Source Link-Layer Address option, NULL if none
 * @tlla: body of the first Target Link-Layer Address option, NULL if none
 * @nonce: body of the first Nonce option, NULL if none
 * @slla_len, @tlla_len, @nonce_len: bytes
 * @mtu: value of the last MTU option, 0 if none
 */
struct net6_nd_opts {
	const u8	*data;
	unsigned int	len;
	const u8	*slla;
	const u8	*tlla;
	const u8	*nonce;
	unsigned int	slla_len;
	unsigned int	tlla_len;
	unsigned int	nonce_len;
	u32		mtu;
};

/**
 * struct net6_nd_prefix - a Prefix Information option, RFC 4861 4.6.2
 * @prefix: 16 bytes; bits beyond @plen are noise and not yet cleared
 * @plen: 0..128
 * @flags: NET6_ND_PREFIX_*
 * @valid_lft: seconds, all ones for ever; @preferred_lft: alike
 */
struct net6_nd_prefix {
	const u8	*prefix;
	u8		plen;
	u8		flags;
	u32		valid_lft;
	u32		preferred_lft;
};

/**
 * struct net6_nd_route - a Route Information option, RFC 4191 2.3
 * @prefix: @len bytes: 0, 8 or 16; bits beyond @plen are noise
 * @len: bytes of @prefix
 * @plen: 0..128
 * @preference: 1 high, 0 medium, -1 low
 * @lifetime: seconds, all ones for ever
 */
struct net6_nd_route {
	const u8	*prefix;
	unsigned int	len;
	u8		plen;
	s8		preference;
	u32		lifetime;
};

/**
 * struct net6_nd_dns - a Recursive DNS Server or DNS Search List option, RFC 8106 5
 * @data: addresses of 16 bytes, or domain names in labels (RFC 1035 3.1) and padding
 * @len: bytes; a multiple of 16, or of 8
 * @lifetime: seconds, all ones for ever, 0: no longer to be used
 */
struct net6_nd_dns {
	const u8	*data;
	unsigned int	len;
	u32		lifetime;
};

/**
 * struct net6_nd_pref64 - a PREF64 option, RFC 8781 4
 * @prefix: 12 bytes; bits beyond @plen are noise
 * @plen: 32, 40, 48, 56, 64 or 96
 * @lifetime: seconds, 0: no longer to be used
 */
struct net6_nd_pref64 {
	const u8	*prefix;
	u8		plen;
	u32		lifetime;
};

int net6_nd_opt_next(const u8 **pos, unsigned int *left, struct net6_nd_opt *opt);
int net6_nd_opts_parse(const u8 *data, unsigned int len, struct net6_nd_opts *opts);
int net6_nd_prefix_parse(const struct net6_nd_opt *opt, struct net6_nd_prefix *prefix);
int net6_nd_route_parse(const struct net6_nd_opt *opt, struct net6_nd_route *route);
int net6_nd_dns_parse(const struct net6_nd_opt *opt, struct net6_nd_dns *dns);
int net6_nd_pref64_parse(const struct net6_nd_opt *opt, struct net6_nd_pref64 *pref64);
int net6_nd_preference(u8 bits);

#endif /* _NET6_ND_OPTS_H */
