// SPDX-License-Identifier: GPL-2.0
/* /proc/net/ipv6_route in takeover mode: all routes, in native's format. Piece by piece, for there
 * may be a million. Nobody counts their uses.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/ip6_route.h>

#include "rt.h"
#include "takeover.h"

/**
 * struct net6_proc_route - somebody who reads
 * @p: the namespace
 * @here: where the route at hand is found
 * @next: where the next one is
 * @at: number of the route at hand
 * @route: itself, while the file is being read
 */
struct net6_proc_route {
	struct seq_net_private	p;
	struct net6_rt_pos	here;
	struct net6_rt_pos	next;
	loff_t			at;
	struct net6_rt_route	route;
};

static int net6_proc_route_take(const struct net6_rt_route *route, void *arg)
{
	struct net6_proc_route *r = arg;

	r->route = *route;
	return 1;
}

/* The one at @here, if there is one. */
static void *net6_proc_route_fetch(struct seq_file *seq)
{
	struct net6_proc_route *r = seq->private;

	r->next = r->here;
	return net6_rt_routes_walk(net6_pernet(seq_file_net(seq)), 0, &r->next,
				   net6_proc_route_take, r) ? r : NULL;
}

static void *net6_proc_route_next(struct seq_file *seq, void *v, loff_t *pos)
{
	struct net6_proc_route *r = seq->private;

	r->here = r->next;
	r->at = ++*pos;
	return net6_proc_route_fetch(seq);
}

static void *net6_proc_route_start(struct seq_file *seq, loff_t *pos)
	__acquires(RCU)
{
	struct net6_proc_route *r = seq->private;
	loff_t want = *pos;
	void *found;

	rcu_read_lock();
	if (want != r->at) {
		r->at = 0;
		r->here = (struct net6_rt_pos) {};
	}
	found = net6_proc_route_fetch(seq);
	while (found && r->at < want) {
		*pos = r->at;
		found = net6_proc_route_next(seq, found, pos);
	}
	return found;
}

static void net6_proc_route_stop(struct seq_file *seq, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

static int net6_proc_route_show(struct seq_file *seq, void *v)
{
	const struct net6_proc_route *r = v;
	u32 flags = r->route.rtf_flags;

	if (!ipv6_addr_any(&r->route.gateway))
		flags |= RTF_GATEWAY;
	/* Routes by source do not exist. */
	seq_printf(seq, "%pi6 %02x %pi6 %02x %pi6 %08x %08x %08x %08x %8s\n", &r->route.dst,
		   r->route.plen, &in6addr_any, 0, &r->route.gateway, r->route.attrs.metric, 1, 0,
		   flags, r->route.dev->name);
	return 0;
}

static const struct seq_operations net6_proc_route_ops = {
	.start	= net6_proc_route_start,
	.next	= net6_proc_route_next,
	.stop	= net6_proc_route_stop,
	.show	= net6_proc_route_show,
};

/**
 * net6_proc_route_net_init() - a namespace's file
 * @net: namespace
 *
 * Context: process. Return: 0 or -ENOMEM. remove_proc_entry() of "ipv6_route" ends it.
 */
int net6_proc_route_net_init(struct net *net)
{
	return proc_create_net("ipv6_route", 0444, net->proc_net, &net6_proc_route_ops,
			       sizeof(struct net6_proc_route)) ? 0 : -ENOMEM;
}
