// SPDX-License-Identifier: GPL-2.0
/* Fragmentation at the source, RFC 8200 section 4.5. Headers in the packet's linear part are told
 * apart; behind them is data, whatever a raw socket's program wrote there. Pages are not copied:
 * fragments have references to those of their packet, and the first one is the packet itself.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "../compat/sock.h"
#include "exthdr_chain.h"
#include "ip.h"

/* RFC 7739 section 5.2: a counter per set of destinations, from a random start. Its offset
 * depends on source, destination and a secret.
 */
#define NET6_FRAG_COUNTERS	256

static atomic_t net6_frag_counters[NET6_FRAG_COUNTERS];
static siphash_key_t net6_frag_secret;

static __be32 net6_frag_id(const struct ipv6hdr *h)
{
	u64 hash = siphash(&h->saddr, 2 * sizeof(struct in6_addr), &net6_frag_secret);
	atomic_t *counter = &net6_frag_counters[hash % NET6_FRAG_COUNTERS];

	return htonl((u32)(hash >> 32) + (u32)atomic_inc_return(counter));
}

/* A fragment has this from its packet: how it is sent, when it is to leave (SO_TXTIME), and what
 * netfilter, filters and security modules know of it.
 */
static void net6_frag_copy_metadata(struct sk_buff *to, const struct sk_buff *from)
{
	to->protocol = htons(ETH_P_IPV6);
	to->priority = from->priority;
	to->mark = from->mark;
	to->dev = from->dev;
	net6_compat_copy_delivery_time(to, from);
	skb_copy_hash(to, from);
#ifdef CONFIG_NET_SCHED
	to->tc_index = from->tc_index;
#endif
	nf_copy(to, from);
	skb_ext_copy(to, from);
	skb_copy_secmark(to, from);
	skb_dst_copy(to, from);
}

/* The part of @skb from @at on becomes @frag's: pages change hands, and linear bytes are copied.
 * Pages are charged to the sender by the octet, once, and by the fragment that has the octets.
 * The first one has all else that the packet was charged for.
 */
static int net6_frag_move(struct sk_buff *frag, struct sk_buff *skb, unsigned int at, bool copy)
{
	unsigned int len = skb->len - at;

	if (unlikely(copy))
		return skb_copy_bits(skb, at, skb_put(frag, len), len) ?: pskb_trim(skb, at);
	skb_split(skb, frag, at);
	frag->truesize += frag->data_len;
	skb->truesize -= frag->data_len;
	frag->pfmemalloc |= skb->pfmemalloc;
	return 0;
}

/* skb_split() knows neither lists of buffers nor pages that go back to a receiving driver. */
static bool net6_frag_copies(const struct sk_buff *skb)
{
	return skb_has_frag_list(skb) || skb->pp_recycle;
}

/* What a device puts in front, and what goes behind that. A device that has to make a larger head
 * does not charge it to the sender. Who puts fragments together misses it: skb_try_coalesce().
 */
static unsigned int net6_frag_front(const struct net_device *dev,
				    const struct net6_unfragmentable *part)
{
	return max_t(unsigned int, LL_MAX_HEADER, LL_RESERVED_SPACE(dev)) + part->len +
	       sizeof(struct frag_hdr);
}

/* The last piece of what is left, behind the unfragmentable part and room for a Fragment header. */
static struct sk_buff *net6_frag_make(struct sk_buff *skb,
				      const struct net6_unfragmentable *part, unsigned int at)
{
	unsigned int front = net6_frag_front(skb->dev, part);
	bool copy = net6_frag_copies(skb);
	unsigned int linear = copy ? skb->len : skb_headlen(skb);
	struct sk_buff *frag;

	linear -= min(linear, at);
	frag = alloc_skb(front + linear + skb->dev->needed_tailroom, GFP_ATOMIC);
	if (unlikely(!frag))
		return NULL;
	skb_reserve(frag, front);
	/* Before the pages come, which are charged already. */
	if (skb->destructor == sock_wfree)
		skb_set_owner_w(frag, skb->sk);
	if (unlikely(net6_frag_move(frag, skb, at, copy))) {
		kfree_skb(frag);
		return NULL;
	}
	memcpy(skb_push(frag, part->len + sizeof(struct frag_hdr)), skb->data, part->len);
	net6_frag_copy_metadata(frag, skb);
	return frag;
}

/* Room for the Fragment header is there, behind the unfragmentable part. */
static void net6_frag_write_header(struct sk_buff *frag, const struct net6_unfragmentable *part,
				   unsigned int offset, bool more, __be32 id)
{
	struct frag_hdr *fh = (struct frag_hdr *)(frag->data + part->len);

	fh->nexthdr = frag->data[part->nexthdr];
	fh->reserved = 0;
	fh->frag_off = htons(offset | (more ? IP6_MF : 0));
	fh->identification = id;
	frag->data[part->nexthdr] = NEXTHDR_FRAGMENT;
	skb_reset_network_header(frag);
	ipv6_hdr(frag)->payload_len = htons(frag->len - sizeof(struct ipv6hdr));
}

/* Pieces are taken off the end of the packet, and what is left is the first of them. It keeps
 * what is told of a packet once, as the time of its departure. Nothing has been sent if there is
 * no memory for one.
 */
static int net6_frag_cut(struct sk_buff *skb, const struct net6_unfragmentable *part,
			 unsigned int room)
{
	unsigned int offset = rounddown(skb->len - part->len - 1, room);
	__be32 id = net6_frag_id(ipv6_hdr(skb));
	struct sk_buff *frag, *rest = NULL;

	for (; offset; offset -= room) {
		frag = net6_frag_make(skb, part, part->len + offset);
		if (unlikely(!frag)) {
			kfree_skb_list(rest);
			return -ENOMEM;
		}
		net6_frag_write_header(frag, part, offset, rest, id);
		frag->next = rest;
		rest = frag;
	}
	skb_push(skb, sizeof(struct frag_hdr));
	memmove(skb->data, skb->data + sizeof(struct frag_hdr), part->len);
	net6_frag_write_header(skb, part, 0, rest, id);
	skb->ip_summed = CHECKSUM_NONE;
	skb->ignore_df = 0;
	skb->next = rest;
	return 0;
}

static int net6_frag_send(struct sk_buff *frag, struct net6_neigh *neigh)
{
	struct sk_buff *next;
	int err;

	do {
		next = frag->next;
		skb_mark_not_on_list(frag);
		NET6_INC_IFACE(neigh->iface, Ip6OutFragCreates);
		err = net6_neigh_output(neigh, frag);
		if (unlikely(err == NET_XMIT_CN))
			err = 0;
		frag = next;
	} while (frag && likely(!err));
	/* Whoever refused one has counted the packet. */
	kfree_skb_list(frag);
	return err;
}

/* Alone with its headers, room for one more, and the checksum in its place. */
static int net6_frag_prepare(struct sk_buff *skb)
{
	if (skb_cow(skb, NET6_LINK_HEADER_MAX + sizeof(struct frag_hdr)))
		return -ENOMEM;
	return skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb) ? -ENOMEM : 0;
}

/**
 * net6_frag_split() - make a packet a list of fragments
 * @skb: data at the IPv6 header, no GSO, skb->dev set; the first one of them afterwards
 * @mtu: bytes that a fragment may have with its IPv6 header
 *
 * Context: any. Return: 0; -EMSGSIZE or -ENOMEM, and it is still one packet.
 */
int net6_frag_split(struct sk_buff *skb, unsigned int mtu)
{
	struct net6_unfragmentable part = net6_chain_unfragmentable(skb->data, skb_headlen(skb));
	unsigned int room;

	/* RFC 8200 4.5: each but the last "an integer multiple of 8 octets long" */
	room = (mtu - min_t(unsigned int, mtu, part.len + sizeof(struct frag_hdr))) & ~7U;
	return !room ? -EMSGSIZE : net6_frag_prepare(skb) ?: net6_frag_cut(skb, &part, room);
}

/**
 * net6_frag_output() - send a packet in fragments
 * @skb: data at the IPv6 header, no GSO, skb->dev set; consumed
 * @neigh: next hop; borrowed
 * @mtu: bytes that a fragment may have with its IPv6 header, 1280 at least
 *
 * Context: BH disabled, RCU read lock held.
 * Return: 0, or the first negative errno; what comes after it is not sent.
 */
int net6_frag_output(struct sk_buff *skb, struct net6_neigh *neigh, unsigned int mtu)
{
	int err = net6_frag_split(skb, mtu);

	if (unlikely(err))
		net6_drop(neigh->iface->nn, skb, err == -EMSGSIZE ? NET6_DROP_OUT_TOO_BIG :
			  NET6_DROP_NO_MEMORY);
	else
		err = net6_frag_send(skb, neigh);
	if (likely(!err))
		NET6_INC_IFACE(neigh->iface, Ip6OutFragOKs);
	else
		NET6_INC_IFACE(neigh->iface, Ip6OutFragFails);
	return err;
}

/**
 * net6_frag_init() - draw the secrets of identifications
 *
 * Context: process.
 */
void net6_frag_init(void)
{
	get_random_bytes(&net6_frag_secret, sizeof(net6_frag_secret));
	get_random_bytes(net6_frag_counters, sizeof(net6_frag_counters));
}
