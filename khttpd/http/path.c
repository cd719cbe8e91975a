// SPDX-License-Identifier: GPL-2.0
/* Percent-decoding and dot removal (RFC 3986 sections 2.1 and 5.2.4), once and
 * in one pass, and the way back for Location. Lexical: links are the file
 * system's business.
 */
#include "path.h"

static int hex_value(u8 c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Start of the last part of the @len bytes of @name, its "/" included. */
static size_t parent_len(const char *name, size_t len)
{
	while (len && name[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

/* A part from @start to @path->len is complete: keep it, drop it or go up. */
static enum khttpd_path_result end_part(struct khttpd_path *path, size_t start)
{
	const char *part = path->name + start;
	size_t len = path->len - start;

	path->dir = true;
	if (len == 0)
		return KHTTPD_PATH_OK;
	if (len == 1 && part[0] == '.') {
		path->len = start;
		return KHTTPD_PATH_OK;
	}
	if (len == 2 && part[0] == '.' && part[1] == '.') {
		if (start == 0)
			return KHTTPD_PATH_BAD;
		/* @start - 1 is the "/" behind the part that goes away. */
		path->len = parent_len(path->name, start - 1);
		if (path->len)
			path->name[path->len++] = '/';
		return KHTTPD_PATH_OK;
	}
	path->dir = false;
	return len > KHTTPD_NAME_MAX ? KHTTPD_PATH_NONE : KHTTPD_PATH_OK;
}

/**
 * khttpd_path_normalise() - turn a target's path into a name
 * @path: result, meaningful if KHTTPD_PATH_OK is returned
 * @in: the path as received, from its first "/" on, without query
 * @len: its length; 0 means "/"
 *
 * "%2F" is no separator: no file can have it in its name. Bytes that are no
 * UTF-8 are kept. Malformed escapes are refused even where the name could not
 * exist anyway, so that the verdict does not depend on lengths.
 *
 * Return: enum khttpd_path_result
 */
enum khttpd_path_result khttpd_path_normalise(struct khttpd_path *path,
					      const u8 *in, size_t len)
{
	enum khttpd_path_result verdict = KHTTPD_PATH_OK, part;
	size_t i, start = 0;
	int high, low;
	u8 c;

	path->len = 0;
	path->dir = true;
	for (i = len ? 1 : 0; i < len; i++) {
		c = in[i];
		if (c == '/') {
			part = end_part(path, start);
			if (part == KHTTPD_PATH_BAD)
				return part;
			if (part != KHTTPD_PATH_OK)
				verdict = part;
			if (!path->dir)
				path->name[path->len++] = '/';
			path->dir = true;
			start = path->len;
			continue;
		}
		if (c == '%') {
			if (len - i < 3)
				return KHTTPD_PATH_BAD;
			high = hex_value(in[i + 1]);
			low = hex_value(in[i + 2]);
			if (high < 0 || low < 0)
				return KHTTPD_PATH_BAD;
			c = high << 4 | low;
			i += 2;
			if (c == '/')
				verdict = KHTTPD_PATH_NONE;
		}
		if (!c)
			return KHTTPD_PATH_BAD;
		/* Room for this byte, a "/" and the NUL must be left. */
		if (path->len < KHTTPD_PATH_MAX - 3)
			path->name[path->len++] = c;
		else
			verdict = KHTTPD_PATH_NONE;
	}
	if (path->len > start) {
		part = end_part(path, start);
		if (part == KHTTPD_PATH_BAD)
			return part;
		if (part != KHTTPD_PATH_OK)
			verdict = part;
	}
	if (path->dir && path->len)
		path->len--;
	path->name[path->len] = '\0';
	return verdict;
}

/**
 * khttpd_path_encode() - percent-encode a name for a header
 * @out: where to
 * @size: bytes there
 * @name: what
 * @len: its length
 *
 * Unreserved characters, "/" and a few harmless others stay (RFC 3986 section
 * 3.3), everything else, control characters above all, becomes %XX.
 *
 * Return: bytes written, or 0 if @size did not suffice.
 */
size_t khttpd_path_encode(char *out, size_t size, const char *name, size_t len)
{
	static const char plain[] = "-._~/!$&'()*+,;=:@";
	static const char digits[] = "0123456789ABCDEF";
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		u8 c = name[i], lower = c | 0x20;

		if (size - n < 3)
			return 0;
		if ((c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z') ||
		    (c && strchr(plain, c))) {
			out[n++] = c;
			continue;
		}
		out[n++] = '%';
		out[n++] = digits[c >> 4];
		out[n++] = digits[c & 15];
	}
	return n;
}

/**
 * khttpd_path_add_index() - name the file that stands for a directory
 * @path: a directory's path
 * @index: the file's name, not empty
 *
 * Return: false if the result would be too long.
 */
bool khttpd_path_add_index(struct khttpd_path *path, const char *index)
{
	size_t len = strlen(index);

	if (path->len + len + 2 > sizeof(path->name))
		return false;
	if (path->len)
		path->name[path->len++] = '/';
	memcpy(path->name + path->len, index, len + 1);
	path->len += len;
	path->dir = false;
	return true;
}
