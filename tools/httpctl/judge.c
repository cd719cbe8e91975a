// SPDX-License-Identifier: GPL-2.0
/* Values of a configuration file, judged as the kernel does. */
#include <arpa/inet.h>
#include "httpctl.h"
#include "judge.h"

const char *judge_number(const char *text, unsigned int least,
			 unsigned int most)
{
	unsigned long value;

	if (!*text || text[strspn(text, "0123456789")])
		return "not a number";
	errno = 0;
	value = strtoul(text, NULL, 10);
	return errno || value < least || value > most ? "out of range" : NULL;
}

/* What the kernel takes for on and off becomes 1 and 0. */
const char *judge_switch(const char **value)
{
	static const char *const words[][5] = {
		{ "0", "n", "no", "off", "false" },
		{ "1", "y", "yes", "on", "true" },
	};
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(words[0]); i++) {
		if (strcasecmp(*value, words[i % 2][i / 2]))
			continue;
		*value = words[i % 2][0];
		return NULL;
	}
	return "neither 0 nor 1";
}

/* The name of a file in each directory, or none. */
const char *judge_index(const char *name)
{
	return strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") ||
	       strlen(name) >= INDEX_SIZE ? "not the name of a file" : NULL;
}

/* A link-local address may have a scope, which need not be there yet. */
static bool is_inet6(const char *address)
{
	char text[INET6_ADDRSTRLEN];
	size_t len = strcspn(address, "%");
	struct in6_addr addr;

	if (len >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)len, address);
	return inet_pton(AF_INET6, text, &addr) == 1 &&
	       (!address[len] ||
		(address[len + 1] && IN6_IS_ADDR_LINKLOCAL(&addr)));
}

const char *judge_listen(const struct listen *listen)
{
	const char *why = judge_number(listen->port, 0, 65535);
	struct in_addr addr;
	int i;

	for (i = 0; i < LISTEN_OPTIONS && !why; i++)
		why = judge_number(listen->option[i], listen_options[i].least,
				   listen_options[i].most);
	if (why)
		return why;
	if (strcmp(listen->family, "inet") ? is_inet6(listen->address) :
	    inet_pton(AF_INET, listen->address, &addr) == 1)
		return NULL;
	return "not an address";
}

/* A file that khttpd-tlsd can read now, or none. */
static const char *judge_pem(const char *path)
{
	if (!*path)
		return NULL;
	if (*path != '/')
		return "not an absolute path";
	return access(path, R_OK) ? strerror(errno) : NULL;
}

/* A value, or what is in its @FILE. */
const char *judge_attribute(const char *name, const char *value)
{
	static char text[VALUE_MAX + 1];
	ssize_t len = strlen(value);

	if (!strcmp(name, "certificate") || !strcmp(name, "key"))
		return judge_pem(value);
	if (value[0] == '@') {
		len = read_text(value + 1, text, sizeof(text));
		if (len < 0)
			return strerror(errno);
		if (len == sizeof(text))
			return strerror(EFBIG);
		text[len] = '\0';
		value = text;
	}
	if (!strcmp(name, "rules"))
		return judge_rules(value, len);
	if (!strcmp(name, "hsts"))
		return judge_hsts(value);
	if (!strcmp(name, "proxy_protocol"))
		return judge_prefixes(value);
	if (!strcmp(name, "names"))
		return judge_names(value, len);
	return !strcmp(name, "types") ? judge_types(value, len) : NULL;
}
