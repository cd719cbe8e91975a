// SPDX-License-Identifier: GPL-2.0
/* net.net6.conf.DEV.* and net.net6.neigh.DEV.*: the parameters of interfaces under the names of
 * net.ipv6, in takeover mode as net.ipv6.* as well. "default" is what interfaces to come begin
 * with, "all" is every one that there is and "default".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "../compat/sysctl.h"
#include "../core/iface.h"
#include "../core/param.h"
#include "admin.h"

/**
 * struct net6_sysctl_name - a parameter's file
 * @name: as in net.ipv6
 * @param: of the interface
 * @unit: the file's value times this is the parameter's
 */
struct net6_sysctl_name {
	const char	*name;
	enum net6_param	param;
	s32		unit;
};

#define X(name, param, unit)	{ name, NET6_PARAM_##param, unit },
static const struct net6_sysctl_name net6_sysctl_conf[] = { NET6_PARAM_CONF_FILES(X) };
static const struct net6_sysctl_name net6_sysctl_neigh[] = { NET6_PARAM_NEIGH_FILES(X) };
#undef X

enum net6_sysctl_whose {
	NET6_SYSCTL_IFACE,
	NET6_SYSCTL_DEFAULT,
	NET6_SYSCTL_ALL,
};

/**
 * struct net6_sysctl - the files of an interface, of "default" or of "all"
 * @nn: namespace
 * @iface: for NET6_SYSCTL_IFACE only; the files go before it does
 * @whose: enum net6_sysctl_whose
 * @n_headers: entries of @headers
 * @headers: folders conf and neigh, in takeover mode under two names
 * @conf: its files, and an empty one behind them
 * @neigh: the same
 */
struct net6_sysctl {
	struct net6_net		*nn;
	struct net6_iface	*iface;
	u8			whose;
	u8			n_headers;
	struct ctl_table_header	*headers[4];
	struct ctl_table	conf[ARRAY_SIZE(net6_sysctl_conf) + 1];
	struct ctl_table	neigh[ARRAY_SIZE(net6_sysctl_neigh) + 1];
};

static s32 net6_sysctl_read(const struct net6_sysctl *s, enum net6_param param)
{
	if (s->whose == NET6_SYSCTL_IFACE)
		return net6_param_get(s->iface, param);
	return READ_ONCE(s->nn->param_default[param]);
}

static int net6_sysctl_write(struct net6_sysctl *s, enum net6_param param, s32 value)
{
	struct net6_iface *iface;
	int err = 0;

	spin_lock_bh(&s->nn->lock);
	if (s->whose == NET6_SYSCTL_IFACE) {
		err = net6_param_set(s->iface, param, value);
	} else {
		WRITE_ONCE(s->nn->param_default[param], value);
		if (s->whose == NET6_SYSCTL_ALL) {
			rcu_read_lock();
			list_for_each_entry_rcu(iface, &s->nn->ifaces, list)
				net6_param_set(iface, param, value);
			rcu_read_unlock();
		}
	}
	spin_unlock_bh(&s->nn->lock);
	return err;
}

/* RTNL held. */
static void net6_sysctl_settle(const struct net6_sysctl *s)
{
	struct net6_iface *iface;

	list_for_each_entry(iface, &s->nn->ifaces, list)
		if (s->whose == NET6_SYSCTL_ALL || iface == s->iface)
			net6_iface_settle(iface);
}

/* Waits for no lock that is held when files are unregistered: RTNL is tried. */
static int net6_sysctl_param(net6_compat_ctl_table *ctl, int write, void *buffer, size_t *lenp,
			     loff_t *ppos)
{
	const struct net6_sysctl_name *name = ctl->extra1;
	const struct net6_param_bounds *bounds = &net6_param_bounds[name->param];
	int min = DIV_ROUND_UP(bounds->min, name->unit);
	int max = bounds->max / name->unit;
	struct net6_sysctl *s = ctl->data;
	int value = net6_sysctl_read(s, name->param) / name->unit;
	struct ctl_table tmp = {
		.data	= &value,
		.maxlen	= sizeof(value),
		.extra1	= &min,
		.extra2	= &max,
	};
	bool settle = write && name->param == NET6_PARAM_DISABLE_IPV6;
	int err;

	if (settle && !rtnl_trylock())
		return restart_syscall();
	err = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (!err && write)
		err = net6_sysctl_write(s, name->param, value * name->unit);
	if (settle) {
		if (!err)
			net6_sysctl_settle(s);
		rtnl_unlock();
	}
	return err;
}

static void net6_sysctl_fill(struct net6_sysctl *s, struct ctl_table *table,
			     const struct net6_sysctl_name *names, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		table[i].procname = names[i].name;
		table[i].mode = 0644;
		table[i].proc_handler = net6_sysctl_param;
		table[i].data = s;
		table[i].extra1 = (void *)&names[i];
	}
}

static void net6_sysctl_free(struct net6_sysctl *s)
{
	while (s->n_headers)
		unregister_net_sysctl_table(s->headers[--s->n_headers]);
	kfree(s);
}

static bool net6_sysctl_folder(struct net6_sysctl *s, const char *where, const char *folder,
			       const char *name, struct ctl_table *table, unsigned int n)
{
	char path[sizeof("net/net6/neigh/") + IFNAMSIZ];
	struct ctl_table_header *header;

	snprintf(path, sizeof(path), "net/%s/%s/%s", where, folder, name);
	header = net6_compat_register_net_sysctl(s->nn->net, path, table, n);
	if (header)
		s->headers[s->n_headers++] = header;
	return header;
}

static struct net6_sysctl *net6_sysctl_make(struct net6_net *nn, struct net6_iface *iface,
					    enum net6_sysctl_whose whose, const char *name)
{
	struct net6_sysctl *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	const unsigned int n_conf = ARRAY_SIZE(net6_sysctl_conf);
	const unsigned int n_neigh = ARRAY_SIZE(net6_sysctl_neigh);

	if (!s)
		return NULL;
	s->nn = nn;
	s->iface = iface;
	s->whose = whose;
	net6_sysctl_fill(s, s->conf, net6_sysctl_conf, n_conf);
	net6_sysctl_fill(s, s->neigh, net6_sysctl_neigh, n_neigh);
	if (!net6_sysctl_folder(s, "net6", "conf", name, s->conf, n_conf) ||
	    !net6_sysctl_folder(s, "net6", "neigh", name, s->neigh, n_neigh))
		goto err;
	if (!ipv6_mod_enabled() &&
	    (!net6_sysctl_folder(s, "ipv6", "conf", name, s->conf, n_conf) ||
	     !net6_sysctl_folder(s, "ipv6", "neigh", name, s->neigh, n_neigh)))
		goto err;
	return s;
err:
	net6_sysctl_free(s);
	return NULL;
}

/* RTNL held. IPv4 lets no device be called "default" or "all". */
static void net6_sysctl_attached(struct net6_iface *iface)
{
	iface->sysctl = net6_sysctl_make(iface->nn, iface, NET6_SYSCTL_IFACE, iface->dev->name);
	if (!iface->sysctl)
		netdev_warn(iface->dev, "net6: no files for sysctl\n");
}

static void net6_sysctl_detached(struct net6_iface *iface)
{
	if (iface->sysctl)
		net6_sysctl_free(iface->sysctl);
	iface->sysctl = NULL;
}

static struct net6_iface_watcher net6_sysctl_watcher = {
	.attached	= net6_sysctl_attached,
	.detached	= net6_sysctl_detached,
};

/* The files of "default" and "all". */
struct net6_sysctl_net {
	struct net6_sysctl	*initial;
	struct net6_sysctl	*all;
};

static unsigned int net6_sysctl_net_id __read_mostly;

static int __net_init net6_sysctl_net_init(struct net *net)
{
	struct net6_sysctl_net *sn = net_generic(net, net6_sysctl_net_id);
	struct net6_net *nn = net6_pernet(net);

	sn->initial = net6_sysctl_make(nn, NULL, NET6_SYSCTL_DEFAULT, "default");
	if (!sn->initial)
		return -ENOMEM;
	sn->all = net6_sysctl_make(nn, NULL, NET6_SYSCTL_ALL, "all");
	if (sn->all)
		return 0;
	net6_sysctl_free(sn->initial);
	return -ENOMEM;
}

static void __net_exit net6_sysctl_net_exit(struct net *net)
{
	struct net6_sysctl_net *sn = net_generic(net, net6_sysctl_net_id);

	net6_sysctl_free(sn->all);
	net6_sysctl_free(sn->initial);
}

static struct pernet_operations net6_sysctl_net_ops = {
	.init	= net6_sysctl_net_init,
	.exit	= net6_sysctl_net_exit,
	.id	= &net6_sysctl_net_id,
	.size	= sizeof(struct net6_sysctl_net),
};

/**
 * net6_sysctl_init() - files for all namespaces and interfaces that there are and will be
 *
 * Context: process, sleeps. Return: 0 or -errno.
 */
int net6_sysctl_init(void)
{
	int err = net6_sysctl_own_init();

	if (err)
		return err;
	err = register_pernet_subsys(&net6_sysctl_net_ops);
	if (err) {
		net6_sysctl_own_exit();
		return err;
	}
	net6_iface_watch(&net6_sysctl_watcher);
	return 0;
}

/**
 * net6_sysctl_exit() - no files any more
 *
 * Context: process, sleeps.
 */
void net6_sysctl_exit(void)
{
	net6_iface_unwatch(&net6_sysctl_watcher);
	unregister_pernet_subsys(&net6_sysctl_net_ops);
	net6_sysctl_own_exit();
}
