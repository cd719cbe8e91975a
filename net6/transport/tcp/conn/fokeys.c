// SPDX-License-Identifier: GPL-2.0
/* The keys of Fast Open cookies that a server gives (RFC 7413 4.1.2), and the cookies. A key is
 * a listener's (TCP_FASTOPEN_KEY) or the namespace's, which is the native stack's: one
 * net.ipv4.tcp_fastopen_key serves both, and one cookie is good for both.
 */
#include <crypto/algapi.h>
#include <linux/siphash.h>

#include "../../../compat/unaligned.h"
#include "conn.h"
#include "fastopen.h"

static struct tcp_fastopen_context *net6_tcp_fo_make(const u8 *keys, int n)
{
	struct tcp_fastopen_context *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	int i;

	if (!ctx)
		return NULL;
	for (i = 0; i < n; i++, keys += TCP_FASTOPEN_KEY_LENGTH) {
		ctx->key[i].key[0] = get_unaligned_le64(keys);
		ctx->key[i].key[1] = get_unaligned_le64(keys + 8);
	}
	ctx->num = n;
	return ctx;
}

/**
 * net6_tcp_fastopen_net_key() - see that the namespace has a key
 * @net: namespace
 *
 * Without memory there is none and no cookie is given. The native stack frees it.
 * Context: process.
 */
void net6_tcp_fastopen_net_key(struct net *net)
{
	struct tcp_fastopen_context *ctx;
	u8 key[TCP_FASTOPEN_KEY_LENGTH];

	if (rcu_access_pointer(net->ipv4.tcp_fastopen_ctx))
		return;
	get_random_bytes(key, sizeof(key));
	ctx = net6_tcp_fo_make(key, 1);
	memzero_explicit(key, sizeof(key));
	if (ctx && cmpxchg((__force struct tcp_fastopen_context **)&net->ipv4.tcp_fastopen_ctx,
			   NULL, ctx))
		kfree_sensitive(ctx);
}

static struct tcp_fastopen_context __rcu **net6_tcp_fo_own(struct sock *sk)
{
	return &inet_csk(sk)->icsk_accept_queue.fastopenq.ctx;
}

static void net6_tcp_fo_free(struct rcu_head *head)
{
	kfree_sensitive(container_of(head, struct tcp_fastopen_context, rcu));
}

/* Gives a listener other keys, or none. */
static void net6_tcp_fo_replace(struct sock *sk, struct tcp_fastopen_context *ctx)
{
	ctx = xchg((__force struct tcp_fastopen_context **)net6_tcp_fo_own(sk), ctx);
	if (ctx)
		call_rcu(&ctx->rcu, net6_tcp_fo_free);
}

/**
 * net6_tcp_fastopen_set_key() - setsockopt(TCP_FASTOPEN_KEY)
 * @sk: socket
 * @optval: the current key, or that and the one before
 * @optlen: 16 or 32
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int net6_tcp_fastopen_set_key(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	u8 keys[TCP_FASTOPEN_KEY_BUF_LENGTH];
	struct tcp_fastopen_context *ctx;

	if (optlen != TCP_FASTOPEN_KEY_LENGTH && optlen != TCP_FASTOPEN_KEY_BUF_LENGTH)
		return -EINVAL;
	if (copy_from_sockptr(keys, optval, optlen))
		return -EFAULT;
	ctx = net6_tcp_fo_make(keys, optlen / TCP_FASTOPEN_KEY_LENGTH);
	memzero_explicit(keys, sizeof(keys));
	if (!ctx)
		return -ENOMEM;
	net6_tcp_fo_replace(sk, ctx);
	return 0;
}

/**
 * net6_tcp_fastopen_get_key() - getsockopt(TCP_FASTOPEN_KEY)
 * @sk: socket
 * @keys: room for TCP_FASTOPEN_KEY_BUF_LENGTH bytes
 *
 * Context: any.
 * Return: bytes filled in: 0, 16 or 32.
 */
int net6_tcp_fastopen_get_key(struct sock *sk, u8 *keys)
{
	struct tcp_fastopen_context *ctx;
	int i, n = 0;

	rcu_read_lock();
	ctx = rcu_dereference(*net6_tcp_fo_own(sk));
	if (ctx) {
		n = ctx->num;
		for (i = 0; i < n; i++, keys += TCP_FASTOPEN_KEY_LENGTH) {
			put_unaligned_le64(ctx->key[i].key[0], keys);
			put_unaligned_le64(ctx->key[i].key[1], keys + 8);
		}
	}
	rcu_read_unlock();
	return n * TCP_FASTOPEN_KEY_LENGTH;
}

/**
 * net6_tcp_fastopen_forget_key() - a socket goes away that has keys of its own
 * @sk: socket
 *
 * Context: any.
 */
void net6_tcp_fastopen_forget_key(struct sock *sk)
{
	net6_tcp_fo_replace(sk, NULL);
}

/* As in the native stack: of the addresses of the SYN, the client's first. */
static __le64 net6_tcp_fo_cookie_of(const struct net6_tcp_request *req, const siphash_key_t *key)
{
	struct {
		struct in6_addr client;
		struct in6_addr server;
	} __aligned(SIPHASH_ALIGNMENT) pair = {
		.client = req->common.skc_v6_daddr,
		.server = req->common.skc_v6_rcv_saddr,
	};

	BUILD_BUG_ON(sizeof(__le64) != TCP_FASTOPEN_COOKIE_SIZE);
	return cpu_to_le64(siphash(&pair, sizeof(pair), key));
}

/**
 * net6_tcp_fastopen_cookie() - the cookie for a client
 * @req: its request
 * @cookie: room for TCP_FASTOPEN_COOKIE_SIZE bytes
 *
 * Context: any.
 * Return: its length, 0 if there is no key.
 */
int net6_tcp_fastopen_cookie(const struct net6_tcp_request *req, void *cookie)
{
	struct tcp_fastopen_context *ctx;
	__le64 value;
	int len = 0;

	rcu_read_lock();
	ctx = tcp_fastopen_get_ctx(req->listener);
	if (ctx) {
		value = net6_tcp_fo_cookie_of(req, &ctx->key[0]);
		len = sizeof(value);
		memcpy(cookie, &value, len);
	}
	rcu_read_unlock();
	return len;
}

/**
 * net6_tcp_fastopen_cookie_key() - is it a cookie that we gave?
 * @req: the request it came with
 * @o: options of its SYN
 *
 * Context: any.
 * Return: which key it was made with: 1 the current one, 2 the one before; 0 none.
 */
int net6_tcp_fastopen_cookie_key(const struct net6_tcp_request *req, const struct net6_tcp_opts *o)
{
	struct tcp_fastopen_context *ctx;
	int i, found = 0;
	__le64 value;

	if (o->fastopen_len != sizeof(value))
		return 0;
	rcu_read_lock();
	ctx = tcp_fastopen_get_ctx(req->listener);
	for (i = 0; ctx && i < ctx->num && !found; i++) {
		value = net6_tcp_fo_cookie_of(req, &ctx->key[i]);
		if (!crypto_memneq(&value, o->fastopen, sizeof(value)))
			found = i + 1;
	}
	rcu_read_unlock();
	return found;
}
