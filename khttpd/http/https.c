// SPDX-License-Identifier: GPL-2.0
/* From HTTP to HTTPS: what a site says of itself for the next time, and where to a client goes now.
 * Pure: see pure.h.
 */
#include "chars.h"
#include "https.h"

/* Digits of max-age. */
#define AGE_DIGITS	10

/* RFC 6797 section 6.1: no directive MUST appear more than once. */
static bool take_directive(const char **value, const char *directive, bool *seen)
{
	size_t len = strlen(directive);

	if (*seen || strncmp(*value, directive, len))
		return false;
	*value += len;
	*seen = true;
	return true;
}

/**
 * khttpd_https_hsts_valid() - is it a value for Strict-Transport-Security?
 * @value: "max-age=SECONDS", perhaps with "; includeSubDomains" and "; preload"; a newline may
 *	end it
 *
 * Return: true if so, or if it is empty.
 */
bool khttpd_https_hsts_valid(const char *value)
{
	bool below = false, preload = false;
	size_t digits = 0;

	if (strlen(value) >= KHTTPD_HSTS_SIZE)
		return false;
	if (!*value || !strcmp(value, "\n"))
		return true;
	if (strncmp(value, "max-age=", 8))
		return false;
	value += 8;
	while (is_digit(value[digits]))
		digits++;
	if (!digits || digits > AGE_DIGITS)
		return false;
	value += digits;
	while (take_directive(&value, "; includeSubDomains", &below) ||
	       take_directive(&value, "; preload", &preload))
		;
	return !*value || !strcmp(value, "\n");
}

static bool in_address(u8 c)
{
	return is_digit(c) || c == ':' || c == '.' || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

/* Of what RFC 3986 allows in a name only what names of the DNS have. */
static bool in_name(u8 c)
{
	return is_digit(c) || c == '-' || c == '.' || c == '_' || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/**
 * khttpd_https_host() - the host to which a client is sent
 * @host: host and port as they were asked for, from khttpd_host_valid()
 * @len: their length
 *
 * Return: length of the host without the port, or 0 if nobody is sent there.
 */
size_t khttpd_https_host(const u8 *host, size_t len)
{
	size_t end = 0;

	if (len && host[0] == '[') {
		for (end = 1; end < len && in_address(host[end]); end++)
			;
		if (end == 1 || end == len || host[end++] != ']')
			return 0;
	} else {
		while (end < len && in_name(host[end]))
			end++;
	}
	return end == len || host[end] == ':' ? end : 0;
}
