/* SPDX-License-Identifier: GPL-2.0 */
/* Which of two source addresses is better for a destination, RFC 6724 section 5.
 * Pure: no tables, no locks.
 */
#ifndef _NET6_SRCADDR_RULES_H
#define _NET6_SRCADDR_RULES_H

#include <linux/in6.h>
#include <linux/types.h>

/**
 * struct net6_srcaddr - a candidate
 * @addr: address
 * @plen: length of its prefix, bits
 * @deprecated: RFC 4862 5.5.4
 * @outgoing: it is on the interface that the packet leaves by
 * @privacy: temporary or not, as is preferred there (RFC 8981)
 */
struct net6_srcaddr {
	struct in6_addr	addr;
	u8		plen;
	bool		deprecated;
	bool		outgoing;
	bool		privacy;
};

/* RFC 6724 section 3.1: scopes of unicast addresses as multicast scope values */
int net6_srcaddr_scope(const struct in6_addr *addr);
/* RFC 6724 section 2.1: label by the default policy table */
u8 net6_srcaddr_label(const struct in6_addr *addr);
/* Leading bits that are the same, 0 to 128 */
unsigned int net6_srcaddr_common(const struct in6_addr *a, const struct in6_addr *b);

/* Above 0 if @a is better, below 0 if @b is, 0 if no rule tells. */
int net6_srcaddr_cmp(const struct net6_srcaddr *a, const struct net6_srcaddr *b,
		     const struct in6_addr *daddr);

#endif /* _NET6_SRCADDR_RULES_H */
