// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Made by scripts/netlink-gen from Documentation/netlink/specs/net6.yaml. */
#include "netlink_gen.h"

static struct netlink_range_validation net6_range_0_65535 = {
	.min = 0,
	.max = 65535,
};

static struct netlink_range_validation net6_range_1_3600000 = {
	.min = 1,
	.max = 3600000,
};

static struct netlink_range_validation net6_range_60_31536000 = {
	.min = 60,
	.max = 31536000,
};

static struct netlink_range_validation net6_range_30_31536000 = {
	.min = 30,
	.max = 31536000,
};

static struct netlink_range_validation net6_range_0_2147483647 = {
	.min = 0,
	.max = 2147483647,
};

static struct netlink_range_validation net6_range_1_86400 = {
	.min = 1,
	.max = 86400,
};

static struct netlink_range_validation net6_range_0_31536000 = {
	.min = 0,
	.max = 31536000,
};

static struct netlink_range_validation net6_range_0_3600000 = {
	.min = 0,
	.max = 3600000,
};

static struct netlink_range_validation net6_range_0_60000 = {
	.min = 0,
	.max = 60000,
};

static struct netlink_range_validation net6_range_60_86400 = {
	.min = 60,
	.max = 86400,
};

static struct netlink_range_validation net6_range_1_2147483647 = {
	.min = 1,
	.max = 2147483647,
};

static struct netlink_range_validation net6_range_16_65536 = {
	.min = 16,
	.max = 65536,
};

static struct netlink_range_validation net6_range_4096_16777216 = {
	.min = 4096,
	.max = 16777216,
};

static struct netlink_range_validation net6_range_0_1000000 = {
	.min = 0,
	.max = 1000000,
};

static struct netlink_range_validation net6_range_0_16777216 = {
	.min = 0,
	.max = 16777216,
};

static struct netlink_range_validation net6_range_65536_1073741824 = {
	.min = 65536,
	.max = 1073741824,
};

static struct netlink_range_validation net6_range_0_1048576 = {
	.min = 0,
	.max = 1048576,
};

static struct netlink_range_validation net6_range_0_65536 = {
	.min = 0,
	.max = 65536,
};

static struct netlink_range_validation net6_range_0_4294967294 = {
	.min = 0,
	.max = 4294967294,
};

static const struct nla_policy net6_nl_iface_get_policy[NET6_A_IFACE_IFINDEX + 1] = {
	[NET6_A_IFACE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_iface_set_policy[NET6_A_IFACE_IGNORE_ROUTES_WITH_LINKDOWN + 1] = {
	[NET6_A_IFACE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_IFACE_MTU] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_65535),
	[NET6_A_IFACE_HOP_LIMIT] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[NET6_A_IFACE_DAD_TRANSMITS] = NLA_POLICY_MAX(NLA_U32, 16),
	[NET6_A_IFACE_ACCEPT_RA] = NLA_POLICY_MAX(NLA_U32, 2),
	[NET6_A_IFACE_AUTOCONF] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_BASE_REACHABLE] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_1_3600000),
	[NET6_A_IFACE_RETRANS] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_1_3600000),
	[NET6_A_IFACE_USE_TEMPADDR] = NLA_POLICY_MAX(NLA_U32, 2),
	[NET6_A_IFACE_TEMP_VALID] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_60_31536000),
	[NET6_A_IFACE_TEMP_PREFERRED] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_30_31536000),
	[NET6_A_IFACE_NDISC_NOTIFY] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_FORWARDING] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_OPTIMISTIC_DAD] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_PROXY_NDP] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ACCEPT_RA_DEFRTR] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ACCEPT_RA_PINFO] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ACCEPT_RA_MTU] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ACCEPT_RA_RTR_PREF] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ACCEPT_RA_MIN_HOP_LIMIT] = NLA_POLICY_MAX(NLA_U32, 256),
	[NET6_A_IFACE_ACCEPT_RA_MIN_LFT] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_2147483647),
	[NET6_A_IFACE_ACCEPT_RA_RT_INFO_MIN_PLEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[NET6_A_IFACE_ACCEPT_RA_RT_INFO_MAX_PLEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[NET6_A_IFACE_ACCEPT_RA_FROM_LOCAL] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ACCEPT_REDIRECTS] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ROUTER_SOLICITATIONS] = NLA_POLICY_RANGE(NLA_S32, -1, 32767),
	[NET6_A_IFACE_ROUTER_SOLICITATION_DELAY] = NLA_POLICY_MAX(NLA_U32, 3600),
	[NET6_A_IFACE_ROUTER_SOLICITATION_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_1_86400),
	[NET6_A_IFACE_ROUTER_SOLICITATION_MAX_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_1_86400),
	[NET6_A_IFACE_DISABLE_IPV6] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ACCEPT_DAD] = NLA_POLICY_MAX(NLA_U32, 2),
	[NET6_A_IFACE_ENHANCED_DAD] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_ADDR_GEN_MODE] = NLA_POLICY_MAX(NLA_U32, 3),
	[NET6_A_IFACE_REGEN_MAX_RETRY] = NLA_POLICY_MAX(NLA_U32, 100),
	[NET6_A_IFACE_MAX_DESYNC_FACTOR] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_31536000),
	[NET6_A_IFACE_USE_OPTIMISTIC] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_KEEP_ADDR_ON_DOWN] = NLA_POLICY_RANGE(NLA_S32, -1, 1),
	[NET6_A_IFACE_FORCE_TLLAO] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_NDISC_TCLASS] = NLA_POLICY_MAX(NLA_U32, 255),
	[NET6_A_IFACE_SUPPRESS_FRAG_NDISC] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_DROP_UNSOLICITED_NA] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_FORCE_MLD_VERSION] = NLA_POLICY_MAX(NLA_U32, 2),
	[NET6_A_IFACE_MLDV1_UNSOLICITED_REPORT_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_3600000),
	[NET6_A_IFACE_MLDV2_UNSOLICITED_REPORT_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_3600000),
	[NET6_A_IFACE_MCAST_SOLICIT] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[NET6_A_IFACE_UCAST_SOLICIT] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[NET6_A_IFACE_DELAY_FIRST_PROBE_TIME] = NLA_POLICY_MAX(NLA_U32, 3600),
	[NET6_A_IFACE_ANYCAST_DELAY] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_60000),
	[NET6_A_IFACE_ROUTER_PROBE_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_60_86400),
	[NET6_A_IFACE_RA_DEFRTR_METRIC] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_1_2147483647),
	[NET6_A_IFACE_ACCEPT_UNTRACKED_NA] = NLA_POLICY_MAX(NLA_U32, 2),
	[NET6_A_IFACE_NDISC_EVICT_NOCARRIER] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_IFACE_IGNORE_ROUTES_WITH_LINKDOWN] = NLA_POLICY_RANGE(NLA_U32, 1, 1),
};

static const struct nla_policy net6_nl_iface_attach_policy[NET6_A_IFACE_IFINDEX + 1] = {
	[NET6_A_IFACE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_iface_detach_policy[NET6_A_IFACE_IFINDEX + 1] = {
	[NET6_A_IFACE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_addr_get_policy[NET6_A_ADDR_IFINDEX + 1] = {
	[NET6_A_ADDR_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_addr_add_policy[NET6_A_ADDR_PREFERRED + 1] = {
	[NET6_A_ADDR_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_ADDR_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ADDR_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[NET6_A_ADDR_VALID] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_ADDR_PREFERRED] = { .type = NLA_U32 },
};

static const struct nla_policy net6_nl_addr_del_policy[NET6_A_ADDR_PREFIX_LEN + 1] = {
	[NET6_A_ADDR_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_ADDR_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ADDR_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
};

static const struct nla_policy net6_nl_accept_get_policy[NET6_A_ACCEPT_IFINDEX + 1] = {
	[NET6_A_ACCEPT_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_neigh_get_policy[NET6_A_NEIGH_IFINDEX + 1] = {
	[NET6_A_NEIGH_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_neigh_add_policy[NET6_A_NEIGH_LLADDR + 1] = {
	[NET6_A_NEIGH_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_NEIGH_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_NEIGH_LLADDR] = { .type = NLA_BINARY, .len = 32 },
};

static const struct nla_policy net6_nl_neigh_del_policy[NET6_A_NEIGH_ADDRESS + 1] = {
	[NET6_A_NEIGH_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_NEIGH_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
};

static const struct nla_policy net6_nl_router_get_policy[NET6_A_ROUTER_IFINDEX + 1] = {
	[NET6_A_ROUTER_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_router_add_policy[NET6_A_ROUTER_SOURCE + 1] = {
	[NET6_A_ROUTER_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_ROUTER_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ROUTER_PREFERENCE] = NLA_POLICY_RANGE(NLA_S32, -1, 1),
	[NET6_A_ROUTER_METRICS] = { .type = NLA_NESTED },
	[NET6_A_ROUTER_WEIGHT] = NLA_POLICY_RANGE(NLA_U32, 1, 256),
	[NET6_A_ROUTER_SOURCE] = NLA_POLICY_EXACT_LEN(16),
};

static const struct nla_policy net6_nl_router_del_policy[NET6_A_ROUTER_ADDRESS + 1] = {
	[NET6_A_ROUTER_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_ROUTER_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
};

static const struct nla_policy net6_nl_prefix_get_policy[NET6_A_PREFIX_IFINDEX + 1] = {
	[NET6_A_PREFIX_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_prefix_add_policy[NET6_A_PREFIX_PREFIX_LEN + 1] = {
	[NET6_A_PREFIX_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_PREFIX_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_PREFIX_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
};

static const struct nla_policy net6_nl_prefix_del_policy[NET6_A_PREFIX_PREFIX_LEN + 1] = {
	[NET6_A_PREFIX_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_PREFIX_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_PREFIX_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
};

static const struct nla_policy net6_nl_dest_get_policy[NET6_A_DEST_IFINDEX + 1] = {
	[NET6_A_DEST_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_sock_get_policy[NET6_A_SOCK_WANT_INFO + 1] = {
	[NET6_A_SOCK_PROTOCOL] = NLA_POLICY_MAX(NLA_U32, 255),
	[NET6_A_SOCK_WANT_INFO] = { .type = NLA_FLAG },
};

static const struct nla_policy net6_nl_limits_set_policy[NET6_A_LIMITS_MAX_RULES + 1] = {
	[NET6_A_LIMITS_MAX_ADDRS] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
	[NET6_A_LIMITS_MAX_PREFIXES] = NLA_POLICY_RANGE(NLA_U32, 1, 4096),
	[NET6_A_LIMITS_MAX_ROUTERS] = NLA_POLICY_RANGE(NLA_U32, 1, 1024),
	[NET6_A_LIMITS_MAX_NEIGHS] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_16_65536),
	[NET6_A_LIMITS_MAX_DESTS] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_16_65536),
	[NET6_A_LIMITS_NEIGH_QUEUE] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_4096_16777216),
	[NET6_A_LIMITS_ICMP_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_1000000),
	[NET6_A_LIMITS_MAX_ROUTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_16777216),
	[NET6_A_LIMITS_MAX_RA_ROUTES] = NLA_POLICY_MAX(NLA_U32, 4096),
	[NET6_A_LIMITS_MAX_EXTHDRS] = NLA_POLICY_MAX(NLA_U32, 255),
	[NET6_A_LIMITS_MAX_DST_OPTIONS] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_2147483647),
	[NET6_A_LIMITS_MAX_PADDING] = NLA_POLICY_RANGE(NLA_U32, 7, 255),
	[NET6_A_LIMITS_FRAG_MEMORY] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_65536_1073741824),
	[NET6_A_LIMITS_FRAG_TIMEOUT] = NLA_POLICY_RANGE(NLA_U32, 1, 60),
	[NET6_A_LIMITS_MAX_PROXIES] = NLA_POLICY_MAX(NLA_U32, 4096),
	[NET6_A_LIMITS_MAX_HBH_OPTIONS] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_2147483647),
	[NET6_A_LIMITS_MAX_DST_LENGTH] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_2147483647),
	[NET6_A_LIMITS_MAX_HBH_LENGTH] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_2147483647),
	[NET6_A_LIMITS_UNKNOWN_DST_OPTIONS] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_LIMITS_UNKNOWN_HBH_OPTIONS] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_LIMITS_MAX_MANUAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_1048576),
	[NET6_A_LIMITS_MAX_GROUPS] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_65536),
	[NET6_A_LIMITS_MAX_TABLES] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_65536),
	[NET6_A_LIMITS_MAX_RULES] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_65536),
};

static const struct nla_policy net6_nl_flush_policy[NET6_A_FLUSH_IFINDEX + 1] = {
	[NET6_A_FLUSH_OBJECT] = NLA_POLICY_MAX(NLA_U32, 3),
	[NET6_A_FLUSH_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_tunnel_get_policy[NET6_A_TUNNEL_IFINDEX + 1] = {
	[NET6_A_TUNNEL_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_tunnel_add_policy[NET6_A_TUNNEL_ROUTER + 1] = {
	[NET6_A_TUNNEL_NAME] = { .type = NLA_STRING, .len = 15 },
	[NET6_A_TUNNEL_REMOTE] = NLA_POLICY_EXACT_LEN(4),
	[NET6_A_TUNNEL_LOCAL] = NLA_POLICY_EXACT_LEN(4),
	[NET6_A_TUNNEL_TTL] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[NET6_A_TUNNEL_TOS] = NLA_POLICY_MAX(NLA_U32, 255),
	[NET6_A_TUNNEL_PMTU] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_TUNNEL_ROUTER] = NLA_POLICY_MAX(NLA_U32, 1),
};

static const struct nla_policy net6_nl_tunnel_set_policy[NET6_A_TUNNEL_ROUTER + 1] = {
	[NET6_A_TUNNEL_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_TUNNEL_REMOTE] = NLA_POLICY_EXACT_LEN(4),
	[NET6_A_TUNNEL_LOCAL] = NLA_POLICY_EXACT_LEN(4),
	[NET6_A_TUNNEL_TTL] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[NET6_A_TUNNEL_TOS] = NLA_POLICY_MAX(NLA_U32, 255),
	[NET6_A_TUNNEL_PMTU] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_A_TUNNEL_ROUTER] = NLA_POLICY_MAX(NLA_U32, 1),
};

static const struct nla_policy net6_nl_tunnel_del_policy[NET6_A_TUNNEL_IFINDEX + 1] = {
	[NET6_A_TUNNEL_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_route_get_policy[NET6_A_ROUTE_IFINDEX + 1] = {
	[NET6_A_ROUTE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_route_add_policy[NET6_A_ROUTE_TABLE + 1] = {
	[NET6_A_ROUTE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_ROUTE_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ROUTE_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[NET6_A_ROUTE_GATEWAY] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ROUTE_PREFERENCE] = NLA_POLICY_RANGE(NLA_S32, -1, 1),
	[NET6_A_ROUTE_METRICS] = { .type = NLA_NESTED },
	[NET6_A_ROUTE_WEIGHT] = NLA_POLICY_RANGE(NLA_U32, 1, 256),
	[NET6_A_ROUTE_SOURCE] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ROUTE_TABLE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_route_del_policy[NET6_A_ROUTE_TABLE + 1] = {
	[NET6_A_ROUTE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_ROUTE_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ROUTE_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[NET6_A_ROUTE_GATEWAY] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_ROUTE_TABLE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_secret_set_policy[NET6_A_SECRET_VALUE + 1] = {
	[NET6_A_SECRET_VALUE] = NLA_POLICY_EXACT_LEN(16),
};

static const struct nla_policy net6_nl_policy_add_policy[NET6_A_POLICY_PRECEDENCE + 1] = {
	[NET6_A_POLICY_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_POLICY_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[NET6_A_POLICY_LABEL] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_4294967294),
	[NET6_A_POLICY_PRECEDENCE] = { .type = NLA_U32 },
};

static const struct nla_policy net6_nl_policy_del_policy[NET6_A_POLICY_PREFIX_LEN + 1] = {
	[NET6_A_POLICY_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_POLICY_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
};

static const struct nla_policy net6_nl_proxy_get_policy[NET6_A_PROXY_IFINDEX + 1] = {
	[NET6_A_PROXY_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_nl_proxy_add_policy[NET6_A_PROXY_ROUTER + 1] = {
	[NET6_A_PROXY_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_PROXY_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_PROXY_ROUTER] = { .type = NLA_FLAG },
};

static const struct nla_policy net6_nl_proxy_del_policy[NET6_A_PROXY_ADDRESS + 1] = {
	[NET6_A_PROXY_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[NET6_A_PROXY_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
};

static const struct nla_policy net6_nl_sock_del_policy[NET6_A_SOCK_ORPHAN + 1] = {
	[NET6_A_SOCK_LOCAL_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_SOCK_LOCAL_PORT] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_65535),
	[NET6_A_SOCK_REMOTE_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[NET6_A_SOCK_REMOTE_PORT] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_0_65535),
	[NET6_A_SOCK_IFINDEX] = { .type = NLA_U32 },
	[NET6_A_SOCK_ORPHAN] = { .type = NLA_FLAG },
};

static const struct nla_policy net6_nl_pref64_get_policy[NET6_A_PREF64_IFINDEX + 1] = {
	[NET6_A_PREF64_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct genl_ops net6_nl_ops[NET6_NL_OPS] = {
	{
		.cmd		= NET6_CMD_IFACE_GET,
		.start		= net6_nl_iface_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_iface_get_policy,
		.maxattr	= NET6_A_IFACE_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_IFACE_SET,
		.doit		= net6_nl_iface_set,
		.policy		= net6_nl_iface_set_policy,
		.maxattr	= NET6_A_IFACE_IGNORE_ROUTES_WITH_LINKDOWN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_IFACE_ATTACH,
		.doit		= net6_nl_iface_attach,
		.policy		= net6_nl_iface_attach_policy,
		.maxattr	= NET6_A_IFACE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_IFACE_DETACH,
		.doit		= net6_nl_iface_detach,
		.policy		= net6_nl_iface_detach_policy,
		.maxattr	= NET6_A_IFACE_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_ADDR_GET,
		.start		= net6_nl_addr_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_addr_get_policy,
		.maxattr	= NET6_A_ADDR_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_ADDR_ADD,
		.doit		= net6_nl_addr_add,
		.policy		= net6_nl_addr_add_policy,
		.maxattr	= NET6_A_ADDR_PREFERRED,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_ADDR_DEL,
		.doit		= net6_nl_addr_del,
		.policy		= net6_nl_addr_del_policy,
		.maxattr	= NET6_A_ADDR_PREFIX_LEN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_ACCEPT_GET,
		.start		= net6_nl_accept_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_accept_get_policy,
		.maxattr	= NET6_A_ACCEPT_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_NEIGH_GET,
		.start		= net6_nl_neigh_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_neigh_get_policy,
		.maxattr	= NET6_A_NEIGH_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_NEIGH_ADD,
		.doit		= net6_nl_neigh_add,
		.policy		= net6_nl_neigh_add_policy,
		.maxattr	= NET6_A_NEIGH_LLADDR,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_NEIGH_DEL,
		.doit		= net6_nl_neigh_del,
		.policy		= net6_nl_neigh_del_policy,
		.maxattr	= NET6_A_NEIGH_ADDRESS,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_ROUTER_GET,
		.start		= net6_nl_router_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_router_get_policy,
		.maxattr	= NET6_A_ROUTER_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_ROUTER_ADD,
		.doit		= net6_nl_router_add,
		.policy		= net6_nl_router_add_policy,
		.maxattr	= NET6_A_ROUTER_SOURCE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_ROUTER_DEL,
		.doit		= net6_nl_router_del,
		.policy		= net6_nl_router_del_policy,
		.maxattr	= NET6_A_ROUTER_ADDRESS,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_PREFIX_GET,
		.start		= net6_nl_prefix_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_prefix_get_policy,
		.maxattr	= NET6_A_PREFIX_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_PREFIX_ADD,
		.doit		= net6_nl_prefix_add,
		.policy		= net6_nl_prefix_add_policy,
		.maxattr	= NET6_A_PREFIX_PREFIX_LEN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_PREFIX_DEL,
		.doit		= net6_nl_prefix_del,
		.policy		= net6_nl_prefix_del_policy,
		.maxattr	= NET6_A_PREFIX_PREFIX_LEN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_DEST_GET,
		.start		= net6_nl_dest_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_dest_get_policy,
		.maxattr	= NET6_A_DEST_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_SOCK_GET,
		.start		= net6_nl_sock_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_sock_get_policy,
		.maxattr	= NET6_A_SOCK_WANT_INFO,
	},
	{
		.cmd		= NET6_CMD_COUNTER_GET,
		.start		= net6_nl_counter_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
	},
	{
		.cmd		= NET6_CMD_DROP_GET,
		.start		= net6_nl_drop_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
	},
	{
		.cmd		= NET6_CMD_LIMITS_GET,
		.doit		= net6_nl_limits_get,
	},
	{
		.cmd		= NET6_CMD_LIMITS_SET,
		.doit		= net6_nl_limits_set,
		.policy		= net6_nl_limits_set_policy,
		.maxattr	= NET6_A_LIMITS_MAX_RULES,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_FLUSH,
		.doit		= net6_nl_flush,
		.policy		= net6_nl_flush_policy,
		.maxattr	= NET6_A_FLUSH_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_TUNNEL_GET,
		.start		= net6_nl_tunnel_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_tunnel_get_policy,
		.maxattr	= NET6_A_TUNNEL_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_TUNNEL_ADD,
		.doit		= net6_nl_tunnel_add,
		.policy		= net6_nl_tunnel_add_policy,
		.maxattr	= NET6_A_TUNNEL_ROUTER,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_TUNNEL_SET,
		.doit		= net6_nl_tunnel_set,
		.policy		= net6_nl_tunnel_set_policy,
		.maxattr	= NET6_A_TUNNEL_ROUTER,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_TUNNEL_DEL,
		.doit		= net6_nl_tunnel_del,
		.policy		= net6_nl_tunnel_del_policy,
		.maxattr	= NET6_A_TUNNEL_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_ROUTE_GET,
		.start		= net6_nl_route_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_route_get_policy,
		.maxattr	= NET6_A_ROUTE_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_ROUTE_ADD,
		.doit		= net6_nl_route_add,
		.policy		= net6_nl_route_add_policy,
		.maxattr	= NET6_A_ROUTE_TABLE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_ROUTE_DEL,
		.doit		= net6_nl_route_del,
		.policy		= net6_nl_route_del_policy,
		.maxattr	= NET6_A_ROUTE_TABLE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_SECRET_SET,
		.doit		= net6_nl_secret_set,
		.policy		= net6_nl_secret_set_policy,
		.maxattr	= NET6_A_SECRET_VALUE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_POLICY_GET,
		.start		= net6_nl_policy_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
	},
	{
		.cmd		= NET6_CMD_POLICY_ADD,
		.doit		= net6_nl_policy_add,
		.policy		= net6_nl_policy_add_policy,
		.maxattr	= NET6_A_POLICY_PRECEDENCE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_POLICY_DEL,
		.doit		= net6_nl_policy_del,
		.policy		= net6_nl_policy_del_policy,
		.maxattr	= NET6_A_POLICY_PREFIX_LEN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_PROXY_GET,
		.start		= net6_nl_proxy_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_proxy_get_policy,
		.maxattr	= NET6_A_PROXY_IFINDEX,
	},
	{
		.cmd		= NET6_CMD_PROXY_ADD,
		.doit		= net6_nl_proxy_add,
		.policy		= net6_nl_proxy_add_policy,
		.maxattr	= NET6_A_PROXY_ROUTER,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_PROXY_DEL,
		.doit		= net6_nl_proxy_del,
		.policy		= net6_nl_proxy_del_policy,
		.maxattr	= NET6_A_PROXY_ADDRESS,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_SOCK_DEL,
		.doit		= net6_nl_sock_del,
		.policy		= net6_nl_sock_del_policy,
		.maxattr	= NET6_A_SOCK_ORPHAN,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_CMD_PREF64_GET,
		.start		= net6_nl_pref64_get_start,
		.dumpit		= net6_nl_dump,
		.done		= net6_nl_dump_done,
		.policy		= net6_nl_pref64_get_policy,
		.maxattr	= NET6_A_PREF64_IFINDEX,
	},
};

const struct genl_multicast_group net6_nl_groups[] = {
	[NET6_NL_GROUP_MONITOR] = { .name = NET6_MCGRP_MONITOR },
};
