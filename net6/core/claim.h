/* SPDX-License-Identifier: GPL-2.0 */
/* Counts what each user's sockets have joined on an interface, and bounds it. */
#ifndef _NET6_CLAIM_H
#define _NET6_CLAIM_H

#include <linux/uidgid.h>

#include "iface.h"

/* nn->lock held. */
int net6_claim_take(const struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid);
void net6_claim_give(const struct net6_iface *iface, const struct in6_addr *addr, kuid_t uid);

int net6_claim_net_init(struct net6_net *nn);
void net6_claim_net_exit(struct net6_net *nn);

#endif /* _NET6_CLAIM_H */
