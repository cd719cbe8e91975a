// SPDX-License-Identifier: GPL-2.0
/* The pseudo-loopback. Packets come back up through a bounded queue per CPU, drained by a
 * tasklet. So no sender runs into its own receive path. It has no device of its own: lo lends its
 * name and index, and never carries our packets.
 */
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/interrupt.h>
#include <net/dst.h>

#include "loopback.h"
#include "nfhook.h"

/* Packets that may wait on one CPU (as net.core.netdev_max_backlog's default). */
#define NET6_LOOP_QUEUE_MAX	1000
/* Packets handed up before other softirqs get their turn. */
#define NET6_LOOP_BUDGET	64

/**
 * struct net6_loop - one CPU's packets on their way back up
 * @queue: under its own lock, BH disabled
 * @tasklet: drains @queue
 */
struct net6_loop {
	struct sk_buff_head	queue;
	struct tasklet_struct	tasklet;
};

/* The interface on which a queued packet is to come up. It cannot go before net6_loopback_purge()
 * has run.
 */
struct net6_loop_cb {
	struct net6_iface	*iface;
};

static struct net6_loop __percpu *net6_loops;

static struct net6_loop_cb *net6_loop_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct net6_loop_cb) > sizeof(skb->cb));
	return (struct net6_loop_cb *)skb->cb;
}

/* Transmit time stamps (SO_TIMESTAMPING) at both places at once, the queueing discipline's and
 * the driver's: there is neither.
 */
static void net6_loopback_stamp(struct sk_buff *skb)
{
	if (skb_shinfo(skb)->tx_flags & SKBTX_SCHED_TSTAMP)
		__skb_tstamp_tx(skb, NULL, NULL, skb->sk, SCM_TSTAMP_SCHED);
	skb_tx_timestamp(skb);
}

int net6_loopback_queue(struct net6_iface *iface, int ifindex, struct sk_buff *skb)
{
	struct net6_loop *loop = this_cpu_ptr(net6_loops);

	if (unlikely(skb_shinfo(skb)->tx_flags & SKBTX_ANY_SW_TSTAMP))
		net6_loopback_stamp(skb);
	skb_orphan(skb);
	skb_dst_drop(skb);
	net6_nf_reset(skb);
	skb_clear_tstamp(skb);
	skb->dev = iface->dev;
	skb->skb_iif = ifindex;
	skb->pkt_type = PACKET_LOOPBACK;
	skb->protocol = htons(ETH_P_IPV6);
	net6_loop_cb(skb)->iface = iface;

	spin_lock(&loop->queue.lock);
	if (unlikely(skb_queue_len(&loop->queue) >= NET6_LOOP_QUEUE_MAX ||
		     !net6_iface_usable(iface))) {
		spin_unlock(&loop->queue.lock);
		net6_drop(iface->nn, skb, NET6_DROP_LOOP_QUEUE);
		return -ENOBUFS;
	}
	__skb_queue_tail(&loop->queue, skb);
	spin_unlock(&loop->queue.lock);
	tasklet_schedule(&loop->tasklet);
	return 0;
}

static void net6_loopback_drain(struct tasklet_struct *tasklet)
{
	struct net6_loop *loop = from_tasklet(loop, tasklet, tasklet);
	int budget = NET6_LOOP_BUDGET;
	struct sk_buff *skb;

	/* A packet taken from the queue is out of net6_loopback_purge()'s sight:
	 * from then on it is this read lock that keeps its interface.
	 */
	rcu_read_lock();
	while (budget--) {
		spin_lock(&loop->queue.lock);
		skb = __skb_dequeue(&loop->queue);
		spin_unlock(&loop->queue.lock);
		if (!skb)
			break;
		net6_rcv(net6_loop_cb(skb)->iface, skb);
	}
	rcu_read_unlock();
	if (!skb_queue_empty(&loop->queue))
		tasklet_schedule(tasklet);
}

/**
 * net6_loopback_purge() - forget what is still to come up on an interface
 * @iface: no longer usable. A sender that finds that out under a queue's lock does not queue, and
 *	packets from before are purged
 *
 * Context: process. A packet may be on its way up until a grace period has passed.
 */
void net6_loopback_purge(struct net6_iface *iface)
{
	struct sk_buff *skb, *next;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct net6_loop *loop = per_cpu_ptr(net6_loops, cpu);
		struct sk_buff_head old;

		__skb_queue_head_init(&old);
		spin_lock_bh(&loop->queue.lock);
		skb_queue_walk_safe(&loop->queue, skb, next) {
			if (net6_loop_cb(skb)->iface != iface)
				continue;
			__skb_unlink(skb, &loop->queue);
			__skb_queue_tail(&old, skb);
		}
		spin_unlock_bh(&loop->queue.lock);
		while ((skb = __skb_dequeue(&old)))
			net6_drop(iface->nn, skb, NET6_DROP_IFACE_DOWN);
	}
}

static int net6_loopback_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	return net6_loopback_queue(iface, iface->ifindex, skb);
}

/* A link without addresses and options: these are a VRF's, too (vrf.c). */
int net6_loopback_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join)
{
	return 0;
}

void net6_loopback_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	memset(iid, 0, 8);
	iid[7] = 1;
}

void net6_loopback_map_multicast(const struct net6_iface *iface, const struct in6_addr *group,
				 u8 *lladdr)
{
}

int net6_loopback_read_option(const u8 *body, unsigned int len, u8 *lladdr)
{
	return -EINVAL;		/* the link has no addresses */
}

unsigned int net6_loopback_write_option(u8 type, const u8 *lladdr, u8 *buf)
{
	return 0;
}

const struct net6_link_ops net6_loopback_ops = {
	.name			= "loopback",
	.flags			= NET6_LINK_MULTICAST | NET6_LINK_LOOPBACK,
	.send			= net6_loopback_send,
	.set_multicast		= net6_loopback_set_multicast,
	.make_iid		= net6_loopback_make_iid,
	.map_multicast		= net6_loopback_map_multicast,
	.read_lladdr_option	= net6_loopback_read_option,
	.write_lladdr_option	= net6_loopback_write_option,
};

/**
 * net6_loopback_init() - make the queues
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_loopback_init(void)
{
	int cpu;

	net6_loops = alloc_percpu(struct net6_loop);
	if (!net6_loops)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct net6_loop *loop = per_cpu_ptr(net6_loops, cpu);

		skb_queue_head_init(&loop->queue);
		tasklet_setup(&loop->tasklet, net6_loopback_drain);
	}
	return 0;
}

/**
 * net6_loopback_exit() - end the tasklets
 *
 * Context: process, sleeps; every interface is gone, and with them all packets.
 */
void net6_loopback_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct net6_loop *loop = per_cpu_ptr(net6_loops, cpu);

		tasklet_kill(&loop->tasklet);
		WARN_ON_ONCE(!skb_queue_empty(&loop->queue));
	}
	free_percpu(net6_loops);
}
