/* SPDX-License-Identifier: GPL-2.0 */
/* Anycast addresses of an interface: struct net6_accept in iface->anycast. */
#ifndef _NET6_ANYCAST_H
#define _NET6_ANYCAST_H

#include <linux/in6.h>
#include <linux/uidgid.h>

struct net6_addr;
struct net6_iface;

/* Process or softirq; take nn->lock. */
int net6_anycast_join(struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid);
void net6_anycast_leave(struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid);

/* RCU read lock held. */
bool net6_anycast_find(const struct net6_iface *iface, const struct in6_addr *addr);

/* nn->lock held. */
void net6_anycast_subnet_router(struct net6_addr *addr, bool on);
void net6_anycast_set_router(struct net6_iface *iface);
void net6_anycast_leave_all(struct net6_iface *iface);

#endif /* _NET6_ANYCAST_H */
