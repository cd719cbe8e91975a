/* SPDX-License-Identifier: GPL-2.0 */
/* What net6_tunnel4.ko has for net6's tunnels: see tunnel4.c. */
#ifndef _NET6_TUNNEL4_H
#define _NET6_TUNNEL4_H

#include <net/xfrm.h>

int net6_tunnel4_register(struct xfrm_tunnel *handler);
void net6_tunnel4_deregister(struct xfrm_tunnel *handler);

#endif /* _NET6_TUNNEL4_H */
