// SPDX-License-Identifier: GPL-2.0
/* The address family: what socket() can make and how. Family number 19 always, 10 as
 * well when native IPv6 is switched off (takeover).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf-cgroup.h>
#include <linux/module.h>
#include <linux/net6.h>
#include <net/inet_common.h>
#include <net/inet_connection_sock.h>

#include "../compat/inet_sock.h"
#include "protosw.h"
#include "sock.h"

static char *family = "auto";
module_param(family, charp, 0444);
MODULE_PARM_DESC(family, "auto: AF_NET6, and AF_INET6 if native IPv6 is off; net6: AF_NET6 only; inet6: insist on AF_INET6");

static LIST_HEAD(net6_protosws);
static DEFINE_MUTEX(net6_protosw_lock);
/* Sockets of AF_INET6 are made here as well. */
static bool net6_inet6;
/* Among them those of the kernel's tunnels. */
static bool net6_family_tunnels;

/**
 * net6_protosw_register() - let socket() make a type/protocol pair
 * @p: pair; lives until it is unregistered. The first one of a type is what
 *	protocol 0 means.
 *
 * Registers the struct proto as well.
 * Context: process, sleeps. Return: 0 or -errno.
 */
int net6_protosw_register(struct net6_protosw *p)
{
	int err;

	err = proto_register(p->prot, 1);
	if (err)
		return err;
	mutex_lock(&net6_protosw_lock);
	list_add_tail_rcu(&p->list, &net6_protosws);
	mutex_unlock(&net6_protosw_lock);
	return 0;
}

/**
 * net6_protosw_unregister() - undo net6_protosw_register()
 * @p: no socket of it exists any more
 *
 * Context: process, sleeps for a grace period.
 */
void net6_protosw_unregister(struct net6_protosw *p)
{
	mutex_lock(&net6_protosw_lock);
	list_del_rcu(&p->list);
	mutex_unlock(&net6_protosw_lock);
	/* Sockets are freed by RCU callbacks that use the slab of the proto. */
	rcu_barrier();
	proto_unregister(p->prot);
}

static const struct net6_protosw *net6_protosw_find(int type, int protocol)
{
	const struct net6_protosw *p;
	int err = -ESOCKTNOSUPPORT;

	list_for_each_entry_rcu(p, &net6_protosws, list) {
		if (p->type != type)
			continue;
		/* Raw sockets are of any protocol, but it must be said which. */
		if (p->protocol == IPPROTO_IP ? protocol != IPPROTO_IP :
		    protocol == p->protocol || protocol == IPPROTO_IP)
			return p;
		err = -EPROTONOSUPPORT;
	}
	return ERR_PTR(err);
}

/**
 * net6_protosw_inuse() - how many sockets of a kind have a port
 * @net: namespace
 * @type: SOCK_STREAM, ...
 * @protocol: IPPROTO_TCP, ...; any for SOCK_RAW
 *
 * Context: any. Return: their number, 0 for a kind that there is not.
 */
int net6_protosw_inuse(struct net *net, int type, int protocol)
{
	const struct net6_protosw *p;
	int n;

	rcu_read_lock();
	p = net6_protosw_find(type, protocol);
	n = IS_ERR(p) ? 0 : sock_prot_inuse_get(net, p->prot);
	rcu_read_unlock();
	return n;
}

/**
 * net6_protosw_ops() - the calls of sockets of a kind
 * @type: SOCK_STREAM, ...
 * @protocol: IPPROTO_TCP, ...; there are such sockets
 *
 * Context: any. Return: the same as long as the module is there.
 */
const struct proto_ops *net6_protosw_ops(int type, int protocol)
{
	const struct proto_ops *ops;

	rcu_read_lock();
	ops = net6_protosw_find(type, protocol)->ops;
	rcu_read_unlock();
	return ops;
}

/**
 * net6_sk_init() - give a new socket its IPv6 part and the defaults of its options
 * @sk: socket after sock_init_data(), before the protocol's init
 *
 * sk_family stays AF_INET6 whatever the number given to socket(): SO_REUSEPORT,
 * SO_ZEROCOPY, LSMs and BPF look at it.
 * Context: process. Return: 0.
 */
int net6_sk_init(struct sock *sk)
{
	struct inet_sock *inet = inet_sk(sk);
	struct ipv6_pinfo *np;

	if (sk->sk_type == SOCK_STREAM)
		np = &((struct net6_tcp_sock *)sk)->tcp6.inet6;
	else
		np = &net6_dgram_sk(sk)->udp6.inet6;
	inet->pinet6 = np;
	np->hop_limit = -1;
	np->mcast_hops = IPV6_DEFAULT_MCASTHOPS;
	np->pmtudisc = IPV6_PMTUDISC_WANT;
	/* The kernel's own users know IPv6 only. */
	sk->sk_ipv6only = !sk->sk_net_refcnt ||
			  READ_ONCE(net6_pernet(sock_net(sk))->settings.bindv6only);
	net6_opt_set(sk, MC6_LOOP, 1);
	net6_opt_set(sk, MC6_ALL, 1);
	inet->uc_ttl = -1;
	inet->mc_ttl = 1;
	inet->pmtudisc = READ_ONCE(sock_net(sk)->ipv4.sysctl_ip_no_pmtu_disc) ?
		IP_PMTUDISC_DONT : IP_PMTUDISC_WANT;
	if (sk->sk_type == SOCK_STREAM) {
		net6_opt_set(sk, IS_ICSK, 1);
		inet_init_csk_locks(sk);
	}
	return 0;
}

/**
 * net6_sk_destruct() - the last of a socket: what the generic code does not know
 * @sk: unhashed, nobody refers to it
 *
 * Context: any, also RCU callbacks.
 */
void net6_sk_destruct(struct sock *sk)
{
	struct ipv6_pinfo *np = net6_np(sk);

	net6_sk_dest_reset(sk);
	kfree_skb(xchg(&np->rxpmtu, NULL));
	net6_sticky_free(sk);
	inet_sock_destruct(sk);
}

static int net6_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	const struct net6_protosw *psw;
	struct sock *sk;
	int err;

	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return -EINVAL;
	/* That is udp_sock_create6(): a tunnel, which asks native for its routes. Where net6 cannot
	 * answer it is as on a machine without IPv6.
	 */
	if (kern && sock->type == SOCK_DGRAM && !protocol && !net6_family_carries())
		return -EAFNOSUPPORT;

	rcu_read_lock();
	psw = net6_protosw_find(sock->type, protocol);
	/* Entries go away with the module only, which socket() has pinned. */
	rcu_read_unlock();
	if (IS_ERR(psw))
		return PTR_ERR(psw);

	if (sock->type == SOCK_RAW && !kern && !ns_capable(net->user_ns, CAP_NET_RAW))
		return -EPERM;

	sk = sk_alloc(net, PF_INET6, GFP_KERNEL, psw->prot, kern);
	if (!sk)
		return -ENOBUFS;
	sock->ops = psw->ops;
	sock_init_data(sock, sk);
	sk->sk_destruct = net6_sk_destruct;
	sk->sk_protocol = psw->protocol ?: protocol;
	sk->sk_backlog_rcv = psw->prot->backlog_rcv;
	err = net6_sk_init(sk);
	if (!err && sk->sk_prot->init)
		err = sk->sk_prot->init(sk);
	if (!err && !kern)
		err = BPF_CGROUP_RUN_PROG_INET_SOCK(sk);
	if (err) {
		sk_common_release(sk);
		sock->sk = NULL;
	}
	return err;
}

static const struct net_proto_family net6_family_ops = {
	.family	= PF_NET6,
	.create	= net6_create,
	.owner	= THIS_MODULE,
};

static const struct net_proto_family net6_inet6_family_ops = {
	.family	= PF_INET6,
	.create	= net6_create,
	.owner	= THIS_MODULE,
};

static int net6_register_family(const struct net_proto_family *ops, const char *who)
{
	int err = sock_register(ops);

	if (err == -EEXIST)
		pr_err("address family %d is taken by %s\n", ops->family, who);
	else if (err)
		pr_err("address family %d cannot be registered: error %d\n", ops->family, err);
	return err;
}

/**
 * net6_family_init() - open the door: from here on programs can make sockets
 *
 * Context: process. Return: 0; -EINVAL for an unknown family= parameter; -EEXIST if
 * the family number is in use.
 */
int net6_family_init(void)
{
	if (!strcmp(family, "auto")) {
		net6_inet6 = !ipv6_mod_enabled();
	} else if (!strcmp(family, "inet6")) {
		net6_inet6 = true;
	} else if (strcmp(family, "net6")) {
		pr_err("family=%s is unknown: use auto, net6 or inet6\n", family);
		return -EINVAL;
	}
	return net6_register_family(&net6_family_ops, "another module");
}

/**
 * net6_family_exit() - no new sockets; the module cannot be removed while one exists
 *
 * Context: process, sleeps.
 */
void net6_family_exit(void)
{
	sock_unregister(PF_NET6);
}

/**
 * net6_family_has_inet6() - are sockets of AF_INET6 made here?
 *
 * Context: after net6_family_init().
 */
bool net6_family_has_inet6(void)
{
	return net6_inet6;
}

/**
 * net6_family_carry() - sockets of the kernel's tunnels over UDP are made
 * @carry: or no more
 *
 * Context: process.
 */
void net6_family_carry(bool carry)
{
	WRITE_ONCE(net6_family_tunnels, carry);
}

/**
 * net6_family_carries() - are they?
 *
 * Context: any.
 */
bool net6_family_carries(void)
{
	return READ_ONCE(net6_family_tunnels);
}

/**
 * net6_family_inet6_init() - AF_INET6 as well, if it is to be
 *
 * Context: process. Return: 0; -EEXIST if the native IPv6 stack has it.
 */
int net6_family_inet6_init(void)
{
	if (!net6_inet6)
		return 0;
	return net6_register_family(&net6_inet6_family_ops, "the native IPv6 stack");
}

/**
 * net6_family_inet6_exit() - undo net6_family_inet6_init()
 *
 * Context: process, sleeps.
 */
void net6_family_inet6_exit(void)
{
	if (net6_inet6)
		sock_unregister(PF_INET6);
}
