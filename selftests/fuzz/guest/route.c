// SPDX-License-Identifier: GPL-2.0
/* rtnetlink and sock_diag as iproute2 uses them, for what answers PF_INET6. */
#include <linux/if_addr.h>
#include <linux/if_addrlabel.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>

#include "fuzz.h"

static void random_address(struct nlbuf *b, int type)
{
	struct in6_addr a;

	address(&a);
	nl_attr(b, type, &a, one_in(60) ? rnd(17) : 16);
}

static void number(struct nlbuf *b, int type, uint32_t n)
{
	nl_attr(b, type, &n, 4);
}

/* A GET of one is asked with NLM_F_DUMP or without. */
static int flags(void)
{
	static const int some[] = { 0, 0, NLM_F_CREATE, NLM_F_CREATE | NLM_F_EXCL, NLM_F_REPLACE,
		NLM_F_CREATE | NLM_F_REPLACE, NLM_F_APPEND };

	return PICK(some);
}

static void do_addr(void)
{
	struct ifaddrmsg head = { .ifa_family = AF_INET6,
				  .ifa_prefixlen = one_in(4) ? rnd(130) : 64,
		.ifa_index = ifindex(), .ifa_flags = one_in(3) ? rnd(256) : 0 };
	struct ifa_cacheinfo life = { .ifa_valid = value(), .ifa_prefered = value() };
	static const int types[] = { RTM_NEWADDR, RTM_NEWADDR, RTM_DELADDR, RTM_GETADDR };
	int type = PICK(types);
	struct nlbuf b;

	nl_start(&b, type, type == RTM_GETADDR && !one_in(4) ? NLM_F_DUMP : flags(), &head,
		 sizeof(head));
	random_address(&b, one_in(2) ? IFA_LOCAL : IFA_ADDRESS);
	if (one_in(4))
		random_address(&b, IFA_ADDRESS);
	if (one_in(3))
		nl_attr(&b, IFA_CACHEINFO, &life, sizeof(life));
	if (one_in(4))
		number(&b, IFA_FLAGS, rnd64());
	nl_send(NETLINK_ROUTE, &b);
}

static void do_route(void)
{
	struct rtmsg head = { .rtm_family = AF_INET6, .rtm_dst_len = one_in(2) ? rnd(129) : 64,
		.rtm_table = one_in(6) ? rnd(256) : RT_TABLE_MAIN,
		.rtm_protocol = one_in(6) ? rnd(256) : RTPROT_BOOT,
		.rtm_scope = one_in(6) ? rnd(256) : 0,
		.rtm_type = one_in(5) ? rnd(13) : RTN_UNICAST };
	static const int types[] = { RTM_NEWROUTE, RTM_NEWROUTE, RTM_DELROUTE, RTM_GETROUTE };
	int type = PICK(types);
	struct nlbuf b;

	if (type == RTM_GETROUTE && one_in(2))
		head.rtm_dst_len = 128;
	nl_start(&b, type, type == RTM_GETROUTE && one_in(2) ? NLM_F_DUMP : flags(), &head,
		 sizeof(head));
	if (!one_in(5))
		random_address(&b, RTA_DST);
	if (one_in(2))
		random_address(&b, RTA_GATEWAY);
	if (!one_in(4))
		number(&b, RTA_OIF, ifindex());
	if (one_in(4))
		number(&b, RTA_PRIORITY, one_in(2) ? 1024 : value());
	if (one_in(10))
		random_address(&b, RTA_SRC);
	if (one_in(10))
		nl_attr(&b, RTA_PREF, area(), 1);
	if (one_in(20))
		nl_attr(&b, rnd(32), area(), rnd(32));
	nl_send(NETLINK_ROUTE, &b);
}

static void do_neigh(void)
{
	struct ndmsg head = { .ndm_family = AF_INET6, .ndm_ifindex = ifindex(),
		.ndm_state = one_in(3) ? rnd(256) : NUD_PERMANENT,
		.ndm_flags = one_in(3) ? NTF_PROXY : one_in(6) ? rnd(256) : 0 };
	static const int types[] = { RTM_NEWNEIGH, RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH };
	int type = PICK(types);
	struct nlbuf b;

	nl_start(&b, type, type == RTM_GETNEIGH && !one_in(3) ? NLM_F_DUMP : flags(), &head,
		 sizeof(head));
	random_address(&b, NDA_DST);
	if (!one_in(4))
		nl_attr(&b, NDA_LLADDR, "\2\0\0\0\0\2", one_in(10) ? rnd(7) : 6);
	nl_send(NETLINK_ROUTE, &b);
}

static void do_label(void)
{
	struct ifaddrlblmsg head = { .ifal_family = AF_INET6, .ifal_prefixlen = rnd(130),
		.ifal_index = one_in(5) ? ifindex() : 0 };
	static const int types[] = { RTM_NEWADDRLABEL, RTM_DELADDRLABEL, RTM_GETADDRLABEL };
	int type = PICK(types);
	struct nlbuf b;

	nl_start(&b, type, type == RTM_GETADDRLABEL && one_in(2) ? NLM_F_DUMP : flags(), &head,
		 sizeof(head));
	random_address(&b, IFAL_ADDRESS);
	number(&b, IFAL_LABEL, value());
	nl_send(NETLINK_ROUTE, &b);
}

/* What has a dump only, or is asked of AF_INET6 as part of a link. */
static void do_dumps(void)
{
	static const int types[] = { RTM_GETLINK, RTM_GETRULE, RTM_GETMULTICAST, RTM_GETANYCAST,
		RTM_GETADDR, RTM_GETROUTE, RTM_GETNEIGH, RTM_GETNEIGHTBL, RTM_GETNETCONF,
		RTM_NEWPREFIX, RTM_GETADDRLABEL, RTM_GETSTATS, RTM_GETNEXTHOP };
	uint8_t head[32] = { AF_INET6 };
	struct nlbuf b;

	if (one_in(6))
		fill(head + 1, 12);
	nl_start(&b, one_in(20) ? 16 + (int)rnd(100) : PICK(types),
		 one_in(6) ? 0 : NLM_F_DUMP, head,
		 one_in(8) ? rnd(sizeof(head)) : 16);
	nl_send(NETLINK_ROUTE, &b);
}

static void do_diag(void)
{
	struct inet_diag_req_v2 head = { .sdiag_family = AF_INET6,
		.sdiag_protocol = one_in(2) ? IPPROTO_TCP : one_in(2) ? IPPROTO_UDP : rnd(256),
		.idiag_ext = rnd(256), .idiag_states = one_in(4) ? rnd64() : ~0U };
	static const int types[] = { SOCK_DIAG_BY_FAMILY, SOCK_DIAG_BY_FAMILY, SOCK_DESTROY,
		TCPDIAG_GETSOCK };
	struct nlbuf b;

	if (one_in(4))
		fill(&head.id, sizeof(head.id));
	nl_start(&b, PICK(types), one_in(6) ? 0 : NLM_F_DUMP, &head, sizeof(head));
	if (one_in(3))
		nl_attr(&b, 1 + rnd(4), area(), rnd(40));
	nl_send(NETLINK_SOCK_DIAG, &b);
}

const struct op route_ops[] = {
	{ "rt_addr", 8, ALL, do_addr },
	{ "rt_route", 10, ALL, do_route },
	{ "rt_neigh", 6, ALL, do_neigh },
	{ "rt_label", 4, ALL, do_label },
	{ "rt_dumps", 6, ALL, do_dumps },
	{ "diag", 6, ALL, do_diag },
	{ },
};
