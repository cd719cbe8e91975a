// SPDX-License-Identifier: GPL-2.0
/* Router discovery of a host: solicitations (RFC 4861 6.3.7, RFC 7559) and what
 * advertisements say (6.3.4, RFC 4191, RFC 4862 5.5.3), whatever values they carry.
 */
#include <linux/random.h>
#include <linux/rculist.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "../compat/timer.h"
#include "../observe/note.h"
#include "forward.h"
#include "ip.h"
#include "nd.h"
#include "nd_opts.h"
#include "pref64.h"

/* RFC 4861 6.2.1: AdvReachableTime is at most an hour; more is not believed. The
 * same bound is set to RetransTimer, which the RFC leaves open: with a larger one
 * detection of duplicates would not end. Below 10 ms probes would be a flood.
 */
#define NET6_MAX_TIMER_MS		3600000U
#define NET6_MIN_RETRANS_MS		10U
#define NET6_RA_MAX_HANDED_ON		32	/* options of one advertisement */

/* Router Advertisement, RFC 4861 4.2 */
struct net6_ra_msg {
	struct icmp6hdr	icmp;
	__be32		reachable;
	__be32		retrans;
};

/**
 * net6_nd_draw_reachable() - draw a new ReachableTime
 * @iface: interface
 *
 * RFC 4861 6.3.2: uniform between MIN_RANDOM_FACTOR 0.5 and MAX_RANDOM_FACTOR 1.5
 * times BaseReachableTime. Context: any.
 */
void net6_nd_draw_reachable(struct net6_iface *iface)
{
	u32 base = max(READ_ONCE(iface->base_reachable_ms), 2U);

	WRITE_ONCE(iface->reachable,
		   msecs_to_jiffies(base / 2 + get_random_u32_below(base)) ?: 1);
	WRITE_ONCE(iface->reachable_renewed, jiffies);
}

/* It is over, and goes. */
static void net6_nd_end(struct net6_life *life)
{
	switch (life->of) {
	case NET6_LIFE_ROUTER:
		net6_router_end(life);
		break;
	case NET6_LIFE_TOLD:
		net6_told_end(life);
		break;
	case NET6_LIFE_PREFIX:
		net6_prefix_end(life);
		break;
	case NET6_LIFE_ROUTE:
		net6_fib_end(life);
		break;
	case NET6_LIFE_PREF64:
		net6_pref64_end(life);
		break;
	}
}

/* Drop routers, prefixes and routes that are over, wait for the next end. */
static void net6_nd_life_fn(struct timer_list *t)
{
	struct net6_iface *iface = timer_container_of(iface, t, life_timer);
	unsigned long next;

	spin_lock(&iface->nn->lock);
	next = net6_life_expire(&iface->ends, net6_nd_end);
	if (next != NET6_LIFE_NEVER && !test_bit(NET6_IFACE_DEAD, &iface->flags))
		timer_reduce(&iface->life_timer, net6_nd_life_at(next));
	spin_unlock(&iface->nn->lock);
}

/* RFC 7559 section 2: RT = 2*RTprev + RAND*RTprev, IRT + RAND*IRT the first time and
 * MRT + RAND*MRT at most; RAND between -0.1 and 0.1.
 */
static unsigned long net6_rs_backoff(const struct net6_iface *iface)
{
	unsigned long irt = net6_conf(iface, NET6_PARAM_ROUTER_SOLICITATION_INTERVAL) * HZ;
	unsigned long mrt = net6_conf(iface, NET6_PARAM_ROUTER_SOLICITATION_MAX_INTERVAL) * HZ;
	unsigned long prev = iface->rs_delay;
	unsigned long next = prev ? 2 * prev : irt;
	unsigned long spread = prev ?: next;

	if (next > mrt) {
		next = mrt;
		spread = next;
	}
	return next - spread / 10 + get_random_u32_below(spread / 5);
}

/**
 * net6_nd_wants_ra() - are routers believed?
 * @iface: interface
 *
 * RFC 4861 6.3: hosts discover routers. A router at the customer's end of a line (RFC 7084) is a
 * host on that link, but forwards. Context: any. Return: true if they are.
 */
bool net6_nd_wants_ra(const struct net6_iface *iface)
{
	return READ_ONCE(iface->accept_ra) > net6_forward_on(iface);
}

/* RFC 4861 6.3.7 has three and no more, RFC 7559 does not end. */
static bool net6_rs_left(const struct net6_iface *iface)
{
	s32 most = net6_conf(iface, NET6_PARAM_ROUTER_SOLICITATIONS);

	return most < 0 || iface->rs_sent < (u32)most;
}

static void net6_nd_rs_fn(struct timer_list *t)
{
	struct net6_iface *iface = timer_container_of(iface, t, rs_timer);
	bool send;

	rcu_read_lock();
	spin_lock(&iface->nn->lock);
	send = net6_iface_usable(iface) && net6_nd_wants_ra(iface) &&
	       net6_rs_left(iface) && !timer_pending(&iface->rs_timer);
	if (send) {
		iface->rs_sent++;
		iface->rs_delay = net6_rs_backoff(iface);
		if (net6_rs_left(iface))
			mod_timer(&iface->rs_timer, jiffies + iface->rs_delay);
	}
	spin_unlock(&iface->nn->lock);
	if (send)
		net6_nd_send_rs(iface);
	rcu_read_unlock();
}

void net6_nd_timers_init(struct net6_iface *iface)
{
	timer_setup(&iface->rs_timer, net6_nd_rs_fn, 0);
	timer_setup(&iface->life_timer, net6_nd_life_fn, 0);
}

void net6_nd_timers_stop(struct net6_iface *iface)
{
	might_sleep();
	timer_delete_sync(&iface->rs_timer);
	timer_delete_sync(&iface->life_timer);
}

static bool net6_nd_has_routers(const struct net6_iface *iface)
{
	return iface->ops->flags & (NET6_LINK_ND | NET6_LINK_RAW);
}

/* nn->lock held. As native, not on a raw link without a link-local address. It may never get one,
 * and then nobody is there who would answer.
 */
static bool net6_nd_may_ask(const struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	struct in6_addr own;

	return net6_nd_has_routers(iface) &&
	       (!(iface->ops->flags & NET6_LINK_RAW) || net6_addr_linklocal(iface, &own));
}

/* nn->lock held. RFC 4861 6.3.7: after a random delay of at most MAX_RTR_SOLICITATION_DELAY. */
static void net6_nd_discover(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	u32 delay = net6_conf(iface, NET6_PARAM_ROUTER_SOLICITATION_DELAY) * HZ;

	if (!net6_nd_may_ask(iface))
		return;
	if (!net6_nd_wants_ra(iface) || test_bit(NET6_IFACE_DEAD, &iface->flags))
		return;
	iface->rs_delay = 0;
	iface->rs_sent = 0;
	mod_timer(&iface->rs_timer, jiffies + 1 + (delay ? get_random_u32_below(delay) : 0));
}

/**
 * net6_nd_set_router() - a host has become a router, or a router a host
 * @iface: interface whose forwarding was changed
 *
 * Context: nn->lock held.
 */
void net6_nd_set_router(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	if (!net6_forward_on(iface)) {
		if (net6_iface_usable(iface))
			net6_nd_discover(iface);
		return;
	}
	net6_dad_set_router(iface);
	if (net6_nd_wants_ra(iface))
		return;
	timer_delete(&iface->rs_timer);
	net6_router_forget_all(iface, false);
	net6_fib_forget_all(iface, false);
	net6_pref64_forget_all(iface);
}

/**
 * net6_nd_set_accept_ra() - believe routers from now on, or no more
 * @iface: interface
 * @accept_ra: 0 to 2, see struct net6_iface
 *
 * All that was learned stays, and is not renewed if they are not believed any more.
 * Context: nn->lock held.
 */
void net6_nd_set_accept_ra(struct net6_iface *iface, u8 accept_ra)
	__must_hold(&iface->nn->lock)
{
	bool before = net6_nd_wants_ra(iface);

	lockdep_assert_held(&iface->nn->lock);
	WRITE_ONCE(iface->accept_ra, accept_ra);
	if (!before && net6_iface_usable(iface))
		net6_nd_discover(iface);
}

/**
 * net6_nd_iface_up() - start router discovery
 * @iface: interface, usable
 *
 * Context: process or softirq; takes nn->lock.
 */
void net6_nd_iface_up(struct net6_iface *iface)
{
	if (!net6_nd_has_routers(iface))
		return;
	spin_lock_bh(&iface->nn->lock);
	net6_nd_draw_reachable(iface);
	net6_nd_discover(iface);
	spin_unlock_bh(&iface->nn->lock);
}

/**
 * net6_nd_linklocal() - an interface has its first link-local address
 * @iface: interface, usable
 *
 * A raw link's routers are asked from then on. Context: nn->lock held.
 */
void net6_nd_linklocal(struct net6_iface *iface)
	__must_hold(&iface->nn->lock)
{
	lockdep_assert_held(&iface->nn->lock);
	if ((iface->ops->flags & NET6_LINK_RAW) && net6_iface_usable(iface))
		net6_nd_discover(iface);
}

/**
 * net6_nd_iface_down() - forget what routers have said
 * @iface: interface, no longer usable
 * @all: the administrator's routers, prefixes and routes go, too
 *
 * Context: process or softirq; takes nn->lock.
 */
void net6_nd_iface_down(struct net6_iface *iface, bool all)
{
	spin_lock_bh(&iface->nn->lock);
	timer_delete(&iface->rs_timer);
	net6_router_forget_all(iface, all);
	net6_prefix_forget_all(iface, all);
	net6_fib_forget_all(iface, all);
	net6_pref64_forget_all(iface);
	iface->ra_mtu = 0;
	WRITE_ONCE(iface->ra_flags, 0);
	if (!test_bit(NET6_IFACE_DEAD, &iface->flags))
		net6_iface_set_mtu(iface);
	spin_unlock_bh(&iface->nn->lock);
}

/* RFC 4861 4.2: what it says of DHCPv6, which is for others to do. */
static void net6_ra_flags(struct net6_iface *iface, const struct net6_ra_msg *ra)
{
	u8 flags = NET6_RA_RECEIVED;
	bool changed;

	if (ra->icmp.icmp6_addrconf_managed)
		flags |= NET6_RA_MANAGED;
	if (ra->icmp.icmp6_addrconf_other)
		flags |= NET6_RA_OTHER;
	spin_lock_bh(&iface->nn->lock);
	changed = iface->ra_flags != flags && net6_iface_usable(iface);
	if (changed)
		WRITE_ONCE(iface->ra_flags, flags);
	spin_unlock_bh(&iface->nn->lock);
	if (changed)
		net6_note_ra_flags(iface);
}

/* RFC 4861 6.3.4: hop limit and timers; a value of zero is "unspecified". */
static void net6_ra_parameters(struct net6_iface *iface, const struct net6_ra_msg *ra,
			       const struct net6_nd_opts *opts)
{
	u32 reachable = ntohl(ra->reachable);
	u32 retrans = ntohl(ra->retrans);

	spin_lock_bh(&iface->nn->lock);
	if (ra->icmp.icmp6_hop_limit &&
	    ra->icmp.icmp6_hop_limit >= net6_conf(iface, NET6_PARAM_ACCEPT_RA_MIN_HOP_LIMIT))
		WRITE_ONCE(iface->cur_hop_limit, ra->icmp.icmp6_hop_limit);
	if (reachable && reachable <= NET6_MAX_TIMER_MS && reachable != iface->base_reachable_ms) {
		WRITE_ONCE(iface->base_reachable_ms, reachable);
		net6_nd_draw_reachable(iface);
	}
	if (retrans && retrans <= NET6_MAX_TIMER_MS)
		WRITE_ONCE(iface->retrans, msecs_to_jiffies(max(retrans, NET6_MIN_RETRANS_MS)));
	/* "hosts MUST NOT ... use MTU values larger than the link's default or
	 * smaller than the minimum link MTU" (6.3.4, RFC 8200 5)
	 */
	if (opts->mtu >= NET6_MIN_MTU && opts->mtu <= iface->dev->mtu &&
	    opts->mtu != iface->ra_mtu && net6_conf(iface, NET6_PARAM_ACCEPT_RA_MTU)) {
		iface->ra_mtu = opts->mtu;
		net6_iface_set_mtu(iface);
	}
	spin_unlock_bh(&iface->nn->lock);
}

/* What ends at once is always taken. */
static bool net6_ra_too_short(const struct net6_iface *iface, u32 lifetime)
{
	return lifetime && lifetime < (u32)net6_conf(iface, NET6_PARAM_ACCEPT_RA_MIN_LFT);
}

static bool net6_ra_wants_route(const struct net6_iface *iface, const struct net6_nd_route *info)
{
	return net6_conf(iface, NET6_PARAM_ACCEPT_RA_RTR_PREF) &&
	       (info->plen || net6_conf(iface, NET6_PARAM_ACCEPT_RA_DEFRTR)) &&
	       info->plen >= net6_conf(iface, NET6_PARAM_ACCEPT_RA_RT_INFO_MIN_PLEN) &&
	       info->plen <= net6_conf(iface, NET6_PARAM_ACCEPT_RA_RT_INFO_MAX_PLEN) &&
	       !net6_ra_too_short(iface, info->lifetime);
}

/* What it says of itself as a default router. RFC 4191 3.1, type C hosts: the values of a route
 * of no length "override" the header's. It is looked for first, so that prefixes find the router.
 * Otherwise it would go at each message with another lifetime, zero, in the header.
 */
static bool net6_ra_default(const struct net6_iface *iface, const struct net6_ra_msg *ra,
			    const struct net6_nd_opts *opts, struct net6_nd_route *found)
{
	const u8 *pos = opts->data;
	unsigned int left = opts->len;
	struct net6_nd_route info;
	struct net6_nd_opt opt;
	bool said;

	found->lifetime = ntohs(ra->icmp.icmp6_rt_lifetime);
	found->preference = net6_nd_preference(ra->icmp.icmp6_router_pref);
	/* RFC 4191 2.2: the reserved value "MUST be treated as" medium. */
	if (found->preference < -1 || !net6_conf(iface, NET6_PARAM_ACCEPT_RA_RTR_PREF))
		found->preference = 0;
	said = net6_conf(iface, NET6_PARAM_ACCEPT_RA_DEFRTR) &&
	       !net6_ra_too_short(iface, found->lifetime);
	while (net6_nd_opt_next(&pos, &left, &opt) > 0) {
		if (opt.type != NET6_ND_OPT_ROUTE || net6_nd_route_parse(&opt, &info) ||
		    info.plen || !net6_ra_wants_route(iface, &info))
			continue;
		*found = info;
		said = true;
	}
	return said;
}

static void net6_ra_router(struct net6_iface *iface, const struct in6_addr *addr,
			   const struct net6_ra_msg *ra, const struct net6_nd_opts *opts,
			   const u8 *lladdr)
{
	struct net6_route_attrs attrs;
	struct net6_nd_route info;
	struct net6_neigh_news news = {
		.event		= NET6_NEIGH_EV_LLADDR,
		.lladdr		= lladdr,
		.is_router	= true,
		.create		= lladdr,
	};

	net6_neigh_learn(iface, addr, &news);
	if (net6_ra_default(iface, ra, opts, &info)) {
		attrs = NET6_ROUTE_TOLD(info.preference);
		attrs.metric = net6_conf(iface, NET6_PARAM_RA_DEFRTR_METRIC);
		net6_router_update(iface, addr, &attrs, info.lifetime);
	}
	if (!ra->icmp.icmp6_rt_lifetime)
		return;
	/* RFC 4861 6.3.7: a router is known: "MUST desist from sending". */
	spin_lock_bh(&iface->nn->lock);
	timer_delete(&iface->rs_timer);
	spin_unlock_bh(&iface->nn->lock);
}

static void net6_ra_prefix(struct net6_iface *iface, const struct in6_addr *router,
			   const struct net6_nd_opt *opt)
{
	struct net6_nd_prefix info;
	struct in6_addr raw, prefix;
	int type;

	if (!net6_conf(iface, NET6_PARAM_ACCEPT_RA_PINFO) || net6_nd_prefix_parse(opt, &info) ||
	    net6_ra_too_short(iface, info.valid_lft))
		return;
	memcpy(&raw, info.prefix, sizeof(raw));
	ipv6_addr_prefix(&prefix, &raw, info.plen);
	type = ipv6_addr_type(&prefix);
	/* RFC 4861 6.3.4, RFC 4862 5.5.3 (b): "silently ignore the link-local
	 * prefix"; a prefix of groups can only be an error.
	 */
	if (type & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MULTICAST))
		return;

	net6_router_tells(iface, router, &prefix, info.plen, info.valid_lft);
	if (info.flags & NET6_ND_PREFIX_ONLINK)
		net6_prefix_update(iface, &prefix, info.plen, info.valid_lft, NET6_PREFIX_TOLD);
	/* RFC 4862 5.5.3 (a) A flag, (c) preferred not above valid, (d) prefix and
	 * identifier make 128 bits.
	 */
	if ((info.flags & NET6_ND_PREFIX_AUTO) && READ_ONCE(iface->autoconf) &&
	    info.preferred_lft <= info.valid_lft && info.plen == 64)
		net6_addr_slaac(iface, &prefix, info.valid_lft, info.preferred_lft);
}

/* RFC 4191 section 3.1: a route; of one of no length net6_ra_default() knows. */
static void net6_ra_route(struct net6_iface *iface, const struct in6_addr *router,
			  const struct net6_nd_opt *opt)
{
	struct in6_addr raw = {}, prefix;
	struct net6_nd_route info;

	if (net6_nd_route_parse(opt, &info) || !info.plen || !net6_ra_wants_route(iface, &info))
		return;
	memcpy(&raw, info.prefix, info.len);
	ipv6_addr_prefix(&prefix, &raw, info.plen);
	if (ipv6_addr_type(&prefix) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MULTICAST))
		return;
	net6_fib_update(iface, &prefix, info.plen, router, &NET6_ROUTE_TOLD(info.preference),
			info.lifetime);
}

static void net6_ra_dns(struct net6_iface *iface, const struct in6_addr *router,
			const struct net6_nd_opt *opt)
{
	struct net6_dns dns = {
		.iface	= iface,
		.router	= *router,
		.search	= opt->type == NET6_ND_OPT_DNSSL,
	};
	struct net6_nd_dns info;

	if (net6_nd_dns_parse(opt, &info))
		return;
	dns.lifetime = info.lifetime;
	dns.data = info.data;
	dns.len = info.len;
	NET6_INC(iface->nn, NdDnsOptions);
	net6_note_dns(&dns);
}

static void net6_ra_pref64(struct net6_iface *iface, const struct in6_addr *router,
			   const struct net6_nd_opt *opt)
{
	struct in6_addr raw = {}, prefix;
	struct net6_nd_pref64 info;

	if (net6_nd_pref64_parse(opt, &info) || net6_ra_too_short(iface, info.lifetime))
		return;
	memcpy(&raw, info.prefix, 12);
	ipv6_addr_prefix(&prefix, &raw, info.plen);
	/* RFC 6052 2.2: bits 64 to 71 "MUST be set to zero", also in a prefix of 96 bits. */
	if ((ipv6_addr_type(&prefix) & (IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MULTICAST)) ||
	    prefix.s6_addr[8])
		return;
	net6_pref64_told(iface, router, &prefix, info.plen, info.lifetime);
}

static void net6_ra_option(struct net6_iface *iface, const struct in6_addr *router,
			   const struct net6_nd_opt *opt)
{
	switch (opt->type) {
	case NET6_ND_OPT_PREFIX:
		net6_ra_prefix(iface, router, opt);
		break;
	case NET6_ND_OPT_ROUTE:
		net6_ra_route(iface, router, opt);
		break;
	case NET6_ND_OPT_RDNSS:
	case NET6_ND_OPT_DNSSL:
		net6_ra_dns(iface, router, opt);
		break;
	case NET6_ND_OPT_PREF64:
		net6_ra_pref64(iface, router, opt);
		break;
	}
}

/* An address that was found to be another node's is not ours. */
static bool net6_ra_is_from_us(struct net6_iface *iface, const struct in6_addr *saddr)
{
	const struct net6_addr *addr = net6_addr_find(iface, saddr);

	return addr && READ_ONCE(addr->state) != NET6_ADDR_DUPLICATE;
}

/* Are programs told of it? As native: of what they act on, not the kernel, and of prefixes. */
static bool net6_ra_hands_on(u8 type)
{
	return type == NET6_ND_OPT_PREFIX || type == NET6_ND_OPT_RDNSS ||
	       type == NET6_ND_OPT_DNSSL || type == NET6_ND_OPT_CAPTIVE ||
	       type == NET6_ND_OPT_PREF64;
}

static void net6_ra_options(struct net6_iface *iface, const struct in6_addr *router,
			    const struct net6_nd_opts *opts)
{
	unsigned int handed_on = 0, left = opts->len;
	const u8 *pos = opts->data;
	struct net6_nd_opt opt;

	while (net6_nd_opt_next(&pos, &left, &opt) > 0) {
		net6_ra_option(iface, router, &opt);
		if (!net6_ra_hands_on(opt.type) || handed_on == NET6_RA_MAX_HANDED_ON)
			continue;
		handed_on++;
		net6_note_ra_option(iface, router, &opt);
	}
}

/**
 * net6_ra_rcv() - a Router Advertisement
 * @iface: interface it came in on
 * @skb: data at the ICMPv6 header, checksum good; consumed
 *
 * Context: softirq, RCU read lock held.
 */
void net6_ra_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	enum net6_drop_reason reason;
	const struct net6_ra_msg *ra;
	struct net6_nd_opts opts;
	struct in6_addr saddr;
	const u8 *lladdr;
	u8 buf[MAX_ADDR_LEN];

	NET6_INC_IFACE(iface, Icmp6InRouterAdvertisements);
	if (!net6_nd_check(iface, skb, sizeof(*ra), &opts))
		return;
	ra = (const struct net6_ra_msg *)skb->data;
	saddr = ipv6_hdr(skb)->saddr;
	/* RFC 4861 6.1.2: "IP Source Address is a link-local address." And not ours. */
	reason = NET6_DROP_ND_SOURCE;
	if (!(ipv6_addr_type(&saddr) & IPV6_ADDR_LINKLOCAL) ||
	    (net6_ra_is_from_us(iface, &saddr) &&
	     !net6_conf(iface, NET6_PARAM_ACCEPT_RA_FROM_LOCAL)))
		goto drop;
	reason = NET6_DROP_ND_IGNORED;
	if (!net6_nd_wants_ra(iface) || !net6_iface_usable(iface) || !net6_nd_has_routers(iface))
		goto drop;
	reason = NET6_DROP_ND_OPTION;
	if (!net6_nd_lladdr(iface, opts.slla, opts.slla_len, buf, &lladdr))
		goto drop;

	net6_ra_parameters(iface, ra, &opts);
	net6_ra_router(iface, &saddr, ra, &opts, lladdr);
	net6_ra_options(iface, &saddr, &opts);
	net6_ra_flags(iface, ra);
	consume_skb(skb);
	return;

drop:
	net6_drop(iface->nn, skb, reason);
}
