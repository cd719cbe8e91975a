/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of struct net6_limits by name and number. */
#ifndef _NET6_ADMIN_LIMITS_H
#define _NET6_ADMIN_LIMITS_H

#include "../core/netns.h"
#include "netlink_gen.h"

#define NET6_LIMITS	NET6_A_LIMITS_MAX

/**
 * struct net6_limit_bounds - what a limit may be
 * @name: file under net.net6.limits
 * @attr: netlink attribute; its policy has the same bounds
 * @min: least value; @max: largest one
 * @offset: of the field in struct net6_limits
 */
struct net6_limit_bounds {
	const char	*name;
	int		attr;
	u32		min;
	u32		max;
	size_t		offset;
};

extern const struct net6_limit_bounds net6_limit_bounds[NET6_LIMITS];

static inline u32 *net6_limit(struct net6_net *nn, const struct net6_limit_bounds *bounds)
{
	return (void *)&nn->limits + bounds->offset;
}

bool net6_limit_is_raise(struct net6_net *nn, const struct net6_limit_bounds *bounds, u32 value);
int  net6_limit_set(struct net6_net *nn, const struct net6_limit_bounds *bounds, u32 value,
		    bool host);

#endif /* _NET6_ADMIN_LIMITS_H */
