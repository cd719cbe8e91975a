// SPDX-License-Identifier: GPL-2.0
/* net6ctl save: what is set in a namespace, as lines that net6ctl load reads. Lines of a kind are
 * sorted, so that the same settings give the same text.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl.h"

#define NAMES_MAX	(INET6_ADDRSTRLEN + 8)
#define LINE_SIZE	4096	/* all parameters of an interface are half of it */

static char **lines;
static size_t n_lines;

/* Tunnels, and prefixes that go with an address: what follows from other lines. */
struct implied {
	uint32_t	index;
	uint32_t	length;		/* 0: this is a tunnel's router */
	struct in6_addr	address;
};

static struct implied *implied;
static size_t n_implied;

static void *grown(void *array, size_t n, size_t size)
{
	array = realloc(array, (n + 1) * size);
	if (!array)
		die("out of memory");
	return array;
}

static void __attribute__((format(printf, 1, 2))) put(const char *format, ...)
{
	va_list args;
	int length;

	lines = grown(lines, n_lines, sizeof(*lines));
	va_start(args, format);
	length = vasprintf(&lines[n_lines], format, args);
	va_end(args);
	if (length < 0)
		die("out of memory");
	n_lines++;
}

static int compare(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Writes the lines of one kind. */
static void flush_lines(FILE *to)
{
	size_t i;

	if (n_lines)
		qsort(lines, n_lines, sizeof(*lines), compare);
	for (i = 0; i < n_lines; i++) {
		fprintf(to, "%s\n", lines[i]);
		free(lines[i]);
	}
	n_lines = 0;
}

static void imply(uint32_t index, struct in6_addr address, uint32_t length)
{
	uint32_t bit;

	for (bit = length; length && bit < 128; bit++)
		address.s6_addr[bit / 8] &= ~(0x80 >> bit % 8);
	implied = grown(implied, n_implied, sizeof(*implied));
	implied[n_implied++] = (struct implied){ index, length, address };
}

static bool is_implied(uint32_t index, const struct in6_addr *address, uint32_t length)
{
	size_t i;

	for (i = 0; i < n_implied; i++)
		if (implied[i].index == index && implied[i].length == length &&
		    !memcmp(&implied[i].address, address, sizeof(*address)))
			return true;
	return false;
}

static const char *text_of(const struct in6_addr *address, char *text)
{
	return inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
}

/* A line is words: a device whose name has a blank cannot stand in one. */
static const char *dev_of(uint32_t index, char *name)
{
	if (!if_indextoname(index, name))
		return NULL;
	if (!strpbrk(name, " \t\n\v\f\r"))
		return name;
	complain("the device '%s' has a blank in its name: it is left out", name);
	return NULL;
}

static uint32_t device_mtu(const char *name)
{
	struct ifreq request = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCGIFMTU, &request))
		request.ifr_mtu = 0;
	if (fd >= 0)
		close(fd);
	return request.ifr_mtu;
}

/* "NAME VALUE" of each that is not as in the beginning. */
static void put_settings(const char *what, const struct setting *s, const struct nlattr **attrs,
			 uint32_t mtu)
{
	char line[LINE_SIZE];
	size_t at = snprintf(line, sizeof(line), "%s defaults", what);
	int64_t value;

	for (; s->name && at < sizeof(line); s++) {
		value = ctl_u32(attrs[s->attr]);
		if (s->on_off == MINUS_ONE)
			value = (int32_t)value;
		if (!attrs[s->attr] || value == s->initial)
			continue;
		if (mtu && s->attr == NET6_A_IFACE_MTU && value == mtu)
			continue;
		if (s->on_off && s->on_off != MINUS_ONE && value < 2)
			at += snprintf(line + at, sizeof(line) - at, " %s %s", s->name,
				       value ? "on" : "off");
		else
			at += snprintf(line + at, sizeof(line) - at, " %s %lld", s->name,
				       (long long)value);
	}
	put("%s", line);
}

static void on_limits(uint8_t cmd, const struct nlattr **attrs)
{
	if (cmd == NET6_CMD_LIMITS_GET)
		put_settings("set limits", limit_settings, attrs, 0);
}

static void on_iface(uint8_t cmd, const struct nlattr **attrs)
{
	char name[IF_NAMESIZE], what[64];

	if (cmd != NET6_CMD_IFACE_GET || !dev_of(ctl_u32(attrs[NET6_A_IFACE_IFINDEX]), name))
		return;
	snprintf(what, sizeof(what), "set dev %s", name);
	put_settings(what, iface_settings, attrs, device_mtu(name) ?: 1);
}

static void on_attached(uint8_t cmd, const struct nlattr **attrs)
{
	const struct nlattr *link = attrs[NET6_A_IFACE_LINK];
	char name[IF_NAMESIZE];

	if (cmd == NET6_CMD_IFACE_GET && link &&
	    !strncmp(mnl_attr_get_payload(link), "ethernet", mnl_attr_get_payload_len(link)) &&
	    dev_of(ctl_u32(attrs[NET6_A_IFACE_IFINDEX]), name))
		put("attach dev %s", name);
}

static void on_tunnel(uint8_t cmd, const struct nlattr **attrs)
{
	char name[IF_NAMESIZE], remote[INET_ADDRSTRLEN], local[INET_ADDRSTRLEN] = "any";
	uint32_t far = ctl_u32(attrs[NET6_A_TUNNEL_REMOTE]);
	uint32_t near = ctl_u32(attrs[NET6_A_TUNNEL_LOCAL]);
	uint32_t tos = ctl_u32(attrs[NET6_A_TUNNEL_TOS]);
	uint32_t index = ctl_u32(attrs[NET6_A_TUNNEL_IFINDEX]);
	struct in6_addr router = { .s6_addr = { 0xfe, 0x80 } };
	char number[16];

	if (cmd != NET6_CMD_TUNNEL_GET || !dev_of(index, name) ||
	    ctl_u32(attrs[NET6_A_TUNNEL_KIND]) != NET6_TUNNEL_KIND_CONFIGURED)
		return;
	memcpy(&router.s6_addr[12], &far, sizeof(far));
	imply(index, router, 0);
	inet_ntop(AF_INET, &far, remote, sizeof(remote));
	if (near)
		inet_ntop(AF_INET, &near, local, sizeof(local));
	snprintf(number, sizeof(number), "%u", tos);
	put("tunnel add %s remote %s local %s ttl %u tos %s pmtu %s router %s", name, remote,
	    local, ctl_u32(attrs[NET6_A_TUNNEL_TTL]), tos == 1 ? "inherit" : number,
	    ctl_u32(attrs[NET6_A_TUNNEL_PMTU]) ? "on" : "off",
	    ctl_u32(attrs[NET6_A_TUNNEL_ROUTER]) ? "on" : "off");
}

static void on_addr(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_ADDR_ADDRESS]);
	uint32_t index = ctl_u32(attrs[NET6_A_ADDR_IFINDEX]);
	uint32_t length = ctl_u32(attrs[NET6_A_ADDR_PREFIX_LEN]);
	uint32_t valid = ctl_u32(attrs[NET6_A_ADDR_VALID]);
	uint32_t preferred = ctl_u32(attrs[NET6_A_ADDR_PREFERRED]);
	char name[IF_NAMESIZE], text[INET6_ADDRSTRLEN], lasts[64] = "";

	if (cmd != NET6_CMD_ADDR_GET || !dev_of(index, name) ||
	    ctl_u32(attrs[NET6_A_ADDR_ORIGIN]) != NET6_ADDR_ORIGIN_MANUAL || !valid)
		return;
	imply(index, address, length);
	if (valid != UINT32_MAX)
		snprintf(lasts, sizeof(lasts), " valid %u preferred %u", valid, preferred);
	else if (preferred != UINT32_MAX)
		snprintf(lasts, sizeof(lasts), " preferred %u", preferred);
	put("add address %s/%u dev %s%s", text_of(&address, text), length, name, lasts);
}

static void on_prefix(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_PREFIX_ADDRESS]);
	uint32_t index = ctl_u32(attrs[NET6_A_PREFIX_IFINDEX]);
	uint32_t length = ctl_u32(attrs[NET6_A_PREFIX_PREFIX_LEN]);
	char name[IF_NAMESIZE], text[INET6_ADDRSTRLEN];

	if (cmd == NET6_CMD_PREFIX_GET && attrs[NET6_A_PREFIX_MANUAL] && dev_of(index, name) &&
	    ctl_u32(attrs[NET6_A_PREFIX_VALID]) == UINT32_MAX &&
	    !is_implied(index, &address, length))
		put("add prefix %s/%u dev %s", text_of(&address, text), length, name);
}

static const char *rank(const struct nlattr *attr)
{
	int32_t value = ctl_u32(attr);

	return value > 0 ? " preference high" : value < 0 ? " preference low" : "";
}

/* " mtu 1400", or "" if nothing is said. */
static const char *metrics(const struct nlattr *nest)
{
	static char text[1024];
	FILE *to = fmemopen(text, sizeof(text), "w");

	*text = '\0';
	if (!to)
		die("out of memory");
	if (nest) {
		putc(' ', to);
		metrics_text(to, nest);
	}
	fclose(to);
	return text;
}

static const char *weight(const struct nlattr *attr)
{
	static char text[32];

	*text = '\0';
	if (attr)
		snprintf(text, sizeof(text), " weight %u", ctl_u32(attr));
	return text;
}

/* The source that a route asks for. */
static const char *source(const struct nlattr *attr)
{
	static char text[sizeof(" src ") + INET6_ADDRSTRLEN];
	char address[INET6_ADDRSTRLEN];
	struct in6_addr value;

	*text = '\0';
	if (attr) {
		value = ctl_address(attr);
		snprintf(text, sizeof(text), " src %s", text_of(&value, address));
	}
	return text;
}

static void on_router(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_ROUTER_ADDRESS]);
	uint32_t index = ctl_u32(attrs[NET6_A_ROUTER_IFINDEX]);
	char name[IF_NAMESIZE], text[INET6_ADDRSTRLEN];

	if (cmd == NET6_CMD_ROUTER_GET && attrs[NET6_A_ROUTER_MANUAL] && dev_of(index, name) &&
	    !is_implied(index, &address, 0))
		put("add route default via %s dev %s%s%s%s%s", text_of(&address, text), name,
		    rank(attrs[NET6_A_ROUTER_PREFERENCE]), weight(attrs[NET6_A_ROUTER_WEIGHT]),
		    source(attrs[NET6_A_ROUTER_SOURCE]), metrics(attrs[NET6_A_ROUTER_METRICS]));
}

/* The number of a route's table, if that is not the main one. */
static const char *table(const struct nlattr *attr)
{
	static char text[sizeof(" table 4294967295")];

	*text = '\0';
	if (attr)
		snprintf(text, sizeof(text), " table %u", ctl_u32(attr));
	return text;
}

static void on_route(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_ROUTE_ADDRESS]);
	struct in6_addr gateway = ctl_address(attrs[NET6_A_ROUTE_GATEWAY]);
	uint32_t length = ctl_u32(attrs[NET6_A_ROUTE_PREFIX_LEN]);
	char name[IF_NAMESIZE], text[INET6_ADDRSTRLEN], via[INET6_ADDRSTRLEN];

	if (cmd != NET6_CMD_ROUTE_GET || !attrs[NET6_A_ROUTE_MANUAL] ||
	    (!length && !attrs[NET6_A_ROUTE_TABLE]) ||
	    ctl_u32(attrs[NET6_A_ROUTE_LIFETIME]) != UINT32_MAX ||
	    !dev_of(ctl_u32(attrs[NET6_A_ROUTE_IFINDEX]), name))
		return;
	put("add route %s/%u%s%s dev %s%s%s%s%s%s", text_of(&address, text), length,
	    attrs[NET6_A_ROUTE_GATEWAY] ? " via " : "",
	    attrs[NET6_A_ROUTE_GATEWAY] ? text_of(&gateway, via) : "", name,
	    table(attrs[NET6_A_ROUTE_TABLE]), rank(attrs[NET6_A_ROUTE_PREFERENCE]),
	    weight(attrs[NET6_A_ROUTE_WEIGHT]), source(attrs[NET6_A_ROUTE_SOURCE]),
	    metrics(attrs[NET6_A_ROUTE_METRICS]));
}

static void on_neigh(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_NEIGH_ADDRESS]);
	const struct nlattr *lladdr = attrs[NET6_A_NEIGH_LLADDR];
	char name[IF_NAMESIZE], text[INET6_ADDRSTRLEN], link[3 * 32 + 1] = "";
	const uint8_t *octets;
	size_t i, len;

	if (cmd != NET6_CMD_NEIGH_GET || !lladdr ||
	    !(ctl_u32(attrs[NET6_A_NEIGH_FLAGS]) & NET6_NEIGH_FLAGS_MANUAL) ||
	    !dev_of(ctl_u32(attrs[NET6_A_NEIGH_IFINDEX]), name))
		return;
	octets = mnl_attr_get_payload(lladdr);
	len = mnl_attr_get_payload_len(lladdr);
	for (i = 0; i < len && i < 32; i++)
		sprintf(link + strlen(link), i ? ":%02x" : "%02x", octets[i]);
	if (len && !is_implied(ctl_u32(attrs[NET6_A_NEIGH_IFINDEX]), &address, 0))
		put("add neighbor %s lladdr %s dev %s", text_of(&address, text), link, name);
}

static void on_proxy(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_PROXY_ADDRESS]);
	char name[IF_NAMESIZE], text[INET6_ADDRSTRLEN];

	if (cmd == NET6_CMD_PROXY_GET && dev_of(ctl_u32(attrs[NET6_A_PROXY_IFINDEX]), name))
		put("add proxy %s dev %s router %s", text_of(&address, text), name,
		    attrs[NET6_A_PROXY_ROUTER] ? "on" : "off");
}

/* RFC 6724 section 2.1, which "flush policy" returns to. */
static const struct {
	const char	*prefix;
	uint32_t	precedence;
	uint32_t	label;
} policies[] = {
	{ "::1/128", 50, 0 }, { "::/0", 40, 1 }, { "::ffff:0.0.0.0/96", 35, 4 },
	{ "2002::/16", 30, 2 }, { "2001::/32", 5, 5 }, { "fc00::/7", 3, 13 },
	{ "::/96", 1, 3 }, { "fec0::/10", 1, 11 }, { "3ffe::/16", 1, 12 },
};

static bool seen[ARRAY_SIZE(policies)];

static void on_policy(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_POLICY_ADDRESS]);
	uint32_t precedence = ctl_u32(attrs[NET6_A_POLICY_PRECEDENCE]);
	uint32_t label = ctl_u32(attrs[NET6_A_POLICY_LABEL]);
	char text[INET6_ADDRSTRLEN], prefix[NAMES_MAX];
	size_t i;

	if (cmd != NET6_CMD_POLICY_GET)
		return;
	snprintf(prefix, sizeof(prefix), "%s/%u", text_of(&address, text),
		 ctl_u32(attrs[NET6_A_POLICY_PREFIX_LEN]));
	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		if (strcmp(policies[i].prefix, prefix))
			continue;
		seen[i] = true;
		if (policies[i].precedence == precedence && policies[i].label == label)
			return;
	}
	put("add policy %s label %u precedence %u", prefix, label, precedence);
}

static void save_policy(FILE *to)
{
	size_t i;

	fputs("flush policy\n", to);
	ctl_dump(NET6_CMD_POLICY_GET, on_policy);
	for (i = 0; i < ARRAY_SIZE(policies); i++)
		if (!seen[i])
			put("del policy %s", policies[i].prefix);
	flush_lines(to);
}

/* With attach=manual no device is attached by itself. */
static bool by_hand(void)
{
	FILE *file = fopen("/sys/module/net6/parameters/attach", "re");
	char word[16] = "";
	bool manual = file && fgets(word, sizeof(word), file) && !strcmp(word, "manual\n");

	if (file)
		fclose(file);
	return manual;
}

static void put_line(char *line)
{
	lines = grown(lines, n_lines, sizeof(*lines));
	lines[n_lines++] = line;
}

/* In the order in which they can be loaded. */
static void save_all(FILE *to)
{
	static const struct {
		uint8_t	cmd;
		void	(*fn)(uint8_t cmd, const struct nlattr **attrs);
	} kinds[] = {
		{ NET6_CMD_TUNNEL_GET, on_tunnel },
		{ NET6_CMD_IFACE_GET, on_iface },
		{ NET6_CMD_ADDR_GET, on_addr },
		{ NET6_CMD_PREFIX_GET, on_prefix },
		{ NET6_CMD_ROUTER_GET, on_router },
		{ NET6_CMD_ROUTE_GET, on_route },
		{ NET6_CMD_NEIGH_GET, on_neigh },
		{ NET6_CMD_PROXY_GET, on_proxy },
	};
	size_t i;

	fputs("# Made by net6ctl save, read by net6ctl load. See net6.conf(5).\n", to);
	ctl_talk(ctl_request(NET6_CMD_LIMITS_GET, 0), on_limits);
	flush_lines(to);
	save_policy(to);
	if (by_hand())
		ctl_dump(NET6_CMD_IFACE_GET, on_attached);
	flush_lines(to);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		ctl_dump(kinds[i].cmd, kinds[i].fn);
		flush_lines(to);
		if (kinds[i].cmd == NET6_CMD_TUNNEL_GET)
			save_xlats(put_line);
		flush_lines(to);
	}
	save_rules(to);
}

/* save [FILE]: the old file is there until the new one is whole. */
void save(int argc, char **argv)
{
	char *new;
	FILE *to;

	if (argc > 1)
		die("'%s' does not belong here", argv[1]);
	if (!argc || !strcmp(*argv, "-")) {
		save_all(stdout);
		return;
	}
	if (asprintf(&new, "%s.new", *argv) < 0)
		die("out of memory");
	to = fopen(new, "we");
	if (!to)
		die("cannot write %s: %s", new, strerror(errno));
	save_all(to);
	if (fflush(to) || fsync(fileno(to)) || fclose(to) || rename(new, *argv)) {
		unlink(new);
		die("cannot write %s: %s", *argv, strerror(errno));
	}
	free(new);
}
