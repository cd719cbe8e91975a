// SPDX-License-Identifier: GPL-2.0
/* What a fragment may be and when a packet is whole, RFC 8200 section 4.5: bookkeeping
 * without the pieces themselves.
 */
#include "reasm_rules.h"

#define NET6_REASM_MAX	65535	/* octets behind the IPv6 header, RFC 8200 3 */

/**
 * net6_reasm_judge() - is a fragment acceptable by itself?
 * @piece: it
 *
 * Context: any. Return: the first fault in the order of RFC 8200 section 4.5.
 */
enum net6_reasm_fault net6_reasm_judge(const struct net6_reasm_piece *piece)
{
	/* "If the length of a fragment [...] is not a multiple of 8 octets and the M flag of
	 * that fragment is 1, then that fragment must be discarded"
	 */
	if (piece->more && piece->len & 7)
		return NET6_REASM_NOT_OCTETS;
	/* "... such that the Payload Length of the packet reassembled from that fragment would
	 * exceed 65,535 octets, then that fragment must be discarded"
	 */
	if (piece->front + piece->offset + piece->len > NET6_REASM_MAX)
		return NET6_REASM_TOO_LONG;
	/* One without octets can only be meant to make trouble. */
	return piece->len ? NET6_REASM_FINE : NET6_REASM_EMPTY;
}

/**
 * net6_reasm_grow() - the length that a fragment implies
 * @whole: packet; its length follows
 * @piece: fragment without a fault, not yet known to be new
 *
 * Context: any. Return: false if it contradicts what came before: all must be dropped.
 */
bool net6_reasm_grow(struct net6_reasm_whole *whole, const struct net6_reasm_piece *piece)
{
	unsigned int end = piece->offset + piece->len;

	if (!piece->more) {
		if (end < whole->len || (whole->last && end != whole->len))
			return false;
		whole->last = true;
		whole->len = end;
	} else if (end > whole->len) {
		if (whole->last)
			return false;
		whole->len = end;
	}
	return true;
}

/**
 * net6_reasm_take() - a fragment has found its place
 * @whole: packet
 * @piece: fragment that overlaps no other
 *
 * Context: any. Return: true if all are there now.
 */
bool net6_reasm_take(struct net6_reasm_whole *whole, const struct net6_reasm_piece *piece)
{
	whole->meat += piece->len;
	if (!piece->offset)
		whole->first = true;
	return whole->first && whole->last && whole->meat == whole->len;
}
