// SPDX-License-Identifier: GPL-2.0
/* Texts that administrators give: the first line is a path, a host and a cookie
 * at once, the rest rules, names and types. All must stay inside their text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include "../../khttpd/http/access.c"
#include "../../khttpd/http/added.c"
#include "../../khttpd/http/fields.c"
#include "../../khttpd/http/path.c"
#include "../../khttpd/http/ruleline.c"
#include "../../khttpd/http/rules.c"
#include "../../khttpd/http/target.c"
#include "../../khttpd/http/ruled.c"
#include "../../khttpd/http/mime.c"
#include "../../khttpd/http/names.c"
#include "../../khttpd/http/prefixes.c"

static void need(bool condition)
{
	if (!condition)
		abort();
}

/* A name may go where it cannot leave the root, and a header not be broken. */
static void check_path(const struct khttpd_path *path)
{
	size_t i, at = 0;

	need(path->len < KHTTPD_PATH_MAX - 2 && !path->name[path->len]);
	for (i = 0; i <= path->len; i++) {
		if (i < path->len && path->name[i] != '/')
			continue;
		need(i > at || !path->len);
		need(!(i - at == 1 && path->name[at] == '.'));
		need(!(i - at == 2 && path->name[at] == '.' && path->name[at + 1] == '.'));
		at = i + 1;
	}
}

static void check_targets(const struct khttpd_rules *rules, const char *name, size_t len)
{
	enum khttpd_path_result result;
	struct khttpd_path asked, path;
	size_t size, n, i;
	bool query;
	u16 status;
	char *out;

	if (khttpd_path_normalise(&asked, (const u8 *)name, len) != KHTTPD_PATH_OK)
		return;
	path = asked;
	if (khttpd_ruled_rewrite(rules, &path, &result) && result == KHTTPD_PATH_OK)
		check_path(&path);
	path = asked;
	if (khttpd_ruled_fallback(rules, &path, asked.dir ? asked.len : -1))
		check_path(&path);
	for (size = 1; size <= 4096; size *= 2) {
		out = malloc(size);
		path = asked;
		n = khttpd_ruled_location(rules, &path, out, size, &query, &status);
		need(n <= size && (n < 2 || out[0] != '/' || out[1] != '/'));
		for (i = 0; i < n; i++)
			need(out[i] > ' ' && out[i] <= '~');
		need(path.len == asked.len && path.dir == asked.dir);
		free(out);
	}
}

static void check_rules(const char *text, size_t len, const char *name,
			size_t name_len)
{
	static struct khttpd_rules rules;
	const u8 address[16] = { 0xfd };
	unsigned int from = 0;
	const char *value;
	size_t n, sum = 0;
	u32 seconds;

	if (!khttpd_rules_parse(&rules, text, len))
		return;
	need(rules.count <= KHTTPD_RULES_MAX);
	need(BIT(khttpd_rules_action(&rules, name, name_len)) & KHTTPD_RULE_ACTIONS);
	check_targets(&rules, name, name_len);
	khttpd_rules_cookie(&rules, (const u8 *)name, name_len);
	khttpd_rules_method(&rules, (const u8 *)name, name_len);
	if (khttpd_rules_expires(&rules, name, name_len, &seconds))
		need(seconds <= KHTTPD_EXPIRES_MAX);
	value = khttpd_rules_cache(&rules, name, name_len, &n);
	need(!value || (n <= KHTTPD_CACHE_MAX && !memchr(value, '\r', n) &&
			!memchr(value, '\n', n)));
	khttpd_access_refuses(&rules, address);
	while ((value = khttpd_added_next(&rules, name, name_len, &from, &n))) {
		need(memchr(value, ':', n) && !memchr(value, '\n', n));
		sum += n + 2;
	}
	need(sum <= KHTTPD_ADDED_SIZE);
	value = khttpd_rules_error(&rules, 404, &n);
	need(!value || value[0] == '/');
}

/* What is an address here is one everywhere. */
static void check_address(const char *text, size_t len)
{
	u8 address[16] = {}, other[16], bits;
	char *copy;

	if (len == 16)
		memcpy(address, text, len);
	if (!khttpd_access_parse(text, len, address, &bits))
		return;
	need(bits <= 128);
	if (memchr(text, '/', len) || !bits)
		return;
	copy = strndup(text, len);
	if (strchr(copy, ':'))
		need(inet_pton(AF_INET6, copy, other) == 1 && !memcmp(address, other, 16));
	else
		need(inet_pton(AF_INET, copy, other) == 1 && !memcmp(address + 12, other, 4));
	free(copy);
}

static void check_types(const char *text, size_t len, const char *name,
			size_t name_len)
{
	const char *type;
	size_t n, i;

	if (!khttpd_mime_valid(text, len, 96))
		return;
	type = khttpd_mime_find(text, len, name, name_len, &n);
	need(n && n <= 96);
	for (i = 0; i < n; i++)
		need(type[i] > ' ' && type[i] <= '~');
}

static void check_names(const char *text, size_t len, const u8 *host,
			size_t host_len)
{
	char *names = strndup(text, len);

	if (khttpd_names_valid(names))
		khttpd_names_match(names, host, host_len);
	free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	const uint8_t *line = memchr(input, '\n', len);
	size_t name_len = line ? (size_t)(line - input) : len;
	size_t rest = line ? len - name_len - 1 : 0;
	char *name, *text;

	if (name_len > 1024)
		return 0;
	name = malloc(name_len ? name_len : 1);
	text = malloc(rest ? rest : 1);
	memcpy(name, input, name_len);
	if (rest)
		memcpy(text, line + 1, rest);
	check_rules(text, rest, name, name_len);
	check_address(name, name_len);
	check_types(text, rest, name, name_len);
	check_names(text, rest, (const u8 *)name, name_len);
	free(name);
	free(text);
	return 0;
}
