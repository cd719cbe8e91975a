/* SPDX-License-Identifier: GPL-2.0 */
/* ICMP messages, RFC 7915 4.2, 4.3, 5.2 and 5.3. No kernel: unit-tested and fuzzed in user space.
 */
#ifndef _NET6_XLAT_ICMP_H
#define _NET6_XLAT_ICMP_H

#include <linux/types.h>

#include "header.h"

#define NET6_XLAT_ICMP_HEADER	8
#define NET6_XLAT_ERROR6_MAX	(1280 - NET6_XLAT_IPV6)	/* RFC 4443 2.4 (c) */
#define NET6_XLAT_ERROR4_MAX	(576 - NET6_XLAT_IPV4)	/* RFC 1812 4.3.2.3 */

/**
 * struct net6_xlat_icmp - what an ICMP error says, beside the packet that it quotes
 * @type: its type; @code: alike
 * @value: the second word: a pointer, or what fits
 */
struct net6_xlat_icmp {
	u8	type;
	u8	code;
	u32	value;
};

bool net6_xlat_icmp_is_error4(u8 type);
bool net6_xlat_icmp_echo(bool to6, u8 type, u8 *other);
bool net6_xlat_icmp46(struct net6_xlat_icmp *icmp, unsigned int quoted_len, u32 mtu);
bool net6_xlat_icmp64(struct net6_xlat_icmp *icmp, bool fragment, u32 mtu);

enum net6_xlat_verdict net6_xlat_error(const struct net6_xlat_ctx *ctx,
				       struct net6_xlat_plan *plan, bool to6, const u8 *data,
				       unsigned int len, u8 *out, unsigned int *out_len);

#endif /* _NET6_XLAT_ICMP_H */
