// SPDX-License-Identifier: GPL-2.0
/* What can be shown and watched: the objects, their properties and words. */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "settings_gen.h"

static const char *const iface_flags[] = {
	"up", "hooked", "loopback", "multicast", "nd", NULL };
static const char *const addr_states[] = {
	"tentative", "preferred", "deprecated", "duplicate", "gone", "optimistic", NULL };
static const char *const addr_origins[] = {
	"manual", "link-local", "slaac", "loopback", "temporary", NULL };
static const char *const accept_types[] = {
	"unicast", "anycast", "multicast", NULL };
static const char *const neigh_states[] = {
	"none", "incomplete", "reachable", "stale", "delay", "probe", "failed", "permanent",
	NULL };
static const char *const neigh_flags[] = {
	"manual", "default-router", "next-hop", "is-router", NULL };
static const char *const dest_flags[] = {
	"local", "multicast", "on-link", "redirected", "stale", NULL };
static const char *const events[] = { "new", "change", "del", NULL };

/* Those of TCP_INFO: 0 and 12 are never told. */
static const char *const sock_states[] = {
	"none", "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2", "time-wait",
	"close", "close-wait", "last-ack", "listen", "closing", "syn-recv", NULL };

static const struct column iface_columns[] = {
	{ NET6_A_IFACE_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_IFACE_NAME, KIND_STRING, "dev", "DEV", NULL },
	{ NET6_A_IFACE_LINK, KIND_STRING, "link", "LINK", NULL },
	{ NET6_A_IFACE_LLADDR, KIND_LLADDR, "lladdr", "LINK ADDRESS", NULL },
	IFACE_COLUMNS
	{ NET6_A_IFACE_ADDRESSES, KIND_U32, "addresses", NULL, NULL },
	{ NET6_A_IFACE_PREFIXES, KIND_U32, "prefixes", NULL, NULL },
	{ NET6_A_IFACE_ROUTERS, KIND_U32, "routers", NULL, NULL },
	{ NET6_A_IFACE_NEIGHBORS, KIND_U32, "neighbors", NULL, NULL },
	{ NET6_A_IFACE_FLAGS, KIND_FLAGS, "flags", "FLAGS", iface_flags },
	{ 0 }
};

static const struct column addr_columns[] = {
	{ NET6_A_ADDR_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_ADDR_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_ADDR_ADDRESS, KIND_NETWORK, NULL, "ADDRESS", NULL },
	{ NET6_A_ADDR_ADDRESS, KIND_ADDRESS, "address", NULL, NULL },
	{ NET6_A_ADDR_PREFIX_LEN, KIND_U32, "prefix_len", NULL, NULL },
	{ NET6_A_ADDR_STATE, KIND_ENUM, "state", "STATE", addr_states },
	{ NET6_A_ADDR_ORIGIN, KIND_ENUM, "origin", "ORIGIN", addr_origins },
	{ NET6_A_ADDR_VALID, KIND_LIFETIME, "valid", "VALID", NULL },
	{ NET6_A_ADDR_PREFERRED, KIND_LIFETIME, "preferred", "PREFERRED", NULL },
	{ 0 }
};

static const struct column accept_columns[] = {
	{ NET6_A_ACCEPT_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_ACCEPT_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_ACCEPT_ADDRESS, KIND_ADDRESS, "address", "ADDRESS", NULL },
	{ NET6_A_ACCEPT_TYPE, KIND_ENUM, "type", "TYPE", accept_types },
	{ NET6_A_ACCEPT_USERS, KIND_U32, "users", "USERS", NULL },
	{ 0 }
};

static const struct column neigh_columns[] = {
	{ NET6_A_NEIGH_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_NEIGH_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_NEIGH_ADDRESS, KIND_ADDRESS, "address", "ADDRESS", NULL },
	{ NET6_A_NEIGH_LLADDR, KIND_LLADDR, "lladdr", "LINK ADDRESS", NULL },
	{ NET6_A_NEIGH_STATE, KIND_ENUM, "state", "STATE", neigh_states },
	{ NET6_A_NEIGH_CONFIRMED, KIND_AGE, "confirmed", "CONFIRMED", NULL },
	{ NET6_A_NEIGH_USED, KIND_AGE, "used", "USED", NULL },
	{ NET6_A_NEIGH_PROBES, KIND_U32, "probes", NULL, NULL },
	{ NET6_A_NEIGH_QUEUED, KIND_U32, "queued", "QUEUED", NULL },
	{ NET6_A_NEIGH_FLAGS, KIND_FLAGS, "flags", "FLAGS", neigh_flags },
	{ 0 }
};

static const struct column router_columns[] = {
	{ NET6_A_ROUTER_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_ROUTER_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_ROUTER_ADDRESS, KIND_ADDRESS, "address", "ROUTER", NULL },
	{ NET6_A_ROUTER_PREFERENCE, KIND_S32, "preference", "PREFERENCE", NULL },
	{ NET6_A_ROUTER_LIFETIME, KIND_LIFETIME, "lifetime", "LIFETIME", NULL },
	{ NET6_A_ROUTER_NEIGH_STATE, KIND_ENUM, "neigh_state", "NEIGHBOR", neigh_states },
	{ NET6_A_ROUTER_MANUAL, KIND_FLAG, "manual", "manual", NULL },
	{ NET6_A_ROUTER_WEIGHT, KIND_U32, "weight", NULL, NULL },
	{ NET6_A_ROUTER_SOURCE, KIND_ADDRESS, "source", NULL, NULL },
	{ NET6_A_ROUTER_METRICS, KIND_METRICS, "metrics", "METRICS", NULL },
	{ 0 }
};

static const struct column prefix_columns[] = {
	{ NET6_A_PREFIX_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_PREFIX_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_PREFIX_ADDRESS, KIND_NETWORK, NULL, "ON-LINK PREFIX", NULL },
	{ NET6_A_PREFIX_ADDRESS, KIND_ADDRESS, "address", NULL, NULL },
	{ NET6_A_PREFIX_PREFIX_LEN, KIND_U32, "prefix_len", NULL, NULL },
	{ NET6_A_PREFIX_VALID, KIND_LIFETIME, "valid", "VALID", NULL },
	{ NET6_A_PREFIX_MANUAL, KIND_FLAG, "manual", "manual", NULL },
	{ 0 }
};

static const struct column pref64_columns[] = {
	{ NET6_A_PREF64_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_PREF64_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_PREF64_ADDRESS, KIND_NETWORK, NULL, "PREFIX OF NAT64", NULL },
	{ NET6_A_PREF64_ADDRESS, KIND_ADDRESS, "address", NULL, NULL },
	{ NET6_A_PREF64_PREFIX_LEN, KIND_U32, "prefix_len", NULL, NULL },
	{ NET6_A_PREF64_ROUTER, KIND_ADDRESS, "router", "ROUTER", NULL },
	{ NET6_A_PREF64_LIFETIME, KIND_LIFETIME, "lifetime", "LIFETIME", NULL },
	{ 0 }
};

static const struct column route_columns[] = {
	{ NET6_A_ROUTE_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_ROUTE_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_ROUTE_ADDRESS, KIND_NETWORK, NULL, "PREFIX", NULL },
	{ NET6_A_ROUTE_ADDRESS, KIND_ADDRESS, "address", NULL, NULL },
	{ NET6_A_ROUTE_PREFIX_LEN, KIND_U32, "prefix_len", NULL, NULL },
	{ NET6_A_ROUTE_GATEWAY, KIND_ADDRESS, "gateway", "ROUTER", NULL },
	{ NET6_A_ROUTE_PREFERENCE, KIND_S32, "preference", "PREFERENCE", NULL },
	{ NET6_A_ROUTE_LIFETIME, KIND_LIFETIME, "lifetime", "LIFETIME", NULL },
	{ NET6_A_ROUTE_MANUAL, KIND_FLAG, "manual", "manual", NULL },
	{ NET6_A_ROUTE_WEIGHT, KIND_U32, "weight", NULL, NULL },
	{ NET6_A_ROUTE_SOURCE, KIND_ADDRESS, "source", NULL, NULL },
	{ NET6_A_ROUTE_TABLE, KIND_U32, "table", "TABLE", NULL },
	{ NET6_A_ROUTE_METRICS, KIND_METRICS, "metrics", "METRICS", NULL },
	{ 0 }
};

static const struct column dns_columns[] = {
	{ NET6_A_DNS_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_DNS_ROUTER, KIND_ADDRESS, "router", "ROUTER", NULL },
	{ NET6_A_DNS_LIFETIME, KIND_LIFETIME, "lifetime", "LIFETIME", NULL },
	{ NET6_A_DNS_SERVERS, KIND_ADDRESSES, "servers", "SERVERS", NULL },
	{ NET6_A_DNS_SEARCH, KIND_DOMAINS, "search", "SEARCH", NULL },
	{ 0 }
};

static const struct column dest_columns[] = {
	{ NET6_A_DEST_ADDRESS, KIND_ADDRESS, "address", "DESTINATION", NULL },
	{ NET6_A_DEST_OIF, KIND_DEV, "oif", NULL, NULL },
	{ NET6_A_DEST_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_DEST_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_DEST_NEXT_HOP, KIND_ADDRESS, "next_hop", "NEXT HOP", NULL },
	{ NET6_A_DEST_NEIGH_STATE, KIND_ENUM, "neigh_state", "NEIGHBOR", neigh_states },
	{ NET6_A_DEST_SOURCE, KIND_ADDRESS, "source", "SOURCE", NULL },
	{ NET6_A_DEST_PMTU, KIND_U32, "pmtu", "PMTU", NULL },
	{ NET6_A_DEST_PMTU_EXPIRES, KIND_AGE, "pmtu_expires", NULL, NULL },
	{ NET6_A_DEST_USED, KIND_AGE, "used", "USED", NULL },
	{ NET6_A_DEST_FLAGS, KIND_FLAGS, "flags", "FLAGS", dest_flags },
	{ 0 }
};

static const struct column sock_columns[] = {
	{ NET6_A_SOCK_PROTOCOL, KIND_PROTOCOL, "protocol", "PROTOCOL", NULL },
	{ NET6_A_SOCK_STATE, KIND_ENUM, "state", "STATE", sock_states },
	{ NET6_A_SOCK_RX_QUEUE, KIND_U32, "rx_queue", "RECEIVE", NULL },
	{ NET6_A_SOCK_TX_QUEUE, KIND_U32, "tx_queue", "SEND", NULL },
	{ NET6_A_SOCK_LOCAL_ADDRESS, KIND_ENDPOINT, NULL, "LOCAL", NULL },
	{ NET6_A_SOCK_LOCAL_ADDRESS, KIND_ADDRESS, "local_address", NULL, NULL },
	{ NET6_A_SOCK_LOCAL_PORT, KIND_U32, "local_port", NULL, NULL },
	{ NET6_A_SOCK_REMOTE_ADDRESS, KIND_ENDPOINT, NULL, "REMOTE", NULL },
	{ NET6_A_SOCK_REMOTE_ADDRESS, KIND_ADDRESS, "remote_address", NULL, NULL },
	{ NET6_A_SOCK_REMOTE_PORT, KIND_U32, "remote_port", NULL, NULL },
	{ NET6_A_SOCK_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_SOCK_UID, KIND_U32, "uid", "UID", NULL },
	{ NET6_A_SOCK_INODE, KIND_U32, "inode", NULL, NULL },
	{ NET6_A_SOCK_MSS, KIND_U32, "mss", NULL, NULL },
	{ NET6_A_SOCK_CWND, KIND_U32, "cwnd", "CWND", NULL },
	{ NET6_A_SOCK_SSTHRESH, KIND_U32, "ssthresh", NULL, NULL },
	{ NET6_A_SOCK_SRTT, KIND_U32, "srtt", "RTT us", NULL },
	{ NET6_A_SOCK_RTO, KIND_U32, "rto", NULL, NULL },
	{ NET6_A_SOCK_RETRANS, KIND_U32, "retrans", "RETRANS", NULL },
	{ NET6_A_SOCK_CONGESTION, KIND_STRING, "congestion", "CONGESTION", NULL },
	{ NET6_A_SOCK_INFO, KIND_TCP_INFO, "info", "", NULL },
	{ 0 }
};

static const struct column counter_columns[] = {
	{ NET6_A_COUNTER_NAME, KIND_STRING, "name", "COUNTER", NULL },
	{ NET6_A_COUNTER_VALUE, KIND_U64, "value", "VALUE", NULL },
	{ 0 }
};

static const struct column drop_columns[] = {
	{ NET6_A_COUNTER_VALUE, KIND_U64, "value", "DROPS", NULL },
	{ NET6_A_COUNTER_NAME, KIND_STRING, "name", "REASON", NULL },
	{ NET6_A_COUNTER_TEXT, KIND_STRING, "text", "WHY", NULL },
	{ 0 }
};

static const struct column limits_columns[] = { LIMITS_COLUMNS { 0 } };

static const char *const tunnel_kinds[] = { "configured", "automatic", "6over4", NULL };

static const struct column tunnel_columns[] = {
	{ NET6_A_TUNNEL_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_TUNNEL_NAME, KIND_STRING, "dev", "DEV", NULL },
	{ NET6_A_TUNNEL_KIND, KIND_ENUM, "kind", "KIND", tunnel_kinds },
	{ NET6_A_TUNNEL_REMOTE, KIND_IPV4, "remote", "REMOTE", NULL },
	{ NET6_A_TUNNEL_LOCAL, KIND_IPV4, "local", "LOCAL", NULL },
	{ NET6_A_TUNNEL_TTL, KIND_U32, "ttl", "TTL", NULL },
	{ NET6_A_TUNNEL_TOS, KIND_TOS, "tos", "TOS", NULL },
	{ NET6_A_TUNNEL_PMTU, KIND_BOOL, "pmtu", "PMTU", NULL },
	{ NET6_A_TUNNEL_ROUTER, KIND_BOOL, "router", "ROUTER", NULL },
	{ NET6_A_TUNNEL_LINK, KIND_DEV, "link", "OVER", NULL },
	{ NET6_A_TUNNEL_RX_PACKETS, KIND_U64, "rx_packets", "RECEIVED", NULL },
	{ NET6_A_TUNNEL_RX_BYTES, KIND_U64, "rx_bytes", NULL, NULL },
	{ NET6_A_TUNNEL_TX_PACKETS, KIND_U64, "tx_packets", "SENT", NULL },
	{ NET6_A_TUNNEL_TX_BYTES, KIND_U64, "tx_bytes", NULL, NULL },
	{ NET6_A_TUNNEL_RX_SHORT, KIND_U64, "rx_short", NULL, NULL },
	{ NET6_A_TUNNEL_RX_OUTER, KIND_U64, "rx_outer", NULL, NULL },
	{ NET6_A_TUNNEL_RX_INNER_SOURCE, KIND_U64, "rx_inner_source", NULL, NULL },
	{ NET6_A_TUNNEL_RX_INNER_DEST, KIND_U64, "rx_inner_dest", NULL, NULL },
	{ NET6_A_TUNNEL_RX_ECN, KIND_U64, "rx_ecn", NULL, NULL },
	{ NET6_A_TUNNEL_RX_OWN, KIND_U64, "rx_own", NULL, NULL },
	{ NET6_A_TUNNEL_TX_NO_ROUTE, KIND_U64, "tx_no_route", NULL, NULL },
	{ NET6_A_TUNNEL_TX_DEST, KIND_U64, "tx_dest", NULL, NULL },
	{ NET6_A_TUNNEL_TX_LOOP, KIND_U64, "tx_loop", NULL, NULL },
	{ NET6_A_TUNNEL_TX_NESTED, KIND_U64, "tx_nested", NULL, NULL },
	{ NET6_A_TUNNEL_TX_TOO_BIG, KIND_U64, "tx_too_big", NULL, NULL },
	{ NET6_A_TUNNEL_ICMP_TOO_BIG, KIND_U64, "icmp_too_big", NULL, NULL },
	{ NET6_A_TUNNEL_ICMP_UNREACHABLE, KIND_U64, "icmp_unreachable", NULL, NULL },
	{ 0 }
};

static const struct column policy_columns[] = {
	{ NET6_A_POLICY_ADDRESS, KIND_NETWORK, NULL, "PREFIX", NULL },
	{ NET6_A_POLICY_ADDRESS, KIND_ADDRESS, "address", NULL, NULL },
	{ NET6_A_POLICY_PREFIX_LEN, KIND_U32, "prefix_len", NULL, NULL },
	{ NET6_A_POLICY_LABEL, KIND_U32, "label", "LABEL", NULL },
	{ NET6_A_POLICY_PRECEDENCE, KIND_U32, "precedence", "PRECEDENCE", NULL },
	{ 0 }
};

static const struct column proxy_columns[] = {
	{ NET6_A_PROXY_IFINDEX, KIND_DEV, "dev", "DEV", NULL },
	{ NET6_A_PROXY_IFINDEX, KIND_U32, "ifindex", NULL, NULL },
	{ NET6_A_PROXY_ADDRESS, KIND_ADDRESS, "address", "PROXIED ADDRESS", NULL },
	{ NET6_A_PROXY_ROUTER, KIND_FLAG, "router", "router", NULL },
	{ 0 }
};

static const struct object {
	const char		*name;
	uint8_t			cmd;
	uint16_t		dev;	/* attribute that asks for one interface */
	const struct column	*columns;
} objects[] = {
	{ "interfaces",	NET6_CMD_IFACE_GET,	NET6_A_IFACE_IFINDEX,	iface_columns },
	{ "addresses",	NET6_CMD_ADDR_GET,	NET6_A_ADDR_IFINDEX,	addr_columns },
	{ "groups",	NET6_CMD_ACCEPT_GET,	NET6_A_ACCEPT_IFINDEX,	accept_columns },
	{ "neighbors",	NET6_CMD_NEIGH_GET,	NET6_A_NEIGH_IFINDEX,	neigh_columns },
	{ "routers",	NET6_CMD_ROUTER_GET,	NET6_A_ROUTER_IFINDEX,	router_columns },
	{ "routes",	NET6_CMD_ROUTE_GET,	NET6_A_ROUTE_IFINDEX,	route_columns },
	{ "prefixes",	NET6_CMD_PREFIX_GET,	NET6_A_PREFIX_IFINDEX,	prefix_columns },
	{ "pref64",	NET6_CMD_PREF64_GET,	NET6_A_PREF64_IFINDEX,	pref64_columns },
	{ "proxies",	NET6_CMD_PROXY_GET,	NET6_A_PROXY_IFINDEX,	proxy_columns },
	{ "destinations", NET6_CMD_DEST_GET,	NET6_A_DEST_IFINDEX,	dest_columns },
	{ "sockets",	NET6_CMD_SOCK_GET,	0,			sock_columns },
	{ "tunnels",	NET6_CMD_TUNNEL_GET,	NET6_A_TUNNEL_IFINDEX,	tunnel_columns },
	{ "counters",	NET6_CMD_COUNTER_GET,	0,			counter_columns },
	{ "drops",	NET6_CMD_DROP_GET,	0,			drop_columns },
	{ "policy",	NET6_CMD_POLICY_GET,	0,			policy_columns },
	{ "limits",	NET6_CMD_LIMITS_GET,	0,			limits_columns },
	{ NULL }
};

static bool everything;
static bool as_json;

static void on_row(uint8_t cmd, const struct nlattr **attrs)
{
	const struct nlattr *address = attrs[NET6_A_NEIGH_ADDRESS];
	const struct nlattr *value = attrs[NET6_A_COUNTER_VALUE];

	/* Groups have entries in the cache, but nobody would call them neighbors. */
	if (cmd == NET6_CMD_NEIGH_GET && !everything && address &&
	    *(const uint8_t *)mnl_attr_get_payload(address) == 0xff)
		return;
	if ((cmd == NET6_CMD_COUNTER_GET || cmd == NET6_CMD_DROP_GET) && !everything &&
	    !as_json && value && !mnl_attr_get_u64(value))
		return;
	print_row(attrs);
}

static uint32_t protocol(const char *word)
{
	if (matches(word, "tcp"))
		return 6;
	if (matches(word, "udp"))
		return 17;
	if (matches(word, "icmp"))
		return 58;
	die("'%s' is none of tcp, udp, icmp", word);
}

void show(int argc, char **argv, bool json)
{
	const struct object *o;
	struct nlmsghdr *nlh;

	if (!argc)
		die("show what? (net6ctl -h lists what there is)");
	if (matches(*argv, "xlat")) {
		show_xlat(argc - 1, argv + 1, json);
		return;
	}
	if (matches(*argv, "rules")) {
		show_rules(argc - 1, argv + 1, json);
		return;
	}
	for (o = objects; o->name; o++)
		if (matches(*argv, o->name))
			break;
	if (!o->name)
		die("'%s' is nothing that can be shown", *argv);
	argc--;
	argv++;
	nlh = ctl_request(o->cmd, o->cmd == NET6_CMD_LIMITS_GET ? 0 : NLM_F_DUMP);
	as_json = json;
	for (; argc; argc--, argv++) {
		if (matches(*argv, "all")) {
			everything = true;
		} else if (o->dev && argc > 1 && matches(*argv, "dev")) {
			mnl_attr_put_u32(nlh, o->dev, dev_index(argv[1]));
			argc--;
			argv++;
		} else if (o->cmd == NET6_CMD_SOCK_GET && !strcmp(*argv, "-i")) {
			mnl_attr_put(nlh, NET6_A_SOCK_WANT_INFO, 0, NULL);
		} else if (o->cmd == NET6_CMD_SOCK_GET) {
			mnl_attr_put_u32(nlh, NET6_A_SOCK_PROTOCOL, protocol(*argv));
		} else {
			die("'%s' does not belong to show %s", *argv, o->name);
		}
	}
	print_begin(o->columns, json);
	ctl_talk(nlh, on_row);
	print_end();
}

static void on_event(uint8_t cmd, const struct nlattr **attrs)
{
	static const struct {
		uint8_t			cmd;
		uint16_t		event;
		const char		*object;
		const struct column	*columns;
	} kinds[] = {
		{ NET6_CMD_ADDR_NTF, NET6_A_ADDR_EVENT, "address", addr_columns },
		{ NET6_CMD_NEIGH_NTF, NET6_A_NEIGH_EVENT, "neighbor", neigh_columns },
		{ NET6_CMD_ROUTER_NTF, NET6_A_ROUTER_EVENT, "router", router_columns },
		{ NET6_CMD_PREFIX_NTF, NET6_A_PREFIX_EVENT, "prefix", prefix_columns },
		{ NET6_CMD_ROUTE_NTF, NET6_A_ROUTE_EVENT, "route", route_columns },
		{ NET6_CMD_PREF64_NTF, NET6_A_PREF64_EVENT, "pref64", pref64_columns },
	};
	char word[16];
	size_t i;

	if (cmd == NET6_CMD_DNS_NTF)
		print_event(dns_columns, as_json, "dns", "heard", attrs);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].cmd == cmd && attrs[kinds[i].event])
			print_event(kinds[i].columns, as_json, kinds[i].object,
				    print_word(events, mnl_attr_get_u32(attrs[kinds[i].event]),
					       word, sizeof(word)), attrs);
}

void monitor(bool json)
{
	as_json = json;
	ctl_monitor(on_event);
}
