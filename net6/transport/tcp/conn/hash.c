// SPDX-License-Identifier: GPL-2.0
/* The tables that turn a segment into a socket. One has connections: full sockets, requests and
 * TIME-WAIT entries stand side by side (all begin with struct sock_common). The other has
 * listeners by address and port. Readers use RCU; their slabs are SLAB_TYPESAFE_BY_RCU, so a
 * reader compares again after it has taken a reference.
 */
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <net/inet_hashtables.h>
#include <net/sock_reuseport.h>

#include "../../../compat/sock.h"
#include "../../../core/l3mdev.h"
#include "../../sk_lookup.h"
#include "../calls/calls.h"
#include "conn.h"

#define NET6_TCP_LISTEN_BUCKETS	2048
/* Nulls values of listener chains start here, those of connections below. A socket that moves may
 * carry a reader into the other table; the reader notices.
 */
#define NET6_TCP_LISTEN_NULLS	BIT(29)
#define NET6_TCP_MAX_LOCKS	4096
#define NET6_TCP_WALK_BATCH	16

struct net6_tcp_listen_bucket {
	spinlock_t		lock;	/* writers; BH disabled */
	seqcount_spinlock_t	moves;	/* one goes to the end, where it may carry a reader */
	struct hlist_nulls_head	head;
};

static struct {
	struct hlist_nulls_head	*head;
	spinlock_t		*lock;	/* writers, one for several buckets; BH disabled */
	u32			mask;
	u32			lock_mask;
	u32			secret;
	u64			factor;		/* odd */
	u32			key[9];
} table __read_mostly;

static struct net6_tcp_listen_bucket listeners[NET6_TCP_LISTEN_BUCKETS];

/* NH (RFC 4418 5.2.2) of an address: of any two addresses the results differ by a given number for
 * one key in 2^32.
 */
static u64 net6_tcp_hash_addr(const struct in6_addr *addr, const u32 *key)
{
	u32 a = (__force u32)addr->s6_addr32[0] + key[0];
	u32 b = (__force u32)addr->s6_addr32[1] + key[1];
	u32 c = (__force u32)addr->s6_addr32[2] + key[2];
	u32 d = (__force u32)addr->s6_addr32[3] + key[3];

	return (u64)a * b + (u64)c * d;
}

/* Both addresses and the ports by NH, so that nobody can choose names of one chain. A product's
 * bits depend on those below them only, so the sum's upper half comes down first. It costs 31
 * instructions; jhash2() of the foreign address and NH of the other one cost 82.
 */
static u32 net6_tcp_hashfn(const struct net *net, const struct in6_addr *laddr,
			   const struct in6_addr *faddr, __portpair ports)
{
	u64 sum = net6_tcp_hash_addr(laddr, table.key) + net6_tcp_hash_addr(faddr, table.key + 4);

	sum += (u64)(__force u32)ports * table.key[8] + net_hash_mix(net);
	return ((sum ^ sum >> 32) * table.factor) >> 32;
}

static u32 net6_tcp_sk_hashfn(const struct sock *sk)
{
	return net6_tcp_hashfn(sock_net(sk), &sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr,
			       sk->sk_portpair);
}

static struct hlist_nulls_head *net6_tcp_head(u32 hash)
{
	return &table.head[hash & table.mask];
}

/* The writers' lock of a bucket. */
static spinlock_t *net6_tcp_lock(u32 hash)
{
	return &table.lock[hash & table.lock_mask];
}

static __always_inline bool net6_tcp_match(const struct sock *sk, const struct net *net,
					   const struct net6_tcp_key *key)
{
	return sk->sk_portpair == key->ports && net_eq(sock_net(sk), net) &&
	       ipv6_addr_equal(&sk->sk_v6_daddr, key->faddr) &&
	       ipv6_addr_equal(&sk->sk_v6_rcv_saddr, key->laddr) &&
	       net6_l3mdev_bound_eq(net, IPPROTO_TCP, sk->sk_bound_dev_if, key->dif, key->sdif);
}

/**
 * net6_tcp_gen_put() - drop a reference on whatever the table of connections holds
 * @sk: full socket, request or TIME-WAIT entry
 *
 * Context: any.
 */
void net6_tcp_gen_put(struct sock *sk)
{
	if (sk->sk_state == TCP_TIME_WAIT)
		net6_tcp_tw_put((struct net6_tcp_tw *)sk);
	else if (sk->sk_state == TCP_NEW_SYN_RECV)
		net6_tcp_request_put((struct net6_tcp_request *)sk);
	else
		sock_put(sk);
}

/**
 * net6_tcp_lookup() - find the connection that a segment belongs to
 * @net: namespace
 * @key: addresses, ports and interface of the segment
 *
 * Context: RCU read lock held.
 * Return: a full socket, request or TIME-WAIT entry with a reference, or NULL.
 */
struct sock *net6_tcp_lookup(struct net *net, const struct net6_tcp_key *key)
{
	u32 hash = net6_tcp_hashfn(net, key->laddr, key->faddr, key->ports);
	struct hlist_nulls_head *head = net6_tcp_head(hash);
	const struct hlist_nulls_node *node;
	struct sock *sk;

begin:
	sk_nulls_for_each_rcu(sk, node, head) {
		if (sk->sk_hash != hash || !net6_tcp_match(sk, net, key))
			continue;
		/* It goes, and something may stand in its place already. */
		if (unlikely(!refcount_inc_not_zero(&sk->sk_refcnt)))
			goto begin;
		if (unlikely(!net6_tcp_match(sk, net, key))) {
			net6_tcp_gen_put(sk);
			goto begin;
		}
		return sk;
	}
	if (get_nulls_value(node) != (hash & table.mask))
		goto begin;
	return NULL;
}

/* Of listeners on an address, :: for those without one. A segment may be for either. */
static struct net6_tcp_listen_bucket *net6_tcp_listen_bucket(const struct net *net,
							     const struct in6_addr *addr, u16 port)
{
	u32 hash = jhash_1word(port, table.secret + net_hash_mix(net));

	if (!ipv6_addr_any(addr))
		hash = jhash2((__force const u32 *)addr->s6_addr32, ARRAY_SIZE(addr->s6_addr32),
			      hash);
	return &listeners[hash & (NET6_TCP_LISTEN_BUCKETS - 1)];
}

/* The one that a listener is in, or is to be. */
static struct net6_tcp_listen_bucket *net6_tcp_listener_bucket(const struct sock *sk)
{
	return net6_tcp_listen_bucket(sock_net(sk), &sk->sk_v6_rcv_saddr, sk->sk_num);
}

/* How well a listener on @addr fits, -1 if it does not. A device counts more than the CPU it was
 * made for.
 */
static int net6_tcp_listen_score(const struct sock *sk, const struct net *net,
				 const struct net6_tcp_key *key, const struct in6_addr *addr,
				 u16 port)
{
	int score = 1;

	if (sk->sk_state != TCP_LISTEN || sk->sk_num != port || !net_eq(sock_net(sk), net) ||
	    !ipv6_addr_equal(&sk->sk_v6_rcv_saddr, addr))
		return -1;
	if (!net6_l3mdev_bound_eq(net, IPPROTO_TCP, sk->sk_bound_dev_if, key->dif, key->sdif))
		return -1;
	if (sk->sk_bound_dev_if)
		score += 2;
	if (READ_ONCE(sk->sk_incoming_cpu) == raw_smp_processor_id())
		score++;
	return score;
}

/* The best listener on @addr for a segment, or NULL. The first of a SO_REUSEPORT group stands for
 * all of it: a program or the hash chooses among them. Behind it is none that fits better, see
 * net6_tcp_listen_enter(), nor behind one that is on the segment's device.
 */
static struct sock *net6_tcp_listen_search(const struct net *net, const struct net6_tcp_key *key,
					   const struct in6_addr *addr, u16 port)
{
	struct net6_tcp_listen_bucket *bucket = net6_tcp_listen_bucket(net, addr, port);
	const struct hlist_nulls_node *node;
	struct sock *sk, *best;
	int score, best_score;
	unsigned int seq;

begin:
	seq = read_seqcount_begin(&bucket->moves);
	best = NULL;
	best_score = 0;
	sk_nulls_for_each_rcu(sk, node, &bucket->head) {
		score = net6_tcp_listen_score(sk, net, key, addr, port);
		if (score <= best_score)
			continue;
		best_score = score;
		best = sk;
		if (sk->sk_reuseport || sk->sk_bound_dev_if)
			return best;
	}
	if (get_nulls_value(node) != NET6_TCP_LISTEN_NULLS + (bucket - listeners) ||
	    read_seqcount_retry(&bucket->moves, seq))
		goto begin;
	return best;
}

/**
 * net6_tcp_find_listener() - the listener on a port
 * @net: namespace
 * @key: addresses and interface; its ports do not matter
 * @port: host byte order
 *
 * Context: RCU read lock held; listeners are freed after a grace period.
 * Return: borrowed listener, one of a SO_REUSEPORT group's, or NULL.
 */
struct sock *net6_tcp_find_listener(struct net *net, const struct net6_tcp_key *key, u16 port)
{
	/* One with the address is better than any without. */
	return net6_tcp_listen_search(net, key, key->laddr, port) ?:
	       net6_tcp_listen_search(net, key, &in6addr_any, port);
}

/**
 * net6_tcp_lookup_listener() - find the listener for a segment without connection
 * @net: namespace
 * @key: addresses, ports and interface of the segment
 * @skb: the segment, for programs that choose among a SO_REUSEPORT group
 * @doff: length of its TCP header in bytes
 *
 * A program of the namespace may refuse it.
 * Context: RCU read lock held; listeners are freed after a grace period.
 * Return: borrowed listener, or NULL.
 */
struct sock *net6_tcp_lookup_listener(struct net *net, const struct net6_tcp_key *key,
				      struct sk_buff *skb, int doff)
{
	u16 port = ntohs(tcp_hdr(skb)->dest);
	struct sock *best, *chosen;

	if (net6_lookup_asks() &&
	    net6_lookup_refused(net, IPPROTO_TCP, key->faddr, tcp_hdr(skb)->source, key->laddr,
				port, key->dif))
		return NULL;
	best = net6_tcp_find_listener(net, key, port);
	if (!best || !best->sk_reuseport)
		return best;
	chosen = reuseport_select_sock(best, net6_tcp_hashfn(net, key->laddr, key->faddr,
							     key->ports), skb, doff);
	/* The group's program may refuse it. */
	return IS_ERR(chosen) ? NULL : chosen ?: best;
}

/* @new takes the place of @old in its chain: who reads meanwhile meets one of them.
 * Adding and deleting would let a reader pass by both.
 */
static void net6_tcp_replace(struct sock *old, struct sock *new)
{
	struct hlist_nulls_node *from = &old->sk_nulls_node, *to = &new->sk_nulls_node;
	struct hlist_nulls_node *next = from->next;

	WRITE_ONCE(to->next, next);
	WRITE_ONCE(to->pprev, from->pprev);
	rcu_assign_pointer(*(struct hlist_nulls_node __rcu __force **)from->pprev, to);
	if (!is_a_nulls(next))
		WRITE_ONCE(next->pprev, &to->next);
	WRITE_ONCE(from->pprev, NULL);
}

/* The entry of @sk's own name in its chain, or NULL. */
static struct sock *net6_tcp_find_twin(const struct sock *sk, struct hlist_nulls_head *head)
{
	struct net6_tcp_key key = {
		.laddr	= &sk->sk_v6_rcv_saddr,
		.faddr	= &sk->sk_v6_daddr,
		.ports	= sk->sk_portpair,
		.dif	= sk->sk_bound_dev_if,
		.sdif	= net6_l3mdev_of_ifindex(net6_tcp_nn(sk), sk->sk_bound_dev_if),
	};
	const struct hlist_nulls_node *node;
	struct sock *other;

	sk_nulls_for_each(other, node, head) {
		if (other->sk_hash == sk->sk_hash && other != sk &&
		    (net6_tcp_match(other, sock_net(sk), &key) ||
		     (!key.dif && other->sk_bound_dev_if && !net6_l3mdev_ports(other) &&
		      other->sk_portpair == key.ports && net_eq(sock_net(other), sock_net(sk)) &&
		      ipv6_addr_equal(&other->sk_v6_daddr, key.faddr) &&
		      ipv6_addr_equal(&other->sk_v6_rcv_saddr, key.laddr))))
			return other;
	}
	return NULL;
}

/**
 * net6_tcp_hash_unique() - enter a connecting socket unless its name is taken
 * @sk: addresses and ports set, not hashed
 * @twp: the TIME-WAIT entry whose place it took (RFC 6191), out of the table now, with
 *	the table's reference; or NULL
 *
 * Context: BH disabled.
 * Return: false if another connection has this name.
 */
bool net6_tcp_hash_unique(struct sock *sk, struct net6_tcp_tw **twp)
{
	struct hlist_nulls_head *head;
	struct sock *other;
	spinlock_t *lock;	/* of the bucket */
	bool ok = true;

	*twp = NULL;
	sk->sk_hash = net6_tcp_sk_hashfn(sk);
	head = net6_tcp_head(sk->sk_hash);
	lock = net6_tcp_lock(sk->sk_hash);
	spin_lock(lock);
	other = net6_tcp_find_twin(sk, head);
	if (other) {
		ok = other->sk_state == TCP_TIME_WAIT &&
		     net6_tcp_tw_reusable((struct net6_tcp_tw *)other);
		if (ok) {
			net6_tcp_replace(other, sk);
			*twp = (struct net6_tcp_tw *)other;
		}
	} else {
		__sk_nulls_add_node_rcu(sk, head);
	}
	spin_unlock(lock);
	if (ok)
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	return ok;
}

/**
 * net6_tcp_hash_request() - enter an embryonic connection
 * @req: complete but for its reference count, which becomes 3: table, timer and caller
 *
 * Context: BH disabled.
 * Return: false if the name is taken (two SYNs raced).
 */
bool net6_tcp_hash_request(struct net6_tcp_request *req)
{
	struct sock *sk = (struct sock *)req;
	struct hlist_nulls_head *head;
	spinlock_t *lock;	/* of the bucket */
	bool ok;

	sk->sk_hash = net6_tcp_sk_hashfn(sk);
	head = net6_tcp_head(sk->sk_hash);
	lock = net6_tcp_lock(sk->sk_hash);
	spin_lock(lock);
	ok = !net6_tcp_find_twin(sk, head);
	if (ok) {
		/* A reader that finds it must find it complete. */
		smp_wmb();
		refcount_set(&sk->sk_refcnt, 3);
		__sk_nulls_add_node_rcu(sk, head);
	}
	spin_unlock(lock);
	return ok;
}

static bool net6_tcp_unhash_entry(struct sock *sk)
{
	spinlock_t *lock = net6_tcp_lock(sk->sk_hash);
	bool was;

	spin_lock_bh(lock);
	was = __sk_nulls_del_node_init_rcu(sk);
	spin_unlock_bh(lock);
	return was;
}

/**
 * net6_tcp_unhash_request() - take a request out of the table
 * @req: request
 *
 * Context: any.
 * Return: true if it was there: the caller now owns the table's reference.
 */
bool net6_tcp_unhash_request(struct net6_tcp_request *req)
{
	return net6_tcp_unhash_entry((struct sock *)req);
}

/**
 * net6_tcp_unhash_tw() - take a TIME-WAIT entry out of the table
 * @tw: entry
 *
 * Context: any.
 * Return: true if it was there: the caller now owns the table's reference.
 */
bool net6_tcp_unhash_tw(struct net6_tcp_tw *tw)
{
	return net6_tcp_unhash_entry((struct sock *)tw);
}

/**
 * net6_tcp_hash_child() - enter a child at the end of its handshake
 * @child: complete
 * @req: the hashed request whose place it takes, or NULL (SYN cookie)
 *
 * Context: BH disabled.
 * Return: false if @req is no longer in the table, or the name is taken. On success
 * the caller owns the table's reference on @req.
 */
bool net6_tcp_hash_child(struct sock *child, struct net6_tcp_request *req)
{
	struct hlist_nulls_head *head;
	spinlock_t *lock;	/* of the bucket */
	bool ok;

	child->sk_hash = req ? req->common.skc_hash : net6_tcp_sk_hashfn(child);
	head = net6_tcp_head(child->sk_hash);
	lock = net6_tcp_lock(child->sk_hash);
	spin_lock(lock);
	if (req) {
		ok = sk_hashed((struct sock *)req);
		if (ok)
			net6_tcp_replace((struct sock *)req, child);
	} else {
		ok = !net6_tcp_find_twin(child, head);
		if (ok)
			__sk_nulls_add_node_rcu(child, head);
	}
	spin_unlock(lock);
	if (ok)
		sock_prot_inuse_add(sock_net(child), child->sk_prot, 1);
	return ok;
}

/**
 * net6_tcp_hash_tw() - a TIME-WAIT entry takes its socket's place
 * @sk: the socket, locked; out of the table afterwards
 * @tw: complete but for its reference count, which becomes 3: table, timer, caller
 *
 * Context: BH disabled.
 */
void net6_tcp_hash_tw(struct sock *sk, struct net6_tcp_tw *tw)
{
	spinlock_t *lock = net6_tcp_lock(sk->sk_hash);

	spin_lock(lock);
	/* A reader that finds it must find it complete. */
	smp_wmb();
	refcount_set(&tw->common.skc_refcnt, 3);
	if (sk_hashed(sk)) {
		net6_tcp_replace(sk, (struct sock *)tw);
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
	} else {
		__sk_nulls_add_node_rcu((struct sock *)tw, net6_tcp_head(sk->sk_hash));
	}
	spin_unlock(lock);
}

/* Join the SO_REUSEPORT group of a listener with the same name, or found one. */
static int net6_tcp_reuseport_join(struct sock *sk, struct net6_tcp_listen_bucket *bucket)
{
	bool any = ipv6_addr_any(&sk->sk_v6_rcv_saddr);
	const struct hlist_nulls_node *node;
	struct sock *other, *first = NULL;
	kuid_t uid = net6_compat_sock_uid(sk);
	bool told = false;

	sk_nulls_for_each(other, node, &bucket->head) {
		if (other != sk && other->sk_num == sk->sk_num &&
		    net_eq(sock_net(other), sock_net(sk)) && other->sk_reuseport &&
		    other->sk_bound_dev_if == sk->sk_bound_dev_if &&
		    uid_eq(uid, net6_compat_sock_uid(other)) &&
		    ipv6_addr_equal(&other->sk_v6_rcv_saddr, &sk->sk_v6_rcv_saddr)) {
			first = first ?: other;
			told = told || net6_tcp_user_joined(other, sk);
		}
	}
	return first ? reuseport_add_sock(sk, first, any) : reuseport_alloc(sk, any);
}

/* Groups without a device are last in their bucket, which is locked. */
static void net6_tcp_listen_enter(struct sock *sk, struct net6_tcp_listen_bucket *bucket)
{
	if (sk->sk_reuseport && !sk->sk_bound_dev_if) {
		write_seqcount_begin(&bucket->moves);
		__sk_nulls_add_node_tail_rcu(sk, &bucket->head);
		write_seqcount_end(&bucket->moves);
	} else {
		__sk_nulls_add_node_rcu(sk, &bucket->head);
	}
}

/**
 * net6_tcp_hash_listener() - enter a listener
 * @sk: in state LISTEN, bound
 *
 * Context: process, sk owned.
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_hash_listener(struct sock *sk)
{
	struct net6_tcp_listen_bucket *bucket = net6_tcp_listener_bucket(sk);
	int err = 0;

	spin_lock_bh(&bucket->lock);
	if (sk->sk_reuseport)
		err = net6_tcp_reuseport_join(sk, bucket);
	if (!err) {
		/* Listeners are looked up without a reference. */
		sock_set_flag(sk, SOCK_RCU_FREE);
		net6_tcp_listen_enter(sk, bucket);
	}
	spin_unlock_bh(&bucket->lock);
	if (!err)
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	return err;
}

static bool net6_tcp_unhash_listener(struct sock *sk)
{
	struct net6_tcp_listen_bucket *bucket = net6_tcp_listener_bucket(sk);
	bool was;

	spin_lock_bh(&bucket->lock);
	if (rcu_access_pointer(sk->sk_reuseport_cb))
		reuseport_stop_listen_sock(sk);
	was = __sk_nulls_del_node_init_rcu(sk);
	spin_unlock_bh(&bucket->lock);
	return was;
}

/**
 * net6_tcp_unhash() - take a full socket out of its table; proto->unhash
 * @sk: socket; its state still tells which table
 *
 * Context: any; sk locked.
 */
void net6_tcp_unhash(struct sock *sk)
{
	bool was;

	if (sk_unhashed(sk))
		return;
	was = sk->sk_state == TCP_LISTEN ? net6_tcp_unhash_listener(sk) :
					   net6_tcp_unhash_entry(sk);
	if (was)
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

/* Is a socket that the caller holds in this chain? The chain's lock is held. One that is just
 * entering another chain may be taken for a member. With BH disabled the walk goes astray then,
 * as a reader may, and the next batch does not follow it.
 */
static bool net6_tcp_in_chain(const struct sock *sk, const struct hlist_nulls_head *head)
{
	if (sk_unhashed(sk))
		return false;
	if (sk->sk_state == TCP_LISTEN)
		return &net6_tcp_listener_bucket(sk)->head == head;
	return net6_tcp_head(sk->sk_hash) == head;
}

/* References on up to NET6_TCP_WALK_BATCH sockets of @net in a chain. They are those behind
 * @last, or after the first @skip if it has left the chain or is NULL.
 */
static unsigned int net6_tcp_walk_chain(struct net *net, struct hlist_nulls_head *head,
					const struct sock *last, u32 skip, struct sock **batch)
{
	struct hlist_nulls_node *node = head->first;
	unsigned int n = 0;
	struct sock *sk;

	if (last && net6_tcp_in_chain(last, head)) {
		node = last->sk_nulls_node.next;
		skip = 0;
	}
	hlist_nulls_for_each_entry_from(sk, node, sk_nulls_node) {
		if (!net_eq(sock_net(sk), net))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		if (refcount_inc_not_zero(&sk->sk_refcnt))
			batch[n++] = sk;
		if (n == NET6_TCP_WALK_BATCH)
			break;
	}
	return n;
}

static int net6_tcp_walk_bucket(struct net *net, struct hlist_nulls_head *head, spinlock_t *lock,
				u32 *place, int (*fn)(struct sock *sk, void *arg), void *arg)
{
	struct sock *batch[NET6_TCP_WALK_BATCH], *last = NULL;
	unsigned int n, i;
	int err = 0;

	do {
		spin_lock_bh(lock);
		n = net6_tcp_walk_chain(net, head, last, *place, batch);
		spin_unlock_bh(lock);
		if (last)
			net6_tcp_gen_put(last);
		for (i = 0; i < n && !err; i++) {
			err = fn(batch[i], arg);
			*place += !err;
		}
		last = n == NET6_TCP_WALK_BATCH && !err ? batch[--n] : NULL;
		for (i = 0; i < n; i++)
			net6_tcp_gen_put(batch[i]);
		cond_resched();
	} while (last);
	return err;
}

/**
 * net6_tcp_walk() - call a function for each socket of a namespace
 * @net: namespace
 * @pos: 0 to begin with; where to go on afterwards (bucket << 32 | place in it)
 * @fn: called with a reference held and no lock; non-zero stops the walk
 * @arg: for @fn
 *
 * Sockets that come or go meanwhile may be missed or, if a chain changes while it is
 * walked, seen twice. Requests and TIME-WAIT entries are passed too: test sk_state.
 * Context: process; sleeps.
 * Return: 0 at the end, else what @fn returned; *pos is the socket that it was called for.
 */
int net6_tcp_walk(struct net *net, u64 *pos, int (*fn)(struct sock *sk, void *arg), void *arg)
{
	u32 bucket = *pos >> 32, place = *pos;
	struct hlist_nulls_head *head;
	spinlock_t *lock;
	int err = 0;

	might_sleep();
	for (; bucket <= NET6_TCP_LISTEN_BUCKETS + table.mask; bucket++, place = 0) {
		if (bucket < NET6_TCP_LISTEN_BUCKETS) {
			head = &listeners[bucket].head;
			lock = &listeners[bucket].lock;
		} else {
			head = net6_tcp_head(bucket - NET6_TCP_LISTEN_BUCKETS);
			lock = net6_tcp_lock(bucket - NET6_TCP_LISTEN_BUCKETS);
		}
		if (hlist_nulls_empty(head))
			continue;
		err = net6_tcp_walk_bucket(net, head, lock, &place, fn, arg);
		if (err)
			break;
	}
	*pos = (u64)bucket << 32 | place;
	return err;
}

/**
 * net6_tcp_hash_init() - make the tables
 *
 * One bucket for 128 KB of memory, 1024 to 512 Ki of them.
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_hash_init(void)
{
	u32 n = clamp_t(unsigned long, totalram_pages() >> (17 - PAGE_SHIFT), 1 << 10, 1 << 19);
	u32 i, locks;

	n = roundup_pow_of_two(n);
	locks = min_t(u32, n, NET6_TCP_MAX_LOCKS);
	table.head = kvmalloc_array(n, sizeof(*table.head), GFP_KERNEL);
	table.lock = kvmalloc_array(locks, sizeof(*table.lock), GFP_KERNEL);
	if (!table.head || !table.lock) {
		net6_tcp_hash_exit();
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		INIT_HLIST_NULLS_HEAD(&table.head[i], i);
	for (i = 0; i < locks; i++)
		spin_lock_init(&table.lock[i]);
	for (i = 0; i < NET6_TCP_LISTEN_BUCKETS; i++) {
		spin_lock_init(&listeners[i].lock);
		seqcount_spinlock_init(&listeners[i].moves, &listeners[i].lock);
		INIT_HLIST_NULLS_HEAD(&listeners[i].head, NET6_TCP_LISTEN_NULLS + i);
	}
	table.mask = n - 1;
	table.lock_mask = locks - 1;
	table.secret = get_random_u32();
	get_random_bytes(&table.factor, sizeof(table.factor));
	table.factor |= 1;
	get_random_bytes(table.key, sizeof(table.key));
	return 0;
}

/**
 * net6_tcp_hash_exit() - free the tables; they are empty
 */
void net6_tcp_hash_exit(void)
{
	kvfree(table.head);
	kvfree(table.lock);
	table.head = NULL;
	table.lock = NULL;
}
