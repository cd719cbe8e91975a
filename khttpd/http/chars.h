/* SPDX-License-Identifier: GPL-2.0 */
/* Classes of bytes in HTTP, and words compared without case. Pure: see pure.h. */
#ifndef _KHTTPD_CHARS_H
#define _KHTTPD_CHARS_H

#include "pure.h"

#define C_TOKEN		0x01	/* RFC 9110 section 5.6.2 */
#define C_TARGET	0x02	/* printable, no "#"; 0x80 and up are kept as is */
#define C_VALUE		0x04	/* VCHAR, SP, HTAB, obs-text (section 5.5) */
#define C_HOST		0x08	/* letters, digits, "-._~" */

#define T_ALL		(C_TOKEN | C_TARGET | C_VALUE)
#define T_HOST		(T_ALL | C_HOST)
#define T_OTHER		(C_TARGET | C_VALUE)

static const u8 khttpd_class[256] __maybe_unused = {
	['\t'] = C_VALUE, [' '] = C_VALUE, ['#'] = C_TOKEN | C_VALUE,
	['!'] = T_ALL, ['$' ... '\''] = T_ALL, ['*' ... '+'] = T_ALL,
	['^'] = T_ALL, ['`'] = T_ALL, ['|'] = T_ALL,
	['-' ... '.'] = T_HOST, ['_'] = T_HOST, ['~'] = T_HOST,
	['0' ... '9'] = T_HOST, ['A' ... 'Z'] = T_HOST, ['a' ... 'z'] = T_HOST,
	['"'] = T_OTHER, ['('...')'] = T_OTHER, [','] = T_OTHER,
	['/'] = T_OTHER, [':'...'@'] = T_OTHER, ['['...']'] = T_OTHER,
	['{'] = T_OTHER, ['}'] = T_OTHER, [0x80 ... 0xff] = T_OTHER,
};

static inline bool is_space(u8 c)
{
	return c == ' ' || c == '\t';
}

static inline bool is_digit(u8 c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_hex(u8 c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* RFC 3986 section 2.2, except for the comma: a program that joins repeated lines makes one of
 * two hosts
 */
static inline bool is_delim(u8 c)
{
	return c == '!' || c == '$' || (c >= '&' && c <= '+') || c == ';' || c == '=';
}

/* Is the string of @len bytes @word, letters compared without case? */
static inline bool is_word(const u8 *s, size_t len, const char *word, size_t word_len)
{
	size_t i;

	if (len != word_len)
		return false;
	for (i = 0; i < len; i++) {
		u8 c = s[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if (c != (u8)word[i])
			return false;
	}
	return true;
}

#define IS_WORD(s, len, word) is_word(s, len, word, sizeof(word) - 1)

#endif /* _KHTTPD_CHARS_H */
