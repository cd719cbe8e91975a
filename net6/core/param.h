/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of an interface that operators set: by number, with bounds and defaults. They are
 * listed in Documentation/netlink/specs/net6.yaml, from which settings_gen.h is made.
 */
#ifndef _NET6_PARAM_H
#define _NET6_PARAM_H

#include <linux/types.h>

#include "settings_gen.h"

struct net6_iface;
struct net6_net;

enum net6_param {
#define X(name, least, largest, initial)	NET6_PARAM_##name,
	NET6_PARAM_LIST(X)
#undef X
	NET6_PARAMS
};

/**
 * struct net6_param_bounds - what a parameter may be
 * @min: least value; @max: largest one
 * @initial: of interfaces, as long as their namespace has no other default
 */
struct net6_param_bounds {
	s32	min;
	s32	max;
	s32	initial;
};

extern const struct net6_param_bounds net6_param_bounds[NET6_PARAMS];

s32 net6_param_get(const struct net6_iface *iface, enum net6_param param);	/* any context */

/* nn->lock held. */
int net6_param_set(struct net6_iface *iface, enum net6_param param, s32 value);

void net6_param_net_init(struct net6_net *nn);
/* Both take nn->lock. */
void net6_param_iface_init(struct net6_iface *iface);
void net6_param_iface_attached(struct net6_iface *iface);

#endif /* _NET6_PARAM_H */
