/* SPDX-License-Identifier: GPL-2.0 */
/* Prefixes of NAT64 that routers tell (RFC 8781), for programs and for translators. Nothing in net6
 * itself acts on them.
 */
#ifndef _NET6_PREF64_H
#define _NET6_PREF64_H

#include <linux/in6.h>

#include "life.h"

struct net6_iface;

/* A router tells one, or two while it moves. More are those of a stranger. */
#define NET6_PREF64_MAX	8	/* an interface */

/**
 * struct net6_pref64 - one that a router tells
 * @prefix: bits beyond @plen are zero, and so are bits 64 to 71 (RFC 6052 2.2)
 * @router: link-local address of the router
 * @iface: borrowed: they go with it
 * @plen: 32, 40, 48, 56, 64 or 96
 * @life: in iface->pref64s
 */
struct net6_pref64 {
	struct in6_addr		prefix;
	struct in6_addr		router;
	struct net6_iface	*iface;
	u8			plen;
	struct net6_life	life;
};

void net6_pref64_told(struct net6_iface *iface, const struct in6_addr *router,
		      const struct in6_addr *prefix, u8 plen, u32 lifetime);

/* nn->lock held. */
void net6_pref64_end(struct net6_life *life);	/* its lifetime is over */
void net6_pref64_forget_all(struct net6_iface *iface);

#endif /* _NET6_PREF64_H */
