// SPDX-License-Identifier: GPL-2.0
/* Objects as aligned columns for people, as JSON for programs, or as lines. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define COLUMNS_MAX	24
#define CELL		8192	/* a list from an option of 2040 bytes fits */

static const struct column *columns;
static bool json;
static bool first;
static char **cells;		/* rows of as many cells as there are columns with title */
static size_t n_cells;

const char *print_word(const char *const *names, uint32_t value, char *buffer, size_t size)
{
	uint32_t i;

	for (i = 0; names[i]; i++)
		if (i == value)
			return names[i];
	snprintf(buffer, size, "%u", value);
	return buffer;
}

static uint64_t get_u64(const struct nlattr *attr)
{
	return mnl_attr_get_payload_len(attr) == 8 ? mnl_attr_get_u64(attr) : 0;
}

static void get_string(const struct nlattr *attr, char *cell)
{
	snprintf(cell, CELL, "%.*s", (int)mnl_attr_get_payload_len(attr),
		 (const char *)mnl_attr_get_payload(attr));
}

static void get_address(const struct nlattr *attr, char *cell)
{
	if (mnl_attr_get_payload_len(attr) != 16 ||
	    !inet_ntop(AF_INET6, mnl_attr_get_payload(attr), cell, CELL))
		strcpy(cell, "?");
}

static void get_lladdr(const struct nlattr *attr, char *cell)
{
	const uint8_t *bytes = mnl_attr_get_payload(attr);
	size_t i, len = mnl_attr_get_payload_len(attr);

	*cell = '\0';
	for (i = 0; i < len && i < 32; i++)
		sprintf(cell + strlen(cell), i ? ":%02x" : "%02x", bytes[i]);
}

static void get_ipv4(const struct nlattr *attr, char *cell)
{
	if (mnl_attr_get_payload_len(attr) != sizeof(struct in_addr) ||
	    !inet_ntop(AF_INET, mnl_attr_get_payload(attr), cell, CELL))
		strcpy(cell, "?");
}

static void get_dev(uint32_t index, char *cell)
{
	char name[IF_NAMESIZE];

	if (if_indextoname(index, name))
		snprintf(cell, CELL, "%s", name);
	else
		snprintf(cell, CELL, "if%u", index);
}

static void get_protocol(uint32_t protocol, char *cell)
{
	switch (protocol) {
	case IPPROTO_TCP:
		strcpy(cell, "tcp");
		break;
	case IPPROTO_UDP:
		strcpy(cell, "udp");
		break;
	case IPPROTO_ICMPV6:
		strcpy(cell, "icmp");
		break;
	default:
		snprintf(cell, CELL, "%u", protocol);
	}
}

static void get_flags(const struct column *c, uint32_t value, char *cell, const char *between)
{
	unsigned int bit;
	size_t at = 0;

	*cell = '\0';
	for (bit = 0; c->names[bit]; bit++)
		if (value & (1U << bit))
			at += snprintf(cell + at, CELL - at, "%s%s", at ? between : "",
				       c->names[bit]);
}

static void get_time(uint32_t seconds, char *cell)
{
	if (seconds >= 86400)
		snprintf(cell, CELL, "%ud%02uh", seconds / 86400, seconds / 3600 % 24);
	else if (seconds >= 3600)
		snprintf(cell, CELL, "%uh%02um", seconds / 3600, seconds / 60 % 60);
	else
		snprintf(cell, CELL, "%us", seconds);
}

static void get_age(uint32_t ms, char *cell)
{
	if (ms < 10000)
		snprintf(cell, CELL, "%u.%us", ms / 1000, ms / 100 % 10);
	else
		get_time(ms / 1000, cell);
}

static void get_endpoint(const struct nlattr *attr, uint32_t port, char *cell)
{
	char address[CELL];

	get_address(attr, address);
	if (port)
		snprintf(cell, CELL, "[%.100s]:%u", address, port);
	else
		snprintf(cell, CELL, "[%.100s]:*", address);
}

static void get_addresses(const struct nlattr *attr, char *cell)
{
	const uint8_t *bytes = mnl_attr_get_payload(attr);
	size_t at, len = mnl_attr_get_payload_len(attr);
	char *to = cell;

	*to = 0;
	for (at = 0; at + 16 <= len && CELL - (to - cell) > INET6_ADDRSTRLEN + 1; at += 16) {
		if (at)
			*to++ = ' ';
		inet_ntop(AF_INET6, bytes + at, to, INET6_ADDRSTRLEN);
		to += strlen(to);
	}
}

/* A stranger's names, for a resolver's configuration. A byte that is no letter, digit, hyphen or
 * underscore becomes a question mark. A name that is cut short is left out.
 */
static void get_domains(const struct nlattr *attr, char *cell)
{
	const uint8_t *bytes = mnl_attr_get_payload(attr);
	size_t i, at = 0, len = mnl_attr_get_payload_len(attr);
	char *to = cell, *start = cell;

	while (at < len && CELL - (to - cell) > 256) {
		size_t label = bytes[at++];

		if (!label) {
			if (to > start) {
				to[-1] = ' ';
				start = to;
			}
			continue;
		}
		if (label > 63 || label > len - at)
			break;
		for (i = 0; i < label; i++) {
			uint8_t c = bytes[at + i];

			*to++ = (c | 32) >= 'a' && (c | 32) <= 'z' ? c :
				(c >= '0' && c <= '9') || c == '-' || c == '_' ? c : '?';
		}
		*to++ = '.';
		at += label;
	}
	*(start > cell ? start - 1 : cell) = 0;
}

static void get_metrics(const struct nlattr *nest, char *cell)
{
	FILE *to = fmemopen(cell, CELL, "w");

	if (!to)
		die("out of memory");
	metrics_text(to, nest);
	fclose(to);
}

static void get_tcp_info(const struct nlattr **attrs, char *cell)
{
	FILE *to = fmemopen(cell, CELL, "w");

	if (!to)
		die("out of memory");
	tcp_info_text(to, attrs);
	fclose(to);
}

/* What people see; "-" for what is absent. */
static void human(const struct column *c, const struct nlattr **attrs, char *cell)
{
	const struct nlattr *attr = attrs[c->attr];
	uint32_t value = ctl_u32(attr);
	char word[16];

	strcpy(cell, c->kind == KIND_FLAG || c->kind == KIND_METRICS || c->kind == KIND_TCP_INFO ?
		     "" : "-");
	if (!attr)
		return;
	switch (c->kind) {
	case KIND_U32:
		snprintf(cell, CELL, "%u", value);
		break;
	case KIND_S32:
		snprintf(cell, CELL, "%d", (int32_t)value);
		break;
	case KIND_U64:
		snprintf(cell, CELL, "%" PRIu64, get_u64(attr));
		break;
	case KIND_STRING:
		get_string(attr, cell);
		break;
	case KIND_ADDRESS:
		get_address(attr, cell);
		break;
	case KIND_NETWORK:
		get_address(attr, cell);
		sprintf(cell + strlen(cell), "/%u", ctl_u32(attrs[c->attr + 1]));
		break;
	case KIND_ENDPOINT:
		get_endpoint(attr, ctl_u32(attrs[c->attr + 1]), cell);
		break;
	case KIND_LLADDR:
		get_lladdr(attr, cell);
		break;
	case KIND_IPV4:
		get_ipv4(attr, cell);
		break;
	case KIND_TOS:
		if (value == 1)
			strcpy(cell, "inherit");
		else
			snprintf(cell, CELL, "%u", value);
		break;
	case KIND_DEV:
		get_dev(value, cell);
		break;
	case KIND_BOOL:
		if (value > 1)
			sprintf(cell, "%u", value);
		else
			strcpy(cell, value ? "on" : "off");
		break;
	case KIND_FLAG:
		strcpy(cell, c->title ? c->title : c->key);
		break;
	case KIND_PROTOCOL:
		get_protocol(value, cell);
		break;
	case KIND_ENUM:
		snprintf(cell, CELL, "%s", print_word(c->names, value, word, sizeof(word)));
		break;
	case KIND_FLAGS:
		get_flags(c, value, cell, ",");
		break;
	case KIND_LIFETIME:
		if (value == UINT32_MAX)
			strcpy(cell, "forever");
		else
			get_time(value, cell);
		break;
	case KIND_AGE:
		get_age(value, cell);
		break;
	case KIND_ADDRESSES:
		get_addresses(attr, cell);
		break;
	case KIND_DOMAINS:
		get_domains(attr, cell);
		break;
	case KIND_METRICS:
		get_metrics(attr, cell);
		break;
	case KIND_TCP_INFO:
		get_tcp_info(attrs, cell);
		break;
	}
}

/* Bytes of the letter that a text begins with if that is UTF-8 (RFC 3629 section 4) beyond
 * ASCII, else 0.
 */
static unsigned int utf8(const unsigned char *c)
{
	unsigned int size = *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : 2, i;

	if (*c < 0xc2 || *c > 0xf4)
		return 0;
	for (i = 1; i < size; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Not longer than need be, no half of a surrogate pair, not beyond U+10FFFF. */
	if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
	    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return size;
}

/* A name of a device may be any bytes: those that are no UTF-8 become a letter each. */
void print_json_string(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	unsigned int size;

	putchar('"');
	while (*c) {
		size = utf8(c);
		if (size)
			fwrite(c, size, 1, stdout);
		else if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20 || *c >= 0x7f)
			printf("\\u%04x", *c);
		else
			putchar(*c);
		c += size ?: 1;
	}
	putchar('"');
}

static void json_flags(const struct column *c, uint32_t value)
{
	const char *between = "";
	unsigned int bit;

	putchar('[');
	for (bit = 0; c->names[bit]; bit++) {
		if (!(value & (1U << bit)))
			continue;
		fputs(between, stdout);
		print_json_string(c->names[bit]);
		between = ",";
	}
	putchar(']');
}

static void json_value(const struct column *c, const struct nlattr **attrs)
{
	const struct nlattr *attr = attrs[c->attr];
	uint32_t value = ctl_u32(attr);
	char cell[CELL];

	switch (c->kind) {
	case KIND_U32:
	case KIND_LIFETIME:
	case KIND_AGE:
		printf("%u", value);
		break;
	case KIND_S32:
		printf("%d", (int32_t)value);
		break;
	case KIND_U64:
		printf("%" PRIu64, get_u64(attr));
		break;
	case KIND_BOOL:
		if (value > 1)
			printf("%u", value);
		else
			fputs(value ? "true" : "false", stdout);
		break;
	case KIND_FLAG:
		fputs(attr ? "true" : "false", stdout);
		break;
	case KIND_FLAGS:
		json_flags(c, value);
		break;
	case KIND_TOS:
		if (value == 1)
			print_json_string("inherit");
		else
			printf("%u", value);
		break;
	case KIND_TCP_INFO:
		tcp_info_json(stdout, attr);
		break;
	default:
		human(c, attrs, cell);
		print_json_string(cell);
	}
}

static void json_object(const struct column *c, const struct nlattr **attrs,
			const char *object, const char *event)
{
	const char *between = "";

	putchar('{');
	if (object) {
		fputs("\"event\":", stdout);
		print_json_string(event);
		fputs(",\"object\":", stdout);
		print_json_string(object);
		between = ",";
	}
	for (; c->attr; c++) {
		if (!c->key || (!attrs[c->attr] && c->kind != KIND_FLAG))
			continue;
		printf("%s\"%s\":", between, c->key);
		json_value(c, attrs);
		between = ",";
	}
	putchar('}');
}

void print_begin(const struct column *of, bool as_json)
{
	const struct column *c;

	columns = of;
	json = as_json;
	first = true;
	if (json) {
		putchar('[');
		return;
	}
	for (c = columns; c->attr; c++) {
		if (!c->title)
			continue;
		cells = realloc(cells, (n_cells + 1) * sizeof(*cells));
		if (!cells)
			die("out of memory");
		cells[n_cells++] = strdup(c->kind == KIND_FLAG ? "" : c->title);
	}
}

void print_row(const struct nlattr **attrs)
{
	const struct column *c;
	char cell[CELL];

	if (json) {
		fputs(first ? "\n" : ",\n", stdout);
		first = false;
		json_object(columns, attrs, NULL, NULL);
		return;
	}
	for (c = columns; c->attr; c++) {
		if (!c->title)
			continue;
		human(c, attrs, cell);
		cells = realloc(cells, (n_cells + 1) * sizeof(*cells));
		if (!cells)
			die("out of memory");
		cells[n_cells++] = strdup(cell);
	}
}

void print_end(void)
{
	size_t width[COLUMNS_MAX] = { 0 };
	const struct column *c, *last = NULL;
	size_t i, n = 0, below;

	if (json) {
		fputs(first ? "]\n" : "\n]\n", stdout);
		return;
	}
	for (c = columns; c->attr; c++) {
		n += !!c->title;
		last = c;
	}
	below = last && last->kind == KIND_TCP_INFO ? n - 1 : n;
	for (i = 0; i < n_cells; i++)
		if (cells[i] && strlen(cells[i]) > width[i % n])
			width[i % n] = strlen(cells[i]);
	for (i = 0; i < n_cells; i++) {
		if (i % n == below)
			printf(*cells[i] ? "\t%s\n" : "", cells[i]);
		else if (i % n == below - 1)
			printf("%s\n", cells[i]);
		else
			printf("%-*s  ", (int)width[i % n], cells[i]);
		free(cells[i]);
	}
	n_cells = 0;
}

void print_event(const struct column *c, bool as_json, const char *object,
		 const char *event, const struct nlattr **attrs)
{
	char cell[CELL];

	if (as_json) {
		json_object(c, attrs, object, event);
	} else {
		printf("%s %s", event, object);
		for (; c->attr; c++) {
			if (!c->title || !attrs[c->attr])
				continue;
			human(c, attrs, cell);
			if (c->kind == KIND_DEV)
				printf(" dev %s", cell);
			else if (*cell)
				printf(" %s", cell);
		}
	}
	putchar('\n');
	fflush(stdout);
}
