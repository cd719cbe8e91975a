/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of native IPv6. The namespace of a socket look-up is const in later kernels, and in
 * stable 6.12 since one between .95 and .117. So the member's type is asked and no number. Kernels
 * from 7.1 on have no tables: who wants native IPv6 calls it. Ends with the last kernel below.
 */
#ifndef _NET6_COMPAT_IPV6_STUBS_H
#define _NET6_COMPAT_IPV6_STUBS_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define NET6_COMPAT_HAS_STUBS
#include <net/ipv6_stubs.h>
#endif

/* Defines NAME_plain(), which calls NAME(), whose namespace is const. */
#define NET6_COMPAT_STUB_LOOKUP(name)							\
static struct sock * __maybe_unused							\
name##_plain(struct net *net, const struct in6_addr *saddr, __be16 sport,		\
	     const struct in6_addr *daddr, __be16 dport, int dif, int sdif,		\
	     struct udp_table *tbl, struct sk_buff *skb)				\
{											\
	return name(net, saddr, sport, daddr, dport, dif, sdif, tbl, skb);		\
}

/* The one of the two that the table wants. */
#define net6_compat_stub_lookup(bpf, name)						\
	__builtin_choose_expr(__same_type((bpf)->udp6_lib_lookup, &(name)), name, name##_plain)

#endif /* _NET6_COMPAT_IPV6_STUBS_H */
