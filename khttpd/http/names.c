// SPDX-License-Identifier: GPL-2.0
/* Does a host belong to a site? Names are separated by white space; "*.NAME"
 * stands for everything below NAME, but not for NAME itself.
 */
#include "chars.h"
#include "names.h"

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/**
 * khttpd_names_next() - the next name
 * @names: the text; moved behind it
 * @name: set to its beginning
 *
 * Return: its length, 0 at the end.
 */
size_t khttpd_names_next(const char **names, const char **name)
{
	while (is_separator(**names))
		(*names)++;
	*name = *names;
	while (**names && !is_separator(**names))
		(*names)++;
	return *names - *name;
}

/* An address in brackets is one as a whole; nothing else has a colon. */
static bool is_name(const char *name, size_t len)
{
	bool literal = len > 2 && name[0] == '[' && name[len - 1] == ']';
	size_t i = len > 2 && name[0] == '*' && name[1] == '.' ? 2 : 0;

	if (literal) {
		i++;
		len--;
	} else if (name[len - 1] == '.') {
		return false;
	}
	for (; i < len; i++) {
		u8 c = name[i];

		if (!(khttpd_class[c] & C_HOST) && !(literal && c == ':'))
			return false;
	}
	return true;
}

/**
 * khttpd_names_valid() - may these be names?
 * @names: the text
 *
 * Return: false if there is a byte that no host can have, or a "*" that does not stand for a
 * whole first label. Also if there is a port or a dot at the end, which would match nothing, or if
 * one is longer than names of hosts are (RFC 1035 2.3.4).
 */
bool khttpd_names_valid(const char *names)
{
	const char *name;
	size_t len;

	while ((len = khttpd_names_next(&names, &name))) {
		if (len > KHTTPD_HOST_MAX || !is_name(name, len))
			return false;
	}
	return true;
}

/**
 * khttpd_names_same() - compare as RFC 9110 section 4.2.3 wants it: without case
 * @name: a name
 * @host: a host
 * @len: length of both
 *
 * Return: true if they are the same.
 */
bool khttpd_names_same(const char *name, const u8 *host, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		u8 a = name[i], b = host[i];

		if (a >= 'A' && a <= 'Z')
			a |= 0x20;
		if (b >= 'A' && b <= 'Z')
			b |= 0x20;
		if (a != b)
			return false;
	}
	return true;
}

/**
 * khttpd_names_bare() - a host without what does not matter: its port, a dot at the end
 * @host: as in Host or an authority
 * @len: its length
 *
 * Return: the length that is left.
 */
size_t khttpd_names_bare(const u8 *host, size_t len)
{
	size_t end;

	for (end = len; end && is_digit(host[end - 1]); end--)
		;
	if (end && host[end - 1] == ':' && (host[0] != '[' ||
					    (end > 1 && host[end - 2] == ']')))
		len = end - 1;
	if (len && host[len - 1] == '.')
		len--;
	return len;
}

/**
 * khttpd_names_match() - is the host one of these?
 * @names: valid by khttpd_names_valid()
 * @host: as in Host or an authority, port included
 * @len: its length
 *
 * A port does not matter, and a dot at the end neither.
 *
 * Return: 2 if it is named, 1 if a "*" stands for it, 0 if not.
 */
int khttpd_names_match(const char *names, const u8 *host, size_t len)
{
	const char *name;
	int best = 0;
	size_t n;

	len = khttpd_names_bare(host, len);
	while ((n = khttpd_names_next(&names, &name))) {
		if (n == len && khttpd_names_same(name, host, len))
			return 2;
		if (name[0] == '*' && len > n - 1 &&
		    khttpd_names_same(name + 1, host + len - (n - 1), n - 1))
			best = 1;
	}
	return best;
}
