/* SPDX-License-Identifier: GPL-2.0 */
/* Made by scripts/netlink-gen from Documentation/netlink/specs/net6.yaml. */
/* Parameters of interfaces, and limits. */
#ifndef _NET6_SETTINGS_GEN_H
#define _NET6_SETTINGS_GEN_H

/* X(name, least, largest, initial) */
#define NET6_PARAM_LIST(X) \
	/* MTU of IPv6 packets. */ \
	X(MTU, 0, 65535, 0) \
	/* Hop limit of the unicast packets that are sent. */ \
	X(HOP_LIMIT, 1, 255, 64) \
	/* Probes before an address is used (RFC 4862 section 5.1). */ \
	X(DAD_TRANSMITS, 0, 16, 1) \
	/* Router Advertisements are processed. */ \
	X(ACCEPT_RA, 0, 2, 1) \
	/* Prefixes of Router Advertisements make addresses. */ \
	X(AUTOCONF, 0, 1, 1) \
	/* BaseReachableTime (RFC 4861 section 10). */ \
	X(BASE_REACHABLE, 1, 3600000, 30000) \
	/* RetransTimer, the time between two solicitations (RFC 4861 section 10). */ \
	X(RETRANS, 1, 3600000, 1000) \
	/* Temporary addresses (RFC 8981), see autoconf.rst. */ \
	X(USE_TEMPADDR, 0, 2, 0) \
	/* TEMP_VALID_LIFETIME of temporary addresses, two days (RFC 8981 section 3.8). */ \
	X(TEMP_VALID, 60, 31536000, 172800) \
	/* TEMP_PREFERRED_LIFETIME of temporary addresses, one day (RFC 8981 section 3.8). */ \
	X(TEMP_PREFERRED, 30, 31536000, 86400) \
	/* New addresses are announced to routers (RFC 9131). */ \
	X(NDISC_NOTIFY, 0, 1, 0) \
	/* Packets for others that come in here are forwarded, see forwarding.rst. */ \
	X(FORWARDING, 0, 1, 0) \
	/* Addresses are used while they are probed for (RFC 4429). */ \
	X(OPTIMISTIC_DAD, 0, 1, 0) \
	/* A router answers for proxied addresses (RFC 4861 section 7.2.8), see nd.rst. */ \
	X(PROXY_NDP, 0, 1, 0) \
	/* Advertisements make default routers. */ \
	X(ACCEPT_RA_DEFRTR, 0, 1, 1) \
	/* Prefix Information options of advertisements are taken. */ \
	X(ACCEPT_RA_PINFO, 0, 1, 1) \
	/* The MTU option of advertisements is taken. */ \
	X(ACCEPT_RA_MTU, 0, 1, 1) \
	/* Preferences and routes of advertisements are taken (RFC 4191). */ \
	X(ACCEPT_RA_RTR_PREF, 0, 1, 1) \
	/* A lower hop limit is not taken from advertisements. */ \
	X(ACCEPT_RA_MIN_HOP_LIMIT, 0, 256, 1) \
	/* Routers, prefixes and routes of shorter lifetimes are not taken from advertisements. */ \
	X(ACCEPT_RA_MIN_LFT, 0, 2147483647, 0) \
	/* Routes of shorter prefixes are not taken from advertisements. */ \
	X(ACCEPT_RA_RT_INFO_MIN_PLEN, 0, 128, 0) \
	/* Routes of longer prefixes are not taken from advertisements. */ \
	X(ACCEPT_RA_RT_INFO_MAX_PLEN, 0, 128, 128) \
	/* Advertisements from an address of the interface's own are taken, too. */ \
	X(ACCEPT_RA_FROM_LOCAL, 0, 1, 0) \
	/* A host takes Redirects (RFC 4861 section 8.3). */ \
	X(ACCEPT_REDIRECTS, 0, 1, 1) \
	/* How often routers are asked for. */ \
	X(ROUTER_SOLICITATIONS, -1, 32767, -1) \
	/* The first solicitation comes after a random part of this time (RFC 4861 section 6.3.7). */ \
	X(ROUTER_SOLICITATION_DELAY, 0, 3600, 1) \
	/* Time between the first two solicitations (RFC 7559 IRT). */ \
	X(ROUTER_SOLICITATION_INTERVAL, 1, 86400, 4) \
	/* Longest time between two solicitations (RFC 7559 MRT). */ \
	X(ROUTER_SOLICITATION_MAX_INTERVAL, 1, 86400, 3600) \
	/* With 1 there is no IPv6 here. */ \
	X(DISABLE_IPV6, 0, 1, 0) \
	/* 0 does not probe for addresses, 1 does. */ \
	X(ACCEPT_DAD, 0, 2, 2) \
	/* Probes carry a nonce (RFC 7527). */ \
	X(ENHANCED_DAD, 0, 1, 1) \
	/* How interface identifiers are made, see autoconf.rst. */ \
	X(ADDR_GEN_MODE, 0, 3, 3) \
	/* New temporary addresses that are tried after duplicates (RFC 8981 TEMP_IDGEN_RETRIES). */ \
	X(REGEN_MAX_RETRY, 0, 100, 3) \
	/* Temporary addresses are preferred for a random part of this time less (RFC 8981 section 3.8). */ \
	X(MAX_DESYNC_FACTOR, 0, 31536000, 34560) \
	/* Optimistic addresses are sources as preferred ones are. */ \
	X(USE_OPTIMISTIC, 0, 1, 0) \
	/* With 1 addresses and whatever else was set by hand stay when the device goes down. */ \
	X(KEEP_ADDR_ON_DOWN, -1, 1, 1) \
	/* Unicast solicitations are answered with our link-layer address, see nd.rst. */ \
	X(FORCE_TLLAO, 0, 1, 1) \
	/* Traffic class of Neighbor Discovery. */ \
	X(NDISC_TCLASS, 0, 255, 0) \
	/* Fragments of Neighbor Discovery are dropped (RFC 6980). */ \
	X(SUPPRESS_FRAG_NDISC, 0, 1, 1) \
	/* Advertisements that nobody asked for change no neighbor. */ \
	X(DROP_UNSOLICITED_NA, 0, 1, 0) \
	/* Version of MLD. */ \
	X(FORCE_MLD_VERSION, 0, 2, 0) \
	/* MLDv1 tells changes again after a random part of this time (RFC 2710 section 7.10). */ \
	X(MLDV1_UNSOLICITED_REPORT_INTERVAL, 0, 3600000, 10000) \
	/* MLDv2 tells changes again after a random part of this time (RFC 3810 section 9.11). */ \
	X(MLDV2_UNSOLICITED_REPORT_INTERVAL, 0, 3600000, 1000) \
	/* Multicast solicitations before a neighbor is given up (RFC 4861 section 10). */ \
	X(MCAST_SOLICIT, 1, 255, 3) \
	/* Unicast solicitations before a neighbor of known address is given up (RFC 4861 section 10). */ \
	X(UCAST_SOLICIT, 1, 255, 3) \
	/* Time before the first unicast solicitation (RFC 4861 section 10). */ \
	X(DELAY_FIRST_PROBE_TIME, 0, 3600, 5) \
	/* Anycast and proxied addresses are answered for after a random part of this time (RFC 4861 section 10). */ \
	X(ANYCAST_DELAY, 0, 60000, 1000) \
	/* Least time between two probes of a router that does not answer (RFC 4191 section 3.5, which has a minute and no less). */ \
	X(ROUTER_PROBE_INTERVAL, 60, 86400, 60) \
	/* Metric of default routes by routers that advertise themselves. */ \
	X(RA_DEFRTR_METRIC, 1, 2147483647, 1024) \
	/* A router makes an entry for an advertisement of a neighbor that it does not know (RFC 9131 section 6.1.1). */ \
	X(ACCEPT_UNTRACKED_NA, 0, 2, 0) \
	/* Neighbors are forgotten when the carrier is lost. */ \
	X(NDISC_EVICT_NOCARRIER, 0, 1, 1) \
	/* Routes by a device without a carrier are not used. */ \
	X(IGNORE_ROUTES_WITH_LINKDOWN, 1, 1, 1)

/* X(file of net.net6.conf, parameter, its unit in the parameter's) */
#define NET6_PARAM_CONF_FILES(X) \
	X("mtu", MTU, 1) \
	X("hop_limit", HOP_LIMIT, 1) \
	X("dad_transmits", DAD_TRANSMITS, 1) \
	X("accept_ra", ACCEPT_RA, 1) \
	X("autoconf", AUTOCONF, 1) \
	X("use_tempaddr", USE_TEMPADDR, 1) \
	X("temp_valid_lft", TEMP_VALID, 1) \
	X("temp_prefered_lft", TEMP_PREFERRED, 1) \
	X("ndisc_notify", NDISC_NOTIFY, 1) \
	X("forwarding", FORWARDING, 1) \
	X("optimistic_dad", OPTIMISTIC_DAD, 1) \
	X("proxy_ndp", PROXY_NDP, 1) \
	X("accept_ra_defrtr", ACCEPT_RA_DEFRTR, 1) \
	X("accept_ra_pinfo", ACCEPT_RA_PINFO, 1) \
	X("accept_ra_mtu", ACCEPT_RA_MTU, 1) \
	X("accept_ra_rtr_pref", ACCEPT_RA_RTR_PREF, 1) \
	X("accept_ra_min_hop_limit", ACCEPT_RA_MIN_HOP_LIMIT, 1) \
	X("accept_ra_min_lft", ACCEPT_RA_MIN_LFT, 1) \
	X("accept_ra_rt_info_min_plen", ACCEPT_RA_RT_INFO_MIN_PLEN, 1) \
	X("accept_ra_rt_info_max_plen", ACCEPT_RA_RT_INFO_MAX_PLEN, 1) \
	X("accept_ra_from_local", ACCEPT_RA_FROM_LOCAL, 1) \
	X("accept_redirects", ACCEPT_REDIRECTS, 1) \
	X("router_solicitations", ROUTER_SOLICITATIONS, 1) \
	X("router_solicitation_delay", ROUTER_SOLICITATION_DELAY, 1) \
	X("router_solicitation_interval", ROUTER_SOLICITATION_INTERVAL, 1) \
	X("router_solicitation_max_interval", ROUTER_SOLICITATION_MAX_INTERVAL, 1) \
	X("disable_ipv6", DISABLE_IPV6, 1) \
	X("accept_dad", ACCEPT_DAD, 1) \
	X("enhanced_dad", ENHANCED_DAD, 1) \
	X("addr_gen_mode", ADDR_GEN_MODE, 1) \
	X("regen_max_retry", REGEN_MAX_RETRY, 1) \
	X("max_desync_factor", MAX_DESYNC_FACTOR, 1) \
	X("use_optimistic", USE_OPTIMISTIC, 1) \
	X("keep_addr_on_down", KEEP_ADDR_ON_DOWN, 1) \
	X("force_tllao", FORCE_TLLAO, 1) \
	X("ndisc_tclass", NDISC_TCLASS, 1) \
	X("suppress_frag_ndisc", SUPPRESS_FRAG_NDISC, 1) \
	X("drop_unsolicited_na", DROP_UNSOLICITED_NA, 1) \
	X("force_mld_version", FORCE_MLD_VERSION, 1) \
	X("mldv1_unsolicited_report_interval", MLDV1_UNSOLICITED_REPORT_INTERVAL, 1) \
	X("mldv2_unsolicited_report_interval", MLDV2_UNSOLICITED_REPORT_INTERVAL, 1) \
	X("router_probe_interval", ROUTER_PROBE_INTERVAL, 1) \
	X("ra_defrtr_metric", RA_DEFRTR_METRIC, 1) \
	X("accept_untracked_na", ACCEPT_UNTRACKED_NA, 1) \
	X("ndisc_evict_nocarrier", NDISC_EVICT_NOCARRIER, 1) \
	X("ignore_routes_with_linkdown", IGNORE_ROUTES_WITH_LINKDOWN, 1)

/* X(file of net.net6.neigh, parameter, its unit in the parameter's) */
#define NET6_PARAM_NEIGH_FILES(X) \
	X("base_reachable_time_ms", BASE_REACHABLE, 1) \
	X("base_reachable_time", BASE_REACHABLE, MSEC_PER_SEC) \
	X("retrans_time_ms", RETRANS, 1) \
	X("retrans_time", RETRANS, MSEC_PER_SEC / USER_HZ) \
	X("mcast_solicit", MCAST_SOLICIT, 1) \
	X("ucast_solicit", UCAST_SOLICIT, 1) \
	X("delay_first_probe_time", DELAY_FIRST_PROBE_TIME, 1) \
	X("anycast_delay", ANYCAST_DELAY, MSEC_PER_SEC / USER_HZ)

/* Bounds on what the network and users can make us remember, per namespace or
 * interface, that `net6ctl set limits` changes.
 */
struct net6_limits {
	/* Autoconfigured addresses per interface. */
	u32 max_addrs;
	/* On-link prefixes per interface. */
	u32 max_prefixes;
	/* Default routers per interface. */
	u32 max_routers;
	/* Neighbor entries per interface. */
	u32 max_neighs;
	/* Destination cache entries. */
	u32 max_dests;
	/* Memory of the packets that wait for one unresolved neighbor. */
	u32 neigh_queue;
	/* ICMPv6 errors per second. */
	u32 icmp_rate;
	/* Entries of all routing tables. */
	u32 max_routes;
	/* Routes learned from routers, per interface. */
	u32 max_ra_routes;
	/* Extension headers of a packet (RFC 8504 section 5.3). */
	u32 max_exthdrs;
	/* Options other than padding in one Destination Options header (RFC 8504 section 5.3). */
	u32 max_dst_options;
	/* Octets of padding in a row. */
	u32 max_padding;
	/* Memory that fragments may take. */
	u32 frag_memory;
	/* Time that the rest of a packet is waited for (RFC 8200 section 4.5). */
	u32 frag_timeout;
	/* Proxied addresses. */
	u32 max_proxies;
	/* Options other than padding in the Hop-by-Hop Options header. */
	u32 max_hbh_options;
	/* Length of a Destination Options header. */
	u32 max_dst_length;
	/* Length of the Hop-by-Hop Options header. */
	u32 max_hbh_length;
	/* With 1 unknown destination options are treated by RFC 8200 section 4.2. */
	u32 unknown_dst_options;
	/* With 1 unknown hop-by-hop options are treated by RFC 8200 section 4.2. */
	u32 unknown_hbh_options;
	/* Addresses, prefixes and default routers set by hand, per interface. */
	u32 max_manual;
	/* Groups and anycast addresses of a user's sockets, per interface. */
	u32 max_groups;
	/* Routing tables beside the main one. */
	u32 max_tables;
	/* Rules that say which routing table is looked at. */
	u32 max_rules;
};

/* X(field, attribute, least, largest, initial) */
#define NET6_LIMIT_LIST(X) \
	X(max_addrs, MAX_ADDRS, 1, 4096, 16) \
	X(max_prefixes, MAX_PREFIXES, 1, 4096, 64) \
	X(max_routers, MAX_ROUTERS, 1, 1024, 16) \
	X(max_neighs, MAX_NEIGHS, 16, 65536, 1024) \
	X(max_dests, MAX_DESTS, 16, 65536, 4096) \
	X(neigh_queue, NEIGH_QUEUE, 4096, 16777216, 212992) \
	X(icmp_rate, ICMP_RATE, 0, 1000000, 1000) \
	X(max_routes, MAX_ROUTES, 0, 16777216, 1048576) \
	X(max_ra_routes, MAX_RA_ROUTES, 0, 4096, 64) \
	X(max_exthdrs, MAX_EXTHDRS, 0, 255, 8) \
	X(max_dst_options, MAX_DST_OPTIONS, 0, 2147483647, 8) \
	X(max_padding, MAX_PADDING, 7, 255, 7) \
	X(frag_memory, FRAG_MEMORY, 65536, 1073741824, 4194304) \
	X(frag_timeout, FRAG_TIMEOUT, 1, 60, 60) \
	X(max_proxies, MAX_PROXIES, 0, 4096, 1024) \
	X(max_hbh_options, MAX_HBH_OPTIONS, 0, 2147483647, 8) \
	X(max_dst_length, MAX_DST_LENGTH, 0, 2147483647, 2147483647) \
	X(max_hbh_length, MAX_HBH_LENGTH, 0, 2147483647, 2147483647) \
	X(unknown_dst_options, UNKNOWN_DST_OPTIONS, 0, 1, 1) \
	X(unknown_hbh_options, UNKNOWN_HBH_OPTIONS, 0, 1, 1) \
	X(max_manual, MAX_MANUAL, 0, 1048576, 16384) \
	X(max_groups, MAX_GROUPS, 0, 65536, 4096) \
	X(max_tables, MAX_TABLES, 0, 65536, 4096) \
	X(max_rules, MAX_RULES, 0, 65536, 4096)

#endif /* _NET6_SETTINGS_GEN_H */
