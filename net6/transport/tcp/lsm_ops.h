/* SPDX-License-Identifier: GPL-2.0 */
/* Security modules and the administrator's BPF programs have a say about connections (lsm_ops.c):
 * where native TCP asks them, we do. Without a program of that kind on the machine asking costs a
 * jump that is not taken.
 */
#ifndef _NET6_TCP_LSM_OPS_H
#define _NET6_TCP_LSM_OPS_H

#include <linux/bpf-cgroup.h>
#include <linux/filter.h>

#include "tcp.h"

struct net6_tcp_request;

int  net6_tcp_lsm_request(struct sock *listener, struct sk_buff *skb,
			  struct net6_tcp_request *req);
struct sock *net6_tcp_lsm_clone(struct sock *listener, struct sk_buff *skb,
				struct net6_tcp_request *req);

int  net6_tcp_ops_call(struct sock *sk, int op, u32 a, u32 b, u32 c);
int  net6_tcp_ops_call_request(const struct net6_tcp_request *req, int op);
void net6_tcp_ops_call_established(struct sock *sk, int op, struct sk_buff *skb);

/* Is there any BPF_PROG_TYPE_SOCK_OPS program? Whose it is the call finds out. */
static inline bool net6_tcp_ops_on(void)
{
	return cgroup_bpf_enabled(CGROUP_SOCK_OPS);
}

/* Has a program asked to be told of this (BPF_SOCK_OPS_*_CB_FLAG) about @sk? */
static inline bool net6_tcp_ops_want(const struct sock *sk, u32 flag)
{
	return net6_tcp_ops_on() && BPF_SOCK_OPS_TEST_FLAG(tcp_sk(sk), flag);
}

/* Tell of @op; sk locked. */
static inline void net6_tcp_ops_tell(struct sock *sk, int op)
{
	if (net6_tcp_ops_on())
		net6_tcp_ops_call(sk, op, 0, 0, 0);
}

/* The handshake is done, by @skb. */
static inline void net6_tcp_ops_established(struct sock *sk, int op, struct sk_buff *skb)
{
	if (net6_tcp_ops_on())
		net6_tcp_ops_call_established(sk, op, skb);
}

/* The first time-out that a program wants, in jiffies: of what it returned. */
static inline u32 net6_tcp_ops_rto(int said)
{
	return said > 0 ? min_t(u32, said, TCP_RTO_MAX) : TCP_TIMEOUT_INIT;
}

/* The first time-out of a SYN or of Fast Open's SYN-ACK. */
static inline u32 net6_tcp_ops_timeout(struct sock *sk)
{
	if (!net6_tcp_ops_on())
		return TCP_TIMEOUT_INIT;
	return net6_tcp_ops_rto(net6_tcp_ops_call(sk, BPF_SOCK_OPS_TIMEOUT_INIT, 0, 0, 0));
}

/* The first window that a program wants, in segments; 0: as it is. More than a window without
 * scale can say is no more than that.
 */
static inline u32 net6_tcp_ops_segments(int said)
{
	return clamp(said, 0, U16_MAX);
}

/* Does a program want ECN for this connection? */
static inline bool net6_tcp_ops_ecn(struct sock *sk)
{
	return net6_tcp_ops_on() &&
	       net6_tcp_ops_call(sk, BPF_SOCK_OPS_NEEDS_ECN, 0, 0, 0) == 1;
}

#endif /* _NET6_TCP_LSM_OPS_H */
