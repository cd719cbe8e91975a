// SPDX-License-Identifier: GPL-2.0
/* Which clients a site serves: nets in the order of its rules, the first that has the client
 * counts. IPv4 addresses are IPv4-mapped ones here (RFC 4291 section 2.5.5.2). Pure: see pure.h.
 */
#include "access.h"
#include "chars.h"

#define GROUPS	8	/* of 16 bits in an IPv6 address */

/* A decimal number without zeros in front. Return: what is behind it, or NULL. */
static const char *access_take_number(const char *s, const char *end, unsigned int most,
				      unsigned int *number)
{
	const char *from = s;

	for (*number = 0; s < end && is_digit(*s) && *number <= most; s++)
		*number = *number * 10 + *s - '0';
	if (s == from || *number > most || (*from == '0' && s - from > 1))
		return NULL;
	return s;
}

static bool access_take_ipv4(const char *s, const char *end, u8 *to)
{
	unsigned int byte;
	int i;

	for (i = 0; i < 4; i++) {
		if (i && (s == end || *s++ != '.'))
			return false;
		s = access_take_number(s, end, 255, &byte);
		if (!s)
			return false;
		to[i] = byte;
	}
	return s == end;
}

static int access_hex_digit(u8 c)
{
	if (!is_hex(c))
		return -1;
	return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* One to four hexadecimal digits. Return: what is behind them, or NULL. */
static const char *access_take_group(const char *s, const char *end, u16 *group)
{
	const char *from = s;

	for (*group = 0; s < end && s - from < 4 && is_hex(*s); s++)
		*group = *group << 4 | access_hex_digit(*s);
	return s == from ? NULL : s;
}

/* RFC 4291 section 2.2; the form with an IPv4 address in it is not needed here. */
static bool access_take_ipv6(const char *s, const char *end, u8 *to)
{
	u16 group[GROUPS] = {};
	int n = 0, gap = -1, i;

	if (end - s >= 2 && s[0] == ':' && s[1] == ':') {
		gap = 0;
		s += 2;
	}
	while (s < end) {
		if (n == GROUPS)
			return false;
		s = access_take_group(s, end, &group[n++]);
		if (!s)
			return false;
		if (s == end)
			break;
		if (*s++ != ':' || s == end)
			return false;
		if (*s == ':') {
			if (gap >= 0)
				return false;
			gap = n;
			s++;
		}
	}
	if (gap < 0 ? n != GROUPS : n == GROUPS)
		return false;
	memset(to, 0, 2 * GROUPS);
	for (i = 0; i < n; i++) {
		int at = gap >= 0 && i >= gap ? GROUPS - n + i : i;

		to[2 * at] = group[i] >> 8;
		to[2 * at + 1] = group[i];
	}
	return true;
}

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
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	const char *end = text + len, *slash = memchr(text, '/', len);
	unsigned int prefix;
	bool ipv4;

	memset(address, 0, 16);
	*bits = 0;
	if (len == 3 && !memcmp(text, "all", 3))
		return true;
	ipv4 = !memchr(text, ':', len);
	prefix = ipv4 ? 32 : 128;
	if (slash && access_take_number(slash + 1, end, prefix, &prefix) != end)
		return false;
	*bits = ipv4 ? 96 + prefix : prefix;
	if (!ipv4)
		return access_take_ipv6(text, slash ?: end, address);
	memcpy(address, mapped, sizeof(mapped));
	return access_take_ipv4(text, slash ?: end, address + 12);
}

static bool access_in_net(const struct khttpd_rule *rule, const u8 *address)
{
	unsigned int whole = rule->bits / 8, rest = rule->bits % 8;

	return !memcmp(rule->address, address, whole) &&
	       (!rest || !((rule->address[whole] ^ address[whole]) >> (8 - rest)));
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
		    access_in_net(rule, address))
			return rule->kind == KHTTPD_RULE_BLOCK;
	}
	return false;
}
