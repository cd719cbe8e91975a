/* SPDX-License-Identifier: GPL-2.0 */
/* The rules for a fragment, and for when a packet is whole, RFC 8200 section 4.5. Pure: numbers
 * in, verdicts out. Which octets are there is the kernel's inet_frag's to see.
 */
#ifndef _NET6_REASM_RULES_H
#define _NET6_REASM_RULES_H

#include <linux/types.h>

/**
 * struct net6_reasm_piece - a fragment
 * @front: octets between the IPv6 header and what the fragment carries, its Fragment
 *	header left out
 * @offset: of its first octet in the fragmentable part
 * @len: octets that it carries
 * @more: its M flag
 */
struct net6_reasm_piece {
	unsigned int	front;
	unsigned int	offset;
	unsigned int	len;
	bool		more;
};

enum net6_reasm_fault {
	NET6_REASM_FINE,
	NET6_REASM_NOT_OCTETS,	/* M flag and a length that is no multiple of 8 */
	NET6_REASM_TOO_LONG,	/* it would end beyond 65,535 octets of payload */
	NET6_REASM_EMPTY,
};

/* Offsets of fragments are 13 bits, RFC 8200 4.5. */
#define NET6_REASM_OFFSETS	8192

/**
 * struct net6_reasm_whole - what is known of a packet by its pieces
 * @len: octets of the fragmentable part, at least
 * @meat: octets that are there
 * @first: the first piece is there
 * @last: the last is: @len is exact
 * @edges: a bit for each offset, in units of 8 octets: a piece begins there, or one ends there
 *	that is not the last
 */
struct net6_reasm_whole {
	unsigned int	len;
	unsigned int	meat;
	bool		first;
	bool		last;
	u64		edges[NET6_REASM_OFFSETS / 64];
};

enum net6_reasm_fault net6_reasm_judge(const struct net6_reasm_piece *piece);
bool net6_reasm_grow(struct net6_reasm_whole *whole, const struct net6_reasm_piece *piece);
bool net6_reasm_again(const struct net6_reasm_whole *whole, const struct net6_reasm_piece *piece);
bool net6_reasm_take(struct net6_reasm_whole *whole, const struct net6_reasm_piece *piece);

#endif /* _NET6_REASM_RULES_H */
