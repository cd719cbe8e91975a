// SPDX-License-Identifier: GPL-2.0
/* Which clients a site serves: nets in the order of its rules, the first that has the client
 * counts. IPv4 addresses are IPv4-mapped ones here (RFC 4291 section 2.5.5.2). Pure: see pure.h.
 */
#include "access.h"
#include "prefixes.h"

/**
 * khttpd_access_parse() - read a net
 * @text: an address, perhaps with "/" and the length of a prefix; or "all"
 * @len: its length
 * @address: result, 16 bytes
 * @bits: result: so many of them count
 *
 * Return: false if it is none.
 */
bool khttpd_access_parse(const char *text, size_t len, u8 *address, u8 *bits)
{
	if (len != 3 || memcmp(text, "all", 3))
		return khttpd_prefixes_net(text, len, address, bits);
	memset(address, 0, 16);
	*bits = 0;
	return true;
}

/**
 * khttpd_access_refuses() - is a client one that is not served?
 * @rules: a site's rules, or NULL
 * @address: the client's, 16 bytes
 *
 * Return: false if no rule says so, or another comes first.
 */
bool khttpd_access_refuses(const struct khttpd_rules *rules, const u8 *address)
{
	int i;

	if (!khttpd_access_judges(rules))
		return false;
	for (i = 0; i < rules->count; i++) {
		const struct khttpd_rule *rule = &rules->rule[i];

		if ((rule->kind == KHTTPD_RULE_ALLOW || rule->kind == KHTTPD_RULE_BLOCK) &&
		    khttpd_prefixes_in(rule->address, rule->bits, address))
			return rule->kind == KHTTPD_RULE_BLOCK;
	}
	return false;
}
