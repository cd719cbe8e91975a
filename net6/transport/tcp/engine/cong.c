// SPDX-License-Identifier: GPL-2.0
/* Congestion control by the kernel's modules, by name. Their operations are not
 * exported, but a kernel IPv4 TCP socket that was given TCP_CONGESTION shows them and
 * pins their module (or BPF program). One such carrier socket per name serves all
 * sockets of ours; it is given back when nobody has used it for a while.
 */
#include <linux/net.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>

#include "engine.h"

/* How long an unused carrier stays, so that opening and closing one socket at a time
 * does not load a module each time.
 */
#define NET6_TCP_CA_LINGER	(10 * HZ)

/**
 * struct net6_tcp_ca - a congestion control module in use
 * @list: in the list of all; ca_mutex to write, RCU to read
 * @ops: the module's operations, alive as long as @carrier
 * @carrier: the socket that pins it
 * @users: sockets of ours that hold it; negative once it is going away
 * @rcu: freed after a grace period
 */
struct net6_tcp_ca {
	struct list_head			list;
	const struct tcp_congestion_ops		*ops;
	struct socket				*carrier;
	atomic_t				users;
	struct rcu_head				rcu;
};

static LIST_HEAD(ca_list);
static DEFINE_MUTEX(ca_mutex);
static struct net6_tcp_ca *ca_reno;	/* built into every kernel; never given back */

static void net6_tcp_ca_reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(ca_reap, net6_tcp_ca_reap);

static void net6_tcp_ca_free(struct net6_tcp_ca *ca)
{
	sock_release(ca->carrier);
	kfree_rcu(ca, rcu);
}

/* Gives back the carriers that nobody uses. */
static void net6_tcp_ca_reap(struct work_struct *work)
{
	struct net6_tcp_ca *ca, *next;
	bool unused = false;

	/* From here on nobody gets them; they stay in the list, where readers may be. */
	mutex_lock(&ca_mutex);
	list_for_each_entry(ca, &ca_list, list) {
		if (!atomic_cmpxchg(&ca->users, 0, INT_MIN))
			unused = true;
	}
	mutex_unlock(&ca_mutex);
	if (!unused)
		return;
	/* Nobody can be in the middle of ca->ops any more: no socket held them. */
	synchronize_rcu();
	mutex_lock(&ca_mutex);
	list_for_each_entry_safe(ca, next, &ca_list, list) {
		if (atomic_read(&ca->users) >= 0)
			continue;
		list_del_rcu(&ca->list);
		net6_tcp_ca_free(ca);
	}
	mutex_unlock(&ca_mutex);
}

static bool net6_tcp_ca_get(struct net6_tcp_ca *ca)
{
	return ca && atomic_inc_unless_negative(&ca->users);
}

static void net6_tcp_ca_put(struct net6_tcp_ca *ca)
{
	if (ca && atomic_dec_and_test(&ca->users))
		schedule_delayed_work(&ca_reap, NET6_TCP_CA_LINGER);
}

/* A new carrier; the module is loaded if need be. */
static struct net6_tcp_ca *net6_tcp_ca_create(const char *name)
	__must_hold(&ca_mutex)
{
	struct net6_tcp_ca *ca;
	struct socket *sock;
	int err;

	lockdep_assert_held(&ca_mutex);
	ca = kzalloc(sizeof(*ca), GFP_KERNEL);
	if (!ca)
		return ERR_PTR(-ENOMEM);
	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		goto err_free;
	err = sock->ops->setsockopt(sock, SOL_TCP, TCP_CONGESTION,
				    KERNEL_SOCKPTR((void *)name), strlen(name));
	if (err)
		goto err_sock;
	ca->carrier = sock;
	ca->ops = inet_csk(sock->sk)->icsk_ca_ops;
	list_add_tail_rcu(&ca->list, &ca_list);
	return ca;

err_sock:
	sock_release(sock);
err_free:
	kfree(ca);
	return ERR_PTR(err);
}

/* The carrier of a name, referenced; made if there is none. */
static struct net6_tcp_ca *net6_tcp_ca_by_name(const char *name)
{
	struct net6_tcp_ca *ca;

	might_sleep();
	mutex_lock(&ca_mutex);
	list_for_each_entry(ca, &ca_list, list) {
		if (!strcmp(ca->ops->name, name) && net6_tcp_ca_get(ca))
			goto out;
	}
	ca = net6_tcp_ca_create(name);
	if (!IS_ERR(ca))
		atomic_inc(&ca->users);
out:
	mutex_unlock(&ca_mutex);
	return ca;
}

/* The namespace's default, referenced; reno when it cannot be had. */
static struct net6_tcp_ca *net6_tcp_ca_default(const struct net *net)
{
	const struct tcp_congestion_ops *ops;
	struct net6_tcp_ca *ca;
	char name[TCP_CA_NAME_MAX];

	rcu_read_lock();
	ops = rcu_dereference(net->ipv4.tcp_congestion_control);
	list_for_each_entry_rcu(ca, &ca_list, list) {
		if (ca->ops == ops && net6_tcp_ca_get(ca)) {
			rcu_read_unlock();
			return ca;
		}
	}
	strscpy(name, ops ? ops->name : "reno", sizeof(name));
	rcu_read_unlock();

	ca = net6_tcp_ca_by_name(name);
	if (IS_ERR(ca)) {
		ca = ca_reno;
		atomic_inc(&ca->users);
	}
	return ca;
}

/* Takes over the caller's reference on @ca. */
static void net6_tcp_ca_install(struct sock *sk, struct net6_tcp_ca *ca)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	WRITE_ONCE(net6_tcp_sk(sk)->ca, ca);
	WRITE_ONCE(icsk->icsk_ca_ops, ca->ops);
	memset(icsk->icsk_ca_priv, 0, sizeof(icsk->icsk_ca_priv));
	icsk->icsk_ca_initialized = 0;
	/* tcp_set_congestion_control(), to which bpf_setsockopt() leads from 6.2 on, would count
	 * users of the module that are not ours: it finds the choice locked.
	 */
	icsk->icsk_ca_dst_locked = 1;
	if (ca->ops->flags & TCP_CONG_NEEDS_ECN)
		INET_ECN_xmit(sk);
	else
		INET_ECN_dontxmit(sk);
}

/**
 * net6_tcp_cong_assign() - give a new socket its namespace's congestion control
 * @sk: new socket
 *
 * Context: process; sleeps when the module was not in use.
 */
void net6_tcp_cong_assign(struct sock *sk)
{
	net6_tcp_ca_install(sk, net6_tcp_ca_default(sock_net(sk)));
}

/**
 * net6_tcp_cong_set() - setsockopt(TCP_CONGESTION)
 * @sk: socket, owned
 * @name: module's name, NUL-terminated
 * @may_load: an absent module may be loaded
 *
 * Context: process, sleeps.
 * Return: 0, -ENOENT (no such module), -EPERM (restricted, and the caller may not
 * administer the namespace; or the route insists on another one), -ENOMEM.
 */
int net6_tcp_cong_set(struct sock *sk, const char *name, bool may_load)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct net6_tcp_ca *ca, *old = net6_tcp_sk(sk)->ca;

	if (!may_load)
		return -EOPNOTSUPP;
	if (net6_metric_locked(net6_tcp_metrics(sk), RTAX_CC_ALGO))
		return -EPERM;
	ca = net6_tcp_ca_by_name(name);
	if (IS_ERR(ca))
		return PTR_ERR(ca);
	if (!(ca->ops->flags & TCP_CONG_NON_RESTRICTED) &&
	    !ns_capable(sock_net(sk)->user_ns, CAP_NET_ADMIN)) {
		net6_tcp_ca_put(ca);
		return -EPERM;
	}
	icsk->icsk_ca_setsockopt = 1;
	if (ca == old) {
		net6_tcp_ca_put(ca);
		return 0;
	}
	if (icsk->icsk_ca_initialized && net6_ca(sk)->release)
		net6_ca(sk)->release(sk);
	net6_tcp_ca_install(sk, ca);
	net6_tcp_ca_put(old);
	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN | TCPF_SYN_SENT)))
		net6_tcp_cong_init(sk);
	return 0;
}

/**
 * net6_tcp_cong_by_route() - the route says which one
 * @sk: socket on which none has been started
 * @congctl: what net6_tcp_cong_for_routes found; its caller keeps it
 *
 * Context: any, sk locked.
 */
void net6_tcp_cong_by_route(struct sock *sk, void *congctl)
{
	struct net6_tcp_ca *ca = congctl, *old = net6_tcp_sk(sk)->ca;

	if (ca == old || !net6_tcp_ca_get(ca))
		return;
	net6_tcp_ca_install(sk, ca);
	net6_tcp_ca_put(old);
}

static void *net6_tcp_cong_get_for_route(const char *name, bool *wants_ecn)
{
	struct net6_tcp_ca *ca = net6_tcp_ca_by_name(name);

	*wants_ecn = !IS_ERR(ca) && ca->ops->flags & TCP_CONG_NEEDS_ECN;
	return ca;
}

static void net6_tcp_cong_put_for_route(void *congctl)
{
	net6_tcp_ca_put(congctl);
}

static const struct net6_metrics_congctl net6_tcp_cong_for_routes = {
	.get	= net6_tcp_cong_get_for_route,
	.put	= net6_tcp_cong_put_for_route,
};

/**
 * net6_tcp_cong_inherit() - a child takes its listener's congestion control
 * @child: new socket, its fields possibly a copy of the listener's
 * @listener: not locked: its setting may change meanwhile
 *
 * Context: softirq.
 */
void net6_tcp_cong_inherit(struct sock *child, const struct sock *listener)
{
	struct net6_tcp_ca *ca;

	rcu_read_lock();
	ca = READ_ONCE(net6_tcp_sk(listener)->ca);
	if (!net6_tcp_ca_get(ca)) {
		ca = ca_reno;
		atomic_inc(&ca->users);
	}
	rcu_read_unlock();
	net6_tcp_ca_install(child, ca);
}

/**
 * net6_tcp_cong_init() - start the module on a connection that is now established
 * @sk: locked
 *
 * Context: any that may hold a socket lock.
 */
void net6_tcp_cong_init(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	tcp_sk(sk)->prior_ssthresh = 0;
	if (net6_ca(sk)->init)
		net6_ca(sk)->init(sk);
	/* Read again: init may have replaced the operations (dctcp without ECN). */
	if (net6_ca(sk)->flags & TCP_CONG_NEEDS_ECN)
		INET_ECN_xmit(sk);
	else
		INET_ECN_dontxmit(sk);
	icsk->icsk_ca_initialized = 1;
}

/**
 * net6_tcp_cong_release() - the socket ends: the module forgets it
 * @sk: locked or without other users
 *
 * Context: any.
 */
void net6_tcp_cong_release(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct net6_tcp_sock *nsk = net6_tcp_sk(sk);

	if (icsk->icsk_ca_initialized && net6_ca(sk)->release)
		net6_ca(sk)->release(sk);
	icsk->icsk_ca_initialized = 0;
	/* Who lists sockets may still look at it: the module may go from here on. */
	WRITE_ONCE(icsk->icsk_ca_ops, ca_reno->ops);
	net6_tcp_ca_put(nsk->ca);
	nsk->ca = NULL;
}

/**
 * net6_tcp_cong_module_init() - start with reno, which everything falls back to
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int net6_tcp_cong_module_init(void)
{
	struct net6_tcp_ca *ca = net6_tcp_ca_by_name("reno");

	if (IS_ERR(ca))
		return PTR_ERR(ca);
	ca_reno = ca;
	net6_metrics_set_congctl(&net6_tcp_cong_for_routes);
	return 0;
}

/**
 * net6_tcp_cong_module_exit() - give back all carriers; no socket is left
 *
 * Context: process.
 */
void net6_tcp_cong_module_exit(void)
{
	struct net6_tcp_ca *ca, *next;

	net6_metrics_set_congctl(NULL);
	cancel_delayed_work_sync(&ca_reap);
	mutex_lock(&ca_mutex);
	list_for_each_entry_safe(ca, next, &ca_list, list) {
		list_del_rcu(&ca->list);
		net6_tcp_ca_free(ca);
	}
	mutex_unlock(&ca_mutex);
}
