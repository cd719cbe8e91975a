// SPDX-License-Identifier: GPL-2.0
/* Parameters of an interface that operators set, through netlink or sysctl. */
#include "forward.h"
#include "ip.h"
#include "mld.h"
#include "nd.h"
#include "param.h"

const struct net6_param_bounds net6_param_bounds[NET6_PARAMS] = {
#define X(name, least, largest, initial)	{ least, largest, initial },
	NET6_PARAM_LIST(X)
#undef X
};

/**
 * net6_param_get() - a parameter's value
 * @iface: interface
 * @param: which
 *
 * Context: any. Return: value in the unit that its specification gives.
 */
s32 net6_param_get(const struct net6_iface *iface, enum net6_param param)
{
	switch (param) {
	case NET6_PARAM_MTU:
		return READ_ONCE(iface->mtu);
	case NET6_PARAM_FORWARDING:
		return net6_forward_on(iface);
	case NET6_PARAM_HOP_LIMIT:
		return READ_ONCE(iface->cur_hop_limit);
	case NET6_PARAM_DAD_TRANSMITS:
		return READ_ONCE(iface->dad_transmits);
	case NET6_PARAM_ACCEPT_RA:
		return READ_ONCE(iface->accept_ra);
	case NET6_PARAM_AUTOCONF:
		return READ_ONCE(iface->autoconf);
	case NET6_PARAM_NDISC_NOTIFY:
		return READ_ONCE(iface->ndisc_notify);
	case NET6_PARAM_PROXY_NDP:
		return READ_ONCE(iface->proxy_ndp);
	case NET6_PARAM_OPTIMISTIC_DAD:
		return READ_ONCE(iface->optimistic_dad);
	case NET6_PARAM_USE_TEMPADDR:
		return READ_ONCE(iface->use_tempaddr);
	case NET6_PARAM_TEMP_VALID:
		return READ_ONCE(iface->temp_valid);
	case NET6_PARAM_TEMP_PREFERRED:
		return READ_ONCE(iface->temp_preferred);
	case NET6_PARAM_BASE_REACHABLE:
		return READ_ONCE(iface->base_reachable_ms);
	case NET6_PARAM_RETRANS:
		return jiffies_to_msecs(READ_ONCE(iface->retrans));
	case NET6_PARAM_DISABLE_IPV6:
		return test_bit(NET6_IFACE_DISABLED, &iface->flags) ||
		       test_bit(NET6_IFACE_NOT_UNIQUE, &iface->flags);
	default:
		return net6_conf(iface, param);
	}
}

static int net6_param_set_mtu(struct net6_iface *iface, u32 mtu)
	__must_hold(&iface->nn->lock)
{
	/* RFC 8200 section 5: not below 1280; what the device cannot send is no MTU */
	if (mtu && (mtu < NET6_MIN_MTU || mtu > READ_ONCE(iface->dev->mtu)))
		return -EINVAL;
	iface->ra_mtu = mtu;
	net6_iface_set_mtu(iface);
	net6_dest_flush(iface->nn);
	return 0;
}

/**
 * net6_param_set() - change a parameter
 * @iface: interface
 * @param: which
 * @value: in the unit that its specification gives
 *
 * Context: nn->lock held. Return: 0, or -EINVAL for what is out of bounds.
 */
int net6_param_set(struct net6_iface *iface, enum net6_param param, s32 value)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	if (value < net6_param_bounds[param].min || value > net6_param_bounds[param].max)
		return -EINVAL;
	switch (param) {
	case NET6_PARAM_MTU:
		return net6_param_set_mtu(iface, value);
	case NET6_PARAM_FORWARDING:
		net6_forward_set(iface, value);
		break;
	case NET6_PARAM_HOP_LIMIT:
		WRITE_ONCE(iface->cur_hop_limit, value);
		break;
	case NET6_PARAM_DAD_TRANSMITS:
		WRITE_ONCE(iface->dad_transmits, value);
		break;
	case NET6_PARAM_ACCEPT_RA:
		net6_nd_set_accept_ra(iface, value);
		break;
	case NET6_PARAM_AUTOCONF:
		WRITE_ONCE(iface->autoconf, value);
		break;
	case NET6_PARAM_NDISC_NOTIFY:
		WRITE_ONCE(iface->ndisc_notify, value);
		break;
	case NET6_PARAM_PROXY_NDP:
		WRITE_ONCE(iface->proxy_ndp, value);
		break;
	case NET6_PARAM_OPTIMISTIC_DAD:
		WRITE_ONCE(iface->optimistic_dad, value);
		break;
	case NET6_PARAM_USE_TEMPADDR:
		WRITE_ONCE(iface->use_tempaddr, value);
		net6_dest_flush(iface->nn);
		break;
	case NET6_PARAM_TEMP_VALID:
		WRITE_ONCE(iface->temp_valid, value);
		break;
	case NET6_PARAM_TEMP_PREFERRED:
		WRITE_ONCE(iface->temp_preferred, value);
		break;
	case NET6_PARAM_BASE_REACHABLE:
		WRITE_ONCE(iface->base_reachable_ms, value);
		net6_nd_draw_reachable(iface);
		break;
	case NET6_PARAM_RETRANS:
		WRITE_ONCE(iface->retrans, max(msecs_to_jiffies(value), 1UL));
		break;
	case NET6_PARAM_DISABLE_IPV6:
		net6_iface_set_disabled(iface, value);
		break;
	case NET6_PARAM_ADDR_GEN_MODE:
		net6_addr_set_gen_mode(iface, value);
		break;
	case NET6_PARAM_FORCE_MLD_VERSION:
		net6_mld_force_version(iface, value);
		break;
	case NET6_PARAM_USE_OPTIMISTIC:
		WRITE_ONCE(iface->conf[param], value);
		net6_dest_flush(iface->nn);
		break;
	default:
		WRITE_ONCE(iface->conf[param], value);
		break;
	}
	return 0;
}

/**
 * net6_param_net_init() - a namespace's defaults
 * @nn: namespace
 *
 * Context: process.
 */
void net6_param_net_init(struct net6_net *nn)
{
	unsigned int i;

	for (i = 0; i < NET6_PARAMS; i++)
		nn->param_default[i] = net6_param_bounds[i].initial;
}

/**
 * net6_param_iface_init() - give a new interface its namespace's defaults
 * @iface: interface that nobody else sees yet
 *
 * MTU is the device's, and net6_param_iface_attached() follows for what needs the tables.
 * Context: process; takes nn->lock.
 */
void net6_param_iface_init(struct net6_iface *iface)
{
	struct net6_net *nn = iface->nn;
	unsigned int i;

	spin_lock_bh(&nn->lock);
	for (i = 0; i < NET6_PARAMS; i++)
		if (i != NET6_PARAM_MTU && i != NET6_PARAM_FORWARDING)
			net6_param_set(iface, i, nn->param_default[i]);
	if (iface->ops->flags & NET6_LINK_ARRANGED)
		net6_param_set(iface, NET6_PARAM_ADDR_GEN_MODE, NET6_ADDR_GEN_NONE);
	spin_unlock_bh(&nn->lock);
}

/**
 * net6_param_iface_attached() - the rest of net6_param_iface_init()
 * @iface: interface that is in the tables now
 *
 * Context: process; takes nn->lock.
 */
void net6_param_iface_attached(struct net6_iface *iface)
{
	struct net6_net *nn = iface->nn;

	spin_lock_bh(&nn->lock);
	net6_param_set(iface, NET6_PARAM_FORWARDING, (iface->ops->flags & NET6_LINK_TRANSIT) ||
		       nn->param_default[NET6_PARAM_FORWARDING]);
	spin_unlock_bh(&nn->lock);
}
