// SPDX-License-Identifier: GPL-2.0
/* net6_tunnel4.ko: the kernel's tunnel4 by names that symbol_get() takes, which are those of
 * EXPORT_SYMBOL_GPL() alone. So net6 can be loaded without tunnel4, and asks for it when the
 * first tunnel is made.
 */
#include <linux/module.h>

#include "tunnel4.h"

/**
 * net6_tunnel4_register() - take IPv4 packets of protocol 41
 * @handler: what takes them
 *
 * Context: process. Return: 0 or -EEXIST.
 */
int net6_tunnel4_register(struct xfrm_tunnel *handler)
{
	return xfrm4_tunnel_register(handler, AF_INET6);
}
EXPORT_SYMBOL_GPL(net6_tunnel4_register);

/**
 * net6_tunnel4_deregister() - take them no more; no CPU is doing so when this returns
 * @handler: what was registered
 *
 * Context: process, sleeps.
 */
void net6_tunnel4_deregister(struct xfrm_tunnel *handler)
{
	xfrm4_tunnel_deregister(handler, AF_INET6);
}
EXPORT_SYMBOL_GPL(net6_tunnel4_deregister);

MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(NET6_VERSION));
MODULE_DESCRIPTION("IPv4's protocol 41 for net6's tunnels");
