// SPDX-License-Identifier: GPL-2.0
/* Buffers of the write queue that are used again. A fifth of what a short segment costs its
 * sender was the allocator's. It gives two objects for a buffer, clears them where the kernel
 * clears what it allocates (init_on_alloc), and takes them back with the ACK. A buffer that an
 * ACK frees is kept here instead, for whichever connection sends next. With a request and its
 * reply that is mostly the next segment.
 *
 * There are a few for each CPU, of two sizes. They are charged to nobody while they are here, as
 * those of the kernel's own caches for receiving are not (napi_build_skb()). Taking or giving one
 * is one instruction that exchanges a pointer, so neither preemption nor interrupts are held off.
 * Only buffers come here to which nobody else has a reference, and to whose data nobody has.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>

#include "entry.h"

#define NET6_TCP_SKB_CACHE_DEPTH	8

/* Bytes of room for data in front of the core's part, for objects of 512 and of 1024.
 */
#define NET6_TCP_SKB_SMALL	SKB_WITH_OVERHEAD(512)
#define NET6_TCP_SKB_LARGE	SKB_WITH_OVERHEAD(1024)
/* Longer ones are not kept. */
#define NET6_TCP_SKB_LIMIT	SKB_WITH_OVERHEAD(2048)

struct net6_tcp_skb_cache {
	struct sk_buff	*small[NET6_TCP_SKB_CACHE_DEPTH];
	struct sk_buff	*large[NET6_TCP_SKB_CACHE_DEPTH];
};

static DEFINE_PER_CPU(struct net6_tcp_skb_cache, net6_tcp_skb_cache);

/* As new: alloc_skb_fclone() leaves it like this. */
static struct sk_buff *net6_tcp_skb_renew(struct sk_buff *skb)
{
	struct skb_shared_info *si = skb_shinfo(skb);
	u16 cpu = skb->alloc_cpu;

	memset(skb, 0, offsetof(struct sk_buff, tail));
	skb->alloc_cpu = cpu;
	skb->fclone = SKB_FCLONE_ORIG;
	skb->mac_header = (typeof(skb->mac_header))~0U;
	skb->transport_header = (typeof(skb->transport_header))~0U;
	skb->data = skb->head;
	skb_reset_tail_pointer(skb);
	memset(si, 0, offsetof(struct skb_shared_info, dataref));
	atomic_set(&si->dataref, 1);
	return skb;
}

static struct sk_buff *net6_tcp_skb_take(struct sk_buff * __percpu *slot)
{
	struct sk_buff *skb;
	int i;

	for (i = 0; i < NET6_TCP_SKB_CACHE_DEPTH; i++) {
		if (!this_cpu_read(slot[i]))
			continue;
		skb = this_cpu_xchg(slot[i], NULL);
		if (likely(skb))
			return net6_tcp_skb_renew(skb);
	}
	return NULL;
}

static bool net6_tcp_skb_keep(struct sk_buff * __percpu *slot, struct sk_buff *skb)
{
	int i;

	for (i = 0; i < NET6_TCP_SKB_CACHE_DEPTH; i++) {
		if (!this_cpu_read(slot[i]) && !this_cpu_cmpxchg(slot[i], NULL, skb))
			return true;
	}
	return false;
}

/**
 * net6_tcp_skb_cache_get() - take a buffer that was kept
 * @size: bytes of linear room wanted
 *
 * Context: any.
 * Return: the buffer, as alloc_skb_fclone() makes them, its truesize not set; or NULL.
 */
struct sk_buff *net6_tcp_skb_cache_get(unsigned int size)
{
	if (size <= NET6_TCP_SKB_SMALL)
		return net6_tcp_skb_take(net6_tcp_skb_cache.small);
	if (size <= NET6_TCP_SKB_LARGE)
		return net6_tcp_skb_take(net6_tcp_skb_cache.large);
	return NULL;
}

/* Ours alone, clones and their data's other users gone, and nothing attached. */
static bool net6_tcp_skb_idle(const struct sk_buff *skb)
{
	const struct sk_buff_fclones *pair = container_of(skb, struct sk_buff_fclones, skb1);

	if (skb->fclone != SKB_FCLONE_ORIG || skb->pfmemalloc || skb->head_frag ||
	    skb->pp_recycle || skb_has_extensions((struct sk_buff *)skb) || skb_nfct(skb))
		return false;
	/* Whoever freed the clone has written to it before. */
	if (refcount_read(&pair->fclone_ref) != 1)
		return false;
	smp_acquire__after_ctrl_dep();
	/* A file's pages (SKBFL_SHARED_FRAG) are given back like others. */
	return !skb_cloned(skb) && !(skb_shinfo(skb)->flags & ~SKBFL_SHARED_FRAG) &&
	       !skb_has_frag_list(skb);
}

/**
 * net6_tcp_skb_cache_put() - keep a buffer that is not needed any more
 * @skb: from net6_tcp_alloc_skb(), in no queue and charged to nobody
 *
 * Context: any.
 * Return: true if it was kept; else it is the caller's still, for __kfree_skb().
 */
bool net6_tcp_skb_cache_put(struct sk_buff *skb)
{
	unsigned int size = skb_end_offset(skb), i;

	if (size < NET6_TCP_SKB_SMALL || size >= NET6_TCP_SKB_LIMIT || !net6_tcp_skb_idle(skb))
		return false;
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		skb_frag_unref(skb, i);
	/* What frees it later must not do so again. */
	skb_shinfo(skb)->nr_frags = 0;
	skb->data_len = 0;
	if (size < NET6_TCP_SKB_LARGE)
		return net6_tcp_skb_keep(net6_tcp_skb_cache.small, skb);
	return net6_tcp_skb_keep(net6_tcp_skb_cache.large, skb);
}

/**
 * net6_tcp_skb_cache_exit() - free them all; no socket is left
 *
 * Context: process.
 */
void net6_tcp_skb_cache_exit(void)
{
	struct net6_tcp_skb_cache *cache;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		cache = per_cpu_ptr(&net6_tcp_skb_cache, cpu);
		for (i = 0; i < NET6_TCP_SKB_CACHE_DEPTH; i++) {
			if (cache->small[i])
				__kfree_skb(cache->small[i]);
			if (cache->large[i])
				__kfree_skb(cache->large[i]);
		}
	}
}
