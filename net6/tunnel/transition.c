// SPDX-License-Identifier: GPL-2.0
/* Transition without a word from the administrator. With `transition=auto` each IPv4 address of
 * the machine has a 6over4 interface (RFC 2529). Automatic tunnels (RFC 2893) are there with the
 * v4-compatible addresses that follow from the IPv4 ones. Off by default:
 * Documentation/tunnels.rst says why.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inetdevice.h>
#include <linux/moduleparam.h>
#include <linux/rtnetlink.h>

#include "../compat/sysctl.h"
#include "../core/addr.h"
#include "tunnel.h"

/* RFC 2529 section 2: "a low value, to prevent such packets accidentally leaking from
 * the IPv4 domain [...] with a recommended default of 8".
 */
#define NET6_6OVER4_TTL		8
#define NET6_AUTOMATIC_TTL	64
#define NET6_AUTOMATIC_PLEN	96	/* bits, RFC 2893 section 5.2: 0:0:0:0:0:0/96 */

static const char * const net6_transition_words[] = { "off", "auto" };

static char *transition = "off";
module_param(transition, charp, 0444);
MODULE_PARM_DESC(transition, "off (default); auto: 6over4 on each IPv4 address, automatic tunnels");

/* The module is being unloaded; under RTNL. */
static bool net6_transition_stopped;

/**
 * net6_transition_valid() - does the module parameter say something known?
 *
 * Return: true if so.
 */
bool net6_transition_valid(void)
{
	if (match_string(net6_transition_words, ARRAY_SIZE(net6_transition_words),
			 transition) >= 0)
		return true;
	pr_err("transition=%s: neither off nor auto\n", transition);
	return false;
}

static bool net6_transition_has(const struct net6_transition_addrs *addrs, __be32 v4)
{
	unsigned int i;

	for (i = 0; i < addrs->n; i++)
		if (addrs->a[i].addr == v4)
			return true;
	return false;
}

/* An address that several devices have is taken from the first. */
static void net6_transition_collect(struct net *net, struct net6_transition_addrs *addrs)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	struct net_device *dev;

	for_each_netdev(net, dev) {
		in_dev = __in_dev_get_rtnl(dev);
		if (!in_dev || !(dev->flags & IFF_UP) || (dev->flags & IFF_LOOPBACK) ||
		    net6_tunnel_of(dev))
			continue;
		in_dev_for_each_ifa_rtnl(ifa, in_dev) {
			if (ifa->ifa_scope >= RT_SCOPE_HOST ||
			    !net6_tunnel_v4_unicast(ifa->ifa_local) ||
			    net6_transition_has(addrs, ifa->ifa_local))
				continue;
			if (addrs->n == NET6_TRANSITION_MAX) {
				NET6_INC(net6_pernet(net), TransitionAddrLimit);
				continue;
			}
			addrs->a[addrs->n].addr = ifa->ifa_local;
			addrs->a[addrs->n++].link = dev->ifindex;
		}
	}
}

static void net6_transition_add_6over4(struct net *net, __be32 addr, int link)
{
	struct net6_tunnel_parms parms = {
		.local	= addr,
		.ttl	= NET6_6OVER4_TTL,
		.link	= link,
	};
	struct net6_tunnel *t = net6_tunnel_find(net6_pernet(net), 0, addr);
	int err;

	if (t && t->parms.link == link) {
		t->wanted = true;
		return;
	}
	/* It has moved to another device. */
	if (t)
		net6_tunnel_del(t);
	err = net6_tunnel_add(net, "6over4_%d", NET6_TUNNEL_6OVER4, &parms, NULL, NULL);
	if (err)
		pr_warn("no 6over4 interface for %pI4: error %d\n", &addr, err);
}

/* RTNL held. */
static struct net6_tunnel *net6_transition_next_6over4(struct net6_net *nn,
						       bool (*test)(struct net6_tunnel *t))
{
	struct net6_tunnel *t;

	list_for_each_entry(t, &nn->tunnels->sixover4, sixover4)
		if (test(t))
			return t;
	return NULL;
}

static bool net6_transition_unmark(struct net6_tunnel *t)
{
	t->wanted = false;
	return false;
}

static bool net6_transition_unwanted(struct net6_tunnel *t)
{
	return !t->wanted;
}

static bool net6_transition_groups(struct net6_tunnel *t)
{
	net6_6over4_sync_groups(t);
	return false;
}

static void net6_transition_6over4(struct net6_net *nn, const struct net6_transition_addrs *addrs)
{
	struct net6_tunnel *t;
	unsigned int i;

	net6_transition_next_6over4(nn, net6_transition_unmark);
	for (i = 0; i < addrs->n; i++)
		net6_transition_add_6over4(nn->net, addrs->a[i].addr, addrs->a[i].link);
	while ((t = net6_transition_next_6over4(nn, net6_transition_unwanted)))
		net6_tunnel_del(t);
	net6_transition_next_6over4(nn, net6_transition_groups);
}

/* A v4-compatible address whose IPv4 address is no longer there. */
static bool net6_transition_stale(struct net6_iface *iface,
				  const struct net6_transition_addrs *addrs, struct in6_addr *stale)
{
	const struct net6_addr *a;
	bool found = false;
	__be32 v4;

	spin_lock_bh(&iface->nn->lock);
	list_for_each_entry(a, &iface->addrs, iface_list) {
		if (!net6_tunnel_v4_compatible(a->addr.s6_addr, &v4) ||
		    net6_transition_has(addrs, v4))
			continue;
		*stale = a->addr;
		found = true;
		break;
	}
	spin_unlock_bh(&iface->nn->lock);
	return found;
}

static void net6_transition_compatible(struct net6_iface *iface,
				       const struct net6_transition_addrs *addrs)
{
	struct in6_addr addr = {};
	unsigned int i;
	int err;

	while (net6_transition_stale(iface, addrs, &addr))
		if (net6_addr_del(iface, &addr, NET6_ADDR_ANY_PLEN))
			break;
	for (i = 0; i < addrs->n; i++) {
		memset(&addr, 0, sizeof(addr));
		addr.s6_addr32[3] = addrs->a[i].addr;
		err = net6_addr_add(iface, &addr, NET6_AUTOMATIC_PLEN, NET6_ADDR_MANUAL,
				    NET6_LIFETIME_INFINITE, NET6_LIFETIME_INFINITE);
		if (err && err != -EEXIST)
			netdev_warn(iface->dev, "net6: no address %pI6c: error %d\n", &addr, err);
	}
}

static void net6_transition_automatic(struct net6_net *nn,
				      const struct net6_transition_addrs *addrs)
{
	struct net6_tunnel_parms parms = { .ttl = NET6_AUTOMATIC_TTL, .pmtu = true };
	struct net6_tunnel *t = nn->tunnels->automatic;
	struct net6_iface *iface;
	int err;

	if (!addrs->n) {
		if (t)
			net6_tunnel_del(t);
		return;
	}
	if (!t) {
		err = net6_tunnel_add(nn->net, "automatic%d", NET6_TUNNEL_AUTOMATIC, &parms, NULL,
				      &t);
		if (err) {
			pr_warn("no automatic tunnels: error %d\n", err);
			return;
		}
	}
	iface = net6_link_iface(t->dev);
	if (iface)
		net6_transition_compatible(iface, addrs);
}

/* Brings what there is in line with the IPv4 addresses, whatever has happened. */
static void net6_transition_work(struct work_struct *work)
{
	struct net6_tunnel_net *tn = container_of(work, struct net6_tunnel_net, work);
	struct net6_transition_addrs *addrs = &tn->addrs;
	struct net6_net *nn = tn->nn;
	bool wanted;

	wanted = READ_ONCE(tn->transition) == NET6_TRANSITION_AUTO;
	if (wanted && net6_tunnel_rcv_get()) {
		pr_warn_once("no automatic tunnels without the module net6_tunnel4\n");
		wanted = false;
	}
	rtnl_lock();
	addrs->n = 0;
	if (!READ_ONCE(nn->exiting) && !net6_transition_stopped) {
		if (wanted)
			net6_transition_collect(nn->net, addrs);
		net6_transition_6over4(nn, addrs);
		net6_transition_automatic(nn, addrs);
	}
	rtnl_unlock();
}

/**
 * net6_transition_queue() - IPv4 addresses or groups of a 6over4 interface have changed
 * @nn: namespace
 *
 * Context: any.
 */
void net6_transition_queue(struct net6_net *nn)
{
	if (!READ_ONCE(nn->exiting))
		queue_work(nn->wq, &nn->tunnels->work);
}

static int net6_transition_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;
	struct net6_net *nn = net6_pernet(dev_net(ifa->ifa_dev->dev));

	if (READ_ONCE(nn->tunnels->transition) == NET6_TRANSITION_AUTO)
		net6_transition_queue(nn);
	return NOTIFY_DONE;
}

static struct notifier_block net6_transition_notifier = {
	.notifier_call	= net6_transition_event,
};

/* IPv4 keeps an address while its device is down, without telling. */
static int net6_transition_dev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct net6_net *nn = net6_pernet(dev_net(dev));

	if ((event == NETDEV_UP || event == NETDEV_DOWN) && !net6_tunnel_of(dev) &&
	    READ_ONCE(nn->tunnels->transition) == NET6_TRANSITION_AUTO)
		net6_transition_queue(nn);
	return NOTIFY_DONE;
}

static struct notifier_block net6_transition_dev_notifier = {
	.notifier_call	= net6_transition_dev_event,
};

static int net6_transition_sysctl(net6_compat_ctl_table *ctl, int write, void *buffer,
				  size_t *lenp, loff_t *ppos)
{
	struct net6_tunnel_net *tn = ctl->data;
	char word[8];
	struct ctl_table tmp = { .data = word, .maxlen = sizeof(word) };
	int err, n;

	strscpy(word, net6_transition_words[READ_ONCE(tn->transition)], sizeof(word));
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	n = match_string(net6_transition_words, ARRAY_SIZE(net6_transition_words), word);
	if (n < 0)
		return -EINVAL;
	err = n == NET6_TRANSITION_AUTO ? net6_tunnel_rcv_get() : 0;
	if (err)
		return err;
	WRITE_ONCE(tn->transition, n);
	net6_transition_queue(tn->nn);
	return 0;
}

static const struct ctl_table net6_transition_table[] = {
	{
		.procname	= "transition",
		.mode		= 0644,
		.proc_handler	= net6_transition_sysctl,
	},
	{ }
};

/**
 * net6_transition_net_init() - a namespace's switch, as the module parameter has it
 * @nn: namespace
 *
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_transition_net_init(struct net6_net *nn)
{
	struct net6_tunnel_net *tn = nn->tunnels;
	struct ctl_table *table;

	INIT_WORK(&tn->work, net6_transition_work);
	tn->transition = match_string(net6_transition_words, ARRAY_SIZE(net6_transition_words),
				      transition) > 0;
	table = kmemdup(net6_transition_table, sizeof(net6_transition_table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table[0].data = tn;
	tn->sysctl = net6_compat_register_net_sysctl(nn->net, "net/net6", table, 1);
	if (!tn->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * net6_transition_net_exit() - end of a namespace's switch
 * @nn: namespace, exiting set, its devices gone
 *
 * Context: process, RTNL not held; sleeps.
 */
void net6_transition_net_exit(struct net6_net *nn)
{
	const struct ctl_table *table = nn->tunnels->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(nn->tunnels->sysctl);
	kfree(table);
	cancel_work_sync(&nn->tunnels->work);
}

/**
 * net6_transition_init() - follow IPv4 addresses
 *
 * Context: process, sleeps. Return: 0 or -errno.
 */
int net6_transition_init(void)
{
	struct net *net;
	int err;

	err = register_inetaddr_notifier(&net6_transition_notifier);
	if (err)
		return err;
	/* Tells of each device that is up already. */
	err = register_netdevice_notifier(&net6_transition_dev_notifier);
	if (err) {
		unregister_inetaddr_notifier(&net6_transition_notifier);
		return err;
	}
	down_read(&net_rwsem);
	for_each_net(net)
		net6_transition_queue(net6_pernet(net));
	up_read(&net_rwsem);
	return 0;
}

/**
 * net6_transition_exit() - follow them no more
 *
 * Context: process, sleeps.
 */
void net6_transition_exit(void)
{
	rtnl_lock();
	net6_transition_stopped = true;
	rtnl_unlock();
	unregister_netdevice_notifier(&net6_transition_dev_notifier);
	unregister_inetaddr_notifier(&net6_transition_notifier);
}
