// SPDX-License-Identifier: GPL-2.0
/* Fragmentation at the source, RFC 8200 section 4.5. Headers in the packet's linear part
 * are told apart; what a raw socket's program wrote behind them is data.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "../compat/sock.h"
#include "exthdr_chain.h"
#include "ip.h"

/* RFC 7739 section 5.2: a counter per set of destinations, from a random start and
 * with an offset that depends on source and destination and on a secret.
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

/* What a fragment has from its packet: how it is sent, what netfilter, filters and security
 * modules know of it, and when it is to leave (SO_TXTIME).
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
}

/* One fragment: the unfragmentable part, the Fragment header, a piece of the rest. */
static struct sk_buff *net6_frag_make(const struct sk_buff *skb,
				      const struct net6_unfragmentable *part,
				      unsigned int offset, unsigned int len, bool more, __be32 id)
{
	struct sk_buff *frag = alloc_skb(LL_MAX_HEADER + part->len + sizeof(struct frag_hdr) + len,
					 GFP_ATOMIC);
	struct frag_hdr *fh;
	u8 *head;

	if (!frag)
		return NULL;
	skb_reserve(frag, LL_MAX_HEADER);
	skb_reset_network_header(frag);
	head = skb_put(frag, part->len);
	fh = skb_put(frag, sizeof(*fh));
	if (skb_copy_bits(skb, 0, head, part->len) ||
	    skb_copy_bits(skb, part->len + offset, skb_put(frag, len), len)) {
		kfree_skb(frag);
		return NULL;
	}
	fh->nexthdr = head[part->nexthdr];
	fh->reserved = 0;
	fh->frag_off = htons(offset | (more ? IP6_MF : 0));
	fh->identification = id;
	head[part->nexthdr] = NEXTHDR_FRAGMENT;
	ipv6_hdr(frag)->payload_len = htons(frag->len - sizeof(struct ipv6hdr));
	net6_frag_copy_metadata(frag, skb);
	/* One time of departure is told of a packet: its first fragment's. */
	if (!offset) {
		skb_shinfo(frag)->tx_flags = skb_shinfo(skb)->tx_flags;
		skb_shinfo(frag)->tskey = skb_shinfo(skb)->tskey;
	}
	if (skb->sk && sk_fullsock(skb->sk))
		skb_set_owner_w(frag, skb->sk);
	return frag;
}

/**
 * net6_frag_output() - send a packet in fragments
 * @skb: data at the IPv6 header, no GSO; consumed
 * @dest: where to, with a next hop; borrowed
 * @mtu: bytes that a fragment may have with its IPv6 header, 1280 at least
 *
 * Context: BH disabled, RCU read lock held.
 * Return: 0, or the first negative errno; what comes after it is not sent.
 */
int net6_frag_output(struct sk_buff *skb, struct net6_dest *dest, unsigned int mtu)
{
	struct net6_unfragmentable part = net6_chain_unfragmentable(skb->data, skb_headlen(skb));
	unsigned int len = skb->len - part.len;
	unsigned int room, offset, size;
	struct net6_net *nn = dest->nn;
	__be32 id = net6_frag_id(ipv6_hdr(skb));
	struct sk_buff *frag;
	int err = 0;

	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) {
		err = -ENOMEM;
		goto out;
	}
	/* RFC 8200 4.5: each but the last "an integer multiple of 8 octets long" */
	room = (mtu - min_t(unsigned int, mtu, part.len + sizeof(struct frag_hdr))) & ~7U;
	if (!room) {
		err = -EMSGSIZE;
		goto out;
	}
	for (offset = 0; offset < len && !err; offset += size) {
		size = min(room, len - offset);
		frag = net6_frag_make(skb, &part, offset, size, offset + size < len, id);
		if (!frag) {
			err = -ENOMEM;
			break;
		}
		NET6_INC_IFACE(dest->iface, Ip6OutFragCreates);
		err = net6_neigh_output(dest->neigh, frag);
		if (unlikely(err == NET_XMIT_CN))
			err = 0;
	}
out:
	if (err) {
		NET6_INC_IFACE(dest->iface, Ip6OutFragFails);
		net6_drop(nn, skb, err == -EMSGSIZE ? NET6_DROP_OUT_TOO_BIG : NET6_DROP_NO_MEMORY);
	} else {
		NET6_INC_IFACE(dest->iface, Ip6OutFragOKs);
		consume_skb(skb);
	}
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
