/* SPDX-License-Identifier: GPL-2.0 */
/* Made by scripts/netlink-gen from Documentation/netlink/specs/net6.yaml. */
/* What net6ctl sets. */
#ifndef NET6CTL_SETTINGS_GEN_H
#define NET6CTL_SETTINGS_GEN_H

/* What `set dev DEV` takes: struct setting. */
#define IFACE_SETTINGS \
	{ "mtu", NET6_A_IFACE_MTU, 0, 0, 65535, 0 }, \
	{ "hop-limit", NET6_A_IFACE_HOP_LIMIT, 0, 1, 255, 64 }, \
	{ "dad-transmits", NET6_A_IFACE_DAD_TRANSMITS, 0, 0, 16, 1 }, \
	{ "accept-ra", NET6_A_IFACE_ACCEPT_RA, 2, 0, 2, 1 }, \
	{ "autoconf", NET6_A_IFACE_AUTOCONF, 1, 0, 1, 1 }, \
	{ "reachable", NET6_A_IFACE_BASE_REACHABLE, 0, 1, 3600000, 30000 }, \
	{ "retrans", NET6_A_IFACE_RETRANS, 0, 1, 3600000, 1000 }, \
	{ "use-tempaddr", NET6_A_IFACE_USE_TEMPADDR, 0, 0, 2, 0 }, \
	{ "temp-valid", NET6_A_IFACE_TEMP_VALID, 0, 60, 31536000, 172800 }, \
	{ "temp-preferred", NET6_A_IFACE_TEMP_PREFERRED, 0, 30, 31536000, 86400 }, \
	{ "ndisc-notify", NET6_A_IFACE_NDISC_NOTIFY, 1, 0, 1, 0 }, \
	{ "forwarding", NET6_A_IFACE_FORWARDING, 1, 0, 1, 0 }, \
	{ "optimistic-dad", NET6_A_IFACE_OPTIMISTIC_DAD, 1, 0, 1, 0 }, \
	{ "proxy-ndp", NET6_A_IFACE_PROXY_NDP, 1, 0, 1, 0 }, \
	{ "accept-ra-defrtr", NET6_A_IFACE_ACCEPT_RA_DEFRTR, 1, 0, 1, 1 }, \
	{ "accept-ra-pinfo", NET6_A_IFACE_ACCEPT_RA_PINFO, 1, 0, 1, 1 }, \
	{ "accept-ra-mtu", NET6_A_IFACE_ACCEPT_RA_MTU, 1, 0, 1, 1 }, \
	{ "accept-ra-rtr-pref", NET6_A_IFACE_ACCEPT_RA_RTR_PREF, 1, 0, 1, 1 }, \
	{ "accept-ra-min-hop-limit", NET6_A_IFACE_ACCEPT_RA_MIN_HOP_LIMIT, 0, 0, 256, 1 }, \
	{ "accept-ra-min-lft", NET6_A_IFACE_ACCEPT_RA_MIN_LFT, 0, 0, 2147483647, 0 }, \
	{ "accept-ra-rt-info-min-plen", NET6_A_IFACE_ACCEPT_RA_RT_INFO_MIN_PLEN, 0, 0, 128, 0 }, \
	{ "accept-ra-rt-info-max-plen", NET6_A_IFACE_ACCEPT_RA_RT_INFO_MAX_PLEN, 0, 0, 128, 128 }, \
	{ "accept-ra-from-local", NET6_A_IFACE_ACCEPT_RA_FROM_LOCAL, 1, 0, 1, 0 }, \
	{ "accept-redirects", NET6_A_IFACE_ACCEPT_REDIRECTS, 1, 0, 1, 1 }, \
	{ "router-solicitations", NET6_A_IFACE_ROUTER_SOLICITATIONS, MINUS_ONE, -1, 32767, -1 }, \
	{ "router-solicitation-delay", NET6_A_IFACE_ROUTER_SOLICITATION_DELAY, 0, 0, 3600, 1 }, \
	{ "router-solicitation-interval", NET6_A_IFACE_ROUTER_SOLICITATION_INTERVAL, 0, 1, 86400, 4 }, \
	{ "router-solicitation-max-interval", NET6_A_IFACE_ROUTER_SOLICITATION_MAX_INTERVAL, 0, 1, 86400, 3600 }, \
	{ "disable-ipv6", NET6_A_IFACE_DISABLE_IPV6, 1, 0, 1, 0 }, \
	{ "accept-dad", NET6_A_IFACE_ACCEPT_DAD, 0, 0, 2, 2 }, \
	{ "enhanced-dad", NET6_A_IFACE_ENHANCED_DAD, 1, 0, 1, 1 }, \
	{ "addr-gen-mode", NET6_A_IFACE_ADDR_GEN_MODE, 0, 0, 3, 3 }, \
	{ "regen-max-retry", NET6_A_IFACE_REGEN_MAX_RETRY, 0, 0, 100, 3 }, \
	{ "max-desync-factor", NET6_A_IFACE_MAX_DESYNC_FACTOR, 0, 0, 31536000, 34560 }, \
	{ "use-optimistic", NET6_A_IFACE_USE_OPTIMISTIC, 1, 0, 1, 0 }, \
	{ "keep-addr-on-down", NET6_A_IFACE_KEEP_ADDR_ON_DOWN, MINUS_ONE, -1, 1, 1 }, \
	{ "force-tllao", NET6_A_IFACE_FORCE_TLLAO, 1, 0, 1, 1 }, \
	{ "ndisc-tclass", NET6_A_IFACE_NDISC_TCLASS, 0, 0, 255, 0 }, \
	{ "suppress-frag-ndisc", NET6_A_IFACE_SUPPRESS_FRAG_NDISC, 1, 0, 1, 1 }, \
	{ "drop-unsolicited-na", NET6_A_IFACE_DROP_UNSOLICITED_NA, 1, 0, 1, 0 }, \
	{ "force-mld-version", NET6_A_IFACE_FORCE_MLD_VERSION, 0, 0, 2, 0 }, \
	{ "mldv1-unsolicited-report-interval", NET6_A_IFACE_MLDV1_UNSOLICITED_REPORT_INTERVAL, 0, 0, 3600000, 10000 }, \
	{ "mldv2-unsolicited-report-interval", NET6_A_IFACE_MLDV2_UNSOLICITED_REPORT_INTERVAL, 0, 0, 3600000, 1000 }, \
	{ "mcast-solicit", NET6_A_IFACE_MCAST_SOLICIT, 0, 1, 255, 3 }, \
	{ "ucast-solicit", NET6_A_IFACE_UCAST_SOLICIT, 0, 1, 255, 3 }, \
	{ "delay-first-probe-time", NET6_A_IFACE_DELAY_FIRST_PROBE_TIME, 0, 0, 3600, 5 }, \
	{ "anycast-delay", NET6_A_IFACE_ANYCAST_DELAY, 0, 0, 60000, 1000 }, \
	{ "router-probe-interval", NET6_A_IFACE_ROUTER_PROBE_INTERVAL, 0, 60, 86400, 60 }, \
	{ "ra-defrtr-metric", NET6_A_IFACE_RA_DEFRTR_METRIC, 0, 1, 2147483647, 1024 }, \
	{ "accept-untracked-na", NET6_A_IFACE_ACCEPT_UNTRACKED_NA, 0, 0, 2, 0 }, \
	{ "ndisc-evict-nocarrier", NET6_A_IFACE_NDISC_EVICT_NOCARRIER, 1, 0, 1, 1 }, \
	{ "ignore-routes-with-linkdown", NET6_A_IFACE_IGNORE_ROUTES_WITH_LINKDOWN, 0, 1, 1, 1 },

/* Its line of the usage. */
#define IFACE_HELP \
	"  set dev DEV [defaults] [mtu OCTETS] [hop-limit N] [dad-transmits N]\n" \
	"      [accept-ra on|off|2] [autoconf on|off] [reachable MS] [retrans MS]\n" \
	"      [use-tempaddr 0|1|2] [temp-valid SECONDS] [temp-preferred SECONDS]\n" \
	"      [ndisc-notify on|off] [forwarding on|off] [optimistic-dad on|off]\n" \
	"      [proxy-ndp on|off] [accept-ra-defrtr on|off] [accept-ra-pinfo on|off]\n" \
	"      [accept-ra-mtu on|off] [accept-ra-rtr-pref on|off] [accept-ra-min-hop-limit N]\n" \
	"      [accept-ra-min-lft SECONDS] [accept-ra-rt-info-min-plen N]\n" \
	"      [accept-ra-rt-info-max-plen N] [accept-ra-from-local on|off]\n" \
	"      [accept-redirects on|off] [router-solicitations N|-1]\n" \
	"      [router-solicitation-delay SECONDS] [router-solicitation-interval SECONDS]\n" \
	"      [router-solicitation-max-interval SECONDS] [disable-ipv6 on|off]\n" \
	"      [accept-dad 0|1|2] [enhanced-dad on|off] [addr-gen-mode 0|1|2|3]\n" \
	"      [regen-max-retry N] [max-desync-factor SECONDS] [use-optimistic on|off]\n" \
	"      [keep-addr-on-down -1|0|1] [force-tllao on|off] [ndisc-tclass N]\n" \
	"      [suppress-frag-ndisc on|off] [drop-unsolicited-na on|off]\n" \
	"      [force-mld-version 0|1|2] [mldv1-unsolicited-report-interval MS]\n" \
	"      [mldv2-unsolicited-report-interval MS] [mcast-solicit N] [ucast-solicit N]\n" \
	"      [delay-first-probe-time SECONDS] [anycast-delay MS]\n" \
	"      [router-probe-interval SECONDS] [ra-defrtr-metric N]\n" \
	"      [accept-untracked-na 0|1|2] [ndisc-evict-nocarrier on|off]\n" \
	"      [ignore-routes-with-linkdown 1]\n"

/* What is shown of it: struct column. */
#define IFACE_COLUMNS \
	{ NET6_A_IFACE_MTU, KIND_U32, "mtu", "MTU", NULL }, \
	{ NET6_A_IFACE_HOP_LIMIT, KIND_U32, "hop_limit", "HOPS", NULL }, \
	{ NET6_A_IFACE_DAD_TRANSMITS, KIND_U32, "dad_transmits", "DAD", NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA, KIND_BOOL, "accept_ra", "RA", NULL }, \
	{ NET6_A_IFACE_AUTOCONF, KIND_BOOL, "autoconf", "AUTOCONF", NULL }, \
	{ NET6_A_IFACE_BASE_REACHABLE, KIND_U32, "base_reachable", NULL, NULL }, \
	{ NET6_A_IFACE_REACHABLE, KIND_AGE, "reachable", "REACHABLE", NULL }, \
	{ NET6_A_IFACE_RETRANS, KIND_AGE, "retrans", "RETRANS", NULL }, \
	{ NET6_A_IFACE_USE_TEMPADDR, KIND_U32, "use_tempaddr", NULL, NULL }, \
	{ NET6_A_IFACE_TEMP_VALID, KIND_U32, "temp_valid", NULL, NULL }, \
	{ NET6_A_IFACE_TEMP_PREFERRED, KIND_U32, "temp_preferred", NULL, NULL }, \
	{ NET6_A_IFACE_NDISC_NOTIFY, KIND_BOOL, "ndisc_notify", NULL, NULL }, \
	{ NET6_A_IFACE_FORWARDING, KIND_BOOL, "forwarding", NULL, NULL }, \
	{ NET6_A_IFACE_OPTIMISTIC_DAD, KIND_BOOL, "optimistic_dad", NULL, NULL }, \
	{ NET6_A_IFACE_PROXY_NDP, KIND_BOOL, "proxy_ndp", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_DEFRTR, KIND_BOOL, "accept_ra_defrtr", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_PINFO, KIND_BOOL, "accept_ra_pinfo", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_MTU, KIND_BOOL, "accept_ra_mtu", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_RTR_PREF, KIND_BOOL, "accept_ra_rtr_pref", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_MIN_HOP_LIMIT, KIND_U32, "accept_ra_min_hop_limit", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_MIN_LFT, KIND_U32, "accept_ra_min_lft", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_RT_INFO_MIN_PLEN, KIND_U32, "accept_ra_rt_info_min_plen", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_RT_INFO_MAX_PLEN, KIND_U32, "accept_ra_rt_info_max_plen", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_RA_FROM_LOCAL, KIND_BOOL, "accept_ra_from_local", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_REDIRECTS, KIND_BOOL, "accept_redirects", NULL, NULL }, \
	{ NET6_A_IFACE_ROUTER_SOLICITATIONS, KIND_S32, "router_solicitations", NULL, NULL }, \
	{ NET6_A_IFACE_ROUTER_SOLICITATION_DELAY, KIND_U32, "router_solicitation_delay", NULL, NULL }, \
	{ NET6_A_IFACE_ROUTER_SOLICITATION_INTERVAL, KIND_U32, "router_solicitation_interval", NULL, NULL }, \
	{ NET6_A_IFACE_ROUTER_SOLICITATION_MAX_INTERVAL, KIND_U32, "router_solicitation_max_interval", NULL, NULL }, \
	{ NET6_A_IFACE_DISABLE_IPV6, KIND_BOOL, "disable_ipv6", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_DAD, KIND_U32, "accept_dad", NULL, NULL }, \
	{ NET6_A_IFACE_ENHANCED_DAD, KIND_BOOL, "enhanced_dad", NULL, NULL }, \
	{ NET6_A_IFACE_ADDR_GEN_MODE, KIND_U32, "addr_gen_mode", NULL, NULL }, \
	{ NET6_A_IFACE_REGEN_MAX_RETRY, KIND_U32, "regen_max_retry", NULL, NULL }, \
	{ NET6_A_IFACE_MAX_DESYNC_FACTOR, KIND_U32, "max_desync_factor", NULL, NULL }, \
	{ NET6_A_IFACE_USE_OPTIMISTIC, KIND_BOOL, "use_optimistic", NULL, NULL }, \
	{ NET6_A_IFACE_KEEP_ADDR_ON_DOWN, KIND_S32, "keep_addr_on_down", NULL, NULL }, \
	{ NET6_A_IFACE_FORCE_TLLAO, KIND_BOOL, "force_tllao", NULL, NULL }, \
	{ NET6_A_IFACE_NDISC_TCLASS, KIND_U32, "ndisc_tclass", NULL, NULL }, \
	{ NET6_A_IFACE_SUPPRESS_FRAG_NDISC, KIND_BOOL, "suppress_frag_ndisc", NULL, NULL }, \
	{ NET6_A_IFACE_DROP_UNSOLICITED_NA, KIND_BOOL, "drop_unsolicited_na", NULL, NULL }, \
	{ NET6_A_IFACE_FORCE_MLD_VERSION, KIND_U32, "force_mld_version", NULL, NULL }, \
	{ NET6_A_IFACE_MLDV1_UNSOLICITED_REPORT_INTERVAL, KIND_U32, "mldv1_unsolicited_report_interval", NULL, NULL }, \
	{ NET6_A_IFACE_MLDV2_UNSOLICITED_REPORT_INTERVAL, KIND_U32, "mldv2_unsolicited_report_interval", NULL, NULL }, \
	{ NET6_A_IFACE_MCAST_SOLICIT, KIND_U32, "mcast_solicit", NULL, NULL }, \
	{ NET6_A_IFACE_UCAST_SOLICIT, KIND_U32, "ucast_solicit", NULL, NULL }, \
	{ NET6_A_IFACE_DELAY_FIRST_PROBE_TIME, KIND_U32, "delay_first_probe_time", NULL, NULL }, \
	{ NET6_A_IFACE_ANYCAST_DELAY, KIND_U32, "anycast_delay", NULL, NULL }, \
	{ NET6_A_IFACE_ROUTER_PROBE_INTERVAL, KIND_U32, "router_probe_interval", NULL, NULL }, \
	{ NET6_A_IFACE_RA_DEFRTR_METRIC, KIND_U32, "ra_defrtr_metric", NULL, NULL }, \
	{ NET6_A_IFACE_ACCEPT_UNTRACKED_NA, KIND_U32, "accept_untracked_na", NULL, NULL }, \
	{ NET6_A_IFACE_NDISC_EVICT_NOCARRIER, KIND_BOOL, "ndisc_evict_nocarrier", NULL, NULL }, \
	{ NET6_A_IFACE_IGNORE_ROUTES_WITH_LINKDOWN, KIND_U32, "ignore_routes_with_linkdown", NULL, NULL },

/* What `set limits` takes: struct setting. */
#define LIMITS_SETTINGS \
	{ "max-addrs", NET6_A_LIMITS_MAX_ADDRS, 0, 1, 4096, 16 }, \
	{ "max-prefixes", NET6_A_LIMITS_MAX_PREFIXES, 0, 1, 4096, 64 }, \
	{ "max-routers", NET6_A_LIMITS_MAX_ROUTERS, 0, 1, 1024, 16 }, \
	{ "max-neighs", NET6_A_LIMITS_MAX_NEIGHS, 0, 16, 65536, 1024 }, \
	{ "max-dests", NET6_A_LIMITS_MAX_DESTS, 0, 16, 65536, 4096 }, \
	{ "neigh-queue", NET6_A_LIMITS_NEIGH_QUEUE, 0, 4096, 16777216, 212992 }, \
	{ "icmp-rate", NET6_A_LIMITS_ICMP_RATE, 0, 0, 1000000, 1000 }, \
	{ "max-routes", NET6_A_LIMITS_MAX_ROUTES, 0, 0, 16777216, 1048576 }, \
	{ "max-ra-routes", NET6_A_LIMITS_MAX_RA_ROUTES, 0, 0, 4096, 64 }, \
	{ "max-exthdrs", NET6_A_LIMITS_MAX_EXTHDRS, 0, 0, 255, 8 }, \
	{ "max-dst-options", NET6_A_LIMITS_MAX_DST_OPTIONS, 0, 0, 2147483647, 8 }, \
	{ "max-padding", NET6_A_LIMITS_MAX_PADDING, 0, 7, 255, 7 }, \
	{ "frag-memory", NET6_A_LIMITS_FRAG_MEMORY, 0, 65536, 1073741824, 4194304 }, \
	{ "frag-timeout", NET6_A_LIMITS_FRAG_TIMEOUT, 0, 1, 60, 60 }, \
	{ "max-proxies", NET6_A_LIMITS_MAX_PROXIES, 0, 0, 4096, 1024 }, \
	{ "max-hbh-options", NET6_A_LIMITS_MAX_HBH_OPTIONS, 0, 0, 2147483647, 8 }, \
	{ "max-dst-length", NET6_A_LIMITS_MAX_DST_LENGTH, 0, 0, 2147483647, 2147483647 }, \
	{ "max-hbh-length", NET6_A_LIMITS_MAX_HBH_LENGTH, 0, 0, 2147483647, 2147483647 }, \
	{ "unknown-dst-options", NET6_A_LIMITS_UNKNOWN_DST_OPTIONS, 0, 0, 1, 1 }, \
	{ "unknown-hbh-options", NET6_A_LIMITS_UNKNOWN_HBH_OPTIONS, 0, 0, 1, 1 }, \
	{ "max-manual", NET6_A_LIMITS_MAX_MANUAL, 0, 0, 1048576, 16384 }, \
	{ "max-groups", NET6_A_LIMITS_MAX_GROUPS, 0, 0, 65536, 4096 }, \
	{ "max-tables", NET6_A_LIMITS_MAX_TABLES, 0, 0, 65536, 4096 }, \
	{ "max-rules", NET6_A_LIMITS_MAX_RULES, 0, 0, 65536, 4096 },

/* Its line of the usage. */
#define LIMITS_HELP \
	"  set limits [defaults] [max-addrs N] [max-prefixes N] [max-routers N]\n" \
	"      [max-neighs N] [max-dests N] [neigh-queue OCTETS] [icmp-rate N] [max-routes N]\n" \
	"      [max-ra-routes N] [max-exthdrs N] [max-dst-options N] [max-padding N]\n" \
	"      [frag-memory OCTETS] [frag-timeout SECONDS] [max-proxies N]\n" \
	"      [max-hbh-options N] [max-dst-length OCTETS] [max-hbh-length OCTETS]\n" \
	"      [unknown-dst-options 0|1] [unknown-hbh-options 0|1] [max-manual N]\n" \
	"      [max-groups N] [max-tables N] [max-rules N]\n"

/* What is shown of it: struct column. */
#define LIMITS_COLUMNS \
	{ NET6_A_LIMITS_MAX_ADDRS, KIND_U32, "max_addrs", "MAX-ADDRS", NULL }, \
	{ NET6_A_LIMITS_MAX_PREFIXES, KIND_U32, "max_prefixes", "MAX-PREFIXES", NULL }, \
	{ NET6_A_LIMITS_MAX_ROUTERS, KIND_U32, "max_routers", "MAX-ROUTERS", NULL }, \
	{ NET6_A_LIMITS_MAX_NEIGHS, KIND_U32, "max_neighs", "MAX-NEIGHS", NULL }, \
	{ NET6_A_LIMITS_MAX_DESTS, KIND_U32, "max_dests", "MAX-DESTS", NULL }, \
	{ NET6_A_LIMITS_NEIGH_QUEUE, KIND_U32, "neigh_queue", "NEIGH-QUEUE", NULL }, \
	{ NET6_A_LIMITS_ICMP_RATE, KIND_U32, "icmp_rate", "ICMP-RATE", NULL }, \
	{ NET6_A_LIMITS_MAX_ROUTES, KIND_U32, "max_routes", "MAX-ROUTES", NULL }, \
	{ NET6_A_LIMITS_MAX_RA_ROUTES, KIND_U32, "max_ra_routes", "MAX-RA-ROUTES", NULL }, \
	{ NET6_A_LIMITS_MAX_EXTHDRS, KIND_U32, "max_exthdrs", "MAX-EXTHDRS", NULL }, \
	{ NET6_A_LIMITS_MAX_DST_OPTIONS, KIND_U32, "max_dst_options", "MAX-DST-OPTIONS", NULL }, \
	{ NET6_A_LIMITS_MAX_PADDING, KIND_U32, "max_padding", "MAX-PADDING", NULL }, \
	{ NET6_A_LIMITS_FRAG_MEMORY, KIND_U32, "frag_memory", "FRAG-MEMORY", NULL }, \
	{ NET6_A_LIMITS_FRAG_TIMEOUT, KIND_U32, "frag_timeout", "FRAG-TIMEOUT", NULL }, \
	{ NET6_A_LIMITS_MAX_PROXIES, KIND_U32, "max_proxies", "MAX-PROXIES", NULL }, \
	{ NET6_A_LIMITS_MAX_HBH_OPTIONS, KIND_U32, "max_hbh_options", "MAX-HBH-OPTIONS", NULL }, \
	{ NET6_A_LIMITS_MAX_DST_LENGTH, KIND_U32, "max_dst_length", "MAX-DST-LENGTH", NULL }, \
	{ NET6_A_LIMITS_MAX_HBH_LENGTH, KIND_U32, "max_hbh_length", "MAX-HBH-LENGTH", NULL }, \
	{ NET6_A_LIMITS_UNKNOWN_DST_OPTIONS, KIND_U32, "unknown_dst_options", "UNKNOWN-DST-OPTIONS", NULL }, \
	{ NET6_A_LIMITS_UNKNOWN_HBH_OPTIONS, KIND_U32, "unknown_hbh_options", "UNKNOWN-HBH-OPTIONS", NULL }, \
	{ NET6_A_LIMITS_MAX_MANUAL, KIND_U32, "max_manual", "MAX-MANUAL", NULL }, \
	{ NET6_A_LIMITS_MAX_GROUPS, KIND_U32, "max_groups", "MAX-GROUPS", NULL }, \
	{ NET6_A_LIMITS_MAX_TABLES, KIND_U32, "max_tables", "MAX-TABLES", NULL }, \
	{ NET6_A_LIMITS_MAX_RULES, KIND_U32, "max_rules", "MAX-RULES", NULL },

#endif /* NET6CTL_SETTINGS_GEN_H */
