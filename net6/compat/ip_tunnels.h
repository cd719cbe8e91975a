/* SPDX-License-Identifier: GPL-2.0 */
/* Tunnels over IPv4: iptunnel_xmit() has flags for the control block from 6.17 on, and routes are
 * asked for by DSCP from 6.18 on. Ends with the last kernel below 6.18.
 */
#ifndef _NET6_COMPAT_IP_TUNNELS_H
#define _NET6_COMPAT_IP_TUNNELS_H

#include <linux/version.h>
#include <net/inet_dscp.h>
#include <net/ip_tunnels.h>

static inline void net6_compat_set_tos(struct flowi4 *fl4, u8 tos)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
	fl4->flowi4_tos = RT_TOS(tos);
#else
	fl4->flowi4_dscp = inet_dsfield_to_dscp(tos);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define net6_compat_iptunnel_xmit	iptunnel_xmit
#else
#define net6_compat_iptunnel_xmit(...)	iptunnel_xmit(__VA_ARGS__, 0)
#endif

#endif /* _NET6_COMPAT_IP_TUNNELS_H */
