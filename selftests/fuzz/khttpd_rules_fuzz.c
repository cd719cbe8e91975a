// SPDX-License-Identifier: GPL-2.0
/* Texts that administrators give: the first line is a path, a host and a cookie
 * at once, the rest rules, names and types. All must stay inside their text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../khttpd/http/ruleline.c"
#include "../../khttpd/http/rules.c"
#include "../../khttpd/http/mime.c"
#include "../../khttpd/http/names.c"

static void need(bool condition)
{
	if (!condition)
		abort();
}

static void check_rules(const char *text, size_t len, const char *name,
			size_t name_len)
{
	static struct khttpd_rules rules;
	const char *value;
	u32 seconds;
	size_t n;

	if (!khttpd_rules_parse(&rules, text, len))
		return;
	need(rules.count <= KHTTPD_RULES_MAX);
	need(khttpd_rules_action(&rules, name, name_len) <= KHTTPD_RULE_STATUS);
	khttpd_rules_cookie(&rules, (const u8 *)name, name_len);
	khttpd_rules_method(&rules, (const u8 *)name, name_len);
	if (khttpd_rules_expires(&rules, name, name_len, &seconds))
		need(seconds <= KHTTPD_EXPIRES_MAX);
	value = khttpd_rules_cache(&rules, name, name_len, &n);
	need(!value || (n <= KHTTPD_CACHE_MAX && !memchr(value, '\r', n) &&
			!memchr(value, '\n', n)));
	value = khttpd_rules_error(&rules, 404, &n);
	need(!value || value[0] == '/');
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
	check_types(text, rest, name, name_len);
	check_names(text, rest, (const u8 *)name, name_len);
	free(name);
	free(text);
	return 0;
}
