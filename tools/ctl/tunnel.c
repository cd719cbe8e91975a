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

/* tunnel add NAME remote A [...], tunnel set NAME [...], tunnel del NAME */
void tunnel(int argc, char **argv)
{
	struct nlmsghdr *nlh;

	if (argc < 2)
		die("tunnel add NAME remote ADDRESS ..., tunnel set NAME ..., tunnel del NAME");
	if (matches(argv[0], "add")) {
		if (!*argv[1] || strlen(argv[1]) >= IFNAMSIZ)
			die("'%s' is no name for a device", argv[1]);
		nlh = ctl_request(NET6_CMD_TUNNEL_ADD, 0);
		mnl_attr_put_strz(nlh, NET6_A_TUNNEL_NAME, argv[1]);
		put_options(nlh, argc - 2, argv + 2);
	} else if (matches(argv[0], "set")) {
		nlh = ctl_request(NET6_CMD_TUNNEL_SET, 0);
		mnl_attr_put_u32(nlh, NET6_A_TUNNEL_IFINDEX, dev_index(argv[1]));
		if (argc == 2)
			die("to what? (NAME VALUE ...)");
		put_options(nlh, argc - 2, argv + 2);
	} else if (matches(argv[0], "del") || matches(argv[0], "delete")) {
		nlh = ctl_request(NET6_CMD_TUNNEL_DEL, 0);
		mnl_attr_put_u32(nlh, NET6_A_TUNNEL_IFINDEX, dev_index(argv[1]));
		if (argc > 2)
			die("'%s' does not belong here", argv[2]);
	} else {
		die("'%s' is nothing that can be done to a tunnel", argv[0]);
	}
	ctl_talk(nlh, NULL);
}
