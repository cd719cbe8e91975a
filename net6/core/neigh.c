// SPDX-License-Identifier: GPL-2.0
/* Neighbors at work: the driver of the state machine in neigh_fsm.c and what is sent
 * through an entry. The usual packet takes one state test and a copy of the cached link
 * header. The entries themselves are in neigh_table.c.
 */
#include <net/addrconf.h>

#include "../compat/timer.h"
#include "../observe/note.h"
#include "addr.h"
#include "icmp.h"
#include "nd.h"
#include "neigh_table.h"

/* Work that is left for when the lock is released. */
struct net6_neigh_todo {
	u32			actions;
	bool			router_lost;
	bool			rechoose;
	u8			lladdr[MAX_ADDR_LEN];
	struct in6_addr		saddr;
	struct sk_buff_head	queue;
};

/* neigh->lock held. A pending timer holds a reference. */
static void net6_neigh_arm(struct net6_neigh *neigh, unsigned long delay)
	__must_hold(&neigh->lock)
{
	if (!mod_timer(&neigh->timer, jiffies + max(delay, 1UL)))
		refcount_inc(&neigh->ref);
}

/**
 * net6_neigh_disarm() - stop an entry's timer
 * @neigh: entry; its lock held
 *
 * A timer that was pending gives its reference back: the caller has one of its own.
 */
void net6_neigh_disarm(struct net6_neigh *neigh)
	__must_hold(&neigh->lock)
{
	if (timer_delete(&neigh->timer))
		net6_neigh_put(neigh);
}

/* Solicitations that this state still has; the last one's answer is waited for. */
static bool net6_neigh_probes_over(const struct net6_neigh *neigh)
{
	if (neigh->state == NET6_NEIGH_INCOMPLETE)
		return (neigh->flags & NET6_NEIGH_F_PROBE) ||
		       neigh->probes >= net6_conf(neigh->iface, NET6_PARAM_MCAST_SOLICIT);
	return neigh->probes >= net6_conf(neigh->iface, NET6_PARAM_UCAST_SOLICIT);
}

static unsigned long net6_neigh_reachable_time(struct net6_iface *iface)
{
	/* RFC 4861 6.3.2: a new random value at least every few hours. */
	if (time_after(jiffies, READ_ONCE(iface->reachable_renewed) + 2 * 3600 * HZ))
		net6_nd_draw_reachable(iface);
	return READ_ONCE(iface->reachable);
}

/* RFC 4861 7.2.2: the source of the packet that asks is used if it is ours on this link. So the
 * neighbor's answer goes where the packet's answer will.
 */
static void net6_neigh_todo_saddr(struct net6_neigh *neigh, struct net6_neigh_todo *todo)
{
	const struct sk_buff *skb = skb_peek(&neigh->queue);

	todo->saddr = in6addr_any;
	if (skb)
		todo->saddr = ipv6_hdr(skb)->saddr;
}

/* Is it known not to answer? neigh->lock held. */
static void net6_neigh_mark(struct net6_neigh *neigh, u32 actions)
	__must_hold(&neigh->lock)
{
	u8 flags = neigh->flags;

	if (actions & NET6_NEIGH_DO_FAIL) {
		flags |= NET6_NEIGH_F_LOST;
		neigh->probed = jiffies;
	} else if (net6_neigh_reachable(neigh)) {
		flags &= ~NET6_NEIGH_F_LOST;
	}
	/* Packets that wait for it want more than one solicitation. */
	if (neigh->state != NET6_NEIGH_INCOMPLETE || (actions & NET6_NEIGH_DO_QUEUE))
		flags &= ~NET6_NEIGH_F_PROBE;
	WRITE_ONCE(neigh->flags, flags);
}

/* Timers and fields; work that must wait for the lock's end is noted in @todo. */
static void net6_neigh_apply(struct net6_neigh *neigh, struct net6_neigh_step step,
			     const u8 *lladdr, bool router, struct net6_neigh_todo *todo)
	__must_hold(&neigh->lock)
{
	struct net6_iface *iface = neigh->iface;
	u32 actions = step.actions;
	u8 was = neigh->state;
	bool was_reachable = net6_neigh_reachable(neigh);

	lockdep_assert_held(&neigh->lock);
	if (actions & NET6_NEIGH_DO_LLADDR) {
		memcpy(neigh->lladdr, lladdr, iface->ops->addr_len);
		net6_neigh_write_header(neigh);
	}
	if (actions & NET6_NEIGH_DO_ROUTER) {
		todo->router_lost = neigh->is_router && !router;
		neigh->is_router = router;
	}
	if (actions & NET6_NEIGH_DO_CONFIRM)
		WRITE_ONCE(neigh->confirmed, jiffies);
	if (actions & NET6_NEIGH_DO_RESTART)
		neigh->probes = 0;
	if (actions & (NET6_NEIGH_DO_MULTICAST | NET6_NEIGH_DO_UNICAST)) {
		neigh->probes++;
		net6_neigh_todo_saddr(neigh, todo);
		memcpy(todo->lladdr, neigh->lladdr, sizeof(todo->lladdr));
	}
	WRITE_ONCE(neigh->state, step.state);
	net6_neigh_mark(neigh, actions);
	net6_note_neigh(neigh, was, NET6_NOTE_CHANGE);

	if (actions & NET6_NEIGH_DO_RETRANS)
		net6_neigh_arm(neigh, READ_ONCE(iface->retrans));
	else if (actions & NET6_NEIGH_DO_DELAY)
		net6_neigh_arm(neigh, net6_conf(iface, NET6_PARAM_DELAY_FIRST_PROBE_TIME) * HZ);
	else if (actions & NET6_NEIGH_DO_REACHABLE)
		net6_neigh_arm(neigh, net6_neigh_reachable_time(iface));
	else if (actions & NET6_NEIGH_DO_STOP)
		net6_neigh_disarm(neigh);

	if (actions & (NET6_NEIGH_DO_FLUSH | NET6_NEIGH_DO_FAIL))
		net6_neigh_take_queue(neigh, &todo->queue);
	/* RFC 4861 6.3.6: a router that is lost or back changes the choice. */
	if ((actions & NET6_NEIGH_DO_FAIL) || (!was_reachable && net6_neigh_reachable(neigh)))
		actions |= NET6_NEIGH_DO_RECHOOSE;
	if (actions & NET6_NEIGH_DO_RECHOOSE)
		todo->rechoose = neigh->flags & (NET6_NEIGH_F_ROUTER | NET6_NEIGH_F_NEXTHOP);
	todo->actions = actions;
}

static void net6_neigh_solicit(struct net6_neigh *neigh, const struct net6_neigh_todo *todo)
{
	struct net6_iface *iface = neigh->iface;
	const struct in6_addr *saddr = NULL;
	const struct net6_addr *own;
	struct in6_addr group;

	own = net6_addr_find(iface, &todo->saddr);
	if (own && net6_addr_is_assigned(own) && !net6_addr_in_dad(own))
		saddr = &todo->saddr;
	if (todo->actions & NET6_NEIGH_DO_UNICAST) {
		net6_nd_send_ns(iface, &neigh->addr, &neigh->addr, saddr, todo->lladdr, NULL);
		return;
	}
	addrconf_addr_solict_mult(&neigh->addr, &group);
	net6_nd_send_ns(iface, &neigh->addr, &group, saddr, NULL, NULL);
}

/* RFC 4861 7.2.2: "the sender MUST return ICMP destination unreachable indications
 * with code 3 (Address Unreachable) for each packet queued awaiting resolution".
 */
static void net6_neigh_fail_queue(struct net6_iface *iface, struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue))) {
		struct net6_rx_cb *cb = net6_rx_cb(skb);

		memset(cb, 0, sizeof(*cb));
		cb->iface = iface;
		cb->ifindex = iface->ifindex;
		skb->dev = iface->dev;
		net6_icmp_send(skb, ICMPV6_DEST_UNREACH, ICMPV6_ADDR_UNREACH, 0);
		net6_drop(iface->nn, skb, NET6_DROP_NEIGH_FAILED);
	}
}

/* No lock held: may transmit and take others. */
static void net6_neigh_finish(struct net6_neigh *neigh, struct net6_neigh_todo *todo)
{
	struct net6_iface *iface = neigh->iface;
	struct sk_buff *skb;

	if (!net6_iface_usable(iface)) {
		net6_neigh_drop_queue(iface, &todo->queue, NET6_DROP_IFACE_DOWN);
		return;
	}
	if (todo->actions & (NET6_NEIGH_DO_MULTICAST | NET6_NEIGH_DO_UNICAST))
		net6_neigh_solicit(neigh, todo);
	if (todo->actions & NET6_NEIGH_DO_FAIL) {
		NET6_INC(iface->nn, NdNeighFailed);
		net6_neigh_fail_queue(iface, &todo->queue);
	}
	/* Through the ordinary way, for what is sent in STALE starts the delay. */
	while ((skb = __skb_dequeue(&todo->queue)))
		net6_neigh_output(neigh, skb);
	/* RFC 4861 7.2.5: no router any more, so out of the Default Router List. */
	if (todo->router_lost)
		net6_router_forget(iface, &neigh->addr);
	if (todo->rechoose || todo->router_lost)
		net6_dest_flush(iface->nn);
}

static void net6_neigh_todo_init(struct net6_neigh_todo *todo)
{
	memset(todo, 0, sizeof(*todo));
	__skb_queue_head_init(&todo->queue);
}

/**
 * net6_neigh_timer_fn() - the time of an entry's state is over
 * @t: its timer
 *
 * Context: timer.
 */
void net6_neigh_timer_fn(struct timer_list *t)
{
	struct net6_neigh *neigh = timer_container_of(neigh, t, timer);
	struct net6_neigh_todo todo;
	unsigned long end;
	u32 cond = 0;

	net6_neigh_todo_init(&todo);
	rcu_read_lock();
	spin_lock(&neigh->lock);
	if (neigh->dead || timer_pending(&neigh->timer))
		goto unlock;
	end = READ_ONCE(neigh->confirmed) + READ_ONCE(neigh->iface->reachable);
	if (neigh->state == NET6_NEIGH_REACHABLE && time_after(end, jiffies)) {
		net6_neigh_arm(neigh, end - jiffies);
		goto unlock;
	}
	if (net6_neigh_probes_over(neigh))
		cond |= NET6_NEIGH_IF_LAST;
	if (neigh->flags & NET6_NEIGH_F_PROBE)
		cond |= NET6_NEIGH_IF_WANTED;
	net6_neigh_apply(neigh, net6_neigh_fsm(neigh->state, NET6_NEIGH_EV_TIMER, cond), NULL,
			 false, &todo);
unlock:
	spin_unlock(&neigh->lock);
	net6_neigh_finish(neigh, &todo);
	rcu_read_unlock();
	net6_neigh_put(neigh);
}

static void net6_neigh_use(struct net6_neigh *neigh)
{
	if (READ_ONCE(neigh->used) != jiffies)
		WRITE_ONCE(neigh->used, jiffies);
}

/* By a link that writes its header itself, or has none. */
static int net6_neigh_send_bare(struct net6_neigh *neigh, struct sk_buff *skb)
{
	struct net6_iface *iface = neigh->iface;
	u8 lladdr[MAX_ADDR_LEN];

	net6_neigh_use(neigh);
	if (!iface->ops->addr_len) {
		net6_iface_room(iface);
		return iface->ops->send(iface, skb, NULL);
	}
	spin_lock_bh(&neigh->lock);
	memcpy(lladdr, neigh->lladdr, sizeof(lladdr));
	spin_unlock_bh(&neigh->lock);
	return iface->ops->send(iface, skb, lladdr);
}

static int net6_neigh_send(struct net6_neigh *neigh, struct sk_buff *skb)
{
	struct net6_iface *iface = neigh->iface;
	unsigned int len = READ_ONCE(neigh->header_len);
	unsigned int seq;

	if (unlikely(!len))
		return net6_neigh_send_bare(neigh, skb);
	if (unlikely(skb_headroom(skb) < NET6_LINK_HEADER_MAX) &&
	    skb_cow_head(skb, LL_RESERVED_SPACE(iface->dev))) {
		net6_drop(iface->nn, skb, NET6_DROP_NO_MEMORY);
		return -ENOMEM;
	}
	do {
		seq = read_seqcount_begin(&neigh->header_seq);
		memcpy(skb->data - NET6_LINK_HEADER_MAX, neigh->header, NET6_LINK_HEADER_MAX);
	} while (read_seqcount_retry(&neigh->header_seq, seq));
	__skb_push(skb, len);
	skb_reset_mac_header(skb);
	skb->dev = iface->dev;
	net6_neigh_use(neigh);
	return net6_link_xmit(skb);
}

/* Somebody still holds an entry that was evicted. The packet goes through the entry that is in
 * the table now, and holders are told to look again.
 */
static int net6_neigh_output_dead(struct net6_neigh *neigh, struct sk_buff *skb)
{
	struct net6_iface *iface = neigh->iface;
	struct net6_neigh *now;
	int err;

	net6_dest_flush(iface->nn);
	now = net6_neigh_get_or_create(iface, &neigh->addr);
	if (!now || READ_ONCE(now->dead)) {
		net6_drop(iface->nn, skb, NET6_DROP_NEIGH_DEAD);
		err = -ENOBUFS;
	} else {
		err = net6_neigh_output(now, skb);
	}
	if (now)
		net6_neigh_put(now);
	return err;
}

/* neigh->lock held. RFC 4861 7.2.2: "the new arrival SHOULD replace the oldest". All fragments of
 * a datagram have to find room. Those without go to @old.
 */
static void net6_neigh_enqueue(struct net6_neigh *neigh, struct sk_buff *skb,
			       struct sk_buff_head *old)
	__must_hold(&neigh->lock)
{
	u32 room = READ_ONCE(neigh->iface->nn->limits.neigh_queue);
	struct sk_buff *oldest;

	while (neigh->queued + skb->truesize > room) {
		oldest = __skb_dequeue(&neigh->queue);
		if (!oldest)
			break;
		neigh->queued -= oldest->truesize;
		__skb_queue_tail(old, oldest);
	}
	neigh->queued += skb->truesize;
	__skb_queue_tail(&neigh->queue, skb);
}

static int net6_neigh_output_slow(struct net6_neigh *neigh, struct sk_buff *skb)
{
	struct net6_iface *iface = neigh->iface;
	struct net6_neigh_todo todo;
	struct sk_buff_head old;

	if (!net6_iface_usable(iface)) {
		net6_drop(iface->nn, skb, NET6_DROP_IFACE_DOWN);
		return -ENETDOWN;
	}
	net6_neigh_todo_init(&todo);
	__skb_queue_head_init(&old);
	spin_lock_bh(&neigh->lock);
	if (unlikely(neigh->dead)) {
		spin_unlock_bh(&neigh->lock);
		return net6_neigh_output_dead(neigh, skb);
	}
	WRITE_ONCE(neigh->used, jiffies);
	todo.actions = net6_neigh_fsm(neigh->state, NET6_NEIGH_EV_PACKET, 0).actions;
	if (todo.actions & NET6_NEIGH_DO_QUEUE)
		net6_neigh_enqueue(neigh, skb, &old);
	net6_neigh_apply(neigh, net6_neigh_fsm(neigh->state, NET6_NEIGH_EV_PACKET, 0),
			 NULL, false, &todo);
	spin_unlock_bh(&neigh->lock);

	net6_neigh_drop_queue(iface, &old, NET6_DROP_NEIGH_QUEUE);
	net6_neigh_finish(neigh, &todo);
	if (todo.actions & NET6_NEIGH_DO_SEND)
		return net6_neigh_send(neigh, skb);
	return 0;
}

/**
 * net6_neigh_output() - send a packet to a neighbor, or have it wait for its address
 * @neigh: next hop; borrowed
 * @skb: data at the IPv6 header; consumed
 *
 * Context: RCU read lock held, BH disabled; must not sleep. No locks of net6 held.
 * Return: 0 if it went out or waits, NET_XMIT_CN if the queue below is congested, a negative
 * errno if it was dropped.
 */
int net6_neigh_output(struct net6_neigh *neigh, struct sk_buff *skb)
{
	if (likely(BIT(READ_ONCE(neigh->state)) & NET6_NEIGH_SENDABLE))
		return net6_neigh_send(neigh, skb);
	return net6_neigh_output_slow(neigh, skb);
}

static void net6_neigh_event(struct net6_neigh *neigh, enum net6_neigh_event event, u32 cond,
			     const struct net6_neigh_news *news)
{
	const u8 *lladdr = news ? news->lladdr : NULL;
	struct net6_iface *iface = neigh->iface;
	struct net6_neigh_todo todo;

	net6_neigh_todo_init(&todo);
	spin_lock_bh(&neigh->lock);
	if (neigh->dead)
		goto unlock;
	if (lladdr && memcmp(lladdr, neigh->lladdr, iface->ops->addr_len))
		cond |= NET6_NEIGH_IF_DIFFERS;
	if (news && news->is_router)
		neigh->is_router = true;
	if (news && news->host) {
		todo.router_lost = neigh->is_router;
		neigh->is_router = false;
	}
	if (news && news->nexthop)
		neigh->flags |= NET6_NEIGH_F_NEXTHOP;
	net6_neigh_apply(neigh, net6_neigh_fsm(neigh->state, event, cond), lladdr,
			 news && news->router, &todo);
unlock:
	spin_unlock_bh(&neigh->lock);
	net6_neigh_finish(neigh, &todo);
}

/**
 * net6_neigh_probe() - a packet goes another way since this neighbor does not answer
 * @neigh: neighbor; borrowed
 *
 * RFC 4191 3.5: it is asked once, if router_probe_interval has gone by. Else next hops are chosen
 * again when it has, so that the next packet comes here. The timer sees to what is due: the
 * caller may hold locks. Context: RCU read lock held; takes neigh->lock.
 */
void net6_neigh_probe(struct net6_neigh *neigh)
{
	unsigned long due;

	if (READ_ONCE(neigh->state) != NET6_NEIGH_FAILED || timer_pending(&neigh->timer))
		return;
	spin_lock_bh(&neigh->lock);
	if (neigh->dead || neigh->state != NET6_NEIGH_FAILED || timer_pending(&neigh->timer))
		goto unlock;
	/* RFC 4191 3.5: "MUST be rate-limited to no more than one per minute per router" */
	due = neigh->probed + net6_conf(neigh->iface, NET6_PARAM_ROUTER_PROBE_INTERVAL) * HZ;
	if (time_before(jiffies, due)) {
		net6_neigh_arm(neigh, due - jiffies);
	} else {
		WRITE_ONCE(neigh->flags, neigh->flags | NET6_NEIGH_F_PROBE);
		neigh->probed = jiffies;
		net6_neigh_arm(neigh, 1);
	}
unlock:
	spin_unlock_bh(&neigh->lock);
}

/**
 * net6_neigh_confirm() - an upper protocol has seen forward progress
 * @neigh: next hop that the progress was made through
 *
 * RFC 4861 7.3.1. One that is not resolved needs none, and may be that of all connections over a
 * raw link. Context: RCU read lock held, BH disabled.
 */
void net6_neigh_confirm(struct net6_neigh *neigh)
{
	u8 state = READ_ONCE(neigh->state);

	if (state == NET6_NEIGH_REACHABLE)
		WRITE_ONCE(neigh->confirmed, jiffies);
	else if (state != NET6_NEIGH_PERMANENT)
		net6_neigh_event(neigh, NET6_NEIGH_EV_CONFIRM, 0, NULL);
}

/**
 * net6_neigh_learn() - take in what an ND message says about a neighbor
 * @iface: interface it came in on
 * @addr: the neighbor
 * @news: what it says
 *
 * Context: RCU read lock held, BH disabled; no locks of net6 held.
 * Return: false if there is no entry (and none was to be made, or could be).
 */
bool net6_neigh_learn(struct net6_iface *iface, const struct in6_addr *addr,
		      const struct net6_neigh_news *news)
{
	struct net6_neigh *neigh;
	u32 cond = 0;

	if (!net6_neigh_resolves(iface, addr))
		return false;
	if (news->create) {
		neigh = net6_neigh_get_or_create(iface, addr);
		if (!neigh)
			return false;
	} else {
		neigh = net6_neigh_find(iface, addr);
		if (!neigh || !refcount_inc_not_zero(&neigh->ref))
			return false;
	}

	if (news->lladdr)
		cond |= NET6_NEIGH_IF_LLADDR;
	if (news->solicited)
		cond |= NET6_NEIGH_IF_SOLICITED;
	if (news->override)
		cond |= NET6_NEIGH_IF_OVERRIDE;
	net6_neigh_event(neigh, news->event, cond, news);
	net6_neigh_put(neigh);
	return true;
}

/* What is to be done for each state that the administrator can set. */
static u32 net6_neigh_set_actions(enum net6_neigh_state state)
{
	switch (state) {
	case NET6_NEIGH_REACHABLE:
		return NET6_NEIGH_DO_CONFIRM | NET6_NEIGH_DO_REACHABLE | NET6_NEIGH_DO_FLUSH;
	case NET6_NEIGH_DELAY:
		return NET6_NEIGH_DO_DELAY | NET6_NEIGH_DO_FLUSH;
	case NET6_NEIGH_PROBE:
		return NET6_NEIGH_DO_RESTART | NET6_NEIGH_DO_UNICAST | NET6_NEIGH_DO_RETRANS |
		       NET6_NEIGH_DO_FLUSH;
	default:
		return NET6_NEIGH_DO_STOP | NET6_NEIGH_DO_FLUSH;
	}
}

/* Has it a link-layer address? */
static bool net6_neigh_known(const struct net6_neigh *neigh)
	__must_hold(&neigh->lock)
{
	return BIT(neigh->state) & (NET6_NEIGH_SENDABLE | BIT(NET6_NEIGH_STALE));
}

/**
 * net6_neigh_set() - the administrator's word on a neighbor
 * @iface: interface
 * @addr: unicast address
 * @lladdr: link-layer address, ops->addr_len bytes; NULL leaves what is known, then there must be
 *	an entry
 * @state: PERMANENT, which is never evicted, REACHABLE, STALE, DELAY or PROBE
 *
 * Context: RCU read lock held, BH disabled; no locks of net6 held.
 * Return: 0, -EINVAL if the link has no resolution, @addr is a group or no address is known,
 * -ENOENT, -ENOBUFS.
 */
int net6_neigh_set(struct net6_iface *iface, const struct in6_addr *addr, const u8 *lladdr,
		   enum net6_neigh_state state)
{
	struct net6_neigh_step step = {
		.state		= state,
		.actions	= net6_neigh_set_actions(state) |
				  (lladdr ? NET6_NEIGH_DO_LLADDR : 0),
	};
	struct net6_neigh *neigh;
	struct net6_neigh_todo todo;
	int err = -ENOBUFS;

	if (!net6_neigh_resolves(iface, addr))
		return -EINVAL;
	if (!lladdr && !net6_neigh_find(iface, addr))
		return -ENOENT;
	neigh = net6_neigh_get_or_create(iface, addr);
	if (!neigh)
		return err;
	net6_neigh_todo_init(&todo);
	spin_lock_bh(&neigh->lock);
	if (!lladdr && !net6_neigh_known(neigh)) {
		err = -EINVAL;
	/* It may have been evicted meanwhile: the table is full. */
	} else if (!neigh->dead) {
		neigh->flags &= ~NET6_NEIGH_F_MANUAL;
		if (state == NET6_NEIGH_PERMANENT)
			neigh->flags |= NET6_NEIGH_F_MANUAL;
		net6_neigh_apply(neigh, step, lladdr, false, &todo);
		err = 0;
	}
	spin_unlock_bh(&neigh->lock);
	if (!err && state != NET6_NEIGH_PERMANENT)
		net6_neigh_let_go(neigh);
	net6_neigh_finish(neigh, &todo);
	net6_neigh_put(neigh);
	return err;
}

bool net6_neigh_reachable(const struct net6_neigh *neigh)
{
	u8 state = READ_ONCE(neigh->state);

	return state != NET6_NEIGH_INCOMPLETE && state != NET6_NEIGH_FAILED;
}

/**
 * net6_neigh_lladdr() - a neighbor's link-layer address
 * @neigh: neighbor
 * @lladdr: MAX_ADDR_LEN bytes to copy it to
 *
 * Context: any with BH disabled. Return: false if it is not known.
 */
bool net6_neigh_lladdr(struct net6_neigh *neigh, u8 *lladdr)
{
	bool known;

	spin_lock_bh(&neigh->lock);
	known = net6_neigh_known(neigh);
	memcpy(lladdr, neigh->lladdr, sizeof(neigh->lladdr));
	spin_unlock_bh(&neigh->lock);
	return known;
}
