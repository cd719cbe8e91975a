// SPDX-License-Identifier: GPL-2.0
/* Rules as they are told: shown, and saved, in the words by which they are added (rule.c). */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"

#define FIRST_LOCAL	0	/* the preference of the rule that leads to own addresses */
#define FIRST_MAIN	32766

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

static void tell_table(FILE *to, uint32_t id)
{
	const struct rule_word *known;

	for (known = rule_tables; known->name && known->value != id; known++)
		;
	if (known->name)
		word(to, "lookup %s", known->name);
	else
		word(to, "lookup %u", id);
}

static void tell_action(FILE *to, const struct told *t)
{
	uint32_t id = t->attrs[FRA_TABLE] ? ctl_u32(t->attrs[FRA_TABLE]) : t->frh->table;
	const struct rule_word *known;

	if (t->frh->action == FR_ACT_GOTO)
		word(to, "goto %u", ctl_u32(t->attrs[FRA_GOTO]));
	for (known = rule_actions; known->name; known++)
		if (t->frh->action == known->value)
			word(to, "%s", known->name);
	if (t->attrs[FRA_L3MDEV] && mnl_attr_get_u8(t->attrs[FRA_L3MDEV]))
		word(to, "l3mdev");
	else if (t->frh->action == FR_ACT_TO_TBL)
		tell_table(to, id);
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
