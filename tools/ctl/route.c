// SPDX-License-Identifier: GPL-2.0
/* Routes and default routers that are added and deleted, in words like those of ip-route(8). */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

static int32_t preference(const char *word)
{
	if (matches(word, "high"))
		return 1;
	if (matches(word, "medium"))
		return 0;
	if (matches(word, "low"))
		return -1;
	die("preference is high, medium or low, not '%s'", word);
}

static void put_weight(struct nlmsghdr *nlh, uint16_t type, const char *word)
{
	uint32_t weight = word ? number(word, "weight") : 1;

	if (weight < 1 || weight > 256)
		die("weight: 1 to 256, not %s", word);
	if (weight > 1)
		mnl_attr_put_u32(nlh, type, weight);
}

static bool is_default(const char *word)
{
	return matches(word, "default") || !strcmp(word, "::/0");
}

static uint32_t table_number(const char *word)
{
	uint32_t table = !strcmp(word, "main") ? RT_TABLE_MAIN : number(word, "table");

	if (!table || table == RT_TABLE_LOCAL)
		die("table: main or a number, but not 0 or %u", RT_TABLE_LOCAL);
	return table;
}

/* Among the words behind the first. */
static uint32_t table_of(int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc; i++)
		if (matches(argv[i], "table"))
			return table_number(argv[i + 1]);
	return RT_TABLE_MAIN;
}

static void put_table(struct nlmsghdr *nlh, const char *word)
{
	if (word && table_number(word) != RT_TABLE_MAIN)
		mnl_attr_put_u32(nlh, NET6_A_ROUTE_TABLE, table_number(word));
}

/* A route that is not a default route of the main table. */
static void change_other_route(bool add, int argc, char **argv)
{
	static const char *const words[] = { "via", "dev", "preference", "weight", "src", "table",
					     NULL };
	struct in6_addr prefix, gateway;
	const char *via, *rank;
	struct nlmsghdr *nlh;
	struct metrics m;
	uint32_t index;
	int length;

	length = is_default(*argv) ? 0 : network(*argv, &prefix);
	if (!length)
		memset(&prefix, 0, sizeof(prefix));
	if (length < 0)
		length = 128;
	judge_prefix(&prefix, length);
	if (length)
		judge_global(&prefix);
	argc = metrics_take(argc - 1, ++argv, &m);
	only_options(argc, argv, words);
	via = option(argc, argv, "via");
	rank = option(argc, argv, "preference");
	if (via && network(via, &gateway) >= 0)
		die("a router has no prefix length");

	if (via && gateway.s6_addr[0] == 0xff)
		die("a router has a unicast address, not %s", via);
	index = dev_option(argc, argv, true);
	judge_runs(index);
	nlh = ctl_request(add ? NET6_CMD_ROUTE_ADD : NET6_CMD_ROUTE_DEL, 0);
	mnl_attr_put_u32(nlh, NET6_A_ROUTE_IFINDEX, index);
	mnl_attr_put(nlh, NET6_A_ROUTE_ADDRESS, sizeof(prefix), &prefix);
	mnl_attr_put_u32(nlh, NET6_A_ROUTE_PREFIX_LEN, length);
	if (via)
		mnl_attr_put(nlh, NET6_A_ROUTE_GATEWAY, sizeof(gateway), &gateway);
	put_table(nlh, option(argc, argv, "table"));
	if (add && rank)
		mnl_attr_put_u32(nlh, NET6_A_ROUTE_PREFERENCE, preference(rank));
	if (add)
		put_weight(nlh, NET6_A_ROUTE_WEIGHT, option(argc, argv, "weight"));
	if (add)
		put_address(nlh, NET6_A_ROUTE_SOURCE, option(argc, argv, "src"));
	if (add)
		metrics_put(nlh, NET6_A_ROUTE_METRICS, &m);
	ctl_forgive(add ? 0 : ENOENT, 0);
	ctl_talk(nlh, NULL);
}

static void change_one_route(bool add, int argc, char **argv)
{
	static const char *const words[] = { "via", "dev", "preference", "weight", "src", "table",
					     NULL };
	struct in6_addr address;
	const char *via, *rank;
	struct nlmsghdr *nlh;
	struct metrics m;
	uint32_t index;

	if (!argc)
		die("which route? (default or PREFIX/LENGTH)");
	if (!is_default(*argv) || table_of(argc, argv) != RT_TABLE_MAIN) {
		change_other_route(add, argc, argv);
		return;
	}
	argc = metrics_take(argc - 1, ++argv, &m);
	only_options(argc, argv, words);
	via = option(argc, argv, "via");
	rank = option(argc, argv, "preference");
	if (!via)
		die("through which router? (via ADDRESS)");
	if (network(via, &address) >= 0)
		die("a router has no prefix length");

	index = dev_option(argc, argv, true);
	judge_runs(index);
	judge_routers(index);
	judge_linklocal(&address);
	nlh = ctl_request(add ? NET6_CMD_ROUTER_ADD : NET6_CMD_ROUTER_DEL, 0);
	mnl_attr_put_u32(nlh, NET6_A_ROUTER_IFINDEX, index);
	mnl_attr_put(nlh, NET6_A_ROUTER_ADDRESS, sizeof(address), &address);
	if (add && rank)
		mnl_attr_put_u32(nlh, NET6_A_ROUTER_PREFERENCE, preference(rank));
	if (add)
		put_weight(nlh, NET6_A_ROUTER_WEIGHT, option(argc, argv, "weight"));
	if (add)
		put_address(nlh, NET6_A_ROUTER_SOURCE, option(argc, argv, "src"));
	if (add)
		metrics_put(nlh, NET6_A_ROUTER_METRICS, &m);
	ctl_forgive(add ? 0 : ENOENT, 0);
	ctl_talk(nlh, NULL);
}

/* A route by one next hop, or by each of several: "nexthop via ... dev ... weight ..." after what
 * is said of all.
 */
void change_route(bool add, int argc, char **argv)
{
	int own, from, to, n;
	char **words;

	for (own = 0; own < argc && strcmp(argv[own], "nexthop"); own++)
		;
	if (own == argc) {
		change_one_route(add, argc, argv);
		return;
	}
	words = calloc(argc, sizeof(*words));
	if (!words)
		die("out of memory");
	for (from = own + 1; from <= argc; from = to + 1) {
		for (to = from; to < argc && strcmp(argv[to], "nexthop"); to++)
			;
		if (to == from)
			die("which next hop? (via ADDRESS dev DEV)");
		memcpy(words, argv, own * sizeof(*words));
		memcpy(words + own, argv + from, (to - from) * sizeof(*words));
		n = own + to - from;
		change_one_route(add, n, words);
	}
	free(words);
}
