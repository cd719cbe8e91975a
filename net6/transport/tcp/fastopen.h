/* SPDX-License-Identifier: GPL-2.0 */
/* What other files of TCP ask of TCP Fast Open (RFC 7413). All: sk locked. */
#ifndef _NET6_TCP_FASTOPEN_H
#define _NET6_TCP_FASTOPEN_H

#include "tcp.h"

/* Does this connection wait for its first data before it sends the SYN? */
static inline bool net6_tcp_deferred(const struct sock *sk)
{
	return inet_sk(sk)->defer_connect;
}

int  net6_tcp_fastopen_connect(struct sock *sk);
int  net6_tcp_fastopen_send(struct sock *sk, struct msghdr *msg, size_t size, int *copied);
int  net6_tcp_fastopen_start(struct sock *sk);
void net6_tcp_fastopen_syn(struct sock *sk, struct sk_buff *syn);
void net6_tcp_fastopen_synack(struct sock *sk, const struct net6_tcp_opts *o);
void net6_tcp_fastopen_cross(struct sock *sk);
void net6_tcp_fastopen_forget(struct sock *sk);
void net6_tcp_fastopen_net_exit(struct net6_tcp_net *tn);

#endif /* _NET6_TCP_FASTOPEN_H */
