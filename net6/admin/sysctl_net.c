// SPDX-License-Identifier: GPL-2.0
/* A namespace's own files: net.net6.limits.*, and what Linux has of them in net.ipv6, under
 * net.net6 and in takeover mode under net.ipv6 as well. Each value is a field of struct
 * net6_limits or struct net6_settings; some have a second file under Linux's name.
 */
#include <linux/slab.h>
#include <net/ipv6.h>

#include "../compat/sysctl.h"
#include "../core/dest.h"
#include "../core/exthdr.h"
#include "admin.h"
#include "limits.h"

/**
 * struct net6_sysctl_setting - a field of struct net6_settings
 * @name: file
 * @min: least value
 * @max: largest one
 * @offset: of the field
 */
struct net6_sysctl_setting {
	const char	*name;
	u32		min;
	u32		max;
	size_t		offset;
};

#define NET6_SETTING(field, min, max) \
	{ #field, min, max, offsetof(struct net6_settings, field) }

static const struct net6_sysctl_setting net6_settings_own[] = {
	NET6_SETTING(bindv6only, 0, 1),
	NET6_SETTING(ip_nonlocal_bind, 0, 1),
	NET6_SETTING(anycast_src_echo_reply, 0, 1),
	NET6_SETTING(idgen_retries, 0, 255),	/* RFC 7217 section 6; the counter is an octet */
	NET6_SETTING(idgen_delay, 0, 3600),
	NET6_SETTING(fib_multipath_hash_policy, 0, NET6_SPREAD_POLICIES - 1),
	NET6_SETTING(mld_qrv, 1, 7),		/* RFC 3810 9.1: "MUST NOT be zero"; 5.1.8 */
};

static const struct net6_sysctl_setting net6_settings_icmp[] = {
	NET6_SETTING(echo_ignore_all, 0, 1),
	NET6_SETTING(echo_ignore_multicast, 0, 1),
	NET6_SETTING(echo_ignore_anycast, 0, 1),
};

static const struct net6_sysctl_setting net6_settings_route[] = {
	/* RFC 8201 section 4: no larger packets "less than 5 minutes after a Packet Too Big
	 * message"
	 */
	NET6_SETTING(mtu_expires, 300, S32_MAX),
};

/* Limits that have a file of Linux's name. */
static const struct {
	const char	*name;
	int		attr;
} net6_sysctl_aliases[] = {
	{ "ip6frag_high_thresh",	NET6_A_LIMITS_FRAG_MEMORY },
	{ "ip6frag_time",		NET6_A_LIMITS_FRAG_TIMEOUT },
	{ "max_dst_opts_length",	NET6_A_LIMITS_MAX_DST_LENGTH },
	{ "max_hbh_length",		NET6_A_LIMITS_MAX_HBH_LENGTH },
};

/* Linux has two limits in one value: below zero no unknown option is allowed. */
struct net6_sysctl_options {
	const char	*name;
	int		attr;		/* of the number */
	size_t		unknown;
};

static const struct net6_sysctl_options net6_sysctl_options[] = {
	{ "max_dst_opts_number", NET6_A_LIMITS_MAX_DST_OPTIONS,
	  offsetof(struct net6_limits, unknown_dst_options) },
	{ "max_hbh_opts_number", NET6_A_LIMITS_MAX_HBH_OPTIONS,
	  offsetof(struct net6_limits, unknown_hbh_options) },
};

#define NET6_OWN_FILES	(ARRAY_SIZE(net6_settings_own) + ARRAY_SIZE(net6_sysctl_aliases) + \
			 ARRAY_SIZE(net6_sysctl_options))

/**
 * struct net6_sysctl_own - a namespace's files; each table has an empty one behind its last
 * @n_headers: entries of @headers
 * @headers: of limits, and three folders, in takeover mode under two names
 * @limits: in folder limits
 * @own: in none
 * @icmp: in icmp
 * @route: in route
 */
struct net6_sysctl_own {
	unsigned int		n_headers;
	struct ctl_table_header	*headers[7];
	struct ctl_table	limits[NET6_LIMITS + 1];
	struct ctl_table	own[NET6_OWN_FILES + 1];
	struct ctl_table	icmp[ARRAY_SIZE(net6_settings_icmp) + 1];
	struct ctl_table	route[ARRAY_SIZE(net6_settings_route) + 2];
};

static unsigned int net6_sysctl_own_id __read_mostly;

static int net6_sysctl_u32(unsigned int *value, unsigned int min, unsigned int max, int write,
			   void *buffer, size_t *lenp, loff_t *ppos)
{
	struct ctl_table tmp = {
		.data	= value,
		.maxlen	= sizeof(*value),
		.extra1	= &min,
		.extra2	= &max,
	};

	return proc_douintvec_minmax(&tmp, write, buffer, lenp, ppos);
}

static int net6_sysctl_limit(net6_compat_ctl_table *ctl, int write, void *buffer, size_t *lenp,
			     loff_t *ppos)
{
	const struct net6_limit_bounds *bounds = ctl->extra1;
	struct net6_net *nn = ctl->data;
	unsigned int value = READ_ONCE(*net6_limit(nn, bounds));
	int err = net6_sysctl_u32(&value, bounds->min, bounds->max, write, buffer, lenp, ppos);

	if (err || !write)
		return err;
	err = net6_limit_set(nn, bounds, value, capable(CAP_NET_ADMIN));
	if (!err)
		net6_reasm_set_limits(nn);
	return err;
}

static int net6_sysctl_setting(net6_compat_ctl_table *ctl, int write, void *buffer, size_t *lenp,
			       loff_t *ppos)
{
	const struct net6_sysctl_setting *setting = ctl->extra1;
	struct net6_net *nn = ctl->data;
	u32 *field = (void *)&nn->settings + setting->offset;
	unsigned int value = READ_ONCE(*field);
	int err = net6_sysctl_u32(&value, setting->min, setting->max, write, buffer, lenp, ppos);

	if (!err && write)
		WRITE_ONCE(*field, value);
	return err;
}

static const struct net6_limit_bounds *net6_sysctl_bounds(int attr)
{
	unsigned int i = 0;

	while (net6_limit_bounds[i].attr != attr)
		i++;
	return &net6_limit_bounds[i];
}

static int net6_sysctl_number(net6_compat_ctl_table *ctl, int write, void *buffer, size_t *lenp,
			      loff_t *ppos)
{
	const struct net6_sysctl_options *options = ctl->extra1;
	const struct net6_limit_bounds *bounds = net6_sysctl_bounds(options->attr);
	struct net6_net *nn = ctl->data;
	u32 *unknown = (void *)&nn->limits + options->unknown;
	int value = READ_ONCE(*net6_limit(nn, bounds)), min = -S32_MAX, max = S32_MAX;
	struct ctl_table tmp = {
		.data	= &value,
		.maxlen	= sizeof(value),
		.extra1	= &min,
		.extra2	= &max,
	};
	int err;

	if (!READ_ONCE(*unknown))
		value = -value;
	err = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	err = net6_limit_set(nn, bounds, abs(value), capable(CAP_NET_ADMIN));
	if (!err)
		WRITE_ONCE(*unknown, value >= 0);
	return err;
}

/* Any number that is written does it, as in Linux, where the value is a delay that has no effect.
 */
static int net6_sysctl_flush(net6_compat_ctl_table *ctl, int write, void *buffer, size_t *lenp,
			     loff_t *ppos)
{
	int value = 0;
	struct ctl_table tmp = {
		.data	= &value,
		.maxlen	= sizeof(value),
	};
	int err;

	if (!write)
		return -EINVAL;
	err = proc_dointvec(&tmp, write, buffer, lenp, ppos);
	if (!err)
		net6_dest_purge(ctl->data);
	return err;
}

static struct ctl_table *net6_sysctl_file(struct ctl_table *table, struct net6_net *nn,
					  const char *name, proc_handler *handler,
					  const void *what)
{
	table->procname = name;
	table->mode = 0644;
	table->proc_handler = handler;
	table->data = nn;
	table->extra1 = (void *)what;
	return table + 1;
}

static struct ctl_table *net6_sysctl_settings(struct ctl_table *table, struct net6_net *nn,
					      const struct net6_sysctl_setting *settings,
					      unsigned int n)
{
	for (; n--; settings++)
		table = net6_sysctl_file(table, nn, settings->name, net6_sysctl_setting, settings);
	return table;
}

static void net6_sysctl_own_fill(struct net6_sysctl_own *so, struct net6_net *nn)
{
	struct ctl_table *table = so->limits;
	unsigned int i;

	for (i = 0; i < NET6_LIMITS; i++)
		table = net6_sysctl_file(table, nn, net6_limit_bounds[i].name, net6_sysctl_limit,
					 &net6_limit_bounds[i]);

	table = net6_sysctl_settings(so->own, nn, net6_settings_own,
				     ARRAY_SIZE(net6_settings_own));
	for (i = 0; i < ARRAY_SIZE(net6_sysctl_aliases); i++)
		table = net6_sysctl_file(table, nn, net6_sysctl_aliases[i].name, net6_sysctl_limit,
					 net6_sysctl_bounds(net6_sysctl_aliases[i].attr));
	for (i = 0; i < ARRAY_SIZE(net6_sysctl_options); i++)
		table = net6_sysctl_file(table, nn, net6_sysctl_options[i].name,
					 net6_sysctl_number, &net6_sysctl_options[i]);

	net6_sysctl_settings(so->icmp, nn, net6_settings_icmp, ARRAY_SIZE(net6_settings_icmp));
	table = net6_sysctl_settings(so->route, nn, net6_settings_route,
				     ARRAY_SIZE(net6_settings_route));
	net6_sysctl_file(table, nn, "flush", net6_sysctl_flush, NULL);
	table->mode = 0200;
}

static void net6_sysctl_own_free(struct net6_sysctl_own *so)
{
	while (so->n_headers)
		unregister_net_sysctl_table(so->headers[--so->n_headers]);
}

static bool net6_sysctl_own_add(struct net6_sysctl_own *so, struct net *net, const char *path,
				struct ctl_table *table, unsigned int n)
{
	struct ctl_table_header *header = net6_compat_register_net_sysctl(net, path, table, n);

	if (header)
		so->headers[so->n_headers++] = header;
	return header;
}

static int __net_init net6_sysctl_own_net_init(struct net *net)
{
	struct net6_sysctl_own *so = net_generic(net, net6_sysctl_own_id);
	const unsigned int n_icmp = ARRAY_SIZE(so->icmp) - 1, n_route = ARRAY_SIZE(so->route) - 1;

	net6_sysctl_own_fill(so, net6_pernet(net));
	if (net6_sysctl_own_add(so, net, "net/net6/limits", so->limits, NET6_LIMITS) &&
	    net6_sysctl_own_add(so, net, "net/net6", so->own, NET6_OWN_FILES) &&
	    net6_sysctl_own_add(so, net, "net/net6/icmp", so->icmp, n_icmp) &&
	    net6_sysctl_own_add(so, net, "net/net6/route", so->route, n_route) &&
	    (ipv6_mod_enabled() ||
	     (net6_sysctl_own_add(so, net, "net/ipv6", so->own, NET6_OWN_FILES) &&
	      net6_sysctl_own_add(so, net, "net/ipv6/icmp", so->icmp, n_icmp) &&
	      net6_sysctl_own_add(so, net, "net/ipv6/route", so->route, n_route))))
		return 0;
	net6_sysctl_own_free(so);
	return -ENOMEM;
}

static void __net_exit net6_sysctl_own_net_exit(struct net *net)
{
	net6_sysctl_own_free(net_generic(net, net6_sysctl_own_id));
}

static struct pernet_operations net6_sysctl_own_ops = {
	.init	= net6_sysctl_own_net_init,
	.exit	= net6_sysctl_own_net_exit,
	.id	= &net6_sysctl_own_id,
	.size	= sizeof(struct net6_sysctl_own),
};

/**
 * net6_sysctl_own_init() - files of all namespaces that there are and will be
 *
 * Context: process, sleeps. Return: 0 or -errno.
 */
int net6_sysctl_own_init(void)
{
	return register_pernet_subsys(&net6_sysctl_own_ops);
}

/**
 * net6_sysctl_own_exit() - no files any more
 *
 * Context: process, sleeps.
 */
void net6_sysctl_own_exit(void)
{
	unregister_pernet_subsys(&net6_sysctl_own_ops);
}
