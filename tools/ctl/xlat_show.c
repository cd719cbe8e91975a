// SPDX-License-Identifier: GPL-2.0
/* net6ctl show xlat: translators, what they have counted, and the hosts of a NAT64. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "xlat.h"

#define COUNTS_MAX	256	/* counters of a translator */

struct count {
	char		name[32];
	char		text[128];
	uint64_t	value;
};

static struct count counts[COUNTS_MAX];
static unsigned int n_counts;

static void on_count(uint8_t cmd, const struct nlattr **attrs)
{
	struct count *c = &counts[n_counts];

	(void)cmd;
	if (n_counts == COUNTS_MAX)
		return;
	n_counts++;
	*c = (struct count){ .value = xlat_u64(attrs[NET6_XLAT_A_COUNTER_VALUE]) };
	xlat_string(attrs[NET6_XLAT_A_COUNTER_NAME], c->name, sizeof(c->name));
	xlat_string(attrs[NET6_XLAT_A_COUNTER_TEXT], c->text, sizeof(c->text));
}

static void read_counts(uint32_t index)
{
	struct nlmsghdr *nlh = ctl_request(NET6_XLAT_CMD_COUNTER_GET, NLM_F_DUMP);

	n_counts = 0;
	mnl_attr_put_u32(nlh, NET6_XLAT_A_COUNTER_IFINDEX, index);
	ctl_talk(nlh, on_count);
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

static void show_json(const struct xlat *x)
{
	char four[INET_ADDRSTRLEN + 4], six[INET6_ADDRSTRLEN + 4];
	unsigned int i;

	printf("  {\"ifindex\": %u, \"dev\": ", x->index);
	print_json_string(x->name);
	printf(", \"kind\": \"%s\"", xlat_kind(x));
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
		xlat_map_words(x->maps + i * XLAT_MAP, four, six);
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
static void show_more(const struct xlat *x)
{
	char four[INET_ADDRSTRLEN + 4], six[INET6_ADDRSTRLEN + 4];
	unsigned int i;

	if (x->nat64)
		printf("inside4 %s per64 %u idle %u\n%u hosts have an address; %" PRIu64
		       " lent, %" PRIu64 " taken for others, %" PRIu64 " idle for too long\n",
		       x->inside, x->per64, x->idle, x->hosts, x->made, x->taken, x->ended);
	for (i = 0; i < x->n; i++) {
		xlat_map_words(x->maps + i * XLAT_MAP, four, six);
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
	struct nlmsghdr *nlh = xlat_request(NET6_XLAT_CMD_HOST_GET, NLM_F_DUMP);

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

static void show_line(const struct xlat *x)
{
	printf("%-15s %-5s %-28s %-18s %5u %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", x->name,
	       xlat_kind(x), *x->prefix ? x->prefix : "-", *x->pool ? x->pool : "-", x->n, x->sent,
	       x->received, x->dropped);
}

/* show xlat [NAME [hosts]] */
void show_xlat(int argc, char **argv, bool json)
{
	unsigned int i;

	if (argc == 2 && matches(argv[1], "hosts")) {
		show_hosts(argv[0], json);
		return;
	}
	if (argc > 1)
		die("'%s' does not belong to show xlat", argv[1]);
	xlat_read(argc ? dev_index(*argv) : 0);
	if (argc && !n_xlats)
		die("%s is no translator", *argv);
	if (json) {
		puts("[");
		for (i = 0; i < n_xlats; i++) {
			show_json(&xlats[i]);
			puts(i + 1 < n_xlats ? "," : "");
		}
		puts("]");
		return;
	}
	printf("%-15s %-5s %-28s %-18s %5s %12s %12s %12s\n", "DEV", "KIND", "PREFIX64", "POOL4",
	       "MAPS", "SENT", "RECEIVED", "DROPPED");
	for (i = 0; i < n_xlats; i++)
		show_line(&xlats[i]);
	if (argc)
		show_more(xlats);
}
