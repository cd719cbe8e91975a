// SPDX-License-Identifier: GPL-2.0
/* The rules for a fragment, and for when a packet is whole, RFC 8200 section 4.5: bookkeeping
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
		whole->len = end;
	} else if (end > whole->len) {
		if (whole->last)
			return false;
		whole->len = end;
	}
	return true;
}

/* @at: below NET6_REASM_OFFSETS */
static void net6_reasm_edge_set(struct net6_reasm_whole *whole, unsigned int at)
{
	whole->edges[at / 64] |= 1ULL << (at % 64);
}

static bool net6_reasm_edge(const struct net6_reasm_whole *whole, unsigned int at)
{
	return whole->edges[at / 64] >> (at % 64) & 1;
}

/**
 * net6_reasm_again() - has this very fragment come before?
 * @whole: packet
 * @piece: fragment that contradicts no length, and of which all octets are there
 *
 * RFC 8200 4.5: fragments that overlap end the packet, but "an implementation may choose to
 * [...] drop exact duplicate fragments while keeping the other fragments".
 * Context: any. Return: false if it overlaps others.
 */
bool net6_reasm_again(const struct net6_reasm_whole *whole, const struct net6_reasm_piece *piece)
{
	unsigned int end = piece->offset + piece->len, at = piece->offset / 8;
	bool last = whole->last && end == whole->len;

	if (piece->more == last || !net6_reasm_edge(whole, at))
		return false;
	while (++at < (end + 7) / 8)
		if (net6_reasm_edge(whole, at))
			return false;
	return last || net6_reasm_edge(whole, at);
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
	net6_reasm_edge_set(whole, piece->offset / 8);
	if (piece->more)
		net6_reasm_edge_set(whole, (piece->offset + piece->len) / 8);
	else
		whole->last = true;
	whole->meat += piece->len;
	if (!piece->offset)
		whole->first = true;
	return whole->first && whole->last && whole->meat == whole->len;
}
