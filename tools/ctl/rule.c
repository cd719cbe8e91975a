// SPDX-License-Identifier: GPL-2.0
/* Rules: which routing table is looked at, in the words of ip-rule(8). The kernel keeps them as it
 * keeps native's, so they are asked for by rtnetlink: of AF_INET6 where native IPv6 is off, else of
 * AF_NET6.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/net6.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"

const struct rule_word rule_actions[] = {
	{ "unreachable", FR_ACT_UNREACHABLE },
	{ "prohibit", FR_ACT_PROHIBIT },
	{ "blackhole", FR_ACT_BLACKHOLE },
	{ "nop", FR_ACT_NOP },
	{ NULL, 0 }
};

const struct rule_word rule_tables[] = {
	{ "local", RT_TABLE_LOCAL },
	{ "main", RT_TABLE_MAIN },
	{ "default", RT_TABLE_DEFAULT },
	{ NULL, 0 }
};

uint8_t rule_family(void)
{
	char off = '0';
	FILE *file = fopen("/sys/module/ipv6/parameters/disable", "re");

	if (file) {
		if (fscanf(file, " %c", &off) != 1)
			off = '0';
		fclose(file);
	}
	return off == '1' ? AF_INET6 : AF_NET6;
}

struct nlmsghdr *rule_request(uint16_t type, uint16_t flags, struct fib_rule_hdr **frh)
{
	struct nlmsghdr *nlh = route_request(type, flags);

	*frh = mnl_nlmsg_put_extra_header(nlh, sizeof(**frh));
	memset(*frh, 0, sizeof(**frh));
	(*frh)->family = rule_family();
	return nlh;
}

/* Marks are in hexadecimal, too. */
static uint32_t any_number(const char *word, const char *what)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(word, &end, 0);
	if (errno || end == word || *end || *word == '-' || value > UINT32_MAX)
		die("%s: '%s' is no number", what, word);
	return value;
}

/* FIRST[-LAST] or VALUE[/MASK]. Returns whether there is a second one. */
static bool two_numbers(const char *word, char between, const char *what, uint32_t *first,
			uint32_t *second)
{
	char text[32];
	char *at;

	if (strlen(word) >= sizeof(text))
		die("%s: '%s' is no number", what, word);
	strcpy(text, word);
	at = strchr(text, between);
	if (at) {
		*at = '\0';
		*second = any_number(at + 1, what);
	}
	*first = any_number(text, what);
	return at;
}

static void put_network(struct nlmsghdr *nlh, uint16_t type, const char *word, uint8_t *length)
{
	struct in6_addr address;
	int plen;

	if (!strcmp(word, "all") || !strcmp(word, "default"))
		return;
	plen = network(word, &address);
	*length = plen < 0 ? 128 : plen;
	judge_prefix(&address, *length);
	mnl_attr_put(nlh, type, sizeof(address), &address);
}

static void put_ports(struct nlmsghdr *nlh, uint16_t type, const char *word)
{
	struct fib_rule_port_range range;
	uint32_t first, last;

	if (!two_numbers(word, '-', "port", &first, &last))
		last = first;
	if (!first || last < first || last >= UINT16_MAX)
		die("ports: 1 to %u, the lower one first, not %s", UINT16_MAX - 1, word);
	range.start = first;
	range.end = last;
	mnl_attr_put(nlh, type, sizeof(range), &range);
}

static void put_mark(struct nlmsghdr *nlh, const char *word)
{
	uint32_t mark, mask;

	if (two_numbers(word, '/', "mark", &mark, &mask))
		mnl_attr_put_u32(nlh, FRA_FWMASK, mask);
	mnl_attr_put_u32(nlh, FRA_FWMARK, mark);
}

static void put_users(struct nlmsghdr *nlh, const char *word)
{
	struct fib_rule_uid_range range;

	if (!two_numbers(word, '-', "uid", &range.start, &range.end))
		range.end = range.start;
	if (range.end < range.start)
		die("users: the lower number first, not %s", word);
	mnl_attr_put(nlh, FRA_UID_RANGE, sizeof(range), &range);
}

static uint8_t protocol_of(const char *word)
{
	static const char *const names[] = {
		[IPPROTO_TCP] = "tcp", [IPPROTO_UDP] = "udp", [IPPROTO_ICMPV6] = "ipv6-icmp" };
	uint32_t value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i] && !strcmp(word, names[i]))
			return i;
	value = number(word, "ipproto");
	if (!value || value > UINT8_MAX)
		die("ipproto: 1 to %u, not %s", UINT8_MAX, word);
	return value;
}

static uint32_t table_of(const char *word)
{
	uint32_t value;
	const struct rule_word *table;

	for (table = rule_tables; table->name; table++)
		if (!strcmp(word, table->name))
			return table->value;
	value = number(word, "table");
	if (!value)
		die("table: 1 at least, not %s", word);
	return value;
}

static void put_name(struct nlmsghdr *nlh, uint16_t type, const char *word)
{
	if (!*word || strlen(word) >= IF_NAMESIZE)
		die("'%s' is no device's name", word);
	mnl_attr_put_strz(nlh, type, word);
}

static uint8_t traffic_class(const char *word)
{
	uint32_t value = number(word, "tos");

	if (value > UINT8_MAX || value & 3)
		die("tos: a multiple of 4, %u at most, not %s", UINT8_MAX - 3, word);
	return value;
}

/* A word with a value that says where packets lead. */
static bool put_way(struct nlmsghdr *nlh, struct fib_rule_hdr *frh, const char *word,
		    const char *value)
{
	if (!strcmp(word, "goto")) {
		frh->action = FR_ACT_GOTO;
		mnl_attr_put_u32(nlh, FRA_GOTO, number(value, word));
	} else if (!strcmp(word, "lookup") || !strcmp(word, "table")) {
		frh->action = FR_ACT_TO_TBL;
		mnl_attr_put_u32(nlh, FRA_TABLE, table_of(value));
	} else {
		return false;
	}
	return true;
}

/* A word with a value; false if it is none that a rule has. */
static bool put_option(struct nlmsghdr *nlh, struct fib_rule_hdr *frh, const char *word,
		       const char *value)
{
	if (!strcmp(word, "from"))
		put_network(nlh, FRA_SRC, value, &frh->src_len);
	else if (!strcmp(word, "to"))
		put_network(nlh, FRA_DST, value, &frh->dst_len);
	else if (!strcmp(word, "iif"))
		put_name(nlh, FRA_IIFNAME, value);
	else if (!strcmp(word, "oif"))
		put_name(nlh, FRA_OIFNAME, value);
	else if (!strcmp(word, "fwmark"))
		put_mark(nlh, value);
	else if (!strcmp(word, "uidrange"))
		put_users(nlh, value);
	else if (!strcmp(word, "ipproto"))
		mnl_attr_put_u8(nlh, FRA_IP_PROTO, protocol_of(value));
	else if (!strcmp(word, "sport"))
		put_ports(nlh, FRA_SPORT_RANGE, value);
	else if (!strcmp(word, "dport"))
		put_ports(nlh, FRA_DPORT_RANGE, value);
	else if (!strcmp(word, "tos"))
		frh->tos = traffic_class(value);
	else if (!strcmp(word, "preference") || !strcmp(word, "pref"))
		mnl_attr_put_u32(nlh, FRA_PRIORITY, number(value, "preference"));
	else if (!strcmp(word, "suppress_prefixlength"))
		mnl_attr_put_u32(nlh, FRA_SUPPRESS_PREFIXLEN, number(value, word));
	else
		return put_way(nlh, frh, word, value);
	return true;
}

/* A word alone: what is done with a packet, or that the rule is for all others. */
static bool put_word(struct nlmsghdr *nlh, struct fib_rule_hdr *frh, const char *word)
{
	const struct rule_word *action;

	if (!strcmp(word, "l3mdev")) {
		frh->action = FR_ACT_TO_TBL;
		mnl_attr_put_u8(nlh, FRA_L3MDEV, 1);
		return true;
	}
	if (!strcmp(word, "not")) {
		frh->flags |= FIB_RULE_INVERT;
		return true;
	}
	for (action = rule_actions; action->name; action++)
		if (!strcmp(word, action->name)) {
			frh->action = action->value;
			return true;
		}
	return false;
}

static void put_words(struct nlmsghdr *nlh, struct fib_rule_hdr *frh, int argc, char **argv)
{
	uint8_t before;

	for (; argc; argc--, argv++) {
		before = frh->action;
		if (!put_word(nlh, frh, *argv)) {
			if (argc < 2)
				die("'%s' does not belong here, or its value is missing", *argv);
			if (!put_option(nlh, frh, *argv, argv[1]))
				die("'%s' does not belong here", *argv);
			argc--;
			argv++;
		}
		if (before && before != frh->action)
			die("a rule does one thing only");
	}
}

void change_rule(bool add, int argc, char **argv)
{
	struct fib_rule_hdr *frh;
	struct nlmsghdr *nlh;

	if (!argc)
		die("which rule? (from, to, fwmark, ... lookup TABLE; net6ctl(8) has the words)");
	nlh = rule_request(add ? RTM_NEWRULE : RTM_DELRULE, add ? NLM_F_CREATE | NLM_F_EXCL : 0,
			   &frh);
	put_words(nlh, frh, argc, argv);
	if (add && !frh->action)
		die("what is to be done with the packets? (lookup TABLE, unreachable, ...)");
	ctl_forgive(add ? EEXIST : ENOENT, 0);
	route_talk(nlh, NULL);
}
