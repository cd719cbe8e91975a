// SPDX-License-Identifier: GPL-2.0
/* Rules: which routing table is looked at, in the words of ip-rule(8). The kernel keeps them as it
 * keeps native's, so they are asked for by rtnetlink: of AF_INET6 where native IPv6 is off, else of
 * AF_NET6.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fib_rules.h>
#include <linux/net6.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define FIRST_LOCAL	0	/* the preference of the rule that leads to own addresses */
#define FIRST_MAIN	32766

static const struct {
	const char	*name;
	uint8_t		action;
} actions[] = {
	{ "unreachable", FR_ACT_UNREACHABLE },
	{ "prohibit", FR_ACT_PROHIBIT },
	{ "blackhole", FR_ACT_BLACKHOLE },
	{ "nop", FR_ACT_NOP },
};

static const struct {
	const char	*name;
	uint32_t	id;
} tables[] = {
	{ "local", RT_TABLE_LOCAL },
	{ "main", RT_TABLE_MAIN },
	{ "default", RT_TABLE_DEFAULT },
};

/* ---- asking ---- */

static uint8_t rule_family(void)
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

static struct nlmsghdr *rule_request(uint16_t type, uint16_t flags, struct fib_rule_hdr **frh)
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(word, tables[i].name))
			return tables[i].id;
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
static bool put_word(struct fib_rule_hdr *frh, const char *word)
{
	size_t i;

	if (!strcmp(word, "not")) {
		frh->flags |= FIB_RULE_INVERT;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strcmp(word, actions[i].name)) {
			frh->action = actions[i].action;
			return true;
		}
	return false;
}

static void put_words(struct nlmsghdr *nlh, struct fib_rule_hdr *frh, int argc, char **argv)
{
	uint8_t before;

	for (; argc; argc--, argv++) {
		before = frh->action;
		if (!put_word(frh, *argv)) {
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

/* ---- telling ---- */

/* A rule as it is told. */
struct told {
	const struct fib_rule_hdr	*frh;
	const struct nlattr		*attrs[FRA_MAX + 1];
};

static int collect(const struct nlattr *attr, void *data)
{
	struct told *t = data;

	if (mnl_attr_get_type(attr) <= FRA_MAX)
		t->attrs[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void word(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void word(FILE *to, const char *format, ...)
{
	va_list args;

	fputc(' ', to);
	va_start(args, format);
	vfprintf(to, format, args);
	va_end(args);
}

static void tell_network(FILE *to, const char *name, const struct nlattr *attr, uint8_t length)
{
	struct in6_addr address = ctl_address(attr);
	char text[INET6_ADDRSTRLEN];

	if (length)
		word(to, "%s %s/%u", name, inet_ntop(AF_INET6, &address, text, sizeof(text)),
		     length);
}

static void tell_range(FILE *to, const char *name, const struct nlattr *attr)
{
	struct fib_rule_port_range range;

	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(range))
		return;
	memcpy(&range, mnl_attr_get_payload(attr), sizeof(range));
	word(to, "%s %u-%u", name, range.start, range.end);
}

static void tell_users(FILE *to, const struct nlattr *attr)
{
	struct fib_rule_uid_range range;

	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(range))
		return;
	memcpy(&range, mnl_attr_get_payload(attr), sizeof(range));
	if (range.start || range.end != UINT32_MAX)
		word(to, "uidrange %u-%u", range.start, range.end);
}

static void tell_action(FILE *to, const struct told *t)
{
	uint32_t table = t->attrs[FRA_TABLE] ? ctl_u32(t->attrs[FRA_TABLE]) : t->frh->table;
	size_t i;

	if (t->frh->action == FR_ACT_GOTO)
		word(to, "goto %u", ctl_u32(t->attrs[FRA_GOTO]));
	for (i = 0; i < ARRAY_SIZE(actions); i++)
		if (t->frh->action == actions[i].action)
			word(to, "%s", actions[i].name);
	if (t->frh->action != FR_ACT_TO_TBL)
		return;
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		if (table == tables[i].id) {
			word(to, "lookup %s", tables[i].name);
			return;
		}
	word(to, "lookup %u", table);
}

static void tell_names(FILE *to, const struct told *t)
{
	if (t->attrs[FRA_IIFNAME])
		word(to, "iif %s", mnl_attr_get_str(t->attrs[FRA_IIFNAME]));
	if (t->attrs[FRA_OIFNAME])
		word(to, "oif %s", mnl_attr_get_str(t->attrs[FRA_OIFNAME]));
}

/* As it is added. */
static void tell(FILE *to, const struct told *t)
{
	uint32_t suppress = ctl_u32(t->attrs[FRA_SUPPRESS_PREFIXLEN]);

	fprintf(to, "preference %u", ctl_u32(t->attrs[FRA_PRIORITY]));
	if (t->frh->flags & FIB_RULE_INVERT)
		word(to, "not");
	tell_network(to, "from", t->attrs[FRA_SRC], t->frh->src_len);
	tell_network(to, "to", t->attrs[FRA_DST], t->frh->dst_len);
	tell_names(to, t);
	if (t->attrs[FRA_FWMARK] || t->attrs[FRA_FWMASK])
		word(to, "fwmark 0x%x/0x%x", ctl_u32(t->attrs[FRA_FWMARK]),
		     ctl_u32(t->attrs[FRA_FWMASK]));
	tell_users(to, t->attrs[FRA_UID_RANGE]);
	if (t->attrs[FRA_IP_PROTO])
		word(to, "ipproto %u", mnl_attr_get_u8(t->attrs[FRA_IP_PROTO]));
	tell_range(to, "sport", t->attrs[FRA_SPORT_RANGE]);
	tell_range(to, "dport", t->attrs[FRA_DPORT_RANGE]);
	if (t->frh->tos)
		word(to, "tos %u", t->frh->tos);
	tell_action(to, t);
	if (t->attrs[FRA_SUPPRESS_PREFIXLEN] && suppress != UINT32_MAX)
		word(to, "suppress_prefixlength %u", suppress);
}

static FILE *list;
static bool as_json, first, saved[2];

static bool parse(const struct nlmsghdr *nlh, struct told *t)
{
	memset(t, 0, sizeof(*t));
	t->frh = mnl_nlmsg_get_payload(nlh);
	mnl_attr_parse(nlh, sizeof(*t->frh), collect, t);
	/* A kernel without rules of this family tells of all. */
	return t->frh->family == rule_family();
}

static void on_shown(const struct nlmsghdr *nlh)
{
	struct told t;

	if (!parse(nlh, &t))
		return;
	if (as_json)
		fputs(first ? "\n{\"rule\": \"" : ",\n{\"rule\": \"", list);
	tell(list, &t);
	fputs(as_json ? "\"}" : "\n", list);
	first = false;
}

void show_rules(int argc, char **argv, bool json)
{
	struct fib_rule_hdr *frh;

	if (argc)
		die("'%s' does not belong to show rules", *argv);
	list = stdout;
	as_json = json;
	first = true;
	if (json)
		fputc('[', list);
	route_talk(rule_request(RTM_GETRULE, NLM_F_DUMP, &frh), on_shown);
	if (json)
		fputs("\n]\n", list);
}

/* One of the two that there are at the beginning, and nothing more is said of it? */
static int begins(const struct told *t)
{
	uint32_t preference = ctl_u32(t->attrs[FRA_PRIORITY]);
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int which = -1;

	if (!to)
		die("out of memory");
	tell(to, t);
	fclose(to);
	if (preference == FIRST_LOCAL && !strcmp(text, "preference 0 lookup local"))
		which = 0;
	else if (preference == FIRST_MAIN && !strcmp(text, "preference 32766 lookup main"))
		which = 1;
	free(text);
	return which;
}

static void on_saved(const struct nlmsghdr *nlh)
{
	struct told t;
	int which;

	if (!parse(nlh, &t))
		return;
	which = begins(&t);
	if (which >= 0) {
		saved[which] = true;
		return;
	}
	fputs("add rule ", list);
	tell(list, &t);
	fputc('\n', list);
}

void save_rules(FILE *to)
{
	struct fib_rule_hdr *frh;

	list = to;
	memset(saved, 0, sizeof(saved));
	route_talk(rule_request(RTM_GETRULE, NLM_F_DUMP, &frh), on_saved);
	if (!saved[0])
		fputs("del rule preference 0 lookup local\n", to);
	if (!saved[1])
		fputs("del rule preference 32766 lookup main\n", to);
}
