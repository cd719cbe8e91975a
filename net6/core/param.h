/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of an interface that operators set: by number, with bounds and defaults. */
#ifndef _NET6_PARAM_H
#define _NET6_PARAM_H

#include <linux/types.h>

struct net6_iface;
struct net6_net;

enum net6_param {
	NET6_PARAM_MTU,			/* bytes, 0: the device's */
	NET6_PARAM_FORWARDING,
	NET6_PARAM_HOP_LIMIT,
	NET6_PARAM_DAD_TRANSMITS,
	NET6_PARAM_ACCEPT_RA,
	NET6_PARAM_AUTOCONF,
	NET6_PARAM_NDISC_NOTIFY,
	NET6_PARAM_PROXY_NDP,
	NET6_PARAM_OPTIMISTIC_DAD,
	NET6_PARAM_USE_TEMPADDR,
	NET6_PARAM_TEMP_VALID,		/* seconds */
	NET6_PARAM_TEMP_PREFERRED,	/* seconds */
	NET6_PARAM_BASE_REACHABLE,	/* milliseconds */
	NET6_PARAM_RETRANS,		/* milliseconds */
	NET6_PARAM_ACCEPT_RA_DEFRTR,
	NET6_PARAM_ACCEPT_RA_PINFO,
	NET6_PARAM_ACCEPT_RA_MTU,
	NET6_PARAM_ACCEPT_RA_RTR_PREF,
	NET6_PARAM_ACCEPT_RA_MIN_HOP_LIMIT,
	NET6_PARAM_ACCEPT_RA_MIN_LFT,	/* seconds */
	NET6_PARAM_ACCEPT_RA_RT_INFO_MIN_PLEN,	/* bits */
	NET6_PARAM_ACCEPT_RA_RT_INFO_MAX_PLEN,	/* bits */
	NET6_PARAM_ACCEPT_RA_FROM_LOCAL,
	NET6_PARAM_ACCEPT_REDIRECTS,
	NET6_PARAM_ROUTER_SOLICITATIONS,	/* -1: without end */
	NET6_PARAM_ROUTER_SOLICITATION_DELAY,	/* seconds */
	NET6_PARAM_ROUTER_SOLICITATION_INTERVAL,	/* seconds */
	NET6_PARAM_ROUTER_SOLICITATION_MAX_INTERVAL,	/* seconds */
	NET6_PARAM_DISABLE_IPV6,
	NET6_PARAM_ACCEPT_DAD,		/* 2: no IPv6 on a duplicate hardware address */
	NET6_PARAM_ENHANCED_DAD,
	NET6_PARAM_ADDR_GEN_MODE,		/* enum net6_addr_gen */
	NET6_PARAM_REGEN_MAX_RETRY,
	NET6_PARAM_MAX_DESYNC_FACTOR,	/* seconds */
	NET6_PARAM_USE_OPTIMISTIC,
	NET6_PARAM_KEEP_ADDR_ON_DOWN,	/* 0 and -1: not */
	NET6_PARAM_FORCE_TLLAO,
	NET6_PARAM_NDISC_TCLASS,
	NET6_PARAM_SUPPRESS_FRAG_NDISC,
	NET6_PARAM_DROP_UNSOLICITED_NA,
	NET6_PARAM_FORCE_MLD_VERSION,	/* 0: the querier's */
	NET6_PARAM_MLDV1_UNSOLICITED_REPORT_INTERVAL,	/* milliseconds */
	NET6_PARAM_MLDV2_UNSOLICITED_REPORT_INTERVAL,	/* milliseconds */
	NET6_PARAM_MCAST_SOLICIT,
	NET6_PARAM_UCAST_SOLICIT,
	NET6_PARAM_DELAY_FIRST_PROBE_TIME,	/* seconds */
	NET6_PARAM_ANYCAST_DELAY,		/* milliseconds */

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
