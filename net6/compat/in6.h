/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses that the kernel has but exports to nobody from 7.1 on, when IPv6 became no module. Ends
 * with the last kernel below 7.1.
 */
#ifndef _NET6_COMPAT_IN6_H
#define _NET6_COMPAT_IN6_H

#include <linux/in6.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define NET6_COMPAT_IN6(name, init) \
	static const struct in6_addr __maybe_unused net6_compat_##name = init

NET6_COMPAT_IN6(interfacelocal_allnodes, IN6ADDR_INTERFACELOCAL_ALLNODES_INIT);
NET6_COMPAT_IN6(interfacelocal_allrouters, IN6ADDR_INTERFACELOCAL_ALLROUTERS_INIT);
NET6_COMPAT_IN6(linklocal_allrouters, IN6ADDR_LINKLOCAL_ALLROUTERS_INIT);
NET6_COMPAT_IN6(sitelocal_allrouters, IN6ADDR_SITELOCAL_ALLROUTERS_INIT);

#define in6addr_interfacelocal_allnodes		net6_compat_interfacelocal_allnodes
#define in6addr_interfacelocal_allrouters	net6_compat_interfacelocal_allrouters
#define in6addr_linklocal_allrouters		net6_compat_linklocal_allrouters
#define in6addr_sitelocal_allrouters		net6_compat_sitelocal_allrouters
#endif

#endif /* _NET6_COMPAT_IN6_H */
