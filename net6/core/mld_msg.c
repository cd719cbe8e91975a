// SPDX-License-Identifier: GPL-2.0
/* MLD messages, RFC 2710 section 3 and RFC 3810 section 5: bytes only. Pure. */
#include <linux/errno.h>
#include <linux/string.h>

#include "../compat/unaligned.h"
#include "mld_msg.h"

/**
 * net6_mld_decode() - a number that may be in floating point
 * @code: Maximum Response Code or QQIC
 * @mantissa_bits: 12 or 4
 *
 * RFC 3810 5.1.3, 5.1.9: above the highest bit, three bits of exponent and a mantissa
 * with its first one left out. Context: any. Return: the number.
 */
u32 net6_mld_decode(u16 code, unsigned int mantissa_bits)
{
	u32 exponent = (code >> mantissa_bits) & 7;
	u32 mantissa = code & ((1U << mantissa_bits) - 1);

	if (!(code >> (mantissa_bits + 3)))
		return code;
	return (mantissa | 1U << mantissa_bits) << (exponent + 3);
}

/**
 * net6_mld_query_parse() - read a Query
 * @msg: ICMPv6 header and what follows
 * @len: bytes
 * @query: filled in; points into @msg
 *
 * Context: any. Return: 0, or -EINVAL: "Query messages that do not match any of the
 * above conditions (e.g., a Query of length 26 octets) MUST be silently ignored" (RFC
 * 3810 8.1).
 */
int net6_mld_query_parse(const u8 *msg, unsigned int len, struct net6_mld_query *query)
{
	if (len < NET6_MLD_V1_LEN || msg[0] != NET6_MLD_QUERY)
		return -EINVAL;
	*query = (struct net6_mld_query){ .group = msg + 8 };
	if (len == NET6_MLD_V1_LEN) {
		query->v1 = true;
		query->delay_ms = get_unaligned_be16(msg + 4);
		return 0;
	}
	if (len < NET6_MLD_V2_QUERY_LEN)
		return -EINVAL;
	query->delay_ms = net6_mld_decode(get_unaligned_be16(msg + 4), 12);
	query->robustness = msg[24] & 7;
	query->interval = net6_mld_decode(msg[25], 4);
	query->n_sources = get_unaligned_be16(msg + 26);
	query->sources = msg + NET6_MLD_V2_QUERY_LEN;
	if (query->n_sources > (len - NET6_MLD_V2_QUERY_LEN) / 16)
		return -EINVAL;
	return 0;
}

/**
 * net6_mld_record_put() - write a Multicast Address Record without its sources
 * @at: NET6_MLD_RECORD_LEN bytes
 * @type: Record Type
 * @group: Multicast Address
 * @n_sources: that the caller writes behind it
 *
 * RFC 3810 5.2.4. Context: any.
 */
void net6_mld_record_put(u8 *at, enum net6_mld_record type, const struct in6_addr *group,
			 unsigned int n_sources)
{
	at[0] = type;
	at[1] = 0;		/* no auxiliary data */
	put_unaligned_be16(n_sources, at + 2);
	memcpy(at + 4, group, sizeof(*group));
}
