// SPDX-License-Identifier: GPL-2.0
/* Names that a web server keeps to itself where nobody said otherwise. They begin with a dot, or
 * are of files whose text is a program's, or of an editor's copy of one. Pure: see pure.h.
 */
#include "chars.h"
#include "hidden.h"

/* RFC 8615: what is below is for everybody. */
#define WELL_KNOWN	".well-known"

/* Without the dot, lower case: what servers run, templates of those, copies of either. */
static const char * const khttpd_hidden_types[] = {
	"php", "phtml", "phar", "phps", "php3", "php4", "php5", "php7", "php8",
	"cgi", "fcgi", "pl", "asp", "aspx", "ashx", "asmx", "ascx", "jsp", "jspx", "cfm", "shtml",
	"inc", "bak", "orig", "old", "save", "swp",
};

static bool is_hidden_type(const char *type, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(khttpd_hidden_types); i++)
		if (is_word((const u8 *)type, len, khttpd_hidden_types[i],
			    strlen(khttpd_hidden_types[i])))
			return true;
	return false;
}

/* Does a segment begin with a dot? @last is where the last one begins, where it is told. */
static bool has_dot_name(const char *name, size_t len, size_t *last)
{
	size_t at = 0;

	if (len > sizeof(WELL_KNOWN) - 1 && name[sizeof(WELL_KNOWN) - 1] == '/' &&
	    !memcmp(name, WELL_KNOWN, sizeof(WELL_KNOWN) - 1))
		at = sizeof(WELL_KNOWN);
	for (*last = at; at < len; at++) {
		if (name[at] == '/')
			*last = at + 1;
		else if (name[at] == '.' && at == *last)
			return true;
	}
	return false;
}

/**
 * khttpd_hidden() - is a path one that no file is sent for by default?
 * @name: normalised path, without "/" in front; letters in any case
 * @len: its length
 *
 * Return: true for a segment that begins with a dot, but "/.well-known/". Also for the last one
 * if it ends in "~" or in the suffix of a program.
 */
bool khttpd_hidden(const char *name, size_t len)
{
	size_t last, at;

	if (has_dot_name(name, len, &last))
		return true;
	if (last < len && name[len - 1] == '~')
		return true;
	for (at = len; at > last; at--)
		if (name[at - 1] == '.')
			return is_hidden_type(name + at, len - at);
	return false;
}

/**
 * khttpd_hidden_dir() - is a directory one that nothing is said of by default?
 * @name: normalised path, without "/" in front and at the end
 * @len: its length
 *
 * Return: true for a segment that begins with a dot, but what is in "/.well-known/".
 */
bool khttpd_hidden_dir(const char *name, size_t len)
{
	size_t last;

	return has_dot_name(name, len, &last);
}
