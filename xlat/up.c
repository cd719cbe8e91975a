// SPDX-License-Identifier: GPL-2.0
/* What has been translated comes up through the device, as if a neighbor had sent it: in one piece,
 * or in fragments where IPv4 would have let a router make some.
 */
#include <net/ip.h>
#include <net6/link.h>

#include "xlat.h"

/**
 * net6_xlat_up() - a packet comes up
 * @x: translator
 * @skb: data at the IP header of @skb->protocol; consumed
 *
 * Through a queue of the processor's, so that no sender runs into its own receive path.
 * Context: BH disabled.
 */
void net6_xlat_up(struct net6_xlat *x, struct sk_buff *skb)
{
	unsigned int len = skb->len;

	/* The sender's pages may wait in a queue of this host's for ever (MSG_ZEROCOPY). */
	if (unlikely(skb_orphan_frags(skb, GFP_ATOMIC))) {
		net6_xlat_drop(x, skb, NET6_XLAT_NO_MEMORY);
		return;
	}
	skb_orphan(skb);
	skb_scrub_packet(skb, false);
	skb->dev = x->dev;
	skb->encapsulation = 0;
	skb_reset_mac_header(skb);
	skb_reset_mac_len(skb);
	if (likely(netif_rx(skb) == NET_RX_SUCCESS))
		dev_sw_netstats_rx_add(x->dev, len);
}

static struct sk_buff *net6_xlat_up_piece(const struct sk_buff *skb,
					  const struct net6_xlat_plan *plan, unsigned int offset,
					  unsigned int len)
{
	unsigned int headers = NET6_XLAT_IPV6 + NET6_XLAT_FRAG;
	struct sk_buff *piece = alloc_skb(LL_MAX_HEADER + headers + len, GFP_ATOMIC);

	if (!piece)
		return NULL;
	skb_reserve(piece, LL_MAX_HEADER);
	skb_reset_network_header(piece);
	net6_xlat_piece(plan, offset, len, skb_put(piece, headers));
	if (skb_copy_bits(skb, plan->new_len + offset, skb_put(piece, len), len)) {
		kfree_skb(piece);
		return NULL;
	}
	piece->protocol = htons(ETH_P_IPV6);
	piece->priority = skb->priority;
	piece->mark = skb->mark;
	return piece;
}

/**
 * net6_xlat_up_pieces() - an IPv6 packet comes up in fragments
 * @x: translator
 * @skb: as for net6_xlat_up(), its checksum complete
 * @plan: of its headers
 * @room: what net6_xlat_piece_room() says
 *
 * Context: BH disabled.
 */
void net6_xlat_up_pieces(struct net6_xlat *x, struct sk_buff *skb,
			 const struct net6_xlat_plan *plan, unsigned int room)
{
	unsigned int offset, len;
	struct sk_buff *piece;

	for (offset = 0; offset < plan->payload; offset += len) {
		len = min(plan->payload - offset, room);
		piece = net6_xlat_up_piece(skb, plan, offset, len);
		if (!piece) {
			net6_xlat_drop(x, skb, NET6_XLAT_NO_MEMORY);
			return;
		}
		NET6_XLAT_INC(x, To6FragCreates);
		net6_xlat_up(x, piece);
	}
	consume_skb(skb);
}
