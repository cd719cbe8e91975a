// SPDX-License-Identifier: GPL-2.0
/* Byte ranges. Numbers saturate, so nothing wraps. A field that is malformed anywhere is ignored
 * as a whole. A field that would cost more than the file is ignored as well: too many ranges, or
 * more bytes than there are.
 */
#include "chars.h"
#include "range.h"

/* Digits at @at. Return: their value, U64_MAX if it is larger; @at moves. */
static u64 get_number(const u8 *s, size_t len, size_t *at)
{
	u64 value = 0;

	for (; *at < len && is_digit(s[*at]); (*at)++) {
		u8 digit = s[*at] - '0';

		if (value > (U64_MAX - digit) / 10)
			value = U64_MAX;
		else if (value != U64_MAX)
			value = value * 10 + digit;
	}
	return value;
}

/* One element, "a-b", "a-" or "-n", of exactly @len bytes.
 * Return: false if it is malformed, or nothing but the whole can be the answer. @range is
 * empty if it is not in the file.
 */
static bool get_range(const u8 *s, size_t len, u64 size,
		      struct khttpd_range *range)
{
	size_t at = 0, start;
	u64 from, last;

	from = get_number(s, len, &at);
	start = at;
	if (at == len || s[at++] != '-')
		return false;
	last = get_number(s, len, &at);
	if (at != len)
		return false;
	range->end = size;
	if (!start) {
		/* RFC 9110 section 14.1.2: the last bytes, at most all. */
		range->from = last < size ? size - last : 0;
		/* Of an empty file all is less than can be told as a part. */
		return at > 1 && (size || !last);
	}
	range->from = from < size ? from : size;
	if (at == start + 1)
		return true;
	if (last < from)
		return false;
	if (last < size)
		range->end = last + 1;
	return true;
}

/**
 * khttpd_ranges_parse() - which parts of a file are asked for?
 * @s: value of a Range field
 * @len: its length
 * @size: of the file
 * @range: KHTTPD_RANGES_MAX of them: the parts, in the order asked for
 * @count: how many
 *
 * Return: enum khttpd_ranges; @count is set for KHTTPD_RANGES_PART.
 */
enum khttpd_ranges khttpd_ranges_parse(const u8 *s, size_t len, u64 size,
				       struct khttpd_range *range,
				       unsigned int *count)
{
	unsigned int elements = 0, n = 0;
	struct khttpd_range one;
	u64 bytes = 0;
	size_t at = 6;

	if (len < at || !IS_WORD(s, 5, "bytes") || s[5] != '=')
		return KHTTPD_RANGES_IGNORE;
	while (at < len) {
		size_t end, next;

		while (at < len && is_space(s[at]))
			at++;
		for (next = at; next < len && s[next] != ','; next++)
			;
		for (end = next; end > at && is_space(s[end - 1]); end--)
			;
		if (end > at) {
			if (++elements > KHTTPD_RANGES_MAX ||
			    !get_range(s + at, end - at, size, &one))
				return KHTTPD_RANGES_IGNORE;
			if (one.from < one.end) {
				bytes += one.end - one.from;
				/* RFC 9110 section 14.2: may be ignored. */
				if (n && bytes > size)
					return KHTTPD_RANGES_IGNORE;
				range[n++] = one;
			}
		}
		at = next + 1;
	}
	*count = n;
	if (!elements)
		return KHTTPD_RANGES_IGNORE;
	return n ? KHTTPD_RANGES_PART : KHTTPD_RANGES_NONE;
}
