/* SPDX-License-Identifier: GPL-2.0 */
/* What other files of TCP ask of TCP Fast Open (RFC 7413). All: sk locked, unless said. */
#ifndef _NET6_TCP_FASTOPEN_H
#define _NET6_TCP_FASTOPEN_H

#include "../../../compat/inet_sock.h"
#include "conn.h"

/* Does this connection wait for its first data before it sends the SYN? */
static inline bool net6_tcp_deferred(const struct sock *sk)
{
	return net6_opt(sk, DEFER_CONNECT);
}

int  net6_tcp_fastopen_connect(struct sock *sk);
int  net6_tcp_fastopen_send(struct sock *sk, struct msghdr *msg, size_t size,
			    struct ubuf_info *uarg, int *copied);
int  net6_tcp_fastopen_start(struct sock *sk);
void net6_tcp_fastopen_syn(struct sock *sk, struct sk_buff *syn);
void net6_tcp_fastopen_synack(struct sock *sk, const struct net6_tcp_opts *o);
void net6_tcp_fastopen_too_big(struct sock *sk);
void net6_tcp_fastopen_cross(struct sock *sk);
void net6_tcp_fastopen_forget(struct sock *sk);
void net6_tcp_fastopen_net_exit(struct net6_tcp_net *tn);

/* Is this a child whose handshake's ACK has not come? */
static inline bool net6_tcp_fastopen_pending(const struct sock *sk)
{
	return rcu_access_pointer(tcp_sk(sk)->fastopen_rsk);
}

/* fopassive.c; request and stop: the listener is not locked */
bool net6_tcp_fastopen_request(struct sock *listener, struct sk_buff *skb,
			       struct net6_tcp_request *req, const struct net6_tcp_opts *o);
bool net6_tcp_fastopen_check(struct sock *sk, struct sk_buff *skb);
void net6_tcp_fastopen_opened(struct sock *sk);
void net6_tcp_fastopen_gone(struct sock *sk, bool reset);
void net6_tcp_fastopen_stop(struct sock *listener);

/* fokeys.c; no lock */
void net6_tcp_fastopen_net_key(struct net *net);
int  net6_tcp_fastopen_set_key(struct sock *sk, sockptr_t optval, unsigned int optlen);
int  net6_tcp_fastopen_get_key(struct sock *sk, u8 *keys);
void net6_tcp_fastopen_forget_key(struct sock *sk);
int  net6_tcp_fastopen_cookie(const struct net6_tcp_request *req, void *cookie);
int  net6_tcp_fastopen_cookie_key(const struct net6_tcp_request *req,
				  const struct net6_tcp_opts *o);

#endif /* _NET6_TCP_FASTOPEN_H */
