// SPDX-License-Identifier: GPL-2.0
/* sock_diag for AF_INET6 in takeover mode: requests for all sockets, for one TCP socket, and to end
 * one (ss -K).
 *
 * inet_diag wants to answer for both families, and does not load if it cannot. So it is let in, and
 * loses AF_INET6 again as soon as it is there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sock_diag.h>
#include <net/inet_hashtables.h>
#include <net/netlink.h>

#include "../compat/sock_diag.h"
#include "../core/l3mdev.h"
#include "../socket/sock.h"
#include "../transport/tcp/conn/conn.h"
#include "diag.h"
#include "takeover.h"

/* With a reference, or NULL. A name with a peer is none of a listener's. */
static struct sock *net6_diag_request_listener(struct net *net, const struct net6_tcp_key *key,
					       const struct inet_diag_sockid *id)
{
	struct sock *sk = NULL;

	if (!id->idiag_dport)
		sk = net6_tcp_find_listener(net, key, ntohs(id->idiag_sport));
	return sk && refcount_inc_not_zero(&sk->sk_refcnt) ? sk : NULL;
}

/* With a reference, or ERR_PTR: -ENOENT, -ESTALE for another one of that name. */
static struct sock *net6_diag_request_find(struct net *net, const struct inet_diag_sockid *id)
{
	const struct net6_tcp_key key = {
		.laddr	= (const struct in6_addr *)id->idiag_src,
		.faddr	= (const struct in6_addr *)id->idiag_dst,
		.ports	= INET_COMBINED_PORTS(id->idiag_dport, ntohs(id->idiag_sport)),
		.dif	= id->idiag_if,
		.sdif	= net6_l3mdev_of_ifindex(net6_pernet(net), id->idiag_if),
	};
	struct sock *sk;
	int err;

	rcu_read_lock();
	sk = net6_tcp_lookup(net, &key) ?: net6_diag_request_listener(net, &key, id);
	rcu_read_unlock();
	if (!sk)
		return ERR_PTR(-ENOENT);
	err = sock_diag_check_cookie(sk, id->idiag_cookie);
	if (!err)
		return sk;
	net6_tcp_gen_put(sk);
	return ERR_PTR(err);
}

/* Tells of it whatever its state. Consumes @answer. */
static int net6_diag_request_answer(struct sk_buff *answer, struct sk_buff *skb,
				    struct nlmsghdr *nlh, struct sock *sk)
{
	struct inet_diag_req_v2 req = *(const struct inet_diag_req_v2 *)nlmsg_data(nlh);
	struct net6_diag d;
	int err;

	req.idiag_states = ~0U;
	err = net6_diag_init_one(&d, answer, skb, nlh, &req) ?: net6_diag_tcp(sk, &d);
	kfree(d.copy);
	if (!err)
		return nlmsg_unicast(sock_net(skb->sk)->diag_nlsk, answer, d.portid);
	nlmsg_free(answer);
	return err;
}

static int net6_diag_request_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct sock *sk)
{
	struct sk_buff *answer = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	return answer ? net6_diag_request_answer(answer, skb, nlh, sk) : -ENOMEM;
}

/* As native it may be root of the namespace's user namespace. */
static int net6_diag_request_end(struct sk_buff *skb, struct nlmsghdr *nlh, struct sock *sk)
{
	if (!netlink_net_capable(skb, CAP_NET_ADMIN))
		return -EPERM;
	return net6_tcp_abort(sk, ECONNABORTED);
}

static int net6_diag_request_one(struct sk_buff *skb, struct nlmsghdr *nlh,
				 int (*fn)(struct sk_buff *skb, struct nlmsghdr *nlh,
					   struct sock *sk))
{
	const struct inet_diag_req_v2 *req = nlmsg_data(nlh);
	struct sock *sk;
	int err;

	if (nlmsg_len(nlh) < sizeof(*req))
		return -EINVAL;
	if (req->sdiag_protocol != IPPROTO_TCP)
		return -EOPNOTSUPP;
	sk = net6_diag_request_find(sock_net(skb->sk), &req->id);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	err = fn(skb, nlh, sk);
	net6_tcp_gen_put(sk);
	return err;
}

static int net6_diag_request_look(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control c = {
		.dump	= net6_diag_dump,
		.module	= THIS_MODULE,
	};

	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return net6_diag_request_one(skb, nlh, net6_diag_request_get);
	if (nlmsg_len(nlh) < sizeof(struct inet_diag_req_v2))
		return -EINVAL;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &c);
}

static int net6_diag_request_destroy(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	return net6_diag_request_one(skb, nlh, net6_diag_request_end);
}

static const struct sock_diag_handler net6_diag_request_handler = {
	NET6_COMPAT_DIAG_OWNER
	.family		= AF_INET6,
	.dump		= net6_diag_request_look,
	.destroy	= net6_diag_request_destroy,
};

/* ---- who answers ---- */

static bool net6_diag_request_registered;

/* Whoever answers for AF_INET6 now does not any more. */
static void net6_diag_request_take(void)
{
	if (NET6_COMPAT_DIAG_TAKES)
		sock_diag_unregister(&net6_diag_request_handler);
	net6_diag_request_registered = !sock_diag_register(&net6_diag_request_handler);
}

/* When inet_diag goes it takes the entry of AF_INET6 along, whose ever that is. */
static int net6_diag_request_module(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (strcmp(mod->name, "inet_diag"))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING)
		sock_diag_unregister(&net6_diag_request_handler);
	else
		net6_diag_request_take();
	return NOTIFY_DONE;
}

static struct notifier_block net6_diag_request_modules = {
	.notifier_call = net6_diag_request_module,
};

/**
 * net6_diag_request_init() - answer ss, unless native IPv6 does
 *
 * Context: process. Return: 0 or -errno.
 */
int net6_diag_request_init(void)
{
	int err;

	if (ipv6_mod_enabled())
		return 0;
	err = NET6_COMPAT_DIAG_TAKES ? register_module_notifier(&net6_diag_request_modules) : 0;
	if (err)
		return err;
	net6_diag_request_take();
	if (!net6_diag_request_registered)
		pr_info("inet_diag was loaded first: ss -6 wants PROC_ROOT=/proc\n");
	return 0;
}

/**
 * net6_diag_request_exit() - answer no more
 *
 * Context: process, sleeps.
 */
void net6_diag_request_exit(void)
{
	if (ipv6_mod_enabled())
		return;
	if (NET6_COMPAT_DIAG_TAKES)
		unregister_module_notifier(&net6_diag_request_modules);
	if (net6_diag_request_registered)
		sock_diag_unregister(&net6_diag_request_handler);
}
