// SPDX-License-Identifier: GPL-2.0
/* Signed segments (RFC 2385): the keys of a socket, and the hash. Keys are in the kernel's own
 * struct, where native has them; a socket's memory for options (net.core.optmem_max) bounds how
 * many. The hash is the kernel's MD5.
 */
#include <crypto/algapi.h>
#include <crypto/hash.h>
#include <linux/mutex.h>

#include "md5.h"

DEFINE_STATIC_KEY_FALSE(net6_tcp_md5_on);
static DEFINE_MUTEX(md5_lock);
static struct crypto_shash *md5_shash;	/* from the first key on; under md5_lock until then */

/**
 * net6_tcp_md5_start() - make what signs, before a socket's first key
 *
 * Context: process.
 * Return: 0, or what the kernel says if it has no MD5.
 */
int net6_tcp_md5_start(void)
{
	struct crypto_shash *shash;
	int err = 0;

	if (static_key_enabled(&net6_tcp_md5_on))
		return 0;
	mutex_lock(&md5_lock);
	if (!md5_shash) {
		shash = crypto_alloc_shash("md5", 0, 0);
		if (IS_ERR(shash)) {
			err = PTR_ERR(shash);
		} else {
			md5_shash = shash;
			static_branch_enable(&net6_tcp_md5_on);
		}
	}
	mutex_unlock(&md5_lock);
	return err;
}

/**
 * net6_tcp_md5_exit() - no socket is left
 */
void net6_tcp_md5_exit(void)
{
	if (md5_shash)
		crypto_free_shash(md5_shash);
}

static struct tcp_md5sig_info *net6_tcp_md5_info(const struct sock *sk)
{
	return rcu_dereference_check(tcp_sk(sk)->md5sig_info,
				     lockdep_sock_is_held(sk) || rcu_read_lock_bh_held());
}

/**
 * net6_tcp_md5_find() - the key for a peer: of those that fit, the longest prefix's
 * @sk: full socket
 * @peer: its address
 *
 * Context: @sk locked, or BH disabled; the key is there as long.
 * Return: the key or NULL.
 */
struct tcp_md5sig_key *net6_tcp_md5_find(const struct sock *sk, const struct in6_addr *peer)
{
	struct tcp_md5sig_info *info = net6_tcp_md5_info(sk);
	struct tcp_md5sig_key *key, *best = NULL;

	if (!info)
		return NULL;
	hlist_for_each_entry_rcu(key, &info->head, node,
				 lockdep_sock_is_held(sk) || rcu_read_lock_bh_held()) {
		if (ipv6_prefix_equal(&key->addr.a6, peer, key->prefixlen) &&
		    (!best || key->prefixlen > best->prefixlen))
			best = key;
	}
	return best;
}

static struct tcp_md5sig_key *net6_tcp_md5_exact(const struct sock *sk,
						 const struct in6_addr *addr, u8 prefixlen)
{
	struct tcp_md5sig_info *info = net6_tcp_md5_info(sk);
	struct tcp_md5sig_key *key;

	if (!info)
		return NULL;
	hlist_for_each_entry_rcu(key, &info->head, node, lockdep_sock_is_held(sk)) {
		if (key->prefixlen == prefixlen && ipv6_addr_equal(&key->addr.a6, addr))
			return key;
	}
	return NULL;
}

static void net6_tcp_md5_free(struct sock *sk, struct tcp_md5sig_key *key)
{
	hlist_del_rcu(&key->node);
	atomic_sub(sizeof(*key), &sk->sk_omem_alloc);
	kfree_rcu(key, rcu);
}

/**
 * net6_tcp_md5_add() - a key for a prefix of peers, in the place of an older one
 * @sk: locked, or seen by nobody
 * @addr: the prefix
 * @prefixlen: its bits
 * @secret: the key
 * @len: its octets, at most TCP_MD5SIG_MAXKEYLEN
 * @gfp: how to allocate
 *
 * Context: any.
 * Return: 0, or -ENOMEM: no memory, or too many keys.
 */
int net6_tcp_md5_add(struct sock *sk, const struct in6_addr *addr, u8 prefixlen,
		     const u8 *secret, u8 len, gfp_t gfp)
{
	struct tcp_md5sig_info *info = net6_tcp_md5_info(sk);
	struct tcp_md5sig_key *key, *old;

	if (!info) {
		info = kmalloc(sizeof(*info), gfp | __GFP_ACCOUNT);
		if (!info)
			return -ENOMEM;
		INIT_HLIST_HEAD(&info->head);
		rcu_assign_pointer(tcp_sk(sk)->md5sig_info, info);
	}
	key = sock_kmalloc(sk, sizeof(*key), gfp | __GFP_ZERO);
	if (!key)
		return -ENOMEM;
	key->family = AF_INET6;
	key->prefixlen = prefixlen;
	key->addr.a6 = *addr;
	key->keylen = len;
	memcpy(key->key, secret, len);
	old = net6_tcp_md5_exact(sk, addr, prefixlen);
	hlist_add_head_rcu(&key->node, &info->head);
	if (old)
		net6_tcp_md5_free(sk, old);
	return 0;
}

/**
 * net6_tcp_md5_del() - take the key of a prefix away
 * @sk: locked
 * @addr: the prefix
 * @prefixlen: its bits
 *
 * Context: process.
 * Return: 0 or -ENOENT.
 */
int net6_tcp_md5_del(struct sock *sk, const struct in6_addr *addr, u8 prefixlen)
{
	struct tcp_md5sig_key *key = net6_tcp_md5_exact(sk, addr, prefixlen);

	if (!key)
		return -ENOENT;
	net6_tcp_md5_free(sk, key);
	return 0;
}

/**
 * net6_tcp_md5_inherit() - a child signs with its listener's key for this peer
 * @child: copy of @listener, seen by nobody
 * @listener: its listener
 *
 * Context: softirq.
 * Return: 0 or -ENOMEM: then it must not be a connection.
 */
int net6_tcp_md5_inherit(struct sock *child, const struct sock *listener)
{
	const struct tcp_md5sig_key *key = net6_tcp_md5_key(listener, &child->sk_v6_daddr);

	RCU_INIT_POINTER(tcp_sk(child)->md5sig_info, NULL);
	if (likely(!key))
		return 0;
	return net6_tcp_md5_add(child, &child->sk_v6_daddr, 128, key->key, key->keylen, GFP_ATOMIC);
}

/**
 * net6_tcp_md5_copy() - a connection's key for what takes its place
 * @sk: connection, locked
 * @copy: filled in: the caller frees it with kfree_sensitive(); or NULL
 *
 * Context: any.
 * Return: 0 or -ENOMEM.
 */
int net6_tcp_md5_copy(const struct sock *sk, struct tcp_md5sig_key **copy)
{
	const struct tcp_md5sig_key *key = net6_tcp_md5_key(sk, &sk->sk_v6_daddr);

	*copy = NULL;
	if (likely(!key))
		return 0;
	*copy = kmemdup(key, sizeof(*key), GFP_ATOMIC);
	return *copy ? 0 : -ENOMEM;
}

/**
 * net6_tcp_md5_forget() - a socket is at its end
 * @sk: in state CLOSE; others may still look at a listener
 *
 * Context: any.
 */
void net6_tcp_md5_forget(struct sock *sk)
{
	struct tcp_md5sig_info *info = rcu_dereference_protected(tcp_sk(sk)->md5sig_info, 1);
	struct tcp_md5sig_key *key;
	struct hlist_node *next;

	if (likely(!info))
		return;
	RCU_INIT_POINTER(tcp_sk(sk)->md5sig_info, NULL);
	hlist_for_each_entry_safe(key, next, &info->head, node)
		net6_tcp_md5_free(sk, key);
	kfree_rcu(info, rcu);
}

/* RFC 2385 2.0: pseudo-header, TCP header without options and checksum, data, key. */
static int net6_tcp_md5_hash(struct shash_desc *desc, const struct tcp_md5sig_key *key,
			     const struct in6_addr *saddr, const struct in6_addr *daddr,
			     const struct sk_buff *skb, u8 *hash)
{
	struct {
		struct tcp6_pseudohdr	pseudo;
		struct tcphdr		th;
	} __packed head = {
		.pseudo.saddr		= *saddr,
		.pseudo.daddr		= *daddr,
		.pseudo.len		= cpu_to_be32(skb->len),
		.pseudo.protocol	= cpu_to_be32(IPPROTO_TCP),
	};
	const struct tcphdr *th = (const struct tcphdr *)skb->data;
	unsigned int len, done = 0;
	struct skb_seq_state state;
	const u8 *data;
	int err;

	head.th = *th;
	head.th.check = 0;
	err = crypto_shash_init(desc) ?: crypto_shash_update(desc, (u8 *)&head, sizeof(head));
	if (err)
		return err;
	skb_prepare_seq_read((struct sk_buff *)skb, th->doff * 4, skb->len, &state);
	while ((len = skb_seq_read(done, &data, &state))) {
		err = err ?: crypto_shash_update(desc, data, len);
		done += len;
	}
	return err ?: crypto_shash_finup(desc, key->key, key->keylen, hash);
}

/**
 * net6_tcp_md5_sign() - a segment's signature
 * @hash: where the 16 octets go
 * @key: with this key
 * @saddr: from
 * @daddr: to
 * @skb: data at the TCP header, which is complete but for hash and checksum
 *
 * If the kernel's MD5 fails the hash is 0, and the peer does not take the segment.
 * Context: any.
 */
noinline_for_stack
void net6_tcp_md5_sign(u8 *hash, const struct tcp_md5sig_key *key, const struct in6_addr *saddr,
		       const struct in6_addr *daddr, const struct sk_buff *skb)
{
	SHASH_DESC_ON_STACK(desc, md5_shash);

	desc->tfm = md5_shash;
	if (net6_tcp_md5_hash(desc, key, saddr, daddr, skb, hash))
		memset(hash, 0, NET6_TCP_MD5_SIZE);
	shash_desc_zero(desc);
}

/* The signature of a received segment, or NULL. */
static const u8 *net6_tcp_md5_of(const struct sk_buff *skb)
{
	const struct tcphdr *th = (const struct tcphdr *)skb->data;

	return net6_tcp_find_md5((const u8 *)(th + 1), th->doff * 4 - sizeof(*th));
}

static bool net6_tcp_md5_valid(const struct sk_buff *skb, const struct tcp_md5sig_key *key,
			       const u8 *got)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	u8 hash[NET6_TCP_MD5_SIZE];

	net6_tcp_md5_sign(hash, key, &h->saddr, &h->daddr, skb);
	return !crypto_memneq(hash, got, sizeof(hash));
}

/**
 * net6_tcp_md5_check() - may a socket believe a segment?
 * @nn: namespace
 * @sk: connection, or the listener of a request or SYN
 * @skb: data at the TCP header; consumed if not
 * @got: the signature in it, or NULL
 *
 * RFC 2385 2.0: with a key the signature must be there and right; no answer if not. Without one
 * there must be none, as on the native stack.
 * Context: softirq, RCU read lock held.
 */
bool net6_tcp_md5_check(struct net6_net *nn, const struct sock *sk, struct sk_buff *skb,
			const u8 *got)
{
	const struct tcp_md5sig_key *key = net6_tcp_md5_key(sk, &ipv6_hdr(skb)->saddr);

	if (!key && !got)
		return true;
	if (!got) {
		NET6_INC(nn, TcpMD5NotFound);
		net6_drop(nn, skb, NET6_DROP_TCP_MD5_MISSING);
	} else if (!key) {
		NET6_INC(nn, TcpMD5Unexpected);
		net6_drop(nn, skb, NET6_DROP_TCP_MD5_UNEXPECTED);
	} else if (!net6_tcp_md5_valid(skb, key, got)) {
		NET6_INC(nn, TcpMD5Failure);
		net6_drop(nn, skb, NET6_DROP_TCP_MD5_WRONG);
	} else {
		return true;
	}
	return false;
}

/**
 * net6_tcp_md5_reset_key() - what a reset is to be signed with
 * @sk: whose reset it is: full socket, or TIME-WAIT
 * @skb: the segment that is answered; borrowed
 *
 * Context: BH disabled; the key is there as long.
 * Return: a key, or NULL.
 */
struct tcp_md5sig_key *net6_tcp_md5_reset_key(const struct sock *sk, const struct sk_buff *skb)
{
	if (sk->sk_state == TCP_TIME_WAIT)
		return ((const struct net6_tcp_tw *)sk)->md5;
	return sk_fullsock(sk) ? net6_tcp_md5_key(sk, &ipv6_hdr(skb)->saddr) : NULL;
}

/**
 * net6_tcp_md5_strange() - the same of a segment that no connection knows
 * @signer: a listener that may have a key for the sender, or NULL
 * @skb: the segment, data at the TCP header; borrowed
 * @key: filled in: a key, or NULL
 *
 * Context: BH disabled; the key is there as long.
 * Return: false if there is to be no reset: the peer signs, and would not believe it.
 */
bool net6_tcp_md5_strange(const struct sock *signer, const struct sk_buff *skb,
			  struct tcp_md5sig_key **key)
{
	const u8 *got = net6_tcp_md5_of(skb);

	*key = NULL;
	if (!got)
		return true;
	if (signer)
		*key = net6_tcp_md5_key(signer, &ipv6_hdr(skb)->saddr);
	return *key && net6_tcp_md5_valid(skb, *key, got);
}
