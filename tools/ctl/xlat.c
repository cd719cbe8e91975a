// SPDX-License-Identifier: GPL-2.0
/* net6ctl xlat: making, removing and showing translators. They have a netlink family of their own,
 * that of net6xlat.ko.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <linux/net6_xlat.h>

#include "ctl.h"

#define MAP		24	/* bytes of a mapping: both prefixes, both lengths, zeros */
#define MAPS_MAX	1024	/* of a translator, as in the kernel */
#define SHOWN_MAX	256	/* translators, and counters of one */

struct shown {
	uint32_t	index;
	char		name[IFNAMSIZ];
	char		prefix[INET6_ADDRSTRLEN + 4];
	char		pool[INET_ADDRSTRLEN + 3];
	char		inside[INET_ADDRSTRLEN + 3];
	bool		nat64;
	uint32_t	per64, idle, hosts;
	uint64_t	made, taken, ended;
	uint64_t	sent, received, dropped;
	uint8_t		*maps;
	unsigned int	n;
};

struct count {
	char		name[32];
	char		text[128];
	uint64_t	value;
};

static struct shown shown[SHOWN_MAX];
static unsigned int n_shown;
static struct count counts[SHOWN_MAX];
static unsigned int n_counts;

/* ADDRESS/LENGTH; returns the length, @none without one. */
static uint32_t network_of(int family, const char *word, void *address, uint32_t none)
{
	uint32_t most = family == AF_INET ? 32 : 128, length = none;
	char text[INET6_ADDRSTRLEN + 5], *slash, *end;

	snprintf(text, sizeof(text), "%s", word);
	slash = strchr(text, '/');
	if (slash) {
		*slash = '\0';
		length = strtoul(slash + 1, &end, 10);
		if (end == slash + 1 || *end || length > most)
			die("prefix length: 0 to %u, not %s", most, slash + 1);
	}
	if (strlen(word) >= sizeof(text) || inet_pton(family, text, address) != 1)
		die("'%s' is no IPv%c address", word, family == AF_INET ? '4' : '6');
	if (length > most)
		die("the prefix length of %s is missing (PREFIX/LENGTH)", word);
	return length;
}

static void put_prefix(struct nlmsghdr *nlh, const char *word)
{
	struct in6_addr prefix;
	uint32_t length = network_of(AF_INET6, word, &prefix, UINT32_MAX);

	mnl_attr_put(nlh, NET6_XLAT_A_DEV_PREFIX, sizeof(prefix), &prefix);
	mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_PREFIX_LEN, length);
}

/* IPv4 addresses and the length of their prefix, which is @none where a single one will do. */
static void put_pool(struct nlmsghdr *nlh, uint16_t address, uint16_t len, const char *word,
		     uint32_t none)
{
	struct in_addr pool;
	uint32_t length = network_of(AF_INET, word, &pool, none);

	mnl_attr_put(nlh, address, sizeof(pool), &pool);
	mnl_attr_put_u32(nlh, len, length);
}

static void put_number(struct nlmsghdr *nlh, uint16_t type, const char *name, const char *word)
{
	char *end;
	unsigned long value = strtoul(word, &end, 10);

	if (!*word || *end || value > UINT32_MAX)
		die("%s: a number, not %s", name, word);
	mnl_attr_put_u32(nlh, type, value);
}

static bool put_lent(struct nlmsghdr *nlh, const char *name, const char *word)
{
	if (matches(name, "inside4"))
		put_pool(nlh, NET6_XLAT_A_DEV_INSIDE4, NET6_XLAT_A_DEV_INSIDE4_LEN, word,
			 UINT32_MAX);
	else if (matches(name, "per64"))
		put_number(nlh, NET6_XLAT_A_DEV_PER64, name, word);
	else if (matches(name, "idle"))
		put_number(nlh, NET6_XLAT_A_DEV_IDLE, name, word);
	else
		return false;
	return true;
}

static void put_options(struct nlmsghdr *nlh, int argc, char **argv)
{
	uint8_t *maps = calloc(MAPS_MAX, MAP), *map = maps;

	if (!maps)
		die("out of memory");
	for (; argc; argc -= 2, argv += 2) {
		if (argc == 1)
			die("what %s?", *argv);
		if (matches(*argv, "prefix64")) {
			put_prefix(nlh, argv[1]);
		} else if (matches(*argv, "pool4")) {
			put_pool(nlh, NET6_XLAT_A_DEV_POOL4, NET6_XLAT_A_DEV_POOL4_LEN, argv[1],
				 32);
		} else if (!strcmp(*argv, "map4")) {
			if (argc < 4 || strcmp(argv[2], "map6"))
				die("behind map4 A.B.C.D/LENGTH comes map6 PREFIX/LENGTH");
			if (map == maps + MAPS_MAX * MAP)
				die("there are at most %u mappings", MAPS_MAX);
			map[21] = network_of(AF_INET, argv[1], map + 16, 32);
			map[20] = network_of(AF_INET6, argv[3], map, 128);
			map += MAP;
			argc -= 2;
			argv += 2;
		} else if (!put_lent(nlh, argv[0], argv[1])) {
			die("'%s' does not belong here", *argv);
		}
	}
	if (map != maps)
		mnl_attr_put(nlh, NET6_XLAT_A_DEV_MAPS, map - maps, maps);
	free(maps);
}

static struct nlmsghdr *request(uint8_t cmd, uint16_t flags)
{
	ctl_use(NET6_XLAT_FAMILY_NAME, "net6xlat");
	return ctl_request(cmd, flags);
}

/* xlat add siit|nat64 NAME [...], xlat del NAME */
void xlat(int argc, char **argv)
{
	struct nlmsghdr *nlh;
	bool nat64;

	if (argc > 2 && matches(argv[0], "add")) {
		nat64 = matches(argv[1], "nat64");
		if (!nat64 && !matches(argv[1], "siit"))
			die("'%s' is no kind of translator (siit, nat64)", argv[1]);
		if (!*argv[2] || strlen(argv[2]) >= IFNAMSIZ)
			die("'%s' is no name for a device", argv[2]);
		nlh = request(NET6_XLAT_CMD_ADD, 0);
		mnl_attr_put_strz(nlh, NET6_XLAT_A_DEV_NAME, argv[2]);
		mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_KIND,
				 nat64 ? NET6_XLAT_KIND_NAT64 : NET6_XLAT_KIND_SIIT);
		put_options(nlh, argc - 3, argv + 3);
	} else if (argc == 2 && (matches(argv[0], "del") || matches(argv[0], "delete"))) {
		nlh = request(NET6_XLAT_CMD_DEL, 0);
		mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_IFINDEX, dev_index(argv[1]));
	} else {
		die("xlat add siit NAME [prefix64 P/LEN] [pool4 A/LEN] [map4 A/LEN map6 P/LEN]..., "
		    "xlat add nat64 NAME prefix64 P/LEN inside4 A/LEN [per64 N] [idle SECONDS] "
		    "[...], xlat del NAME");
	}
	ctl_talk(nlh, NULL);
}

static void get_network(int family, const struct nlattr *address, const struct nlattr *length,
			char *text, size_t size)
{
	char word[INET6_ADDRSTRLEN];

	if (!address || mnl_attr_get_payload_len(address) != (family == AF_INET ? 4 : 16) ||
	    !inet_ntop(family, mnl_attr_get_payload(address), word, sizeof(word)))
		return;
	snprintf(text, size, "%s/%u", word, ctl_u32(length));
}

static uint64_t get_u64(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) == 8 ? mnl_attr_get_u64(attr) : 0;
}

static void get_string(const struct nlattr *attr, char *text, size_t size)
{
	if (attr)
		snprintf(text, size, "%.*s", (int)mnl_attr_get_payload_len(attr),
			 (const char *)mnl_attr_get_payload(attr));
}

static void get_lent(const struct nlattr **attrs, struct shown *x)
{
	x->nat64 = ctl_u32(attrs[NET6_XLAT_A_DEV_KIND]) == NET6_XLAT_KIND_NAT64;
	if (!x->nat64)
		return;
	get_network(AF_INET, attrs[NET6_XLAT_A_DEV_INSIDE4], attrs[NET6_XLAT_A_DEV_INSIDE4_LEN],
		    x->inside, sizeof(x->inside));
	x->per64 = ctl_u32(attrs[NET6_XLAT_A_DEV_PER64]);
	x->idle = ctl_u32(attrs[NET6_XLAT_A_DEV_IDLE]);
	x->hosts = ctl_u32(attrs[NET6_XLAT_A_DEV_HOSTS]);
	x->made = get_u64(attrs[NET6_XLAT_A_DEV_HOSTS_MADE]);
	x->taken = get_u64(attrs[NET6_XLAT_A_DEV_HOSTS_TAKEN]);
	x->ended = get_u64(attrs[NET6_XLAT_A_DEV_HOSTS_ENDED]);
}

/* A translator with many mappings comes in several messages. */
static void on_part(uint8_t cmd, const struct nlattr **attrs)
{
	const struct nlattr *maps = attrs[NET6_XLAT_A_DEV_MAPS];
	uint32_t index = ctl_u32(attrs[NET6_XLAT_A_DEV_IFINDEX]);
	struct shown *x = n_shown ? &shown[n_shown - 1] : NULL;
	unsigned int n = maps ? mnl_attr_get_payload_len(maps) / MAP : 0;

	(void)cmd;
	if (!x || x->index != index) {
		if (n_shown == SHOWN_MAX)
			return;
		x = &shown[n_shown++];
		x->index = index;
	}
	if (attrs[NET6_XLAT_A_DEV_NAME]) {
		get_string(attrs[NET6_XLAT_A_DEV_NAME], x->name, sizeof(x->name));
		get_network(AF_INET6, attrs[NET6_XLAT_A_DEV_PREFIX],
			    attrs[NET6_XLAT_A_DEV_PREFIX_LEN], x->prefix, sizeof(x->prefix));
		get_network(AF_INET, attrs[NET6_XLAT_A_DEV_POOL4],
			    attrs[NET6_XLAT_A_DEV_POOL4_LEN], x->pool, sizeof(x->pool));
		x->sent = get_u64(attrs[NET6_XLAT_A_DEV_TX_PACKETS]);
		x->received = get_u64(attrs[NET6_XLAT_A_DEV_RX_PACKETS]);
		x->dropped = get_u64(attrs[NET6_XLAT_A_DEV_TX_ERRORS]);
		get_lent(attrs, x);
	}
	if (!n)
		return;
	x->maps = realloc(x->maps, (x->n + n) * MAP);
	if (!x->maps)
		die("out of memory");
	memcpy(x->maps + x->n * MAP, mnl_attr_get_payload(maps), n * MAP);
	x->n += n;
}

static void on_count(uint8_t cmd, const struct nlattr **attrs)
{
	struct count *c = &counts[n_counts];

	(void)cmd;
	if (n_counts == SHOWN_MAX)
		return;
	n_counts++;
	*c = (struct count){ .value = get_u64(attrs[NET6_XLAT_A_COUNTER_VALUE]) };
	get_string(attrs[NET6_XLAT_A_COUNTER_NAME], c->name, sizeof(c->name));
	get_string(attrs[NET6_XLAT_A_COUNTER_TEXT], c->text, sizeof(c->text));
}

static void read_counts(uint32_t index)
{
	struct nlmsghdr *nlh = ctl_request(NET6_XLAT_CMD_COUNTER_GET, NLM_F_DUMP);

	n_counts = 0;
	mnl_attr_put_u32(nlh, NET6_XLAT_A_COUNTER_IFINDEX, index);
	ctl_talk(nlh, on_count);
}

static void map_words(const uint8_t *map, char *four, char *six)
{
	inet_ntop(AF_INET, map + 16, four, INET_ADDRSTRLEN);
	inet_ntop(AF_INET6, map, six, INET6_ADDRSTRLEN);
	sprintf(four + strlen(four), "/%u", map[21]);
	sprintf(six + strlen(six), "/%u", map[20]);
}

static void json_counts(const char *key, bool drops)
{
	const char *between = "";
	unsigned int i;

	printf(", \"%s\": {", key);
	for (i = 0; i < n_counts; i++) {
		if (!*counts[i].text == drops)
			continue;
		printf("%s\"%s\": %" PRIu64, between, counts[i].name, counts[i].value);
		between = ", ";
	}
	putchar('}');
}

static const char *kind(const struct shown *x)
{
	return x->nat64 ? "nat64" : "siit";
}

static void show_json(const struct shown *x)
{
	char four[INET_ADDRSTRLEN + 4], six[INET6_ADDRSTRLEN + 4];
	unsigned int i;

	printf("  {\"ifindex\": %u, \"dev\": ", x->index);
	print_json_string(x->name);
	printf(", \"kind\": \"%s\"", kind(x));
	if (*x->prefix)
		printf(", \"prefix64\": \"%s\"", x->prefix);
	if (*x->pool)
		printf(", \"pool4\": \"%s\"", x->pool);
	if (x->nat64)
		printf(", \"inside4\": \"%s\", \"per64\": %u, \"idle\": %u, \"hosts\": %u, "
		       "\"hosts_made\": %" PRIu64 ", \"hosts_taken\": %" PRIu64
		       ", \"hosts_ended\": %" PRIu64, x->inside, x->per64, x->idle, x->hosts,
		       x->made, x->taken, x->ended);
	printf(", \"maps\": [");
	for (i = 0; i < x->n; i++) {
		map_words(x->maps + i * MAP, four, six);
		printf("%s{\"map4\": \"%s\", \"map6\": \"%s\"}", i ? ", " : "", four, six);
	}
	printf("], \"sent\": %" PRIu64 ", \"received\": %" PRIu64 ", \"dropped\": %" PRIu64,
	       x->sent, x->received, x->dropped);
	read_counts(x->index);
	json_counts("counters", false);
	json_counts("drops", true);
	putchar('}');
}

/* Its mappings, and what has been counted. */
static void show_more(const struct shown *x)
{
	char four[INET_ADDRSTRLEN + 4], six[INET6_ADDRSTRLEN + 4];
	unsigned int i;

	if (x->nat64)
		printf("inside4 %s per64 %u idle %u\n%u hosts have an address; %" PRIu64
		       " lent, %" PRIu64 " taken for others, %" PRIu64 " idle for too long\n",
		       x->inside, x->per64, x->idle, x->hosts, x->made, x->taken, x->ended);
	for (i = 0; i < x->n; i++) {
		map_words(x->maps + i * MAP, four, six);
		printf("map4 %s map6 %s\n", four, six);
	}
	read_counts(x->index);
	for (i = 0; i < n_counts; i++)
		if (counts[i].value)
			printf("%12" PRIu64 "  %s%s%s\n", counts[i].value, counts[i].name,
			       *counts[i].text ? "  " : "", counts[i].text);
}

static bool hosts_as_json;
static unsigned int n_hosts;

static void on_host(uint8_t cmd, const struct nlattr **attrs)
{
	const struct nlattr *six = attrs[NET6_XLAT_A_HOST_ADDRESS6];
	const struct nlattr *four = attrs[NET6_XLAT_A_HOST_ADDRESS4];
	char text6[INET6_ADDRSTRLEN], text4[INET_ADDRSTRLEN];

	(void)cmd;
	if (!six || mnl_attr_get_payload_len(six) != 16 || !four ||
	    mnl_attr_get_payload_len(four) != 4 ||
	    !inet_ntop(AF_INET6, mnl_attr_get_payload(six), text6, sizeof(text6)) ||
	    !inet_ntop(AF_INET, mnl_attr_get_payload(four), text4, sizeof(text4)))
		return;
	if (!hosts_as_json)
		printf("%-40s %-16s %10u\n", text6, text4, ctl_u32(attrs[NET6_XLAT_A_HOST_IDLE]));
	else
		printf("%s  {\"address6\": \"%s\", \"address4\": \"%s\", \"idle\": %u}",
		       n_hosts++ ? ",\n" : "", text6, text4, ctl_u32(attrs[NET6_XLAT_A_HOST_IDLE]));
}

static void show_hosts(const char *name, bool json)
{
	struct nlmsghdr *nlh = request(NET6_XLAT_CMD_HOST_GET, NLM_F_DUMP);

	mnl_attr_put_u32(nlh, NET6_XLAT_A_HOST_IFINDEX, dev_index(name));
	hosts_as_json = json;
	if (json)
		puts("[");
	else
		printf("%-40s %-16s %10s\n", "HOST", "ADDRESS", "IDLE");
	ctl_talk(nlh, on_host);
	if (json)
		puts(n_hosts ? "\n]" : "]");
}

/* show xlat [NAME [hosts]] */
void show_xlat(int argc, char **argv, bool json)
{
	struct nlmsghdr *nlh;
	unsigned int i;

	if (argc == 2 && matches(argv[1], "hosts")) {
		show_hosts(argv[0], json);
		return;
	}
	nlh = request(NET6_XLAT_CMD_GET, NLM_F_DUMP);
	if (argc > 1)
		die("'%s' does not belong to show xlat", argv[1]);
	if (argc)
		mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_IFINDEX, dev_index(*argv));
	ctl_talk(nlh, on_part);
	if (argc && !n_shown)
		die("%s is no translator", *argv);
	if (json) {
		puts("[");
		for (i = 0; i < n_shown; i++) {
			show_json(&shown[i]);
			puts(i + 1 < n_shown ? "," : "");
		}
		puts("]");
		return;
	}
	printf("%-15s %-5s %-28s %-18s %5s %12s %12s %12s\n", "DEV", "KIND", "PREFIX64", "POOL4",
	       "MAPS", "SENT", "RECEIVED", "DROPPED");
	for (i = 0; i < n_shown; i++)
		printf("%-15s %-5s %-28s %-18s %5u %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
		       shown[i].name, kind(&shown[i]), *shown[i].prefix ? shown[i].prefix : "-",
		       *shown[i].pool ? shown[i].pool : "-", shown[i].n, shown[i].sent,
		       shown[i].received, shown[i].dropped);
	if (argc)
		show_more(shown);
}
