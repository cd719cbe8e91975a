// SPDX-License-Identifier: GPL-2.0
/* sock_diag for AF_INET6 in takeover mode: what is told of sockets (ss -6, ss -6ti). Filters of
 * addresses and ports are left to the program, as ss applies its own.
 */
#include <linux/inet_diag.h>
#include <linux/slab.h>
#include <linux/sock_diag.h>
#include <net/inet_sock.h>
#include <net/netlink.h>

#include "../compat/inet_sock.h"
#include "../compat/sock.h"
#include "../socket/sock.h"
#include "../transport/dgram.h"
#include "../transport/tcp/calls/calls.h"
#include "../transport/tcp/conn/conn.h"
#include "diag.h"

/**
 * net6_diag_init_one() - begin to answer a request
 * @d: result; its copy is for kfree()
 * @skb: answer
 * @to: the request's, of who asks
 * @nlh: its header
 * @req: what is asked for, as long as @d is used
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_diag_init_one(struct net6_diag *d, struct sk_buff *skb, struct sk_buff *to,
		       const struct nlmsghdr *nlh, const struct inet_diag_req_v2 *req)
{
	*d = (struct net6_diag) {
		.skb		= skb,
		.nlh		= nlh,
		.portid		= NETLINK_CB(to).portid,
		.req		= req,
		.userns		= sk_user_ns(NETLINK_CB(to).sk),
		.net_admin	= netlink_net_capable(to, CAP_NET_ADMIN),
	};
	if (req->sdiag_protocol != IPPROTO_TCP || !(req->idiag_ext & (1 << (INET_DIAG_INFO - 1))))
		return 0;
	d->copy = kmalloc(sizeof(*d->copy), GFP_KERNEL);
	return d->copy ? 0 : -ENOMEM;
}

static bool net6_diag_ext(const struct net6_diag *d, int attr)
{
	return d->req->idiag_ext & (1 << (attr - 1));
}

static struct inet_diag_msg *net6_diag_begin(struct net6_diag *d, struct sock *sk, u8 state,
					     struct nlmsghdr **nlhp)
{
	struct inet_diag_msg *r;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(d->skb, d->portid, d->nlh->nlmsg_seq, d->nlh->nlmsg_type, sizeof(*r),
			d->flags);
	*nlhp = nlh;
	if (!nlh)
		return NULL;
	r = nlmsg_data(nlh);
	memset(r, 0, sizeof(*r));
	r->idiag_family = AF_INET6;
	r->idiag_state = state;
	r->id.idiag_sport = htons(READ_ONCE(sk->sk_num));
	r->id.idiag_dport = READ_ONCE(sk->sk_dport);
	memcpy(r->id.idiag_src, &sk->sk_v6_rcv_saddr, sizeof(r->id.idiag_src));
	memcpy(r->id.idiag_dst, &sk->sk_v6_daddr, sizeof(r->id.idiag_dst));
	r->id.idiag_if = READ_ONCE(sk->sk_bound_dev_if);
	sock_diag_save_cookie(sk, r->id.idiag_cookie);
	return r;
}

static void net6_diag_sockopt(const struct sock *sk, struct inet_diag_sockopt *o)
{
	memset(o, 0, sizeof(*o));
	o->is_icsk = net6_opt(sk, IS_ICSK);
	o->freebind = net6_opt(sk, FREEBIND);
	o->hdrincl = net6_opt(sk, HDRINCL);
	o->transparent = net6_opt(sk, TRANSPARENT);
	o->bind_address_no_port = net6_opt(sk, BIND_ADDRESS_NO_PORT);
}

/* What full sockets of any type have. */
static int net6_diag_common(struct net6_diag *d, struct sock *sk, struct inet_diag_msg *r)
{
	struct inet_diag_sockopt sockopt;
	struct inet_diag_meminfo mem = {
		.idiag_rmem = sk_rmem_alloc_get(sk),
		.idiag_wmem = READ_ONCE(sk->sk_wmem_queued),
		.idiag_fmem = READ_ONCE(sk->sk_forward_alloc),
		.idiag_tmem = sk_wmem_alloc_get(sk),
	};
	struct sk_buff *skb = d->skb;

	r->idiag_uid = from_kuid_munged(d->userns, net6_compat_sock_uid(sk));
	r->idiag_inode = sock_i_ino(sk);
	net6_diag_sockopt(sk, &sockopt);
	if (nla_put_u8(skb, INET_DIAG_SHUTDOWN, READ_ONCE(sk->sk_shutdown)) ||
	    (net6_diag_ext(d, INET_DIAG_TOS) && nla_put_u8(skb, INET_DIAG_TOS, 0)) ||
	    (net6_diag_ext(d, INET_DIAG_TCLASS) &&
	     nla_put_u8(skb, INET_DIAG_TCLASS, net6_np(sk)->tclass)) ||
	    (((1 << r->idiag_state) & (TCPF_LISTEN | TCPF_CLOSE)) &&
	     nla_put_u8(skb, INET_DIAG_SKV6ONLY, sk->sk_ipv6only)) ||
	    (d->net_admin && nla_put_u32(skb, INET_DIAG_MARK, READ_ONCE(sk->sk_mark))) ||
	    nla_put_u64_64bit(skb, INET_DIAG_CGROUP_ID,
			      cgroup_id(sock_cgroup_ptr(&sk->sk_cgrp_data)), INET_DIAG_PAD) ||
	    nla_put(skb, INET_DIAG_SOCKOPT, sizeof(sockopt), &sockopt) ||
	    (net6_diag_ext(d, INET_DIAG_MEMINFO) &&
	     nla_put(skb, INET_DIAG_MEMINFO, sizeof(mem), &mem)) ||
	    (net6_diag_ext(d, INET_DIAG_SKMEMINFO) &&
	     sock_diag_put_meminfo(sk, skb, INET_DIAG_SKMEMINFO)) ||
	    (sk->sk_type == SOCK_RAW && nla_put_u8(skb, INET_DIAG_PROTOCOL, sk->sk_protocol)))
		return -EMSGSIZE;
	return 0;
}

static void net6_diag_timer(const struct sock *sk, struct inet_diag_msg *r)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u8 pending = READ_ONCE(icsk->icsk_pending);

	if (pending) {
		r->idiag_timer = pending == ICSK_TIME_PROBE0 ? 4 : 1;
		r->idiag_retrans = pending == ICSK_TIME_PROBE0 ? icsk->icsk_probes_out :
			icsk->icsk_retransmits;
		r->idiag_expires =
			jiffies_delta_to_msecs(READ_ONCE(net6_compat_timeout(sk)) - jiffies);
	} else if (timer_pending(net6_compat_keepalive_timer(sk))) {
		r->idiag_timer = 2;
		r->idiag_retrans = icsk->icsk_probes_out;
		r->idiag_expires =
			jiffies_delta_to_msecs(net6_compat_keepalive_timer(sk)->expires - jiffies);
	}
}

static int net6_diag_tcp_info(struct net6_diag *d, struct sock *sk)
{
	const struct tcp_congestion_ops *ca;
	struct nlattr *attr;
	int err = 0;

	if (net6_diag_ext(d, INET_DIAG_INFO)) {
		attr = nla_reserve_64bit(d->skb, INET_DIAG_INFO, sizeof(struct tcp_info),
					 INET_DIAG_PAD);
		if (!attr)
			return -EMSGSIZE;
		net6_tcp_info(sk, nla_data(attr), d->copy);
	}
	if (net6_diag_ext(d, INET_DIAG_CONG)) {
		rcu_read_lock();
		ca = READ_ONCE(inet_csk(sk)->icsk_ca_ops);
		if (ca)
			err = nla_put_string(d->skb, INET_DIAG_CONG, ca->name);
		rcu_read_unlock();
	}
	return err;
}

static int net6_diag_tcp_fill(struct net6_diag *d, struct sock *sk, struct inet_diag_msg *r)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (r->idiag_state == TCP_LISTEN) {
		r->idiag_rqueue = READ_ONCE(sk->sk_ack_backlog);
		r->idiag_wqueue = READ_ONCE(sk->sk_max_ack_backlog);
	} else {
		r->idiag_rqueue = max_t(int, READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq),
					0);
		r->idiag_wqueue = READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
	}
	net6_diag_timer(sk, r);
	return net6_diag_common(d, sk, r) ?: net6_diag_tcp_info(d, sk);
}

/* Requests and TIME-WAIT entries are no full sockets. */
static int net6_diag_mini_fill(struct net6_diag *d, struct sock *sk, struct inet_diag_msg *r)
{
	const struct net6_tcp_request *req;
	const struct net6_tcp_tw *tw;

	if (READ_ONCE(sk->sk_state) == TCP_NEW_SYN_RECV) {
		req = (struct net6_tcp_request *)sk;
		r->idiag_timer = 1;
		r->idiag_retrans = req->retrans;
		r->idiag_expires = jiffies_delta_to_msecs(req->timer.expires - jiffies);
		r->idiag_uid = from_kuid_munged(d->userns, net6_compat_sock_uid(req->listener));
	} else {
		r->idiag_timer = 3;
		tw = (struct net6_tcp_tw *)sk;
		r->idiag_expires = jiffies_delta_to_msecs(tw->timer.expires - jiffies);
	}
	return 0;
}

static int net6_diag_one(struct net6_diag *d, struct sock *sk, u8 state,
			 int (*fill)(struct net6_diag *d, struct sock *sk,
				     struct inet_diag_msg *r))
{
	struct inet_diag_msg *r;
	struct nlmsghdr *nlh;

	if (!(d->req->idiag_states & (1 << state)))
		return 0;
	r = net6_diag_begin(d, sk, state, &nlh);
	if (!r)
		return -EMSGSIZE;
	if (fill(d, sk, r)) {
		nlmsg_cancel(d->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(d->skb, nlh);
	return 0;
}

/**
 * net6_diag_tcp() - a message about a TCP socket, if its state is asked for
 * @sk: socket, request or TIME-WAIT entry, referenced
 * @arg: struct net6_diag
 *
 * Context: process. Return: 0, -EMSGSIZE: there is no room.
 */
int net6_diag_tcp(struct sock *sk, void *arg)
{
	u8 state = READ_ONCE(sk->sk_state);

	if (state == TCP_NEW_SYN_RECV)
		return net6_diag_one(arg, sk, TCP_SYN_RECV, net6_diag_mini_fill);
	if (state == TCP_TIME_WAIT)
		return net6_diag_one(arg, sk, READ_ONCE(((struct net6_tcp_tw *)sk)->substate),
				     net6_diag_mini_fill);
	return net6_diag_one(arg, sk, state, net6_diag_tcp_fill);
}

static int net6_diag_dgram_fill(struct net6_diag *d, struct sock *sk, struct inet_diag_msg *r)
{
	r->idiag_rqueue = sk_rmem_alloc_get(sk);
	r->idiag_wqueue = sk_wmem_alloc_get(sk);
	return net6_diag_common(d, sk, r);
}

static int net6_diag_dgram(struct sock *sk, void *arg)
{
	return net6_diag_one(arg, sk, READ_ONCE(sk->sk_state), net6_diag_dgram_fill);
}

/**
 * net6_diag_dump() - messages about all sockets of a protocol
 * @skb: as many as there is room for
 * @cb: args[0] and [1] are the upper and lower half of the walk's position
 *
 * Context: process. Return: the length of @skb, or -ENOMEM.
 */
int net6_diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct inet_diag_req_v2 *req = nlmsg_data(cb->nlh);
	struct net *net = sock_net(skb->sk);
	u64 pos = (u64)cb->args[0] << 32 | (u32)cb->args[1];
	struct net6_diag d;
	int err;

	err = net6_diag_init_one(&d, skb, cb->skb, cb->nlh, req);
	if (err)
		return err;
	d.flags = NLM_F_MULTI;
	switch (req->sdiag_protocol) {
	case IPPROTO_TCP:
		net6_tcp_walk(net, &pos, net6_diag_tcp, &d);
		break;
	case IPPROTO_UDP:
		net6_udp_walk(net, &pos, net6_diag_dgram, &d);
		break;
	case IPPROTO_RAW:
		net6_raw_walk(net, &pos, net6_diag_dgram, &d);
		break;
	}
	kfree(d.copy);
	cb->args[0] = pos >> 32;
	cb->args[1] = (u32)pos;
	return skb->len;
}
