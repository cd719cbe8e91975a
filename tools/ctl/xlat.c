// SPDX-License-Identifier: GPL-2.0
/* net6ctl xlat: making, removing and saving translators. They have a netlink family of their own,
 * that of net6xlat.ko. Showing them: xlat_show.c.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "xlat.h"

#define MAPS_MAX	1024	/* of a translator, as in the kernel */
#define XLATS_MAX	256

struct xlat xlats[XLATS_MAX];
unsigned int n_xlats;

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
	uint8_t *maps = calloc(MAPS_MAX, XLAT_MAP), *map = maps;

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
			if (map == maps + MAPS_MAX * XLAT_MAP)
				die("there are at most %u mappings", MAPS_MAX);
			map[21] = network_of(AF_INET, argv[1], map + 16, 32);
			map[20] = network_of(AF_INET6, argv[3], map, 128);
			map += XLAT_MAP;
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

struct nlmsghdr *xlat_request(uint8_t cmd, uint16_t flags)
{
	ctl_use(NET6_XLAT_FAMILY_NAME, "net6xlat");
	return ctl_request(cmd, flags);
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

uint64_t xlat_u64(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) == 8 ? mnl_attr_get_u64(attr) : 0;
}

void xlat_string(const struct nlattr *attr, char *text, size_t size)
{
	if (attr)
		snprintf(text, size, "%.*s", (int)mnl_attr_get_payload_len(attr),
			 (const char *)mnl_attr_get_payload(attr));
}

static void get_lent(const struct nlattr **attrs, struct xlat *x)
{
	x->nat64 = ctl_u32(attrs[NET6_XLAT_A_DEV_KIND]) == NET6_XLAT_KIND_NAT64;
	if (!x->nat64)
		return;
	get_network(AF_INET, attrs[NET6_XLAT_A_DEV_INSIDE4], attrs[NET6_XLAT_A_DEV_INSIDE4_LEN],
		    x->inside, sizeof(x->inside));
	x->per64 = ctl_u32(attrs[NET6_XLAT_A_DEV_PER64]);
	x->idle = ctl_u32(attrs[NET6_XLAT_A_DEV_IDLE]);
	x->hosts = ctl_u32(attrs[NET6_XLAT_A_DEV_HOSTS]);
	x->made = xlat_u64(attrs[NET6_XLAT_A_DEV_HOSTS_MADE]);
	x->taken = xlat_u64(attrs[NET6_XLAT_A_DEV_HOSTS_TAKEN]);
	x->ended = xlat_u64(attrs[NET6_XLAT_A_DEV_HOSTS_ENDED]);
}

static void get_part(const struct nlattr **attrs, struct xlat *x)
{
	const struct nlattr *maps = attrs[NET6_XLAT_A_DEV_MAPS];
	unsigned int n = maps ? mnl_attr_get_payload_len(maps) / XLAT_MAP : 0;

	if (attrs[NET6_XLAT_A_DEV_NAME]) {
		xlat_string(attrs[NET6_XLAT_A_DEV_NAME], x->name, sizeof(x->name));
		get_network(AF_INET6, attrs[NET6_XLAT_A_DEV_PREFIX],
			    attrs[NET6_XLAT_A_DEV_PREFIX_LEN], x->prefix, sizeof(x->prefix));
		get_network(AF_INET, attrs[NET6_XLAT_A_DEV_POOL4],
			    attrs[NET6_XLAT_A_DEV_POOL4_LEN], x->pool, sizeof(x->pool));
		x->sent = xlat_u64(attrs[NET6_XLAT_A_DEV_TX_PACKETS]);
		x->received = xlat_u64(attrs[NET6_XLAT_A_DEV_RX_PACKETS]);
		x->dropped = xlat_u64(attrs[NET6_XLAT_A_DEV_TX_ERRORS]);
		get_lent(attrs, x);
	}
	if (!n)
		return;
	x->maps = realloc(x->maps, (x->n + n) * XLAT_MAP);
	if (!x->maps)
		die("out of memory");
	memcpy(x->maps + x->n * XLAT_MAP, mnl_attr_get_payload(maps), n * XLAT_MAP);
	x->n += n;
}

/* A translator with many mappings comes in several messages. */
static void on_part(uint8_t cmd, const struct nlattr **attrs)
{
	uint32_t index = ctl_u32(attrs[NET6_XLAT_A_DEV_IFINDEX]);
	struct xlat *x = n_xlats ? &xlats[n_xlats - 1] : NULL;

	(void)cmd;
	if (!x || x->index != index) {
		if (n_xlats == XLATS_MAX)
			return;
		x = &xlats[n_xlats++];
		x->index = index;
	}
	get_part(attrs, x);
}

void xlat_map_words(const uint8_t *map, char *four, char *six)
{
	inet_ntop(AF_INET, map + 16, four, INET_ADDRSTRLEN);
	inet_ntop(AF_INET6, map, six, INET6_ADDRSTRLEN);
	sprintf(four + strlen(four), "/%u", map[21]);
	sprintf(six + strlen(six), "/%u", map[20]);
}

static int compare_maps(const void *one, const void *other)
{
	return memcmp(one, other, XLAT_MAP);
}

const char *xlat_kind(const struct xlat *x)
{
	return x->nat64 ? "nat64" : "siit";
}

/* The line that makes it; the caller frees it. */
static char *line_of(const struct xlat *x)
{
	char four[INET_ADDRSTRLEN + 4], six[INET6_ADDRSTRLEN + 4], *line;
	unsigned int i;
	size_t size;
	FILE *to = open_memstream(&line, &size);

	if (!to)
		die("out of memory");
	fprintf(to, "xlat add %s %s", xlat_kind(x), x->name);
	if (*x->prefix)
		fprintf(to, " prefix64 %s", x->prefix);
	if (*x->pool)
		fprintf(to, " pool4 %s", x->pool);
	if (x->nat64)
		fprintf(to, " inside4 %s per64 %u idle %u", x->inside, x->per64, x->idle);
	if (x->n)
		qsort(x->maps, x->n, XLAT_MAP, compare_maps);
	for (i = 0; i < x->n; i++) {
		xlat_map_words(x->maps + i * XLAT_MAP, four, six);
		fprintf(to, " map4 %s map6 %s", four, six);
	}
	if (fclose(to))
		die("out of memory");
	return line;
}

void xlat_read(uint32_t index)
{
	struct nlmsghdr *nlh = xlat_request(NET6_XLAT_CMD_GET, NLM_F_DUMP);

	n_xlats = 0;
	memset(xlats, 0, sizeof(xlats));
	if (index)
		mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_IFINDEX, index);
	ctl_talk(nlh, on_part);
}

void save_xlats(void (*put)(char *line))
{
	unsigned int i;

	if (ctl_find(NET6_XLAT_FAMILY_NAME, "net6xlat")) {
		xlat_read(0);
		for (i = 0; i < n_xlats; i++)
			put(line_of(&xlats[i]));
	}
	ctl_use(NET6_FAMILY_NAME, "net6");
}

static struct nlmsghdr *adding(int argc, char **argv)
{
	bool nat64 = matches(argv[1], "nat64");
	struct nlmsghdr *nlh;

	if (!nat64 && !matches(argv[1], "siit"))
		die("'%s' is no kind of translator (siit, nat64)", argv[1]);
	if (!*argv[2] || strlen(argv[2]) >= IFNAMSIZ)
		die("'%s' is no name for a device", argv[2]);
	nlh = xlat_request(NET6_XLAT_CMD_ADD, 0);
	mnl_attr_put_strz(nlh, NET6_XLAT_A_DEV_NAME, argv[2]);
	mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_KIND,
			 nat64 ? NET6_XLAT_KIND_NAT64 : NET6_XLAT_KIND_SIIT);
	put_options(nlh, argc - 3, argv + 3);
	return nlh;
}

/* Is this translator what is asked for? What is not said may be anything. */
static bool is_as_asked(const struct xlat *x, const struct nlmsghdr *nlh)
{
	const struct nlattr *attrs[NET6_XLAT_A_DEV_MAX + 1] = {}, *attr;
	struct xlat asked = {};
	char *one, *other;
	bool same;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) <= NET6_XLAT_A_DEV_MAX)
			attrs[mnl_attr_get_type(attr)] = attr;
	get_part(attrs, &asked);
	asked.per64 = asked.per64 ?: x->per64;
	asked.idle = asked.idle ?: x->idle;
	one = line_of(x);
	other = line_of(&asked);
	same = !strcmp(one, other);
	free(one);
	free(other);
	free(asked.maps);
	return same;
}

/* The one of that name, NULL if there is none. Lines are judged by what there is now. */
static const struct xlat *named(const char *name)
{
	enum loading was = loading;
	unsigned int i;

	loading = LOADING_NOT;
	xlat_read(0);
	loading = was;
	for (i = 0; i < n_xlats; i++)
		if (!strcmp(xlats[i].name, name))
			return &xlats[i];
	return NULL;
}

/* In a file: one that is there stays, or gives way to another one of its name. */
static bool keeps_one(int argc, char **argv)
{
	const struct xlat *x = named(argv[2]);
	struct nlmsghdr *nlh;

	if (!x)
		return false;
	if (is_as_asked(x, adding(argc, argv)))
		return true;
	nlh = xlat_request(NET6_XLAT_CMD_DEL, 0);
	mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_IFINDEX, x->index);
	ctl_talk(nlh, NULL);
	return false;
}

/* xlat add siit|nat64 NAME [...], xlat del NAME */
void xlat(int argc, char **argv)
{
	struct nlmsghdr *nlh;
	uint32_t index;

	if (argc > 2 && matches(argv[0], "add")) {
		adding(argc, argv);
		if (loading == LOADING_JUDGE)
			judge_xlat_add(argv[2], named(argv[2]));
		if (loading != LOADING_APPLY || !keeps_one(argc, argv))
			ctl_talk(adding(argc, argv), NULL);
	} else if (argc == 2 && (matches(argv[0], "del") || matches(argv[0], "delete"))) {
		/* In a file: nothing to do. */
		if (loading && !if_nametoindex(argv[1]) && !judge_dev(argv[1]))
			return;
		index = dev_index(argv[1]);
		nlh = xlat_request(NET6_XLAT_CMD_DEL, 0);
		mnl_attr_put_u32(nlh, NET6_XLAT_A_DEV_IFINDEX, index);
		judge_gone(index);
		ctl_talk(nlh, NULL);
	} else {
		die("xlat add siit NAME [prefix64 P/LEN] [pool4 A/LEN] [map4 A/LEN map6 P/LEN]..., "
		    "xlat add nat64 NAME prefix64 P/LEN inside4 A/LEN [per64 N] [idle SECONDS] "
		    "[...], xlat del NAME");
	}
	if (loading)
		ctl_use(NET6_FAMILY_NAME, "net6");
}
