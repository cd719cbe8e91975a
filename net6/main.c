// SPDX-License-Identifier: GPL-2.0
/* Load and unload of net6, and the set-up of each network namespace, in one readable
 * order: what is started last is stopped first.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/random.h>

#include "admin/admin.h"
#include "core/addr.h"
#include "core/addr_chain.h"
#include "core/claim.h"
#include "core/dest.h"
#include "core/exthdr.h"
#include "core/icmp.h"
#include "core/iface.h"
#include "core/ip.h"
#include "core/nd.h"
#include "core/netns.h"
#include "core/policy.h"
#include "ip6tnl/ip6tnl.h"
#include "observe/cover.h"
#include "socket/mapped.h"
#include "socket/sock.h"
#include "takeover/takeover.h"
#include "transport/dgram.h"
#include "transport/tcp/tcp.h"
#include "tunnel/tunnel.h"

unsigned int net6_net_id __read_mostly;

const struct net6_limits net6_limits_default = {
#define X(field, attr, least, largest, initial)	.field = initial,
	NET6_LIMIT_LIST(X)
#undef X
};

static void net6_settings_init(struct net6_settings *s)
{
	/* RFC 8201 section 5.3: "the recommended setting for this timer is [...] 10 minutes" */
	s->mtu_expires = 10 * 60;
	/* RFC 7217 section 7 */
	s->idgen_retries = 3;
	s->idgen_delay = 1;
	/* RFC 3810 9.1 */
	s->mld_qrv = 2;
}

static int __net_init net6_net_init(struct net *net)
{
	struct net6_net *nn = net6_pernet(net);
	int err = -ENOMEM;

	nn->net = net;
	spin_lock_init(&nn->lock);
	hash_init(nn->proxy_hash);
	net6_table_net_init(nn);
	INIT_LIST_HEAD(&nn->ifaces);
	get_random_bytes(&nn->secret, sizeof(nn->secret));
	get_random_bytes(&nn->iid_secret, sizeof(nn->iid_secret));
	nn->limits = net6_limits_default;
	net6_settings_init(&nn->settings);

	nn->mib = alloc_percpu_gfp(struct net6_mib, GFP_KERNEL_ACCOUNT);
	if (!nn->mib)
		return -ENOMEM;
	nn->wq = alloc_ordered_workqueue("net6", 0);
	if (!nn->wq)
		goto err_mib;
	err = net6_iface_net_init(nn);
	if (err)
		goto err_wq;
	err = net6_addr_net_init(nn);
	if (err)
		goto err_iface;
	err = net6_addr_chain_net_init(nn);
	if (err)
		goto err_addr;
	err = net6_accept_net_init(nn);
	if (err)
		goto err_chain;
	err = net6_claim_net_init(nn);
	if (err)
		goto err_accept;
	err = net6_dest_net_init(nn);
	if (err)
		goto err_claim;
	err = net6_rules_net_init(nn);
	if (err)
		goto err_dest;
	err = net6_reasm_net_init(nn);
	if (err)
		goto err_rules;
	err = net6_icmp_net_init(nn);
	if (err)
		goto err_reasm;
	err = net6_tcp_net_init(nn);
	if (err)
		goto err_icmp;
	err = net6_tunnel_net_init(nn);
	if (err)
		goto err_tcp;
	err = net6_ip6tnl_net_init(nn);
	if (err)
		goto err_tunnels;
	err = net6_nf_net_init(nn);
	if (err)
		goto err_ip6tnls;
	return 0;

err_ip6tnls:
	net6_ip6tnl_net_exit(nn);
err_tunnels:
	net6_tunnel_net_exit(nn);
err_tcp:
	net6_tcp_net_exit(nn);
err_icmp:
	net6_icmp_net_exit(nn);
err_reasm:
	net6_reasm_net_pre_exit(nn);
	net6_reasm_net_exit(nn);
err_rules:
	net6_rules_net_exit(nn);
err_dest:
	net6_dest_net_exit(nn);
err_claim:
	net6_claim_net_exit(nn);
err_accept:
	net6_accept_net_exit(nn);
err_chain:
	net6_addr_chain_net_exit(nn);
err_addr:
	net6_addr_net_exit(nn);
err_iface:
	net6_iface_find_net_free(nn);
err_wq:
	destroy_workqueue(nn->wq);
err_mib:
	free_percpu(nn->mib);
	return err;
}

/* A grace period follows. */
static void __net_exit net6_net_pre_exit(struct net *net)
{
	struct net6_net *nn = net6_pernet(net);

	WRITE_ONCE(nn->exiting, true);
	net6_reasm_net_pre_exit(nn);
}

static void __net_exit net6_net_exit(struct net *net)
{
	struct net6_net *nn = net6_pernet(net);

	/* No RTNL here, and this namespace's devices are gone: flushing is safe. */
	net6_tcp_net_exit(nn);
	net6_iface_net_exit(nn);
	net6_nf_net_drain(nn);
	net6_tunnel_net_exit(nn);
	net6_ip6tnl_net_exit(nn);
	destroy_workqueue(nn->wq);
	net6_dest_net_exit(nn);
	net6_nf_net_exit(nn);
	net6_rules_net_exit(nn);
	net6_reasm_net_exit(nn);
	net6_icmp_net_exit(nn);
	net6_policy_net_exit(nn);
	net6_claim_net_exit(nn);
	net6_accept_net_exit(nn);
	net6_addr_chain_net_exit(nn);
	net6_addr_net_exit(nn);
	net6_iface_find_net_free(nn);
	rcu_barrier();
	free_percpu(nn->mib);
}

static struct pernet_operations net6_net_ops = {
	.init		= net6_net_init,
	.pre_exit	= net6_net_pre_exit,
	.exit		= net6_net_exit,
	.id		= &net6_net_id,
	.size		= sizeof(struct net6_net),
};

/* Pairs of start and stop in the order of loading. */
static const struct {
	const char *name;
	int (*init)(void);
	void (*exit)(void);
} net6_parts[] = {
#ifdef NET6_COVER
	{ "coverage",		net6_cover_init,	net6_cover_exit },
#endif
	{ "destination cache",	net6_dest_init,		net6_dest_exit },
	{ "output",		net6_output_init,	net6_output_exit },
	{ "input",		net6_input_init,	net6_input_exit },
	{ "ICMPv6",		net6_icmp_init,		net6_icmp_exit },
	{ "Neighbor Discovery",	net6_nd_init,		net6_nd_exit },
	{ "mapped addresses",	net6_mapped_stream_init, net6_mapped_stream_exit },
	{ "UDP",		net6_udp_init,		net6_udp_exit },
	{ "raw sockets",	net6_raw_init,		net6_raw_exit },
	{ "TCP",		net6_tcp_init,		net6_tcp_exit },
	{ "netfilter",		net6_nf_init,		net6_nf_exit },
	{ "namespaces",		NULL,			NULL },
	{ "interfaces",		net6_iface_init,	net6_iface_exit },
	{ "rules",		net6_rules_init,	net6_rules_exit },
	{ "tunnels",		net6_tunnel_init,	net6_tunnel_exit },
	{ "tunnels over IPv6",	net6_ip6tnl_init,	net6_ip6tnl_exit },
	{ "netlink",		net6_genl_init,		net6_genl_exit },
	{ "notifications",	net6_notify_init,	net6_notify_exit },
	{ "sysctl",		net6_sysctl_init,	net6_sysctl_exit },
	{ "rtnetlink",		net6_rtnetlink_init,	net6_rtnetlink_exit },
	{ "sock_diag",		net6_diag_request_init,	net6_diag_request_exit },
	{ "proc",		net6_proc_init,		net6_proc_exit },
	{ "sockets",		net6_family_init,	net6_family_exit },
	{ "the kernel's stubs",	net6_stub_init,		net6_stub_exit },
	{ "AF_INET6",		net6_family_inet6_init,	net6_family_inet6_exit },
};

static int net6_part_start(size_t i)
{
	if (net6_parts[i].init)
		return net6_parts[i].init();
	return register_pernet_subsys(&net6_net_ops);
}

static void net6_part_stop(size_t i)
{
	if (net6_parts[i].exit)
		net6_parts[i].exit();
	else
		unregister_pernet_subsys(&net6_net_ops);
}

static int __init net6_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(net6_parts); i++) {
		err = net6_part_start(i);
		if (err) {
			pr_err("cannot start %s: error %d\n", net6_parts[i].name, err);
			while (i-- > 0)
				net6_part_stop(i);
			return err;
		}
	}
	return 0;
}

static void __exit net6_exit(void)
{
	size_t i = ARRAY_SIZE(net6_parts);

	while (i-- > 0)
		net6_part_stop(i);
	rcu_barrier();
}

module_init(net6_init);
module_exit(net6_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(NET6_VERSION));
MODULE_DESCRIPTION("net6, an independent IPv6 stack");
