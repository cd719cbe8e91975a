// SPDX-License-Identifier: GPL-2.0
/* Sites and counters for people, as JSON and for Prometheus. */
#include "httpctl.h"

struct report {
	bool json;
	int count;
};

/**
 * print_json() - print a text as JSON has it
 * @text: the text; bytes that are no ASCII are taken for Latin-1
 * @len: its length
 */
void print_json(const char *text, size_t len)
{
	size_t i;

	putchar('"');
	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

void print_json_text(const char *text)
{
	print_json(text, strlen(text));
}

static int report_listener(const char *path, const char *name, void *data)
{
	char family[32] = "", address[64] = "", port[16] = "";
	struct report *report = data;

	get(path, "family", family, sizeof(family));
	get(path, "address", address, sizeof(address));
	get(path, "port", port, sizeof(port));
	if (report->json) {
		printf("%s{\"name\":", report->count++ ? "," : "");
		print_json_text(name);
		printf(",\"family\":\"%s\",\"address\":", family);
		print_json_text(address);
		printf(",\"port\":%s}", port);
	} else {
		printf("  %-8s %s port %s\n", family, address, port);
	}
	return 0;
}

static int report_site(const char *path, const char *name, void *data)
{
	char docroot[PATH_MAX] = "", attached[16] = "0", enabled[8] = "0";
	struct report *report = data, listeners = { .json = report->json };

	get(path, "docroot", docroot, sizeof(docroot));
	get(path, "attached", attached, sizeof(attached));
	get(path, "enabled", enabled, sizeof(enabled));
	if (report->json) {
		printf("%s{\"name\":", report->count++ ? "," : "");
		print_json_text(name);
		printf(",\"docroot\":");
		print_json_text(docroot);
		printf(",\"enabled\":%s,\"attached\":%s,\"listeners\":[",
		       enabled[0] == '1' ? "true" : "false", attached);
		each_dir(path, report_listener, &listeners);
		printf("]}");
	} else {
		printf("site %s: %s%s\n", name, docroot,
		       enabled[0] == '1' ? "" : " (disabled)");
		if (strcmp(attached, "0"))
			printf("  attached to %s listener%s\n", attached,
			       strcmp(attached, "1") ? "s" : "");
		each_dir(path, report_listener, &listeners);
	}
	return 0;
}

/* Text exposition format 0.0.4 of Prometheus. */
static void report_prometheus(char *stats)
{
	char *line, *value;

	for (line = strtok(stats, "\n"); line; line = strtok(NULL, "\n")) {
		bool gauge = !strncmp(line, "connections ", 12) ||
			     !strncmp(line, "cache_entries ", 14);

		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		printf("# TYPE khttpd_%s%s %s\nkhttpd_%s%s %s\n", line,
		       gauge ? "" : "_total", gauge ? "gauge" : "counter",
		       line, gauge ? "" : "_total", value);
	}
}

static void report_stats(char *stats, bool json)
{
	char *line, *value;
	int n = 0;

	for (line = strtok(stats, "\n"); line; line = strtok(NULL, "\n")) {
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		if (json)
			printf("%s\"%s\":%s", n++ ? "," : "", line, value);
		else
			printf("  %-18s %s\n", line, value);
	}
}

int status(const struct options *opt)
{
	struct report report = { .json = opt->json };
	static char stats[8192];

	if (get(ROOT, "stats", stats, sizeof(stats)) < 0) {
		say(ROOT "/stats: %s", strerror(errno));
		return -1;
	}
	if (opt->prometheus) {
		report_prometheus(stats);
	} else if (opt->json) {
		printf("{\"sites\":[");
		each_dir(ROOT, report_site, &report);
		printf("],\"counters\":{");
		report_stats(stats, true);
		printf("}}\n");
	} else {
		each_dir(ROOT, report_site, &report);
		printf("counters:\n");
		report_stats(stats, false);
	}
	return 0;
}
