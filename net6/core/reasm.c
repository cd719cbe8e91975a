// SPDX-License-Identifier: GPL-2.0
/* Reassembly, RFC 8200 section 4.5, with the kernel's fragment queues. Memory is bounded per
 * namespace. Overlaps drop the whole packet (RFC 5722), atomic fragments are never queued (RFC
 * 6946), ECN marks are combined (RFC 3168 5.3).
 */
#include <linux/jhash.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>

#include "../compat/inet_frag.h"
#include "../compat/timer.h"
#include "exthdr.h"
#include "icmp.h"
#include "reasm_rules.h"

/**
 * struct net6_reasm - a packet of which fragments have come
 * @q: must be first; its own len, meat and first-and-last flags are not used
 * @whole: which octets are there
 * @ifindex: interface that the first fragment came in on
 * @nhoff: offset from its IPv6 header of the octet that names the Fragment header
 * @refused: nothing of the packet is kept, and what comes until its time is over is dropped
 * @ecn: set of the ECN codepoints seen, as ip_frag_ecn_table wants it
 */
struct net6_reasm {
	struct inet_frag_queue	q;
	struct net6_reasm_whole	whole;
	int			ifindex;
	u16			nhoff;
	bool			refused;
	u8			ecn;
};

static void net6_reasm_construct(struct inet_frag_queue *q, const void *arg)
{
	q->key.v6 = *(const struct frag_v6_compare_key *)arg;
}

static u32 net6_reasm_hash_key(const void *key, u32 len, u32 seed)
{
	return jhash2(key, sizeof(struct frag_v6_compare_key) / sizeof(u32), seed);
}

static u32 net6_reasm_hash_obj(const void *obj, u32 len, u32 seed)
{
	const struct inet_frag_queue *q = obj;

	return net6_reasm_hash_key(&q->key.v6, len, seed);
}

static int net6_reasm_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct inet_frag_queue *q = obj;

	return memcmp(&q->key.v6, arg->key, sizeof(q->key.v6)) != 0;
}

static void net6_reasm_expire(struct timer_list *t);

static struct inet_frags net6_frags = {
	.qsize			= sizeof(struct net6_reasm),
	.constructor		= net6_reasm_construct,
	.frag_expire		= net6_reasm_expire,
	.frags_cache_name	= "net6_reasm",
	.rhash_params = {
		.head_offset		= offsetof(struct inet_frag_queue, node),
		.hashfn			= net6_reasm_hash_key,
		.obj_hashfn		= net6_reasm_hash_obj,
		.obj_cmpfn		= net6_reasm_cmp,
		.automatic_shrinking	= true,
	},
};

/* RFC 8200 4.5: "an ICMP Parameter Problem, Code 3, message should be sent to the source of the
 * fragment, with the Pointer field set to zero". An empty one lacks headers, too. The packet is
 * taken out of the tree because skb->dev shares its place with the tree's node.
 */
static void net6_reasm_time_exceeded(struct net6_net *nn, struct net6_reasm *reasm,
				     struct sk_buff *head)
{
	struct net6_iface *iface = net6_iface_find(nn, reasm->ifindex);

	if (iface && net6_iface_usable(iface)) {
		head->dev = iface->dev;
		net6_icmp_send(head, ICMPV6_TIME_EXCEED, ICMPV6_EXC_FRAGTIME, 0);
	}
	net6_drop(nn, head, NET6_DROP_FRAG_TIMEOUT);
}

static void net6_reasm_expire(struct timer_list *t)
{
	struct inet_frag_queue *q = timer_container_of(q, t, timer);
	struct net6_reasm *reasm = container_of(q, struct net6_reasm, q);
	struct sk_buff *head = NULL;
	struct net6_net *nn;
	int refs = 1;		/* the timer's */

	rcu_read_lock();
	/* Pairs with net6_reasm_net_pre_exit(): the namespace may be gone. */
	if (READ_ONCE(q->fqdir->dead))
		goto out;
	nn = net6_pernet(q->fqdir->net);
	spin_lock(&q->lock);
	if (q->flags & INET_FRAG_COMPLETE) {
		spin_unlock(&q->lock);
		goto out;
	}
	net6_compat_frag_kill(q, &refs);
	/* The sender is not told, and it was counted when it was refused. */
	if (reasm->refused) {
		spin_unlock(&q->lock);
		goto out;
	}
	NET6_INC(nn, Ip6ReasmFails);
	if (reasm->whole.first)
		head = inet_frag_pull_head(q);
	spin_unlock(&q->lock);

	if (head)
		net6_reasm_time_exceeded(nn, reasm, head);
	else
		this_cpu_inc(nn->mib->drop[NET6_DROP_FRAG_TIMEOUT]);
out:
	rcu_read_unlock();
	net6_compat_frag_putn(q, refs);
}

static struct net6_reasm *net6_reasm_find(struct net6_net *nn, const struct sk_buff *skb,
					  __be32 id)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct frag_v6_compare_key key = {
		.saddr	= h->saddr,
		.daddr	= h->daddr,
		.id	= id,
	};
	struct inet_frag_queue *q;

	/* Addresses with a scope mean another node on another link. */
	if (ipv6_addr_type(&h->daddr) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL))
		key.iif = net6_rx_cb(skb)->ifindex;
	q = inet_frag_find(nn->fqdir, &key);
	return q ? container_of(q, struct net6_reasm, q) : NULL;
}

/* All fragments are there, and @skb is the head of the queue's list.
 * Takes the Fragment header out; q->lock held. Adds to @refs what is to be given back.
 */
static struct sk_buff *net6_reasm_finish(struct net6_reasm *reasm, struct sk_buff *skb,
					 struct sk_buff *prev, struct net6_rx_cb *cb, int *refs)
	__must_hold(&reasm->q.lock)
{
	u8 ecn = ip_frag_ecn_table[reasm->ecn];
	unsigned int payload_len;
	void *data;
	u8 *nh;

	net6_compat_frag_kill(&reasm->q, refs);
	/* RFC 3168 5.3: marks that contradict each other */
	if (ecn == 0xff)
		return NULL;
	/* From here on @skb takes the place of the first fragment, unshared. */
	data = inet_frag_reasm_prepare(&reasm->q, skb, prev);
	if (!data)
		return NULL;
	payload_len = -skb_network_offset(skb) - sizeof(struct ipv6hdr) -
		      sizeof(struct frag_hdr) + reasm->whole.len;
	if (payload_len > IPV6_MAXPLEN)
		return NULL;

	nh = skb_network_header(skb);
	cb->nexthdr = *(skb->data - sizeof(struct frag_hdr));
	cb->nhoff = reasm->nhoff;
	cb->flags |= NET6_RX_FRAGMENTED;
	nh[reasm->nhoff] = cb->nexthdr;
	memmove(nh + sizeof(struct frag_hdr), nh, skb->data - nh - sizeof(struct frag_hdr));
	skb->network_header += sizeof(struct frag_hdr);
	/* The link header is not in front of it any more. */
	skb->mac_header = skb->network_header;
	skb_reset_transport_header(skb);

	inet_frag_reasm_finish(&reasm->q, skb, data, true);	/* data: the IPv6 header */
	__skb_pull(skb, skb_transport_offset(skb));
	ipv6_hdr(skb)->payload_len = htons(payload_len);
	ipv6_change_dsfield(ipv6_hdr(skb), 0xff, ecn);
	reasm->q.rb_fragments = RB_ROOT;
	reasm->q.fragments_tail = NULL;
	reasm->q.last_run_head = NULL;
	return skb;
}

/* RFC 5722 section 4: the whole packet is discarded, "including those not yet received". So
 * the queue stays until its time is over, and counts against limits.frag_memory without its
 * fragments. q->lock held.
 */
static void net6_reasm_refuse(struct net6_reasm *reasm)
	__must_hold(&reasm->q.lock)
{
	struct sk_buff *skb;

	reasm->refused = true;
	while ((skb = inet_frag_pull_head(&reasm->q)))
		kfree_skb(skb);
}

/* Put a fragment in; q->lock held. Data of @skb is the fragment's. Returns the whole
 * packet if this was the last piece. @reason: NET6_DROP_MAX, or why nothing is left
 * of the packet, then *left is what the caller has to drop. @refs: as above.
 */
static struct sk_buff *net6_reasm_queue(struct net6_reasm *reasm, struct sk_buff *skb,
					const struct net6_reasm_piece *piece,
					struct sk_buff **left, enum net6_drop_reason *reason,
					int *refs)
	__must_hold(&reasm->q.lock)
{
	struct inet_frag_queue *q = &reasm->q;
	struct net6_rx_cb cb = *net6_rx_cb(skb);
	struct net_device *dev = skb->dev;
	struct sk_buff *prev = q->fragments_tail;
	int err;

	*left = skb;
	*reason = NET6_DROP_FRAG_INVALID;
	/* A namespace that goes away may have lost what was there. */
	if (q->flags & INET_FRAG_COMPLETE || reasm->refused || READ_ONCE(q->fqdir->dead))
		return NULL;
	if (!net6_reasm_grow(&reasm->whole, piece))
		goto refuse;

	err = inet_frag_queue_insert(q, skb, piece->offset, piece->offset + piece->len);
	/* All octets of it are there. An exact duplicate may be ignored: RFC 8200 4.5. */
	if (err == IPFRAG_DUP && net6_reasm_again(&reasm->whole, piece))
		return NULL;
	*reason = NET6_DROP_FRAG_OVERLAP;
	if (err)			/* RFC 5722: all of it "MUST be silently discarded" */
		goto refuse;

	*left = NULL;
	*reason = NET6_DROP_MAX;
	reasm->ecn |= BIT(ipv6_get_dsfield(ipv6_hdr(skb)) & INET_ECN_MASK);
	q->stamp = skb->tstamp;
	add_frag_mem_limit(q->fqdir, skb->truesize);
	if (!piece->offset) {
		reasm->ifindex = cb.ifindex;
		reasm->nhoff = cb.nhoff;
	}
	if (!net6_reasm_take(&reasm->whole, piece))
		return NULL;

	if (!net6_reasm_finish(reasm, skb, prev, &cb, refs)) {
		*reason = NET6_DROP_FRAG_INVALID;
		return NULL;
	}
	skb->dev = dev;
	*net6_rx_cb(skb) = cb;
	return skb;
refuse:
	net6_reasm_refuse(reasm);
	return NULL;
}

/* The extension header at @at, which *nexthdr names; what follows it is named then. Inside a
 * fragment that is not a first one no header has to follow.
 * Returns its length, 0 if its first 8 octets are not all there.
 */
static unsigned int net6_reasm_skip(const struct sk_buff *skb, unsigned int at, u8 *nexthdr)
{
	struct frag_hdr buf;
	const struct frag_hdr *hdr = skb_header_pointer(skb, at, sizeof(buf), &buf);
	const struct ipv6_opt_hdr *opt = (const struct ipv6_opt_hdr *)hdr;
	u8 type = *nexthdr;

	if (!hdr)
		return 0;
	*nexthdr = hdr->nexthdr;
	if (type == NEXTHDR_AUTH)
		return ipv6_authlen(opt);
	if (type != NEXTHDR_FRAGMENT)
		return ipv6_optlen(opt);
	if (hdr->frag_off & htons(IP6_OFFSET))
		*nexthdr = NEXTHDR_NONE;
	return sizeof(*hdr);
}

/* Octets that the first fragment must have of what ends the chain. RFC 8200 4.7: nothing follows
 * No Next Header. Of the others the smallest header.
 */
static unsigned int net6_reasm_upper_len(u8 nexthdr)
{
	switch (nexthdr) {
	case NEXTHDR_NONE:
		return 0;
	case NEXTHDR_TCP:
		return sizeof(struct tcphdr);
	case NEXTHDR_UDP:
		return sizeof(struct udphdr);
	case NEXTHDR_ICMP:
		return sizeof(struct icmp6hdr);
	}
	return 1;
}

/* RFC 7112 section 5: the first fragment must have all headers up to the upper-layer
 * one. @at is the offset of what is behind the Fragment header from skb->data.
 */
static bool net6_reasm_chain_complete(const struct sk_buff *skb, unsigned int at, u8 nexthdr)
{
	unsigned int len;

	while (ipv6_ext_hdr(nexthdr) && nexthdr != NEXTHDR_NONE) {
		len = net6_reasm_skip(skb, at, &nexthdr);
		if (!len)
			return false;
		at += len;
	}
	return at + net6_reasm_upper_len(nexthdr) <= skb->len;
}

/* Returns false if the packet was consumed. */
static bool net6_reasm_check(struct sk_buff *skb, const struct net6_reasm_piece *piece, u8 nexthdr)
{
	enum net6_reasm_fault fault = net6_reasm_judge(piece);

	switch (fault) {
	case NET6_REASM_NOT_OCTETS:
		/* RFC 8200 4.5: code 0, pointer to the Payload Length */
		net6_exthdr_problem(skb, NET6_DROP_FRAG_INVALID, NET6_PARAM_HEADER_FIELD,
				    offsetof(struct ipv6hdr, payload_len));
		return false;
	case NET6_REASM_TOO_LONG:
		/* RFC 8200 4.5: code 0, pointer to the Fragment Offset */
		net6_exthdr_problem(skb, NET6_DROP_FRAG_INVALID, NET6_PARAM_HEADER_FIELD,
				    offsetof(struct frag_hdr, frag_off) - skb_network_offset(skb));
		return false;
	case NET6_REASM_EMPTY:
	case NET6_REASM_FINE:
		break;
	}
	/* RFC 8200 4.5: "an ICMP Parameter Problem, Code 3, message should be sent to the source
	 * of the fragment, with the Pointer field set to zero"; an empty one lacks them, too.
	 */
	if (!piece->offset &&
	    !net6_reasm_chain_complete(skb, sizeof(struct frag_hdr), nexthdr)) {
		net6_exthdr_problem(skb, NET6_DROP_FRAG_INVALID, NET6_PARAM_FIRST_FRAGMENT, 0);
		return false;
	}
	if (fault == NET6_REASM_EMPTY)
		net6_drop(net6_rx_cb(skb)->iface->nn, skb, NET6_DROP_FRAG_INVALID);
	return fault == NET6_REASM_FINE;
}

/**
 * net6_reasm_rcv() - a packet with a Fragment header
 * @skb: data at the Fragment header; consumed
 *
 * Context: softirq or BH disabled, RCU read lock held.
 * Return: a whole packet, data behind the Fragment header's place; NULL if there is
 * none yet, or never.
 */
struct sk_buff *net6_reasm_rcv(struct sk_buff *skb)
{
	struct net6_iface *iface = net6_rx_cb(skb)->iface;
	struct net6_net *nn = iface->nn;
	enum net6_drop_reason reason;
	const struct frag_hdr *hdr;
	struct net6_reasm_piece piece;
	struct sk_buff *whole, *left;
	struct net6_reasm *reasm;
	int refs = NET6_COMPAT_FRAG_FOUND;
	__be32 id;

	if (!pskb_may_pull(skb, sizeof(*hdr))) {
		net6_drop(nn, skb, NET6_DROP_EXTHDR_SHORT);
		return NULL;
	}
	hdr = (const struct frag_hdr *)skb->data;
	piece = (struct net6_reasm_piece) {
		.front	= -skb_network_offset(skb) - sizeof(struct ipv6hdr),
		.offset	= ntohs(hdr->frag_off) & IP6_OFFSET,
		.len	= skb->len - sizeof(*hdr),
		.more	= hdr->frag_off & htons(IP6_MF),
	};
	id = hdr->identification;
	/* RFC 6946 section 4: an atomic fragment stands for itself, always. */
	if (!piece.offset && !piece.more) {
		net6_rx_cb(skb)->flags |= NET6_RX_FRAGMENTED;
		return net6_exthdr_pull(skb, sizeof(*hdr));
	}

	NET6_INC_IFACE(iface, Ip6ReasmReqds);
	if (!net6_reasm_check(skb, &piece, hdr->nexthdr)) {
		NET6_INC_IFACE(iface, Ip6ReasmFails);
		return NULL;
	}
	reasm = net6_reasm_find(nn, skb, id);
	if (!reasm) {
		NET6_INC_IFACE(iface, Ip6ReasmFails);
		net6_drop(nn, skb, NET6_DROP_FRAG_LIMIT);
		return NULL;
	}
	/* No device has verified the checksum of what is not whole. */
	skb->ip_summed = CHECKSUM_NONE;
	__skb_pull(skb, sizeof(*hdr));

	spin_lock(&reasm->q.lock);
	whole = net6_reasm_queue(reasm, skb, &piece, &left, &reason, &refs);
	spin_unlock(&reasm->q.lock);
	net6_compat_frag_putn(&reasm->q, refs);

	if (whole)
		NET6_INC_IFACE(iface, Ip6ReasmOKs);
	else if (reason != NET6_DROP_MAX)
		NET6_INC_IFACE(iface, Ip6ReasmFails);
	if (left)
		net6_drop(nn, left, reason);
	else if (!whole && reason != NET6_DROP_MAX)
		this_cpu_inc(nn->mib->drop[reason]);
	return whole;
}

/**
 * net6_reasm_set_limits() - take over what limits.frag_memory and frag_timeout say
 * @nn: namespace
 *
 * What is waiting already keeps its time. Context: process.
 */
void net6_reasm_set_limits(struct net6_net *nn)
{
	unsigned long memory = READ_ONCE(nn->limits.frag_memory);

	WRITE_ONCE(nn->fqdir->high_thresh, memory);
	WRITE_ONCE(nn->fqdir->low_thresh, memory - memory / 4);
	WRITE_ONCE(nn->fqdir->timeout, READ_ONCE(nn->limits.frag_timeout) * HZ);
}

/**
 * net6_reasm_net_init() - a namespace's fragment queues
 * @nn: namespace, its limits set
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_reasm_net_init(struct net6_net *nn)
{
	int err = fqdir_init(&nn->fqdir, &net6_frags, nn->net);

	if (err)
		return err;
	net6_reasm_set_limits(nn);
	return 0;
}

/**
 * net6_reasm_net_pre_exit() - no new queues, and timers look at the namespace no more
 * @nn: namespace; a grace period passes before net6_reasm_net_exit()
 *
 * Context: process.
 */
void net6_reasm_net_pre_exit(struct net6_net *nn)
{
	fqdir_pre_exit(nn->fqdir);
}

/**
 * net6_reasm_net_exit() - free a namespace's fragments, later
 * @nn: namespace
 *
 * Context: process.
 */
void net6_reasm_net_exit(struct net6_net *nn)
{
	fqdir_exit(nn->fqdir);
}

/**
 * net6_reasm_init() - set the fragment queues up
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_reasm_init(void)
{
	return inet_frags_init(&net6_frags);
}

/**
 * net6_reasm_exit() - wait for the namespaces' queues to be freed
 *
 * Context: process, sleeps.
 */
void net6_reasm_exit(void)
{
	inet_frags_fini(&net6_frags);
}
