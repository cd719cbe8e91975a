// SPDX-License-Identifier: GPL-2.0
/* Neighbor Discovery messages, RFC 4861: validation of all of them, Neighbor and Router
 * Solicitations and Neighbor Advertisements in and out. Router Advertisements are in ra.c,
 * Redirects in redirect.c. It is left to radvd to advertise a router.
 */
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "../compat/in6.h"
#include "forward.h"
#include "icmp.h"
#include "nd.h"
#include "nd_opts.h"
#include "proxy.h"

/* Neighbor Solicitation and Advertisement, RFC 4861 4.3, 4.4. */
struct net6_nd_msg {
	struct icmp6hdr	icmp;
	struct in6_addr	target;
};

static void net6_nd_drop(struct net6_iface *iface, struct sk_buff *skb,
			 enum net6_drop_reason reason)
{
	net6_drop(iface->nn, skb, reason);
}

/**
 * net6_nd_check() - what must hold for every ND message
 * @iface: interface it came in on
 * @skb: data at the ICMPv6 header, checksum good; linear when this returns true
 * @len: bytes in front of the options
 * @opts: its options, filled in; they point into @skb
 *
 * RFC 4861 6.1.1, 6.1.2, 7.1.1, 7.1.2, 8.1. Context: softirq.
 * Return: false if the message was dropped.
 */
bool net6_nd_check(struct net6_iface *iface, struct sk_buff *skb, unsigned int len,
		   struct net6_nd_opts *opts)
{
	enum net6_drop_reason reason;

	/* "The IP Hop Limit field has a value of 255, i.e., the packet could not
	 * possibly have been forwarded by a router."
	 */
	reason = NET6_DROP_ND_HOP_LIMIT;
	if (ipv6_hdr(skb)->hop_limit != NET6_ND_HOP_LIMIT)
		goto drop;
	/* RFC 6980 section 5: fragmented ND messages MUST be ignored. */
	reason = NET6_DROP_ND_FRAGMENTED;
	if ((net6_rx_cb(skb)->flags & NET6_RX_FRAGMENTED) &&
	    net6_conf(iface, NET6_PARAM_SUPPRESS_FRAG_NDISC))
		goto drop;
	/* "ICMP length (derived from the IP length) is 8, 16, 24, 40 or more octets." */
	reason = NET6_DROP_ND_SHORT;
	if (skb->len < len)
		goto drop;
	reason = NET6_DROP_NO_MEMORY;
	if (skb_linearize(skb))
		goto drop;
	/* "ICMP Code is 0." */
	reason = NET6_DROP_ND_CODE;
	if (((struct icmp6hdr *)skb->data)->icmp6_code)
		goto drop;
	/* "All included options have a length that is greater than zero." */
	reason = NET6_DROP_ND_OPTION;
	if (net6_nd_opts_parse(skb->data + len, skb->len - len, opts))
		goto drop;
	return true;

drop:
	net6_nd_drop(iface, skb, reason);
	return false;
}

/* A program of this host has sent it, by multicast or to itself. */
static bool net6_nd_looped(const struct sk_buff *skb)
{
	return net6_rx_cb(skb)->flags & NET6_RX_LOOPBACK;
}

static bool net6_nd_has_lladdr(const struct net6_iface *iface)
{
	return iface->ops->addr_len && (iface->ops->flags & NET6_LINK_ND);
}

/**
 * net6_nd_lladdr() - read a link-layer address option
 * @iface: interface it came in on
 * @body: the option's body, NULL if the message has none
 * @len: bytes of @body
 * @buf: MAX_ADDR_LEN bytes to read into
 * @lladdr: set to @buf, or to NULL if there is nothing to be learned
 *
 * Context: any. Return: false if the option is there and not of this link.
 */
bool net6_nd_lladdr(const struct net6_iface *iface, const u8 *body, unsigned int len, u8 *buf,
		    const u8 **lladdr)
{
	*lladdr = NULL;
	/* RFC 4213 3.8: on links without resolution the options "MUST be ignored". */
	if (!body || !net6_nd_has_lladdr(iface))
		return true;
	if (iface->ops->read_lladdr_option(body, len, buf))
		return false;
	*lladdr = buf;
	return true;
}

/* RFC 4861 7.1.1, behind net6_nd_check(). */
static enum net6_drop_reason net6_nd_ns_check(const struct sk_buff *skb,
					      const struct net6_nd_msg *ns,
					      const struct net6_nd_opts *opts)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);

	/* "Target Address is not a multicast address." */
	if (ipv6_addr_is_multicast(&ns->target) || ipv6_addr_any(&ns->target))
		return NET6_DROP_ND_TARGET;
	if (!ipv6_addr_any(&h->saddr))
		return NET6_DROP_MAX;
	/* "If the IP source address is the unspecified address, the IP destination
	 * address is a solicited-node multicast address."
	 */
	if (!ipv6_addr_is_solict_mult(&h->daddr))
		return NET6_DROP_ND_DEST;
	/* "... there is no source link-layer address option in the message." */
	if (opts->slla)
		return NET6_DROP_ND_OPTION;
	return NET6_DROP_MAX;
}

static bool net6_nd_optimistic(const struct net6_iface *iface, const struct in6_addr *own)
{
	const struct net6_addr *addr = net6_addr_find(iface, own);

	return addr && READ_ONCE(addr->state) == NET6_ADDR_OPTIMISTIC;
}

/* How a solicitation is answered. */
enum net6_nd_reply {
	NET6_ND_REPLY_NONE,	/* not at all: RFC 4861 7.2.3 */
	NET6_ND_REPLY_OWN,	/* a unicast address of ours: 7.2.4 */
	NET6_ND_REPLY_LATER,	/* others may answer as well: 7.2.7, 7.2.8 */
	NET6_ND_REPLY_NOW,	/* of those we alone were asked */
};

/* RFC 4861 7.2.3: the target is "a valid unicast or anycast address assigned to the receiving
 * interface", or "a unicast or anycast address for which the node is offering proxy service".
 */
static enum net6_nd_reply net6_nd_reply(struct net6_iface *iface, const struct sk_buff *skb,
					const struct in6_addr *target,
					const struct net6_nd_opts *opts)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	bool probe = ipv6_addr_any(&h->saddr) && !net6_nd_looped(skb);

	if (!net6_dad_ns(iface, target, probe, opts->nonce, opts->nonce_len))
		return NET6_ND_REPLY_OWN;
	if (net6_anycast_find(iface, target))
		return NET6_ND_REPLY_LATER;
	if (!net6_proxy_find(iface, target))
		return NET6_ND_REPLY_NONE;
	return ipv6_addr_is_multicast(&h->daddr) ? NET6_ND_REPLY_LATER : NET6_ND_REPLY_NOW;
}

/* RFC 4861 7.2.4: asked by unicast, the option "MAY be omitted"; the Override flag "SHOULD be set
 * to zero" then. RFC 4429 3.3: it is clear for an optimistic address.
 */
static u8 net6_nd_own_flags(struct net6_iface *iface, const struct ipv6hdr *h,
			    const struct in6_addr *target)
{
	if (!ipv6_addr_is_multicast(&h->daddr) && !net6_conf(iface, NET6_PARAM_FORCE_TLLAO))
		return NET6_NA_BARE;
	return net6_nd_optimistic(iface, target) ? 0 : NET6_NA_OVERRIDE;
}

/* RFC 4861 7.2.3 and 7.2.4 */
static void net6_nd_answer(struct net6_iface *iface, const struct sk_buff *skb,
			   const struct net6_nd_msg *ns, const u8 *lladdr,
			   enum net6_nd_reply reply)
{
	const struct ipv6hdr *h = ipv6_hdr(skb);
	struct net6_neigh_news news = {
		.event	= NET6_NEIGH_EV_LLADDR,
		.lladdr	= lladdr,
		.create	= true,
	};

	/* "If the source of the solicitation is the unspecified address, the node
	 * MUST set the Solicited flag to zero and multicast the advertisement to
	 * the all-nodes address."
	 */
	if (ipv6_addr_any(&h->saddr) && reply == NET6_ND_REPLY_OWN) {
		net6_nd_send_na(iface, &ns->target, &ns->target, &in6addr_linklocal_allnodes,
				NET6_NA_OVERRIDE);
		return;
	}
	if (lladdr)
		net6_neigh_learn(iface, &h->saddr, &news);
	if (reply == NET6_ND_REPLY_LATER)
		net6_answer_later(iface, &ns->target, &h->saddr);
	else if (reply == NET6_ND_REPLY_NOW)
		net6_answer_now(iface, &ns->target, &h->saddr);
	else
		net6_nd_send_na(iface, &ns->target, &ns->target, &h->saddr,
				NET6_NA_SOLICITED | net6_nd_own_flags(iface, h, &ns->target));
}

static void net6_nd_ns_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	enum net6_drop_reason reason;
	const struct net6_nd_msg *ns;
	struct net6_nd_opts opts;
	enum net6_nd_reply reply;
	u8 buf[MAX_ADDR_LEN];
	const u8 *lladdr;

	NET6_INC_IFACE(iface, Icmp6InNeighborSolicits);
	if (!net6_nd_check(iface, skb, sizeof(*ns), &opts))
		return;
	ns = (const struct net6_nd_msg *)skb->data;
	reason = net6_nd_ns_check(skb, ns, &opts);
	if (reason != NET6_DROP_MAX)
		goto drop;
	reason = NET6_DROP_ND_OPTION;
	if (!net6_nd_lladdr(iface, opts.slla, opts.slla_len, buf, &lladdr))
		goto drop;
	reason = NET6_DROP_ND_IGNORED;
	reply = net6_nd_reply(iface, skb, &ns->target, &opts);
	if (reply == NET6_ND_REPLY_NONE)
		goto drop;
	net6_nd_answer(iface, skb, ns, lladdr, reply);
	consume_skb(skb);
	return;

drop:
	net6_nd_drop(iface, skb, reason);
}

/* RFC 9131 6.1.1: a router takes in what it has not asked for. As native: of whom. */
static bool net6_nd_accepts_untracked(const struct net6_iface *iface, const struct sk_buff *skb)
{
	s32 accept = net6_conf(iface, NET6_PARAM_ACCEPT_UNTRACKED_NA);

	if (likely(!accept) || !net6_forward_on(iface))
		return false;
	return accept == 1 ||
	       net6_prefix_match(net6_iface_table(iface), &ipv6_hdr(skb)->saddr, iface->ifindex);
}

static bool net6_nd_learn_untracked(struct net6_iface *iface, const struct sk_buff *skb,
				    const struct in6_addr *target, const u8 *lladdr)
{
	const struct net6_neigh_news news = {
		.event	= NET6_NEIGH_EV_LLADDR,
		.lladdr	= lladdr,
		.create	= true,
	};

	return lladdr && net6_nd_accepts_untracked(iface, skb) &&
	       net6_neigh_learn(iface, target, &news);
}

static void net6_nd_na_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_neigh_news news = { .event = NET6_NEIGH_EV_NA };
	enum net6_drop_reason reason;
	const struct net6_nd_msg *na;
	struct net6_nd_opts opts;
	u8 buf[MAX_ADDR_LEN];

	NET6_INC_IFACE(iface, Icmp6InNeighborAdvertisements);
	if (!net6_nd_check(iface, skb, sizeof(*na), &opts))
		return;
	na = (const struct net6_nd_msg *)skb->data;
	/* RFC 4861 7.1.2: "Target Address is not a multicast address." */
	reason = NET6_DROP_ND_TARGET;
	if (ipv6_addr_is_multicast(&na->target) || ipv6_addr_any(&na->target))
		goto drop;
	/* "If the IP Destination Address is a multicast address the Solicited flag is
	 * zero."
	 */
	reason = NET6_DROP_ND_DEST;
	if (ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr) && na->icmp.icmp6_solicited)
		goto drop;
	reason = NET6_DROP_ND_OPTION;
	if (!net6_nd_lladdr(iface, opts.tlla, opts.tlla_len, buf, &news.lladdr))
		goto drop;

	news.solicited = na->icmp.icmp6_solicited;
	news.override = na->icmp.icmp6_override;
	news.router = na->icmp.icmp6_router;
	/* RFC 4861 7.2.5: no entry is made for an advertisement, unless RFC 9131 is asked for. */
	reason = NET6_DROP_ND_IGNORED;
	if (net6_dad_na(iface, &na->target, net6_nd_looped(skb)) ||
	    (!news.solicited && net6_conf(iface, NET6_PARAM_DROP_UNSOLICITED_NA)) ||
	    (!net6_neigh_learn(iface, &na->target, &news) &&
	     !net6_nd_learn_untracked(iface, skb, &na->target, news.lladdr)))
		goto drop;
	consume_skb(skb);
	return;

drop:
	net6_nd_drop(iface, skb, reason);
}

/* RFC 4861 6.1.1, 6.2.6. The advertisement that answers is radvd's. */
static void net6_nd_rs_rcv(struct net6_iface *iface, struct sk_buff *skb)
{
	struct net6_neigh_news news = {
		.event		= NET6_NEIGH_EV_LLADDR,
		.host		= true,
		.create		= true,
	};
	enum net6_drop_reason reason;
	const struct in6_addr *saddr;
	struct net6_nd_opts opts;
	u8 buf[MAX_ADDR_LEN];

	NET6_INC_IFACE(iface, Icmp6InRouterSolicits);
	/* "A host MUST silently discard any received Router Solicitation messages." */
	reason = NET6_DROP_ND_IGNORED;
	if (!net6_forward_on(iface))
		goto drop;
	if (!net6_nd_check(iface, skb, sizeof(struct icmp6hdr), &opts))
		return;
	saddr = &ipv6_hdr(skb)->saddr;
	/* "If the IP source address is the unspecified address, there is no source
	 * link-layer address option in the message."
	 */
	reason = NET6_DROP_ND_OPTION;
	if (opts.slla && ipv6_addr_any(saddr))
		goto drop;
	if (!net6_nd_lladdr(iface, opts.slla, opts.slla_len, buf, &news.lladdr))
		goto drop;
	if (news.lladdr)
		net6_neigh_learn(iface, saddr, &news);
	consume_skb(skb);
	return;

drop:
	net6_nd_drop(iface, skb, reason);
}

/**
 * net6_nd_put_lladdr() - append a link-layer address option
 * @iface: interface that the message goes out on
 * @skb: the message, with NET6_ND_OPTION_MAX bytes of room
 * @type: NET6_ND_OPT_SLLA or NET6_ND_OPT_TLLA
 * @lladdr: the address, ops->addr_len bytes
 *
 * Does nothing on links without address resolution. Context: any.
 */
void net6_nd_put_lladdr(const struct net6_iface *iface, struct sk_buff *skb, u8 type,
			const u8 *lladdr)
{
	u8 buf[NET6_ND_OPTION_MAX];
	unsigned int len;

	if (!net6_nd_has_lladdr(iface))
		return;
	len = iface->ops->write_lladdr_option(type, lladdr, buf);
	skb_put_data(skb, buf, len);
}

static struct sk_buff *net6_nd_alloc(u8 type, const struct in6_addr *target,
				     struct net6_nd_msg **msg)
{
	struct sk_buff *skb = net6_icmp_alloc(sizeof(**msg) + NET6_ND_OPTION_MAX + 8);

	if (!skb)
		return NULL;
	*msg = skb_put_zero(skb, sizeof(**msg));
	(*msg)->icmp.icmp6_type = type;
	(*msg)->target = *target;
	return skb;
}

/**
 * net6_nd_send_ns() - send a Neighbor Solicitation
 * @iface: interface
 * @target: whose link-layer address is asked for
 * @daddr: its solicited-node group, or @target for a unicast probe
 * @saddr: source, :: for DAD, NULL to choose one of @iface
 * @lladdr: link-layer destination, NULL for the ordinary way
 * @nonce: NET6_NONCE_LEN bytes for a Nonce option, or NULL
 *
 * RFC 4861 4.3, 7.2.2. Context: RCU read lock held, BH disabled; no locks held.
 */
void net6_nd_send_ns(struct net6_iface *iface, const struct in6_addr *target,
		     const struct in6_addr *daddr, const struct in6_addr *saddr,
		     const u8 *lladdr, const u8 *nonce)
{
	u8 mapped[MAX_ADDR_LEN] = {};
	struct net6_nd_msg *ns;
	struct in6_addr own;
	struct sk_buff *skb;

	/* RFC 4861 7.2.2: "any one of the addresses assigned to the interface should be used".
	 * The link-local one is found at once, however many others there are.
	 */
	if (!saddr) {
		/* RFC 4429 3.2: a question from an optimistic address overwrites entries of its
		 * rightful owner. So packets that wait for the answer wait for DAD's end.
		 */
		if (!net6_addr_linklocal(iface, &own) &&
		    (net6_srcaddr_on(iface, target, &own) || net6_nd_optimistic(iface, &own)))
			return;
		saddr = &own;
	}
	skb = net6_nd_alloc(NDISC_NEIGHBOUR_SOLICITATION, target, &ns);
	if (!skb)
		return;
	/* RFC 4861 4.3: "MUST NOT be included when the source IP address is the
	 * unspecified address".
	 */
	if (!ipv6_addr_any(saddr))
		net6_nd_put_lladdr(iface, skb, NET6_ND_OPT_SLLA, iface->lladdr);
	if (nonce) {
		u8 *opt = skb_put(skb, 2 + NET6_NONCE_LEN);

		opt[0] = NET6_ND_OPT_NONCE;
		opt[1] = 1;
		memcpy(opt + 2, nonce, NET6_NONCE_LEN);
	}
	if (ipv6_addr_is_multicast(daddr)) {
		iface->ops->map_multicast(iface, daddr, mapped);
		lladdr = mapped;
	}
	NET6_INC_IFACE(iface, Icmp6OutNeighborSolicits);
	net6_icmp_xmit(iface, skb, saddr, daddr, NET6_ND_HOP_LIMIT, lladdr);
}

/**
 * net6_nd_send_na() - send a Neighbor Advertisement
 * @iface: interface
 * @target: address of ours on @iface, or one that is proxied there
 * @saddr: source, @target itself if that is a unicast address of ours
 * @daddr: who asked, or all-nodes
 * @flags: NET6_NA_*
 *
 * RFC 4861 4.4, 7.2.4. Context: RCU read lock held, BH disabled; no locks held.
 */
void net6_nd_send_na(struct net6_iface *iface, const struct in6_addr *target,
		     const struct in6_addr *saddr, const struct in6_addr *daddr, u8 flags)
{
	u8 mapped[MAX_ADDR_LEN] = {};
	const u8 *lladdr = NULL;
	struct net6_nd_msg *na;
	struct sk_buff *skb;

	skb = net6_nd_alloc(NDISC_NEIGHBOUR_ADVERTISEMENT, target, &na);
	if (!skb)
		return;
	na->icmp.icmp6_router = net6_forward_on(iface) && !(flags & NET6_NA_HOST);
	na->icmp.icmp6_solicited = !!(flags & NET6_NA_SOLICITED);
	na->icmp.icmp6_override = !!(flags & NET6_NA_OVERRIDE);
	if (!(flags & NET6_NA_BARE))
		net6_nd_put_lladdr(iface, skb, NET6_ND_OPT_TLLA, iface->lladdr);
	if (ipv6_addr_is_multicast(daddr)) {
		iface->ops->map_multicast(iface, daddr, mapped);
		lladdr = mapped;
	}
	NET6_INC_IFACE(iface, Icmp6OutNeighborAdvertisements);
	net6_icmp_xmit(iface, skb, saddr, daddr, NET6_ND_HOP_LIMIT, lladdr);
}

/**
 * net6_nd_announce() - tell the neighbors where we are
 * @iface: interface whose link-layer address is another one, or is to be found elsewhere
 *
 * RFC 4861 7.2.6. Not for addresses whose DAD is running. Context: process or softirq; no locks of
 * net6 held.
 */
void net6_nd_announce(struct net6_iface *iface)
{
	const struct net6_addr *addr;

	if (!net6_iface_usable(iface) || !(iface->ops->flags & NET6_LINK_ND))
		return;
	rcu_read_lock_bh();
	list_for_each_entry_rcu(addr, &iface->addrs, iface_list)
		if (net6_addr_is_assigned(addr) && !net6_addr_in_dad(addr))
			net6_nd_send_na(iface, &addr->addr, &addr->addr,
					&in6addr_linklocal_allnodes, NET6_NA_OVERRIDE);
	rcu_read_unlock_bh();
}

/**
 * net6_nd_send_rs() - send a Router Solicitation
 * @iface: interface
 *
 * RFC 4861 4.1, 6.3.7: from an assigned link-local address if there is one.
 * Context: RCU read lock held, BH disabled; no locks held.
 */
void net6_nd_send_rs(struct net6_iface *iface)
{
	u8 mapped[MAX_ADDR_LEN] = {};
	struct in6_addr saddr;
	struct icmp6hdr *rs;
	struct sk_buff *skb;

	if (!net6_addr_linklocal(iface, &saddr))
		saddr = in6addr_any;
	skb = net6_icmp_alloc(sizeof(*rs) + NET6_ND_OPTION_MAX);
	if (!skb)
		return;
	rs = skb_put_zero(skb, sizeof(*rs));
	rs->icmp6_type = NDISC_ROUTER_SOLICITATION;
	if (!ipv6_addr_any(&saddr))
		net6_nd_put_lladdr(iface, skb, NET6_ND_OPT_SLLA, iface->lladdr);
	iface->ops->map_multicast(iface, &in6addr_linklocal_allrouters, mapped);
	NET6_INC_IFACE(iface, Icmp6OutRouterSolicits);
	net6_icmp_xmit(iface, skb, &saddr, &in6addr_linklocal_allrouters,
		       NET6_ND_HOP_LIMIT, mapped);
}

/**
 * net6_nd_init() - take the five ND messages and those of MLD from ICMPv6
 *
 * Context: process. Return: 0.
 */
int net6_nd_init(void)
{
	net6_icmp_handle(NDISC_ROUTER_SOLICITATION, net6_nd_rs_rcv);
	net6_icmp_handle(NDISC_ROUTER_ADVERTISEMENT, net6_ra_rcv);
	net6_icmp_handle(NDISC_NEIGHBOUR_SOLICITATION, net6_nd_ns_rcv);
	net6_icmp_handle(NDISC_NEIGHBOUR_ADVERTISEMENT, net6_nd_na_rcv);
	net6_icmp_handle(NDISC_REDIRECT, net6_redirect_rcv);
	net6_mld_init();
	return 0;
}

/**
 * net6_nd_exit() - undo net6_nd_init()
 *
 * Context: process; no interface is left.
 */
void net6_nd_exit(void)
{
	net6_mld_exit();
	net6_icmp_handle(NDISC_REDIRECT, NULL);
	net6_icmp_handle(NDISC_NEIGHBOUR_ADVERTISEMENT, NULL);
	net6_icmp_handle(NDISC_NEIGHBOUR_SOLICITATION, NULL);
	net6_icmp_handle(NDISC_ROUTER_ADVERTISEMENT, NULL);
	net6_icmp_handle(NDISC_ROUTER_SOLICITATION, NULL);
}
