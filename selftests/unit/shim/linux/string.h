/* SPDX-License-Identifier: GPL-2.0 */
/* Strings and memory. */
#pragma once

#include <string.h>
#include <strings.h>
#include <linux/types.h>

static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *p = start;

	for (; bytes; p++, bytes--)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

static inline ssize_t strscpy(char *dest, const char *src, size_t count)
{
	size_t len = strnlen(src, count);

	if (!count)
		return -7;
	if (len == count) {
		memcpy(dest, src, count - 1);
		dest[count - 1] = 0;
		return -7;
	}
	memcpy(dest, src, len + 1);
	return len;
}
