/* SPDX-License-Identifier: GPL-2.0 */
/* Segments that are signed with MD5 and a key that both ends know (RFC 2385), as BGP's are. Who
 * has no key pays a branch that is patched out until the first socket gets one.
 */
#ifndef _NET6_TCP_MD5_H
#define _NET6_TCP_MD5_H

#include <linux/jump_label.h>

#include "conn.h"

#ifdef CONFIG_TCP_MD5SIG

DECLARE_STATIC_KEY_FALSE(net6_tcp_md5_on);

struct tcp_md5sig_key *net6_tcp_md5_find(const struct sock *sk, const struct in6_addr *peer);
int  net6_tcp_md5_start(void);
int  net6_tcp_md5_add(struct sock *sk, const struct in6_addr *addr, u8 prefixlen,
		      const u8 *secret, u8 len, gfp_t gfp);
int  net6_tcp_md5_del(struct sock *sk, const struct in6_addr *addr, u8 prefixlen);
int  net6_tcp_md5_inherit(struct sock *child, const struct sock *listener);
int  net6_tcp_md5_copy(const struct sock *sk, struct tcp_md5sig_key **copy);
void net6_tcp_md5_forget(struct sock *sk);
void net6_tcp_md5_exit(void);
void net6_tcp_md5_sign(u8 *hash, const struct tcp_md5sig_key *key, const struct in6_addr *saddr,
		       const struct in6_addr *daddr, const struct sk_buff *skb);
bool net6_tcp_md5_check(struct net6_net *nn, const struct sock *sk, struct sk_buff *skb,
			const u8 *got);
struct tcp_md5sig_key *net6_tcp_md5_reset_key(const struct sock *sk, const struct sk_buff *skb);
bool net6_tcp_md5_strange(const struct sock *signer, const struct sk_buff *skb,
			  struct tcp_md5sig_key **key);

/**
 * net6_tcp_md5_key() - what a socket signs with
 * @sk: full socket
 * @peer: for whom
 *
 * Context: @sk locked, or BH disabled; the key is there as long.
 * Return: a key, or NULL: segments are not signed.
 */
static inline struct tcp_md5sig_key *net6_tcp_md5_key(const struct sock *sk,
						      const struct in6_addr *peer)
{
	if (!static_branch_unlikely(&net6_tcp_md5_on) ||
	    !rcu_access_pointer(tcp_sk(sk)->md5sig_info))
		return NULL;
	return net6_tcp_md5_find(sk, peer);
}

/* Has any socket had keys? */
static inline bool net6_tcp_md5_on_any(void)
{
	return static_branch_unlikely(&net6_tcp_md5_on);
}

/* Has it keys? Then segments leave one by one: each has a signature of its own. */
static inline bool net6_tcp_md5_has(const struct sock *sk)
{
	return static_branch_unlikely(&net6_tcp_md5_on) &&
	       rcu_access_pointer(tcp_sk(sk)->md5sig_info);
}

#else

static inline int net6_tcp_md5_start(void)
{
	return -ENOPROTOOPT;
}

static inline int net6_tcp_md5_add(struct sock *sk, const struct in6_addr *addr, u8 prefixlen,
				   const u8 *secret, u8 len, gfp_t gfp)
{
	return -ENOPROTOOPT;
}

static inline int net6_tcp_md5_del(struct sock *sk, const struct in6_addr *addr, u8 prefixlen)
{
	return -ENOPROTOOPT;
}

static inline int net6_tcp_md5_inherit(struct sock *child, const struct sock *listener)
{
	return 0;
}

static inline int net6_tcp_md5_copy(const struct sock *sk, struct tcp_md5sig_key **copy)
{
	*copy = NULL;
	return 0;
}

static inline void net6_tcp_md5_forget(struct sock *sk) {}
static inline void net6_tcp_md5_exit(void) {}

static inline void net6_tcp_md5_sign(u8 *hash, const struct tcp_md5sig_key *key,
				     const struct in6_addr *saddr, const struct in6_addr *daddr,
				     const struct sk_buff *skb) {}

static inline bool net6_tcp_md5_check(struct net6_net *nn, const struct sock *sk,
				      struct sk_buff *skb, const u8 *got)
{
	return true;
}

static inline struct tcp_md5sig_key *net6_tcp_md5_reset_key(const struct sock *sk,
							    const struct sk_buff *skb)
{
	return NULL;
}

static inline bool net6_tcp_md5_strange(const struct sock *signer, const struct sk_buff *skb,
					struct tcp_md5sig_key **key)
{
	*key = NULL;
	return true;
}

static inline struct tcp_md5sig_key *net6_tcp_md5_key(const struct sock *sk,
						      const struct in6_addr *peer)
{
	return NULL;
}

static inline bool net6_tcp_md5_on_any(void)
{
	return false;
}

static inline bool net6_tcp_md5_has(const struct sock *sk)
{
	return false;
}

#endif /* CONFIG_TCP_MD5SIG */

/* Octets of a connection's headers that its signature takes. @sk locked. */
static inline unsigned int net6_tcp_md5_room(const struct sock *sk)
{
	return net6_tcp_md5_key(sk, &sk->sk_v6_daddr) ? NET6_TCPOLEN_MD5_ALIGNED : 0;
}

/* The segment's place for a signature. Returns where the hash goes. */
static inline u8 *net6_tcp_md5_write(u8 *p)
{
	p[0] = NET6_TCPOPT_NOP;
	p[1] = NET6_TCPOPT_NOP;
	p[2] = NET6_TCPOPT_MD5;
	p[3] = NET6_TCPOLEN_MD5;
	return p + 4;
}

#endif /* _NET6_TCP_MD5_H */
