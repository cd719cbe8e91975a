// SPDX-License-Identifier: GPL-2.0
/* Security modules and BPF programs of control groups (BPF_PROG_TYPE_SOCK_OPS) are asked about
 * connections as native TCP asks them.
 *
 * Both know embryonic connections as struct request_sock, of which a struct net6_tcp_request has
 * the beginning only. A copy of the kernel's shape, on the stack while they are asked, has what
 * they would read and write behind it.
 *
 * Limits: programs are not asked about header options (BPF_SOCK_OPS_*_HDR_OPT*). A label that
 * a security module would have in the SYN-ACK (CALIPSO) is not sent: the SYN is refused.
 */
#include <linux/security.h>
#include <net/ipv6.h>

#include "conn/conn.h"
#include "engine/entry.h"
#include "lsm_ops.h"

/* Security modules look at the family. */
static const struct request_sock_ops net6_tcp_lsm_request_ops = {
	.family		= AF_INET6,
	.obj_size	= sizeof(struct tcp_request_sock),
};

/* The kernel's shape of a request. Values that have not been agreed yet are zero, as on native.
 * There is no copy of the SYN either.
 */
static void net6_tcp_lsm_shape(struct inet_request_sock *ireq, const struct net6_tcp_request *req)
{
	struct sock_common *common = &ireq->req.__req_common;

	memset(ireq, 0, sizeof(*ireq));
	common->skc_family = req->common.skc_family;
	common->skc_state = req->common.skc_state;
	common->skc_reuse = req->common.skc_reuse;
	common->skc_reuseport = req->common.skc_reuseport;
	common->skc_prot = req->common.skc_prot;
	common->skc_net = req->common.skc_net;
	common->skc_portpair = req->common.skc_portpair;
	common->skc_v6_daddr = req->common.skc_v6_daddr;
	common->skc_v6_rcv_saddr = req->common.skc_v6_rcv_saddr;
	common->skc_bound_dev_if = req->common.skc_bound_dev_if;
	common->skc_listener = req->listener;
	ireq->ir_mark = READ_ONCE(req->listener->sk_mark);
	ireq->req.rsk_ops = &net6_tcp_lsm_request_ops;
	ireq->req.ts_recent = req->ts_recent;
	ireq->req.secid = req->secid;
	ireq->req.peer_secid = req->peer_secid;
	ireq->tstamp_ok = req->tstamp_ok;
}

/* The same with what follows in TCP's. */
static void net6_tcp_lsm_shape_tcp(struct tcp_request_sock *treq,
				   const struct net6_tcp_request *req)
{
	memset(treq, 0, sizeof(*treq));
	net6_tcp_lsm_shape(&treq->req, req);
	treq->rcv_isn = req->rcv_isn;
}

/* The child that somebody else's operations make of the listener. */
static noinline_for_stack struct sock *
net6_tcp_lsm_clone_by(const struct inet_connection_sock_af_ops *ops, struct sock *listener,
		      struct sk_buff *skb, const struct net6_tcp_request *req)
{
	struct tcp_request_sock treq;

	net6_tcp_lsm_shape_tcp(&treq, req);
	return net6_compat_syn_recv(ops, listener, skb, &treq.req.req);
}

/**
 * net6_tcp_lsm_request() - may this SYN ask for a connection? What will it be to the policy?
 * @listener: whom it asks
 * @skb: SYN, or what answers a SYN cookie; data at the TCP header
 * @req: made of it, in no table; what the module says of it is kept there for the child
 *
 * Context: softirq, RCU read lock held.
 * Return: 0 or -errno: it is to be dropped.
 */
int net6_tcp_lsm_request(struct sock *listener, struct sk_buff *skb,
			 struct net6_tcp_request *req)
{
	struct ipv6_txoptions *label;
	struct inet_request_sock ireq;
	int err;

	net6_tcp_lsm_shape(&ireq, req);
	err = security_inet_conn_request(listener, skb, &ireq.req);
	req->secid = ireq.req.secid;
	req->peer_secid = ireq.req.peer_secid;
	label = ireq.ipv6_opt;
	if (likely(!label))
		return err;
	/* calipso_req_setattr() charged it to the listener. */
	atomic_sub(label->tot_len, &listener->sk_omem_alloc);
	txopt_put(label);
	return err ?: -EOPNOTSUPP;
}

/**
 * net6_tcp_lsm_clone() - the copy of a listener that becomes a child
 * @listener: its listener
 * @skb: segment that completes the handshake
 * @req: what was agreed
 *
 * The security module gives it what it said of the request. Who put operations of its own in
 * the listener (SMC) may want no more connections now.
 * Context: softirq, RCU read lock held.
 * Return: the child in SYN-RECEIVED, locked by its spinlock, with two references, or NULL.
 */
struct sock *net6_tcp_lsm_clone(struct sock *listener, struct sk_buff *skb,
				struct net6_tcp_request *req)
{
	const struct inet_connection_sock_af_ops *ops = READ_ONCE(inet_csk(listener)->icsk_af_ops);
	struct inet_request_sock ireq;

	if (unlikely(ops != &net6_tcp_native_ops))
		return net6_tcp_lsm_clone_by(ops, listener, skb, req);
	net6_tcp_lsm_shape(&ireq, req);
	return net6_compat_sk_clone(listener, &ireq.req, GFP_ATOMIC);
}

/**
 * net6_tcp_ops_call() - ask the programs of a socket's control group
 * @sk: locked
 * @op: BPF_SOCK_OPS_*
 * @a: first argument
 * @b: second
 * @c: third
 *
 * Context: any.
 * Return: what a program replied, or -1 if there is none, or it said no.
 */
int net6_tcp_ops_call(struct sock *sk, int op, u32 a, u32 b, u32 c)
{
	return tcp_call_bpf_3arg(sk, op, a, b, c);
}

/**
 * net6_tcp_ops_call_request() - the same about an embryonic connection: those of its listener
 * @req: request
 * @op: BPF_SOCK_OPS_*
 *
 * Context: softirq.
 * Return: as net6_tcp_ops_call().
 */
int net6_tcp_ops_call_request(const struct net6_tcp_request *req, int op)
{
	struct tcp_request_sock treq;

	net6_tcp_lsm_shape_tcp(&treq, req);
	return tcp_call_bpf((struct sock *)&treq, op, 0, NULL);
}

/**
 * net6_tcp_ops_call_established() - tell the programs that the handshake is done
 * @sk: locked
 * @op: BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB or BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB
 * @skb: by this segment, whose header they may read; data at the TCP header
 *
 * Context: any.
 */
void net6_tcp_ops_call_established(struct sock *sk, int op, struct sk_buff *skb)
{
	struct bpf_sock_ops_kern ops;

	sock_owned_by_me(sk);
	/* Native clears as much: the rest is a program's scratch. */
	memset(&ops, 0, offsetof(struct bpf_sock_ops_kern, temp));
	ops.op = op;
	ops.is_fullsock = 1;
	ops.sk = sk;
	bpf_skops_init_skb(&ops, skb, tcp_hdrlen(skb));
	BPF_CGROUP_RUN_PROG_SOCK_OPS_SK(&ops, sk);
}
