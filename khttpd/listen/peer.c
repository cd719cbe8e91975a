// SPDX-License-Identifier: GPL-2.0
/* Clients by address: how many connections each has, and how fast it asks. An IPv6 client is a
 * /64, for whoever has one address of it can have all. Nothing is kept as long as no such limit
 * is set. A client whose limits were not set, or for whom there was no memory, has none.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "../http/access.h"
#include "../http/proxyhead.h"
#include "../http/rate.h"
#include "../limits.h"
#include "../observe/far.h"
#include "../observe/stats.h"
#include "peer.h"

#define KHTTPD_PEER_BITS	10
/* Clients known at once: those beyond are not limited. */
#define KHTTPD_PEERS_MAX	65536
/* How often those that are owed nothing are forgotten. */
#define KHTTPD_PEER_SWEEP	(5 * HZ)

/**
 * struct khttpd_peer_key - who it is
 * @net: network namespace, to be compared only
 * @high: first half of the address, 0 for IPv4
 * @low: the IPv4 address, with a bit that tells it from IPv6's 0
 */
struct khttpd_peer_key {
	const struct net *net;
	u64 high;
	u64 low;
};

/**
 * struct khttpd_peer - a client's address
 * @node: in its bucket
 * @key: who it is
 * @bucket: which, by number
 * @conns: its connections; changes with the bucket locked
 * @shakes: how many of them are at their TLS handshake; the same
 * @due: see khttpd_rate_take(); the same
 */
struct khttpd_peer {
	struct hlist_node node;
	struct khttpd_peer_key key;
	u32 bucket;
	u32 conns;
	u32 shakes;
	u64 due;
};

static struct khttpd_peer_bucket {
	spinlock_t lock;	/* its peers; BH disabled */
	struct hlist_head head;
} khttpd_peers[BIT(KHTTPD_PEER_BITS)];

static atomic_t khttpd_peers_known;
static u32 khttpd_peer_seed __read_mostly;

static void khttpd_peers_sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(khttpd_peer_sweeper, khttpd_peers_sweep);

static void khttpd_peer_key(struct khttpd_peer_key *key, const struct net *net,
			    const struct in6_addr *address)
{
	memset(key, 0, sizeof(*key));
	key->net = net;
	if (ipv6_addr_v4mapped(address))
		key->low = BIT_ULL(32) | (__force u32)address->s6_addr32[3];
	else
		memcpy(&key->high, address, sizeof(key->high));
}

static struct khttpd_peer *khttpd_peer_find(struct khttpd_peer_bucket *bucket,
					    const struct khttpd_peer_key *key)
{
	struct khttpd_peer *peer;

	hlist_for_each_entry(peer, &bucket->head, node) {
		if (!memcmp(&peer->key, key, sizeof(*key)))
			return peer;
	}
	return NULL;
}

static struct khttpd_peer *khttpd_peer_add(u32 number,
					   const struct khttpd_peer_key *key)
{
	struct khttpd_peer *peer;

	if (atomic_read(&khttpd_peers_known) >= KHTTPD_PEERS_MAX)
		return NULL;
	peer = kzalloc(sizeof(*peer), GFP_ATOMIC | __GFP_NOWARN);
	if (!peer)
		return NULL;
	peer->key = *key;
	peer->bucket = number;
	hlist_add_head(&peer->node, &khttpd_peers[number].head);
	if (atomic_inc_return(&khttpd_peers_known) == 1)
		schedule_delayed_work(&khttpd_peer_sweeper, KHTTPD_PEER_SWEEP);
	return peer;
}

static void khttpd_peer_drop(struct khttpd_peer *peer)
{
	hlist_del(&peer->node);
	kfree(peer);
	atomic_dec(&khttpd_peers_known);
}

/* Are there limits by address? */
static bool khttpd_peers_limited(bool tls)
{
	return READ_ONCE(khttpd_limits.max_per_address) || READ_ONCE(khttpd_limits.request_rate) ||
	       (tls && READ_ONCE(khttpd_limits.tls_per_address));
}

static struct khttpd_peer *khttpd_peer_count(const struct net *net, const struct in6_addr *address)
{
	u32 most = READ_ONCE(khttpd_limits.max_per_address);
	struct khttpd_peer_bucket *bucket;
	struct khttpd_peer_key key;
	struct khttpd_peer *peer;
	u32 number;

	khttpd_peer_key(&key, net, address);
	number = jhash(&key, sizeof(key), khttpd_peer_seed) &
		 (BIT(KHTTPD_PEER_BITS) - 1);
	bucket = &khttpd_peers[number];
	spin_lock_bh(&bucket->lock);
	peer = khttpd_peer_find(bucket, &key);
	if (!peer)
		peer = khttpd_peer_add(number, &key);
	if (!peer)
		khttpd_count(peers_unknown);
	else if (most && peer->conns >= most)
		peer = ERR_PTR(-EUSERS);
	else
		peer->conns++;
	spin_unlock_bh(&bucket->lock);
	return peer;
}

/**
 * khttpd_peer_get() - a new connection of a client
 * @sk: the connection
 * @tls: it begins with a TLS handshake
 *
 * Context: any but hard interrupts.
 * Return: its client, to be put when the connection ends; NULL if it is not to be
 * limited; -EUSERS if it must not have one more.
 */
struct khttpd_peer *khttpd_peer_get(const struct sock *sk, bool tls)
{
	struct in6_addr address;

	if (likely(!khttpd_peers_limited(tls)))
		return NULL;
	khttpd_far(sk, &address);
	return khttpd_peer_count(sock_net(sk), &address);
}

/**
 * khttpd_peer_get_for() - a new connection of a client that has come by a proxy
 * @sk: the connection, the proxy's
 * @address: the client's, of IPv6 or mapped, 16 bytes
 * @tls: as for khttpd_peer_get()
 *
 * Context: any but hard interrupts.
 * Return: as khttpd_peer_get().
 */
struct khttpd_peer *khttpd_peer_get_for(const struct sock *sk, const u8 *address, bool tls)
{
	struct in6_addr copy;

	if (likely(!khttpd_peers_limited(tls)))
		return NULL;
	memcpy(&copy, address, sizeof(copy));
	return khttpd_peer_count(sock_net(sk), &copy);
}

/**
 * khttpd_peer_put() - a connection has ended
 * @peer: its client, or NULL
 *
 * Context: any but hard interrupts.
 */
void khttpd_peer_put(struct khttpd_peer *peer)
{
	struct khttpd_peer_bucket *bucket;

	if (!peer)
		return;
	bucket = &khttpd_peers[peer->bucket];
	spin_lock_bh(&bucket->lock);
	if (!--peer->conns && khttpd_rate_rested(peer->due, ktime_get_ns()))
		khttpd_peer_drop(peer);
	spin_unlock_bh(&bucket->lock);
}

/**
 * khttpd_peer_shake() - may this client have one more TLS handshake?
 * @peer: the client; NULL, who has no limits, may always
 *
 * Context: any but hard interrupts.
 * Return: true, and it is counted until khttpd_peer_shaken().
 */
bool khttpd_peer_shake(struct khttpd_peer *peer)
{
	u32 most = READ_ONCE(khttpd_limits.tls_per_address);
	struct khttpd_peer_bucket *bucket;
	bool may;

	if (!peer)
		return true;
	bucket = &khttpd_peers[peer->bucket];
	spin_lock_bh(&bucket->lock);
	may = !most || peer->shakes < most;
	peer->shakes += may;
	spin_unlock_bh(&bucket->lock);
	return may;
}

/**
 * khttpd_peer_shaken() - a TLS handshake is over
 * @peer: its client, or NULL
 *
 * Context: any but hard interrupts.
 */
void khttpd_peer_shaken(struct khttpd_peer *peer)
{
	struct khttpd_peer_bucket *bucket;

	if (!peer)
		return;
	bucket = &khttpd_peers[peer->bucket];
	spin_lock_bh(&bucket->lock);
	peer->shakes--;
	spin_unlock_bh(&bucket->lock);
}

/**
 * khttpd_peer_blocked() - does a rule block the client of a connection?
 * @rules: a site's rules, or NULL
 * @sk: the connection
 * @client: for whom a trusted proxy speaks there, or NULL
 *
 * Context: any.
 */
bool khttpd_peer_blocked(const struct khttpd_rules *rules, const struct sock *sk,
			 const struct khttpd_endpoint *client)
{
	struct in6_addr address;

	if (!khttpd_access_judges(rules))
		return false;
	if (client)
		memcpy(&address, client->address, sizeof(address));
	else
		khttpd_far(sk, &address);
	return khttpd_access_refuses(rules, address.s6_addr);
}

/**
 * khttpd_peer_rate() - may this client ask for something now?
 * @peer: the client
 *
 * Context: any but hard interrupts.
 * Return: true, and it is counted; false if it asks too fast.
 */
bool khttpd_peer_rate(struct khttpd_peer *peer)
{
	u32 rate = READ_ONCE(khttpd_limits.request_rate);
	struct khttpd_peer_bucket *bucket;
	bool may;

	if (!rate)
		return true;
	bucket = &khttpd_peers[peer->bucket];
	spin_lock_bh(&bucket->lock);
	may = khttpd_rate_take(&peer->due, ktime_get_ns(), rate,
			       READ_ONCE(khttpd_limits.request_burst));
	spin_unlock_bh(&bucket->lock);
	return may;
}

/**
 * khttpd_peer_rate_undo() - what it asked for is asked for again, by somebody else here
 * @peer: the client; it was counted
 *
 * Context: any but hard interrupts.
 */
void khttpd_peer_rate_undo(struct khttpd_peer *peer)
{
	u32 rate = READ_ONCE(khttpd_limits.request_rate);
	struct khttpd_peer_bucket *bucket;

	if (!rate)
		return;
	bucket = &khttpd_peers[peer->bucket];
	spin_lock_bh(&bucket->lock);
	khttpd_rate_undo(&peer->due, rate);
	spin_unlock_bh(&bucket->lock);
}

static void khttpd_peers_forget(struct khttpd_peer_bucket *bucket, u64 now)
{
	struct khttpd_peer *peer;
	struct hlist_node *next;

	spin_lock_bh(&bucket->lock);
	hlist_for_each_entry_safe(peer, next, &bucket->head, node) {
		if (!peer->conns && khttpd_rate_rested(peer->due, now))
			khttpd_peer_drop(peer);
	}
	spin_unlock_bh(&bucket->lock);
}

static void khttpd_peers_sweep(struct work_struct *work)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(khttpd_peers); i++) {
		khttpd_peers_forget(&khttpd_peers[i], ktime_get_ns());
		cond_resched();
	}
	/* The first that comes after this schedules it again. */
	if (atomic_read(&khttpd_peers_known))
		schedule_delayed_work(&khttpd_peer_sweeper, KHTTPD_PEER_SWEEP);
}

/**
 * khttpd_peers_init() - nobody is known
 *
 * Return: 0
 */
int khttpd_peers_init(void)
{
	int i;

	khttpd_peer_seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(khttpd_peers); i++)
		spin_lock_init(&khttpd_peers[i].lock);
	return 0;
}

/**
 * khttpd_peers_exit() - forget all; no connection is left
 */
void khttpd_peers_exit(void)
{
	int i;

	cancel_delayed_work_sync(&khttpd_peer_sweeper);
	for (i = 0; i < ARRAY_SIZE(khttpd_peers); i++)
		khttpd_peers_forget(&khttpd_peers[i], U64_MAX);
	WARN_ON(atomic_read(&khttpd_peers_known));
}
