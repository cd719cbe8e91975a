// SPDX-License-Identifier: GPL-2.0
/* net6ctl: show and change what the net6 stack of a network namespace knows. This
 * file reads the command line and asks for changes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "settings_gen.h"

static void usage(FILE *to)
{
	fputs("usage: net6ctl [-j] [-N NETNS] COMMAND | --help | --version\n"
	      "  show interfaces|addresses|groups|neighbors|routers|routes|prefixes|pref64|\n"
	      "      proxies|destinations [dev DEV] [all]\n"
	      "  show sockets [-i] [tcp|udp|icmp] | counters [all] | drops [all] | limits |\n"
	      "      policy\n"
	      "  add address ADDRESS/LENGTH dev DEV [valid SECONDS] [preferred SECONDS]\n"
	      "  del address ADDRESS[/LENGTH] dev DEV\n"
	      "  add neighbor ADDRESS lladdr LLADDR dev DEV\n"
	      "  del neighbor ADDRESS dev DEV\n"
	      "  add route default via ADDRESS dev DEV [preference high|medium|low]\n"
	      "      [table N] [src ADDRESS] [mtu [lock] N] [initcwnd N] [...]\n"
	      "      [nexthop via ADDRESS dev DEV [weight N]] [...]\n"
	      "  del route default via ADDRESS dev DEV [table N]\n"
	      "  add route PREFIX/LENGTH [via ADDRESS] dev DEV [preference high|medium|low]\n"
	      "      [table N] [src ADDRESS] [mtu [lock] N] [initcwnd N] [...]\n"
	      "      [nexthop via ADDRESS dev DEV [weight N]] [...]\n"
	      "  del route PREFIX/LENGTH [via ADDRESS] dev DEV [table N]\n"
	      "  add rule [from PREFIX] [to PREFIX] [fwmark MARK[/MASK]] [...] lookup TABLE\n"
	      "  del rule [...] | show rules\n"
	      "  add prefix PREFIX/LENGTH dev DEV\n"
	      "  del prefix PREFIX/LENGTH dev DEV\n"
	      "  add proxy ADDRESS dev DEV [router on|off]\n"
	      "  del proxy ADDRESS dev DEV\n"
	      "  del socket [orphan] [local ADDRESS] [lport PORT] [remote ADDRESS]\n"
	      "      [rport PORT] [dev DEV]\n"
	      "  add policy PREFIX/LENGTH [label N] [precedence N]\n"
	      "  del policy PREFIX/LENGTH\n"
	      "  flush neighbors|addresses [dev DEV] | destinations | policy\n"
	      "  tunnel add NAME remote A.B.C.D [local A.B.C.D] [ttl N] [tos N|inherit]\n"
	      "      [pmtu on|off] [router on|off]\n"
	      "  tunnel set NAME [remote ...] [...] | tunnel del NAME | show tunnels\n"
	      "  xlat add siit NAME [prefix64 PREFIX/LENGTH] [pool4 A.B.C.D/LENGTH]\n"
	      "      [map4 A.B.C.D/LENGTH map6 PREFIX/LENGTH]...\n"
	      "  xlat add nat64 NAME prefix64 PREFIX/LENGTH inside4 A.B.C.D/LENGTH\n"
	      "      [per64 N] [idle SECONDS] [pool4 ...] [map4 ...]...\n"
	      "  xlat del NAME | show xlat [NAME [hosts]]\n"
	      "  attach dev DEV | detach dev DEV\n"
	      IFACE_HELP
	      LIMITS_HELP
	      "  set secret 32 HEX DIGITS | -\n"
	      "  save [FILE] | load [-m] FILE\n"
	      "  monitor | doctor\n"
	      "Words may be shortened. See net6ctl(8).\n", to);
}

static void vcomplain(const char *format, va_list args)
{
	fflush(stdout);
	fputs("net6ctl: ", stderr);
	load_place(stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(format, args);
	va_end(args);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(format, args);
	va_end(args);
	load_wrong();
	exit(1);
}

/* A word may be shortened; of several that fit the first one is meant, as in ip(8). */
bool matches(const char *word, const char *full)
{
	return *word && !strncmp(word, full, strlen(word));
}

uint32_t dev_index(const char *name)
{
	uint32_t index = loading == LOADING_JUDGE ? judge_dev(name) : if_nametoindex(name);

	if (!index)
		load_missing(name);
	if (!index)
		die("no device %s", name);
	return index;
}

uint32_t number(const char *word, const char *what)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(word, &end, 10);
	if (errno || end == word || *end || *word == '-' || value > UINT32_MAX)
		die("%s: '%s' is no number", what, word);
	return value;
}

static uint32_t lifetime(const char *word, const char *what)
{
	return matches(word, "forever") ? UINT32_MAX : number(word, what);
}

/* on, off, or a number that is @most at most. */
static uint32_t on_off(const char *word, const char *what, unsigned int most)
{
	if (!strcmp(word, "on") || !strcmp(word, "1"))
		return 1;
	if (!strcmp(word, "off") || !strcmp(word, "0"))
		return 0;
	if (most == 2 && !strcmp(word, "2"))
		return 2;
	die("%s is on%s off, not '%s'", what, most == 2 ? ", 2 or" : " or", word);
}

/* ADDRESS[/LENGTH]; returns the length, or -1 when there is none. */
int network(const char *word, struct in6_addr *address)
{
	char text[INET6_ADDRSTRLEN + 8];
	int length = -1;
	char *slash;

	snprintf(text, sizeof(text), "%s", word);
	slash = strchr(text, '/');
	if (slash) {
		*slash = '\0';
		length = number(slash + 1, "prefix length");
		if (length < 0 || length > 128)
			die("prefix length: 0 to 128, not %s", slash + 1);
	}
	if (strlen(word) >= sizeof(text) || inet_pton(AF_INET6, text, address) != 1)
		die("'%s' is no IPv6 address", word);
	return length;
}

static unsigned int lladdr(const char *word, uint8_t *bytes)
{
	unsigned int len = 0, value;
	int used;

	while (len < 32 && sscanf(word, "%2x%n", &value, &used) == 1) {
		bytes[len++] = value;
		word += used;
		if (!*word)
			return len;
		if (*word++ != ':')
			break;
	}
	die("that is no link-layer address (aa:bb:cc:dd:ee:ff)");
}

/* The value behind a word of the remaining arguments, or NULL. */
const char *option(int argc, char **argv, const char *full)
{
	int i;

	for (i = 0; i + 1 < argc; i += 2)
		if (matches(argv[i], full))
			return argv[i + 1];
	return NULL;
}

/* All remaining arguments are pairs that begin with one of these words. */
void only_options(int argc, char **argv, const char *const *words)
{
	int i, k;

	for (i = 0; i < argc; i += 2) {
		for (k = 0; words[k]; k++)
			if (matches(argv[i], words[k]))
				break;
		if (!words[k])
			die("'%s' does not belong here", argv[i]);
		if (i + 1 == argc)
			die("what %s?", words[k]);
	}
}

uint32_t dev_option(int argc, char **argv, bool required)
{
	const char *dev = option(argc, argv, "dev");

	if (!dev && required)
		die("on which device? (dev DEV)");
	return dev ? dev_index(dev) : 0;
}

static void ask_address(bool add, uint32_t index, const struct in6_addr *address, int length,
			const char *valid, const char *preferred)
{
	struct nlmsghdr *nlh = ctl_request(add ? NET6_CMD_ADDR_ADD : NET6_CMD_ADDR_DEL, 0);
	uint32_t lasts = valid ? lifetime(valid, "valid") : UINT32_MAX;
	uint32_t wanted = preferred ? lifetime(preferred, "preferred") : lasts;

	mnl_attr_put_u32(nlh, NET6_A_ADDR_IFINDEX, index);
	mnl_attr_put(nlh, NET6_A_ADDR_ADDRESS, sizeof(*address), address);
	if (length >= 0)
		mnl_attr_put_u32(nlh, NET6_A_ADDR_PREFIX_LEN, length);
	if (valid)
		mnl_attr_put_u32(nlh, NET6_A_ADDR_VALID, lasts);
	if (preferred)
		mnl_attr_put_u32(nlh, NET6_A_ADDR_PREFERRED, wanted);
	if (add)
		judge_lifetimes(lasts, wanted);
	ctl_forgive(add ? EEXIST : EADDRNOTAVAIL, 0);
	/* One that is there is put in its place, unless it is the same. */
	if (ctl_talk(nlh, NULL) == EEXIST &&
	    !load_has(index, address, length, lasts, wanted)) {
		ask_address(false, index, address, -1, NULL, NULL);
		ask_address(true, index, address, length, valid, preferred);
	}
}

static void change_address(bool add, int argc, char **argv)
{
	static const char *const words[] = { "dev", "valid", "preferred", NULL };
	const char *valid, *preferred;
	struct in6_addr address;
	uint32_t index;
	int length;

	if (!argc)
		die("which address?");
	length = network(*argv, &address);
	only_options(--argc, ++argv, words);
	if (add && length < 0)
		die("the prefix length is missing (ADDRESS/LENGTH)");

	index = dev_option(argc, argv, true);
	judge_runs(index);
	judge_host(index, &address);
	valid = add ? option(argc, argv, "valid") : NULL;
	preferred = add ? option(argc, argv, "preferred") : NULL;
	ask_address(add, index, &address, length, valid, preferred);
}

static void change_neighbor(bool add, int argc, char **argv)
{
	static const char *const words[] = { "dev", "lladdr", NULL };
	struct in6_addr address;
	struct nlmsghdr *nlh;
	const char *link;
	uint8_t bytes[32];
	unsigned int len;
	uint32_t index;

	if (!argc)
		die("which neighbor?");
	if (network(*argv, &address) >= 0)
		die("a neighbor has no prefix length");
	only_options(--argc, ++argv, words);
	link = option(argc, argv, "lladdr");
	if (add && !link)
		die("its link-layer address is missing (lladdr LLADDR)");

	index = dev_option(argc, argv, true);
	judge_runs(index);
	judge_host(index, &address);
	nlh = ctl_request(add ? NET6_CMD_NEIGH_ADD : NET6_CMD_NEIGH_DEL, 0);
	mnl_attr_put_u32(nlh, NET6_A_NEIGH_IFINDEX, index);
	mnl_attr_put(nlh, NET6_A_NEIGH_ADDRESS, sizeof(address), &address);
	if (add) {
		len = lladdr(link, bytes);
		judge_lladdr(index, len);
		mnl_attr_put(nlh, NET6_A_NEIGH_LLADDR, len, bytes);
	}
	ctl_forgive(add ? 0 : ENOENT, 0);
	ctl_talk(nlh, NULL);
}

void put_address(struct nlmsghdr *nlh, uint16_t type, const char *word)
{
	struct in6_addr address;

	if (!word)
		return;
	if (network(word, &address) >= 0)
		die("%s: an address has no prefix length", word);
	mnl_attr_put(nlh, type, sizeof(address), &address);
}

static void change_prefix(bool add, int argc, char **argv)
{
	static const char *const words[] = { "dev", NULL };
	struct in6_addr prefix;
	struct nlmsghdr *nlh;
	uint32_t index;
	int length;

	if (!argc)
		die("which prefix?");
	length = network(*argv, &prefix);
	if (length < 0)
		die("the prefix length is missing (PREFIX/LENGTH)");
	only_options(--argc, ++argv, words);

	index = dev_option(argc, argv, true);
	judge_runs(index);
	judge_prefix(&prefix, length);
	judge_global(&prefix);
	nlh = ctl_request(add ? NET6_CMD_PREFIX_ADD : NET6_CMD_PREFIX_DEL, 0);
	mnl_attr_put_u32(nlh, NET6_A_PREFIX_IFINDEX, index);
	mnl_attr_put(nlh, NET6_A_PREFIX_ADDRESS, sizeof(prefix), &prefix);
	mnl_attr_put_u32(nlh, NET6_A_PREFIX_PREFIX_LEN, length);
	ctl_forgive(add ? 0 : ENOENT, 0);
	ctl_talk(nlh, NULL);
}

/* An address of another node that is answered for, RFC 4861 7.2.8. */
static void change_proxy(bool add, int argc, char **argv)
{
	static const char *const words[] = { "dev", "router", NULL };
	struct in6_addr address;
	struct nlmsghdr *nlh;
	const char *router;
	uint32_t index;

	if (!argc)
		die("for which address?");
	if (network(*argv, &address) >= 0)
		die("a proxied address has no prefix length");
	only_options(--argc, ++argv, words);
	router = option(argc, argv, "router");
	if (!add && router)
		die("'router' does not belong here");

	index = dev_option(argc, argv, true);
	judge_runs(index);
	judge_routers(index);
	judge_host(index, &address);
	nlh = ctl_request(add ? NET6_CMD_PROXY_ADD : NET6_CMD_PROXY_DEL, 0);
	mnl_attr_put_u32(nlh, NET6_A_PROXY_IFINDEX, index);
	mnl_attr_put(nlh, NET6_A_PROXY_ADDRESS, sizeof(address), &address);
	if (router && on_off(router, "router", 1))
		mnl_attr_put(nlh, NET6_A_PROXY_ROUTER, 0, NULL);
	ctl_forgive(add ? 0 : ENOENT, 0);
	ctl_talk(nlh, NULL);
}

/* An entry of the policy table, RFC 6724. */
static void change_policy(bool add, int argc, char **argv)
{
	static const char *const words[] = { "label", "precedence", NULL };
	const char *label, *precedence;
	struct in6_addr prefix;
	struct nlmsghdr *nlh;
	int length;

	if (!argc)
		die("for which prefix?");
	length = network(*argv, &prefix);
	if (length < 0)
		die("the prefix length is missing (PREFIX/LENGTH)");
	only_options(--argc, ++argv, words);
	label = option(argc, argv, "label");
	precedence = option(argc, argv, "precedence");
	if (!add && argc)
		die("'%s' does not belong here", *argv);
	if (add && !argc)
		die("which label, which precedence?");
	judge_prefix(&prefix, length);

	nlh = ctl_request(add ? NET6_CMD_POLICY_ADD : NET6_CMD_POLICY_DEL, 0);
	mnl_attr_put(nlh, NET6_A_POLICY_ADDRESS, sizeof(prefix), &prefix);
	mnl_attr_put_u32(nlh, NET6_A_POLICY_PREFIX_LEN, length);
	if (label)
		mnl_attr_put_u32(nlh, NET6_A_POLICY_LABEL, number(label, "label"));
	if (precedence)
		mnl_attr_put_u32(nlh, NET6_A_POLICY_PRECEDENCE, number(precedence, "precedence"));
	ctl_forgive(add ? 0 : ENOENT, 0);
	ctl_talk(nlh, NULL);
}

static void put_port(struct nlmsghdr *nlh, uint16_t type, const char *word)
{
	uint32_t port = word ? number(word, "port") : 0;

	if (!word)
		return;
	if (port > UINT16_MAX)
		die("port: 0 to %u, not %s", UINT16_MAX, word);
	mnl_attr_put_u32(nlh, type, port);
}

/* TCP sockets are ended, by what is said of them. */
static void change_socket(bool add, int argc, char **argv)
{
	static const char *const words[] = { "local", "lport", "remote", "rport", "dev", NULL };
	struct nlmsghdr *nlh;
	bool orphan;

	if (add)
		die("sockets are made by programs");
	if (loading)
		die("sockets are nothing that is set");
	if (!argc)
		die("which sockets? (orphan, local, lport, remote, rport, dev)");
	orphan = matches(*argv, "orphan");
	if (orphan)
		argc--, argv++;
	only_options(argc, argv, words);

	nlh = ctl_request(NET6_CMD_SOCK_DEL, 0);
	put_address(nlh, NET6_A_SOCK_LOCAL_ADDRESS, option(argc, argv, "local"));
	put_port(nlh, NET6_A_SOCK_LOCAL_PORT, option(argc, argv, "lport"));
	put_address(nlh, NET6_A_SOCK_REMOTE_ADDRESS, option(argc, argv, "remote"));
	put_port(nlh, NET6_A_SOCK_REMOTE_PORT, option(argc, argv, "rport"));
	if (option(argc, argv, "dev"))
		mnl_attr_put_u32(nlh, NET6_A_SOCK_IFINDEX, dev_option(argc, argv, true));
	if (orphan)
		mnl_attr_put(nlh, NET6_A_SOCK_ORPHAN, 0, NULL);
	ctl_talk(nlh, NULL);
}

static void change(bool add, int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(bool add, int argc, char **argv);
	} kinds[] = {
		{ "address", change_address },
		{ "neighbor", change_neighbor },
		{ "route", change_route },
		{ "rule", change_rule },
		{ "prefix", change_prefix },
		{ "policy", change_policy },
		{ "proxy", change_proxy },
		{ "socket", change_socket },
	};
	size_t i;

	if (!argc)
		die("%s what? (address, neighbor, route, rule, prefix, policy, proxy%s)",
		    add ? "add" : "del", add ? "" : ", socket");
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!matches(*argv, kinds[i].name))
			continue;
		kinds[i].fn(add, argc - 1, argv + 1);
		return;
	}
	die("'%s' cannot be %s", *argv, add ? "added" : "deleted");
}

static void flush(int argc, char **argv)
{
	static const char *const words[] = { "dev", NULL };
	struct nlmsghdr *nlh = ctl_request(NET6_CMD_FLUSH, 0);
	uint32_t index;

	if (!argc)
		die("flush what? (neighbors, destinations, addresses, policy)");
	if (matches(*argv, "neighbors"))
		mnl_attr_put_u32(nlh, NET6_A_FLUSH_OBJECT, NET6_FLUSH_OBJECT_NEIGHBORS);
	else if (matches(*argv, "destinations"))
		mnl_attr_put_u32(nlh, NET6_A_FLUSH_OBJECT, NET6_FLUSH_OBJECT_DESTINATIONS);
	else if (matches(*argv, "addresses"))
		mnl_attr_put_u32(nlh, NET6_A_FLUSH_OBJECT, NET6_FLUSH_OBJECT_ADDRESSES);
	else if (matches(*argv, "policy"))
		mnl_attr_put_u32(nlh, NET6_A_FLUSH_OBJECT, NET6_FLUSH_OBJECT_POLICY);
	else
		die("'%s' cannot be flushed", *argv);
	only_options(--argc, ++argv, words);
	index = dev_option(argc, argv, false);
	if (index)
		mnl_attr_put_u32(nlh, NET6_A_FLUSH_IFINDEX, index);
	ctl_talk(nlh, NULL);
}

static void attach(uint8_t cmd, int argc, char **argv)
{
	static const char *const words[] = { "dev", NULL };
	struct nlmsghdr *nlh = ctl_request(cmd, 0);

	uint32_t index;

	only_options(argc, argv, words);
	index = dev_option(argc, argv, true);
	judge_attach(index, cmd == NET6_CMD_IFACE_ATTACH);
	mnl_attr_put_u32(nlh, NET6_A_IFACE_IFINDEX, index);
	ctl_forgive(cmd == NET6_CMD_IFACE_ATTACH ? EEXIST : ENODEV, 0);
	ctl_talk(nlh, NULL);
}

const struct setting iface_settings[] = { IFACE_SETTINGS { 0 } };
const struct setting limit_settings[] = { LIMITS_SETTINGS { 0 } };

/* 32 hexadecimal digits, or - to read them from standard input, unseen by others. */
static void set_secret(const char *word)
{
	struct nlmsghdr *nlh;
	unsigned int i, byte;
	uint8_t value[16] = { 0 };
	char line[64];

	if (!strcmp(word, "-")) {
		if (loading)
			die("a secret in a file has 32 hexadecimal digits");
		if (!fgets(line, sizeof(line), stdin))
			die("no secret in standard input");
		line[strcspn(line, "\n")] = 0;
		word = line;
	}
	if (strlen(word) != 32 || strspn(word, "0123456789abcdefABCDEF") != 32)
		die("a secret has 32 hexadecimal digits");
	for (i = 0; i < 16; i++) {
		if (sscanf(word + 2 * i, "%2x", &byte) == 1)
			value[i] = byte;
	}
	nlh = ctl_request(NET6_CMD_SECRET_SET, 0);
	mnl_attr_put(nlh, NET6_A_SECRET_VALUE, sizeof(value), value);
	ctl_talk(nlh, NULL);
}

static int64_t setting(const struct setting *s, const char *word)
{
	int64_t value;

	if (s->on_off == MINUS_ONE && !strcmp(word, "-1"))
		value = -1;
	else if (s->on_off && s->on_off != MINUS_ONE)
		value = on_off(word, s->name, s->on_off);
	else
		value = number(word, s->name);
	if (loading && (value < s->least || value > s->most))
		die("%s: %" PRId64 " to %" PRId64 ", not %s", s->name, s->least, s->most, word);
	return value;
}

/* NAME VALUE ..., behind "defaults" what is not named becomes what it was in the beginning. */
static void put_settings(struct nlmsghdr *nlh, const struct setting *settings, uint32_t index,
			 int argc, char **argv)
{
	bool defaults = argc && !strcmp(*argv, "defaults");
	int64_t values[CTL_ATTRS];
	const struct setting *s;

	for (s = settings; s->name; s++)
		values[s->attr] = defaults ? s->initial : INT64_MIN;
	argc -= defaults;
	argv += defaults;
	for (; argc; argc -= 2, argv += 2) {
		for (s = settings; s->name; s++)
			if (matches(*argv, s->name))
				break;
		if (!s->name)
			die("'%s' cannot be set", *argv);
		if (argc == 1)
			die("%s to what?", s->name);
		values[s->attr] = setting(s, argv[1]);
		if (settings == iface_settings && s->attr == NET6_A_IFACE_MTU)
			judge_mtu(index, values[s->attr]);
	}
	for (s = settings; s->name; s++)
		if (values[s->attr] != INT64_MIN)
			mnl_attr_put_u32(nlh, s->attr, values[s->attr]);
}

static void set(int argc, char **argv)
{
	const struct setting *settings;
	struct nlmsghdr *nlh;
	uint32_t index = 0;

	if (argc > 1 && matches(*argv, "secret")) {
		set_secret(argv[1]);
		return;
	}
	if (argc > 1 && matches(*argv, "dev")) {
		nlh = ctl_request(NET6_CMD_IFACE_SET, 0);
		index = dev_index(argv[1]);
		judge_runs(index);
		mnl_attr_put_u32(nlh, NET6_A_IFACE_IFINDEX, index);
		settings = iface_settings;
		argc -= 2;
		argv += 2;
	} else if (argc && matches(*argv, "limits")) {
		nlh = ctl_request(NET6_CMD_LIMITS_SET, 0);
		settings = limit_settings;
		argc--;
		argv++;
	} else {
		die("set what? (dev DEV ..., limits ..., secret HEX)");
	}
	if (!argc)
		die("to what? (NAME VALUE ...)");
	put_settings(nlh, settings, index, argc, argv);
	ctl_talk(nlh, NULL);
}

/* NAME as in ip-netns(8), or the path of a namespace file. */
static void enter_netns(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("no network namespace %s: %s", name, strerror(errno));
	if (setns(fd, CLONE_NEWNET))
		die("cannot enter the network namespace %s: %s", name, strerror(errno));
	close(fd);
}

void run(const char *verb, int argc, char **argv, bool json)
{
	if (loading && !matches(verb, "set") && !matches(verb, "add") && !matches(verb, "attach") &&
	    !matches(verb, "del") && !matches(verb, "delete") && !matches(verb, "detach") &&
	    !matches(verb, "flush") && !matches(verb, "tunnel") && !matches(verb, "xlat"))
		die("'%s' is nothing for a file", verb);
	if (matches(verb, "show") || matches(verb, "list"))
		show(argc, argv, json);
	else if (matches(verb, "sockets"))
		show(argc + 1, argv - 1, json);
	else if (matches(verb, "set"))
		set(argc, argv);
	else if (matches(verb, "add"))
		change(true, argc, argv);
	else if (matches(verb, "attach"))
		attach(NET6_CMD_IFACE_ATTACH, argc, argv);
	else if (matches(verb, "del") || matches(verb, "delete"))
		change(false, argc, argv);
	else if (matches(verb, "detach"))
		attach(NET6_CMD_IFACE_DETACH, argc, argv);
	else if (matches(verb, "flush"))
		flush(argc, argv);
	else if (matches(verb, "tunnel"))
		tunnel(argc, argv);
	else if (matches(verb, "xlat"))
		xlat(argc, argv);
	else if (matches(verb, "save"))
		save(argc, argv);
	else if (matches(verb, "load"))
		load(argc, argv);
	else if (matches(verb, "monitor"))
		monitor(json);
	else
		die("no command '%s' (net6ctl -h lists them)", verb);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "netns", required_argument, NULL, 'N' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL }
	};
	bool json = false, netns = false;
	int c;

	while ((c = getopt_long(argc, argv, "+jN:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case 'N':
			enter_netns(optarg);
			netns = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			puts("net6ctl " NET6_VERSION);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	/* It works where net6 does not. */
	if (matches(argv[optind], "doctor"))
		doctor(argc - optind - 1, argv + optind + 1, json, netns);
	ctl_open();
	run(argv[optind], argc - optind - 1, argv + optind + 1, json);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write: %s", strerror(errno));
	return 0;
}
