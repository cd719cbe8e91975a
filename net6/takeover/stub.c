// SPDX-License-Identifier: GPL-2.0
/* The tables through which the kernel calls native IPv6 (net/ipv6_stubs.h), in takeover mode.
 * Native, switched off, has left one of them null and holes in the other.
 *
 * Limits: routes, neighbors and tunnels of other modules stay as without IPv6, for which the
 * kernel's own entries say EAFNOSUPPORT.
 *
 * Kernels without tables, from 7.1 on, call native IPv6, which net6 cannot change: BPF helpers and
 * UDP tunnels of other modules do not find net6 there.
 *
 * Nobody can tell when the last reader of a table has gone. So tables are made once and stay when
 * net6 goes. What is left in them then is in the kernel itself.
 */
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "../compat/ipv6_stubs.h"
#include "../transport/dgram.h"
#include "../socket/sock.h"
#include "takeover.h"

#ifdef NET6_COMPAT_HAS_STUBS

static struct sock *net6_stub_udp_lookup(const struct net *net, const struct in6_addr *saddr,
					 __be16 sport, const struct in6_addr *daddr, __be16 dport,
					 int dif, int sdif, struct udp_table *tbl,
					 struct sk_buff *skb)
{
	const struct net6_dgram_key key = {
		.laddr		= daddr,
		.faddr		= saddr,
		.lport		= ntohs(dport),
		.fport		= sport,
		.dif		= dif,
		.protocol	= IPPROTO_UDP,
	};

	return net6_dgram_lookup((struct net *)net, &key, NULL);
}

NET6_COMPAT_STUB_LOOKUP(net6_stub_udp_lookup)

/* Asked only for a route that fib6_lookup() has found, and that finds none. */
static int net6_stub_get_saddr(struct net *net, const struct net_device *dst_dev,
			       const struct in6_addr *daddr, unsigned int prefs,
			       struct in6_addr *saddr)
{
	return -EADDRNOTAVAIL;
}

/* A UDP tunnel's socket switches encapsulation on; native's entry is null. */
static int net6_stub_encap_init(void)
{
	struct ipv6_stub *stub;

	if (ipv6_stub->udpv6_encap_enable)
		return 0;
	stub = kmemdup(ipv6_stub, sizeof(*stub), GFP_KERNEL);
	if (!stub)
		return -ENOMEM;
	stub->udpv6_encap_enable = udp_encap_enable;
	/* Pairs with the dependency of whoever reads through the pointer. */
	smp_store_release(&ipv6_stub, stub);
	return 0;
}

/**
 * net6_stub_init() - BPF helpers and tunnels find net6 where they look for native IPv6
 *
 * Does nothing where native IPv6 is on, or where sockets of AF_INET6 are not made here.
 * Context: process. Return: 0 or -ENOMEM.
 */
int net6_stub_init(void)
{
	struct ipv6_bpf_stub *bpf = (struct ipv6_bpf_stub *)ipv6_bpf_stub;
	int err;

	if (ipv6_mod_enabled() || !net6_family_has_inet6())
		return 0;
	err = net6_stub_encap_init();
	if (err)
		return err;
	if (!bpf) {
		bpf = kzalloc(sizeof(*bpf), GFP_KERNEL);
		if (!bpf)
			return -ENOMEM;
	}
	bpf->inet6_bind = net6_bind_bpf;
	bpf->ipv6_setsockopt = net6_setsockopt_bpf;
	bpf->ipv6_getsockopt = net6_getsockopt_bpf;
	bpf->ipv6_dev_get_saddr = net6_stub_get_saddr;
	WRITE_ONCE(bpf->udp6_lib_lookup, net6_compat_stub_lookup(bpf, net6_stub_udp_lookup));
	/* Pairs with the dependency, as above. */
	smp_store_release(&ipv6_bpf_stub, bpf);
	return 0;
}

/**
 * net6_stub_exit() - undo net6_stub_init()
 *
 * No socket of AF_INET6 exists any more, so of BPF's table programs call the look-up only:
 * native's finds nothing. Context: process, sleeps for a grace period.
 */
void net6_stub_exit(void)
{
	struct ipv6_bpf_stub *bpf = (struct ipv6_bpf_stub *)ipv6_bpf_stub;

	if (ipv6_mod_enabled() || !net6_family_has_inet6())
		return;
	WRITE_ONCE(bpf->udp6_lib_lookup, __udp6_lib_lookup);
	bpf->inet6_bind = NULL;
	bpf->ipv6_setsockopt = NULL;
	bpf->ipv6_getsockopt = NULL;
	bpf->ipv6_dev_get_saddr = NULL;
	synchronize_rcu();
}

#else

int net6_stub_init(void)
{
	return 0;
}

void net6_stub_exit(void)
{
}

#endif /* NET6_COMPAT_HAS_STUBS */
