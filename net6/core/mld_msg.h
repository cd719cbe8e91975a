/* SPDX-License-Identifier: GPL-2.0 */
/* MLD messages, RFC 2710 section 3 and RFC 3810 section 5: bytes only. Pure. */
#ifndef _NET6_MLD_MSG_H
#define _NET6_MLD_MSG_H

#include <linux/in6.h>
#include <linux/types.h>

enum {
	NET6_MLD_QUERY		= 130,
	NET6_MLD_V1_REPORT	= 131,
	NET6_MLD_V1_DONE	= 132,
	NET6_MLD_REPORT		= 143,	/* RFC 3810 5.2 */
};

/* Multicast Address Record types, RFC 3810 5.2.12 */
enum net6_mld_record {
	NET6_MLD_IS_IN		= 1,
	NET6_MLD_IS_EX		= 2,
	NET6_MLD_TO_IN		= 3,
	NET6_MLD_TO_EX		= 4,
	NET6_MLD_ALLOW		= 5,
	NET6_MLD_BLOCK		= 6,
};

#define NET6_MLD_V1_LEN		24	/* bytes, RFC 2710 3 */
#define NET6_MLD_V2_QUERY_LEN	28	/* without sources, RFC 3810 5.1 */
#define NET6_MLD_REPORT_LEN	8	/* without records */
#define NET6_MLD_RECORD_LEN	20	/* without sources */

/**
 * struct net6_mld_query - a Query
 * @v1: of MLDv1
 * @group: 16 bytes, zeros in a General Query
 * @delay_ms: Maximum Response Delay
 * @robustness: Querier's Robustness Variable, 0 if it says none
 * @interval: Querier's Query Interval, seconds; 0 in MLDv1
 * @n_sources: of a Multicast Address and Source Specific Query
 * @sources: 16 bytes each
 */
struct net6_mld_query {
	bool		v1;
	const u8	*group;
	u32		delay_ms;
	u8		robustness;
	u32		interval;
	unsigned int	n_sources;
	const u8	*sources;
};

int net6_mld_query_parse(const u8 *msg, unsigned int len, struct net6_mld_query *query);
u32 net6_mld_decode(u16 code, unsigned int mantissa_bits);
void net6_mld_record_put(u8 *at, enum net6_mld_record type, const struct in6_addr *group,
			 unsigned int n_sources);

#endif /* _NET6_MLD_MSG_H */
