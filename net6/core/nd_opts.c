// SPDX-License-Identifier: GPL-2.0
/* Neighbor Discovery options (RFC 4861 4.6): bytes only, no behaviour. Pure. */
#include <linux/errno.h>
#include <linux/types.h>

#include "../compat/unaligned.h"
#include "nd_opts.h"

/* Bodies in bytes, behind type and length. */
#define NET6_ND_PREFIX_BODY	30
#define NET6_ND_MTU_BODY	6

/**
 * net6_nd_opt_next() - take the next option
 * @pos: where it begins; moved behind it
 * @left: bytes from @pos to the end of the message; lowered
 * @opt: filled in
 *
 * Context: any. Return: 1 with an option, 0 at the end, -EINVAL for an option of
 * length 0 or one that goes beyond the end.
 */
int net6_nd_opt_next(const u8 **pos, unsigned int *left, struct net6_nd_opt *opt)
{
	unsigned int len;

	if (!*left)
		return 0;
	if (*left < 2)
		return -EINVAL;
	/* RFC 4861 4.6: "Nodes MUST silently discard an ND packet that contains an
	 * option with length zero."
	 */
	len = (*pos)[1] * 8U;
	if (!len || len > *left)
		return -EINVAL;

	opt->type = (*pos)[0];
	opt->body = *pos + 2;
	opt->len = len - 2;
	*pos += len;
	*left -= len;
	return 1;
}

/**
 * net6_nd_opts_parse() - check all options and pick those that are read by name
 * @data: first option
 * @len: bytes to the end of the message
 * @opts: filled in; points into @data
 *
 * Unknown options are passed over (RFC 4861 4.6), of options that may stand only
 * once the first is taken.
 * Context: any. Return: 0 or -EINVAL as net6_nd_opt_next().
 */
int net6_nd_opts_parse(const u8 *data, unsigned int len, struct net6_nd_opts *opts)
{
	struct net6_nd_opt opt;
	int rc;

	*opts = (struct net6_nd_opts){ .data = data, .len = len };
	while ((rc = net6_nd_opt_next(&data, &len, &opt)) > 0) {
		switch (opt.type) {
		case NET6_ND_OPT_SLLA:
			if (!opts->slla) {
				opts->slla = opt.body;
				opts->slla_len = opt.len;
			}
			break;
		case NET6_ND_OPT_TLLA:
			if (!opts->tlla) {
				opts->tlla = opt.body;
				opts->tlla_len = opt.len;
			}
			break;
		case NET6_ND_OPT_NONCE:
			if (!opts->nonce) {
				opts->nonce = opt.body;
				opts->nonce_len = opt.len;
			}
			break;
		case NET6_ND_OPT_MTU:
			/* RFC 4861 4.6.4: two reserved bytes, then the MTU */
			if (opt.len == NET6_ND_MTU_BODY)
				opts->mtu = get_unaligned_be32(opt.body + 2);
			break;
		}
	}
	return rc;
}

/**
 * net6_nd_prefix_parse() - read a Prefix Information option
 * @opt: the option; its body stays where it is
 * @prefix: filled in
 *
 * Context: any. Return: 0, or -EINVAL when its length is not 4 or the prefix is
 * longer than an address (RFC 4861 4.6.2).
 */
int net6_nd_prefix_parse(const struct net6_nd_opt *opt, struct net6_nd_prefix *prefix)
{
	const u8 *body = opt->body;

	if (opt->type != NET6_ND_OPT_PREFIX || opt->len != NET6_ND_PREFIX_BODY || body[0] > 128)
		return -EINVAL;
	prefix->plen = body[0];
	prefix->flags = body[1];
	prefix->valid_lft = get_unaligned_be32(body + 2);
	prefix->preferred_lft = get_unaligned_be32(body + 6);
	prefix->prefix = body + 14;
	return 0;
}

/**
 * net6_nd_preference() - a router's or route's preference
 * @bits: two of them, RFC 4191 2.1
 *
 * Context: any. Return: 1 high, 0 medium, -1 low, -2 for the reserved value.
 */
int net6_nd_preference(u8 bits)
{
	static const s8 preferences[4] = { 0, 1, -2, -1 };

	return preferences[bits & 3];
}

/**
 * net6_nd_route_parse() - read a Route Information option
 * @opt: the option; its body stays where it is
 * @route: filled in
 *
 * Context: any. Return: 0; -EINVAL when its length does not fit the prefix', or the preference is
 * the reserved value. Such an option "MUST be ignored" (RFC 4191 2.3).
 */
int net6_nd_route_parse(const struct net6_nd_opt *opt, struct net6_nd_route *route)
{
	const u8 *body = opt->body;
	int preference;

	if (opt->type != NET6_ND_OPT_ROUTE || opt->len < 6 || opt->len > 22)
		return -EINVAL;
	preference = net6_nd_preference(body[1] >> 3);
	route->plen = body[0];
	route->len = opt->len - 6;
	if (route->plen > 128 || route->plen > route->len * 8 || preference < -1)
		return -EINVAL;
	route->preference = preference;
	route->lifetime = get_unaligned_be32(body + 2);
	route->prefix = body + 6;
	return 0;
}

/**
 * net6_nd_dns_parse() - read a Recursive DNS Server or DNS Search List option
 * @opt: the option; its body stays where it is
 * @dns: filled in
 *
 * Context: any. Return: 0, or -EINVAL when its length is none of those that RFC 8106
 * 5.1 and 5.2 allow. Domain names are not looked into.
 */
int net6_nd_dns_parse(const struct net6_nd_opt *opt, struct net6_nd_dns *dns)
{
	if (opt->len < 6 + 8)
		return -EINVAL;
	dns->lifetime = get_unaligned_be32(opt->body + 2);
	dns->data = opt->body + 6;
	dns->len = opt->len - 6;
	if (opt->type == NET6_ND_OPT_RDNSS)
		return dns->len % 16 ? -EINVAL : 0;
	return opt->type == NET6_ND_OPT_DNSSL ? 0 : -EINVAL;
}

/**
 * net6_nd_pref64_parse() - read a PREF64 option
 * @opt: the option; its body stays where it is
 * @pref64: filled in
 *
 * RFC 8781 4.1: 13 bits are the lifetime in units of 8 s, three name the length of the prefix.
 * "The receiver MUST ignore the PREF64 option if the Prefix Length Code field is not set to one
 * of" the six.
 * Context: any. Return: 0; -EINVAL when it is to be ignored.
 */
int net6_nd_pref64_parse(const struct net6_nd_opt *opt, struct net6_nd_pref64 *pref64)
{
	static const u8 lengths[] = { 96, 64, 56, 48, 40, 32 };
	unsigned int code;
	u16 scaled;

	if (opt->len != 2 * 8 - 2)
		return -EINVAL;
	scaled = get_unaligned_be16(opt->body);
	code = scaled & 7;
	if (code >= sizeof(lengths))
		return -EINVAL;
	pref64->plen = lengths[code];
	pref64->lifetime = scaled & ~7U;
	pref64->prefix = opt->body + 2;
	return 0;
}
