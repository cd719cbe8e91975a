// SPDX-License-Identifier: GPL-2.0
/* net6ctl tunnel: making, changing and removing tunnels over IPv4. */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

static void put_ipv4(struct nlmsghdr *nlh, uint16_t attr, const char *word)
{
	struct in_addr address;

	if (!strcmp(word, "any"))
		word = "0.0.0.0";
	if (inet_pton(AF_INET, word, &address) != 1)
		die("'%s' is no IPv4 address", word);
	mnl_attr_put(nlh, attr, sizeof(address), &address);
}

static void put_number(struct nlmsghdr *nlh, uint16_t attr, const char *word, const char *what,
		       unsigned long min)
{
	char *end;
	unsigned long value = strtoul(word, &end, 0);

	if (end == word || *end || *word == '-' || value < min || value > 255)
		die("%s: %lu to 255, not '%s'", what, min, word);
	mnl_attr_put_u32(nlh, attr, value);
}

static void put_switch(struct nlmsghdr *nlh, uint16_t attr, const char *word, const char *what)
{
	if (strcmp(word, "on") && strcmp(word, "off"))
		die("%s is on or off, not '%s'", what, word);
	mnl_attr_put_u32(nlh, attr, !strcmp(word, "on"));
}

static void put_option(struct nlmsghdr *nlh, const char *name, const char *word)
{
	if (matches(name, "remote"))
		put_ipv4(nlh, NET6_A_TUNNEL_REMOTE, word);
	else if (matches(name, "local"))
		put_ipv4(nlh, NET6_A_TUNNEL_LOCAL, word);
	else if (matches(name, "ttl"))
		put_number(nlh, NET6_A_TUNNEL_TTL, word, "ttl", 1);
	else if (matches(name, "tos") && matches(word, "inherit"))
		mnl_attr_put_u32(nlh, NET6_A_TUNNEL_TOS, 1);
	else if (matches(name, "tos"))
		put_number(nlh, NET6_A_TUNNEL_TOS, word, "tos", 0);
	else if (matches(name, "pmtu"))
		put_switch(nlh, NET6_A_TUNNEL_PMTU, word, "pmtu");
	else if (matches(name, "router"))
		put_switch(nlh, NET6_A_TUNNEL_ROUTER, word, "router");
	else
		die("'%s' does not belong here", name);
}

static void put_options(struct nlmsghdr *nlh, int argc, char **argv)
{
	for (; argc; argc -= 2, argv += 2) {
		if (argc == 1)
			die("what %s?", *argv);
		put_option(nlh, argv[0], argv[1]);
	}
}

/* Defaults of a new tunnel of which nothing more is said. The last attribute of a kind counts. */
static void put_defaults(struct nlmsghdr *nlh, uint32_t index)
{
	mnl_attr_put_u32(nlh, NET6_A_TUNNEL_IFINDEX, index);
	put_ipv4(nlh, NET6_A_TUNNEL_LOCAL, "any");
	mnl_attr_put_u32(nlh, NET6_A_TUNNEL_TTL, 64);
	mnl_attr_put_u32(nlh, NET6_A_TUNNEL_TOS, 0);
	mnl_attr_put_u32(nlh, NET6_A_TUNNEL_PMTU, 1);
	mnl_attr_put_u32(nlh, NET6_A_TUNNEL_ROUTER, 1);
}

static bool is_host(uint32_t address)
{
	unsigned int first = address >> 24;

	return first && first != 127 && first < 224;
}

/* Both ends of a tunnel in a file are hosts, and not the same. */
static void judge_ends(const struct nlmsghdr *nlh, const char *name)
{
	uint32_t remote = 0, local = 0;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == NET6_A_TUNNEL_REMOTE)
			remote = ntohl(mnl_attr_get_u32(attr));
		else if (mnl_attr_get_type(attr) == NET6_A_TUNNEL_LOCAL)
			local = ntohl(mnl_attr_get_u32(attr));
	}
	if (!is_host(remote))
		die("a tunnel's far end is one host (remote A.B.C.D)");
	if (local && !is_host(local))
		die("a tunnel's local address is one host's");
	if (local == remote)
		die("both ends are the same");
	judge_tunnel_add(name, remote, local);
}

/* tunnel add NAME remote A [...], tunnel set NAME [...], tunnel del NAME */
void tunnel(int argc, char **argv)
{
	struct nlmsghdr *nlh;
	uint32_t index;

	if (argc < 2)
		die("tunnel add NAME remote ADDRESS ..., tunnel set NAME ..., tunnel del NAME");
	if (matches(argv[0], "add")) {
		if (!*argv[1] || strlen(argv[1]) >= IFNAMSIZ)
			die("'%s' is no name for a device", argv[1]);
		/* In a file: one that is there is changed. */
		index = loading == LOADING_APPLY ? if_nametoindex(argv[1]) : 0;
		nlh = ctl_request(index ? NET6_CMD_TUNNEL_SET : NET6_CMD_TUNNEL_ADD, 0);
		if (index)
			put_defaults(nlh, index);
		else
			mnl_attr_put_strz(nlh, NET6_A_TUNNEL_NAME, argv[1]);
		put_options(nlh, argc - 2, argv + 2);
		if (loading)
			judge_ends(nlh, argv[1]);
	} else if (matches(argv[0], "set")) {
		nlh = ctl_request(NET6_CMD_TUNNEL_SET, 0);
		index = dev_index(argv[1]);
		judge_tunnel_set(index);
		mnl_attr_put_u32(nlh, NET6_A_TUNNEL_IFINDEX, index);
		if (argc == 2)
			die("to what? (NAME VALUE ...)");
		put_options(nlh, argc - 2, argv + 2);
	} else if (matches(argv[0], "del") || matches(argv[0], "delete")) {
		if (argc > 2)
			die("'%s' does not belong here", argv[2]);
		/* In a file: nothing to do. */
		if (loading && !if_nametoindex(argv[1]) && !judge_dev(argv[1]))
			return;
		index = dev_index(argv[1]);
		nlh = ctl_request(NET6_CMD_TUNNEL_DEL, 0);
		mnl_attr_put_u32(nlh, NET6_A_TUNNEL_IFINDEX, index);
		judge_tunnel_del(index);
	} else {
		die("'%s' is nothing that can be done to a tunnel", argv[0]);
	}
	ctl_talk(nlh, NULL);
}
