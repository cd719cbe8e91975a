// SPDX-License-Identifier: GPL-2.0
/* Lists of addresses: "192.0.2.0/24 2001:db8::/32 ::1". An IPv4 address is kept as IPv6 has it
 * (RFC 4291 section 2.5.5.2). A prefix of one family has no address of the other.
 */
#include "prefixes.h"

static const u8 khttpd_prefixes_mapped[12] = { [10] = 0xff, [11] = 0xff };

static bool khttpd_prefixes_is_mapped(const u8 *address)
{
	return !memcmp(address, khttpd_prefixes_mapped, sizeof(khttpd_prefixes_mapped));
}

/* Decimal, without zeros in front, as a whole: at most @most. */
static bool khttpd_prefixes_number(const char *text, size_t len, u8 most, u8 *number)
{
	unsigned int value = 0;
	size_t i;

	if (!len || len > 3 || (len > 1 && *text == '0'))
		return false;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = 10 * value + text[i] - '0';
	}
	*number = value;
	return value <= most;
}

/* The bytes of @text up to @mark, or all. */
static size_t khttpd_prefixes_span(const char *text, size_t len, char mark)
{
	const char *end = memchr(text, mark, len);

	return end ? end - text : len;
}

/* "192.0.2.1" */
static bool khttpd_prefixes_v4(const char *text, size_t len, u8 *to)
{
	size_t i, used;

	for (i = 0; i < 3; i++) {
		used = khttpd_prefixes_span(text, len, '.');
		if (used == len || !khttpd_prefixes_number(text, used, 255, to + i))
			return false;
		text += used + 1;
		len -= used + 1;
	}
	return khttpd_prefixes_number(text, len, 255, to + 3);
}

/* Up to four digits. */
static bool khttpd_prefixes_hex(const char *text, size_t len, u8 *to)
{
	unsigned int value = 0;
	size_t i;

	if (!len || len > 4)
		return false;
	for (i = 0; i < len; i++) {
		char c = text[i] | 0x20;

		if (text[i] >= '0' && text[i] <= '9')
			value = value << 4 | (text[i] - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (c - 'a' + 10);
		else
			return false;
	}
	to[0] = value >> 8;
	to[1] = value;
	return true;
}

/* "2001:db8::1", "::ffff:192.0.2.1" (RFC 4291 section 2.2) */
static bool khttpd_prefixes_v6(const char *text, size_t len, u8 *to)
{
	size_t at = 0, n = 0, gap = 9, used;

	if (len >= 2 && text[0] == ':' && text[1] == ':') {
		gap = 0;
		at = 2;
	}
	while (at < len) {
		used = khttpd_prefixes_span(text + at, len - at, ':');
		if (n < 7 && at + used == len && memchr(text + at, '.', used)) {
			if (!khttpd_prefixes_v4(text + at, used, to + 2 * n))
				return false;
			n += 2;
			break;
		}
		if (n == 8 || !khttpd_prefixes_hex(text + at, used, to + 2 * n))
			return false;
		n++;
		at += used;
		if (at == len)
			break;
		/* Behind a colon there is something, maybe another one. */
		if (++at == len)
			return false;
		if (text[at] != ':')
			continue;
		if (gap <= 8)
			return false;
		gap = n;
		at++;
	}
	if (gap > 8)
		return n == 8;
	if (n == 8)
		return false;
	memmove(to + 16 - 2 * (n - gap), to + 2 * gap, 2 * (n - gap));
	memset(to + 2 * gap, 0, 2 * (8 - n));
	return true;
}

/**
 * khttpd_prefixes_address() - read an address
 * @text: the text, of which nothing may be left
 * @len: its length
 * @address: set to it, 16 bytes
 *
 * Return: false if it is none.
 */
bool khttpd_prefixes_address(const char *text, size_t len, u8 *address)
{
	if (memchr(text, ':', len))
		return khttpd_prefixes_v6(text, len, address);
	memcpy(address, khttpd_prefixes_mapped, sizeof(khttpd_prefixes_mapped));
	return khttpd_prefixes_v4(text, len, address + sizeof(khttpd_prefixes_mapped));
}

/**
 * khttpd_prefixes_net() - read an address or a prefix
 * @text: "192.0.2.1", "2001:db8::/32"; nothing may be left of it
 * @len: its length
 * @address: set to it, 16 bytes
 * @bits: set to how many of them count
 *
 * Return: false if it is none.
 */
bool khttpd_prefixes_net(const char *text, size_t len, u8 *address, u8 *bits)
{
	const char *slash = memchr(text, '/', len);
	size_t used = slash ? slash - text : len;
	bool v4 = !memchr(text, ':', used);

	if (!khttpd_prefixes_address(text, used, address))
		return false;
	*bits = v4 ? 32 : 128;
	if (slash && !khttpd_prefixes_number(slash + 1, len - used - 1, *bits, bits))
		return false;
	if (v4)
		*bits += 96;
	return true;
}

/**
 * khttpd_prefixes_in() - has a prefix an address?
 * @prefix: 16 bytes
 * @bits: how many of them count
 * @address: 16 bytes
 */
bool khttpd_prefixes_in(const u8 *prefix, u8 bits, const u8 *address)
{
	unsigned int whole = bits / 8, rest = bits % 8;

	if (memcmp(prefix, address, whole))
		return false;
	return !rest || !((prefix[whole] ^ address[whole]) >> (8 - rest));
}

/**
 * khttpd_prefixes_parse() - read a list
 * @list: set to it
 * @text: addresses and prefixes, with white space between
 *
 * Return: false if one is none, or if there are too many; then @list is not to be used.
 */
bool khttpd_prefixes_parse(struct khttpd_prefixes *list, const char *text)
{
	static const char space[] = " \t\n";
	size_t len;

	memset(list, 0, sizeof(*list));
	if (strlen(text) >= KHTTPD_PREFIXES_SIZE)
		return false;
	for (text += strspn(text, space); *text; text += strspn(text, space)) {
		len = strcspn(text, space);
		if (list->count == KHTTPD_PREFIXES_MAX ||
		    !khttpd_prefixes_net(text, len, list->prefix[list->count].address,
					 &list->prefix[list->count].bits))
			return false;
		list->count++;
		text += len;
	}
	return true;
}

/**
 * khttpd_prefixes_has() - is an address in the list?
 * @list: the list
 * @address: 16 bytes
 */
bool khttpd_prefixes_has(const struct khttpd_prefixes *list, const u8 *address)
{
	bool mapped = khttpd_prefixes_is_mapped(address);
	unsigned int i;

	for (i = 0; i < list->count; i++) {
		const struct khttpd_prefix *prefix = &list->prefix[i];

		if (mapped == khttpd_prefixes_is_mapped(prefix->address) &&
		    khttpd_prefixes_in(prefix->address, prefix->bits, address))
			return true;
	}
	return false;
}
