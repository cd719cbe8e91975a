// SPDX-License-Identifier: GPL-2.0
/* Local ports: who owns which, what bind() may share, and which one connect() picks
 * (RFC 6056 algorithm 4, double-hash port selection).
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <net/inet_hashtables.h>
#include <net/ip.h>

#include "../../../compat/sock.h"
#include "../../../compat/tcp.h"
#include "../../../core/l3mdev.h"
#include "conn.h"

#define NET6_TCP_PORT_BUCKETS	16384
/* RFC 6056 3.3.4: size of the table of counters. */
#define NET6_TCP_PORT_COUNTERS	4096

struct net6_tcp_port_bucket {
	spinlock_t		lock;	/* BH disabled; above the locks of hash.c */
	struct hlist_head	head;
};

static struct net6_tcp_port_bucket *ports;
static u32 *counters;
static siphash_key_t port_secret;
static struct kmem_cache *port_slab;

static struct net6_tcp_port_bucket *net6_tcp_port_bucket(const struct net *net, u16 port)
{
	return &ports[(net_hash_mix(net) + port) & (NET6_TCP_PORT_BUCKETS - 1)];
}

static struct net6_tcp_port *net6_tcp_port_find(const struct net6_tcp_port_bucket *bucket,
						const struct net *net, u16 port)
	__must_hold(&bucket->lock)
{
	struct net6_tcp_port *tb;

	lockdep_assert_held(&bucket->lock);
	hlist_for_each_entry(tb, &bucket->head, node)
		if (tb->port == port && net_eq(tb->net, net))
			return tb;
	return NULL;
}

/* A port with its first address, which is to get an owner. NULL without memory. */
static struct net6_tcp_port_addr *net6_tcp_port_create(struct net6_tcp_port_bucket *bucket,
						       const struct sock *sk, u16 port,
						       bool connect_only)
	__must_hold(&bucket->lock)
{
	struct net6_tcp_port *tb = kmem_cache_alloc(port_slab, GFP_ATOMIC);

	lockdep_assert_held(&bucket->lock);
	if (!tb)
		return NULL;
	tb->net = sock_net(sk);
	tb->port = port;
	tb->connect_only = connect_only;
	tb->inner_turn = false;
	tb->first.port = tb;
	tb->first.addr = sk->sk_v6_rcv_saddr;
	INIT_HLIST_HEAD(&tb->first.owners);
	INIT_HLIST_HEAD(&tb->first.reusers);
	tb->others = RB_ROOT_CACHED;
	hlist_add_head(&tb->node, &bucket->head);
	return &tb->first;
}

/* Has nobody the port on this address? */
static bool net6_tcp_port_free(const struct net6_tcp_port_addr *at)
{
	return hlist_empty(&at->owners) && hlist_empty(&at->reusers);
}

static bool net6_tcp_port_unused(const struct net6_tcp_port *tb)
{
	return net6_tcp_port_free(&tb->first) && RB_EMPTY_ROOT(&tb->others.rb_root);
}

/* Some order, :: before all: what matters is that nobody can make a search long. */
static int net6_tcp_addr_order(const struct in6_addr *a, const struct in6_addr *b)
{
	u64 x = get_unaligned((const u64 *)&a->s6_addr32[0]);
	u64 y = get_unaligned((const u64 *)&b->s6_addr32[0]);

	if (x == y) {
		x = get_unaligned((const u64 *)&a->s6_addr32[2]);
		y = get_unaligned((const u64 *)&b->s6_addr32[2]);
	}
	return x < y ? -1 : x > y;
}

/**
 * struct net6_tcp_port_place - where an address is among a port's, or would be
 * @at: who uses the port on it, NULL: nobody
 * @link: in the tree; if there is no @at
 * @parent: in the tree; if there is no @at
 */
struct net6_tcp_port_place {
	struct net6_tcp_port_addr *at;
	struct rb_node **link;
	struct rb_node *parent;
};

static void net6_tcp_port_locate(struct net6_tcp_port *tb, const struct in6_addr *addr,
				 struct net6_tcp_port_place *place)
{
	struct rb_node **link = &tb->others.rb_root.rb_node;
	struct net6_tcp_port_addr *at = &tb->first;
	int order;

	place->parent = NULL;
	place->at = at;
	if (!net6_tcp_port_free(at) && ipv6_addr_equal(&at->addr, addr))
		return;
	while (*link) {
		at = rb_entry(*link, struct net6_tcp_port_addr, node);
		order = net6_tcp_addr_order(addr, &at->addr);
		place->at = at;
		if (!order)
			return;
		place->parent = *link;
		link = order < 0 ? &at->node.rb_left : &at->node.rb_right;
	}
	place->at = NULL;
	place->link = link;
}

/* Who uses a port without an address, NULL if nobody. */
static struct net6_tcp_port_addr *net6_tcp_port_any(struct net6_tcp_port *tb)
{
	struct net6_tcp_port_addr *at = &tb->first;
	struct rb_node *node;

	if (!net6_tcp_port_free(at) && ipv6_addr_any(&at->addr))
		return at;
	node = rb_first_cached(&tb->others);
	at = node ? rb_entry(node, struct net6_tcp_port_addr, node) : NULL;
	return at && ipv6_addr_any(&at->addr) ? at : NULL;
}

/* The entry of the address that was searched, made if need be. It is to get an owner, or to be
 * released. NULL without memory.
 */
static struct net6_tcp_port_addr *net6_tcp_port_enter(struct net6_tcp_port *tb,
						      const struct in6_addr *addr,
						      const struct net6_tcp_port_place *place)
{
	struct rb_node *parent = place->parent;
	struct net6_tcp_port_addr *at;

	if (place->at)
		return place->at;
	if (net6_tcp_port_free(&tb->first)) {
		tb->first.addr = *addr;
		return &tb->first;
	}
	at = kmalloc(sizeof(*at), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!at)
		return NULL;
	at->port = tb;
	at->addr = *addr;
	INIT_HLIST_HEAD(&at->owners);
	INIT_HLIST_HEAD(&at->reusers);
	rb_link_node(&at->node, parent, place->link);
	rb_insert_color_cached(&at->node, &tb->others,
			       !parent || (place->link == &parent->rb_left &&
					   parent == rb_first_cached(&tb->others)));
	return at;
}

static struct net6_tcp_port_addr *net6_tcp_port_join(struct net6_tcp_port *tb,
						     const struct in6_addr *addr)
{
	struct net6_tcp_port_place place;

	net6_tcp_port_locate(tb, addr, &place);
	return net6_tcp_port_enter(tb, addr, &place);
}

/* What has no owner goes. */
static void net6_tcp_port_release(struct net6_tcp_port_addr *at)
{
	struct net6_tcp_port *tb = at->port;

	if (!net6_tcp_port_free(at))
		return;
	if (at != &tb->first) {
		rb_erase_cached(&at->node, &tb->others);
		kfree(at);
	}
	if (net6_tcp_port_unused(tb)) {
		hlist_del(&tb->node);
		kmem_cache_free(port_slab, tb);
	}
}

/* A full socket or a TIME-WAIT one. That SO_REUSEADDR is set or cleared later counts for nobody. */
static void net6_tcp_port_file(struct sock *sk, struct net6_tcp_port_addr *at)
{
	sk_add_bind_node(sk, sk->sk_reuse && sk->sk_state != TCP_LISTEN ? &at->reusers :
									  &at->owners);
}

static void net6_tcp_port_own(struct sock *sk, struct net6_tcp_port_addr *at)
{
	inet_sk(sk)->inet_num = at->port->port;
	net6_tcp_port_file(sk, at);
	net6_tcp_sk(sk)->port = at;
}

static bool net6_tcp_addrs_overlap(const struct sock *a, const struct sock *b)
{
	return ipv6_addr_any(&a->sk_v6_rcv_saddr) || ipv6_addr_any(&b->sk_v6_rcv_saddr) ||
	       ipv6_addr_equal(&a->sk_v6_rcv_saddr, &b->sk_v6_rcv_saddr);
}

/* May @sk share its port with @other? @chosen: the user named the port. */
static bool net6_tcp_port_shareable(struct sock *sk, struct sock *other, kuid_t uid, bool chosen)
{
	if (sk->sk_bound_dev_if && other->sk_bound_dev_if &&
	    sk->sk_bound_dev_if != other->sk_bound_dev_if)
		return true;
	if (net6_l3mdev_ports(sk) != net6_l3mdev_ports(other))
		return true;
	if (!net6_tcp_addrs_overlap(sk, other))
		return true;
	if (!chosen)
		return false;
	if (sk->sk_reuse && other->sk_reuse && other->sk_state != TCP_LISTEN)
		return true;
	return sk->sk_reuseport && other->sk_reuseport &&
	       (other->sk_state == TCP_TIME_WAIT || uid_eq(uid, net6_compat_sock_uid(other)));
}

static bool net6_tcp_port_conflict_in(struct sock *sk, const struct hlist_head *list, kuid_t uid,
				      bool chosen)
{
	struct sock *other;

	sk_for_each_bound(other, list)
		if (other != sk && !net6_tcp_port_shareable(sk, other, uid, chosen))
			return true;
	return false;
}

/* Listeners are among those that are looked at first. */
static bool net6_tcp_port_conflict_at(struct sock *sk, const struct net6_tcp_port_addr *at,
				      bool chosen)
{
	kuid_t uid = net6_compat_sock_uid(sk);

	if (net6_tcp_port_conflict_in(sk, &at->owners, uid, chosen))
		return true;
	if (chosen && sk->sk_reuse)
		return false;
	return net6_tcp_port_conflict_in(sk, &at->reusers, uid, chosen);
}

/* An address can overlap with the same one, @at, and with none: connect() gives one to a socket
 * that was entered without. Without an address @sk overlaps with all.
 */
static bool net6_tcp_port_conflict(struct sock *sk, struct net6_tcp_port *tb,
				   const struct net6_tcp_port_addr *at, bool chosen)
{
	struct rb_node *node;

	if (!ipv6_addr_any(&sk->sk_v6_rcv_saddr)) {
		if (at && net6_tcp_port_conflict_at(sk, at, chosen))
			return true;
		at = net6_tcp_port_any(tb);
		return at && net6_tcp_port_conflict_at(sk, at, chosen);
	}
	if (net6_tcp_port_conflict_at(sk, &tb->first, chosen))
		return true;
	for (node = rb_first_cached(&tb->others); node; node = rb_next(node)) {
		at = rb_entry(node, struct net6_tcp_port_addr, node);
		if (net6_tcp_port_conflict_at(sk, at, chosen))
			return true;
	}
	return false;
}

/* Take @port if the rules allow it. Returns 0, -EADDRINUSE or -ENOMEM. */
static int net6_tcp_port_bind(struct sock *sk, u16 port, bool chosen)
{
	struct net6_tcp_port_bucket *bucket = net6_tcp_port_bucket(sock_net(sk), port);
	struct net6_tcp_port_addr *at = net6_tcp_sk(sk)->port;
	struct net6_tcp_port_place place = { };
	struct net6_tcp_port *tb;
	int err = 0;

	spin_lock_bh(&bucket->lock);
	tb = net6_tcp_port_find(bucket, sock_net(sk), port);
	if (tb)
		net6_tcp_port_locate(tb, &sk->sk_v6_rcv_saddr, &place);
	if (tb && net6_tcp_port_conflict(sk, tb, place.at, chosen)) {
		err = -EADDRINUSE;
		goto out;
	}
	if (!at) {
		at = tb ? net6_tcp_port_enter(tb, &sk->sk_v6_rcv_saddr, &place) :
			  net6_tcp_port_create(bucket, sk, port, false);
		if (!at) {
			err = -ENOMEM;
			goto out;
		}
		net6_tcp_port_own(sk, at);
	} else {
		/* It listens now. */
		__sk_del_bind_node(sk);
		net6_tcp_port_file(sk, at);
	}
	at->port->connect_only = false;
out:
	spin_unlock_bh(&bucket->lock);
	return err;
}

/* Ports to try, an even number so that the two halves stay apart. */
static u32 net6_tcp_port_span(int low, int high)
{
	u32 span = high - low + 1;

	return span > 1 ? span & ~1U : span;
}

/**
 * net6_tcp_get_port() - bind to a port; proto->get_port
 * @sk: address already set in sk_v6_rcv_saddr
 * @snum: port, host byte order; 0 to choose an ephemeral one. A socket that owns the
 *	port already is only checked again (listen).
 *
 * Context: process, sk owned.
 * Return: 0, -EADDRINUSE or -ENOMEM.
 */
int net6_tcp_get_port(struct sock *sk, unsigned short snum)
{
	struct net *net = sock_net(sk);
	u32 remaining, offset, i;
	int low, high, port, err;

	if (snum)
		return net6_tcp_port_bind(sk, snum, true);

	net6_compat_port_range(sk, &low, &high);
	remaining = net6_tcp_port_span(low, high);
	offset = reciprocal_scale(get_random_u32(), remaining);
	/* Odd offsets first: connect() starts with the even ones. */
	offset |= 1;
	for (i = 0; i < 2 * remaining; i += 2, offset += 2) {
		if (i == remaining)
			offset &= ~1U;
		port = low + offset % remaining;
		if (inet_is_local_reserved_port(net, port))
			continue;
		err = net6_tcp_port_bind(sk, port, false);
		if (err != -EADDRINUSE)
			return err;
		if (!(i & 0xff))
			cond_resched();
	}
	return -EADDRINUSE;
}

/* RFC 6056 3.3.4: F() and G() of the connection's other three numbers. */
static u64 net6_tcp_port_offset(const struct sock *sk)
{
	const struct {
		struct in6_addr	saddr;
		struct in6_addr	daddr;
		u32		net;
		__be16		dport;
	} __packed __aligned(SIPHASH_ALIGNMENT) in = {
		.saddr	= sk->sk_v6_rcv_saddr,
		.daddr	= sk->sk_v6_daddr,
		.net	= net_hash_mix(sock_net(sk)),
		.dport	= inet_sk(sk)->inet_dport,
	};

	/* 38 octets: with the length that siphash adds, one word less than 40. */
	return siphash(&in, offsetofend(typeof(in), dport), &port_secret);
}

/* Try to connect from @port. Returns 0, -EADDRINUSE or -ENOMEM. */
static int net6_tcp_port_connect(struct sock *sk, u16 port, struct net6_tcp_tw **twp)
{
	struct net6_tcp_port_bucket *bucket = net6_tcp_port_bucket(sock_net(sk), port);
	struct net6_tcp_port_addr *at;
	struct net6_tcp_port *tb;
	int err = -EADDRINUSE;

	spin_lock_bh(&bucket->lock);
	tb = net6_tcp_port_find(bucket, sock_net(sk), port);
	if (tb && !tb->connect_only)
		goto out;
	at = tb ? net6_tcp_port_join(tb, &sk->sk_v6_rcv_saddr) :
		  net6_tcp_port_create(bucket, sk, port, true);
	if (!at) {
		err = -ENOMEM;
		goto out;
	}
	inet_sk(sk)->inet_num = port;
	inet_sk(sk)->inet_sport = htons(port);
	if (!net6_tcp_hash_unique(sk, twp)) {
		inet_sk(sk)->inet_num = 0;
		inet_sk(sk)->inet_sport = 0;
		net6_tcp_port_release(at);
		goto out;
	}
	net6_tcp_port_own(sk, at);
	err = 0;
out:
	spin_unlock_bh(&bucket->lock);
	return err;
}

/* Softirqs run between two ports: with most of them in use the search is long. */
static int net6_tcp_port_search(struct sock *sk, struct net6_tcp_tw **twp)
{
	struct net *net = sock_net(sk);
	u64 hash = net6_tcp_port_offset(sk);
	u32 *counter = &counters[(hash >> 32) % NET6_TCP_PORT_COUNTERS];
	u32 remaining, offset, i;
	int low, high, port, err;

	net6_compat_port_range(sk, &low, &high);
	remaining = net6_tcp_port_span(low, high);
	offset = ((u32)hash & ~1U) + READ_ONCE(*counter);
	/* The even half, then the odd one: bind() prefers odd offsets. But first the half in which
	 * there was one before: the other one may be full, and walked for each connection.
	 */
	for (i = 0; i < 2 * remaining; i += 2, offset += 2) {
		if (i == remaining)
			offset ^= 1;
		port = low + offset % remaining;
		if (inet_is_local_reserved_port(net, port))
			continue;
		err = net6_tcp_port_connect(sk, port, twp);
		if (err != -EADDRINUSE) {
			WRITE_ONCE(*counter, offset - ((u32)hash & ~1U) + 2);
			return err;
		}
		if (!(i & 0xff))
			cond_resched();
	}
	return -EADDRNOTAVAIL;
}

/**
 * net6_tcp_connect_port() - give a connecting socket its port and place in the table
 * @sk: addresses and destination port set; bound to a port or not
 *
 * Context: process, sk owned, sleeps.
 * Return: 0, -EADDRNOTAVAIL if no port is left or the bound one has this connection
 * already, -ENOMEM.
 */
int net6_tcp_connect_port(struct sock *sk)
{
	struct net6_tcp_tw *tw = NULL;
	int err = 0;

	if (!net6_tcp_sk(sk)->port) {
		err = net6_tcp_port_search(sk, &tw);
	} else {
		local_bh_disable();
		if (!net6_tcp_hash_unique(sk, &tw))
			err = -EADDRNOTAVAIL;
		local_bh_enable();
	}
	if (tw) {
		tcp_sk(sk)->rx_opt.ts_recent = tw->ts_recent;
		tcp_sk(sk)->rx_opt.ts_recent_stamp = tw->ts_recent_stamp;
		/* RFC 6191: beyond everything the old connection may have sent. */
		tcp_sk(sk)->write_seq = max(tw->snd_nxt + 65535 + 2, 1U);
		tcp_sk(sk)->tsoffset = tw->ts_offset;
		net6_tcp_tw_taken(tw);
	}
	return err;
}

/**
 * net6_tcp_inherit_port() - a child owns its listener's port too
 * @child: new, not in any table
 * @listener: its listener
 *
 * Context: softirq.
 * Return: 0, or -ENOENT if the listener has given its port up.
 */
int net6_tcp_inherit_port(struct sock *child, struct sock *listener)
{
	struct net6_tcp_port_bucket *bucket = net6_tcp_port_bucket(sock_net(child),
								   child->sk_num);
	struct net6_tcp_port_addr *at;
	int err = -ENOENT;

	spin_lock(&bucket->lock);
	/* As long as it has the port's number, its entry is under this lock. */
	at = READ_ONCE(listener->sk_num) == child->sk_num ? net6_tcp_sk(listener)->port : NULL;
	/* It may have taken the port again on another address. */
	if (at && (ipv6_addr_any(&at->addr) ||
		   ipv6_addr_equal(&at->addr, &child->sk_v6_rcv_saddr))) {
		net6_tcp_port_own(child, at);
		err = 0;
	}
	spin_unlock(&bucket->lock);
	return err;
}

/**
 * net6_tcp_put_port() - give a socket's port up; proto->put_port
 * @sk: bound socket
 *
 * Context: any.
 */
void net6_tcp_put_port(struct sock *sk)
{
	struct net6_tcp_port_bucket *bucket = net6_tcp_port_bucket(sock_net(sk), sk->sk_num);
	struct net6_tcp_port_addr *at;

	spin_lock_bh(&bucket->lock);
	at = net6_tcp_sk(sk)->port;
	if (at) {
		__sk_del_bind_node(sk);
		net6_tcp_sk(sk)->port = NULL;
		inet_sk(sk)->inet_num = 0;
		net6_tcp_port_release(at);
	}
	spin_unlock_bh(&bucket->lock);
}

/**
 * net6_tcp_port_to_tw() - a TIME-WAIT entry owns its socket's port too
 * @sk: socket that goes away
 * @tw: new entry, not in any table
 *
 * Context: BH disabled.
 */
void net6_tcp_port_to_tw(struct sock *sk, struct net6_tcp_tw *tw)
{
	struct net6_tcp_port_bucket *bucket = net6_tcp_port_bucket(sock_net(sk), sk->sk_num);

	spin_lock(&bucket->lock);
	tw->port = net6_tcp_sk(sk)->port;
	if (tw->port)
		net6_tcp_port_file((struct sock *)tw, tw->port);
	spin_unlock(&bucket->lock);
}

/**
 * net6_tcp_port_put_tw() - a TIME-WAIT entry gives its port up
 * @tw: entry, out of the table of connections
 *
 * Context: any.
 */
void net6_tcp_port_put_tw(struct net6_tcp_tw *tw)
{
	struct net6_tcp_port_bucket *bucket;
	struct net *net = read_pnet(&tw->common.skc_net);

	bucket = net6_tcp_port_bucket(net, tw->common.skc_num);
	spin_lock_bh(&bucket->lock);
	if (tw->port) {
		__hlist_del(&tw->common.skc_bind_node);
		net6_tcp_port_release(tw->port);
		tw->port = NULL;
	}
	spin_unlock_bh(&bucket->lock);
}

/**
 * net6_tcp_port_init() - make the table of ports
 *
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_port_init(void)
{
	u32 i;

	port_slab = KMEM_CACHE(net6_tcp_port, SLAB_ACCOUNT);
	ports = kvmalloc_array(NET6_TCP_PORT_BUCKETS, sizeof(*ports), GFP_KERNEL);
	counters = kvmalloc_array(NET6_TCP_PORT_COUNTERS, sizeof(*counters), GFP_KERNEL);
	if (!port_slab || !ports || !counters) {
		net6_tcp_port_exit();
		return -ENOMEM;
	}
	for (i = 0; i < NET6_TCP_PORT_BUCKETS; i++) {
		spin_lock_init(&ports[i].lock);
		INIT_HLIST_HEAD(&ports[i].head);
	}
	get_random_bytes(counters, NET6_TCP_PORT_COUNTERS * sizeof(*counters));
	for (i = 0; i < NET6_TCP_PORT_COUNTERS; i++)
		counters[i] &= ~1U;
	get_random_bytes(&port_secret, sizeof(port_secret));
	return 0;
}

/**
 * net6_tcp_port_exit() - free the table of ports; it is empty
 */
void net6_tcp_port_exit(void)
{
	kvfree(counters);
	kvfree(ports);
	kmem_cache_destroy(port_slab);
	counters = NULL;
	ports = NULL;
	port_slab = NULL;
}
